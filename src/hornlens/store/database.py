"""A cache's SQLite file: opened if it is one of ours, shared, and mended where it is damaged."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

from hornlens.errors import HornlensError
from hornlens.logging import get_logger

APPLICATION = int.from_bytes(b"Horn", "big")
"""What SQLite's header says of a cache since it has checksums."""
_log = get_logger(__name__)
_SCHEMA = """
CREATE TABLE models (
  id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE answers (
  model INTEGER NOT NULL REFERENCES models(id), candidates TEXT NOT NULL, prompt TEXT NOT NULL,
  repeat INTEGER NOT NULL, scores TEXT NOT NULL, ranks TEXT, written REAL NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
CREATE TABLE details (
  model INTEGER NOT NULL, candidates TEXT NOT NULL, prompt TEXT NOT NULL, repeat INTEGER NOT NULL,
  written REAL NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
CREATE TABLE hashes (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL,
  changed INTEGER NOT NULL, hash TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE leases (
  holder TEXT NOT NULL, identity TEXT NOT NULL, candidates TEXT NOT NULL, repeat INTEGER NOT NULL,
  prompts TEXT NOT NULL, until REAL NOT NULL,
  PRIMARY KEY (holder, identity, candidates, repeat)) WITHOUT ROWID;
CREATE TABLE signs (
  holder TEXT PRIMARY KEY, clock TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
"""
# Details are a table of their own, so that versions which know of none can use the same file. They
# belong to the very answer with whose time they were written: such a version may remove an answer,
# and use its model's number again. Signs of life are a table of their own for the same reason.
TABLES = {sql.split()[2]: sql.strip() for sql in _SCHEMA.split(";") if sql.strip()}
FORMAT = 1
"""Of the tables. A newer one is four times the same byte in `user_version`: no accident is."""
_EARLIER = {"files"}
"""Tables that older versions make."""
_PATIENCE = 120.0
"""Seconds to wait for another process's write."""
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_CIRCUMSTANCES = {
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_INTERRUPT),
}
"""What says nothing about the file. After any other error it is looked through."""

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the other where its message quotes a text that is damaged."""

T = TypeVar("T")


Mend = Callable[[Path], tuple[Path, int]]
"""Replaces a damaged file; returns where it is kept, and how many answers the new one has."""


class CacheError(HornlensError):
    """The cache cannot be used at all."""


class _Damaged(sqlite3.DatabaseError):
    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Database:
    """A connection to a cache that is made when it is needed, and again if the file was replaced.

    Where the file is damaged it is kept aside as it is, and what can be read of it stands in a new
    one. A file that is no cache is refused and left alone.
    """

    def __init__(self, path: Path, warn: Callable[[str], None], mend: Mend):
        """Look at a file, or make it."""
        self.path = path
        self._warn = warn
        self._mended = mend
        self._warned = False
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self.read(lambda connection: None)

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def complain(self, message: str) -> None:
        """Tell of damage, once; the log has all of it."""
        _log.warning("%s", message)
        if not self._warned:
            self._warned = True
            self._warn(message)

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in one transaction: all of it is done, or nothing."""

        def transaction(connection: sqlite3.Connection) -> T:
            with writing(connection):
                return work(connection)

        return self.read(transaction)

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work; if the file turns out to be damaged, mend it and do the work again."""
        try:
            return work(self._open())
        except ERRORS as error:
            if not self._is_damage(error):
                raise self.unusable(error) from None
            reason = str(error)
        try:
            self._mend(reason)
            return work(self._open())
        except (*ERRORS, OSError) as error:
            raise self.unusable(error) from None

    def unusable(self, error: Exception) -> CacheError:
        """Return the error that the cache cannot be used."""
        return CacheError(f"{self.path}: the cache cannot be used: {error}")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and file_number(self.path) != self._file:
            self.close()  # it was mended by another process, or removed
        if self._connection is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with _LOOKING:
                    if not may_be_cache(self.path):
                        raise CacheError(
                            f"{self.path}: is no cache of hornlens, and is left as it is; "
                            "choose another file for the cache"
                        )
                    self._file = file_number(self.path)
                    connection = connect(self.path)
            except (OSError, sqlite3.OperationalError) as error:
                raise CacheError(f"{self.path}: the cache cannot be opened: {error}") from None
            self._connection = connection
            if (newer := newer_format(connection)) is not None:
                self.close()
                raise CacheError(
                    f"{self.path}: the cache has format {newer}, and this version reads {FORMAT}: "
                    "use the version that made it, or choose another file for the cache"
                )
            prepare(connection)
            self._file = file_number(self.path)
        return self._connection

    def _is_damage(self, error: Exception) -> bool:
        code = _code(error)
        if code is None or code in _CIRCUMSTANCES:
            return False
        if code == sqlite3.SQLITE_READONLY and not (
            os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        ):
            return False
        return code in _DAMAGE or not self._is_healthy()

    def mend_if_damaged(self) -> None:
        """Look the whole file through, and mend it if anything is wrong with it."""
        if not self._is_healthy():
            self._mend("its tables are out of order")

    def _is_healthy(self) -> bool:
        self.close()
        with closing(connect(self.path)) as connection:
            try:
                check_schema(connection)
                return [*connection.execute("PRAGMA integrity_check(1)")] == [("ok",)]
            except ERRORS as error:
                return is_circumstance(error)

    def _mend(self, reason: str) -> None:
        """Put what can be read into a new file, unless another process has done so already."""
        self.close()
        with _alone_in(self.path.parent):
            if file_number(self.path) != self._file:
                return
            aside, kept = self._mended(self.path.resolve())
        self.complain(
            f"the cache {self.path} is damaged ({reason}); it was kept as {aside.name}. "
            f"Answers that could be read: {kept:,}; the others are asked for again"
        )


class _Connection(sqlite3.Connection):
    """A connection that is known while it is open: see `may_be_cache`."""

    path: Path

    def close(self) -> None:
        """Close it, and forget it."""
        super().close()
        with _LOOKING:
            _OPEN.discard(self)


_OPEN: WeakSet[_Connection] = WeakSet()
"""What this process has open."""
_LOOKING = RLock()
"""Held while a file is looked at or opened, so that nobody opens it in between."""


def connect(path: Path, make: bool = True) -> sqlite3.Connection:
    """Return a connection that waits for others, and reads texts whatever bytes they have.

    Without `make` a file that is gone is not made again, and several threads may take turns.
    """
    options: dict[str, Any] = {"timeout": _PATIENCE, "isolation_level": None}
    place: Path | str = path
    if not make:
        place = f"{path.resolve().as_uri()}?mode=rw"
        options |= {"uri": True, "check_same_thread": False}
    with _LOOKING:
        connection = sqlite3.connect(place, factory=_Connection, **options)
        connection.path = path
        _OPEN.add(connection)
    connection.text_factory = _text
    return connection


def may_be_cache(path: Path) -> bool:
    """Say whether a file is a cache, damaged perhaps, or is still to be made.

    A file that this process has open already is one, and is not looked at: to close a file ends all
    locks that a process has on it, SQLite's as well. Another process would then take itself for the
    last one and remove the log, and what we still write there would go with it.
    """
    if not path.exists() or _is_open_here(path):
        return True
    with path.open("rb") as file:
        begin = file.read(1 << 16)
    if not begin or begin[68:72] == APPLICATION.to_bytes(4, "big"):
        return True
    bare = b"".join(begin.split())
    return b"\0" in begin and any(_bare(sql).encode() in bare for sql in TABLES.values())


def _is_open_here(path: Path) -> bool:
    number = file_number(path)
    return any(file_number(connection.path) == number for connection in [*_OPEN])


def newer_format(connection: sqlite3.Connection) -> int | None:
    """Return the format of a cache that a newer version has made; None: it is none of those."""
    number: list[int] = []
    _patiently(lambda: number.extend(*connection.execute("PRAGMA user_version")))
    first, *others = (number[0] & 0xFFFFFFFF).to_bytes(4, "big")
    return first if {*others} == {first} and first > FORMAT else None


def prepare(connection: sqlite3.Connection) -> None:
    """Make what a cache has and this file does not; raise DatabaseError if it is damaged."""
    if check_schema(connection) != set(TABLES):
        # First of all, so that whoever comes in between knows the file.
        _patiently(lambda: connection.execute(f"PRAGMA application_id = {APPLICATION}"))
    # Readers and a writer at once; a killed process loses nothing that was committed.
    _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    connection.execute("PRAGMA synchronous = NORMAL")
    if check_schema(connection) != set(TABLES):
        with writing(connection):
            for sql in TABLES.values():
                connection.execute(sql.replace("TABLE", "TABLE IF NOT EXISTS", 1))


def check_schema(connection: sqlite3.Connection) -> set[str]:
    """Return which of our tables are there; raise DatabaseError if one is not as it was made."""
    tables: dict[str, str] = {}
    _patiently(
        lambda: tables.update(
            connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        )
    )
    ours = {name: sql for name, sql in tables.items() if name in TABLES}
    changed = any(_bare(sql) != _bare(TABLES[name]) for name, sql in ours.items())
    # A newer version may have more tables, and an older one fewer.
    renamed = set(TABLES) - set(ours) and set(tables) - set(ours) - _EARLIER
    if changed or renamed:
        raise _Damaged("its tables are not as they were made")
    return set(ours)


def _bare(sql: str) -> str:
    return "".join(str(sql).split())


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def is_circumstance(error: Exception) -> bool:
    """Say whether an error of SQLite's says nothing about the file."""
    return _code(error) in _CIRCUMSTANCES


def _code(error: Exception) -> int | None:
    """Return SQLite's code for an error; None: it is Python's own, about how SQLite was used."""
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_ERROR
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None or code == sqlite3.SQLITE_MISUSE else code & 0xFF


def file_number(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one that takes its place."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Open a write transaction at once, so that two writers wait instead of colliding."""
    _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep others from mending in a folder; where the system has no such locks, do not."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)


def _patiently(work: Callable[[], object]) -> None:
    """Try until another process lets go; SQLite's own waiting does not cover every case."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            work()
            return
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
