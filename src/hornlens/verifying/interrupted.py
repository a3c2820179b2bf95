"""What the rules of a run that was ended early have to be: sound, and no more than is claimed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from hornlens.counts import plural
from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.bounded import check_bounded
from hornlens.verifying.grids import LIMIT, Grid, Wrong, breaks
from hornlens.verifying.rules import Envelope, check_by_chaining, check_exact
from hornlens.verifying.worlds import Worlds, check_named


def check_interrupted(envelope: Envelope, holds: Callable[[Rule], bool]) -> str:
    """Hold an envelope that may lack rules against its target; return what was found.

    `holds` says of a rule whether nothing that is accepted, or may be, breaks it.
    """
    check_by_chaining(envelope)
    rules, claim = envelope.rules, envelope.certificate
    if claim["rules"] != len(rules):
        raise Wrong(f"certificate: it is {plural(len(rules), 'rule')}, not {claim['rules']}")
    for number, rule in enumerate(rules, 1):
        if not holds(rule):
            raise envelope.wrong(number, "not proved: it may be broken")
    return f"interrupted: each of {plural(len(rules), 'rule')} holds, whatever was not asked"


def follows(rule: Rule, closure: Callable[[int], int | None]) -> bool:
    """Say whether a rule says no more than the closure of its left side."""
    common = closure(rule[0])
    return common is None or (rule[1] is not None and rule[1] & ~common == 0)


class MissingAnswers:
    """A target that was not asked about every cell: what it was not asked, it may accept."""

    def __init__(self, reader: Reader, background: list[Rule], worlds: Worlds):
        """Find what is accepted, and what may be."""
        self.reader, self.worlds, space = reader, worlds, reader.space
        self.granted = [rule for rule in background if rule not in space.own]
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
        grid, kind = self.grid, envelope.certificate["kind"]
        if grid is None:
            if kind != "interrupted":
                raise Wrong("certificate: not all cells were asked")
            return check_interrupted(envelope, lambda rule: self._was_asked(rule, names))
        positive = 0
        for name in names:
            positive |= self.possible[name]
        if kind == "interrupted":
            return check_interrupted(envelope, lambda rule: not grid.breaking(rule) & positive)
        cells = self.reader.space.cells_of(self.inside.bit_count())
        if any(len(self.worlds[name]) != cells for name in names):
            raise Wrong(f"certificate: {kind}, but not all of {cells:,} cells were asked")
        if kind == "exact":
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
        above = prod(sum(left & union(axis) & ~c == 0 for c in axis) for axis in axes)
        for name in names:
            answers = [a for a in self.worlds[name] if left & ~a.cell == 0]
            accepted = (x for a in answers for x in self.reader.accepted(a))
            if self.granted or len(answers) != above or any(breaks(x, rule) for x in accepted):
                return False
        return True

    def check_hypotheses(self, rules: Sequence[Rule]) -> str:
        """Check that no answer breaks what is held for true."""
        for rule in rules:
            for answer in (answer for each in self.worlds.values() for answer in each):
                if any(breaks(x, rule) for x in self.reader.accepted(answer)):
                    shown = self.reader.space.show_rule(rule)
                    raise Wrong(f"hypothesis {shown}: answer {answer.place} breaks it")
        return f"hypotheses: no answer breaks one of {len(rules):,}; they are not proved"

    def check_survival(self, rule: Rule, line: Mapping[str, Any]) -> None:
        """Check in which worlds a rule is said to be broken, and to be unknown."""
        for name in line["unknown_in"]:
            for answer in self.worlds[name]:
                if any(breaks(x, rule) for x in self.reader.accepted(answer)):
                    raise Wrong(f"answer {answer.place} breaks it in {name}")
        check_named(rule, line, self.reader, self.worlds)


def union(axis: Sequence[int]) -> int:
    """Return all variables of an attribute."""
    found = 0
    for choice in axis:
        found |= choice
    return found
