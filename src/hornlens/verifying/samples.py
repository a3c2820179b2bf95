"""Whether samples bear the ε and δ that a certificate claims, by how δ was divided."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log, log1p
from typing import Any

from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Wrong

UNKNOWN = "how δ was divided among the equivalence queries: the result does not tell"


def check_samples(content: Mapping[str, Any]) -> str:
    """Check the samples of a result, or of one of its variants; return what cannot be checked.

    The last equivalence query draws q samples. A hypothesis that errs on more than ε comes through
    with probability (1-ε)^q, which must not exceed the query's share of δ. That of the i-th query
    that draws samples is δ/(i(i+1)). Up to 0.2, the i-th of all queries had the share δ/2^i.
    """
    joint = Claim.of(content["certificate"]).joint
    if joint is None:
        return ""
    epsilon, delta, samples = joint["epsilon"], joint["delta"], joint["samples"]
    statistics = content.get("statistics", {})
    asked, paid = statistics.get("equivalence_queries"), joint.get("queries")
    divided = 1.0
    if paid is not None:
        if not paid >= 1 or (asked is not None and paid > asked):
            raise Wrong(f"certificate: {paid:,} of {asked:,} equivalence queries drew samples")
        divided = paid * (paid + 1)
    elif is_old(content):
        divided = 2.0 ** min(asked or 0, 1000)
    enough = 0 < epsilon < 1 and 0 < delta < 1
    if not enough or samples * log1p(-epsilon) > log(delta) - log(divided):
        raise Wrong(f"certificate: {samples} samples are too few for its ε and δ")
    if paid is not None and "equivalence_samples" in statistics:
        _check_drawn(content, joint, statistics["equivalence_samples"])
    return "" if paid is not None or is_old(content) else UNKNOWN


def is_old(content: Mapping[str, Any]) -> bool:
    """Return whether version 0.2, or one before, wrote a result."""
    return "weakest" not in content["certificate"]


def _check_drawn(content: Mapping[str, Any], joint: Mapping[str, Any], drawn: int) -> None:
    """Check that so many queries can have drawn so many samples: the last all of its own."""
    epsilon, delta, samples, paid = (joint[k] for k in ("epsilon", "delta", "samples", "queries"))
    fixed = content.get("settings", {}).get("samples")
    if fixed is None:
        shares = (log(i * (i + 1) / delta) for i in range(1, paid + 1))
        most = sum(ceil(share / epsilon) for share in shares)
    else:
        most = paid * fixed
    if not samples + paid - 1 <= drawn <= most:
        raise Wrong(
            f"statistics: {drawn:,} samples were drawn, which {paid:,} equivalence queries with "
            f"{samples:,} in the last one cannot have done"
        )
