"""Tables in which columns are alike: one of each kind is searched, and the others put back after.

Let F be the columns that every row has, and call columns that the same rows have *alike*. The DG
basis of the table is that of the table with one column of each kind and none of F, in which each
column stands for all of its kind and left sides have F, with two changes: ∅ → F comes first; and of
a kind with several columns, {c} ∪ F → closure stands there for each column c, instead of a rule for
the whole kind. (Each such left side contains what follows from less: from nothing follows F only.
And a left side that has one c has all that follows from it, so it has whole kinds.)

For people, the columns c1, …, ck of a kind are said as c1 → c2, …, ck → c1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hornlens.errors import InputError
from hornlens.exact.columns import turned
from hornlens.logic.bits import BOTTOM, bits, canonical, mask_of
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

MOST_NAMES = 10_000_000
"""The rules of a basis may name so many variables in all: a file of them is 100 MB or more."""


@dataclass(frozen=True)
class Clarified:
    """The places of the columns of each kind, each kind in order, and those that every row has.

    `having` are the rows of each kind, as masks.
    """

    table: Table
    kinds: tuple[tuple[int, ...], ...]
    full: int
    having: tuple[int, ...] = ()

    @classmethod
    def of(cls, table: Table) -> Clarified:
        """Sort the columns by the rows that have them; without rows, none is worth a look."""
        if not table.rows:
            return cls(table, (), 0)
        kinds: dict[int, list[int]] = {}
        for column, rows in enumerate(turned(table.rows, len(table.vocabulary))):
            kinds.setdefault(rows, []).append(column)
        full = kinds.pop((1 << len(table.rows)) - 1, [])
        return cls(table, tuple(map(tuple, kinds.values())), mask_of(full), tuple(kinds))

    def reduced(self) -> Table:
        """Return the table with the first column of each kind, without those of every row."""
        names = self.table.vocabulary.names
        rows = turned(self.having, len(self.table.rows))
        return Table(Vocabulary(tuple(names[kind[0]] for kind in self.kinds)), tuple(rows))

    def widened(self, small: Envelope) -> Envelope:
        """Return the envelope of the table, given that of the reduced one."""
        width = len(self.table.vocabulary)
        self._check_size(small.basis)
        examples = map(self._whole, small.non_horn.examples)
        pairs = sorted(self._rules(small), key=lambda pair: pair[0].key)
        claim = small.certificate
        if claim.ended is not None:
            claim = replace(claim, rules=len(pairs))
        return replace(
            small,
            certificate=claim,
            space=Space.of_variables(self.table.vocabulary),
            basis=Theory(width, tuple(rule for rule, _ in pairs)),
            readable=Theory(width, tuple(rule for _, rule in pairs)),
            non_horn=replace(small.non_horn, examples=tuple(sorted(examples, key=canonical))),
        )

    def _rules(self, small: Envelope) -> Iterator[tuple[Rule, Rule]]:
        """Yield the rules of the basis, each with its readable form."""
        if self.full:
            yield Rule(0, self.full), Rule(0, self.full)
        single = {}
        for rule, short in zip(small.basis.rules, small.readable.rules, strict=True):
            if rule.antecedent.bit_count() == 1:
                single[rule.antecedent.bit_length() - 1] = rule, short
                continue
            yield (
                Rule(self._whole(rule.antecedent), self._whole(rule.consequent)),
                Rule(self._first(short.antecedent), self._first(short.consequent)),
            )
        for place, kind in enumerate(self.kinds):
            rule, short = single.get(place, (Rule(1 << place, 1 << place), Rule(1 << place, 0)))
            if len(kind) == 1 and place not in single:
                continue
            closure = self._whole(rule.consequent)
            for column, following in zip(kind, (*kind[1:], kind[0]), strict=True):
                new = short.consequent
                if new != BOTTOM:  # what else follows is said of the last: the others lead there
                    new = self._first(new) if column == kind[-1] else 0
                    new |= 1 << following if len(kind) > 1 else 0
                yield Rule(self.full | 1 << column, closure), Rule(1 << column, new)

    def _whole(self, mask: int) -> int:
        """Return the columns that a set of kinds stands for, and those of every row."""
        if mask == BOTTOM:
            return BOTTOM
        return self.full | mask_of(column for place in bits(mask) for column in self.kinds[place])

    def _first(self, mask: int) -> int:
        """Return the first column of each kind."""
        return mask if mask == BOTTOM else mask_of(self.kinds[place][0] for place in bits(mask))

    def _check_size(self, basis: Theory) -> None:
        """Refuse a basis that is too large to be written down, before it is made."""
        full, sizes = self.full.bit_count(), [len(kind) for kind in self.kinds]

        def size(mask: int) -> int:
            return full + sum(sizes[i] for i in bits(mask)) if mask > 0 else full

        names = 0
        follows = {1 << place: 1 << place for place, count in enumerate(sizes) if count > 1}
        for rule in basis.rules:
            if rule.antecedent.bit_count() == 1:
                follows[rule.antecedent] = rule.consequent
            else:
                names += size(rule.antecedent) + size(rule.consequent)
        for kind, closure in follows.items():
            names += sizes[kind.bit_length() - 1] * (full + 1 + size(closure))
        if names > MOST_NAMES:
            raise InputError(
                f"has {len(self.table.vocabulary):,} columns, and so many are alike that its rules "
                f"would name {names:,} (up to {MOST_NAMES:,} can be written): leave out columns "
                "that every row has, or that have the same rows as another"
            )
