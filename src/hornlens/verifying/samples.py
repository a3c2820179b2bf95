"""Whether samples bear the ε and δ that a certificate claims, by how δ was divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isclose, lgamma, log, log1p, prod
from typing import Any

from hornlens.verifying.answers import Answer
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Space, Wrong

UNLIKELY = 1e-12
"""What is less likely than this is held to be wrong."""
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
        most = sum(_needed(i, epsilon, delta) for i in range(1, paid + 1))
    else:
        most = paid * fixed
    if not samples + paid - 1 <= drawn <= most:
        raise Wrong(
            f"statistics: {drawn:,} samples were drawn, which {paid:,} equivalence queries with "
            f"{samples:,} in the last one cannot have done"
        )


def _needed(query: int, epsilon: float, delta: float) -> int:
    """Return how many samples the query-th of those that draw any has to draw."""
    return ceil(log(query * (query + 1) / delta) / epsilon)


def check_sampled_settings(
    line: Mapping[str, Any],
    settings: Mapping[str, Any],
    space: Space,
    worlds: Sequence[Sequence[Answer]],
    assumed: bool,
) -> None:
    """Hold the samples of a certificate against the settings, and against what was asked.

    By the settings, either ε and δ are given and the number of samples follows, or that number is
    given and ε follows. And samples ask: so many of them, each uniform over the choices of every
    attribute, would have met the cells that were not asked, had there been so many.
    """
    joint = Claim.of(line["certificate"]).joint
    if joint is None or joint.get("queries") is None:
        return
    paid, fixed, samples = joint["queries"], settings["samples"], joint["samples"]
    doubt = log(paid * (paid + 1) / settings["delta"])
    epsilon = settings["epsilon"] if fixed is None else doubt / fixed
    wanted = _needed(paid, epsilon, settings["delta"]) if fixed is None else fixed
    if not (isclose(joint["epsilon"], epsilon) and isclose(joint["delta"], settings["delta"])):
        raise Wrong("certificate: its ε and δ are not those of the settings")
    if samples != wanted:
        raise Wrong(f"certificate: {wanted:,} samples have to be drawn, not {samples:,}")
    accepted = joint.get("accepted")
    if accepted is not None and not 0 <= accepted <= samples:
        raise Wrong("certificate: more samples were accepted than drawn")
    if len(worlds) == 1 and not assumed:
        _check_met(space, worlds[0], samples)


def _check_met(space: Space, answers: Sequence[Answer], samples: int) -> None:
    """Refuse so many samples that they would have met more cells than were asked.

    All of n samples fall into a given set of cells, a share a of all, with chance aⁿ; into any set
    of that size with chance at most aⁿ times the number of such sets.
    """
    axes = space.ends or space.axes[: len(space.axes) - bool(space.labels)]
    cells, asked = prod(map(len, axes)), len({answer.cell for answer in answers})
    share = asked / cells
    if space.labels and not space.label_always:  # what sets no label asks nothing
        share = 1 - (1 - share) * len(space.labels) / (len(space.labels) + 1)
    if not 0 < share < 1:
        return
    sets = lgamma(cells + 1) - lgamma(asked + 1) - lgamma(cells - asked + 1)
    if sets + samples * log(share) < log(UNLIKELY):
        raise Wrong(f"certificate: {samples:,} samples would have met more cells than were asked")
