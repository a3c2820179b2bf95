"""The headline of a classifier's rules: a short ordered list, with a class for all other rows.

Rules that speak of most rows speak of the same ones. Here each next rule is the one that decides
most rows that those before it leave open; the first rule of the list that applies to a row decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornlens.counts import plural
from hornlens.exact.boxes.axes import Axis
from hornlens.exact.boxes.cells import Levels, rows_in
from hornlens.logic.scopes import percent
from hornlens.results.documents.rules import RuleRow

MOST = 10
"""How many rules a headline has."""


@dataclass(frozen=True)
class HeadlineRule:
    """A rule of the list: `new` rows that no rule before it decides, and those `decided` so far.

    `place` is the place of the rule among all rules of the result; `share` the share of the rows
    that are decided so far.
    """

    place: int
    rule: RuleRow
    new: int
    decided: int
    share: float


@dataclass(frozen=True)
class Headline:
    """A few rules in order, and the class that all rows get which none of them decides.

    Of `rows`, the rules leave `left` to the class `otherwise`; the list as a whole gives `right`
    rows the class that the model gives them.
    """

    rules: tuple[HeadlineRule, ...]
    otherwise: str
    left: int
    right: int
    rows: int

    @property
    def share(self) -> float:
        """The share of the rows that the rules decide."""
        return self.rules[-1].share if self.rules else 0.0

    @property
    def sentence(self) -> str:
        """What the list does, in figures."""
        right = percent(self.right / self.rows) if self.rows else "none"
        one = len(self.rules) == 1
        decide = "rule decides" if one else "rules in this order decide"
        return (
            f"{len(self.rules):,} {decide} {percent(self.share)} of {plural(self.rows, 'row')}; "
            f"with {self.otherwise} for the others, the list agrees with the model on {right}."
        )

    def __str__(self) -> str:
        """Return the list as people read it."""
        lines = [f"{line.share:7.2%}  +{line.new:,}  {line.rule}" for line in self.rules]
        return "\n".join([*lines, f"otherwise {self.otherwise} ({plural(self.left, 'row')})"])


def headline_of(
    rules: Sequence[RuleRow],
    rows: Levels,
    labels: NDArray[np.intp],
    axes: Sequence[Axis],
    classes: Sequence[str],
    most: int = MOST,
) -> Headline:
    """Return the rules that decide most rows, each by what those before it leave open.

    `rules` stand in the order of their support; `rows` are cells and `labels` what the model says
    of them, as places in `classes`. Of rules that decide as many new rows, the first one is taken.
    """
    count = len(rows)
    left = np.arange(count)
    right, lines = 0, list[HeadlineRule]()
    while len(lines) < most and (best := _best(rules, rows[left], axes)) is not None:
        place, inside = best
        right += int(np.count_nonzero(labels[left[inside]] == rules[place].place))
        left = left[~inside]
        new = int(np.count_nonzero(inside))
        decided = count - len(left)
        lines.append(HeadlineRule(place, rules[place], new, decided, decided / count))
    others = np.bincount(labels[left] if len(left) else labels, minlength=len(classes))
    otherwise = int(others.argmax())
    right += int(np.count_nonzero(labels[left] == otherwise))
    return Headline(tuple(lines), classes[otherwise], len(left), right, count)


def _best(
    rules: Sequence[RuleRow], rows: Levels, axes: Sequence[Axis]
) -> tuple[int, NDArray[np.bool_]] | None:
    """Return the place of the rule with most of these rows, and which; None if none has any."""
    best, most = None, 0
    for place, rule in enumerate(rules):
        if rule.support <= most:
            break  # none that follows has more rows
        inside = rows_in(rows, rule.box or (), axes)
        if (new := int(np.count_nonzero(inside))) > most:
            best, most = (place, inside), new
    return best
