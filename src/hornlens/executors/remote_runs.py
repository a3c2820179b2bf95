"""A run on another machine: it has no model and no store there, and asks its driver for answers."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.executors.protocol import Task, Work
from hornlens.models.protocol import Answer
from hornlens.store.protocol import Scores
from hornlens.targets.answers import from_kept


class RunQuestion(NamedTuple):
    """What a run wants to know, all at once."""

    prompts: Sequence[str]
    candidates: tuple[str, ...]
    repeat: int

    @property
    def is_one(self) -> bool:
        """Whether it has the form of a question: it comes from another machine."""
        lists = (self.prompts, self.candidates)
        texts = [text for row in lists if isinstance(row, list | tuple) for text in row]
        return (
            all(isinstance(row, list | tuple) for row in lists)
            and all(isinstance(text, str) for text in texts)
            and type(self.repeat) is int
        )


class RunReply(NamedTuple):
    """The answers, as they are in the driver's store; those to `new` the model gave just now."""

    answers: Mapping[str, Scores]
    new: frozenset[str]


class Finished(NamedTuple):
    """What the work returned."""

    value: Any


class Broken(NamedTuple):
    """Why a run came to no end: a line for people, or else a traceback."""

    message: str
    for_people: bool


class RunActor:
    """Carries runs out, one after the other, and answers each call by what the run wants next."""

    def __init__(self, version: str):
        """Take the driver's version."""
        self._version = version
        self._outbox: SimpleQueue[RunQuestion | Finished | Broken] = SimpleQueue()
        self._inbox: SimpleQueue[RunReply] = SimpleQueue()

    def begin(
        self, work: Work[Task, Any], task: Task, name: str
    ) -> RunQuestion | Finished | Broken:
        """Begin a run, with a model of this name; return its first question, or its end."""
        if self._version != __version__:
            import ray

            return Broken(
                f"node {ray.util.get_node_ip_address()} has hornlens {__version__}, and the driver "
                f"{self._version}: install the same on all nodes",
                True,
            )
        threading.Thread(target=self._run, args=(work, task, name), daemon=True).start()
        return self._outbox.get()

    def go_on(self, reply: RunReply) -> RunQuestion | Finished | Broken:
        """Answer the last question; return the next one, or the end."""
        self._inbox.put(reply)
        return self._outbox.get()

    def _run(self, work: Work[Task, Any], task: Task, name: str) -> None:
        driver = _Driver(self._ask, task.identity, name)
        try:
            self._outbox.put(Finished(work(task, driver, driver, None)))
        except HornlensError as error:
            self._outbox.put(Broken(str(error), True))
        except BaseException:
            self._outbox.put(Broken(traceback.format_exc(), False))

    def _ask(self, question: RunQuestion) -> RunReply:
        self._outbox.put(question)
        return self._inbox.get()


class _Driver:
    """The driver as a run sees it: its store, and behind it its model.

    Whatever is looked up in the store, the driver finds out; what it had to ask the model for is
    then not in the store yet, so that the run asks the model and counts as it would anywhere.
    """

    def __init__(self, ask: Callable[[RunQuestion], RunReply], identity: str, name: str):
        self.name = name
        self._ask, self._identity = ask, identity
        self._known: dict[tuple[tuple[str, ...], int], dict[str, Scores]] = {}
        self._new: dict[str, Scores] = {}
        """What the model has said since the store was looked into last."""

    # As a model.

    def check(self, candidates: Sequence[str]) -> None:
        """Do nothing: the driver has checked."""

    def identity(self) -> str:
        """Return what the driver found out."""
        return self._identity

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Return what the model said."""
        yield [(i, from_kept(self._new[prompt])) for i, prompt in enumerate(prompts)]

    # As a store.

    def get(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> dict[str, Scores]:
        """Ask the driver for what is not known here; return what it had in its store."""
        words = tuple(candidates)
        known = self._known.setdefault((words, repeat), {})
        missing = [prompt for prompt in prompts if prompt not in known]
        if missing:
            reply = self._ask(RunQuestion(missing, words, repeat))
            self._new = {prompt: reply.answers[prompt] for prompt in reply.new}
            known.update((p, kept) for p, kept in reply.answers.items() if p not in reply.new)
        return {prompt: known[prompt] for prompt in prompts if prompt in known}

    def put(
        self,
        identity: str,
        name: str,
        answers: Iterable[tuple[str, Scores]],
        candidates: Sequence[str],
        repeat: int = 0,
    ) -> None:
        """Keep what the driver has written down already."""
        self._known.setdefault((tuple(candidates), repeat), {}).update(answers)

    def knows(self, identity: str, candidates: Sequence[str]) -> bool:
        """Say yes: there is nothing to load here."""
        return True

    def hash_of(self, path: Path, compute: Callable[[Path], str]) -> str:
        """Compute it."""
        return compute(path)

    def close(self) -> None:
        """Do nothing."""
