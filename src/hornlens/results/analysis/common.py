"""What several envelopes have in common: the rules that follow from every one of them."""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.exact.worlds import grid_of, shared_space, union
from hornlens.logic.envelope import Envelope
from hornlens.logic.readable import readable
from hornlens.logic.theory import Theory

COMMON_LIMIT = 1 << 22
"""Up to so many interpretations, the common consequences are worked out."""


def common_consequences(envelopes: Sequence[Envelope]) -> Theory | None:
    """Return the rules that follow from every one of some envelopes, in readable form.

    An interpretation is accepted by them if it is an intersection of such as some of them accept.
    None if there are too many interpretations to work that out.
    """
    space = shared_space([envelope.space for envelope in envelopes])
    if space.count > COMMON_LIMIT:
        return None
    known = (envelope.basis + envelope.background for envelope in envelopes)
    accepted = union([grid_of(theory, space) for theory in known])
    return readable(accepted.dg_basis(), space.background)
