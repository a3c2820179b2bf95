"""A fleet that we do not have: replicas that sleep for as long as a model would take.

Sleeping takes no core, so what is measured is what Hornlens and Ray add: time against the ideal,
prompts × latency ÷ replicas, from the first answer's request on, with all replicas loaded.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from hornlens.executors.blocks import BLOCK
from hornlens.executors.cluster import Cluster, Needs
from hornlens.executors.pool import Pool
from hornlens.models.protocol import Answer
from hornlens.store.opening import open_store
from hornlens.targets.answers import as_kept

WORDS = ("She", "He")


class Sleeping:
    """A model of a given throughput, whatever it is asked."""

    name = "sleeping"

    def __init__(self, seconds: float):
        """Take the seconds a prompt."""
        self.seconds = seconds

    def check(self, candidates: Sequence[str]) -> None:
        """Do nothing."""

    def identity(self) -> str:
        """Return what tells it from others."""
        return f"sleeping:{self.seconds}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer after as long as the prompts take."""
        time.sleep(self.seconds * len(prompts))
        yield [(index, Answer((-0.25, -1.5))) for index in range(len(prompts))]


class Opener:
    """Opens the model on a node."""

    def __init__(self, seconds: float):
        """Take the seconds a prompt."""
        self.seconds = seconds

    def __call__(self) -> Sleeping:
        """Return the model."""
        return Sleeping(self.seconds)


def fleet(replicas: list[int], block_seconds: float, rounds: int) -> dict[str, Any]:
    """Blocks that take so long, so many for each replica, for several numbers of replicas.

    Every answer is written to a cache before it counts, as in an extraction.
    """
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))  # where nodes find this
    figures: dict[str, Any] = {}
    with closing(Cluster()) as cluster:
        for count in replicas:
            latency = block_seconds / BLOCK
            pool = Pool(
                cluster,
                "sleeping",
                Opener(latency),
                f"sleeping:{latency}",
                Needs(cpus=0.001, replicas=count),
            )
            _load_all(pool, count)
            prompts = [f"{count}: prompt {i}" for i in range(count * rounds * BLOCK)]
            wall, cpu = _ask(pool, prompts)
            pool.close()
            ideal = len(prompts) * latency / count
            figures[f"efficiency_{count}"] = ideal / wall
            figures[f"overhead_us_a_prompt_{count}"] = (wall - ideal) * count / len(prompts) * 1e6
            figures[f"driver_us_a_prompt_{count}"] = cpu / len(prompts) * 1e6
    return figures


def _load_all(pool: Pool, count: int) -> None:
    """Wait until every replica is there: loading is not what is measured."""
    pool.check(WORDS)
    while sum(replica.about is not None for replica in pool._replicas) < count:
        pool.fill(least=count)
        pool.take(pool.cluster.ready(pool.refs))


def _ask(pool: Pool, prompts: Sequence[str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place, closing(open_store(Path(place) / "c")) as store:
        wall, cpu = perf_counter(), process_time()
        pool.submit(prompts, WORDS)
        for block, answers in pool.answers():
            kept = [(p, as_kept(answer)) for p, answer in zip(block.prompts, answers, strict=True)]
            store.put("sleeping", "sleeping", kept, WORDS)
        return perf_counter() - wall, process_time() - cpu


def writing(place: str, count: int) -> dict[str, Any]:
    """Answers a second that one writer puts into a store, in blocks."""
    kept = as_kept(Answer((-0.25, -1.5), (0, 3), (("She", 0.7), ("He", 0.2)), 0.9))
    with tempfile.TemporaryDirectory() as folder:
        with closing(open_store(place or Path(folder) / "c")) as store:
            start = perf_counter()
            for first in range(0, count, BLOCK):
                rows = [
                    (f"prompt {i}, as long as prompts are", kept)
                    for i in range(first, first + BLOCK)
                ]
                store.put("m", "m", rows, WORDS)
            seconds = perf_counter() - start
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {"answers_a_second": count / seconds, "bytes_an_answer": size / count}
