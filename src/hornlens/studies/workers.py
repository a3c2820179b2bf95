"""Work over several processes that ends at once, and leaves nothing behind, whatever ends it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from hornlens.errors import HornlensError

T = TypeVar("T")
Advance = Callable[[int], None]
"""Is told how many more are done."""


def carry_out(
    run: Callable[[T, Advance | None], None],
    tasks: Sequence[T],
    jobs: int,
    advance: Advance | None = None,
) -> Iterator[int]:
    """Run tasks, in this process or in others; yield how many have ended since the last time.

    `run` is a function of a module; it gets a task, and whom to tell of the steps that are done.
    """
    if not tasks:
        return
    if jobs == 1:
        for task in tasks:
            run(task, advance)
            yield 1
        return
    # Spawned, not forked: a copy of a process that has threads (onnxruntime, torch) may hang.
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), context, initializer=_begin_worker, initargs=(counter,)
    )
    told = 0
    broken_pipes = ExitStack()  # to a worker that has gone: the pool tells us in its own way
    broken_pipes.enter_context(_ignoring("SIGPIPE"))
    try:
        with _ignoring("SIGINT"):  # by workers too, until they are ready for it
            waiting = {pool.submit(_run_in_worker, run, task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            if advance is not None and counter.value > told:
                told, before = counter.value, told
                advance(told - before)
            if done:
                yield len(done)
    except BrokenProcessPool:
        raise HornlensError(
            "a worker process died, perhaps for want of memory: try fewer --jobs; what is finished "
            "is kept, run the same command to go on"
        ) from None
    except BaseException:  # what is under way can be done again: don't wait for it
        for worker in list(pool._processes.values()):  # from Python 3.14: terminate_workers()
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        broken_pipes.close()


@contextmanager
def _ignoring(name: str) -> Iterator[None]:
    """Ignore a signal for a while, if there is such a one here; so do processes begun meanwhile."""
    number = getattr(signal, name, None)
    if number is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, before)


_counter: Any = None


def _begin_worker(counter: Any) -> None:
    """Make a worker end with its parent, whatever ends that, and quietly."""
    global _counter
    _counter = counter
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_in_worker(run: Callable[[T, Advance | None], None], task: T) -> None:
    def count(steps: int) -> None:
        with _counter.get_lock():
            _counter.value += steps

    run(task, count)
