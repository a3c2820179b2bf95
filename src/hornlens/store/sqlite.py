"""The answer cache, a SQLite file that several processes may share.

It holds raw scores and what else a model said, never decisions: policies can change without asking
the model again. An answer belongs to a model's identity (weights, dtype, scoring code), a prompt,
the candidate words, and the index of the repetition. Nothing else can change it.

Beside them it keeps the hashes of large files, which an identity is made of.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from hornlens.errors import HornlensError
from hornlens.store.protocol import Scores

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (
  id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
  model INTEGER NOT NULL REFERENCES models(id), candidates TEXT NOT NULL, prompt TEXT NOT NULL,
  repeat INTEGER NOT NULL, scores TEXT NOT NULL, ranks TEXT, written REAL NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS details (
  model INTEGER NOT NULL, candidates TEXT NOT NULL, prompt TEXT NOT NULL, repeat INTEGER NOT NULL,
  written REAL NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL,
  changed INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
"""
# Details are a table of their own, so that versions which know of none can use the same file. They
# belong to the very answer with whose time they were written: such a version may remove an answer,
# and use its model's number again.
_PATIENCE = 120.0
"""Seconds to wait for another process's write."""
_SETTLED = 2.0
"""Seconds: a file touched later than this may change again without its times showing it."""

T = TypeVar("T")


class CacheError(HornlensError):
    """The cache cannot be used at all."""


class CachedModel(NamedTuple):
    """A line of `hornlens cache list`."""

    name: str
    identity: str
    answers: int
    last_written: float


def default_path() -> Path:
    """Return where the cache lives: HORNLENS_CACHE, or the platform's folder for caches."""
    chosen = os.environ.get("HORNLENS_CACHE")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("hornlens") / "answers.sqlite"


class AnswerCache:
    """An AnswerStore on disk. A damaged file is set aside, with a warning, and the work goes on."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda message: None):
        """Open or make the cache at `path` (a file, or a folder to put it in)."""
        self.path = path / "answers.sqlite" if path.is_dir() else path
        self.warn = warn
        self._connection: sqlite3.Connection | None = None
        self._whole(lambda: None)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> dict[str, Scores]:
        """Return the answers that are known, by prompt."""

        def look() -> dict[str, Scores]:
            found: dict[str, Scores] = {}
            key = json.dumps(list(candidates), ensure_ascii=False)
            for start in range(0, len(prompts), 500):
                part = prompts[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._open().execute(
                    "SELECT prompt, scores, ranks, content "
                    "FROM answers JOIN models ON models.id = model "
                    "LEFT JOIN details USING (model, candidates, prompt, repeat, written) "
                    f"WHERE identity = ? AND candidates = ? AND repeat = ? AND prompt IN ({marks})",
                    (identity, key, repeat, *part),
                )
                # One JSON text of all lines: reading each by itself takes three times as long.
                lines = [(p, f"[{scores},{ranks or 'null'}]", d) for p, scores, ranks, d in rows]
                read = json.loads(f"[{','.join(line for _, line, _ in lines)}]")
                for (prompt, _, details), (scores, ranks) in zip(lines, read, strict=True):
                    known = None if ranks is None else tuple(ranks)
                    found[prompt] = Scores(tuple(scores), known, details)
            return found

        return self._whole(look)

    def put(
        self,
        identity: str,
        name: str,
        answers: Iterable[tuple[str, Scores]],
        candidates: Sequence[str],
        repeat: int = 0,
    ) -> None:
        """Write answers down, all or none. What is there already stays."""
        key = json.dumps(list(candidates), ensure_ascii=False)
        rows = [
            (prompt, json.dumps(scores), None if ranks is None else json.dumps(ranks), details)
            for prompt, given in answers
            for scores, ranks, details in [Scores(*given)]
        ]

        def write() -> None:
            with self._writing() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO models (identity, name) VALUES (?, ?)", (identity, name)
                )
                (model,) = connection.execute(
                    "SELECT id FROM models WHERE identity = ?", (identity,)
                ).fetchone()
                now = time.time()
                connection.executemany(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(model, key, p, repeat, s, r, now) for p, s, r, _ in rows],
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO details SELECT ?1, ?2, ?3, ?4, ?5, ?6 FROM answers "
                    "WHERE (model, candidates, prompt, repeat, written) = (?1, ?2, ?3, ?4, ?5)",
                    [(model, key, p, repeat, now, d) for p, _, _, d in rows if d is not None],
                )

        self._whole(write)

    def knows(self, identity: str, candidates: Sequence[str]) -> bool:
        """Say whether there are any answers of a model about these candidates."""
        key = json.dumps(list(candidates), ensure_ascii=False)

        def look() -> bool:
            rows = self._open().execute(
                "SELECT 1 FROM answers JOIN models ON models.id = model "
                "WHERE identity = ? AND candidates = ? LIMIT 1",
                (identity, key),
            )
            return rows.fetchone() is not None

        return self._whole(look)

    def hash_of(self, path: Path, compute: Callable[[Path], str]) -> str:
        """Return a file's hash: computed, or remembered if the file has not changed since."""
        whole = str(path.resolve())
        before = path.stat()
        state = (before.st_size, before.st_mtime_ns, before.st_ctime_ns)

        def look() -> str | None:
            row = (
                self._open()
                .execute(
                    "SELECT hash FROM files "
                    "WHERE path = ? AND size = ? AND modified = ? AND changed = ?",
                    (whole, *state),
                )
                .fetchone()
            )
            return None if row is None else str(row[0])

        known = self._whole(look)
        if known is not None:
            return known
        found = compute(path)

        def write() -> None:
            with self._writing() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", (whole, *state, found)
                )

        if time.time() - max(before.st_mtime, before.st_ctime) > _SETTLED:
            self._whole(write)
        return found

    def models(self) -> list[CachedModel]:
        """Return what is cached, by model, the latest first."""

        def look() -> list[CachedModel]:
            rows = self._open().execute(
                "SELECT name, identity, COUNT(prompt), COALESCE(MAX(written), 0) FROM models "
                "LEFT JOIN answers ON models.id = model GROUP BY models.id ORDER BY 4 DESC, 1"
            )
            return [CachedModel(*row) for row in rows]

        return self._whole(look)

    def prune(self, older_than: float | None = None, model: str | None = None) -> int:
        """Remove answers written before a time, or of models by name; return how many."""

        def remove() -> int:
            conditions, values = [], []
            if older_than is not None:
                conditions.append("written < ?")
                values.append(str(older_than))
            if model is not None:
                conditions.append("model IN (SELECT id FROM models WHERE name = ?)")
                values.append(model)
            where = " AND ".join(conditions) or "1"
            with self._writing() as connection:
                gone = connection.execute(f"DELETE FROM answers WHERE {where}", values).rowcount
                connection.execute("DELETE FROM models WHERE id NOT IN (SELECT model FROM answers)")
                connection.execute(
                    "DELETE FROM details WHERE (model, candidates, prompt, repeat, written) NOT IN "
                    "(SELECT model, candidates, prompt, repeat, written FROM answers)"
                )
            self._open().execute("VACUUM")
            return gone

        return self._whole(remove)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            except (OSError, sqlite3.OperationalError) as error:
                raise CacheError(f"{self.path}: the cache cannot be opened: {error}") from None
            self._connection = connection
            # Readers and a writer at once; a killed process loses nothing that was committed.
            _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
            connection.execute("PRAGMA synchronous = NORMAL")
            with self._writing():
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
        return self._connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction at once, so that two writers wait instead of colliding."""
        connection = self._open()
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _whole(self, work: Callable[[], T]) -> T:
        """Do some work; if the file turns out to be damaged, set it aside and do it again."""
        try:
            self._open()
            return work()
        except sqlite3.OperationalError as error:
            raise CacheError(f"{self.path}: the cache cannot be used: {error}") from None
        except sqlite3.DatabaseError as error:
            aside = self._set_aside()
            self.warn(
                f"the cache {self.path} is damaged ({error}); it was kept as {aside.name}, "
                "and a new one was begun"
            )
            self._open()
            return work()

    def _set_aside(self) -> Path:
        self.close()
        stem = f"{self.path.name}.damaged"
        number = 1
        while (aside := self.path.with_name(f"{stem}-{number}")).exists():
            number += 1
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return aside


def _patiently(work: Callable[[], object]) -> None:
    """Try until another process lets go; SQLite's own waiting does not cover every case."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            work()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "busy" not in str(error):
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
