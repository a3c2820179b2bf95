"""What runs on the nodes of a cluster: a model in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.models.protocol import Answer, Batched, Model


class Loaded(NamedTuple):
    """A model that is ready: which one, of which version of us, and where."""

    identity: str | None
    version: str
    ip: str
    pid: int
    batched: bool
    """Whether it says itself which prompts it takes together."""


class Failure(NamedTuple):
    """What went wrong with the model itself; the process lives."""

    ip: str
    message: str
    kind: str = ""
    """The error's type; "" if it is a line for people."""


class ModelActor:
    """A model in a process of its own.

    What is wrong with the model is returned, not raised: so an error that Ray tells of is a death,
    or a node that cannot run us at all. For the same reason nothing is loaded in the constructor.
    """

    def __init__(self, open_it: Callable[[], Model]):
        """Keep how the model is opened."""
        self._open = open_it
        self._model: Model | None = None
        self._checked: set[tuple[str, ...]] = set()

    def load(self, candidates: Sequence[str]) -> Loaded | Failure:
        """Load the model, and see that it can score these words."""
        try:
            model = self._checked_for(candidates)
            return Loaded(
                model.identity(), __version__, _ip(), os.getpid(), isinstance(model, Batched)
            )
        except Exception as error:
            return _failure(error)

    def batches(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> list[list[int]] | Failure:
        """Return the batches that the model makes of prompts."""
        try:
            model = self._checked_for(candidates)
            assert isinstance(model, Batched)
            return model.batches(prompts, candidates)
        except Exception as error:
            return _failure(error)

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str], sizes: Sequence[int] = ()
    ) -> list[Answer] | Failure:
        """Return the answer to each prompt, in order; they are given in batches of some sizes."""
        answers: dict[int, Answer] = {}
        start = 0
        try:
            model = self._checked_for(candidates)
            for size in sizes or (len(prompts),):
                for batch in model.score(prompts[start : start + size], candidates):
                    answers.update((start + index, answer) for index, answer in batch)
                start += size
        except Exception as error:
            return _failure(error)
        left_out = next((p for i, p in enumerate(prompts) if i not in answers), None)
        if left_out is not None:
            return Failure(_ip(), f"model {model.name} gave no answer to {left_out!r}")
        return [answers[i] for i in range(len(prompts))]

    def _checked_for(self, candidates: Sequence[str]) -> Model:
        if self._model is None:
            self._model = self._open()
        if tuple(candidates) not in self._checked:
            self._model.check(candidates)
            self._checked.add(tuple(candidates))
        return self._model


def _ip() -> str:
    import ray

    return str(ray.util.get_node_ip_address())


def _failure(error: Exception) -> Failure:
    if isinstance(error, HornlensError):
        return Failure(_ip(), str(error))
    return Failure(_ip(), " ".join(str(error).split())[:300], type(error).__name__)
