"""Models and runs in processes of this machine, which end with it, at once and without a trace."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from hornlens.errors import HornlensError
from hornlens.executors.protocol import Advance, OpenStore, R, T, Work
from hornlens.models.protocol import Model, ModelOptions
from hornlens.models.registry import open_model


@dataclass(frozen=True)
class LocalExecutor:
    """Models answer in this process; runs go to so many others, each with its own model.

    Runs whose models have a limit on what they take stay in this process, one after the other.
    """

    jobs: int = 1
    where: str = field(default="", init=False)

    def model(self, spec: str, options: ModelOptions) -> Model:
        """Return the model of a spec; nothing is loaded yet."""
        return open_model(spec, options)

    def close(self) -> None:
        """Do nothing: processes end with what they were begun for."""

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
        # What models may take is counted in one process.
        if self.jobs == 1 or any(task.options.limits.limited for task in tasks):
            try:
                for task in tasks:
                    yield task, _carried_out(work, task, open_store, None, advance)
            finally:
                _model.cache_clear()
            return
        threads = max(1, (os.cpu_count() or 1) // self.jobs)
        # Spawned, not forked: a copy of a process that has threads (onnxruntime, torch) may hang.
        context = multiprocessing.get_context("spawn")
        counter = context.Value("q", 0)
        heeds_ctrl_c = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        pool = ProcessPoolExecutor(
            min(self.jobs, len(tasks)),
            context,
            initializer=_begin_worker,
            initargs=(counter, heeds_ctrl_c),
        )
        reported = 0
        try:
            with holding_ctrl_c():  # in workers too, until they are ready for it
                waiting = {
                    pool.submit(_run_in_worker, work, task, open_store, threads): task
                    for task in tasks
                }
            while waiting:
                done, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                ended = [(waiting.pop(future), future.result()) for future in done]
                if advance is not None and counter.value > reported:
                    reported, before = counter.value, reported
                    advance(reported - before)
                yield from ended
        except BrokenProcessPool:
            raise HornlensError(
                "a worker process died, perhaps for want of memory: try fewer --jobs; what is "
                "finished is kept, run the same command to go on"
            ) from None
        except BaseException:  # what is under way can be done again: don't wait for it
            _end(pool)
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the workers of a pool at once.

    One that was about to send its result leaves half of it in the pipe, and the pool's own thread
    would wait for the rest for ever: with nobody left to write, it learns that there is none.
    """
    workers = list(pool._processes.values())  # from Python 3.14: terminate_workers()
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join()
    results: Any = pool._result_queue
    if results is not None:
        results._writer.close()


@lru_cache(maxsize=1)  # a process holds one model at a time
def _model(spec: str, options: ModelOptions) -> Model:
    return open_model(spec, options)


def _carried_out(
    work: Work[T, R], task: T, open_store: OpenStore, threads: int | None, advance: Advance | None
) -> R:
    options = task.options
    if options.threads is None:
        options = replace(options, threads=threads)
    with closing(open_store()) as store:
        return work(task, _model(task.spec, options), store, advance)


@contextmanager
def holding_ctrl_c() -> Iterator[None]:
    """Hold a Ctrl-C back for a while; in processes that are begun meanwhile, until they let it in.

    One that comes in this time is blocked, and heeded at the end. It is also ignored, for whoever
    unblocks it too early; Linux keeps what is blocked, whether it is ignored or not.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _mask_ctrl_c(block=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _mask_ctrl_c(block=False)


def _mask_ctrl_c(block: bool) -> None:
    """Block Ctrl-C in this thread, or let it in; Windows has no such thing."""
    if hasattr(signal, "pthread_sigmask"):
        how = signal.SIG_BLOCK if block else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


_counter: Any = None


def _begin_worker(counter: Any, heeds_ctrl_c: bool) -> None:
    """Make a worker end with its parent, whatever ends that, and quietly.

    A command that a script runs in the background ignores Ctrl-C, and so must its workers.
    """
    global _counter
    _counter = counter
    if heeds_ctrl_c:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _mask_ctrl_c(block=False)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_in_worker(work: Work[T, R], task: T, open_store: OpenStore, threads: int) -> R:
    def count(steps: int) -> None:
        with _counter.get_lock():
            _counter.value += steps

    return _carried_out(work, task, open_store, threads, count)
