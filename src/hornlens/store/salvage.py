"""What can still be read of a damaged cache is put into a new one; the old is kept aside."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from hornlens.store.database import ERRORS, connect, prepare
from hornlens.store.seals import Question, Row, is_whole

_KEY = "model, candidates, prompt, repeat"
_FIRST_PAGE = 4096


def mend(path: Path) -> tuple[Path, int]:
    """Replace a damaged cache by what can be read of it.

    Return where it is kept, as it was, and how many answers were saved. Nobody else may mend it at
    the same time.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    fresh = path.with_name(f".{path.name}.mended.tmp")
    for left in (fresh, _log(fresh)):  # by somebody who was killed here
        left.unlink(missing_ok=True)
    shutil.copy2(path, aside)
    if _log(path).exists():
        shutil.copy2(_log(path), _log(aside))
    saved = _save(aside, fresh)
    _log(path).unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    shutil.copymode(path, fresh)
    fresh.replace(path)
    return aside, saved


def _log(path: Path) -> Path:
    """Return where SQLite keeps what is not yet in the file itself."""
    return path.with_name(f"{path.name}-wal")


def _save(damaged: Path, fresh: Path) -> int:
    """Make a cache of the models and whole answers of a damaged one; return how many answers."""
    with closing(connect(fresh)) as connection:
        prepare(connection)
    models: dict[Any, list[tuple[str, str]]] = {}
    answers: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    details: dict[tuple[Any, ...], Any] = {}
    with tempfile.TemporaryDirectory() as place:
        # As it is; then with the first page of an empty cache, where that is what is damaged. If
        # a table is then taken for another, its rows are no whole answers.
        for first_page in (b"", _first_page(fresh)):
            copy = Path(place) / "cache"
            data = damaged.read_bytes()
            copy.write_bytes(first_page + data[len(first_page) :])
            if _log(damaged).exists():
                shutil.copy2(_log(damaged), _log(copy))
            with closing(connect(copy)) as source:
                for number, identity, name in _rows(source, "models", "id, identity, name", "id"):
                    models.setdefault(number, []).append((str(identity), str(name)))
                # The index holds a model's identity once more.
                for number, identity in _rows(source, "models", "id, identity", "identity"):
                    models.setdefault(number, []).append((str(identity), str(identity)))
                columns = f"{_KEY}, written, scores, ranks"
                for *key, written, scores, ranks in _rows(source, "answers", columns, _KEY):
                    answers.setdefault((*key, written), (scores, ranks))
                columns = f"{_KEY}, written, content"
                for *key, content in _rows(source, "details", columns, _KEY):
                    details.setdefault(tuple(key), content)
    with closing(connect(fresh)) as into:
        into.execute("BEGIN")
        saved = 0
        for (*key, written), (scores, ranks) in answers.items():
            content = details.get((*key, written))
            saved += _put(into, models.get(key[0], []), key, written, scores, ranks, content)
        into.execute("COMMIT")
    return saved


def _first_page(cache: Path) -> bytes:
    """Return the first page of a cache, such that SQLite goes by the real size of the file."""
    page = cache.read_bytes()[:_FIRST_PAGE]
    return page[:92] + bytes(4) + page[96:]


def _rows(
    source: sqlite3.Connection, table: str, columns: str, order: str
) -> Iterator[tuple[Any, ...]]:
    """Yield a table's rows from its front up to damage, and then from its back."""
    for way in ("ASC", "DESC"):
        by = ", ".join(f"{column} {way}" for column in order.split(", "))
        try:
            yield from source.execute(f"SELECT {columns} FROM {table} ORDER BY {by}")
        except ERRORS:
            continue


def _put(
    into: sqlite3.Connection,
    models: list[tuple[str, str]],
    key: list[Any],
    written: Any,
    scores: Any,
    ranks: Any,
    content: Any,
) -> int:
    """Write an answer down if it is whole; return how many that makes."""
    number, candidates, prompt, repeat = key
    row = Row(prompt, scores, ranks, content)
    whose = [each for each in models if is_whole(Question(each[0], candidates, repeat), row)]
    if not whose:
        return 0
    into.execute("INSERT OR IGNORE INTO models VALUES (?, ?, ?)", (number, *whose[0]))
    into.execute(
        "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, scores, ranks, written)
    )
    if content is not None:
        into.execute(
            "INSERT OR IGNORE INTO details VALUES (?, ?, ?, ?, ?, ?)", (*key, written, content)
        )
    return 1
