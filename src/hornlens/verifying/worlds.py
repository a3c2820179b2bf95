"""What recorded answers accept: in each way of asking, and in any; rules are held against that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.almost import Known
from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.bounded import check_bounded
from hornlens.verifying.grids import LIMIT, Grid, Wrong, breaks
from hornlens.verifying.rules import Asked, Envelope, check_exact, check_sampled

Worlds = Mapping[str | None, Sequence[Answer]]
"""The answers, by the name of the variant; None where there is only one way of asking."""


class AllAnswers:
    """A target that was asked about every cell: an envelope of it can be held to be exact."""

    def __init__(
        self, reader: Reader, background: list[Rule], worlds: Worlds, by_policy: bool = False
    ):
        """Find what is accepted, and see that no cell is left out.

        `by_policy`: a rule counts as broken by what the policy accepts where there is no answer, as
        it did in format 1.
        """
        space, self.by_policy = reader.space, by_policy
        if prod(map(len, space.axes)) > LIMIT:
            raise InputError(
                f"is exact over more than {LIMIT:,} interpretations: too many to check"
            )
        self.reader, self.worlds = reader, worlds
        self.grid = Grid(space.axes, len(space.names))
        self.allowed = self.grid.everything & ~self.grid.breaking_any(background)
        self.inside = self.allowed & space.occurring(self.grid)
        self.positive = {}
        self.possible = {}
        self.said = {}
        cells = space.cells_of(self.inside.bit_count())
        for name, answers in worlds.items():
            for answer in answers:
                if not self.grid.has(self.inside, min(reader.all_of(answer.cell))):
                    raise Wrong(f"answer {answer.place}: {space.show(answer.cell)} cannot occur")
            if len(answers) != cells:
                where = "" if name is None else f" of {name}"
                raise Wrong(
                    f"certificate: exact, but {len(answers):,} of {cells:,} cells{where} were asked"
                )
            accepted = (x for answer in answers for x in reader.accepted(answer))
            self.positive[name] = self.grid.set_of(map(self.grid.index, accepted))
            decided = (x for answer in answers for x in reader.accepted(answer, undecided=False))
            self.possible[name] = self.grid.set_of(map(self.grid.index, decided))
            said = (x for answer in answers for x in reader.said(answer))
            self.said[name] = self.grid.set_of(map(self.grid.index, said))

    def check(self, envelope: Envelope, names: Sequence[Any], statistics: Mapping[str, Any]) -> str:
        """Check the envelope of what one of the named worlds, or another, accepts."""
        claim = envelope.claim
        if not claim.settled and claim.noise is None:
            raise Wrong("certificate: not exact, as that of the whole is")
        positive = 0
        for name in names:
            positive |= self.positive[name]
        points, negatives = self.inside.bit_count(), (self.inside & ~positive).bit_count()
        if "negatives" in statistics:  # not of a learner's run
            counted = {"membership_queries": points, "negatives": negatives}
            for key, value in counted.items():
                if statistics[key] != value:
                    raise Wrong(f"statistics: {key} is {value}, not {statistics[key]}")
        return self._check_rules(envelope, positive, len(names))

    def _check_rules(self, envelope: Envelope, positive: int, worlds: int) -> str:
        """Check rules that are complete, or complete within bounds, for what is accepted."""
        claim, grid = envelope.claim, self.grid
        if not claim.bounded:
            return check_exact(envelope, grid, self.allowed, positive)
        left_over = self.inside & ~positive & grid.intersections(positive)
        envelope.check_examples(lambda x: grid.has(left_over, x), left_over.bit_count())
        space, labels = self.reader.space, sum(self.reader.space.label_masks)

        def support(x: int) -> int:
            """Return how many answers there are about what has the conditions."""
            if not claim.unit:
                return (grid.having(x) & positive).bit_count()
            about = grid.having(x & ~labels) & self.inside
            return space.cells_of(about.bit_count()) * worlds

        return check_bounded(envelope, lambda x: grid.common(grid.having(x) & positive), support)

    def known(self, names: Sequence[Any]) -> Known:
        """Return what one of the named worlds, or another, accepts."""
        positive = 0
        for name in names:
            positive |= self.positive[name]
        return Known(self.reader.space, self.grid, self.inside, positive)

    def check_possible(
        self,
        content: Mapping[str, Any],
        certificate: Mapping[str, Any],
        background: list[Rule],
        names: Any,
    ) -> str:
        """Check the rules that are possible, and which answers may break each of them."""
        space = self.reader.space
        bounds = {**certificate, "rules": len(content["rules"]), "weakest": "proved"}
        if "complete" not in bounds:  # of format 1
            bounds = {"kind": "exact"}
        envelope = Envelope.of({**content, "certificate": bounds}, space, background)
        positive, certain = 0, 0
        for name in names:
            positive |= self.possible[name]
            certain |= self.positive[name]
        found = self._check_rules(envelope, positive, len(names))
        left = [a for name in names for a in self.worlds[name] if a.is_undecided]
        for rule, line in zip(envelope.readable, content["readable"], strict=True):
            may = [
                a.place
                for a in left
                if any(breaks(x, rule) for x in self.reader.accepted(a) if x != a.cell)
            ]
            if sorted(line["undecided"]) != sorted(may) or line["certain"] == bool(may):
                raise Wrong(f"possible {space.show_rule(rule)}: not the answers that may break it")
            if line["certain"] == bool(self.grid.breaking(rule) & certain):
                raise Wrong(f"possible {space.show_rule(rule)}: is not certain, or is")
        settling = {place for line in content["readable"] for place in line["undecided"]}
        if sorted(settling) != content["settling"]:
            raise Wrong("possible: not the answers that would settle a rule")
        return f"possible rules, with what is undecided rejected: {found}"

    def check_survival(self, rule: Rule, line: Mapping[str, Any]) -> None:
        """Check in which worlds a rule is said to hold."""
        broken = self.grid.breaking(rule)
        decided = self.possible if self.by_policy else self.said
        really = {name for name, positive in decided.items() if broken & positive}
        if really != set(line["broken_in"]):
            raise Wrong(f"is broken in {sorted(map(str, really))}")
        perhaps = {name for name, positive in self.positive.items() if broken & positive}
        if not self.by_policy:
            perhaps |= {name for name, each in self.worlds.items() if not _is_answered(each)}
        perhaps -= really
        if perhaps != set(line["unknown_in"]):
            raise Wrong("is unknown where every answer is decided, or the other way round")
        check_named(rule, line, self.reader, self.worlds)


def _is_answered(answers: Sequence[Answer]) -> bool:
    return any(answer.winner is not None or answer.is_undecided for answer in answers)


class SomeAnswers:
    """A target that was asked about some cells: what was not asked is not known."""

    def __init__(
        self,
        reader: Reader,
        background: list[Rule],
        worlds: Worlds,
        bound: bool,
        unbroken: bool = True,
    ):
        """Keep the answers; `bound`: what they reject, a rule rejects; `unbroken`: none breaks one.

        Up to 0.2, a rule was listed that an answer breaks.
        """
        self.reader, self.worlds, self.bound, self.unbroken = reader, worlds, bound, unbroken
        for answers in worlds.values():
            for answer in answers:
                if any(breaks(answer.cell, rule) for rule in background):
                    shown = reader.space.show(answer.cell)
                    raise Wrong(f"answer {answer.place}: {shown} cannot occur")

    def check(self, envelope: Envelope, names: Sequence[Any], statistics: Mapping[str, Any]) -> str:
        """Check the envelope of what one of the named worlds, or another, accepts."""
        reader = self.reader
        answers = [answer for name in names for answer in self.worlds[name]]
        said = {x for answer in answers for x in reader.said(answer)}
        accepted = {x for answer in answers for x in reader.accepted(answer)}
        cells = [{answer.cell for answer in self.worlds[name]} for name in names]
        known = set.intersection(*cells)
        labels = reader.space.label_masks
        asked = {cell | label for cell in known for label in labels} if labels else known
        unset: bool = reader.policy["label_unset"] == "reject"

        def rejects(x: int) -> bool:
            if labels and not x & sum(labels):
                return unset
            return x in asked and x not in accepted

        found = Asked(said, accepted, asked - accepted, rejects, self.bound, self.unbroken)
        return check_sampled(envelope, found)

    def check_survival(self, rule: Rule, line: Mapping[str, Any]) -> None:
        """Check in which worlds a rule is said to be broken, and to be unknown."""
        for name in line["unknown_in"]:
            for answer in self.worlds[name]:
                if any(breaks(x, rule) for x in self.reader.said(answer)):
                    raise Wrong(f"answer {answer.place} breaks it in {name}")
        check_named(rule, line, self.reader, self.worlds)


def check_named(rule: Rule, line: Mapping[str, Any], reader: Reader, worlds: Worlds) -> None:
    """Check that each world is named once, and that the answers said to break a rule do."""
    held = {*line["holds_in"], *line["vacuous_in"]}
    named = sorted([*held, *line["broken_in"], *line["unknown_in"]])
    if named != sorted(map(str, worlds)):
        raise Wrong("does not name each variant once")
    for name, place in line["broken_in"].items():
        answer = next((a for a in worlds[name] if a.place == place), None)
        if answer is None or not any(breaks(x, rule) for x in reader.accepted(answer)):
            raise Wrong(f"answer {place} does not break it in {name}")
