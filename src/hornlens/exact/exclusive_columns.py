"""Tables whose columns exclude each other in groups, as tables of values do: a small grid.

Of columns "colour=red", "colour=blue", … no row has two. Such groups are found, and the sets that
have at most one column of each are labelled whole, if they are not too many: 21 columns in six
groups are some ten thousand sets instead of two million.

The basis of that grid is relative to its groups. In the basis of the table, the rules that these
take for granted stand beside it: two columns of one group, with all that follows from them, → ⊥.
Of these left sides the smallest are kept; no other set outside the grid can be one, because it
contains one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from hornlens.exact.closures import closed_under
from hornlens.exact.columns import Columns
from hornlens.exact.engine import Step
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.hitting import count_members, spread
from hornlens.logic.attributes import Nominal
from hornlens.logic.batch import pack, unpack
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.envelope import EXAMPLES, NonHorn
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space


@dataclass(frozen=True)
class Groups:
    """Groups of columns, of which no row has two: every column is in one of them."""

    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, columns: Columns) -> Groups:
        """Put each column into the first group that none of its rows has a column of."""
        groups: list[tuple[int, list[int]]] = []
        for column, rows in enumerate(columns.having):
            for place, (taken, members) in enumerate(groups):
                if not taken & rows:
                    groups[place] = taken | rows, [*members, column]
                    break
            else:
                groups.append((rows, [column]))
        return cls(tuple(tuple(members) for _, members in groups))

    @cached_property
    def space(self) -> Space:
        """The sets with at most one column of each group."""
        return Space(
            tuple(
                Nominal(f"group {i}", tuple(f"column {column}" for column in group))
                for i, group in enumerate(self.groups)
            )
        )

    def labelled(self, rows: Sequence[int]) -> LabelledSpace:
        """Return the space with the rows as its positives."""
        cells = spread(pack(rows, self.space.width), self.space.width)
        places = np.zeros(len(rows), dtype=np.intp)
        for group in self.groups:
            value = cells[:, group] @ np.arange(1, len(group) + 1)
            places = places * (len(group) + 1) + value
        labels = np.zeros(self.space.count, dtype=np.bool_)
        labels[places] = True
        return LabelledSpace(self.space, labels)

    def beside(self, rules: Sequence[Rule]) -> list[Rule]:
        """Return the rules of the table's basis that those of the grid take for granted."""
        width = self.space.width
        pairs = [1 << a | 1 << b for group in self.groups for a, b in combinations(group, 2)]
        sides = ([rule.antecedent for rule in rules], [rule.consequent for rule in rules])
        closed = closed_under(pack(pairs, width), *(pack(side, width) for side in sides))
        lefts: list[int] = []
        for x in sorted(set(unpack(closed)) - {BOTTOM}, key=int.bit_count):
            if not any(left & ~x == 0 for left in lefts):
                lefts.append(x)
        return [Rule(left, BOTTOM) for left in lefts]

    def non_horn(self, labelled: LabelledSpace) -> NonHorn:
        """Return what to say of the non-Horn negatives: how many, and the smallest of them."""
        negatives = labelled.points[labelled.closed() & ~labelled.positive]
        sizes = count_members(labelled.rows.words(negatives).view(np.uint64))
        few = np.sort(sizes)[:EXAMPLES][-1:]
        small = labelled.rows.masks(negatives[sizes <= few]) if len(negatives) else []
        shown = NonHorn.of([self.columns(x) for x in small])
        return replace(shown, count=len(negatives), at_least=len(negatives))

    def columns(self, mask: int) -> int:
        """Return the columns of the table that a point of the grid, or BOTTOM, stands for."""
        if mask == BOTTOM or self._in_order:
            return mask
        return mask_of([self._order[bit] for bit in bits(mask)])

    @cached_property
    def _order(self) -> tuple[int, ...]:
        return tuple(column for group in self.groups for column in group)

    @cached_property
    def _in_order(self) -> bool:
        return self._order == tuple(range(len(self._order)))


class GroupsEngine:
    """Finds the rules of a table by the grid of its groups."""

    def __init__(self, groups: Groups, labelled: LabelledSpace):
        """Begin with nothing found."""
        self.groups, self.labelled = groups, labelled
        self.width = groups.space.width
        self._rules: list[Rule] = []

    def steps(self) -> Iterator[Step]:
        """Find the rules of the grid, small antecedents first; then those beside it."""
        columns = self.groups.columns
        for step in self.labelled.find_rules():
            new = [Rule(columns(r.antecedent), columns(r.consequent)) for r in step.proved]
            self._rules += new
            yield Step(new, step.settled)
        new = self.groups.beside(self._rules)
        self._rules += new
        yield Step(new, 1.0)

    def proved(self) -> list[Rule]:
        """Return the rules so far: each is one of the DG basis."""
        return self._rules
