"""Whether it matters in which order candidates are offered: measured, where they were in several.

A chat model that is offered candidates tends to name the first, or the last, whatever is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from hornlens.results.documents.details import Details

DEVIATIONS = 4
"""So many standard deviations from even, and more, are no accident."""


@dataclass(frozen=True)
class Orders:
    """What replies to the same prompts in several orders name.

    `prompts` were asked in several; in `differing` of them not all replies name the same candidate
    (None: replies vary anyway, for each was drawn by chance, and so was its order).
    `named` counts for each place how often the candidate that was offered there was named.
    """

    prompts: int
    differing: int | None
    named: tuple[int, ...]

    @property
    def is_biased(self) -> bool:
        """Whether place counts: it changes an answer, or one is named too often, or too seldom."""
        if self.differing is not None:
            return self.differing > 0
        even = sum(self.named) / max(1, len(self.named))
        return any(abs(count - even) > DEVIATIONS * sqrt(even) for count in self.named)

    @property
    def sentence(self) -> str:
        """What was measured, in words."""
        replies = sum(self.named)
        places = ", ".join(
            f"{count:,} the one in place {k}" for k, count in enumerate(self.named, 1)
        )
        even = f"{replies / len(self.named):,.0f} each would be even" if self.named else ""
        if self.differing is None:
            return (
                f"Where a candidate is offered decides whether it is named: of {replies:,} named, "
                f"{places} ({even})."
            )
        return (
            f"The order in which candidates are offered changes the answer in {self.differing:,} "
            f"of {self.prompts:,} prompts: of {replies:,} named, {places} ({even})."
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in envelope.json."""
        return {**asdict(self), "named": list(self.named)}


def orders_of(details: Mapping[str, Details]) -> Orders | None:
    """Return what prompts that were asked in several orders show; None: there are none."""
    asked, differing, drawn = 0, 0, False
    named = Counter[int]()
    most = 0
    for told in details.values():
        replies = [reply for reply in told.replies if len(reply.order) > 1]
        if len({reply.order for reply in replies}) < 2:
            continue
        asked += 1
        # With log-probabilities, a reply to an order that was there before was asked again.
        repeated = len({reply.order for reply in replies}) < len(replies)
        drawn = drawn or (repeated and not any(reply.scores for reply in replies))
        most = max(most, *(len(reply.order) for reply in replies))
        differing += len({reply.named for reply in replies}) > 1
        named.update(r.order.index(r.named) for r in replies if r.named in r.order)
    if not asked:
        return None
    counts = tuple(named[place] for place in range(most))
    return Orders(asked, None if drawn else differing, counts)
