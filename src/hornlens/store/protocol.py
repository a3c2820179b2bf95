"""What a store of answers is: raw scores under all that they depend on, and hashes of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable


class Scores(NamedTuple):
    """An answer as it is kept."""

    scores: tuple[float, ...]
    """One for each candidate; empty: the model gave none."""
    ranks: tuple[int, ...] | None = None
    """Where the model has them."""
    details: str | None = None
    """What else is known of it, as a text that a store need not understand; None: nothing."""


@runtime_checkable
class AnswerStore(Protocol):
    """Keeps answers for good. Several processes may use one at the same time.

    An answer belongs to a model's identity, a prompt, the candidate words in their order, and the
    index of the repetition. What is recorded first counts: a later answer to the same never
    replaces it, so everybody who asks the store uses the same one.
    """

    def get(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> dict[str, Scores]:
        """Return the answers that are known, by prompt, as they were put, to the last bit."""
        ...

    def put(
        self,
        identity: str,
        name: str,
        answers: Iterable[tuple[str, Scores]],
        candidates: Sequence[str],
        repeat: int = 0,
    ) -> None:
        """Record answers, all or none; what is there already stays. `name` is for people.

        When it returns, they are there for every other user of the store, and after a crash.
        """
        ...

    def knows(self, identity: str, candidates: Sequence[str]) -> bool:
        """Say whether there are any answers of a model about these candidates."""
        ...

    def hash_of(self, path: Path, compute: Callable[[Path], str]) -> str:
        """Return `compute(path)`, or what it returned before if the file is the same still."""
        ...

    def close(self) -> None:
        """Let go of it; doing so twice is no error."""
        ...


class CachedModel(NamedTuple):
    """A line of `hornlens cache list`."""

    name: str
    identity: str
    answers: int
    last_written: float


@runtime_checkable
class SharedStore(AnswerStore, Protocol):
    """A store through which several processes ask one model, and each prompt only once.

    Whoever is to ask claims first, asks what it was given, puts the answers and releases; it waits
    for the rest, by `get` and `claim` again, only while it has claimed nothing itself. So nobody
    waits for somebody who waits. A store without this is used all the same; processes that ask at
    the same time may then ask the same, and use what was recorded first.
    """

    def claim(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> list[str]:
        """Return those of the prompts that are now this one's to ask, in their order.

        They have no answer yet, and nobody else has claimed them who is still at work. A claim
        holds until it is released or the store is closed. If its process ends without either, it
        ends soon after. A store has one claim at a time of a model's answers about candidates in a
        repetition; the next takes its place.
        """
        ...

    def release(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> None:
        """Give up what was claimed; what has no answer may be claimed by others at once."""
        ...


@runtime_checkable
class LeasingStore(SharedStore, Protocol):
    """A shared store whose claims run out when their process has given no sign of life for long.

    A process may be stopped for longer than that, or its machine may sleep. So whoever has claimed
    something asks before each call of the model whether it is still for this one to ask.
    """

    def renew(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> bool:
        """Say whether all that was claimed is still this one's; if so, put its end off.

        If not, nothing more is asked before it was claimed again. Any thread may call this.
        """
        ...


@runtime_checkable
class ManagedStore(LeasingStore, Protocol):
    """A store that people name on a command line, look into, and clear."""

    @property
    def place(self) -> str:
        """What names it to other processes, as `store.opening.open_store` takes it."""
        ...

    @property
    def shown(self) -> str:
        """The place, for people: never with anything secret in it."""
        ...

    def models(self) -> list[CachedModel]:
        """Return what is kept, by model, the latest first."""
        ...

    def prune(self, older_than: float | None = None, model: str | None = None) -> int:
        """Remove answers written before a time, or of models by name; return how many."""
        ...
