"""Several writers at once: answers a second into a file, and into a PostgreSQL server."""

import multiprocessing
import os
import resource
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

from hornlens.models.protocol import Answer
from hornlens.store.opening import open_store
from hornlens.targets.answers import as_kept

WORDS = ("She", "He")
BLOCK = 32


def writers(count: int, each: int, turns: int) -> dict[str, Any]:
    """Have so many processes write so many answers each, in turns to a file and to a server.

    The server is a real one, which waits for its disk as the file does. Processor time is that of
    all processes, their start included: it depends less on what else the machine does.
    """
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            before = _cpu()
            rate = _written(str(Path(folder) / f"c{turn}"), count, each)
            figures["file_per_second"] = max(rate, figures.get("file_per_second", 0.0))
            figures["file_cpu_us"] = (_cpu() - before) / (count * each) * 1e6
    from tests.postgres_server import Server, programs

    if programs() is None:
        return figures | {"server": "not there"}
    server = Server(fsync="on", shared_buffers="128MB")
    before = _cpu()
    try:
        for _ in range(turns):
            rate = _written(server.address(server.schema()), count, each)
            figures["server_per_second"] = max(rate, figures.get("server_per_second", 0.0))
    finally:
        server.close()
    figures["server_cpu_us"] = (_cpu() - before) / (turns * count * each) * 1e6  # both sides
    return figures


def _cpu() -> float:
    """Return the seconds of processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _written(place: str, count: int, each: int) -> float:
    """Return the answers a second, from when all writers are there to when the last has ended."""
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))
    open_store(place).close()
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(count + 1)
    processes = [
        context.Process(target=_write, args=(place, number, each, ready)) for number in range(count)
    ]
    for process in processes:
        process.start()
    ready.wait()
    start = perf_counter()
    for process in processes:
        process.join()
    seconds = perf_counter() - start
    assert all(process.exitcode == 0 for process in processes)
    with closing(open_store(place)) as store:
        assert sum(model.answers for model in store.models()) == count * each
    return count * each / seconds


def _write(place: str, number: int, each: int, ready: Any) -> None:
    kept = as_kept(Answer((-0.25, -1.5), (0, 3), (("She", 0.7), ("He", 0.2)), 0.9))
    prompts = [f"prompt {i} of {number}, as long as prompts are" for i in range(each)]
    with closing(open_store(place)) as store:
        ready.wait()
        for first in range(0, each, BLOCK):
            rows = [(prompt, kept) for prompt in prompts[first : first + BLOCK]]
            store.put("m", "m", rows, WORDS)
