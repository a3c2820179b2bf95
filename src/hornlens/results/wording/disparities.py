"""Rates with intervals, in sentences: the same words for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor, isinf

from hornlens.results.analysis.disparities import (
    Basis,
    Disparities,
    GroupRate,
    RateDifference,
)
from hornlens.results.analysis.intervals import Interval


def basis_in_words(basis: Basis, level: float, unit: str) -> str:
    """Return whether rates are counted or estimated, and what intervals mean."""
    if basis == "counted":
        return (
            f"These rates are exact: every {unit} was asked, and its answer does not vary, so "
            "nothing is estimated."
        )
    together = (
        f"Intervals of rates hold at {level:.0%} each; those of all differences between values of "
        f"an attribute hold at {level:.0%} together, and so do those of all ratios."
    )
    if basis == "varying":
        return f"Answers vary, so rates are estimates. {together}"
    if basis == "several":
        return f"Several models, or states of one, answered, so rates are estimates. {together}"
    return (
        f"Not every {unit} was asked, so rates are estimates, which take those asked for a random "
        f"sample. {together}"
    )


def difference_in_words(
    difference: RateDifference, words: Mapping[str, str], unit: str, level: float
) -> str:
    """Return how far two values are apart in a label, with intervals where there are any."""
    label = words.get(difference.label, difference.label)
    high, low = share_in_words(difference.high), share_in_words(difference.low)
    points = f"a difference of {100 * difference.difference:.0f} points"
    if difference.interval is not None:
        least, most = difference.interval
        ends = _rounded(100 * least, floor), _rounded(100 * most, ceil)
        points += f" ({level:.0%}: {' to '.join(ends)})"
    text = f"“{label}” in {high} for {difference.highest}, {low} for {difference.lowest}: {points}"
    if difference.ratio is not None:
        text += f", a ratio of {difference.ratio:.2f}"
        if difference.ratio_interval is not None:
            text += f" ({level:.0%}: {_ratio_ends(difference.ratio_interval)})"
        text += _four_fifths(difference)
    if difference.interval is not None:
        first, second = difference.cases
        if difference.paired:
            text += f"; by {first:,} matched pairs of {unit}s"
        else:
            text += f"; by {first:,} and {second:,} {unit}s, which are not matched"
    return text


def _four_fifths(difference: RateDifference) -> str:
    if difference.four_fifths == "broken":
        return ", below four fifths"
    if difference.four_fifths == "unsure":
        return ", which may or may not be below four fifths"
    return ""


def _ratio_ends(interval: Interval) -> str:
    low, high = interval
    most = "any" if isinf(high) else _rounded(high, ceil, 2)
    return f"{_rounded(low, floor, 2)} to {most}"


def _rounded(end: float, to: Callable[[float], int], digits: int = 0) -> str:
    """Return the end of an interval, rounded outwards: nothing narrower is claimed."""
    whole = to(round(end * 10**digits, 6))  # 7.000000000001 is 7
    return f"{whole / 10**digits:.{digits}f}".replace("-", "−")


def rate_in_words(rate: GroupRate) -> str:
    """Return a rate, with its interval if it has one."""
    share = rate.share
    if share is None:
        return "no answer"
    text = f"{share_in_words(share)} ({rate.count:,} of {rate.answered:,})"
    if rate.interval is not None:
        low, high = rate.interval
        text += f", {_rounded(100 * low, floor)}% to {_rounded(100 * high, ceil)}%"
    return text


def widest_of(disparities: Disparities) -> RateDifference | None:
    """Return the widest difference over all labels."""
    each = (disparities.widest(label) for label in disparities.labels)
    known = [one for one in each if one is not None]
    return max(known, key=lambda one: one.difference, default=None)


def share_in_words(share: float) -> str:
    """Return a share as people write it; what is not all or nothing is not said to be."""
    text = f"{100 * share:.0f}%"
    if text == "0%" and share > 0:
        return "<1%"
    return ">99%" if text == "100%" and share < 1 else text
