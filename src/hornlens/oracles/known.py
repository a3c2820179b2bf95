"""Answers that are there already, to hold hypotheses against before anything new is asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from hornlens.learning.protocol import Hypothesis
from hornlens.logic.batch import broken_rules, pack, unpack
from hornlens.logic.rule import Rule


class KnownAnswers:
    """Remembers the answers it is told, and finds those that a hypothesis gets wrong.

    A hypothesis differs from the one before in a few rules. So it is kept how many rules each
    interpretation breaks, and only rules and interpretations that are new are looked at.
    """

    def __init__(self, width: int):
        """Begin with nothing known of interpretations of `width` variables."""
        self.width = width
        self._place: dict[int, int] = {}
        self._new: list[bool] = []  # the labels of the last ones, which are not packed yet
        self._packed = pack([], width)
        self._labels = np.zeros(0, dtype=np.bool_)
        self._broken = np.zeros(0, dtype=np.int64)
        self._rules: frozenset[Rule] = frozenset()

    def __len__(self) -> int:
        """Return how many answers there are."""
        return len(self._place)

    def tell(self, interpretations: Sequence[int], labels: Sequence[bool]) -> None:
        """Take in answers, in order; those that are known already are passed over."""
        for x, label in zip(interpretations, labels, strict=True):
            if x not in self._place:
                self._place[x] = len(self._place)
                self._new.append(label)

    def first_wrong(self, hypothesis: Hypothesis) -> int | None:
        """Return the first of them that the hypothesis gets wrong, if there is one."""
        rules = frozenset(hypothesis.theory)
        self._broken -= broken_rules(self._packed, self._rules - rules, self.width)
        self._broken += broken_rules(self._packed, rules - self._rules, self.width)
        self._rules = rules
        self._pack_new()
        accepted = self._broken == 0
        accepted[[self._place[x] for x in hypothesis.excluded if x in self._place]] = False
        wrong = np.flatnonzero(accepted != self._labels)
        return unpack(self._packed[wrong[:1]])[0] if len(wrong) else None

    def _pack_new(self) -> None:
        if not self._new:
            return
        packed = pack(list(islice(self._place, len(self._labels), None)), self.width)
        broken = broken_rules(packed, self._rules, self.width)
        self._packed = np.concatenate([self._packed, packed])
        self._labels = np.concatenate([self._labels, np.array(self._new, dtype=np.bool_)])
        self._broken = np.concatenate([self._broken, broken])
        self._new = []
