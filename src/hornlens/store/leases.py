"""Who is asking a model what: claims that end with the process that made them, or soon after.

A claim has a time to end at, which is put off while the process asks. On the machine that made it,
a process that is gone is known at once.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

TERM = 60.0
"""Seconds for which a claim holds after the last sign of life."""


def holder(number: int) -> str:
    """Return the name of this process's store of a number, which no other process ever has."""
    process = os.getpid()
    return f"{_machine()} {process} {_started(process)} {number}"


def holds(holder: str, until: float) -> bool:
    """Say whether a claim still counts: it has not run out, and who made it may be alive.

    One that would last longer than any claim does is damage, or a clock that is wrong.
    """
    if not isinstance(until, float) or not 0 < until - time.time() < 2 * TERM:
        return False
    machine, _, rest = str(holder).partition(" ")
    if machine != _machine():
        return True
    process, _, rest = rest.partition(" ")
    return process.isdigit() and _started(int(process)) == rest.partition(" ")[0]


class Renewal:
    """Puts off the end of a holder's claims, in a thread of its own, until it is stopped."""

    def __init__(self, path: Path, holder: str):
        """Begin."""
        self._stopped = threading.Event()
        work = threading.Thread(target=self._renew, args=(path, holder), daemon=True)
        work.start()
        self.stop: Callable[[], None] = self._stopped.set

    def _renew(self, path: Path, holder: str) -> None:
        name = f"{path.resolve().as_uri()}?mode=rw"  # a file that is gone is not made again
        while not self._stopped.wait(TERM / 4):
            # The claim may run out where this fails: then a prompt is asked twice, no more.
            with (
                suppress(sqlite3.Error),
                closing(sqlite3.connect(name, timeout=TERM / 4, uri=True)) as file,
            ):
                file.execute(
                    "UPDATE leases SET until = ? WHERE holder = ?", (time.time() + TERM, holder)
                )
                file.commit()


@cache
def _machine() -> str:
    """Return what tells this machine from others: since it was started, and in this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node().replace(" ", "-") or "unknown"


def _started(process: int) -> str | None:
    """Return when a process of this machine was started; None: there is none of this number.

    Where the system does not tell, every process counts as alive until its claim runs out.
    """
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None if _has_proc() or _is_gone(process) else "unknown"
    state, *fields = status.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


@cache
def _has_proc() -> bool:
    return Path("/proc/self/stat").exists()


def _is_gone(process: int) -> bool:
    if os.name != "posix":  # elsewhere, asking would end it
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass
    return False
