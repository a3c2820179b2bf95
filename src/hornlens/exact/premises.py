"""The basis of a table, from its minimal premises.

X is a *premise* of a variable v if every row that contains X has v, and of ⊥ if no row contains X.
So a premise leaves each row that lacks v: the minimal ones are the minimal hitting sets of what
these rows lack. A branch is left as soon as no row with v contains it: below it are premises of ⊥
only, which are found by themselves. The minimal premises with all that follows from each are the
canonical direct basis; saturation makes the DG basis of them.

For that fewer will do. Let a alone imply b, and not the other way round. If v follows from X with
such b in the place of a member a, then X → v follows from that and the rules of single variables:
so only the *weakest* premises are searched, where no member can be replaced so. (What replaces a
member never implies it, so going from X to weaker premises comes to an end.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from operator import or_

from hornlens.exact.columns import Columns
from hornlens.exact.engine import Step, run
from hornlens.exact.hitting import Vertex, grow
from hornlens.exact.saturation import saturation
from hornlens.exact.sources import ABSURD
from hornlens.logic.batch import pack
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

FIRST = 1_000
"""So many premises, the smallest, are made rules of, if the search is ended before its time."""
MOST_LOOKED_UP = 2_000_000
"""In a table with more crosses, rows are not compared before the search."""


class PremiseSearch:
    """Finds the DG basis of a table relative to a background, which its rows must obey."""

    def __init__(self, rows: Sequence[int], width: int, background: Theory | None = None):
        """Turn the table round; nothing is searched yet."""
        self.background = background or Theory(width)
        self.width = width
        self.columns = Columns(sorted(set(rows)), width)
        self.premises: dict[int, int] = {}
        """The weakest premises so far, each with all that follows from it."""
        self._rules: list[Rule] = []
        self._saturating = False

    def steps(self) -> Iterator[Step]:
        """Find the weakest premises, head by head; then, by saturation, the rules."""
        for head in (ABSURD, *range(self.width)):
            for some in self.premises_of(head, weakest=True):
                for x in some:
                    if x not in self.premises:
                        closed = BOTTOM if head == ABSURD else self.columns.closure(x)
                        self.premises[x] = closed
                yield Step()
        self._saturating = True
        for new, settled in self._rules_of(self.premises):
            self._rules += new
            yield Step(new, settled)

    def proved(self) -> Sequence[Rule]:
        """Return the rules so far. Before there are any, those of some premises."""
        if self._saturating:
            return self._rules
        some = sorted(self.premises, key=int.bit_count)[:FIRST]
        batches = self._rules_of({x: self.premises[x] for x in some})
        return [rule for new, _ in batches for rule in new]

    def run(self) -> Theory:
        """Find all rules; return the DG basis."""
        return run(self).basis

    def _rules_of(self, premises: dict[int, int]) -> Iterator[tuple[list[Rule], float]]:
        xs, closures = (pack(list(side), self.width) for side in (premises, premises.values()))
        for pairs, settled in saturation(xs, closures, self.background):
            yield [rule for rule, _ in pairs], settled

    @cached_property
    def _implying(self) -> list[list[int]] | None:
        """For each variable, the rows that have it and in which something may imply it.

        Nothing does where the row without it is inside of some other row. Left out are those where
        that can be looked up; None where it would take much memory.
        """
        rows = self.columns.rows
        if sum(map(int.bit_count, rows)) > MOST_LOOKED_UP:
            return None
        implying: list[list[int]] = [[] for _ in range(self.width)]
        once: set[int] = set()
        shared = set(rows)
        for row in rows:
            left = row
            while left:
                bit = left & -left
                left ^= bit
                rest = row ^ bit
                if rest in once:
                    shared.add(rest)
                else:
                    once.add(rest)
        for row in rows:
            left = row
            while left:
                bit = left & -left
                left ^= bit
                if row ^ bit not in shared:
                    implying[bit.bit_length() - 1].append(row)
        return implying

    def _rows_implying(self, head: int) -> list[int]:
        if self._implying is not None:
            return self._implying[head]
        return [row for row in self.columns.rows if row >> head & 1]

    @cached_property
    def _weaker(self) -> list[int]:
        """For each variable, the others that it implies and that do not imply it."""
        closures = [max(self.columns.closure(1 << v), 0) for v in range(self.width)]
        return [
            mask_of(w for w in bits(closed) if not closures[w] >> v & 1)
            for v, closed in enumerate(closures)
        ]

    def premises_of(self, head: int, weakest: bool = False) -> Iterator[list[int]]:
        """Yield, some at a time, the minimal premises of a variable, or of ⊥ (ABSURD).

        Of a variable: those that some row contains. The `weakest` of them, or all.
        """
        if head == ABSURD:
            near, edges, above = (1 << self.width) - 1, self.columns, Columns((), self.width)
        elif having := self._rows_implying(head):
            # Only what occurs beside the head can be in a premise that some row contains. So of
            # the rows without it only that matters, and of many that is the same.
            bit = 1 << head
            near = reduce(or_, having) & ~bit
            lacking = {row & near for row in self.columns.rows if not row & bit}
            edges, above = Columns(list(lacking), self.width), Columns(having, self.width)
        else:
            return
        vertices = []
        for v in bits(near):
            alone = BOTTOM
            for w in bits(self._weaker[v] & near) if weakest else ():
                alone &= edges.having[w]
            vertices.append(Vertex(1 << v, edges.having[v], above.having[v], alone))
        yield from grow(vertices, edges.all, above.all, support=0 if head == ABSURD else 1)


def direct_basis(search: PremiseSearch) -> Theory:
    """Return the canonical direct basis: what follows from a set follows in one step.

    Its rules have the minimal premises on the left, and on the right the variables, or ⊥, of which
    each is a minimal premise.
    """
    heads: dict[int, int] = {}
    for head in (ABSURD, *range(search.width)):
        for some in search.premises_of(head):
            for x in some:
                heads[x] = BOTTOM if head == ABSURD else heads.get(x, 0) | 1 << head
    rules = (Rule(x, head) for x, head in heads.items())
    return Theory(search.width, tuple(sorted(rules, key=lambda rule: rule.key)))
