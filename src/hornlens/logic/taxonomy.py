"""Taxonomies: the nodes of a forest, whose meet is their common ancestor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hornlens.errors import InputError
from hornlens.logic.attributes import Places
from hornlens.logic.rule import Rule


@dataclass(frozen=True)
class Taxonomy:
    """A node of a forest: what is said of it is said with all that stands above it.

    `parents` has for each value the one it stands under, or None; parents come before children.

    >>> place = Taxonomy("place", ("Europe", "Germany", "France", "Asia"), (None, 0, 0, None))
    >>> place.choices
    (0, 1, 3, 5, 8)
    >>> place.describe(0b0011)
    'Germany'
    """

    describes_itself: ClassVar[bool] = False
    name: str
    variables: tuple[str, ...]
    parents: tuple[int | None, ...]

    @classmethod
    def of(cls, name: str, tree: Sequence[tuple[str, str | None]]) -> Taxonomy:
        """Return the taxonomy of (value, parent) pairs; parents come before their children."""
        place = {value: i for i, (value, _) in enumerate(tree)}
        for value, up in tree:
            if up is not None and up not in place:
                raise InputError(f"attribute {name!r}: {value!r} stands under no value, {up!r}")
        parents = tuple(None if up is None else place[up] for _, up in tree)
        return cls(name, tuple(value for value, _ in tree), parents)

    def __post_init__(self) -> None:
        """Refuse what is no forest."""
        if len(self.parents) != len(self.variables):
            raise InputError(f"attribute {self.name!r} needs a parent, or None, for each value")
        for i, parent in enumerate(self.parents):
            if parent is not None and not 0 <= parent < i:
                raise InputError(
                    f"attribute {self.name!r}: {self.variables[i]!r} stands before what is above it"
                )

    @property
    def count(self) -> int:
        """How many choices there are, unset among them."""
        return len(self.variables) + 1

    @cached_property
    def _children(self) -> dict[int | None, list[int]]:
        children: dict[int | None, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        return children

    @cached_property
    def _preorder(self) -> tuple[list[int], dict[int, int]]:
        """The nodes so that what is under one follows it; and for each how many are in its part."""
        order: list[int] = []
        agenda = list(reversed(self._children.get(None, [])))
        while agenda:
            node = agenda.pop()
            order.append(node)
            agenda += reversed(self._children.get(node, []))
        size = dict.fromkeys(order, 1)
        for node in reversed(order):
            parent = self.parents[node]
            if parent is not None:
                size[parent] += size[node]
        return order, size

    def choice(self, place: int) -> int:
        """Return a choice by its place: unset first, then the nodes in preorder."""
        return self.choices[place]

    def place(self, choice: int) -> int:
        """Return the place of a choice: the way back from `choice`; a KeyError if it is none."""
        place = self._places[choice.bit_length() - 1]
        if self.choices[place] != choice:
            raise KeyError(choice)
        return place

    @cached_property
    def _places(self) -> dict[int, int]:
        """By the most special value of a choice, which is its last: -1 for unset."""
        return {-1: 0, **{node: place for place, node in enumerate(self._preorder[0], start=1)}}

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        masks: dict[int | None, int] = {None: 0}
        for node in self._preorder[0]:
            masks[node] = masks[self.parents[node]] | 1 << node
        return tuple(masks.values())

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The choices that leave nothing open: what has nothing under it, in preorder.

        With one value, that it is not so is a leaf, too.
        """
        if len(self.variables) < 2:
            return self.choices
        nodes = zip(self._preorder[0], self.choices[1:], strict=True)
        return tuple(choice for node, choice in nodes if node not in self._children)

    @cached_property
    def rules_of_leaves(self) -> tuple[Rule, ...]:
        """The rules that every leaf obeys, beside those of all choices: where there is one way."""
        if len(self.variables) < 2:
            return ()
        return tuple(
            Rule(0 if node is None else 1 << node, 1 << under[0])
            for node, under in self._children.items()
            if len(under) == 1
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys: each value implies the one above it."""
        return tuple(
            Rule(1 << node, 1 << parent)
            for node, parent in enumerate(self.parents)
            if parent is not None
        )

    @cached_property
    def exclusive(self) -> tuple[int, ...]:
        """Groups of variables of which every choice has at most one: those side by side."""
        groups = (sum(1 << node for node in side) for side in self._children.values())
        return tuple(group for group in groups if group & (group - 1))

    def covers(self) -> Iterator[tuple[int, Places]]:
        """Yield, from the top down, each place that has others right above it, and these."""
        order, _ = self._preorder
        place_of: dict[int | None, int] = {node: i for i, node in enumerate(order, start=1)}
        place_of[None] = 0
        for node in (*reversed(order), None):
            if under := self._children.get(node):
                yield place_of[node], np.array([place_of[child] for child in under])

    def above(self, place: int) -> Places:
        """Return the places of all choices that say at least what this one says."""
        if place == 0:
            return slice(None)
        order, size = self._preorder
        return slice(place, place + size[order[place - 1]])

    def describe(self, mask: int) -> str:
        """Return what a choice (not unset) says, as one condition: its most special value."""
        return self.variables[mask.bit_length() - 1]

    def spans(self) -> list[list[int]]:
        """Return for each choice the places of its part: one says another if it lies within it."""
        order, size = self._preorder
        return [[0, len(order)], *([i, i + size[node] - 1] for i, node in enumerate(order, 1))]

    def as_json(self) -> dict[str, Any]:
        """Return the attribute as files have it."""
        above = [None if up is None else self.variables[up] for up in self.parents]
        return {"name": self.name, "values": list(self.variables), "under": above}
