"""A chat model as a Model: prompts in, answers out, as they come."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from hornlens.formats.replies import Reply
from hornlens.formats.sent import Sent
from hornlens.models.chat import capabilities, memory
from hornlens.models.chat.budget import cost_of, most_of
from hornlens.models.chat.calls import Call, Manner
from hornlens.models.chat.connection import Connection
from hornlens.models.chat.elicitation import Asking, first_words
from hornlens.models.chat.judge import judge_options, most_of_judge
from hornlens.models.chat.loop import answers_to, wait_for
from hornlens.models.chat.showing import shown_calls
from hornlens.models.chat.wording import ONLY, keys, orders
from hornlens.models.checks import check_prompts, check_words
from hornlens.models.protocol import (
    ELICITATIONS,
    MASK,
    ORDERS,
    Answer,
    Elicitation,
    Estimate,
    Model,
    ModelError,
    ModelOptions,
    Remember,
)

Ask = Callable[[str], Awaitable[Answer]]
CHAT_KINDS = ("openai", "anthropic", "ollama", "gguf")
"""What may judge."""
NOT_SAID = "--judge reads free replies: use --elicit say"
VERSION = 1
"""Part of the identity: raised whenever the same question would get other replies.

Not whenever the same replies become other answers: they are kept as they are and read each time, so
nothing has to be paid for again.
"""


LONG = 300
"""From so many prompts on, some are asked again at the end."""


def usual_recheck(prompts: int) -> int:
    """Return how many of so many prompts are asked again, unless it is said: 2 %, 5 to 50.

    >>> [usual_recheck(n) for n in (299, 300, 1320, 10_000)]
    [0, 6, 26, 50]
    """
    return 0 if prompts < LONG else max(5, min(50, prompts // 50))


class ChatModel:
    """A model behind an endpoint. It is asked in one of several ways, which its identity names."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        options: ModelOptions | None = None,
        content: Callable[[Remember], str] | None = None,
        elicitation: Elicitation | None = None,
        repeat: int = 0,
        drawn: bool = False,
        shared: dict[tuple[object, ...], tuple[Reply, ...]] | None = None,
    ):
        """Keep the settings; nothing is sent yet.

        `content` names what answers, where that is better known than by its address. `drawn`: where
        there are no log-probabilities, an answer is one reply, sampled at a temperature (1 unless
        one is given), to the candidates in an order drawn by chance: so place counts for nothing.
        `shared` are the replies that models have in common which differ in the order that counts.
        """
        self.name, self.connection = name, connection
        self.options = options or ModelOptions()
        self.elicitation = elicitation or Elicitation()
        self.repeat, self._drawn, self._shared = repeat, drawn, shared
        self.remember: Remember = lambda path, compute: compute(path)
        self.may_call: Callable[[], bool] = lambda: True
        self._content = content or (lambda _: f"{connection.address.shown}:{connection.model}")
        self._check_options()

    def _check_options(self) -> None:
        options = self.options
        methods = options.elicit.split(",")
        if any(method not in ELICITATIONS for method in methods) and methods != ["auto"]:
            known = ", ".join(ELICITATIONS)
            raise ModelError(
                f"--elicit must be auto, or one or several of {known} with commas between them, "
                f"not {options.elicit!r}"
            )
        if options.orders not in ORDERS and ONLY not in options.orders:
            known = ", ".join(ORDERS)
            raise ModelError(f"--orders must be one of {known}, not {options.orders!r}")
        if options.recheck is not None and options.recheck < 0:
            raise ModelError(f"--recheck must be 0 or more, not {options.recheck}")
        if options.recheck and options.temperature:
            raise ModelError("--recheck needs temperature 0: above it, other answers are no wonder")
        if options.judge and options.judge.partition("/")[0] not in CHAT_KINDS:
            raise ModelError(f"--judge must be a chat model, not {options.judge!r}")
        if options.judge and not {"auto", "say"} & {*methods}:
            raise ModelError(NOT_SAID)
        if options.temperature is not None and not 0 <= options.temperature <= 2:
            raise ModelError(f"--temperature must be from 0 to 2, not {options.temperature:g}")

    def asked_with(self, elicitation: Elicitation, repeat: int = 0, drawn: bool = False) -> Model:
        """Return the same model, asked a probe's way; what it has found out is shared."""
        if drawn and self.options.temperature == 0:
            raise ModelError(
                "--repeats needs a temperature above 0: at 0, equal answers are not independent, "
                "and prove nothing; leave out --temperature"
            )
        own = (self.options, self._content, elicitation, repeat, drawn, self._shared)
        return ChatModel(self.name, self.connection, *own)

    def judge(self) -> tuple[str, ModelOptions] | None:
        """Return the model that reads free replies which name no candidate for sure."""
        if not self.options.judge:
            return None
        if self._asking().method != "say":
            raise ModelError(NOT_SAID)
        return self.options.judge, judge_options(self.options)

    def ways(self, candidates: Sequence[str]) -> dict[str, Model]:
        """Return the model asked by each of several methods, or in each order of the candidates."""
        options, models = self.options, dict[str, Model]()
        methods = list(dict.fromkeys(options.elicit.split(",")))
        shared: dict[tuple[object, ...], tuple[Reply, ...]] = {}
        for method in methods:
            ways = {method: "rotate" if options.orders == "each" else options.orders}
            if options.orders == "each" and method not in ("say", "likelihood"):
                ways = {
                    f"{method}, {candidates[order[0]]} first": f"{ONLY}{k}"
                    for k, order in enumerate(orders(candidates, "rotate"))
                }
            for name, order in ways.items():
                judge = options.judge if method == "say" else ""
                own = replace(options, elicit=method, orders=order, judge=judge)
                models[name] = ChatModel(
                    self.name, self.connection, own, self._content, shared=shared
                )
        return models if len(models) > 1 else {}

    @property
    def sampled(self) -> bool:
        """Whether answers have no log-probabilities, as it is asked."""
        return self._asking().method in ("constrained", "say")

    def _draws(self, method: str) -> bool:
        return self._drawn and method in ("constrained", "say")

    def _temperature(self, method: str) -> float:
        given = self.options.temperature
        return (1.0 if self._draws(method) else 0.0) if given is None else given

    def check(self, candidates: Sequence[str]) -> None:
        """Try out the way of asking; raise ModelError if the endpoint cannot do it."""
        check_words(self.name, candidates)
        method = self._asking().method
        if method == "choose" and len(keys(len(candidates))) < len(candidates):
            raise ModelError(
                f"{self.name}: choose takes {len(keys(99))} candidates at most, "
                f"not {len(candidates)}: use --elicit constrained"
            )
        if method in self.connection.tried:
            return
        self._check_chats(method)
        self._check_name()
        if not wait_for(capabilities.works(self.connection, method)):
            memory.forget(self._known_as)
            known = "; run the same command to find out what it can do now"
            if self._given:
                known = "; use --elicit auto, or another one of its ways"
            raise ModelError(f"{self.connection.where}: {capabilities.LACKS[method]}{known}")

    def identity(self) -> str:
        """Return what answers, how it is asked, and at what temperature; no key is in it.

        Where nobody has said how to ask, the endpoint is tried out for that, the first time.
        """
        return self._identity_of(self._asking())

    def _identity_of(self, asking: Asking) -> str:
        given = self.options.temperature
        temperature = "auto" if given is None else f"{given:g}"
        drawn = ":drawn" if asking.drawn else ""
        return f"chat-{VERSION}:{self._known_as}:{asking.identity}:temperature-{temperature}{drawn}"

    def served_by(self) -> Sequence[str]:
        """Return what has the answers in several orders: the one order is among these."""
        asking = self._asking()
        if asking.order != "once" or asking.drawn:
            return ()
        return (self._identity_of(replace(asking, order="rotate")),)

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer the prompts, many at a time, each as soon as its replies are there."""
        check_words(self.name, candidates)
        check_prompts(self.name, prompts)
        if prompts and self._asking().method not in self.connection.tried:
            self.check(candidates)
        words, asking, may_call = tuple(candidates), self._asking(), self.may_call

        async def ask(prompt: str) -> Answer:
            key = (asking.identity, self.repeat, prompt, words)
            if self._shared and (known := self._shared.get(key)):
                return self._concluded(asking, known, words, prompt)
            offered = self._offered(asking, words, prompt)
            calls = self._calls(asking, words, prompt, offered)
            responses = await self.connection.ask_together(calls, may_call)
            replies, first = [], []
            for order, call, response in zip(offered, calls, responses, strict=True):
                replies.append(asking.reply(response, order, words, self.connection.how(call)))
                first.append(first_words(response) if call.top else ())
            if self._shared is not None and ONLY in asking.order:
                self._shared[key] = tuple(replies)
            return self._concluded(asking, replies, words, prompt)._replace(first=first[0])

        return answers_to(prompts, self._marking(ask, asking, words), self.connection.at_once)

    def _concluded(
        self, asking: Asking, replies: Sequence[Reply], words: Sequence[str], prompt: str
    ) -> Answer:
        """Return the answer of the orders that count, with the replies in all that were asked.

        So what is kept serves whoever counts other orders.
        """
        every = tuple(asking.read(replies, words, prompt))
        return asking.answer(replies, words, prompt)._replace(replies=every)

    def reread(self, answer: Answer, candidates: Sequence[str], prompt: str = "") -> Answer:
        """Return a kept answer, its replies read again, by the patterns and the orders of now."""
        asking, words = self._asking(), tuple(candidates)
        if not answer.replies:  # an old one, of all orders: it says nothing of one of them
            alone = ONLY in asking.order and not asking.drawn
            return Answer(outcome="none") if alone else answer
        counted = asking.counted_orders(words)
        own = answer.replies[0].order in counted  # the words are those of the first reply
        reading = asking.answer(answer.replies, words, prompt)
        return reading._replace(first=answer.first if own else (), manner=answer.manner)

    def estimate(self, prompts: Sequence[str], candidates: Sequence[str]) -> Estimate:
        """Return the most that answers to these take; nothing is sent.

        Where the endpoint has not been tried out yet, it is taken for one that keeps to choices.
        """
        method = self._given or memory.recall(self._known_as) or "constrained"
        asking = self._with(method)
        most = [
            most_of(asking.call(prompt, candidates, order, 0))
            for prompt in prompts
            for order in self._counted(asking, candidates, prompt)
        ]
        if self.options.judge and method == "say":
            most += most_of_judge(asking, prompts, tuple(candidates))
        sent, replied = sum(m.tokens_in for m in most), sum(m.tokens_out for m in most)
        return Estimate(len(most), sent, replied, cost_of(self.options.limits, sent, replied))

    def _check_chats(self, method: str) -> None:
        """Raise ModelError for a model that is none to chat with; sentences can be scored."""
        if method != "likelihood" and (reason := self.connection.no_chat()):
            raise ModelError(reason)

    def recheck_count(self, prompts: int) -> int:
        """Return how many of so many prompts are asked again at the end of a run.

        At temperature 0 only: above it, other answers are no wonder. Unless a number is given, a
        sample of a long run, and not of a server on this machine.
        """
        given = self.options.recheck
        if self._drawn or self.options.temperature or given == 0:
            return 0
        if given is not None:
            return min(given, prompts)
        is_here = self.name.startswith("gguf/") or self.connection.address.is_here
        return 0 if is_here else usual_recheck(prompts)

    def _check_name(self) -> None:
        _ = self.connection.address  # here, for a server may have to be started
        wait_for(capabilities.check_name(self.connection))

    @property
    def _given(self) -> str:
        """The method, where somebody has said it."""
        asked_for = self.options.elicit
        return asked_for if asked_for != "auto" else self.elicitation.method

    @cached_property
    def _known_as(self) -> str:
        kind = self.name.partition("/")[0]
        return f"{kind}:{self._content(self.remember)}"

    def _asking(self) -> Asking:
        method = self._given or memory.recall(self._known_as)
        if not method:
            self._check_chats("auto")
            self._check_name()
            method = wait_for(capabilities.first_that_works(self.connection))
            memory.remember(self._known_as, method)
        return self._with(method)

    def _with(self, method: str) -> Asking:
        room = self.connection.rooms.get(method, 0)
        drawn = self._draws(method)
        return Asking(method, self.elicitation, self.options.orders, room, drawn)

    def _offered(self, asking: Asking, words: Sequence[str], prompt: str) -> list[tuple[int, ...]]:
        """Return the orders in which candidates are offered: all, or one drawn by chance."""
        orders = asking.orders(words)
        if not self._draws(asking.method) or len(orders) == 1:
            return orders
        return [orders[self._seed(prompt, ()) % len(orders)]]

    def _counted(self, asking: Asking, words: Sequence[str], prompt: str) -> list[tuple[int, ...]]:
        """Return the orders that this one pays for, where several share what is asked."""
        if asking.drawn:
            return self._offered(asking, words, prompt)
        return asking.counted_orders(words)

    def _seed(self, prompt: str, order: Sequence[int]) -> int:
        """Return a number of its own for each sample, the same in every run."""
        text = f"{self.repeat}\0{order}\0{prompt}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1

    def sent(self, prompt: str, candidates: Sequence[str], answer: Answer) -> Sent:
        """Return what was sent for a prompt: the bodies of its calls, made as they are for sending.

        The orders and the parameters are those that the answer was asked with.
        """
        words, asking, kept = tuple(candidates), self._asking(), Manner.read(answer.manner)
        manner = None if kept is None else kept[0]
        if kept is not None:
            asking = replace(asking, room=kept[1])
        orders = [reply.order for reply in answer.replies] or self._offered(asking, words, prompt)
        calls = self._calls(asking, words, prompt, orders)
        pairs = list(zip(orders, calls, strict=True))
        own = (self.name, self.connection, asking, words, prompt, pairs)
        return shown_calls(*own, manner=manner, drawn=self._draws(asking.method))

    def _calls(
        self, asking: Asking, words: Sequence[str], prompt: str, orders: Sequence[tuple[int, ...]]
    ) -> list[Call]:
        """Return the calls that a prompt takes, one for each order."""
        temperature = self._temperature(asking.method)
        return [
            asking.call(prompt, words, order, self._seed(prompt, order), temperature)
            for order in orders
        ]

    def _marking(self, ask: Ask, asking: Asking, words: Sequence[str]) -> Ask:
        """Return what asks the same, and marks answers with the parameters that they were got by.

        The room of a reply does not depend on the prompt.
        """
        room = asking.call(MASK, words, asking.orders(words)[0], 0).room

        async def marked(prompt: str) -> Answer:
            answer = await ask(prompt)
            return answer._replace(manner=self.connection.manner.written(room))

        return marked
