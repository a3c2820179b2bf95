"""What can be said: the points of a space, and sets of them, each held as one long number.

An interpretation is a number whose bits are the variables. The points of a space stand in a grid,
an axis for each attribute, and so a *set of points* is a number too, whose bits are the points.
What a rule rejects is then a handful of ands, however many points there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

from hornlens.verifying.attributes import Rule, at_most_one, read_attribute

LIMIT = 1 << 22
"""Up to so many points are gone through one and all."""


class Wrong(Exception):
    """Something in a result is not so: what, and where."""


def bits(number: int) -> Iterator[int]:
    """Yield the places of the ones, lowest first, in time linear in the number's length."""
    text = f"{number:b}"[::-1]
    place = text.find("1")
    while place >= 0:
        yield place
        place = text.find("1", place + 1)


def breaks(x: int, rule: Rule) -> bool:
    """Say whether an interpretation has what a rule asks for, and not what it demands."""
    antecedent, both = rule
    return antecedent & ~x == 0 and (both is None or both & ~x != 0)


def chain(x: int, rules: Sequence[Rule]) -> int | None:
    """Return `x` with all that follows from it; None if that is a contradiction."""
    while True:
        before = x
        for antecedent, both in rules:
            if antecedent & ~x == 0:
                if both is None:
                    return None
                x |= both
        if x == before:
            return x


@dataclass(frozen=True)
class Space:
    """The variables by name; what each attribute can say; and what it takes for granted of itself.

    `labels` are the variables of the label, by name: none if the target says yes or no. `ends` has
    what a cell of a complete space can say of each attribute: nothing that could be said closer.
    """

    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    own: frozenset[Rule]
    labels: tuple[str, ...]
    ends: tuple[tuple[int, ...], ...] | None = None
    label_always: bool = True
    """Whether samples always set the label."""
    levels: tuple[tuple[int, ...], ...] = ()
    """For each attribute what a cell can say of it, in the order in which files number it."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Space:
        """Return the space of an envelope.json: as it says, or else one of plain variables."""
        if (found := content.get("space")) is not None:
            lines, label = list(found["attributes"]), found["label"]
        elif (probe := content.get("probe")) is not None:  # of 0.1
            lines = [{"name": n, "values": v} for n, v in probe["attributes"].items()]
            label = {"name": probe["label_attribute"], "values": list(probe["label"])}
        else:
            lines, label = [{"name": name, "values": [name]} for name in content["variables"]], None
        names: list[str] = []
        axes, own, ends, levels = [], set(), [], []
        complete = bool((found or {}).get("complete", False))
        for line in lines + ([] if label is None else [label]):
            attribute = read_attribute(line, len(names))
            names += attribute.names
            choices = sorted(attribute.choices, key=lambda choice: (choice.bit_count(), choice))
            axes.append(tuple(choices))
            own |= attribute.rules
            if complete and line is not label:
                ends.append(attribute.ends)
                own |= attribute.rules_of_ends
            if line is not label:
                levels.append(attribute.ends if complete else tuple(attribute.choices))
        if names != content["variables"] or len(set(names)) < len(names):
            raise ValueError("variables that are not those of the attributes")
        if complete and not (found or {}).get("label_always", True):
            raise ValueError("a complete space in which the label may be unset")
        values = () if label is None else (*label["values"],)
        whole = tuple(ends) if complete else None
        always = (found or {}).get("label_always", True)
        return cls(
            *(tuple(names), tuple(axes), frozenset(own), values, whole, always, tuple(levels))
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def mask(self, names: Iterable[str]) -> int:
        """Return names as an interpretation."""
        return sum({1 << self._places[name] for name in names})

    @cached_property
    def label_masks(self) -> tuple[int, ...]:
        """The labels as interpretations, in order."""
        return tuple(self.mask([name]) for name in self.labels)

    def occurring(self, grid: Grid) -> int:
        """Return the points of a grid of all axes that can occur: in a complete space, whole."""
        if self.ends is None:
            return grid.everything
        labels = [self.label_masks] if self.labels else []
        return grid.at_choices([*self.ends, *labels])

    def cells_of(self, points: int) -> int:
        """Return how many cells so many points are, each with all labels that it can have."""
        return points // (len(self.labels) + (self.ends is None) if self.labels else 1)

    def rules(self, lines: Iterable[Mapping[str, Any]]) -> list[Rule]:
        """Return rules as JSON lists them."""
        found: list[Rule] = []
        for line in lines:
            if "at_most_one" in line:
                each = [self.mask([name]) for name in line["at_most_one"]]
                found += at_most_one(each)
            else:
                left, then = self.mask(line["if"]), line["then"]
                found.append((left, None if then is None else left | self.mask(then)))
        return found

    def show(self, x: int) -> str:
        """Return an interpretation for people."""
        return "{" + ", ".join(self.names[i] for i in bits(x)) + "}"

    def show_rule(self, rule: Rule) -> str:
        """Return a rule for people."""
        left, both = rule
        right = "⊥" if both is None else " ∧ ".join(self.names[i] for i in bits(both & ~left))
        return f"{' ∧ '.join(self.names[i] for i in bits(left)) or '⊤'} → {right or '⊤'}"


class Grid:
    """All points of some axes, and what can be asked of sets of points."""

    def __init__(self, axes: Sequence[Sequence[int]], width: int):
        """Lay out the axes, the first one varying first."""
        self.axes, self.size = axes, prod(map(len, axes))
        self.everything = (1 << self.size) - 1
        self.columns = [0] * width
        """For each variable, the points that have it."""
        self._groups, self._places, self._downs = [], [], []
        self._at_places: list[list[int]] = []
        stride = 1
        for axis in axes:
            at = [self._at(stride, len(axis), place) for place in range(len(axis))]
            self._at_places.append(at)
            for choice, points in zip(axis, at, strict=True):
                for v in bits(choice):
                    self.columns[v] |= points
            self._groups.append(sum(1 << v for v in {v for choice in axis for v in bits(choice)}))
            self._places.append({choice: place * stride for place, choice in enumerate(axis)})
            self._downs.append(
                [
                    (at[p], (p - q) * stride)
                    for q, p in combinations(range(len(axis)), 2)
                    if axis[q] & ~axis[p] == 0
                ]
            )
            stride *= len(axis)

    def _at(self, stride: int, count: int, place: int) -> int:
        """Return the points that have the choice at a place of an axis."""
        zeros = "0" * stride
        block = zeros * (count - 1 - place) + "1" * stride + zeros * place
        return int(block * (self.size // (stride * count)), 2)

    def at_choices(self, choices: Sequence[Sequence[int]]) -> int:
        """Return the points that make one of the given choices on each axis."""
        found = self.everything
        for places, at, some in zip(self._places, self._at_places, choices, strict=True):
            order = list(places)
            here = 0
            for choice in some:
                here |= at[order.index(choice)]
            found &= here
        return found

    def index(self, x: int) -> int:
        """Return the place of an interpretation; a KeyError if it is no point."""
        parts = zip(self._places, self._groups, strict=True)
        return sum(places[x & group] for places, group in parts)

    def has(self, points: int, x: int) -> bool:
        """Say whether an interpretation is one of the points."""
        try:
            return bool(points >> self.index(x) & 1)
        except KeyError:
            return False

    def point(self, index: int) -> int:
        """Return the interpretation at a place."""
        x = 0
        for axis in self.axes:
            index, place = divmod(index, len(axis))
            x |= axis[place]
        return x

    def first(self, points: int) -> int:
        """Return the first of some points."""
        return self.point((points & -points).bit_length() - 1)

    def common(self, points: int) -> int | None:
        """Return what all of the points have; None if there are none."""
        shared = (1 << v for v, column in enumerate(self.columns) if points & column == points)
        return sum(shared) if points else None

    def set_of(self, indices: Iterable[int]) -> int:
        """Return the set of the points at the given places."""
        marks = bytearray(b"0") * self.size
        for index in indices:
            marks[-1 - index] = ord("1")
        return int(marks, 2)

    def having(self, x: int) -> int:
        """Return the points that have all variables of `x`."""
        points = self.everything
        for v in bits(x):
            points &= self.columns[v]
        return points

    def breaking(self, rule: Rule) -> int:
        """Return the points that break a rule."""
        antecedent, both = rule
        return self.having(antecedent) & ~(0 if both is None else self.having(both))

    def breaking_any(self, rules: Iterable[Rule]) -> int:
        """Return the points that break one of the rules."""
        points = 0
        for rule in rules:
            points |= self.breaking(rule)
        return points

    def below(self, points: int) -> int:
        """Return the points that say no more than one of the given points."""
        for downs in self._downs:  # an axis after the other: leave out what it says, step by step
            for at, step in downs:
                points |= (points & at) >> step
        return points

    def intersections(self, points: int) -> int:
        """Return the points that are the intersection of some of the given ones.

        `x` is one iff there is a given point above it, and for each variable that `x` lacks one
        above it that lacks it, too.
        """
        found = self.below(points)
        for column in self.columns:
            found &= column | self.below(points & ~column)
        return found
