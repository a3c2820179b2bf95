"""Replicas of a model on a cluster: prompts go out in blocks, and the dead are replaced."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.executors.actors import Failure, Loaded, ModelActor
from hornlens.executors.blocks import (
    BLOCK,
    NO_ANSWERS,
    SMALLEST,
    Block,
    Bundle,
    are_answers,
    are_batches,
    cut,
    packed,
)
from hornlens.executors.cluster import Cluster, Needs
from hornlens.logging import get_logger
from hornlens.models.protocol import GO_ON, TOGETHER, Answer, Model, ModelError

IN_FLIGHT = 2
"""Blocks that a replica has at a time: one at work, and one so that it need not wait for us."""
PLENTY = 2 * IN_FLIGHT
"""Blocks for each replica, after which no more are cut."""
DEATHS = 4
"""How often a process may die over the same block, or before it has loaded its model."""
LOOK_AGAIN = 2.0
"""Seconds after which nodes are counted again."""
_log = get_logger(__name__)


@dataclass(eq=False)
class _Replica:
    actor: Any
    placed: Any = None
    """Done as soon as there is a place for it, where it then loads its model."""
    loading: Any = None
    words: tuple[str, ...] = ()
    """What it is being asked whether it can score."""
    about: Loaded | None = None
    flight: dict[Any, Block] = field(default_factory=dict)
    """The blocks that it has, in the order in which it takes them."""
    planning: tuple[Any, Bundle] | None = None
    """What it is asked how it would put into batches."""


class Pool:
    """Replicas of one model.

    `submit` prompts; then, until nothing is left, `fill` the pool, wait for one of `refs`, and
    `take` what is done. Every prompt is answered once; only what a replica had at work when it died
    is asked again, and given up when it has killed several.
    """

    def __init__(
        self,
        cluster: Cluster,
        name: str,
        open_it: Callable[[], Model],
        identity: str | None,
        needs: Needs,
        block: int = BLOCK,
        make_room: Callable[[bool], None] = lambda urgent: None,
    ):
        """Begin without a replica. `open_it` is called on the nodes, `identity` is the driver's.

        `make_room` is called now and then while there is no place for a replica; it is told whether
        there is none for any.
        """
        self.cluster, self.name, self.identity, self.needs = cluster, name, identity, needs
        self._open_it, self._block, self._make_room = open_it, block, make_room
        self._uncut: deque[Bundle] = deque()
        self._queue: deque[Block] = deque()
        self._replicas: list[_Replica] = []
        self._saved: list[tuple[Block, list[Answer]]] = []
        """What replicas had done when they died."""
        self._words: tuple[str, ...] = ()
        self._checked: set[tuple[str, ...]] = set()
        self._stillborn = 0
        self._room, self._counted, self._complained = 0, -LOOK_AGAIN, False
        self._used = time.monotonic()

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done, or being done."""
        waiting = self._uncut or self._queue or self._saved
        return not (waiting or any(r.flight or r.planning for r in self._replicas))

    @property
    def rested(self) -> float:
        """For how many seconds there has been nothing to do."""
        return time.monotonic() - self._used if self.idle else 0.0

    @property
    def refs(self) -> list[Any]:
        """What to wait for."""
        loading = [r.loading for r in self._replicas if r.loading is not None]
        planning = [r.planning[0] for r in self._replicas if r.planning is not None]
        return loading + planning + [ref for replica in self._replicas for ref in replica.flight]

    def check(self, candidates: tuple[str, ...]) -> None:
        """Return when a replica has loaded the model and can score these words."""
        self._words = candidates
        for replica in self._replicas:
            if replica.about is not None and replica.loading is None:
                self._load(replica)
                break
        while candidates not in self._checked:
            self.fill(least=1)
            self._saved = self.take(self.cluster.ready(self.refs))

    def submit(
        self, prompts: Sequence[str], candidates: tuple[str, ...], question: Hashable = None
    ) -> None:
        """Have prompts answered."""
        self._words = candidates
        for start in range(0, len(prompts), TOGETHER):
            self._uncut.append(Bundle(prompts[start : start + TOGETHER], candidates, question))

    def withdraw(self, question: Hashable) -> set[str]:
        """Forget what was submitted for a question and has not gone out yet; return the prompts.

        What a replica has, it answers.
        """
        queues: tuple[deque[Any], ...] = (self._uncut, self._queue)
        withdrawn: set[str] = set()
        for queue in queues:
            for work in [work for work in queue if work.question == question]:
                queue.remove(work)
                withdrawn.update(work.prompts)
        for replica in self._replicas:
            if replica.planning is not None and replica.planning[1].question == question:
                ref, bundle = replica.planning
                withdrawn.update(bundle.prompts)
                replica.planning = (ref, replace(bundle, prompts=()))
        return withdrawn

    def answers(self) -> Iterator[tuple[Block, list[Answer]]]:
        """Yield every block with its answers, in any order, until nothing is left."""
        while not self.idle:
            self.fill()
            yield from self.take(self.cluster.ready(self.refs))

    def fill(self, least: int = 0) -> None:
        """Begin as many replicas as there is room and work for; hand out blocks."""
        self._used = time.monotonic()
        uncut = [*self._uncut, *(r.planning[1] for r in self._replicas if r.planning)]
        work = len(self._queue) + sum(len(r.flight) for r in self._replicas)
        work += sum(ceil(len(bundle.prompts) / min(SMALLEST, self._block)) for bundle in uncut)
        wanted = min(max(work, least), self._limit())
        while len(self._replicas) < wanted:
            self._begin()
        ready = [r for r in self._replicas if r.about is not None]
        self._cut(ready)
        for depth in range(IN_FLIGHT):
            # A second block only while there is plenty: the last ones go to whoever is free.
            for replica in ready:
                if len(replica.flight) == depth and len(self._queue) > depth * len(ready):
                    block = self._queue.popleft()
                    ref = replica.actor.score.remote(block.prompts, block.candidates, block.sizes)
                    replica.flight[ref] = block

    def _cut(self, ready: Sequence[_Replica]) -> None:
        """Have blocks for a while; a model whose batches matter is asked for them first."""
        while self._uncut and ready and len(self._queue) < PLENTY * len(ready):
            if not (ready[0].about and ready[0].about.batched):
                self._queue += cut(self._uncut.popleft(), self._block, self._limit())
                continue
            if not any(replica.planning for replica in ready):
                least = min(ready, key=lambda replica: len(replica.flight))
                bundle = self._uncut.popleft()
                ref = least.actor.batches.remote(bundle.prompts, bundle.candidates)
                least.planning = (ref, bundle)
            return

    def take(self, done: Iterable[Any]) -> list[tuple[Block, list[Answer]]]:
        """Return the blocks that are done, with their answers; `done` may name others' refs too."""
        answered, self._saved = self._saved, []
        wanted = set(done)
        for replica in list(self._replicas):
            plan = replica.planning[0] if replica.planning is not None else None
            mine = [ref for ref in (replica.loading, plan, *replica.flight) if ref in wanted]
            for ref in mine:
                value = self._value(ref)
                if isinstance(value, Exception):
                    answered += self._bury(replica, value)
                    break
                if ref is replica.loading:
                    self._loaded(replica, value)
                elif ref is plan:
                    self._planned(replica, value)
                else:
                    block = replica.flight.pop(ref)
                    answered.append((block, self._answered(block, value)))
        return answered

    def close(self) -> None:
        """End all replicas; what was not answered is forgotten."""
        for replica in self._replicas:
            self.cluster.ray.kill(replica.actor)
        self._replicas, self._saved = [], []
        self._queue.clear()
        self._uncut.clear()

    def _limit(self) -> int:
        """Return how many replicas there may be now."""
        if time.monotonic() - self._counted >= LOOK_AGAIN:
            nodes = self.cluster.nodes()
            self._room, self._counted = sum(n.room(self.needs) for n in nodes), time.monotonic()
            placed = [self._is_placed(replica) for replica in self._replicas]
            if not all(placed):
                self._make_room(not any(placed))
            if self._room == 0 and not self._replicas:
                most = ", ".join(
                    f"{max((n.resources.get(what, 0.0) for n in nodes), default=0.0):g} {what}s"
                    for what in ("CPU", "GPU")
                )
                lack = f"no node has {self.needs} for model {self.name} (the most are {most})"
                if self.needs.replicas is None and not self._checked:
                    raise HornlensError(f"{lack}: lower --model-cpus or --model-gpus")
                if not self._complained:
                    self.cluster.warn(f"{lack}; waiting for one")
                self._complained = True
        return self.needs.replicas or self._room

    def _begin(self) -> None:
        remote = self.cluster.ray.remote(ModelActor).options(
            num_cpus=self.needs.cpus,
            num_gpus=self.needs.gpus,
            max_restarts=0,  # what a dead one had is ours to give to others
            scheduling_strategy="SPREAD",
        )
        replica = _Replica(remote.remote(self._open_it))
        replica.placed = replica.actor.__ray_ready__.remote()
        self._load(replica)
        self._replicas.append(replica)

    def _is_placed(self, replica: _Replica) -> bool:
        return replica.about is not None or bool(self.cluster.ready([replica.placed], 0))

    def _load(self, replica: _Replica) -> None:
        replica.words = self._words
        replica.loading = replica.actor.load.remote(self._words)

    def _loaded(self, replica: _Replica, value: Loaded | Failure) -> None:
        if isinstance(value, Failure):
            raise ModelError(self._in_a_line(value, loading=True))
        if not isinstance(value, Loaded):
            raise HornlensError(NO_ANSWERS.format(f"whether model {self.name} was loaded"))
        if value.version != __version__:
            raise HornlensError(
                f"node {value.ip} has hornlens {value.version}, and this is {__version__}: "
                "install the same on all nodes"
            )
        if value.identity != self.identity:
            raise HornlensError(
                f"node {value.ip} has another {self.name} ({value.identity}) than this machine "
                f"({self.identity}): put the same files there"
            )
        replica.loading, replica.about, self._stillborn = None, value, 0
        _log.info("%s: loaded on node %s, process %d", self.name, value.ip, value.pid)
        self._checked.add(replica.words)

    def _planned(self, replica: _Replica, value: list[list[int]] | Failure) -> None:
        if isinstance(value, Failure):
            raise ModelError(self._in_a_line(value))
        assert replica.planning is not None
        if prompts := replica.planning[1].prompts:  # not withdrawn
            if not are_batches(value, len(prompts)):
                raise HornlensError(NO_ANSWERS.format(f"batches of model {self.name}"))
            self._queue += packed(replica.planning[1], value, self._block)
        replica.planning = None

    def _answered(self, block: Block, value: list[Answer] | Failure) -> list[Answer]:
        if isinstance(value, Failure):
            raise ModelError(self._in_a_line(value))
        if not are_answers(value, len(block.prompts)):
            raise HornlensError(NO_ANSWERS.format(f"answers of model {self.name}"))
        return value

    def _in_a_line(self, failure: Failure, loading: bool = False) -> str:
        ip, message, kind = failure
        if not kind:  # a line for people already; but the driver may well have what a node lacks
            return f"{message} (on node {ip}: every node needs the model)" if loading else message
        if loading and "memory" in f"{kind} {message}".lower():
            return (
                f"model {self.name} does not fit on node {ip}: {kind}: {message}; it needs a "
                "larger one, or more of it (--model-cpus, --model-gpus)"
            )
        return f"model {self.name} failed on node {ip}: {kind}: {message}{GO_ON}"

    def _value(self, ref: Any) -> Any:
        """Return what a call returned, or why there is nothing."""
        from ray.exceptions import RayError

        try:
            return self.cluster.ray.get(ref, timeout=0)
        except RayError as error:
            return error

    def _bury(self, replica: _Replica, error: Exception) -> list[tuple[Block, list[Answer]]]:
        """Take a dead replica's blocks back; return those that it had done before."""
        self._replicas.remove(replica)
        self.cluster.ray.kill(replica.actor)  # if it is only out of reach, it is dead now
        text = str(error)
        if getattr(error, "actor_init_failed", getattr(error, "_actor_init_failed", False)):
            reason = text.strip().splitlines()[-1]
            raise HornlensError(
                f"a node cannot run hornlens {__version__}: {reason}; install it there"
            )
        answered: list[tuple[Block, list[Answer]]] = []
        unanswered: list[Block | Bundle] = []
        for ref, block in replica.flight.items():
            value = self._value(ref)
            if isinstance(value, Exception):
                unanswered.append(block)
            else:
                answered.append((block, self._answered(block, value)))
        self._queue.extendleft(block for block in reversed(unanswered) if isinstance(block, Block))
        if replica.planning is not None:
            self._uncut.appendleft(replica.planning[1])
            unanswered.append(replica.planning[1])
        cause, where = (
            _cause(error),
            f"on node {replica.about.ip}" if replica.about else "somewhere",
        )
        about = f"a process of model {self.name} {where} died ({cause})"
        log = f"; log: {self.cluster.logs(replica.about.pid)}" if replica.about else ""
        if replica.about is None and cause != NODE_LOST:
            self._stillborn += 1
            if self._stillborn >= DEATHS:
                raise HornlensError(f"{about} before it had loaded, {DEATHS} times running{log}")
        elif unanswered and cause != NODE_LOST:
            unanswered[0].deaths += 1  # only the first was at work
            if unanswered[0].deaths >= DEATHS:
                raise HornlensError(
                    f"{about}, as did {DEATHS - 1} before it over the same prompts, of which the "
                    f"first is {unanswered[0].prompts[0]!r}{log}"
                )
        message = f"{about}; what it was asked is asked again{log}"
        _log.warning("%s", message)
        self.cluster.warn(message)
        return answered


NODE_LOST = "its node was lost"


def _cause(error: Exception) -> str:
    """Say why a process died, from what Ray says at length."""
    kind, text = type(error).__name__, str(error)
    if kind == "NodeDiedError" or "node has died" in text or "node was terminated" in text:
        return NODE_LOST
    if kind == "OutOfMemoryError" or "low on memory" in text or "memory pressure" in text:
        return "its node ran out of memory; fewer --replicas or more --model-cpus leave it more"
    return "killed, or crashed; perhaps for want of memory"
