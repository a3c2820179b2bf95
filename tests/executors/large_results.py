"""A study's executor whose results are large, ended by Ctrl-C while one is on its way."""

import os
import signal
import sys
import threading
from dataclasses import dataclass, field

from hornlens.executors.local import LocalExecutor
from hornlens.models.protocol import ModelOptions


@dataclass(frozen=True)
class Task:
    number: int
    spec: str = "demo"
    options: ModelOptions = field(default_factory=ModelOptions)


class Store:
    def close(self):
        pass


def work(task, model, store, advance):
    return bytes(60_000_000)


if __name__ == "__main__":
    tasks = [Task(number) for number in range(400)]
    results = LocalExecutor(2).carry_out(work, tasks, Store)
    next(results)
    threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        for _ in results:
            pass
    except KeyboardInterrupt:
        print("ended")
