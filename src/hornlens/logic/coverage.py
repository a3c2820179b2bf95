"""Coverage: what share of rows and of other inputs rules decide that do not decide all."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.counts import plural
from hornlens.logic.scopes import percent
from hornlens.logic.shares import share_interval
from hornlens.logic.warrants import check_count


@dataclass(frozen=True)
class Coverage:
    """How many of `of_rows` rows rules decide, and how many of `drawn` uniform inputs.

    `wanted` is the share at which no more rules were looked for. Of `right` of the decided rows,
    the model itself says what every rule says that applies to them. `hard` many rules may not be as
    general as can be: a wider box was too hard to settle, or there was no time for it.

    >>> print(Coverage(0.99, 995, 1000, 995, 620, 1000).sentence)
    Together the rules decide 995 of 1,000 rows (99.50%), all of them as the model does, and between
    58.9% and 65.0% of uniform inputs (62.00% of 1,000 drawn; confidence 95%).
    """

    wanted: float
    rows: int
    of_rows: int
    right: int
    inputs: int = 0
    drawn: int = 0
    hard: int = 0

    def __post_init__(self) -> None:
        """Reject numbers that cannot be."""
        if not isinstance(self.wanted, int | float) or not 0 < self.wanted <= 1:
            raise ValueError(f"wanted must be a share above 0, not {self.wanted!r}")
        for name in ("rows", "of_rows", "right", "inputs", "drawn", "hard"):
            check_count(name, getattr(self, name))
        if not self.right <= self.rows <= self.of_rows or self.inputs > self.drawn:
            raise ValueError("a coverage that counts more cases than there are")

    @property
    def share(self) -> float:
        """The share of the rows that the rules decide."""
        return self.rows / self.of_rows if self.of_rows else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval, at 95%, of the share of uniform inputs that the rules decide."""
        return share_interval(self.inputs, self.drawn)

    @property
    def sentence(self) -> str:
        """What the rules decide, in figures."""
        of = f"{self.rows:,} of {plural(self.of_rows, 'row')} ({percent(self.share)})"
        return f"Together the rules decide {of}{self._right}{self._elsewhere}.{self._less}"

    @property
    def _right(self) -> str:
        if self.right == self.rows:
            return ", all of them as the model does" if self.rows else ""
        return f", {self.right:,} of them as the model does"

    @property
    def _elsewhere(self) -> str:
        if not self.drawn:
            return "; how many other inputs they decide was not measured"
        low, high = self.interval
        share = f"{percent(self.inputs / self.drawn)} of {self.drawn:,} drawn; confidence 95%"
        return f", and between {low:.1%} and {high:.1%} of uniform inputs ({share})"

    @property
    def _less(self) -> str:
        if self.share >= self.wanted:
            return ""
        return f" That is less than the {percent(self.wanted)} of the rows that was wanted."
