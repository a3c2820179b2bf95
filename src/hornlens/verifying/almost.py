"""Almost-rules and levels of a result: counted again, in points of the grid or in rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import isclose, prod
from typing import Any

from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Grid, Space, Wrong, bits, breaks, chain

LIMIT = 300_000
"""Up to so many short rules are gone through, to see that none is missing."""


@dataclass(frozen=True)
class Known:
    """A target of which every point is known; `inside` is what the background allows."""

    space: Space
    grid: Grid
    inside: int
    positive: int

    def cells(self, points: int) -> int:
        """Return how many cells some points have: a label's axis is the last, so varies last."""
        labels = len(self.space.labels) + 1 if self.space.labels else 1
        count = self.grid.size // labels
        every, found = (1 << count) - 1, 0
        for place in range(labels):
            found |= points >> place * count & every
        return found.bit_count()

    def tally(self, rule: Rule) -> tuple[int, int, int]:
        """Return in how many cells a rule rejects something, how many break it, and what does."""
        rejected = self.grid.breaking(rule) & self.inside
        breaking = rejected & self.positive
        return self.cells(rejected), self.cells(breaking), breaking


Tally = Callable[[Rule], tuple[int, int]]
"""Returns how much a rule speaks of, and how much of that breaks it."""


def check_almost(
    content: Mapping[str, Any], space: Space, exact: Sequence[Rule], known: Known
) -> str:
    """Hold the almost-rules of a result against its target; return what was found."""
    lines = content["almost"]
    rules = space.rules(lines)
    for number, (rule, line) in enumerate(zip(rules, lines, strict=True), 1):
        of, broken, breaking = known.tally(rule)
        listed = known.grid.set_of(known.grid.index(space.mask(x)) for x in line["exceptions"])
        if listed != breaking or len(line["exceptions"]) != breaking.bit_count():
            raise _wrong(space, number, rule, "its exceptions are others than those listed")
        _check_counts(space, number, rule, line, of, broken)

    def tally(rule: Rule) -> tuple[int, int]:
        return known.tally(rule)[:2]

    return _check_basis(content, space, exact, rules, tally, negative=True)


def check_almost_rows(
    content: Mapping[str, Any], space: Space, exact: Sequence[Rule], rows: Sequence[int]
) -> str:
    """Hold the almost-rules of a table against its rows; return what was found."""
    lines = content["almost"]
    rules = space.rules(lines)

    def tally(rule: Rule) -> tuple[int, int]:
        return sum(rule[0] & ~row == 0 for row in rows), sum(breaks(row, rule) for row in rows)

    for number, (rule, line) in enumerate(zip(rules, lines, strict=True), 1):
        breaking = sorted(row for row in rows if breaks(row, rule))
        if sorted(space.mask(x) for x in line["exceptions"]) != breaking:
            raise _wrong(space, number, rule, "its exceptions are others than those listed")
        if len(line["lines"]) != len(breaking):
            raise _wrong(space, number, rule, "not a line for each exception")
        _check_counts(space, number, rule, line, *tally(rule))
    return _check_basis(content, space, exact, rules, tally, negative=False)


def check_levels(
    content: Mapping[str, Any], space: Space, exact: Sequence[Rule], known: Known
) -> str:
    """Count again what each level explains, and what it gets wrong; return what was found."""
    levels = content["levels"]
    rejected = known.inside & ~known.positive
    by_exact = known.grid.breaking_any(exact) & rejected
    counted = {
        "rejections": rejected.bit_count(),
        "by_exact": by_exact.bit_count(),
        "exact_rules": len(exact),
    }
    for key, value in counted.items():
        if levels[key] != value:
            raise Wrong(f"levels: {key} is {value}, not {levels[key]}")
    out = 0
    least = Fraction(repr(float(levels["min_confidence"])))
    for number, (rule, line) in enumerate(
        zip(space.rules(levels["steps"]), levels["steps"], strict=True), 1
    ):
        new = known.grid.breaking(rule) & known.inside & ~out
        out |= new
        listed = [known.grid.index(space.mask(x)) for x in line["new_exceptions"]]
        what = f"level {number}, {space.show_rule(rule)}"
        if known.grid.set_of(listed) != new & known.positive or len(set(listed)) < len(listed):
            raise Wrong(f"{what}: its new exceptions are others than those listed")
        if line["explained"] != (explained := (out & rejected).bit_count()):
            raise Wrong(f"{what}: explained are {explained}, not {line['explained']}")
        if not explained <= line["at_most"] <= levels["rejections"]:
            raise Wrong(f"{what}: at_most is less than what is explained, or more than there is")
        of, broken, _ = known.tally(rule)
        if not of or Fraction(of - broken, of) < least:
            raise Wrong(f"{what}: its confidence is below {levels['min_confidence']}")
        if _conditions(space, rule) > levels["max_conditions"]:
            raise Wrong(f"{what}: more than {levels['max_conditions']} conditions")
    count = len(levels["steps"])
    return f"levels: of {count:,}, what each explains and all its exceptions are counted again"


def _wrong(space: Space, number: int, rule: Rule, what: str) -> Wrong:
    return Wrong(f"almost-rule {number}, {space.show_rule(rule)}: {what}")


def _check_counts(
    space: Space, number: int, rule: Rule, line: Mapping[str, Any], of: int, broken: int
) -> None:
    if (line["of"], line["broken"]) != (of, broken):
        said = f"{line['broken']} of {line['of']}"
        raise _wrong(space, number, rule, f"{broken} of {of} break it, not {said}")
    if not broken:
        raise _wrong(space, number, rule, "it has no exceptions, and belongs to the exact rules")
    if not isclose(line["confidence"], 1 - broken / of, rel_tol=1e-9):
        raise _wrong(space, number, rule, f"its confidence is not {line['confidence']}")


def _check_basis(
    content: Mapping[str, Any],
    space: Space,
    exact: Sequence[Rule],
    rules: Sequence[Rule],
    tally: Tally,
    negative: bool,
) -> str:
    """Check that no almost-rule is superfluous, and that none is missing."""
    claim = content["almost_claim"]
    most, support = claim["max_conditions"], claim.get("min_support") or 1
    least = Fraction(repr(float(claim["min_confidence"])))

    def is_one(rule: Rule) -> bool:
        of, broken = tally(rule)
        return of >= support and Fraction(of - broken, of) >= least

    for number, rule in enumerate(rules, 1):
        if not is_one(rule) or _conditions(space, rule) > most:
            raise _wrong(space, number, rule, "it has too little confidence, or is too long")
        if _follows(rule, [*exact, *rules[: number - 1], *rules[number:]]):
            raise _wrong(space, number, rule, "it follows from the other rules")
    told = f"almost-rules: {len(rules):,} with all their exceptions, counted again"
    axes = [[choice for choice in axis if choice] for axis in space.axes]
    lefts = sum(prod(map(len, some)) for n in range(most + 1) for some in combinations(axes, n))
    if lefts * len(space.names) > LIMIT:
        return f"{told}; there are too many short rules to see that none is missing"
    for rule in _short(space, axes, most, negative):
        if is_one(rule) and not _follows(rule, [*exact, *rules]):
            raise Wrong(f"an almost-rule is missing: {space.show_rule(rule)}")
    return f"{told}; none is missing"


def _short(
    space: Space, axes: Sequence[Sequence[int]], most: int, negative: bool
) -> Iterator[Rule]:
    for n in range(most + 1):
        for some in combinations(axes, n):
            for x in map(sum, product(*some)):
                if negative:
                    yield x, None
                for v in range(len(space.names)):
                    if not x >> v & 1:
                        yield x, x | 1 << v


def _follows(rule: Rule, rules: Sequence[Rule]) -> bool:
    closure = chain(rule[0], rules)
    return closure is None or (rule[1] is not None and rule[1] & ~closure == 0)


def _conditions(space: Space, rule: Rule) -> int:
    groups = (sum({1 << v for choice in axis for v in bits(choice)}) for axis in space.axes)
    return sum(bool(rule[0] & group) for group in groups)
