"""The record of a sift, read and held against itself: what was asked, fixed and drawn, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import Any

import numpy as np

from hornlens.errors import InputError
from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.draws import DrawnCell, Replay
from hornlens.verifying.grids import Wrong
from hornlens.verifying.levels import Box, Layout
from hornlens.verifying.stated import AskedCells, Saying, StatedRule, read_stated, sayings_of
from hornlens.verifying.trials import FixedFamily

PURPOSES = ("list", "bounds", "almost", "rates")
"""What a family of rules can be fixed for."""
MOST_MEMBERS = 200_000
"""So many rules may be fixed, in all families together."""
MOST_MARKS = 200_000_000
"""So many pairs of a fixed rule and a level are laid out."""
SLACK = 1e-9
"""By so much figures may differ that were added up in another order."""
RARE, RAREST = 2.0, 0.15
"""A label is rare that is given in at most so many times ε of all cells, but no more than this."""


def whole(line: Mapping[str, Any], key: str, most: int | None = None) -> int:
    """Return a number of things of a line; anything else is wrong."""
    value = line[key]
    if type(value) is not int or value < 0 or (most is not None and value > most):
        raise Wrong(f"sift: {key} is {shortened(value)}, which cannot be")
    return value


def proportion(line: Mapping[str, Any], key: str, or_nothing: bool = False) -> float:
    """Return a share of a line, between 0 and 1 (exclusive)."""
    value = line[key]
    if or_nothing and type(value) in (int, float) and value == 0:
        return 0.0
    if type(value) not in (int, float) or not 0 < value < 1:
        raise Wrong(f"sift: {key} is {shortened(value)}, which is no share")
    return float(value)


def shortened(value: Any) -> str:
    """Return a value for people, whatever a file has in its place."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]} …"


@dataclass(frozen=True, eq=False)
class SiftedFile:
    """The section `sift` of a result, with its answers."""

    content: Mapping[str, Any]
    readers: Mapping[str | None, Reader]
    worlds: Mapping[str | None, Sequence[Answer]]
    background: list[Rule]

    @property
    def line(self) -> Mapping[str, Any]:
        """The section itself."""
        line: Mapping[str, Any] = self.content["sift"]
        return line

    @cached_property
    def layout(self) -> Layout:
        """The space, by levels."""
        return Layout(next(iter(self.readers.values())).space, self.background)

    @cached_property
    def sayings(self) -> list[Saying]:
        """What rules can say of the labels."""
        space = self.layout.space
        unset = any(r.policy["label_unset"] == "accept" for r in self.readers.values())
        classes = bool(self.line.get("classes", False))
        return sayings_of(len(space.labels), unset and space.ends is None, classes)

    @cached_property
    def epsilon(self) -> float:
        """The share of its cells that may break a rule, where nothing else is said of it."""
        return proportion(self.line, "epsilon")

    @property
    def rare(self) -> float:
        """The share of all cells up to which a label is rare."""
        return min(RARE * self.epsilon, RAREST)

    @cached_property
    def delta(self) -> float:
        """With what probability any claim may be wrong."""
        return proportion(self.line, "delta")

    @property
    def varies(self) -> bool:
        """Whether asking again may give another answer."""
        return bool(self.line.get("varies", False))

    # --- what was asked ---

    @cached_property
    def _by_cell(self) -> dict[int, dict[str | None, Answer]]:
        """For each cell its answers, by the ways of asking."""
        cells: dict[int, dict[str | None, Answer]] = {}
        for name, answers in self.worlds.items():
            for answer in answers:
                cells.setdefault(answer.cell, {})[name] = answer
        return cells

    @cached_property
    def order(self) -> list[Answer]:
        """The answers of the first way of asking, in the order of asking."""
        first = next(iter(self.worlds))
        at = {answer.place: answer for answer in self.worlds[first]}
        order = self.line["order"]
        if any(type(place) is not int or place not in at for place in order):
            raise Wrong("sift: the order of asking points to no answer, or to another variant")
        if len(set(order)) < len(order):
            raise Wrong("sift: a question stands twice in the order of asking")
        known = set(order)
        for answers in self._by_cell.values():
            place = min(answer.place for answer in answers.values())
            if first not in answers or answers[first].place not in known:
                raise Wrong(f"sift: answer {place} is missing in the order of asking")
        return [at[place] for place in order]

    @cached_property
    def asked(self) -> AskedCells:
        """The cells in the order of asking, with what is known of each."""
        layout, space = self.layout, self.layout.space
        rows = []
        for answer in self.order:
            try:
                rows.append(layout.places(answer.cell))
            except KeyError:
                shown = space.show(answer.cell)
                raise Wrong(f"answer {answer.place}: {shown} cannot occur") from None
        cells = np.array(rows, dtype=np.int64).reshape(len(rows), len(layout.sizes))
        for number in np.flatnonzero(~layout.allowed(cells)).tolist():
            answer = self.order[number]
            raise Wrong(f"answer {answer.place}: {space.show(answer.cell)} cannot occur")
        known = np.zeros((len(self.order), max(1, len(space.labels))), dtype=np.int8)
        for row, answer in enumerate(self.order):
            for name, reader in self.readers.items():
                self._accept(known[row], self._by_cell[answer.cell].get(name), reader)
        return AskedCells(layout, cells, known)

    def _accept(self, row: Any, answer: Answer | None, reader: Reader) -> None:
        """Note what an answer accepts: 1; or that nobody knows: -1, as where there is none yet."""
        if answer is None or answer.is_undecided:
            row[row == 0] = -1
        elif answer.winner is None:
            if reader.policy["abstain"] == "accept":
                row[:] = 1
        elif self.layout.space.labels:
            row[answer.winner] = 1
        elif answer.winner == 1:
            row[0] = 1

    # --- what was fixed, and drawn ---

    def rule(self, rule: Rule) -> StatedRule:
        """Return a rule as one that is sifted for."""
        return read_stated(self.layout, rule, self.sayings)

    @cached_property
    def draws(self) -> list[DrawnCell]:
        """The cells that were drawn, in the order of asking."""
        lines, last, draws = self.line["families"], -1, []
        for line in self.line["draws"]:
            at, family, base = line
            named = {"question": at, "family": family, "base": base}
            draw = DrawnCell(
                whole(named, "question", len(self.order) - 1),
                whole(named, "family", len(lines) - 1),
                whole(named, "base", len(lines[family]["bases"]) - 1),
            )
            if draw.at <= last:
                raise Wrong(f"sift: the draw of question {at} is not in the order of asking")
            if draw.at < whole(lines[family], "at"):
                raise Wrong(
                    f"sift: question {at} was drawn before family {family} was fixed, after "
                    f"{lines[family]['at']:,}"
                )
            last = draw.at
            draws.append(draw)
        return draws

    @cached_property
    def families(self) -> list[FixedFamily]:
        """The families of rules, each with its draws."""
        lines = self.line["families"]
        members = sum(len(line["rules"]) for line in lines)
        if members > MOST_MEMBERS or members * sum(self.layout.sizes) > MOST_MARKS:
            raise InputError(f"fixes {members:,} rules before it draws: too many to check")
        drawn: list[list[DrawnCell]] = [[] for _ in lines]
        for draw in self.draws:
            drawn[draw.family].append(draw)
        families, last = [], 0
        for number, (line, own) in enumerate(zip(lines, drawn, strict=True)):
            at = whole(line, "at", len(self.order))
            if at < last:
                raise Wrong(f"sift: family {number} was fixed before the one before it")
            last = at
            families.append(self._family(number, line, own))
        if sum(family.end - family.at for family in families) > 10 * len(self.order) + 1_000:
            raise InputError("has families of rules whose draws overlap: too many to check")
        return families

    def _family(self, number: int, line: Mapping[str, Any], drawn: list[DrawnCell]) -> FixedFamily:
        rules = self.layout.space.rules(line["rules"])
        if len(set(rules)) < len(rules) or not rules:
            raise Wrong(f"sift: family {number} has a rule twice, or none")
        members = [self.rule(rule) for rule in rules]
        bases = [self._base(base, members) for base in line["bases"]]
        epsilon, allowed = proportion(line, "epsilon"), [self.epsilon]
        if line["purpose"] == "almost":
            allowed.append(self.rare)
        if line["purpose"] in PURPOSES and epsilon not in allowed:
            raise Wrong(f"sift: ε of family {number} is {epsilon:g}, and not that of the record")
        return FixedFamily(
            *(members, line["at"], proportion(line, "delta"), epsilon, line["purpose"]),
            *(bases, [base.get("rule", -1) for base in line["bases"]], drawn),
        )

    def _base(self, line: Mapping[str, Any], members: Sequence[StatedRule]) -> Box:
        if "rule" in line:
            return members[whole(line, "rule", len(members) - 1)].box
        mask = self.layout.space.mask(line["if"])
        if mask & sum(self.layout.space.label_masks):
            raise Wrong("sift: cells are drawn by their label, which the target is to give")
        return self.layout.box(mask)

    def check_draws(self) -> str:
        """Draw everything again."""
        families, seed = self.families, self.line["seed"]
        if type(seed) is not int or seed < 0:
            raise Wrong(f"sift: seed is {shortened(seed)}, which cannot be")
        cells = [tuple(row) for row in self.asked.cells.tolist()]
        replay = Replay(self.layout, seed, {cell: place for place, cell in enumerate(cells)})
        for draw in self.draws:
            replay.check(draw, cells[draw.at], families[draw.family].bases[draw.base])
        return (
            f"draws: {len(self.draws):,} of {len(cells):,} questions are those that the seed "
            "gives, each drawn after its rules were fixed"
        )

    def check_shares(self) -> str:
        """Check that the shares of δ add up to no more."""
        spare = proportion(self.line, "spare", or_nothing=True)
        total = sum(family.delta for family in self.families) + spare
        if not isclose(total, self.delta, rel_tol=SLACK):
            raise Wrong(f"sift: the shares of δ add up to {total:g}, not {self.delta:g}")
        return f"shares of δ: those of {len(self.families):,} families and what is spare add up"
