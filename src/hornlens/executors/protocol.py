"""What an executor is: models and runs are values to it, answers and finished runs come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from hornlens.models.protocol import Model, ModelOptions
from hornlens.store.protocol import AnswerStore

Advance: TypeAlias = Callable[[int], None]
"""Is told how many more are done."""
OpenStore: TypeAlias = Callable[[], AnswerStore]
"""Opens the store of answers: a value that other processes can be given."""


class Task(Protocol):
    """A run as a value: what it does with its model is for the function that gets it."""

    @property
    def spec(self) -> str:
        """The model's spec."""
        ...

    @property
    def options(self) -> ModelOptions:
        """How the model is run."""
        ...

    @property
    def identity(self) -> str:
        """The model's identity, which was found out before."""
        ...


T = TypeVar("T", bound=Task)
R = TypeVar("R")
Work: TypeAlias = Callable[[T, Model, AnswerStore, Advance | None], R]
"""A function of a module: carries a task out with a model and a store, and returns a value.

It is told whom to tell of the prompts that are done; it writes nothing but into the store.
"""


class Executor(Protocol):
    """Carries out what others plan. Results do not depend on which executor there is.

    Every answer is in the store before it is used. What is killed, and where, costs at most what
    was under way: the same call goes on with the rest.
    """

    @property
    def where(self) -> str:
        """Where the work is done, for people: " on 3 nodes"; "" if that is here, or not known."""
        ...

    def model(self, spec: str, options: ModelOptions) -> Model:
        """Return the model of a spec, which answers where this executor has its models.

        Nothing is loaded yet.
        """
        ...

    def carry_out(
        self,
        work: Work[T, R],
        tasks: Sequence[T],
        open_store: OpenStore,
        advance: Advance | None = None,
    ) -> Iterator[tuple[T, R]]:
        """Carry tasks out; yield each with what its work returned, as soon as it has ended."""
        ...

    def close(self) -> None:
        """Let go of all processes; doing so twice is no error."""
        ...
