"""The envelope of a formula that is far from Horn, from its prime Horn implicates.

For each head, all maximal positives that lack it are found, each at the cost of about two SAT
calls. A left side gives the head if and only if it leaves each of them: so the smallest left sides
are the minimal hitting sets of what these positives lack. They are all prime Horn implicates, many
times as many as the rules of the DG basis, and saturation makes the basis of them.

The two steps must not be mixed: which left sides are smallest depends on all positives of the head.
"""

from __future__ import annotations

from collections.abc import Callable

from hornlens.exact.closing import common_above
from hornlens.exact.hitting import minimal_hitting_sets
from hornlens.exact.maximal import LargePositives
from hornlens.exact.saturation import saturate
from hornlens.exact.sources import ABSURD
from hornlens.logic.batch import pack, unpack
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.theory import Theory


class ImplicateSearch:
    """Finds the DG basis of a formula relative to a background, all rules at once."""

    def __init__(self, formula: Cnf, background: Theory | None = None):
        """Prepare the solver; nothing is searched yet."""
        self.background = background or Theory(formula.width)
        self.width = formula.width
        self.source = LargePositives(formula.clauses + clauses_of(self.background), formula.width)
        self.positives: set[int] = set()

    def run(self, progress: Callable[[int], None] | None = None) -> Theory:
        """Find all rules; return the DG basis. `progress` is told of rules as they come."""
        full = (1 << self.width) - 1
        # All that is possible is inside one of these: other left sides are rules of ⊥.
        top = list(self.source.maximal(ABSURD))
        self.positives.update(top)
        lefts: set[int] = set()
        for head in (ABSURD, *range(self.width)):
            lacking = top if head == ABSURD else list(self.source.maximal(head))
            self.positives.update(lacking)
            own = 0 if head == ABSURD else 1 << head
            for batch in minimal_hitting_sets(
                [full & ~positive & ~own for positive in lacking],
                self.width,
                rows=() if head == ABSURD else [x for x in top if x & own],
                support=0 if head == ABSURD else 1,
            ):
                lefts.update(unpack(batch))
        xs = pack(sorted(lefts), self.width)
        closures = common_above(xs, pack(sorted(self.positives), self.width))
        return saturate(xs, closures, self.background, progress).basis
