"""Who is asking a model what: claims that end with the process that made them, or soon after.

A claim holds while its process gives signs of life, and each sign is dated by a clock that nobody
can set: the time since the machine was started. Processes of another machine go by the time of day.
A process that is gone is known at once, on the machine that it ran on.

A process may be stopped for longer than its claim holds. Others then take the claim over, which
removes it. So whoever holds one looks before every call whether it is still there.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hornlens.store.database import connect, file_number, writing
from hornlens.store.seals import Question

TERM = 60.0
"""Seconds for which a claim holds after the last sign of life."""

AWAY = 3.0
"""The same, where a server knows that its process is disconnected: it may come back."""


class Sign(NamedTuple):
    """A sign of life: when it was given, by which clock."""

    clock: str
    """What tells a clock from those of other machines; "": there is none that all share."""
    at: float


def sign() -> Sign:
    """Return a sign of life that is given now."""
    return Sign(_clock(), time.monotonic())


def holder(number: int) -> str:
    """Return the name of this process's store of a number, which no other process ever has."""
    process = os.getpid()
    return f"{_machine()} {process} {_started(process)} {number}"


def holds(holder: str, until: object, last: Sign | None = None) -> bool:
    """Say whether a claim still counts: it has not run out, and who made it may be alive.

    By the last sign of life, if our clock has dated it; else by the time of day. One that would
    last longer than any claim does is damage, or a clock that is wrong.
    """
    now = sign()
    if last is not None and now.clock and last.clock == now.clock:
        fresh = isinstance(last.at, float) and 0 <= now.at - last.at < TERM
    else:
        fresh = isinstance(until, float) and 0 < until - time.time() < 2 * TERM
    if not fresh:
        return False
    machine, _, rest = str(holder).partition(" ")
    if machine != _machine():
        return True
    process, _, rest = rest.partition(" ")
    return process.isdigit() and _started(int(process)) == rest.partition(" ")[0]


class Silences:
    """How long holders have been silent, by the clock of whoever waits for them.

    So no clock that somebody sets, here or on a server, ends a claim.
    """

    def __init__(self) -> None:
        """Begin with nobody seen."""
        self._seen: dict[tuple[int, int], tuple[tuple[bool, object], float]] = {}

    def lapsed(
        self, states: Mapping[tuple[int, int], tuple[bool, object]]
    ) -> list[tuple[int, int]]:
        """Return whose claims have run out, of a question's holders.

        Each has whether it is connected, and something that changes with every sign of life.
        """
        now = time.monotonic()
        for who, state in states.items():
            if self._seen.get(who, (None,))[0] != state:
                self._seen[who] = state, now
        terms = {
            who: TERM if connected else min(AWAY, TERM) for who, (connected, _) in states.items()
        }
        return [who for who, term in terms.items() if now - self._seen[who][1] >= term]


class Keeper:
    """Gives signs of life for a holder, in a thread of its own, and looks after its claims.

    It has a connection of its own, for any thread may ask whether a claim still stands.
    """

    def __init__(self, path: Path, holder: str):
        """Begin."""
        self._path, self._holder = path, holder
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._signed = float("-inf")
        threading.Thread(target=self._keep, daemon=True).start()

    def stop(self) -> None:
        """Give no more signs, and let go of the file."""
        self._stopped.set()
        with self._lock:
            self._close()

    def stands(self, question: Question) -> bool:
        """Say whether a claim is still this holder's; where that was in doubt, make it sure.

        Raises one of sqlite3's errors where the file cannot be used.
        """
        with self._lock:
            connection = self._open()
            if time.monotonic() - self._signed < TERM / 4:
                return self._is_there(connection, question)
            with writing(connection):
                if stands := self._is_there(connection, question):
                    self._sign(connection)
            return stands

    def _is_there(self, connection: sqlite3.Connection, question: Question) -> bool:
        row = connection.execute(
            "SELECT 1 FROM leases "
            "WHERE holder = ? AND identity = ? AND candidates = ? AND repeat = ?",
            (self._holder, *question),
        ).fetchone()
        return row is not None

    def _sign(self, connection: sqlite3.Connection) -> None:
        renew(connection, self._holder)
        self._signed = time.monotonic()

    def _keep(self) -> None:
        while not self._stopped.wait(TERM / 4):
            # The claim may run out where this fails: then it is seen before the next call.
            with suppress(sqlite3.Error), self._lock:
                if not self._stopped.is_set():
                    connection = self._open()
                    with writing(connection):
                        self._sign(connection)

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and file_number(self._path) != self._file:
            self._close()  # it was mended by another process, or removed
        if self._connection is None:
            self._file = file_number(self._path)
            self._connection = connect(self._path, make=False)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def renew(connection: sqlite3.Connection, holder: str) -> None:
    """Give a sign of life for all claims of a holder, inside a transaction."""
    connection.execute("UPDATE leases SET until = ? WHERE holder = ?", (time.time() + TERM, holder))
    connection.execute("INSERT OR REPLACE INTO signs VALUES (?, ?, ?)", (holder, *sign()))


def remove_lapsed(connection: sqlite3.Connection, me: str) -> None:
    """Remove the claims of others that hold no more, inside a transaction."""
    rows = connection.execute(
        "SELECT DISTINCT leases.holder, until, clock, at FROM leases LEFT JOIN signs "
        "ON leases.holder = signs.holder WHERE leases.holder <> ?",
        (me,),
    ).fetchall()
    for other, until, clock, at in rows:
        if not holds(other, until, None if clock is None else Sign(clock, at)):
            connection.execute("DELETE FROM leases WHERE holder = ?", (other,))
    connection.execute("DELETE FROM signs WHERE holder NOT IN (SELECT holder FROM leases)")


@cache
def _clock() -> str:
    """Return what tells this machine's clock since its start from others; "" if nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    space = Path("/proc/self/ns/time")  # a container may have a clock of its own
    return f"{boot}/{space.readlink()}" if space.is_symlink() else boot


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
