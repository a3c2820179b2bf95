"""Does changing one attribute change the answer? A target whose label says so.

A cell of it says nothing of that attribute: it is put to a target with each value of the attribute,
all else being equal, and its label is *stays* if all answers are the same, else *changes*. So the
rules of this target say where the attribute never matters, and where it always does.

Values are those that count for flips (see `results.analysis.flips`). Those that the background
forbids for a cell are left out. A cell in which fewer than two values can occur does not occur;
where the background's rules cannot say so (see `logic.reduced`), its answer stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

from hornlens.errors import HornlensError, InputError
from hornlens.logic.reduced import Reduced
from hornlens.logic.space import Space
from hornlens.results.analysis.flips import attributes_named, values_of
from hornlens.results.documents.question import ComparedAnswers
from hornlens.targets.comparing import Comparing, Form, PromptedComparing, Silence, with_label
from hornlens.targets.protocol import PromptTarget, Target
from hornlens.targets.worlds import Worlds

STAYS, CHANGES = "stays", "changes"
MOST_FORMS = 10_000
"""So many combinations of values at most, where several attributes are changed at once."""


class FlippedValue(NamedTuple):
    """What is set in the attributes that are changed, as people call it, and as a mask."""

    name: str
    mask: int


@dataclass(eq=False)
class FlippingTarget(Comparing):
    """Asks a target about each cell with every value of an attribute, or of several at once.

    `values` are those that are tried, for one attribute; by default, all of them. Where some of the
    answers are missing and the others are the same, there is nothing to compare; with
    `silence="answer"`, no answer is an answer like others.

    >>> from hornlens import FunctionTarget, Nominal, Space, extract
    >>> job, race = Nominal("job", ("nurse", "pilot")), Nominal("race", ("Black", "White"))
    >>> space = Space((job, race), Nominal("answer", ("yes", "no")))
    >>> def bank(names):
    ...     return "no" if {"pilot", "Black"} <= set(names) else "yes"
    >>> target = FlippingTarget(FunctionTarget(bank, space), "race")
    >>> for rule in extract(target).rules:
    ...     print(rule.sentence)
    Changing only race changes the answer only if job is pilot.
    Changing only race never changes the answer where job is nurse.
    Changing only race always changes the answer where job is pilot.
    """

    base: Target
    attribute: str | Sequence[str]
    values: Sequence[str] | None = None
    silence: Silence = "apart"

    def __post_init__(self) -> None:
        """Refuse attributes that there are not, and that have one value only."""
        _ = self.choices
        self._prepare()

    @property
    def parts(self) -> tuple[Target, ...]:  # type: ignore[override]
        """The target."""
        return (self.base,)

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The places of the attributes that are changed."""
        space, names = self.base.space, attributes_named(self.attribute)
        known = [attribute.name for attribute in space.attributes]
        for name in names:
            if name not in known:
                raise InputError(f"there is no attribute {name!r} (there are: {', '.join(known)})")
        if len(names) == len(known):
            raise InputError(f"nothing but {', '.join(names)} can be set: there is nothing beside")
        return tuple(known.index(name) for name in names)

    @cached_property
    def choices(self) -> tuple[FlippedValue, ...]:
        """What is tried: the values of the attribute, or all combinations of several ones."""
        space = self.base.space
        axes = []
        for i in self.changed:
            own = values_of(space.attributes[i], space.complete)
            axes.append([FlippedValue(name, mask << space.offsets[i]) for name, mask in own])
        if self.values is not None:
            axes = [self._chosen(axes)]
        if prod(map(len, axes)) > MOST_FORMS:
            raise HornlensError(
                f"changing {self.said} at once gives {prod(map(len, axes)):,} combinations, "
                f"{MOST_FORMS:,} at most: name fewer attributes"
            )
        every = [
            FlippedValue(", ".join(v.name for v in each), sum(v.mask for v in each))
            for each in product(*axes)
        ]
        if len(every) < 2:
            raise InputError(f"{self.said} has one value only: it cannot be changed")
        return tuple(every)

    def _chosen(self, axes: list[list[FlippedValue]]) -> list[FlippedValue]:
        """Return the values that were asked for."""
        if len(axes) > 1:
            raise InputError("values can be chosen for one attribute only")
        wanted = list(dict.fromkeys(self.values or ()))
        known = {value.name: value for value in axes[0]}
        for name in wanted:
            if name not in known:
                raise InputError(
                    f"{self.said} has no value {name!r} (there are: {', '.join(known)})"
                )
        return [known[name] for name in wanted]

    @property
    def said(self) -> str:
        """What is changed, in words."""
        return " and ".join(attributes_named(self.attribute))

    @property
    def name(self) -> str:
        """The target's name, and what is changed."""
        return f"{self.base.name}, changing {self.said}"

    @cached_property
    def reduced(self) -> Reduced:
        """The cells without what is changed."""
        masks = tuple(value.mask for value in self.choices)
        return Reduced(self.base.space, self.changed, masks)

    @cached_property
    def space(self) -> Space:
        """The other attributes, with the label that says whether the answer changes."""
        reduced, complete = self.reduced, self.base.space.complete
        values = (STAYS, CHANGES)
        return with_label(reduced.attributes, "answer", values, reduced.assumed, complete)

    @cached_property
    def compared(self) -> ComparedAnswers:
        """That a change of the attribute changes the answer, or leaves it as it is."""
        assert self.space.label is not None
        stays, changes = self.space.label.variables
        acts = {stays: "leaves the answer as it is", changes: "changes the answer"}
        return ComparedAnswers(f"changing only {self.said}", acts, {stays: acts[changes]})

    @property
    def form_count(self) -> int:
        """How many values are tried."""
        return len(self.choices)

    def _form_places(self, cell: int) -> Sequence[int]:
        return self.reduced.possible(cell)

    def forms(self, cell: int) -> Sequence[Form]:
        """Return the questions: the cell, with each value that can occur there."""
        rest = self.reduced.whole(cell)
        each = [self.choices[place] for place in self.reduced.possible(cell)]
        return [Form(0, rest | value.mask, value.name) for value in each]

    def label(self, places: Sequence[int]) -> int:
        """Return the label of different answers: that the answer changes."""
        return 1


class PromptedFlipping(FlippingTarget, PromptedComparing):
    """The same, where the target is asked in prompts."""


def flipping(base: Target, attribute: str | Sequence[str], **options: Any) -> Target:
    """Return a target that says whether an attribute changes the answer, in each way of asking.

    `options` are those of `FlippingTarget`.
    """
    if isinstance(base, Worlds):
        each = {name: flipping(one, attribute, **options) for name, one in base.targets.items()}
        return Worlds(f"{base.name}, {_changing(each)}", each, base.noun)
    prompted = isinstance(base, PromptTarget)
    return (PromptedFlipping if prompted else FlippingTarget)(base, attribute, **options)


def _changing(each: Mapping[str, Target]) -> str:
    first = next(iter(each.values()))
    assert isinstance(first, FlippingTarget)
    return f"changing {first.said}"
