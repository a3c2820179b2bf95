"""Flips: cells that differ in some attributes only, and are answered otherwise."""

from __future__ import annotations

from collections import Counter

from hornlens.results.documents.checks import Flip, ShownAnswer
from hornlens.results.documents.findings import Findings


def flips_in(world: Findings, free: int, limit: int = 10) -> tuple[int, int, list[Flip]]:
    """Count the pairs of cells that differ only in the variables `free`: flips, and all.

    Return some of the flips, too. That nothing is said of an attribute is a choice like others,
    and that there is no answer is an answer.
    """
    alike: dict[int, list[int]] = {}
    for cell in sorted(world.decisions, reverse=True):  # what is set before what is not
        alike.setdefault(cell & ~free, []).append(cell)
    flips, pairs = 0, 0
    shown: list[Flip] = []
    for first, *others in alike.values():
        wins = Counter(world.decisions[cell].winner for cell in (first, *others))
        together = _pairs(len(others) + 1)
        pairs += together
        flips += together - sum(map(_pairs, wins.values()))
        if len(wins) > 1 and len(shown) < limit:
            said = world.decisions[first].winner
            other = next(cell for cell in others if world.decisions[cell].winner != said)
            shown.append(Flip(ShownAnswer.of(world, first), ShownAnswer.of(world, other)))
    return flips, pairs, shown


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
