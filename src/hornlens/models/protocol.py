"""What a model is to Hornlens: prompts and candidate words in, scores out, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from hornlens.errors import HornlensError

MASK = "[MASK]"
"""Stands in every prompt, once, where the candidate words go; a backend puts its own mask there."""


class ModelError(HornlensError):
    """A model that cannot be had, or that cannot answer what it is asked."""


FirstWords = tuple[tuple[str, float], ...]
"""Words with their probabilities, the most probable first."""


class Answer(NamedTuple):
    """A model's raw answer to one prompt, in the order of the candidates.

    `scores` are natural log-probabilities. `ranks`, where the model has a vocabulary to rank, are
    the numbers of words that score higher than each candidate (0: it is the model's first choice).

    What else a model can say is optional. `first` are the words, of its whole vocabulary, that it
    would itself put first in the mask's place: the five most probable. `share` is how much of its
    probability there the candidates hold together. `unknown` are the words of the prompt that it
    does not know, and so cannot tell from other such words.
    """

    scores: tuple[float, ...]
    ranks: tuple[int, ...] | None = None
    first: FirstWords = ()
    share: float | None = None
    unknown: tuple[str, ...] = ()


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
class Rests(Protocol):
    """A model that keeps from others what they may need to answer."""

    def rest(self) -> None:
        """Give that up, for nothing is asked for a while. It may be asked again."""
        ...


@dataclass(frozen=True)
class ModelOptions:
    """How to run a model: what does not change its answers, but for the dtype."""

    batch_size: int | None = None
    """Prompts a batch; None: as many as go well."""
    device: str = "auto"
    dtype: str = "auto"
    threads: int | None = None
    """CPU threads; None: the backend's own choice."""
