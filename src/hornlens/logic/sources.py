"""Who gave a chat model's replies: one and the same, as far as the replies show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornlens.counts import plural
from hornlens.logic.shares import most_share
from hornlens.logic.warrants import check_count

SURE = 0.95
"""How sure a bound on the answers that would change is."""


@dataclass(frozen=True)
class Sources:
    """Where replies come from: how many have each fingerprint, and how many models were named.

    Of `reasked` prompts that were asked again at the end of a run, `changed` got another answer.

    >>> print(Sources((722, 598)).sentence)
    But the 1,320 replies have 2 fingerprints (722 and 598 replies): this is a claim about these
    replies, not about one unchanged model.
    >>> Sources((40,), reasked=20).one, round(Sources((40,), reasked=20).bound, 3)
    (True, 0.139)
    """

    replies: tuple[int, ...] = ()
    models: int = 1
    reasked: int = 0
    changed: int = 0

    def __post_init__(self) -> None:
        """Reject numbers that cannot be."""
        object.__setattr__(self, "replies", tuple(self.replies))
        for count in self.replies:
            check_count("replies", count)
        for name in ("models", "reasked", "changed"):
            check_count(name, getattr(self, name))
        if self.changed > self.reasked:
            raise ValueError("more answers changed than were asked again")

    @property
    def one(self) -> bool:
        """Whether nothing shows that more than one model, in one state, has answered."""
        return len(self.replies) < 2 and self.models < 2 and not self.changed

    @property
    def bound(self) -> float:
        """The largest share of answers that may change when asked again, at 95 % confidence."""
        return most_share(self.changed, self.reasked, 1 - SURE)

    @property
    def sentence(self) -> str:
        """What a claim has to add; "" if there is nothing."""
        parts = []
        if len(self.replies) > 1:
            several = plural(self.models, "model name") + " and " if self.models > 1 else ""
            parts.append(
                f"the {sum(self.replies):,} replies have {several}{len(self.replies):,} "
                f"fingerprints ({joined(self.replies)} replies)"
            )
        if self.changed:
            parts.append(
                f"{self.changed:,} of {plural(self.reasked, 'prompt')} got another answer when "
                f"asked again (up to {self.bound:.1%} of all would, with probability {SURE:g})"
            )
        if parts:
            return (
                f"But {', and '.join(parts)}: this is a claim about these replies, not about one "
                "unchanged model."
            )
        if not self.reasked:
            return ""
        return (
            f"{plural(self.reasked, 'prompt')} got the same answer when asked again at the end (up "
            f"to {self.bound:.1%} of all may change, with probability {SURE:g})."
        )


def joined(counts: Sequence[int]) -> str:
    """Return numbers as people list them."""
    texts = [f"{count:,}" for count in counts]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
