"""Which rules of a table come first: by support, or by surprise.

- *support*: the rule that the most rows speak of; of equal ones the shorter.
- *surprise*: the rule that chance would break in the most rows. Of the rows that have its left
  side, so many would lack its right side, if that were as frequent among them as among all rows.
  Of a left side that no row has, so many rows would have it, if its columns had nothing to do
  with one another. Of equal ones the larger support, then the shorter.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Literal, TypeAlias

from hornlens.exact.columns import Columns
from hornlens.logic.bits import bits
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory

RowRank: TypeAlias = Literal["support", "surprise"]
EXPLAINED: dict[RowRank, str] = {
    "support": "those that speak of the most rows first",
    "surprise": "those that chance would break in the most rows first",
}
"""Each order in words."""


def ranked(envelope: Envelope, table: Table, rank: RowRank) -> Envelope:
    """Return the envelope of a table with its rules in an order of strength."""
    columns = Columns(table.rows, envelope.space.width)
    support = columns.supports(rule.antecedent for rule in envelope.readable)
    expected = expected_exceptions(envelope.readable, columns) if rank == "surprise" else support

    def strength(place: int) -> tuple[object, ...]:
        return -expected[place], -support[place], envelope.readable.rules[place].key

    order = sorted(range(len(support)), key=strength)
    return replace(
        envelope,
        basis=Theory(envelope.space.width, tuple(envelope.basis.rules[i] for i in order)),
        readable=Theory(envelope.space.width, tuple(envelope.readable.rules[i] for i in order)),
        support=tuple(support[i] for i in order),
    )


def expected_exceptions(rules: Theory, columns: Columns) -> list[float]:
    """Return for each rule in how many rows chance would break it."""
    rows = columns.count
    share = [having.bit_count() / rows if rows else 0.0 for having in columns.having]

    def expected(rule: Rule) -> float:
        (support,) = columns.supports([rule.antecedent])
        if rule.is_negative or not support:
            return rows * prod(share[v] for v in bits(rule.antecedent))
        (having,) = columns.supports([rule.new])
        return support * (1 - having / rows)

    return [expected(rule) for rule in rules]
