"""Almost-rules of a table: association rules, as a basis beside the exact rules.

A table says what occurs, and not what is rejected. So the confidence of a rule is the share of the
rows with its left side that have its right side, too; and there is no "almost never": how seldom
two things come together depends on how rare each is.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.hitting import count_members, sets_having
from hornlens.logic.almost import AlmostRule, AlmostRules
from hornlens.logic.batch import pack
from hornlens.logic.bits import bits
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory, forward_chain

MOST_WORK = 2 * 10**10
"""Words of rows that are looked at: some ten seconds."""
MOST_FOUND = 20_000
"""So many candidates are held against each other."""
TOGETHER = 1 << 10

Sets = NDArray[np.intp]
Candidate = tuple[int, int, int, int, int]
"""Conditions, exceptions, rows spoken of, the left side and the variable on the right."""


def almost_rules_of_table(
    table: Table,
    exact: Theory,
    max_conditions: int,
    min_confidence: float,
    min_support: int = 0,
) -> AlmostRules:
    """Return the almost-rules of a table beside its exact rules, which are with their background.

    Left sides have at most `max_conditions` variables and at least `min_support` rows, and one at
    least. Rules are taken as `almost.almost_rules_of_grid` does it.
    """
    width = len(table.vocabulary)
    having = sets_having(pack(table.rows, width), width)
    least = Fraction(repr(float(min_confidence)))
    candidates: list[Candidate] = []
    for sets, among in _frequent(having, width, max_conditions, max(1, min_support)):
        candidates += _candidates(having, sets, among, width, least)
        if len(candidates) > MOST_FOUND:
            raise InputError(
                f"has more than {MOST_FOUND:,} rules that hold almost always: raise "
                "--min-confidence or --min-support, or lower --max-conditions"
            )
    candidates.sort(key=lambda one: (one[0], Fraction(one[1], one[2]), -one[2], one[3], one[4]))
    chosen = [Rule(x, x | 1 << head) for *_, x, head in candidates]
    kept = _not_superfluous(exact, _not_following(exact, chosen))
    counts = {(x, head): (of, broken) for _, broken, of, x, head in candidates}
    return AlmostRules(
        min_confidence,
        max_conditions,
        min_support or None,
        tuple(_with_exceptions(table, rule, counts) for rule in kept),
    )


def _frequent(
    having: NDArray[np.uint64], width: int, most: int, least: int
) -> Iterator[tuple[Sets, NDArray[np.uint64]]]:
    """Yield the sets of at most so many variables that enough rows have, with these rows."""
    words, looked_at = having.shape[1], 0
    sets, among = np.zeros((1, 0), dtype=np.intp), having[width:]
    if count_members(among)[0] < least:
        return
    for size in range(most + 1):
        looked_at += len(sets) * width * words
        if looked_at > MOST_WORK:
            raise InputError(
                f"has {len(sets):,} sets of {size} conditions: too many to look at: lower "
                "--max-conditions, or raise --min-support"
            )
        yield sets, among
        if size == most or not len(sets):
            return
        larger, rows = [], []
        for one, row in zip(sets, among, strict=True):
            after = np.arange(one[-1] + 1 if size else 0, width)
            both = having[after] & row
            enough = count_members(both) >= least
            larger.append(np.column_stack([np.tile(one, (int(enough.sum()), 1)), after[enough]]))
            rows.append(both[enough])
        sets = np.concatenate(larger).astype(np.intp).reshape(-1, size + 1)
        among = np.concatenate(rows)


def _candidates(
    having: NDArray[np.uint64], sets: Sets, among: NDArray[np.uint64], width: int, least: Fraction
) -> list[Candidate]:
    """Return the rules of some left sides that hold often enough, and not always."""
    candidates: list[Candidate] = []
    for start in range(0, len(sets), TOGETHER):
        rows = among[start : start + TOGETHER]
        of = count_members(rows)
        for head in range(width):
            kept = count_members(rows & having[head])
            enough = (kept < of) & (kept * least.denominator >= of * least.numerator)
            for place in np.flatnonzero(enough).tolist():
                left = sets[start + place].tolist()
                if head not in left:
                    x = sum(1 << v for v in left)
                    broken = int(of[place] - kept[place])
                    candidates.append((len(left), broken, int(of[place]), x, head))
    return candidates


def _not_following(exact: Theory, rules: list[Rule]) -> list[Rule]:
    """Return the rules that do not follow from the exact ones and those before them."""
    known, chosen = list(exact), list[Rule]()
    for rule in rules:
        if rule.consequent & ~forward_chain([*chosen, *known], rule.antecedent):
            chosen.append(rule)
    return chosen


def _not_superfluous(exact: Theory, rules: list[Rule]) -> list[Rule]:
    """Return the rules without those that follow from the others, the last looked at first."""
    known, kept = list(exact), list(rules)
    for rule in reversed(rules):
        others = [one for one in kept if one is not rule]
        if not rule.consequent & ~forward_chain([*others, *known], rule.antecedent):
            kept = others
    return kept


def _with_exceptions(
    table: Table, rule: Rule, counts: dict[tuple[int, int], tuple[int, int]]
) -> AlmostRule:
    (head,) = bits(rule.new)
    broken = [i for i, row in enumerate(table.rows) if not rule.satisfied_by(row)]
    of, count = counts[rule.antecedent, head]
    lines = table.lines or range(1, len(table.rows) + 1)
    return AlmostRule(
        rule,
        of,
        count,
        tuple(table.rows[i] for i in broken),
        tuple(lines[i] for i in broken),
    )
