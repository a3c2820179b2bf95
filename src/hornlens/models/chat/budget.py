"""What a run has taken, and what it may take: a call that could exceed it is not sent."""

from __future__ import annotations

from collections.abc import Sequence
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

    def reserve(self, *calls: Call) -> list[Estimate]:
        """Count calls before one is sent; raise if they could go beyond a limit together."""
        limits, used, most = self.limits, self.limits.used, [most_of(call) for call in calls]
        sent = used.tokens_in + sum(each.tokens_in for each in most)
        replied = used.tokens_out + sum(each.tokens_out for each in most)
        following = "the next call" if len(calls) == 1 else f"the next prompt's {len(calls)} calls"
        if limits.calls is not None and used.calls + len(calls) > limits.calls:
            full = used.calls >= limits.calls or len(calls) == 1
            state = "is reached" if full else f"would be exceeded by {following}"
            raise _over(f"--max-calls {limits.calls:,} {state}{GO_ON}", "max_calls")
        if limits.tokens is not None and sent + replied > limits.tokens:
            raise _over(
                f"--max-tokens {limits.tokens:,} could be exceeded by {following} "
                f"({used.tokens_in + used.tokens_out:,} used){GO_ON}",
                "max_tokens",
            )
        if limits.cost is not None and (cost_of(limits, sent, replied) or 0.0) > limits.cost:
            raise _over(
                f"--max-cost {limits.cost:g} could be exceeded by {following} "
                f"({self.cost or 0.0:.4g} spent){GO_ON}",
                "max_cost",
            )
        used.calls, used.tokens_in, used.tokens_out = used.calls + len(calls), sent, replied
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

    def release(self, reserved: Estimate) -> None:
        """Give back what was reserved for a call that was never sent."""
        self.settle(reserved, None)
        self.limits.used.calls -= 1

    @property
    def cost(self) -> float | None:
        """What the tokens cost; None: no prices are known."""
        return cost_of(self.limits, self.limits.used.tokens_in, self.limits.used.tokens_out)


class Reservation:
    """Calls that are of use only together: none is sent unless all of them fit within the limits.

    So a limit never ends a run with half of a prompt's calls paid for. They are reserved when the
    first of them is about to be sent; one that is sent again is reserved again, by itself.
    """

    def __init__(self, budget: Budget, calls: Sequence[Call]):
        """Keep the calls; nothing is reserved yet."""
        self._budget, self._calls = budget, tuple(calls)
        self._held: list[tuple[Call, Estimate]] | None = None
        self._refused: SpendingReached | None = None

    def take(self, call: Call) -> Estimate:
        """Return what a call takes at most, counted; raise if the limits have no room for all."""
        if self._refused:  # of all, even if there has come to be room for one of them
            raise self._refused
        if self._held is None:
            try:
                reserved = self._budget.reserve(*self._calls)
            except SpendingReached as error:
                self._refused = error
                raise
            self._held = list(zip(self._calls, reserved, strict=True))
        for index, (other, _) in enumerate(self._held):
            if other == call:
                return self._held.pop(index)[1]
        return self._budget.reserve(call)[0]

    def release(self) -> None:
        """Give back what was reserved for calls that were not sent."""
        for _, reserved in self._held or ():
            self._budget.release(reserved)
        self._held = []


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
