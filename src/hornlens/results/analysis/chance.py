"""More than chance: what permuted answers give, and which rules they would hardly give.

The null hypothesis is that what a target answers has nothing to do with what it is asked: then all
permutations of its answers among the cells are equally likely. Nothing is asked for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.exact.permuted import Permuted, PermutedGrid, WorldAnswers
from hornlens.logic.decisions import YES, Decision, Policy, accepts
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.documents.chance import LEVEL, Chance, ChanceCount

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

SMALL = 100_000
"""Where so many rules can be said, or fewer, there are MANY permutations; else FEW."""
MOST = 3_000_000
"""Where more rules can be said than this, they are not counted."""
MANY, FEW = 999, 199
ROUNDS = 4
"""How often permutations are drawn again with what the surest rules say kept, at most."""
QUANTILE = 0.95


def why_no_chance(result: Findings) -> str:
    """Return why nothing can be said of chance; "" if it can."""
    if not result.asked or not all(len(each.decisions) for each in result.each):
        return "no answers are recorded that could be permuted"
    if result.envelope.sifted is not None:
        return "a sift chose the cells by what they might break"
    if PermutedGrid.size(result.space) > MOST:
        return "there are too many combinations of values to count all rules"
    if not result.asked_all:
        return "not every cell was asked"
    if len(result.each[0].decisions) < 2:
        return "a single answer cannot be permuted"
    return ""


def chance_of(result: Findings, permutations: int | None = None, seed: int = 0) -> Chance:
    """Return what chance would give, by so many permutations of the recorded answers."""
    if reason := result.why_no_chance:
        raise HornlensError(f"nothing is known of chance: {reason}")
    if permutations is not None and permutations < 1:
        raise HornlensError(f"permutations must be 1 or more, not {permutations!r}")
    space = result.space
    cells = sorted(result.each[0].decisions)
    worlds = [
        answers_of_world(space, w.policy, [w.decisions[c] for c in cells]) for w in result.each
    ]
    grid = PermutedGrid(space, cells, worlds)
    if permutations is None:
        permutations = MANY if PermutedGrid.size(space) <= SMALL else FEW
    permuted = grid.permute(permutations, seed)
    rules = result.envelope.readable.rules
    chance = summed_up(permuted, [grid.chance_of(rule) for rule in rules], seed)
    p_values = _stepped_down(chance, rules, grid, cells)
    return replace(chance, p_values=p_values)


def _stepped_down(
    chance: Chance, rules: Sequence[Rule], grid: PermutedGrid, cells: Sequence[int]
) -> tuple[float | None, ...]:
    """Return the p-values, corrected for what the surest rules explain.

    Where no permutation has anything like a rule, the answers to the cells that it speaks of are
    kept, and only the others are permuted again: what they have to do with one another must not
    look like more than it is because the rule makes labels rarer elsewhere. P-values only grow.
    """
    p_values, space = list(chance.p_values), grid.space
    least, free = 1 / (chance.permutations + 1), np.ones(len(cells), np.bool_)
    settled: set[int] = set()
    for _ in range(ROUNDS):
        marked = [i for i, p in enumerate(p_values) if p is not None and p <= chance.level]
        surest = [i for i in marked if i not in settled and (p_values[i] or 0) <= least]
        if not surest or len(settled) + len(surest) == len(marked):
            break
        settled.update(surest)
        lefts = [rules[i].antecedent & ~space.label_mask for i in surest]
        free &= np.array([not any(left & ~cell == 0 for left in lefts) for cell in cells])
        if not free.any():
            break
        rest = PermutedGrid(space, cells, grid.worlds, free)
        permuted = rest.permute(chance.permutations, chance.seed, counted=False)
        for i in set(marked) - settled:
            likely = rest.chance_of(rules[i])
            if likely is not None:  # else it only says what the surest rules say
                p_values[i] = max(p_values[i] or 0.0, permuted.p_value(likely))
    return tuple(p_values)


def answers_of_world(space: Space, policy: Policy, decisions: Sequence[Decision]) -> WorldAnswers:
    """Return what was decided in one way of asking, and what that accepts."""
    claims = [YES] if space.label is None else [-1, *range(len(space.label.variables))]
    decided = np.array([decision.place for decision in decisions], np.intp)
    kinds, places = np.unique(decided, return_inverse=True)
    accepted = accepts(policy, kinds[:, None], claims).astype(np.bool_)
    if space.label is None:
        accepted = accepted[:, 0]
    return WorldAnswers(places.reshape(-1), accepted)


def summed_up(
    permuted: Permuted,
    chances: Sequence[float | None],
    seed: int,
    what: str = "answers",
    level: float = LEVEL,
) -> Chance:
    """Return what permutations say of rules, of each of which its chance is known."""
    counts = permuted.counts
    lines = tuple(
        line
        for conditions in range(counts.shape[1])
        if (line := _count(conditions, counts[:, conditions])).rules or line.mean
    )
    p_values = tuple(None if chance is None else permuted.p_value(chance) for chance in chances)
    total = _count(None, counts.sum(axis=1))
    return Chance(len(counts) - 1, seed, level, total, lines, p_values, what)


def _count(conditions: int | None, counts: NDArray[np.int64]) -> ChanceCount:
    """Return the number of rules, and what the permutations say of it."""
    permuted = np.sort(counts[1:])
    high = permuted[int(np.ceil(QUANTILE * len(permuted))) - 1]
    return ChanceCount(conditions, int(counts[0]), round(float(permuted.mean()), 3), int(high))
