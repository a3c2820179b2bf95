"""What a run has taken, and what it may take: a call that could exceed it is not sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from hornlens.formats.replies import Reply
from hornlens.limits import Reason
from hornlens.logging import get_logger
from hornlens.models.chat.calls import Call
from hornlens.models.protocol import GO_ON, Estimate, ModelError, Spending, SpendingReached

OVERHEAD = 64
"""Tokens that an endpoint may put around a question: its template."""
OVERHEAD_OF_CHOICES = 512
"""The same, where it is told what it may reply."""
MILLION = 1_000_000
_log = get_logger(__name__)


@dataclass(frozen=True)
class Budget:
    """Counts calls and tokens. What is under way counts with the most that it can take."""

    limits: Spending = field(default_factory=Spending)

    def __post_init__(self) -> None:
        """Refuse a limit on the cost without prices."""
        known = self.limits.price_in is not None and self.limits.price_out is not None
        if self.limits.cost is not None and not known:
            raise ModelError("--max-cost needs --price-in and --price-out, for a million tokens")

    def reserve(self, call: Call) -> Estimate:
        """Count a call before it is sent; raise ModelError if it could go beyond a limit."""
        limits, used, most = self.limits, self.limits.used, most_of(call)
        sent, replied = used.tokens_in + most.tokens_in, used.tokens_out + most.tokens_out
        if limits.calls is not None and used.calls + 1 > limits.calls:
            raise _over(f"--max-calls {limits.calls:,} is reached{GO_ON}", "max_calls")
        if limits.tokens is not None and sent + replied > limits.tokens:
            raise _over(
                f"--max-tokens {limits.tokens:,} could be exceeded by the next call "
                f"({used.tokens_in + used.tokens_out:,} used){GO_ON}",
                "max_tokens",
            )
        if limits.cost is not None and (cost_of(limits, sent, replied) or 0.0) > limits.cost:
            raise _over(
                f"--max-cost {limits.cost:g} could be exceeded by the next call "
                f"({self.cost or 0.0:.4g} spent){GO_ON}",
                "max_cost",
            )
        used.calls, used.tokens_in, used.tokens_out = used.calls + 1, sent, replied
        return most

    def settle(self, reserved: Estimate, reply: Reply | None) -> None:
        """Put what a call took in the place of what was reserved; None: it took nothing.

        What the endpoint does not say stays reserved: so it never makes room by saying nothing.
        """
        used = self.limits.used
        sent, replied = (0, 0) if reply is None else reply.tokens[:2]
        if reply is not None:
            used.uncounted += not (sent and replied)
            sent, replied = sent or reserved.tokens_in, replied or reserved.tokens_out
        used.tokens_in += sent - reserved.tokens_in
        used.tokens_out += replied - reserved.tokens_out

    @property
    def cost(self) -> float | None:
        """What the tokens cost; None: no prices are known."""
        return cost_of(self.limits, self.limits.used.tokens_in, self.limits.used.tokens_out)


def _over(message: str, reason: Reason) -> SpendingReached:
    _log.info("%s", message.removesuffix(GO_ON))
    return SpendingReached(message, reason)


def most_of(call: Call) -> Estimate:
    """Return what a call takes at most: a token has at least one byte."""
    text = len(f"{call.system}{call.user}{''.join(call.choices)}".encode())
    around = OVERHEAD_OF_CHOICES if call.choices else OVERHEAD
    return Estimate(1, text + around, call.room)


def cost_of(limits: Spending, tokens_in: int, tokens_out: int) -> float | None:
    """Return what tokens cost, at prices for a million; None where a price is not known."""
    if limits.price_in is None or limits.price_out is None:
        return None
    return (tokens_in * limits.price_in + tokens_out * limits.price_out) / MILLION
