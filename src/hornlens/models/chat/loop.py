"""The event loop in which endpoints are asked, in a thread of its own: callers stay plain.

A loop of one's own would not do: who asks may be running one already, as notebooks do.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from hornlens.models.chat.calls import NotOurs
from hornlens.models.protocol import Answer

T = TypeVar("T")
UNREAD = 64
"""Answers that may wait to be taken: who keeps them is never far behind, nor is memory used up."""
GRACE = 10.0
"""Seconds that calls under way may still take when another one has failed for good."""


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the running loop of this process; threads do not survive a fork."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="hornlens-endpoints", daemon=True).start()
    return loop


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run something in the loop and return what it returns."""
    future = asyncio.run_coroutine_threadsafe(work, _loop(os.getpid()))
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def answers_to(
    prompts: Sequence[str], ask: Callable[[str], Awaitable[Answer]], workers: int
) -> Iterator[list[tuple[int, Answer]]]:
    """Yield answers as they come, each with its prompt's index; so many prompts at a time.

    When one fails, no further one is begun, those under way are still waited for and yielded, and
    then the failure is raised: what was paid for is not lost. The same holds for one that is not
    ours to ask any more, but that is no failure.
    """
    done: queue.SimpleQueue[tuple[int, Answer] | None] = queue.SimpleQueue()
    failures: list[BaseException] = []
    work = _all_of(prompts, ask, workers, done, failures)
    future = asyncio.run_coroutine_threadsafe(work, _loop(os.getpid()))
    future.add_done_callback(lambda _: done.put(None))
    try:
        ended = False
        while not ended:
            batch = [done.get()]
            while not done.empty():
                batch.append(done.get())
            ended = None in batch
            if answers := [each for each in batch if each is not None]:
                yield answers
        if failures:
            raise failures[0]
        future.result()
    finally:
        future.cancel()


async def _all_of(
    prompts: Sequence[str],
    ask: Callable[[str], Awaitable[Answer]],
    workers: int,
    done: queue.SimpleQueue[tuple[int, Answer] | None],
    failures: list[BaseException],
) -> None:
    indices = iter(range(len(prompts)))
    failed = asyncio.Event()

    async def work() -> None:
        for index in indices:
            while done.qsize() >= UNREAD:
                await asyncio.sleep(0.002)
            if failed.is_set():
                return
            try:
                done.put((index, await ask(prompts[index])))
            except Exception as error:
                if not isinstance(error, NotOurs):
                    failures.append(error)
                failed.set()
                return

    tasks = [asyncio.ensure_future(work()) for _ in range(min(workers, len(prompts)))]
    watch = asyncio.ensure_future(failed.wait())
    try:
        waiting: set[asyncio.Future[Any]] = set(tasks)
        while waiting and not failed.is_set():
            _, left = await asyncio.wait({*waiting, watch}, return_when=asyncio.FIRST_COMPLETED)
            waiting = left - {watch}
        if waiting:
            await asyncio.wait(waiting, timeout=GRACE)
    finally:
        for task in (*tasks, watch):
            task.cancel()
        await asyncio.gather(*tasks, watch, return_exceptions=True)
