"""The reduction of Section 4.2: learning any CNF through learning a Horn envelope.

Each variable v gets a twin ¬v. A clause then needs no positive literals (say "not both a and ¬b"
for "a → b"), so the encoding is Horn but for the set-up clauses v ∨ ¬v, and the envelope of the
encoding, decoded, is the formula itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from hornlens.logic.cnf import Clause, Cnf
from hornlens.logic.vocabulary import Vocabulary


def twin_vocabulary(vocabulary: Vocabulary) -> Vocabulary:
    """Return V⁺: the variables and, in the same order after them, their twins ¬v."""
    sign = "¬"
    while any(sign + name in vocabulary for name in vocabulary.names):
        sign += "¬"
    return Vocabulary(vocabulary.names + tuple(sign + name for name in vocabulary.names))


def enc(formula: Cnf) -> Cnf:
    """Return enc(φ): every clause as a negative rule over V⁺, and the set-up clauses."""
    n = formula.width
    negative = tuple(Clause(c.antecedent | c.consequent << n, 0) for c in formula.clauses)
    setup = tuple(
        clause
        for i in range(n)
        for clause in (Clause(1 << i | 1 << (i + n), 0), Clause(0, 1 << i | 1 << (i + n)))
    )
    return Cnf(twin_vocabulary(formula.vocabulary), negative + setup)


def dec(clauses: Iterable[Clause], vocabulary: Vocabulary) -> Cnf:
    """Return dec(ψ): clauses over V⁺ as clauses over V (`vocabulary`), twins turned back.

    Clauses that come out as tautologies, as all of the set-up does, are left out.
    """
    n = len(vocabulary)
    low = (1 << n) - 1
    decoded = []
    for clause in clauses:
        antecedent = clause.antecedent & low | clause.consequent >> n
        consequent = clause.consequent & low | clause.antecedent >> n
        if not antecedent & consequent:
            decoded.append(Clause(antecedent, consequent))
    return Cnf(vocabulary, tuple(dict.fromkeys(decoded)))


def enc_example(x: int, width: int) -> int:
    """Return x¬: the interpretation over V⁺ that sets exactly one of each pair of twins."""
    return x | (((1 << width) - 1) & ~x) << width


def dec_example(y: int, width: int) -> int | None:
    """Return the x whose encoding is `y`; None if `y` is no encoding of an interpretation."""
    x = y & ((1 << width) - 1)
    return x if y == enc_example(x, width) else None
