"""What can still be read of a damaged cache is put into a new one; the old is kept aside."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from hornlens.store.database import ERRORS, connect, prepare
from hornlens.store.pages import rows
from hornlens.store.seals import Question, Row, is_whole

_FIRST_PAGE = 4096

_Key = tuple[Any, ...]
"""Model, candidates, prompt, repeat."""


def mend(path: Path) -> tuple[Path, int]:
    """Replace a damaged cache by what can be read of it.

    Return where it is kept, as it was, and how many answers were saved. Nobody else may mend it at
    the same time.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    fresh = path.with_name(f".{path.name}.mended.tmp")
    _remove(fresh)  # of somebody who was killed here
    try:
        shutil.copy2(path, aside)
        if _log(path).exists():
            shutil.copy2(_log(path), _log(aside))
        saved = _save(aside, fresh)
    except BaseException:  # a full disk above all: the damaged file is as it was
        _remove(aside)
        _remove(fresh)
        raise
    _log(path).unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    shutil.copymode(path, fresh)
    fresh.replace(path)
    return aside, saved


def _remove(path: Path) -> None:
    """Remove a file of SQLite's, and what lies beside it."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def _log(path: Path) -> Path:
    """Return where SQLite keeps what is not yet in the file itself."""
    return path.with_name(f"{path.name}-wal")


def _save(damaged: Path, fresh: Path) -> int:
    """Make a cache of the models and whole answers of a damaged one; return how many answers."""
    with closing(connect(fresh)) as connection:
        prepare(connection)
    models: dict[int, list[tuple[str, str]]] = {}
    answers: list[tuple[_Key, Any, Any, Any]] = []
    details: dict[tuple[_Key, Any], Any] = {}
    for number, values in rows(_with_log(damaged, fresh)):
        match values:
            case (None, str(identity), str(name)) if number is not None:
                models.setdefault(number, []).insert(0, (identity, name))
            case (str(identity), int(whose)):  # the index holds a model's identity once more
                models.setdefault(whose, []).append((identity, identity))
            case (int(), str(), str(), int(), scores, ranks, written):
                answers.append((values[:4], scores, ranks, written))
            case (int(), str(), str(), int(), written, content):
                details[values[:4], written] = content
    # Of two answers to the same, one was removed before the other was written.
    answers.sort(key=lambda answer: -answer[3] if isinstance(answer[3], float) else 0.0)
    with closing(connect(fresh)) as into:
        into.execute("BEGIN")
        saved = 0
        for key, scores, ranks, written in answers:
            row = Row(key[2], scores, ranks, details.get((key, written)))
            saved += _put(into, models.get(key[0], []), key, row, written)
        into.execute("COMMIT")
    return saved


def _with_log(damaged: Path, fresh: Path) -> bytes:
    """Return a cache's pages, those that are still in its log among them."""
    if not _log(damaged).exists():
        return damaged.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "cache"
        # As it is; then with the first page of an empty cache, where that is what is damaged.
        for first_page in (b"", _first_page(fresh)):
            data = damaged.read_bytes()
            copy.write_bytes(first_page + data[len(first_page) :])
            shutil.copy2(_log(damaged), _log(copy))
            try:
                with closing(connect(copy)) as source:
                    [(busy, *_)] = source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except ERRORS:
                continue
            if not busy:
                return copy.read_bytes()
    return damaged.read_bytes()


def _first_page(cache: Path) -> bytes:
    """Return the first page of a cache, such that SQLite goes by the real size of the file."""
    page = cache.read_bytes()[:_FIRST_PAGE]
    return page[:92] + bytes(4) + page[96:]


def _put(
    into: sqlite3.Connection, models: list[tuple[str, str]], key: _Key, row: Row, written: Any
) -> int:
    """Write an answer down if it is whole; return how many that makes."""
    number, candidates, _, repeat = key
    whose = [each for each in models if is_whole(Question(each[0], candidates, repeat), row)]
    # An answer of an older version does not tell whose it is.
    if not whose or len({identity for identity, _ in whose}) > 1:
        return 0
    into.execute("INSERT OR IGNORE INTO models VALUES (?, ?, ?)", (number, *whose[0]))
    done = into.execute(
        "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, row.scores, row.ranks, written),
    )
    if done.rowcount == 1 and row.details is not None:
        into.execute(
            "INSERT OR IGNORE INTO details VALUES (?, ?, ?, ?, ?, ?)", (*key, written, row.details)
        )
    return done.rowcount
