"""The envelope: the rules of a target, both canonical and readable, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornlens.logic.bits import canonical
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.logic.readable import readable
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

EXAMPLES = 10
"""How many non-Horn negatives are shown."""


@dataclass(frozen=True)
class NonHorn:
    """The non-Horn negatives of a target: what its envelope cannot reject.

    `count` is None where there are more than could be counted; then `at_least` many were seen.
    """

    count: int | None = 0
    examples: tuple[int, ...] = ()
    at_least: int = 0

    @classmethod
    def of(cls, found: Collection[int], complete: bool = True) -> NonHorn:
        """Return what to say of those that were found, smallest first; are they all there are?"""
        examples = tuple(sorted(found, key=canonical)[:EXAMPLES])
        return cls(len(found) if complete else None, examples, len(found))


@dataclass(frozen=True)
class Envelope:
    """The DG basis of a target's Horn consequences relative to a background, and its readable form.

    `readable` has the rules of `basis` in the same order; `support`, where known, counts for each
    the positive examples that it speaks of.
    """

    vocabulary: Vocabulary
    basis: Theory
    background: Theory
    readable: Theory
    certificate: Certificate = EXACT
    non_horn: NonHorn = NonHorn()
    support: Sequence[int] | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, basis: Theory, background: Theory | None = None, **rest: Any
    ) -> Envelope:
        """Return the envelope of a basis, its readable form computed."""
        granted = background or Theory(len(vocabulary))
        return cls(vocabulary, basis, granted, readable(basis, granted), **rest)
