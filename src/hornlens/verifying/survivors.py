"""The rules that a sift has to list or leave open: the most general ones that no answer breaks.

What is said of a set of conditions is that one label is *never* given there, or *always*; without
labels, that nothing is accepted. In spaces where attributes may be unset, a set of conditions with
a label may also conclude a *value*: all that is accepted there has it. Such a rule is left out if a
more general one of its kind is not broken either; that a label is never given, also if that follows
from a value, or from another label that always is. What lies in a rule with exceptions that stands
for it is left out as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.grids import chain
from hornlens.verifying.levels import Marks
from hornlens.verifying.remaining import Breaking, Conditions, Possible, Sets, Signs
from hornlens.verifying.stated import AskedCells, Saying

FEW = 1 << 22
"""So many pairs of a set and a variable are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Exempt:
    """A rule with exceptions, as a set of conditions with what is said of it."""

    saying: Saying
    conditions: tuple[int, ...]


@dataclass(eq=False)
class Unbroken:
    """Counts what no answer breaks, and finds the most general rules among it."""

    asked: AskedCells
    conditions: Conditions
    sayings: Sequence[Saying]
    concluding: int
    """Values are concluded from at most so many conditions; -1 for never."""
    exempt: Sequence[Exempt] = ()
    broken_at: NDArray[np.int64] = field(init=False)
    """How many rules each cell in the order of asking was the first to break."""

    def __post_init__(self) -> None:
        """Begin with nothing counted."""
        self.broken_at = np.zeros(len(self.asked.cells), dtype=np.int64)

    @cached_property
    def possible(self) -> Possible:
        """Which sets of conditions there are, by the background."""
        return Possible(self.conditions)

    # --- signs ---

    def _marks(self, places: NDArray[np.intp]) -> Marks:
        """Return for each condition, anything, and each variable lacking, which cells meet it."""
        cells, layout = self.asked.cells[places], self.asked.layout
        parts = [rows[:, cells[:, i]] for i, rows in enumerate(layout.conditions)]
        parts.append(np.ones((1, len(cells)), dtype=np.bool_))
        if self.concluding >= 0:
            parts += [rows[:, cells[:, i]] for i, rows in enumerate(layout.lacking)]
        return np.concatenate(parts)

    def evidence(self, breaks: Sequence[int]) -> Breaking:
        """Return the answers that break what these labels break."""
        places = np.flatnonzero(self.asked.breaking(breaks))
        marks = self._marks(places)
        has = ~marks[self.conditions.anything + 1 :].T
        return Breaking(places, Signs(marks), Signs(marks[:, ::-1]), has, self.conditions)

    # --- going through all ---

    def of(self, saying: Saying, evidence: Breaking) -> tuple[Sets, list[Valued]]:
        """Return the most general sets of conditions of which something may be said; count all.

        Beside them, the sets from which values follow.
        """
        kept, values = [self.conditions.empty[:0]], list[Valued]()
        for live, broken, size in self._all(evidence):
            kept.append(self.kept(saying, live[evidence.is_minimal(live)], evidence))
            if saying.value is not None and size <= self.concluding:
                values += self.values(saying, broken, evidence)
        return np.concatenate(kept), values

    def _all(self, evidence: Breaking) -> Iterator[tuple[Sets, Sets, int]]:
        """Yield what is not broken right below what is, what is broken, and its size.

        It is noted which answer was the first to break each set.
        """
        conditions, signs = self.conditions, evidence.signs
        sets = conditions.empty
        first = signs.first(sets)
        dead = first >= 0
        self.broken_at[evidence.places[first[dead]]] += 1
        yield sets[~dead], sets[dead], 0
        sets = sets[dead]
        for size in range(1, conditions.longest + 1):
            broken = [conditions.empty[:0]]
            for longer in conditions.grown(sets, size - 1):
                first = signs.first(longer)
                dead = first >= 0
                at = evidence.places[first[dead]]
                self.broken_at += np.bincount(at, minlength=len(self.broken_at))
                if size < conditions.longest:
                    broken.append(longer[dead])
                yield longer[~dead], longer[dead], size
            sets = np.concatenate(broken)

    def kept(self, saying: Saying, sets: Sets, evidence: Breaking) -> Sets:
        """Return those of some most general sets that do not follow from something else."""
        sets = sets[~self.is_exempt(saying, sets)]
        sets = sets[self._can_be(sets)]
        if saying.never and self.concluding >= 0 and saying.value is not None:
            sets = sets[~self._by_value(sets, evidence)]
        if saying.never and any(not other.never for other in self.sayings):
            sets = sets[~self._by_another(sets)]
        return sets

    def _can_be(self, sets: Sets) -> Marks:
        """Return which sets the background allows; where it is not listed, by chaining."""
        layout = self.asked.layout
        if layout.counted:
            return self.possible.of(sets)
        rules, masks = [*layout.background], map(self.mask, sets)
        return np.array([chain(mask, rules) is not None for mask in masks], dtype=np.bool_)

    def mask(self, row: NDArray[np.int32]) -> int:
        """Return the conditions of a set as variables."""
        layout, mask = self.asked.layout, 0
        for number in row[row < self.conditions.anything].tolist():
            i = int(self.conditions.attribute[number])
            met = layout.conditions[i][number - self.conditions.starts[i]]
            mask |= layout.common(i, met)
        return mask

    def _by_value(self, sets: Sets, evidence: Breaking) -> Marks:
        """Return which sets have a condition that excludes a value which the others demand."""
        parts = [self._excluded(part, evidence) for part in self._some(sets)]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])

    def _some(self, sets: Sets) -> Iterator[Sets]:
        """Yield sets, as many at a time as go with all variables."""
        step = max(1, FEW // len(self.asked.layout.attribute_of))
        for start in range(0, len(sets), step):
            yield sets[start : start + step]

    def _excluded(self, sets: Sets, evidence: Breaking) -> Marks:
        conditions, layout = self.conditions, self.asked.layout
        follows = np.zeros(len(sets), dtype=np.bool_)
        for column in range(sets.shape[1]):
            others = sets.copy()
            others[:, column] = conditions.anything
            owner = conditions.attribute[sets[:, column]]
            for i in np.unique(owner[owner >= 0]).tolist():
                rows = np.flatnonzero(owner == i)
                met = layout.conditions[i][sets[rows, column] - conditions.starts[i]]
                excluded = met.astype(np.float32) @ (~layout.lacking[i].T).astype(np.float32) == 0
                some = evidence.common(others[rows])[:, layout.variables_of(i)]
                follows[rows] |= (some & excluded).any(axis=1)
        return follows

    def _by_another(self, sets: Sets) -> Marks:
        """Return in which sets a label, then another one, is always given.

        A rule with exceptions that says so does not count: only what no answer breaks does.
        """
        follows = np.zeros(len(sets), dtype=np.bool_)
        for saying in self.sayings:
            if saying.never:
                continue
            left = np.flatnonzero(~follows)
            signs = self.evidence(saying.breaks).signs
            live = left[~signs.meets(sets[left])]
            hidden = self.is_exempt(saying, sets[live])
            follows[live[~hidden]] = True
            for row in live[hidden].tolist():
                follows[row] = self._has_other(saying, sets[row : row + 1], signs)
        return follows

    def _has_other(self, saying: Saying, row: Sets, signs: Signs) -> bool:
        """Say whether something more general is not broken, and in no rule with exceptions."""
        wider = row
        while True:
            every = np.unique(np.concatenate([wider, *self.conditions.generalised(wider)]), axis=0)
            every = every[~signs.meets(every)]
            if bool((~self.is_exempt(saying, every)).any()):
                return True
            if len(every) == len(wider):
                return False
            wider = every

    def is_exempt(self, saying: Saying, sets: Sets) -> Marks:
        """Return which sets lie in a rule with exceptions that says the same."""
        inside = np.zeros(len(sets), dtype=np.bool_)
        for rule in self.exempt:
            if rule.saying == saying:
                inside |= self._lies_in(sets, rule)
        return inside

    def _lies_in(self, sets: Sets, rule: Exempt) -> Marks:
        inside = np.ones(len(sets), dtype=np.bool_)
        for number in rule.conditions:
            i = int(self.conditions.attribute[number])
            start = self.conditions.starts[i]
            narrower = np.zeros(self.conditions.anything + 1, dtype=np.bool_)
            own = self.conditions.implied[i][:, number - start]
            narrower[start : start + len(own)] = own
            inside &= narrower[sets].any(axis=1)
        return inside

    # --- values ---

    def values(self, saying: Saying, sets: Sets, evidence: Breaking) -> list[Valued]:
        """Return what follows from sets that are broken, and from nothing more general."""
        parts = self._some(sets)
        return [valued for part in parts for valued in self._values(saying, part, evidence)]

    def _values(self, saying: Saying, sets: Sets, evidence: Breaking) -> list[Valued]:
        layout, conditions = self.asked.layout, self.conditions
        new = evidence.common(sets)
        owner = np.array(layout.attribute_of[: new.shape[1]])
        for column in range(sets.shape[1]):
            new &= conditions.attribute[sets[:, column]][:, None] != owner
        rows = np.flatnonzero(new.any(axis=1))
        sets, new = sets[rows], new[rows]
        for wider in conditions.generalised(sets):
            left = np.flatnonzero((wider != sets).any(axis=1) & new.any(axis=1))
            new[left] &= ~evidence.common(wider[left])
        at, which = np.nonzero(new)
        idle = ~self.can_lack(sets[at], which)
        new[at[idle], which[idle]] = False
        valued = []
        for i in range(len(layout.sizes)):
            own = new[:, layout.variables_of(i)]
            for row in np.flatnonzero(own.any(axis=1)).tolist():
                numbers = tuple(sets[row][sets[row] < conditions.anything].tolist())
                if not self._is_exempt_value(saying, sets[row : row + 1], i):
                    first = layout.variables_of(i)[0]
                    heads = (first + np.flatnonzero(own[row])).tolist()
                    valued.append(Valued(saying, numbers, i, tuple(heads)))
        return valued

    def can_lack(self, sets: Sets, variables: NDArray[np.intp]) -> Marks:
        """Return whether some cell that the background allows is in a set and lacks a variable."""
        layout = self.asked.layout
        if layout.counted:
            added = (self.conditions.anything + 1 + variables)[:, None].astype(np.int32)
            return self.possible.of(np.concatenate([sets, added], axis=1))
        rules, closed = [*layout.background], dict[bytes, int | None]()
        for row in sets:
            if row.tobytes() not in closed:
                closed[row.tobytes()] = chain(self.mask(row), rules)
        pairs = zip(sets, variables.tolist(), strict=True)
        known = ((closed[row.tobytes()], v) for row, v in pairs)
        return np.array([x is not None and not x >> v & 1 for x, v in known], dtype=np.bool_)

    def _is_exempt_value(self, saying: Saying, row: Sets, attribute: int) -> bool:
        """Say whether a value's rule lies in one with exceptions, which is not about its value."""
        return any(
            rule.saying == saying
            and attribute not in self.conditions.attribute[list(rule.conditions)]
            and bool(self._lies_in(row, rule)[0])
            for rule in self.exempt
        )


@dataclass(frozen=True)
class Valued:
    """Conditions, by their numbers, from which variables of an attribute follow, with a label."""

    saying: Saying
    conditions: tuple[int, ...]
    attribute: int
    heads: tuple[int, ...]
