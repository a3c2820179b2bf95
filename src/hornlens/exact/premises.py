"""The basis of a table, from its minimal premises.

X is a *premise* of a variable v if every row that contains X has v, and of ⊥ if no row contains X.
So a premise leaves each row that lacks v: the minimal ones are the minimal hitting sets of what
these rows lack. A branch is left as soon as no row with v contains it: below it are premises of ⊥
only, which are found by themselves. The minimal premises with all that follows from each are the
canonical direct basis; saturation makes the DG basis of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hornlens.exact.columns import Columns
from hornlens.exact.hitting import Vertex, grow
from hornlens.exact.saturation import saturate
from hornlens.exact.sources import ABSURD
from hornlens.logic.batch import pack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


class PremiseSearch:
    """Finds the DG basis of a table relative to a background, which its rows must obey."""

    def __init__(self, rows: Sequence[int], width: int, background: Theory | None = None):
        """Turn the table round; nothing is searched yet."""
        self.background = background or Theory(width)
        self.width = width
        self.found = 0
        """How many minimal premises there are, once they are found."""
        self.columns = Columns(sorted(set(rows)), width)

    def run(self, progress: Callable[[int], None] | None = None) -> Theory:
        """Find all rules; return the DG basis. `progress` is told of rules as they come."""
        premises = dict(self.premises())
        self.found = len(premises)
        xs, closures = (pack(list(x), self.width) for x in (premises, premises.values()))
        return saturate(xs, closures, self.background, progress).basis

    def premises(self) -> Iterator[tuple[int, int]]:
        """Yield every minimal premise once, with all that follows from it."""
        seen: set[int] = set()
        for head in (ABSURD, *range(self.width)):
            for some in self.premises_of(head):
                for x in some:
                    if x not in seen:
                        seen.add(x)
                        yield x, BOTTOM if head == ABSURD else self.columns.closure(x)

    def premises_of(self, head: int) -> Iterator[list[int]]:
        """Yield, some at a time, the minimal premises of a variable, or of ⊥ (ABSURD).

        Of a variable: those that some row contains.
        """
        columns = self.columns
        having = 0 if head == ABSURD else columns.having[head]
        vertices = [
            Vertex(1 << v, rows, rows) for v, rows in enumerate(columns.having) if v != head
        ]
        if head == ABSURD:
            yield from grow(vertices, columns.all, 0, 0)
        elif having:
            yield from grow(vertices, columns.all & ~having, having, 1)


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
