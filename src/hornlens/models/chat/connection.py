"""A model at an endpoint, and all that its several ways of asking share: pace, budget, manner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hornlens.models.chat.address import Address
from hornlens.models.chat.budget import Budget, Reservation
from hornlens.models.chat.calls import Call, Endpoint, Manner, NotOurs, Passing, Response
from hornlens.models.chat.endpoints import AnthropicEndpoint, OpenAIEndpoint
from hornlens.models.chat.pacing import Pace, Patience
from hornlens.models.protocol import OtherModel

AT_ONCE = 32
"""Calls under way at most, unless a batch size is given."""
STRANGERS = 5
"""So many replies of another model, one after the other, end a run."""


@dataclass
class Connection:
    """Asks one model of one endpoint. `open` says where it is, and may start it there."""

    model: str
    open: Callable[[], Address]
    budget: Budget
    temperature: float | None = None
    """What somebody has said it should be, so that it cannot be left out."""
    at_once: int = AT_ONCE
    patience: Patience = field(default_factory=Patience)
    manner: Manner = field(default_factory=Manner)
    """Which parameters it takes: what trying it out has found."""
    rooms: dict[str, int] = field(default_factory=dict)
    """Tokens that replies need, by method, where trying it out has found that it is more."""
    tried: set[str] = field(default_factory=set)
    """The methods that were tried out and work."""
    no_chat: Callable[[], str] = str
    """Says why it cannot be asked as a chat model; empty: it can."""
    answers_as: str = ""
    """What it said had answered when it was tried out."""
    answered: bool = False
    """Whether that has answered anything since."""
    here: str = ""
    """What runs it, where that is started on this machine when it is needed."""
    strangers: int = 0
    """How many replies in a row came from another one."""
    ids: dict[str, tuple[int, str]] | None = field(default_factory=dict, repr=False)
    """The question and the text of each response, by its id; None: ids tell nothing here."""

    @cached_property
    def address(self) -> Address:
        """Where it is."""
        return self.open()

    @cached_property
    def endpoint(self) -> Endpoint:
        """What speaks its dialect."""
        kind = AnthropicEndpoint if self.address.dialect == "anthropic" else OpenAIEndpoint
        return kind(self.address, self.model, self.patience.timeout)

    @cached_property
    def pace(self) -> Pace:
        """How fast it is asked."""
        return Pace(self.at_once, self.patience)

    @property
    def where(self) -> str:
        """What people call it."""
        return f"{self.model} at {self.address.shown}"

    @property
    def shown(self) -> tuple[str, str]:
        """The dialect, and the address as people know it; nothing is started for that."""
        if self.here:
            return "openai", self.here
        return self.address.dialect, self.address.shown

    def how(self, call: Call) -> str:
        """Return how it is asked, as far as the endpoint had a say in it."""
        if not self.manner.temperature:
            return "temperature not taken"
        return f"temperature {call.temperature:g}"

    def adapt(self, **changes: object) -> None:
        """Change how it is asked."""
        self.manner = replace(self.manner, **changes)  # type: ignore[arg-type]

    async def ask_together(
        self, calls: Sequence[Call], may_call: Callable[[], bool] | None = None
    ) -> list[Response]:
        """Return what comes back to calls that are of use only together, as `ask` does for one.

        All of them end, whatever becomes of one: none is left under way when this raises.
        """
        reservation = Reservation(self.budget, calls)
        sent = (self.ask(call, may_call, reservation) for call in calls)
        try:
            responses = await asyncio.gather(*sent, return_exceptions=True)
        finally:
            reservation.release()
        for response in responses:
            if isinstance(response, BaseException):
                raise response
        return [response for response in responses if isinstance(response, Response)]

    async def ask(
        self,
        call: Call,
        may_call: Callable[[], bool] | None = None,
        reservation: Reservation | None = None,
    ) -> Response:
        """Return what comes back to a call, within the budget and at the endpoint's pace.

        Raises NotOurs if `may_call`, which is asked each time it is sent, says no.
        """
        room = reservation or Reservation(self.budget, [call])

        async def send() -> Response:
            if may_call is not None and not await asyncio.to_thread(may_call):
                raise NotOurs
            reserved = room.take(call)
            try:
                response = await self.endpoint.ask(call, self.manner)
                self._check_model(response.model)
                missing = not response.listed and not response.reply.refused
                if call.top and "choose" in self.tried and missing:
                    raise Passing("log-probabilities are missing", paid=True)
                if call.echo and "likelihood" in self.tried and missing:
                    raise Passing("log-probabilities of the text are missing", paid=True)
            except Passing as trouble:
                if not trouble.paid:
                    self.budget.settle(reserved, None)
                raise
            self.budget.settle(reserved, response.reply)
            return self._marked(call, response)

        return await self.pace.call(self.where, send)

    def _check_model(self, named: str) -> None:
        """Look at who has answered: one stranger may be an accident, several in a row are not."""
        if not self.answers_as:
            return
        strange = self.model not in self.answers_as
        if strange and self.model in named and not self.answered:
            self.answers_as = named  # it was another one that was tried out
        self.answered |= named == self.answers_as
        if named == self.answers_as:
            self.strangers = 0
            return
        self.strangers += 1
        who = named or "nobody"
        if named and self.strangers >= STRANGERS:
            raise OtherModel(
                f"{self.where}: {who} answers now, and {self.answers_as} did before: a result of "
                "two models says nothing about either; to ask the new one, start with an empty "
                "cache (--cache FILE)"
            )
        raise Passing(f"{who} has answered, and {self.answers_as} before", paid=True)

    def _marked(self, call: Call, response: Response) -> Response:
        """Mark a reply that was sent before to the same question: its id and its text are the same.

        Ids that several questions share tell nothing, and are not looked at any more.
        """
        if not response.id or self.ids is None:
            return response
        question = hash(replace(call, seed=None))
        before = self.ids.get(response.id)
        if before is None:
            self.ids[response.id] = question, response.reply.text
        elif before[0] != question:
            self.ids = None
        elif before[1] == response.reply.text:
            return replace(response, reply=replace(response.reply, copied=True))
        return response
