"""Is each listed rule as sure as is said? What was drawn after it was fixed must bear that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, isclose
from typing import Any

import numpy as np

from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Wrong
from hornlens.verifying.record import SLACK, SiftedFile, proportion, whole
from hornlens.verifying.stated import StatedRule
from hornlens.verifying.trials import Shown

PROVED, TESTED = {"kind": "proved"}, {"kind": "tested"}
"""What listed rules have for a warrant; one that is tested has its draws and its bound beside."""
RATED = 50
"""So many cells are drawn for each share of a rare label, whatever the answers are."""


@dataclass(frozen=True, eq=False)
class Warrants:
    """What the families of a record show."""

    file: SiftedFile

    @cached_property
    def shown(self) -> list[Shown]:
        """What the draws of each family show."""
        file = self.file
        return [Shown(family, file.asked, file.varies) for family in file.families]

    def _having(self, rule: Rule, *purposes: str) -> Iterator[tuple[Shown, int]]:
        """Yield the families of some purposes that have a rule, each with its place there."""
        for shown in self.shown:
            if shown.family.purpose in purposes and rule in shown.places:
                yield shown, shown.places[rule]

    # --- rules without exception ---

    def check(self, name: str, rule: StatedRule, warrant: Mapping[str, Any]) -> bool:
        """Check the warrant of a listed rule that no answer breaks; return whether it is proved."""
        tested, bound = warrant.get("tested", 0), warrant.get("bound")
        if warrant == PROVED:
            self._check_proved(name, rule)
            return True
        if warrant != {**TESTED, "tested": tested, "bound": bound}:
            raise Wrong(f"{name}: a warrant that is none")
        line = {"tested": tested, "bound": bound}
        claimed = whole(line, "tested"), proportion(line, "bound")
        reasons = []
        for drawn, least, reason in self._known(rule):
            if least is not None and drawn == claimed[0] and _same(least, claimed[1]):
                return False
            reasons.append(reason)
        if not reasons:
            raise Wrong(f"{name}: is listed as tested, and was not fixed before cells were drawn")
        raise Wrong(f"{name}: tested on {tested}, bound {bound:g}, but {'; '.join(reasons)}")

    def _check_proved(self, name: str, rule: StatedRule) -> None:
        file, inside = self.file, self.inside(rule)
        if file.varies:
            raise Wrong(f"{name}: is proved, though answers vary")
        if not file.layout.counted or len(inside) != file.layout.room(rule.box):
            raise Wrong(f"{name}: is proved, though not all of its cells were asked")
        if file.asked.unsure(rule.saying.breaks)[inside].any():
            raise Wrong(f"{name}: is proved, though an answer in it is not known")

    def inside(self, rule: StatedRule) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Return the places of the questions about cells that can break a rule."""
        cells = self.file.asked.cells
        inside = np.arange(len(cells))
        for i, part in enumerate(rule.box):
            if part is not None:
                inside = inside[part[cells[inside, i]]]
        return inside

    def _known(self, rule: StatedRule) -> Iterator[tuple[int, float | None, str]]:
        """Yield what each family shows of a rule: its draws, its bound if it has one, in words."""
        for shown, place in self._having(rule.rule, "list"):
            drawn, family = int(shown.drawn[place]), shown.family
            if shown.listed[place]:
                yield drawn, family.epsilon, f"{drawn} draws bear a bound of {family.epsilon:g}"
            else:
                yield drawn, None, f"its {drawn} draws after it was fixed {shown.why_not(place)}"
        last = self.shown[-1] if self.shown else None
        spare = proportion(self.file.line, "spare", or_nothing=True)
        for shown, place in self._having(rule.rule, "list", "bounds"):
            is_last = shown is last and shown.family.purpose == "list"
            if shown.family.purpose == "list" and not is_last:
                continue
            drawn = int(shown.drawn[place])
            bound = shown.bound(place, spare if is_last else shown.family.delta)
            if bound is not None:
                yield drawn, bound, f"{drawn} draws bear a bound of {bound:g}"
            elif not is_last:
                yield drawn, None, f"its {drawn} draws after it was fixed bear no bound"

    # --- rules with exceptions ---

    def check_almost(self, lines: Sequence[Mapping[str, Any]], rules: Sequence[StatedRule]) -> None:
        """Check rules with exceptions: these, the draws, and that the draws bear the bound."""
        if len({rule.rule for rule in rules}) < len(rules):
            raise Wrong("sift: an almost-rule stands there twice")
        for number, (line, rule) in enumerate(zip(lines, rules, strict=True), 1):
            shown_rule = self.file.layout.space.show_rule(rule.rule)
            name = f"almost-rule {number}, {shown_rule}"
            self._check_exceptions(name, line, rule)
            tested, broken = whole(line, "tested"), whole(line, "broken")
            bound = proportion(line, "bound")
            families = list(self._having(rule.rule, "almost"))
            if not families:
                raise Wrong(f"{name}: was not fixed before cells were drawn")
            if not any(
                (tested, broken) == (int(shown.drawn[place]), int(shown.hits[place]))
                and _same(bound, shown.family.epsilon)
                and shown.listed[place]
                for shown, place in families
            ):
                shown, place = families[-1]
                raise Wrong(
                    f"{name}: {shown.drawn[place]} draws after it was fixed, of which "
                    f"{shown.hits[place]} broke it, do not bear what is said of it"
                )

    def _check_exceptions(self, name: str, line: Mapping[str, Any], rule: StatedRule) -> None:
        file, inside = self.file, self.inside(rule)
        broken = inside[file.asked.breaking(rule.saying.breaks)[inside]]
        places = [file.order[at].place for at in broken.tolist()]
        if sorted(line["exceptions"]) != sorted(places):
            raise Wrong(f"{name}: its exceptions are not the {len(places):,} answers that break it")
        room = file.layout.room(rule.box)
        if not file.varies and len(places) > proportion(line, "bound") * room * (1 + SLACK):
            raise Wrong(f"{name}: more answers break it than its bound allows")

    # --- rare labels ---

    def check_more_often(
        self, lines: Sequence[Mapping[str, Any]], almost: Sequence[StatedRule]
    ) -> None:
        """Check where a rare label is given more often: of fixed numbers of draws."""
        space = self.file.layout.space
        for number, line in enumerate(lines, 1):
            left, given = space.mask(line["if"]), space.mask([line["label"]])
            name = f"more often {number}, {line['label']}"
            overall = self.file.rare
            rare = [r for r in almost if not r.conditions and self._label(r) == given]
            bounds = [e.family.epsilon for r in rare for e, _ in self._having(r.rule, "almost")]
            if not any(_same(overall, bound) for bound in bounds):
                raise Wrong(f"{name}: the label is not shown to be rare")
            if not _same(proportion(line, "overall"), overall):
                raise Wrong(f"{name}: overall is {overall:g}, not {line['overall']}")
            claimed = whole(line, "tested"), whole(line, "given"), proportion(line, "at_least")
            if not any(
                claimed[:2] == rated[:2] and _same(claimed[2], rated[2])
                for rated in self._rated(left, given)
            ):
                raise Wrong(f"{name}: not what its draws after it was fixed show")

    def _label(self, rule: StatedRule) -> int:
        """Return the label that breaks a rule, if there is one only."""
        labels, breaks = self.file.layout.space.label_masks, rule.saying.breaks
        return labels[breaks[0]] if labels and len(breaks) == 1 else 0

    def _rated(self, left: int, given: int) -> Iterator[tuple[int, int, float]]:
        for shown in self.shown:
            if shown.family.purpose != "rates":
                continue
            if any(drawn != RATED for drawn, _ in shown.own_draws):
                continue
            level = shown.family.delta / len(shown.family.members)
            for place, member in enumerate(shown.family.members):
                if member.conditions == left and self._label(member) == given:
                    drawn, hits = shown.own_draws[place]
                    room = self.file.layout.room(member.box)
                    rest = 1 - shown.used_before[place] / room
                    yield drawn, hits, least_chance(hits, drawn, level) * rest


def least_chance(hits: int, draws: int, level: float) -> float:
    """Return the chance at which so many hits, or more, are as likely as a level: a lower bound."""
    if not hits:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        more = range(hits, draws + 1)
        tail = sum(comb(draws, k) * middle**k * (1 - middle) ** (draws - k) for k in more)
        low, high = (middle, high) if tail < level else (low, middle)
    return low


def _same(a: float, b: float) -> bool:
    return isclose(a, b, rel_tol=SLACK)
