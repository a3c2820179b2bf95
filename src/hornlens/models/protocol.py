"""What a model is to Hornlens: prompts and candidate words in, answers out, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from hornlens.errors import HornlensError
from hornlens.formats.replies import Reply
from hornlens.formats.sent import Sent
from hornlens.limits import Reason, Stopped

MASK = "[MASK]"
"""Stands in every prompt, once, where the candidate words go; a backend puts its own mask there."""


GO_ON = "; what was answered before is kept, run the same command to go on"
"""The end of an error after which the same command asks only what is missing."""
NOT_KEPT = "; what was answered before is lost, because there is no cache to keep it in"
"""The same, where answers are not kept."""


class ModelError(HornlensError):
    """A model that cannot be had, or that cannot answer what it is asked."""

    def promise_nothing(self) -> None:
        """Leave out that answers are kept: they are not."""
        first, *others = self.args or ("",)
        if isinstance(first, str) and first.endswith(GO_ON):
            self.args = (first.removesuffix(GO_ON) + NOT_KEPT, *others)


class OtherModel(ModelError):
    """Another model answers than has answered before."""


class SpendingReached(ModelError, Stopped):
    """What a run may take is used up: what was answered by then is kept.

    Whoever can end with a result catches it as Stopped; to everybody else it is an error.
    """

    def __init__(self, message: str, reason: Reason):
        """Say so, and which limit it was."""
        Exception.__init__(self, message, reason)
        self.reason: Reason = reason

    def __str__(self) -> str:
        """Return the message."""
        return str(self.args[0])


FirstWords = tuple[tuple[str, float], ...]
"""Words with their probabilities, the most probable first."""


class Answer(NamedTuple):
    """A model's raw answer to one prompt, in the order of the candidates.

    `scores` are natural log-probabilities. `ranks`, where the model has a vocabulary to rank, are
    the numbers of words that score higher than each candidate (0: it is the model's first choice).

    A model that gives no log-probabilities names a candidate: `named` is its place, and there are
    no scores. One that names none has an `outcome` instead: "refusal", "cut" (its reply was cut
    off), "unclear" (it names several, or one that it denies or merely mentions), "order" (another
    one in another order of the candidates), "tie", "other" (something else) or "none".

    What else a model can say is optional. `first` are the words, of its whole vocabulary, that it
    would itself put first in the mask's place: the five most probable. `share` is how much of its
    probability there the candidates hold together. `unknown` are the words of the prompt that it
    does not know, and so cannot tell from other such words. `replies` are those of a chat model
    that the answer rests on, `manner` the parameters that its endpoint took, as it wrote them down.
    """

    scores: tuple[float, ...] = ()
    ranks: tuple[int, ...] | None = None
    first: FirstWords = ()
    share: float | None = None
    unknown: tuple[str, ...] = ()
    outcome: str = ""
    replies: tuple[Reply, ...] = ()
    named: int | None = None
    manner: str = ""

    def as_choice(self) -> Answer:
        """Return it as that of a model that samples: what it names, or its best score, alone."""
        named, top = self.named, max(self.scores, default=0.0)
        if named is None and not self.outcome and self.scores.count(top) == 1:
            named = self.scores.index(top)
        outcome = self.outcome or ("tie" if named is None else "")
        return self._replace(scores=(), ranks=None, outcome=outcome, named=named)


@runtime_checkable
class Model(Protocol):
    """A model. Constructing one loads nothing; `check` loads it and `score` asks it."""

    name: str
    """How people call it: its spec."""

    def check(self, candidates: Sequence[str]) -> None:
        """Load the model; raise ModelError if it cannot be had or cannot score these words."""
        ...

    def identity(self) -> str | None:
        """Return what the answers depend on, beside prompt and candidates.

        Weights (revision or content hash), dtype, and the version of the scoring code: two models
        of one identity give the same answers. It is asked for before `check`, and loads nothing: a
        run whose answers are all known needs no more of a model than this. None: nothing tells the
        model from another one, so its answers are never kept.
        """
        ...

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer distinct prompts, a batch at a time: pairs of a prompt's index and its answer.

        Batches come in any order, each as soon as it is done; together they answer every prompt
        once.
        """
        ...


Remember = Callable[[Path, Callable[[Path], str]], str]
"""Returns a file's hash: by calling the function, or what that returned for this very file."""


@runtime_checkable
class HashesFiles(Protocol):
    """A model whose identity takes the hashes of large files."""

    remember: Remember
    """How it comes by them; whoever has a place to keep hashes in may replace it."""


@runtime_checkable
class CallsAhead(Protocol):
    """A model that has calls under way while its answers are taken, and begins new ones meanwhile.

    Other models make a call when their next batch is taken.
    """

    may_call: Callable[[], bool]
    """Asked before each call, in any thread; whoever shares the model's prompts with others may
    replace it. Where it says no, no further call is begun, and what is under way ends the answers.
    """


TOGETHER = 1 << 16
"""Prompts that a model which makes batches of them is given at most at once."""


@runtime_checkable
class Batched(Protocol):
    """A model whose scores depend, in their last digits, on which prompts are in a batch together.

    Whoever has others answer in its place has them answer the same batches.
    """

    def batches(self, prompts: Sequence[str], candidates: Sequence[str]) -> list[list[int]]:
        """Return the batches that `score` makes of prompts, by their indices.

        The prompts of one, scored by themselves in their order, are that batch again.
        """
        ...


ELICITATIONS = ("choose", "constrained", "say", "likelihood")
"""The ways in which a chat model can be made to name a candidate."""


ORDERS = ("rotate", "average", "once", "each")
"""What is made of the orders in which candidates are offered to a chat model."""


@dataclass(frozen=True)
class Elicitation:
    """What a probe says of how chat models are asked its questions; empty: as Hornlens does.

    `user` has {sentence}, where the sentence with its blank goes, and may have {options}.
    `patterns` are regular expressions that find a candidate in free text, by candidate.
    """

    method: str = ""
    system: str = ""
    user: str = ""
    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    longest: int = 0
    """How many bytes its longest candidate has, as JSON; 0: not known."""


@runtime_checkable
class Elicits(Protocol):
    """A model that can be asked in several ways, and whose replies are read to find the answer."""

    def asked_with(self, elicitation: Elicitation, repeat: int = 0, drawn: bool = False) -> Model:
        """Return the same model, asked a probe's way; of repeated questions, for this one.

        `drawn`: where answers have no log-probabilities, each is one sample.
        """
        ...

    def reread(self, answer: Answer, candidates: Sequence[str], prompt: str = "") -> Answer:
        """Return a kept answer, its replies read again: patterns may have changed since.

        It has the replies that it rests on, which may be some of those that were kept.
        """
        ...


@runtime_checkable
class ServedByOthers(Protocol):
    """A model whose answers are part of what is kept of others: those need not be asked again."""

    def served_by(self) -> Sequence[str]:
        """Return the identities of these; `reread` takes its own part of their answers."""
        ...


@runtime_checkable
class Shows(Protocol):
    """A model that can say what it is sent for a prompt."""

    def sent(self, prompt: str, candidates: Sequence[str], answer: Answer) -> Sent:
        """Return what was sent for a prompt, whose answer is given; loads and sends nothing.

        What is said here is made by the code that sends it.
        """
        ...


@runtime_checkable
class HasJudge(Protocol):
    """A model whose free replies another one reads, where they name no candidate for sure."""

    def judge(self) -> tuple[str, ModelOptions] | None:
        """Return the spec of the other one, and how it is asked; None: nobody reads them."""
        ...


@runtime_checkable
class HasWays(Protocol):
    """A model that may be told to answer in several ways, each a world of its own."""

    def ways(self, candidates: Sequence[str]) -> Mapping[str, Model]:
        """Return the model asked in each of them, by their names; empty: there is only one."""
        ...


@runtime_checkable
class Samples(Protocol):
    """A model of which an answer may be a sample: another one may name another candidate."""

    @property
    def sampled(self) -> bool:
        """Whether it is, as the model is asked; otherwise it has log-probabilities."""
        ...


class Estimate(NamedTuple):
    """What asking prompts takes: numbers of calls and tokens that are not exceeded."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None = None
    """None: no prices are known."""


@runtime_checkable
class Estimates(Protocol):
    """A model that is paid by the call or the token."""

    def estimate(self, prompts: Sequence[str], candidates: Sequence[str]) -> Estimate:
        """Return what answers to these take at most; nothing is sent."""
        ...


@runtime_checkable
class Rechecks(Protocol):
    """A model that may change while it is asked: behind an address, where nobody sees it."""

    def recheck_count(self, prompts: int) -> int:
        """Return how many of so many prompts are asked again at the end of a run."""
        ...


@dataclass
class Used:
    """What has been taken so far, what is under way included."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Calls whose replies do not say what they took: they count as the most that they could."""


@dataclass(frozen=True)
class Spending:
    """What may be taken at most, and what tokens cost: prices are for a million of them.

    All models that are given the same object, in one process, take from the same.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    used: Used = field(default_factory=Used, compare=False, repr=False)

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in (self.calls, self.tokens, self.cost))

    @property
    def note(self) -> str:
        """What people should know of the counts; empty: nothing."""
        count = self.used.uncounted
        if not count or (self.tokens is None and self.cost is None):
            return ""
        return (
            f"{count:,} {'reply does' if count == 1 else 'replies do'} not say how many tokens "
            "were used: each counts as the most that it could take, as in --dry-run"
        )


@runtime_checkable
class Rests(Protocol):
    """A model that keeps from others what they may need to answer."""

    def rest(self) -> None:
        """Give that up, for nothing is asked for a while. It may be asked again."""
        ...


@dataclass(frozen=True)
class ModelOptions:
    """How to run a model.

    Its answers depend on the dtype, and those of a chat model on the address and on how it is
    asked; on nothing else here.
    """

    batch_size: int | None = None
    """Prompts a batch; None: as many as go well."""
    device: str = "auto"
    dtype: str = "auto"
    threads: int | None = None
    """CPU threads; None: the backend's own choice."""
    base_url: str | None = None
    """Where a chat model is asked; None: its maker's address, or what the environment says."""
    elicit: str = "auto"
    """One of ELICITATIONS; auto: the probe's, or the first that the endpoint can do."""
    orders: str = "rotate"
    """One of ORDERS. Candidates are offered in several orders, and an answer that depends on the
    order is none (rotate), or orders are averaged (average), or each is a world of its own (each);
    or they are offered in one order only (once)."""
    temperature: float | None = None
    """None: 0 where the endpoint takes a temperature."""
    timeout: float = 120.0
    """Seconds that a call of an endpoint may take."""
    limits: Spending = field(default_factory=Spending)
    """What chat models may take."""
    recheck: int | None = None
    """How many prompts a chat model is asked again at the end; None: a sample, of long runs."""
    judge: str = ""
    """The spec of a chat model that reads free replies which name no candidate for sure."""
    judge_url: str | None = None
    """Where it is asked; None: its maker's address, or what the environment says."""
