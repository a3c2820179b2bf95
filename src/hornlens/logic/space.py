"""A space: what can be said of a target, as attributes and a label. No words, no model.

Its interpretations are a grid with one axis for each attribute, and the last for the label; each
axis has the attribute's choices, unset first. A *cell* is an interpretation without its label. The
space is closed under intersection, so the learners work inside it; that an attribute has one choice
at a time is its *background*: never learned, never printed as a finding.

In a *complete* space no cell leaves an attribute unset: the rows of a table and the inputs of a
classifier are such. What can be *said*, as conditions of rules, is the same grid, unset among the
choices. What can be *asked* is less: a leaf of each attribute. The first is never laid out where
only the second is needed: 10 columns of 4 levels have a million cells and 10¹⁰ combinations of
choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np

from hornlens.deprecation import deprecated, renamed_argument
from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.batch import Words, pack, words_needed
from hornlens.logic.rule import Rule, in_signs
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

LONG = 10_000
"""An axis with more choices than this is not written out for sampling."""
TRIES = 1_000
"""How often a sample is drawn again because it breaks a rule that is assumed."""


class _Choices(Sequence[int]):
    """The choices of an attribute from the `first` on, as masks of a space, made when asked for."""

    def __init__(self, attribute: Attribute, at: int, first: int):
        self.attribute, self.at, self.first = attribute, at, first

    def __len__(self) -> int:
        return self.attribute.count - self.first

    def __getitem__(self, place: Any) -> Any:
        if place >= len(self):
            raise IndexError(place)
        return self.attribute.choice(place + self.first) << self.at


@renamed_argument("granted", "assumed", since="0.3", removal="0.5")
@dataclass(frozen=True)
class Space:
    """Attributes, the label that a target gives to each cell (None: it says yes or no), background.

    `assumed` are rules beyond the attributes' own, by bits: what breaks them does not occur.
    `label_always`: whether random samples always set the label. `complete`: whether every cell sets
    every attribute, and has a label; what follows from that is assumed as well.

    >>> work, label = Nominal("work", ("nurse", "priest")), Nominal("pronoun", ("he", "she"))
    >>> space = Space((work,), label)
    >>> len(space), list(space.cells()), space.width
    (9, [0, 1, 2], 4)
    >>> list(Space((work,), label, complete=True).cells())
    [1, 2]
    """

    attributes: tuple[Attribute, ...]
    label: Nominal | None = None
    assumed: tuple[Rule, ...] = ()
    label_always: bool = True
    complete: bool = False

    def __post_init__(self) -> None:
        """Refuse two attributes of one name; names of variables are checked by the vocabulary."""
        if self.complete and not self.label_always:
            raise InputError("in a complete space the label is always set")
        if self.complete:
            object.__setattr__(self, "assumed", tuple(dict.fromkeys([*self.assumed, *self._ways])))
        if not isinstance(self.label, Nominal | None):
            raise InputError(f"the label {self.label.name!r} must have plain values")
        seen: set[str] = set()
        for attribute in self.all_attributes:
            if not isinstance(attribute.name, str):
                raise InputError(f"an attribute's name must be text, not {attribute.name!r}")
            if attribute.name in seen:
                raise InputError(f"two attributes have the name {attribute.name!r}")
            seen.add(attribute.name)
        _ = self.vocabulary  # refuses names that stand twice

    @property
    def granted(self) -> tuple[Rule, ...]:
        """The assumed rules, by their old name."""
        deprecated("Space.granted", "Space.assumed", since="0.3", removal="0.5")
        return self.assumed

    @classmethod
    def of_variables(cls, vocabulary: Vocabulary, assumed: tuple[Rule, ...] = ()) -> Space:
        """Return the space of all combinations of variables that obey what is assumed."""
        return cls(tuple(Nominal(name, (name,)) for name in vocabulary.names), assumed=assumed)

    @property
    def is_plain(self) -> bool:
        """Whether it has variables only, each an attribute by itself: see `of_variables`."""
        named = ((attribute.name,) == attribute.variables for attribute in self.attributes)
        return self.label is None and not self.complete and all(named)

    @cached_property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """The attributes, and the label as the last if there is one: an axis each."""
        return self.attributes if self.label is None else (*self.attributes, self.label)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The variables: the attributes' in order, then the label's."""
        return Vocabulary(tuple(name for a in self.all_attributes for name in a.variables))

    @property
    def width(self) -> int:
        """The number of variables."""
        return len(self.vocabulary)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """For each axis, the bit of its first variable."""
        offsets = [0]
        for attribute in self.all_attributes:
            offsets.append(offsets[-1] + len(attribute.variables))
        return tuple(offsets[:-1])

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """For each axis, the mask of its variables."""
        return tuple(
            ((1 << len(a.variables)) - 1) << at
            for a, at in zip(self.all_attributes, self.offsets, strict=True)
        )

    @property
    def _ways(self) -> list[Rule]:
        """What is said where there is one thing to say: of Europe with Germany alone, Germany."""
        return [
            Rule(rule.antecedent << at, rule.consequent << at)
            for attribute, at in zip(self.attributes, self.offsets, strict=False)
            for rule in attribute.rules_of_leaves
        ]

    @cached_property
    def background(self) -> Theory:
        """The rules that are assumed: the attributes' own, and those beyond them."""
        rules: list[Rule] = []
        exclusive: list[int] = []
        for attribute, at in zip(self.all_attributes, self.offsets, strict=True):
            rules += (Rule(r.antecedent << at, r.consequent << at) for r in attribute.rules)
            exclusive += (group << at for group in attribute.exclusive)
        own = Theory(self.width, tuple(rules), tuple(exclusive))
        assumed = Theory(self.width, self.assumed).without(own)
        return replace(own, rules=(*rules, *assumed.rules))

    # --- the grid ---

    @cached_property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """For each axis the masks of its choices, the first one 0 (unset)."""
        return tuple(
            tuple(choice << at for choice in attribute.choices)
            for attribute, at in zip(self.all_attributes, self.offsets, strict=True)
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(attribute.count for attribute in self.all_attributes)

    @cached_property
    def count(self) -> int:
        """The number of points of the grid; those that break `assumed` are counted too."""
        return prod(self.shape)

    def __len__(self) -> int:
        """Return `count` (which may be more than a length can be)."""
        return self.count

    def __bool__(self) -> bool:
        """Say that there is a space, of whatever size."""
        return True

    def masks(self) -> Words:
        """Return all points of the grid as packed rows, in its order: the label varies first."""
        rows = np.zeros((*self.shape, words_needed(self.width)), dtype=np.int64)
        for i, axis in enumerate(self.axes):
            choices = pack(axis, self.width)
            around = [1] * len(self.shape)
            around[i] = len(axis)
            rows |= choices.reshape(*around, choices.shape[1])
        return rows.reshape(self.count, -1)

    def __iter__(self) -> Iterator[int]:
        """Yield every interpretation, in the order of the grid; nothing is kept in memory."""
        return self._combinations(self.axes)

    @cached_property
    def leaves(self) -> tuple[tuple[int, ...], ...]:
        """For each attribute the masks of its leaves: what a complete cell says of it."""
        pairs = zip(self.attributes, self.offsets, strict=False)
        return tuple(tuple(leaf << at for leaf in attribute.leaves) for attribute, at in pairs)

    @cached_property
    def leaf_places(self) -> tuple[tuple[int, ...], ...]:
        """For each attribute the places of its leaves on its axis."""
        return tuple(tuple(map(a.place, a.leaves)) for a in self.attributes)

    def cells(self) -> Iterator[int]:
        """Yield every cell, in the order of the grid; nothing is kept in memory."""
        if self.complete:
            return self._combinations(self.leaves)
        return self._combinations(self.axes[: len(self.attributes)])

    @cached_property
    def cell_count(self) -> int:
        """The number of cells of the grid; those that break `assumed` are counted too."""
        if self.complete:
            return prod(len(attribute.leaves) for attribute in self.attributes)
        return prod(self.shape[: len(self.attributes)])

    def _combinations(self, axes: tuple[tuple[int, ...], ...]) -> Iterator[int]:
        for choice in product(*axes):
            x = sum(choice)
            if not self.assumed or self.background.satisfied_by(x):
                yield x

    def __contains__(self, x: object) -> bool:
        """Say whether `x` is an interpretation of the space."""
        return isinstance(x, int) and 0 <= x < 1 << self.width and self.background.satisfied_by(x)

    def places(self, x: int) -> list[int]:
        """Return for each axis the place of what `x` chooses; a KeyError if it is no point."""
        parts = zip(self.all_attributes, self.offsets, self.groups, strict=True)
        return [attribute.place((x & group) >> at) for attribute, at, group in parts]

    # --- the label ---

    @cached_property
    def label_mask(self) -> int:
        """The label's variables; 0 if there is none."""
        return 0 if self.label is None else self.groups[-1]

    def label_of(self, x: int) -> int | None:
        """Return the place of the label value that `x` sets; None if it sets none."""
        bit = x & self.label_mask
        return (bit >> self.offsets[-1]).bit_length() - 1 if bit else None

    def with_label(self, cell: int, place: int) -> int:
        """Return a cell with a label value set."""
        return cell & ~self.label_mask | 1 << self.offsets[-1] + place

    @property
    def unlabelled(self) -> Space:
        """The same, with the label as the last attribute: what has it is a cell, and no decision.

        >>> work, label = Nominal("work", ("nurse", "priest")), Nominal("pronoun", ("he", "she"))
        >>> Space((work,), label).unlabelled.cell_count
        9
        """
        if self.label is None:
            return self
        return replace(self, attributes=self.all_attributes, label=None)

    # --- samples ---

    def sample(self, rng: Random) -> int:
        """Draw an interpretation: each attribute uniform over its choices, unset among them.

        In a complete space: each uniform over its leaves, the label always set.
        """
        for _ in range(TRIES):
            x = 0
            for axis in self._drawn_from:
                x |= rng.choice(axis)
            if not self.assumed or self.background.satisfied_by(x):
                return x
        raise InputError("hardly any interpretation obeys the background: nothing to sample from")

    @cached_property
    def _drawn_from(self) -> tuple[Sequence[int], ...]:
        """For each axis, the choices that a sample can have; a long axis is not written out."""
        axes: list[Sequence[int]] = []
        for attribute, at in zip(self.all_attributes, self.offsets, strict=True):
            if self.complete and attribute is not self.label:
                axes.append(tuple(leaf << at for leaf in attribute.leaves))
                continue
            first = int(attribute is self.label and self.label_always)
            choices: Sequence[int] = _Choices(attribute, at, first)
            axes.append(choices if attribute.count > LONG else tuple(choices))
        return tuple(axes)

    def chance(self, x: int) -> float | None:
        """Return how likely a sample has all of `x`; None where that is not known.

        Samples that break what is assumed are drawn again, so that nobody knows how many do.
        """
        if self.assumed:
            return None
        chance = 1.0
        for choices, group in zip(self._drawn_from, self.groups, strict=True):
            wanted = x & group
            if wanted:
                having = sum(1 for choice in choices if wanted & ~choice == 0)
                chance *= having / len(choices)
        return chance

    @property
    def sampling(self) -> str:
        """How samples are drawn, in words: what an error rate on them is measured by."""
        uniform = "interpretations drawn with each attribute uniform over its choices and unset"
        if self.complete:
            uniform = "cells drawn with each attribute uniform over its values, none unset"
        if self.assumed:
            uniform += ", again until they obey the background"
        if self.label is None:
            return uniform
        label = "always set" if self.label_always else "set or unset alike"
        return f"{uniform}, the label {label}"

    # --- for people ---

    def conditions(self, mask: int) -> list[str]:
        """Return what an interpretation, or a side of a rule, says: one condition an attribute."""
        parts = zip(self.all_attributes, self.offsets, self.groups, strict=True)
        return [a.describe((mask & group) >> at) for a, at, group in parts if mask & group]

    def show(self, rule: Rule) -> str:
        """Return a rule as people read it, intervals and taxonomies as one condition each."""
        right = None if rule.is_negative else self.conditions(rule.new)
        return in_signs(self.conditions(rule.antecedent), right)
