"""Models and runs on a Ray cluster; this process alone plans, and alone writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from hornlens.errors import HornlensError
from hornlens.executors.blocks import BLOCK
from hornlens.executors.cluster import Cluster, Needs
from hornlens.executors.pool import Pool
from hornlens.executors.protocol import Advance, OpenStore, R, T, Work
from hornlens.models.protocol import Answer, Elicits, HashesFiles, ModelOptions, Remember, Shows
from hornlens.models.registry import open_model

REST = 3.0
"""Seconds without work after which a model's replicas make room for another that has none."""
LONG_REST = 30.0
"""The same, for another that has too few: they may soon be wanted again, and loading takes time."""


class RayExecutor:
    """Models answer as replicas on the nodes of a cluster, and runs are carried out there.

    Nothing is joined or started before it is needed: not at all, if all answers are known.
    `jobs` is how many runs go on at a time (None: as many as the cluster has CPUs).
    """

    def __init__(
        self,
        address: str | None = None,
        needs: Needs | None = None,
        jobs: int | None = None,
        warn: Callable[[str], None] = lambda line: None,
    ):
        """Keep all that; `address` is as `Cluster` has it."""
        self.cluster, self.needs, self.jobs = Cluster(address, warn), needs or Needs(), jobs
        self._pools: dict[tuple[str, ModelOptions], Pool] = {}

    @property
    def where(self) -> str:
        """How many nodes there were when they were counted last; "" before that."""
        nodes = self.cluster.seen
        return f" on {nodes} node{'s' * (nodes != 1)}" if nodes else ""

    def model(self, spec: str, options: ModelOptions | None = None) -> PooledModel:
        """Return the model of a spec, which answers on the cluster."""
        return PooledModel(self, spec, options or ModelOptions())

    def carry_out(
        self,
        work: Work[T, R],
        tasks: Sequence[T],
        open_store: OpenStore,
        advance: Advance | None = None,
    ) -> Iterator[tuple[T, R]]:
        """Carry tasks out; yield each with what its work returned, as soon as it has ended."""
        if not tasks:
            return
        from hornlens.executors.driving import Driver

        with closing(open_store()) as store:
            yield from Driver(self, work, tasks, store, advance).results()

    def pool(self, model: PooledModel) -> Pool:
        """Return the replicas of a model. Those of others that have nothing to do make room."""
        key = (model.spec, model.options)
        if key not in self._pools:
            if self._pools and not self.cluster.has_room(self.needs):
                for other in [k for k, pool in self._pools.items() if pool.idle]:
                    self._pools.pop(other).close()
            options = model.options
            if options.threads is None:
                options = replace(options, threads=max(1, int(self.needs.cpus)))
            batch = options.batch_size or BLOCK
            self._pools[key] = Pool(
                self.cluster,
                model.name,
                partial(open_model, model.spec, options),
                model.identity(),
                self.needs,
                batch * max(1, BLOCK // batch),
                partial(self._make_room, key),
            )
        return self._pools[key]

    def _make_room(self, key: tuple[str, ModelOptions], urgent: bool) -> None:
        """End the replicas of other models that hold all the room and have had no work lately.

        Else a model that has lost its replicas might wait for theirs for ever.
        """
        least = REST if urgent else LONG_REST
        rested = [k for k, pool in self._pools.items() if k != key and pool.rested >= least]
        if rested and not self.cluster.has_room(self.needs):
            for other in rested:
                self._pools.pop(other).close()

    def drop(self, model: PooledModel) -> None:
        """End the replicas of a model, if it has any, and whatever they are at."""
        pool = self._pools.pop((model.spec, model.options), None)
        if pool is not None:
            pool.close()

    def close(self) -> None:
        """Leave the cluster, and with it whatever still runs there for us."""
        self._pools.clear()
        self.cluster.close()


class PooledModel:
    """A model that answers on a cluster. Here it is only identified, for which it is not loaded."""

    def __init__(self, executor: RayExecutor, spec: str, options: ModelOptions):
        """Find the model of the spec; nothing is loaded."""
        self.spec, self.options = spec, options
        self._executor, self._here = executor, open_model(spec, options)
        self.name = self._here.name
        if isinstance(self._here, Elicits):
            # Its limits and its pace are counted in one process, which asks many at a time.
            raise HornlensError(
                f"{self.name} is a chat model, which is asked from one machine: "
                "leave --executor ray out"
            )

    @property
    def remember(self) -> Remember:
        """How it comes by the hashes of large files, if it does."""
        if isinstance(self._here, HashesFiles):
            return self._here.remember
        raise AttributeError("remember")

    @remember.setter
    def remember(self, remember: Remember) -> None:
        if isinstance(self._here, HashesFiles):
            self._here.remember = remember

    @property
    def sent(self) -> Any:
        """What is sent for a prompt, which every replica does alike, if the model can say."""
        if isinstance(self._here, Shows):
            return self._here.sent
        raise AttributeError("sent")

    def identity(self) -> str | None:
        """Return what is found out on this machine; every replica must have the same."""
        return self._here.identity()

    def check(self, candidates: Sequence[str]) -> None:
        """Load the model on a node; raise ModelError if it cannot score these words."""
        self._executor.pool(self).check(tuple(candidates))

    def rest(self) -> None:
        """End its replicas: another driver may wait for their room, and we for its answers."""
        self._executor.drop(self)

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer distinct prompts, a block at a time, in the order in which blocks are done."""
        pool = self._executor.pool(self)
        index = {prompt: i for i, prompt in enumerate(prompts)}
        pool.submit(prompts, tuple(candidates))
        try:
            for block, answers in pool.answers():
                yield [(index[p], answer) for p, answer in zip(block.prompts, answers, strict=True)]
        finally:
            if not pool.idle:  # nobody wants the rest
                self._executor.drop(self)
