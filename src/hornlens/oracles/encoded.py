"""The oracles of the hardness theorem: a CNF is learned by learning the envelope of its encoding.

They answer questions about enc(φ) with nothing but membership and equivalence queries about φ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hornlens.learning.protocol import (
    Accepted,
    Counterexample,
    Hypothesis,
    MembershipOracle,
    Verdict,
)
from hornlens.logic.certificates import EXACT
from hornlens.logic.cnf import Cnf
from hornlens.logic.encoding import dec, dec_example, enc_example
from hornlens.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class EncodedMembership:
    """MQ for enc(φ): what encodes no interpretation is rejected, the rest is asked of φ."""

    oracle: MembershipOracle
    width: int

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Decode, ask what can be asked, in one batch."""
        decoded = [dec_example(y, self.width) for y in batch]
        answers = iter(self.oracle.ask([x for x in decoded if x is not None]))
        return [x is not None and next(answers) for x in decoded]


@dataclass(frozen=True)
class EncodedEquivalence:
    """EQ for enc(φ): the hypothesis is decoded and compared with φ; what differs is encoded.

    `compare` answers EQ for φ: a counterexample to a formula, or None for yes.
    """

    compare: Callable[[Cnf], int | None]
    vocabulary: Vocabulary

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return the encoded counterexample, or yes: the decoded hypothesis is equivalent to φ."""
        counterexample = self.compare(dec(hypothesis.clauses(), self.vocabulary))
        if counterexample is None:
            return Accepted(EXACT)
        return Counterexample(enc_example(counterexample, len(self.vocabulary)))
