"""Driving runs on a cluster: their questions are answered from one store, by shared models."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.executors.blocks import NO_ANSWERS
from hornlens.executors.cluster import TICK
from hornlens.executors.protocol import Advance, R, T, Work
from hornlens.executors.remote_runs import Broken, Finished, RunActor, RunQuestion, RunReply
from hornlens.logging import get_logger
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers, as_kept

if TYPE_CHECKING:
    from hornlens.executors.pool import Pool
    from hornlens.executors.ray import PooledModel, RayExecutor
    from hornlens.models.protocol import Answer, ModelOptions

LOOK_AGAIN = 0.25
"""Seconds after which one looks again whether another driver has answered what it is asking."""
REST = 3.0
"""Seconds of waiting for others alone, after which they may be waiting for our models' room."""
DEATHS = 10
"""How often a run may be lost with the process or the node that it is on."""
_log = get_logger(__name__)


class _Key(NamedTuple):
    """What answers belong to: a model, words, a repetition."""

    spec: str
    options: ModelOptions
    candidates: tuple[str, ...]
    repeat: int


@dataclass(eq=False)
class _Run(Generic[T]):
    """A run that is under way, or waits for a process."""

    task: T
    actor: Any = None
    ref: Any = None
    """What it will say next; None while it waits for an answer."""
    question: RunQuestion | None = None
    missing: set[str] = field(default_factory=set)
    new: frozenset[str] = frozenset()
    deaths: int = 0
    done: int = 0
    """How many prompts it has had since it was begun, for the last time, and ever."""
    reported: int = 0


class Driver(Generic[T, R]):
    """Carries tasks out on a cluster: each run on some node, asking here for every answer.

    The store is written from here only, and before an answer is used. No prompt is asked twice,
    however many runs want it, nor what another driver of the same store is asking. A run that is
    lost begins anew, with all its answers known.
    """

    def __init__(
        self,
        executor: RayExecutor,
        work: Work[T, R],
        tasks: Sequence[T],
        store: AnswerStore,
        advance: Advance | None,
    ):
        """Begin with nothing under way."""
        self._executor, self._cluster = executor, executor.cluster
        self._work, self._store, self._advance = work, store, advance
        self._queue = deque(_Run(task) for task in tasks)
        self._active: list[_Run[T]] = []
        self._free: list[Any] = []
        self._models: dict[tuple[str, ModelOptions], PooledModel] = {}
        self._answers: dict[_Key, Answers] = {}
        self._asked: dict[_Key, set[str]] = {}
        """What is being asked."""
        self._elsewhere: dict[_Key, set[str]] = {}
        """What another driver is asking."""
        self._looked = 0.0
        self._busy = time.monotonic()
        """When something was being asked here last."""

    def results(self) -> Iterator[tuple[T, R]]:
        """Yield each task with what its work returned."""
        while self._queue or self._active:
            self._begin()
            self._give_up_what_was_lost()
            pools = self._pools()
            for pool in pools:
                pool.fill()
            saying = {run.ref: run for run in self._active if run.ref is not None}
            refs = [*saying, *(ref for pool in pools for ref in pool.refs)]
            if not refs:
                time.sleep(LOOK_AGAIN)
            done = self._cluster.ready(refs, LOOK_AGAIN if any(self._elsewhere.values()) else TICK)
            self._look_again()
            for pool in pools:
                for block, answers in pool.take(done):
                    by_prompt = dict(zip(block.prompts, answers, strict=True))
                    self._answered(block.question, by_prompt)
            for ref in done:
                if ref in saying:
                    yield from self._receive(saying[ref])
        for actor in self._free:
            self._cluster.ray.kill(actor)

    def _begin(self) -> None:
        """Send out as many runs as there may be."""
        jobs = self._executor.jobs or max(
            1, int(sum(node.resources.get("CPU", 0) for node in self._cluster.nodes()))
        )
        while self._queue and len(self._active) < jobs:
            run = self._queue.popleft()
            run.actor = self._free.pop() if self._free else self._actor()
            run.ref = run.actor.begin.remote(self._work, run.task, self._model(run.task).name)
            run.done = 0
            self._active.append(run)

    def _actor(self) -> Any:
        # It claims no CPU: models may hold all of them, and would wait for runs that wait for them.
        remote = self._cluster.ray.remote(RunActor).options(
            num_cpus=0, max_restarts=0, scheduling_strategy="SPREAD"
        )
        return remote.remote(__version__)

    def _model(self, task: T) -> PooledModel:
        key = (task.spec, task.options)
        if key not in self._models:
            self._models[key] = self._executor.model(*key)
        return self._models[key]

    def _pools(self) -> list[Pool]:
        return [
            self._executor.pool(self._models[key])
            for key in {key[:2] for key, prompts in self._asked.items() if prompts}
        ]

    def _receive(self, run: _Run[T]) -> Iterator[tuple[T, R]]:
        """Handle the next message of a run: a question, its end, or its death."""
        from ray.exceptions import RayError

        ref, run.ref = run.ref, None
        try:
            event = self._cluster.ray.get(ref)
        except RayError as error:
            self._lost(run, error)
            return
        if isinstance(event, Broken):
            raise (HornlensError if event.for_people else RuntimeError)(event.message)
        if isinstance(event, RunQuestion) and event.is_one:
            self._ask(run, event)
            return
        if not isinstance(event, Finished):
            raise HornlensError(NO_ANSWERS.format("a question or the end of a run"))
        self._active.remove(run)
        self._free.append(run.actor)
        key = (run.task.spec, run.task.options)
        if all((r.task.spec, r.task.options) != key for r in (*self._active, *self._queue)):
            self._executor.drop(self._model(run.task))  # others may need the room
        yield run.task, event.value

    def _lost(self, run: _Run[T], error: Exception) -> None:
        """Put a run that is lost to the front."""
        if getattr(error, "_actor_init_failed", False):
            reason = str(error).strip().splitlines()[-1]
            raise HornlensError(
                f"a node cannot run hornlens {__version__}: {reason}; install it there"
            )
        run.deaths += 1
        if run.deaths >= DEATHS:
            raise HornlensError(f"a run was lost {DEATHS} times, last by: {_line(error)}")
        message = "a run was lost with its process or node; it begins anew"
        _log.warning("%s", message)
        self._cluster.warn(message)
        self._cluster.ray.kill(run.actor)
        self._active.remove(run)
        self._queue.appendleft(run)

    def _ask(self, run: _Run[T], question: RunQuestion) -> None:
        """Answer a run's question as soon as that can be done."""
        task = run.task
        key = _Key(task.spec, task.options, question.candidates, question.repeat)
        if key not in self._answers:
            self._answers[key] = Answers(
                self._model(task), question.candidates, self._store, question.repeat
            )
            self._answers[key].trust(task.identity)
        answers = self._answers[key]
        missing = answers.look_up([p for p in question.prompts if p not in answers.known])
        run.question, run.missing, run.new = question, set(missing), frozenset()
        if not missing:
            self._reply(run, key)
            return
        under_way = self._asked.setdefault(key, set()) | self._elsewhere.setdefault(key, set())
        self._claim(key, [prompt for prompt in missing if prompt not in under_way])

    def _claim(self, key: _Key, prompts: Sequence[str]) -> None:
        """Ask the model what nobody else is asking; note the rest."""
        if not prompts:
            return
        asked = self._asked[key]
        # What is claimed takes the place of what was: so all that is under way is claimed again.
        mine = set(self._answers[key].claim([*asked, *prompts]))
        new = [prompt for prompt in prompts if prompt in mine]
        self._elsewhere[key] |= {prompt for prompt in prompts if prompt not in mine}
        if not new:
            return
        asked.update(new)
        self._executor.pool(self._models[key[:2]]).submit(new, key.candidates, key)
        for prompt in new:
            # Whoever waits for it counts it as asked: the first, if there are several.
            run = next((run for run in self._waiting(key) if prompt in run.missing), None)
            if run is not None:
                run.new |= {prompt}

    def _give_up_what_was_lost(self) -> None:
        """Send out nothing that another driver has taken over, while this one was stopped."""
        for key, prompts in self._asked.items():
            if prompts and not self._answers[key].still_claimed():
                withdrawn = self._executor.pool(self._models[key[:2]]).withdraw(key)
                prompts -= withdrawn
                self._elsewhere[key] |= withdrawn
                # What replicas are at is claimed again, unless others are at it by now.
                self._answers[key].claim([*prompts])

    def _look_again(self) -> None:
        """Take what other drivers have answered; ask what they have given up."""
        if time.monotonic() - self._looked < LOOK_AGAIN:
            return
        self._looked = time.monotonic()
        for key, prompts in self._elsewhere.items():
            if prompts:
                unanswered = self._answers[key].look_up(sorted(prompts))
                self._elsewhere[key] = set()
                self._settle(key, prompts.difference(unanswered))
                self._claim(key, unanswered)
        if any(self._asked.values()):
            self._busy = self._looked
        elif self._looked - self._busy > REST and any(self._elsewhere.values()):
            for model in self._models.values():
                model.rest()
            self._busy = self._looked

    def _answered(self, key: Any, answers: dict[str, Answer]) -> None:
        """Write answers down; reply to those who waited for them."""
        self._answers[key].take(answers)
        self._asked[key] -= answers.keys()
        if not self._asked[key]:
            self._answers[key].release()
        self._settle(key, answers)

    def _settle(self, key: _Key, known: Collection[str]) -> None:
        """Reply to those who waited for nothing else."""
        for run in self._waiting(key):
            run.missing.difference_update(known)
            if not run.missing:
                self._reply(run, key)

    def _waiting(self, key: _Key) -> list[_Run[T]]:
        """Return the runs that wait for answers of a kind."""
        return [
            run
            for run in self._active
            if run.question is not None
            and key
            == _Key(run.task.spec, run.task.options, run.question.candidates, run.question.repeat)
        ]

    def _reply(self, run: _Run[T], key: _Key) -> None:
        assert run.question is not None
        known, prompts = self._answers[key].known, run.question.prompts
        reply = RunReply({prompt: as_kept(known[prompt]) for prompt in prompts}, run.new)
        run.question, run.ref = None, run.actor.go_on.remote(reply)
        run.done += len(prompts)
        if self._advance is not None and run.done > run.reported:
            self._advance(run.done - run.reported)
        run.reported = max(run.reported, run.done)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
