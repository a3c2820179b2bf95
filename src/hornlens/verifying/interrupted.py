"""What the rules of a run that was ended early have to be: sound, and no more than is claimed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

from hornlens.counts import plural
from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.bounded import check_bounded
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import LIMIT, Grid, Wrong, breaks
from hornlens.verifying.rules import (
    MOST_LABELS,
    Envelope,
    check_by_chaining,
    check_exact,
    missing_rule,
)
from hornlens.verifying.worlds import Worlds, check_named


def check_interrupted(
    envelope: Envelope,
    holds: Callable[[Rule], bool],
    broken: Callable[[Rule], bool] = lambda rule: False,
    *,
    short: bool = False,
) -> str:
    """Hold an envelope that may lack rules against its target; return what was found.

    `holds` says of a rule whether nothing that is accepted, or may be, breaks it; `broken` whether
    an answer does. `short`: the readable forms of proved rules are held against it, too.
    """
    check_by_chaining(envelope)
    rules, proved = envelope.rules, 0
    for number, (rule, warrant) in enumerate(zip(rules, envelope.warrants, strict=True), 1):
        if warrant["kind"] == "proved":
            proved += 1
            if not holds(rule):
                raise envelope.wrong(number, "not proved: it may be broken")
            if short and not holds(envelope.readable[number - 1]):
                raise envelope.wrong(number, "not proved as it is put: that may be broken")
        elif broken(rule):
            raise envelope.wrong(number, "not sound: a recorded answer breaks it")
        elif warrant["kind"] == "tested":
            _check_bound(envelope, number, rule, warrant)
    others = len(rules) - proved
    tested = f"; {others:,} more are tested, and no answer breaks one" if others else ""
    return f"partial: each of {plural(proved, 'rule')} holds, whatever was not asked{tested}"


def _check_bound(envelope: Envelope, number: int, rule: Rule, warrant: Mapping[str, Any]) -> None:
    """Check the bound of a tested rule: ε by the chance that a sample has its left side."""
    joint, space = envelope.claim.joint, envelope.space
    if joint is None or warrant.get("bound") is None:
        raise envelope.wrong(number, "is tested, and nothing was sampled")
    chance = 1.0
    for place, axis in enumerate(space.axes):
        is_label = bool(space.labels) and place == len(space.axes) - 1
        drawn = [c for c in axis if c or not (is_label and space.label_always)]
        wanted = rule[0] & variables_of(axis)
        chance *= sum(wanted & ~choice == 0 for choice in drawn) / len(drawn)
    if warrant["bound"] * chance < joint["epsilon"] * (1 - 1e-9):
        raise envelope.wrong(number, "its bound is smaller than the samples allow")


def follows(rule: Rule, closure: Callable[[int], int | None]) -> bool:
    """Say whether a rule says no more than the closure of its left side."""
    common = closure(rule[0])
    return common is None or (rule[1] is not None and rule[1] & ~common == 0)


class MissingAnswers:
    """A target that was not asked about every cell: what it was not asked, it may accept."""

    def __init__(self, reader: Reader, background: list[Rule], worlds: Worlds):
        """Find what is accepted, and what may be."""
        self.reader, self.worlds, space = reader, worlds, reader.space
        self.assumed = [rule for rule in background if rule not in space.own]
        for answers in worlds.values():
            for answer in answers:
                if any(breaks(answer.cell, rule) for rule in background):
                    raise Wrong(f"answer {answer.place}: {space.show(answer.cell)} cannot occur")
        self.grid = None
        if prod(map(len, space.axes)) <= LIMIT:
            self.grid = Grid(space.axes, len(space.names))
            self.allowed = self.grid.everything & ~self.grid.breaking_any(background)
            self.inside = self.allowed & space.occurring(self.grid)
            self.possible = {name: self._possible(self.grid, each) for name, each in worlds.items()}

    def _possible(self, grid: Grid, answers: Sequence[Answer]) -> int:
        """Return all points but those that are known to be rejected."""
        reader, rejected = self.reader, set[int]()
        for answer in answers:
            rejected.update(reader.all_of(answer.cell))
            rejected.difference_update(reader.accepted(answer))
        found = self.inside & ~grid.set_of(map(grid.index, rejected))
        if reader.space.labels and reader.policy["label_unset"] == "reject":
            labelled = 0
            for label in reader.space.label_masks:
                labelled |= grid.having(label)
            found &= labelled
        return found

    def check(self, envelope: Envelope, names: Sequence[Any], statistics: Mapping[str, Any]) -> str:
        """Check the envelope of what one of the named worlds, or another, accepts or may accept."""
        grid, claim = self.grid, envelope.claim
        if grid is None:
            if claim.settled:
                raise Wrong("certificate: not all cells were asked")
            asked = self._was_asked
            return check_interrupted(
                envelope, lambda rule: asked(rule, names), lambda rule: self._broken(rule, names)
            )
        positive = 0
        for name in names:
            positive |= self.possible[name]
        if not claim.settled:
            return check_interrupted(
                envelope,
                lambda rule: not grid.breaking(rule) & positive,
                lambda rule: self._broken(rule, names),
                short=True,
            )
        cells = self.reader.space.cells_of(self.inside.bit_count())
        if any(len(self.worlds[name]) != cells for name in names):
            raise Wrong(f"certificate: complete, but not all of {cells:,} cells were asked")
        if claim.every:
            return check_exact(envelope, grid, self.allowed, positive)
        return check_bounded(
            envelope,
            lambda x: grid.common(grid.having(x) & positive),
            lambda x: (grid.having(x) & positive).bit_count(),
        )

    def _was_asked(self, rule: Rule, names: Sequence[Any]) -> bool:
        """Say whether all cells were asked that a rule speaks of, and none breaks it."""
        space, left = self.reader.space, rule[0] & ~sum(self.reader.space.label_masks)
        axes = space.ends or space.axes[: len(space.axes) - bool(space.labels)]
        above = prod(sum(left & variables_of(axis) & ~c == 0 for c in axis) for axis in axes)
        for name in names:
            answers = [a for a in self.worlds[name] if left & ~a.cell == 0]
            accepted = (x for a in answers for x in self.reader.accepted(a))
            if self.assumed or len(answers) != above or any(breaks(x, rule) for x in accepted):
                return False
        return True

    def _broken(self, rule: Rule, names: Sequence[Any]) -> bool:
        return self._breaking(rule, names) is not None

    def _breaking(self, rule: Rule, names: Sequence[Any]) -> Answer | None:
        """Return an answer of some worlds that breaks a rule; what is not decided breaks none."""
        for answer in (answer for name in names for answer in self.worlds[name]):
            if any(breaks(x, rule) for x in self.reader.accepted(answer, undecided=False)):
                return answer
        return None

    def check_open(self, rules: Sequence[Rule], claim: Claim) -> str:
        """Check that no answer breaks what is left open."""
        if claim.open != len(rules):
            raise Wrong(f"certificate: {len(rules):,} rules are open, not {claim.open:,}")
        for rule in rules:
            if (answer := self._breaking(rule, list(self.worlds))) is not None:
                shown = self.reader.space.show_rule(rule)
                raise Wrong(f"open rule {shown}: answer {answer.place} breaks it")
        return f"open rules: no answer breaks one of {len(rules):,}; they are not proved"

    def check_joint(self, claim: Claim, rules: Sequence[Rule], bound: bool) -> str:
        """Check that no rule is missing of those of which something is claimed together.

        `bound`: the run held its rules against all its answers. Then what these reject, a rule
        rejects, or it is an intersection of accepted ones; unless not the whole of it is claimed.
        """
        joint = claim.joint or {}
        samples, space = joint["samples"], self.reader.space
        left = 0
        bound = bound and joint.get("whole", True)
        if bound and len(space.labels) <= MOST_LABELS:
            each = [answer for answers in self.worlds.values() for answer in answers]
            accepted = {x for answer in each for x in self.reader.accepted(answer)}
            for answer in each:
                for x in self.reader.all_of(answer.cell):
                    labelled = not space.labels or x & sum(space.label_masks)
                    if x in accepted or not labelled or any(breaks(x, rule) for rule in rules):
                        continue
                    above = [y for y in accepted if x & ~y == 0]
                    if not above or reduce(int.__and__, above) != x:
                        raise missing_rule(space, x)
                    left += 1
        return (
            f"sampled: {samples:,} samples bear its ε and δ; {left:,} interpretations that answers "
            "reject are intersections of accepted ones"
        )

    def check_survival(self, rule: Rule, line: Mapping[str, Any]) -> None:
        """Check in which worlds a rule is said to be broken, and to be unknown."""
        for name in line["unknown_in"]:
            for answer in self.worlds[name]:
                if any(breaks(x, rule) for x in self.reader.said(answer)):
                    raise Wrong(f"answer {answer.place} breaks it in {name}")
        check_named(rule, line, self.reader, self.worlds)


def variables_of(axis: Sequence[int]) -> int:
    """Return all variables of an attribute."""
    found = 0
    for choice in axis:
        found |= choice
    return found
