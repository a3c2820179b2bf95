"""The rules of a classifier as a table: in words, in variables, and by the rows of X."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Box, Range
from hornlens.exact.boxes.cells import GridCells, Levels, ListedCells
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.exact.boxes.spaces import mask_of_levels, short_mask
from hornlens.logic.certificates import Certificate
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.warrants import OPEN, PROVED, Warrant, WarrantKind
from hornlens.results.documents.rules import RuleRow, Rules
from hornlens.results.wording.sentences import class_rule
from hornlens.targets.classifiers.points import Binned


class SiftedBoxes(NamedTuple):
    """What a sift has shown: the warrant of each listed rule, the open ones, and its record.

    Of `open_count` open rules, the broadest are there. `done`: it came to its end.
    """

    warrants: Mapping[BoxRule, Warrant]
    open: tuple[BoxRule, ...]
    open_count: int
    record: SiftRecord
    done: bool = True

    @property
    def weakest(self) -> WarrantKind:
        """The weakest warrant of a listed rule."""
        return "proved" if all(each.proved for each in self.warrants.values()) else "tested"

    @property
    def counted(self) -> dict[str, int]:
        """What the sift has counted."""
        record = self.record
        return {
            "drawn": len(record.draws),
            "candidates": record.candidates,
            "refuted": record.candidates - record.live,
        }

    def first(self, kept: Sequence[BoxRule]) -> SiftedBoxes:
        """Return the same where only some of the listed rules are kept: the others are open."""
        rest = tuple(rule for rule in self.warrants if rule not in set(kept))
        warrants = {rule: self.warrants[rule] for rule in kept}
        return self._replace(
            warrants=warrants, open=(*rest, *self.open), open_count=self.open_count + len(rest)
        )


class RuleTable:
    """Boxes as lines of a table: a range of levels is put in words once, however many have it."""

    def __init__(self, binned: Binned, space: Space, rows: Levels, said: NDArray[np.intp]):
        """Take the features, what can be said of them, and the rows of X with their classes."""
        self.binned, self.space, self.cells = binned, space, rows
        self._classes = [as_bits(said == place) for place in range(len(binned.classifier.classes))]
        self._inside: dict[tuple[int, Range], int] = {}
        self._masks: dict[tuple[int, Range], tuple[int, int]] = {}
        self._texts: dict[tuple[int, Range], tuple[str, tuple[str, ...]]] = {}

    def rows(
        self,
        boxes: Sequence[BoxRule],
        labelled: GridCells | ListedCells,
        certificate: Certificate,
        sifted: SiftedBoxes | None = None,
    ) -> Rules:
        """Return the rules with what they apply to, those first that apply to most rows of X."""
        who = "the model" if certificate.scope.direct else "the binned model"
        made = []
        for one in boxes:
            cells, warrant = labelled.count_in(one.box), PROVED
            if sifted is not None:
                warrant = sifted.warrants[one]
            elif certificate.trial is not None:
                warrant = certificate.trial.warrant(cells)
            made.append(self._row(one, cells, warrant, who))
        made.sort(key=lambda r: (-r.support, len(r.conditions), -(r.cells or 0), r.place, r.box))
        return Rules(made)

    def _row(self, rule: BoxRule, cells: int, warrant: Warrant, who: str) -> RuleRow:
        inside = (1 << len(self.cells)) - 1
        conditions: tuple[str, ...] = ()
        names: tuple[str, ...] = ()
        for key in self._bounded(rule.box):
            inside &= self._rows_in(key)
            text, variables = self._said_of(key)
            conditions, names = (*conditions, text), (*names, *variables)
        label = self.binned.classifier.labels[rule.place]
        own = () if self.space.label is None else (self.space.label.variables[rule.place],)
        support = inside.bit_count()
        right = (inside & self._classes[rule.place]).bit_count()
        return RuleRow(
            NamedRule(conditions, (label,)),
            support,
            support,
            None,
            None,
            class_rule(conditions, label, who),
            NamedRule(names, own),
            warrant=warrant,
            label=label,
            unit="rows",
            cells=cells,
            confidence=right / support if support else None,
            box=rule.box,
            place=rule.place,
        )

    def open_rules(
        self, sifted: SiftedBoxes, labelled: GridCells | ListedCells, certificate: Certificate
    ) -> Rules:
        """Return the open rules of a sift, the broadest first; nothing shows them yet."""
        who = "the model" if certificate.scope.direct else "the binned model"
        known = sifted.record.needs
        needs = [None] * (len(sifted.open) - len(known)) + list(known)
        return Rules(
            [
                replace(self._row(one, labelled.count_in(one.box), OPEN, who), needs=need)
                for one, need in zip(sifted.open, needs, strict=True)
            ]
        )

    def envelope(
        self,
        lines: Rules,
        certificate: Certificate,
        cells: int,
        sifted: SiftedBoxes | None = None,
        counted: Mapping[str, Any] | None = None,
    ) -> Envelope:
        """Return the rules of some lines in variables; so many cells were asked.

        `counted` is what else was counted.
        """
        width, open_ones = self.space.width, () if sifted is None else sifted.open
        return Envelope(
            self.space,
            Theory(width, tuple(self.rule(row, self.whole) for row in lines)),
            Theory(width, tuple(self.rule(row, self.short) for row in lines)),
            certificate,
            support=[row.support for row in lines],
            statistics={
                "cells": cells,
                "questions": cells,
                "rows": len(self.cells),
                **(counted or {}),
            },
            open=tuple(self._open_rule(one) for one in open_ones),
            own_warrants=tuple(row.warrant for row in lines),
            sifted=None if sifted is None else sifted.record,
        )

    def _open_rule(self, rule: BoxRule) -> Rule:
        return Rule(self.short(rule.box)[0], self.space.with_label(0, rule.place))

    def _bounded(self, box: Box) -> Iterator[tuple[int, Range]]:
        """Yield the ranges that are conditions, each with the place of its feature."""
        for axis, (feature, levels) in enumerate(zip(self.binned.features, box, strict=True)):
            if levels != feature.whole:
                yield axis, levels

    def _rows_in(self, key: tuple[int, Range]) -> int:
        """Return the rows in a range, as bits."""
        if key not in self._inside:
            (_, (low, high)), levels = key, self.cells[:, key[0]]
            self._inside[key] = as_bits((levels >= low) & (levels <= high))
        return self._inside[key]

    def _said_of(self, key: tuple[int, Range]) -> tuple[str, tuple[str, ...]]:
        """Return a range as a condition, and as variables."""
        if key not in self._texts:
            text = self.binned.features[key[0]].say(key[1])
            self._texts[key] = text, self.space.vocabulary.names_of(self._mask(key)[1])
        return self._texts[key]

    def _mask(self, key: tuple[int, Range]) -> tuple[int, int]:
        """Return all variables of a range, and those from which the others follow."""
        if key not in self._masks:
            whole = mask_of_levels(self.space.leaves[key[0]], key[1])
            self._masks[key] = whole, short_mask(self.space, whole)
        return self._masks[key]

    def whole(self, box: Box) -> tuple[int, bool]:
        """Return all that is said of a box, and that a rule repeats it on its right side."""
        return sum(self._mask(key)[0] for key in self._bounded(box)), True

    def short(self, box: Box) -> tuple[int, bool]:
        """Return the bounds of a box, and that a rule has only its class on its right side."""
        return sum(self._mask(key)[1] for key in self._bounded(box)), False

    def rule(self, row: RuleRow, form: Callable[[Box], tuple[int, bool]]) -> Rule:
        """Return a rule in variables."""
        left, repeated = form(row.box or ())
        return Rule(left, self.space.with_label(left if repeated else 0, row.place or 0))


def as_bits(flags: NDArray[np.bool_]) -> int:
    """Return flags as the bits of an integer, the first one lowest."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
