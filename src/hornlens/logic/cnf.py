"""Formulas in conjunctive normal form: clauses P → ∨Q, and a vocabulary for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.batch import Words, contains, pack
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Clause:
    """`∧antecedent → ∨consequent`: a clause, or in the paper's words a quasi-Horn rule.

    The negative literals of the clause are its antecedent, the positive ones its consequent.
    """

    antecedent: int
    consequent: int

    @property
    def is_horn(self) -> bool:
        """Whether there is at most one positive literal."""
        return self.consequent & (self.consequent - 1) == 0

    def satisfied_by(self, x: int) -> bool:
        """Say whether `x` makes the clause true."""
        return self.antecedent & ~x != 0 or self.consequent & x != 0

    def show(self, vocabulary: Vocabulary) -> str:
        """Return the clause as people write it: ``a ∧ b → c ∨ d``."""
        left = " ∧ ".join(vocabulary.names_of(self.antecedent)) or "⊤"
        return f"{left} → {' ∨ '.join(vocabulary.names_of(self.consequent)) or '⊥'}"


@dataclass(frozen=True)
class Cnf:
    """A conjunction of clauses. No clauses: everything is accepted; an empty one: nothing."""

    vocabulary: Vocabulary
    clauses: tuple[Clause, ...] = ()

    @property
    def width(self) -> int:
        """The number of variables."""
        return len(self.vocabulary)

    def satisfied_by(self, x: int) -> bool:
        """Say whether the interpretation `x` makes every clause true."""
        return all(clause.satisfied_by(x) for clause in self.clauses)

    def accepts(self, batch: Words) -> NDArray[np.bool_]:
        """Say of each interpretation in a packed batch whether it is accepted."""
        result = np.ones(len(batch), dtype=np.bool_)
        flipped = ~batch
        antecedents = pack([clause.antecedent for clause in self.clauses], self.width)
        consequents = pack([clause.consequent for clause in self.clauses], self.width)
        for antecedent, consequent in zip(antecedents, consequents, strict=True):
            result &= ~(contains(batch, antecedent) & contains(flipped, consequent))
        return result

    def positives(self) -> Iterator[int]:
        """Yield what it accepts, smallest number first. Exponential: for small vocabularies."""
        return (x for x in range(1 << self.width) if self.satisfied_by(x))

    @property
    def is_horn(self) -> bool:
        """Whether every clause has at most one positive literal."""
        return all(clause.is_horn for clause in self.clauses)

    def theory(self) -> Theory:
        """Return a Horn CNF as a theory; other clauses are a ValueError."""
        if not self.is_horn:
            raise ValueError("the formula has a clause with two positive literals")
        return Theory(
            self.width, tuple(Rule(c.antecedent, c.consequent or BOTTOM) for c in self.clauses)
        )

    def show(self) -> str:
        """Return the clauses as implications, one a line."""
        return "\n".join(clause.show(self.vocabulary) for clause in self.clauses)


def quasi(x: int, width: int) -> Clause:
    """Return quasi(x), the weakest rule that `x` falsifies: it rejects `x` and nothing else."""
    return Clause(x, ((1 << width) - 1) & ~x)


def clauses_of(rules: Iterable[Rule]) -> tuple[Clause, ...]:
    """Return the Horn clauses that say the same as the rules."""
    clauses = []
    for rule in rules:
        if rule.is_negative:
            clauses.append(Clause(rule.antecedent, 0))
        else:
            clauses += [Clause(rule.antecedent, 1 << head) for head in bits(rule.new)]
    return tuple(clauses)


def literals(clause: Clause) -> list[int]:
    """Return the clause as DIMACS literals: variable i is i + 1, negated where negative."""
    return [-(i + 1) for i in bits(clause.antecedent)] + [i + 1 for i in bits(clause.consequent)]


def clause_of(numbers: Iterable[int]) -> Clause:
    """Return the clause of the given DIMACS literals."""
    antecedent = consequent = 0
    for number in numbers:
        if number < 0:
            antecedent |= 1 << (-number - 1)
        else:
            consequent |= 1 << (number - 1)
    return Clause(antecedent, consequent)
