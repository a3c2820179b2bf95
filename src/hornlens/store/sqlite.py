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
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from hornlens.store import leases
from hornlens.store.database import ERRORS, CacheError, Database, is_circumstance
from hornlens.store.hashes import State, kept_hash
from hornlens.store.leases import Keeper, holder
from hornlens.store.protocol import CachedModel, Scores
from hornlens.store.seals import Question, Row, opened, question_of, sealed

__all__ = ["AnswerCache", "CacheError", "CachedModel", "default_path"]

_stores = count()


def default_path() -> Path:
    """Return where the cache lives: HORNLENS_CACHE, or the platform's folder for caches."""
    chosen = os.environ.get("HORNLENS_CACHE")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("hornlens") / "answers.sqlite"


class AnswerCache:
    """A SharedStore on disk.

    Each answer has a checksum. One that is damaged is dropped, and of a damaged file everything
    else is kept, with one warning; what was dropped is not known, and so is asked again.
    """

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda message: None):
        """Open or make the cache at `path` (a file, or a folder to put it in)."""
        self.path = path / "answers.sqlite" if path.is_dir() else path
        self._number = next(_stores)
        self._keeper: Keeper | None = None
        self._looked_through = False
        self._file = Database(self.path, warn, _mend)

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path)

    @property
    def shown(self) -> str:
        """The file, for people."""
        return str(self.path)

    def close(self) -> None:
        """Close the file; what was claimed is released."""
        if self._keeper is not None:
            self._let_go("holder = ?", ())
        self._file.close()

    def get(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> dict[str, Scores]:
        """Return the answers that are known, by prompt; damaged ones are removed."""
        question = question_of(identity, candidates, repeat)
        answers, damaged = self._file.read(lambda connection: _look(connection, question, prompts))
        if damaged:
            # An answer that is in the wrong place makes others be missed.
            self._file.mend_if_damaged()
            self._file.complain(
                f"answers in the cache {self.path} are damaged; they are asked for again"
            )
            answers = self._file.write(lambda connection: _drop(connection, question, prompts))
        return answers

    def put(
        self,
        identity: str,
        name: str,
        answers: Iterable[tuple[str, Scores]],
        candidates: Sequence[str],
        repeat: int = 0,
    ) -> None:
        """Write answers down, all or none. What is there already stays."""
        question = question_of(identity, candidates, repeat)
        rows = [sealed(question, prompt, Scores(*given)) for prompt, given in answers]

        def write(connection: sqlite3.Connection) -> None:
            if not (numbers := _models(connection, identity)):
                connection.execute(
                    "INSERT INTO models (identity, name) VALUES (?, ?)", (identity, str(name))
                )
                numbers = _models(connection, identity)
            key = (numbers[0], question.candidates)
            now = time.time()
            connection.executemany(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*key, row.prompt, repeat, row.scores, row.ranks, now) for row in rows],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO details SELECT ?1, ?2, ?3, ?4, ?5, ?6 FROM answers "
                "WHERE (model, candidates, prompt, repeat, written) = (?1, ?2, ?3, ?4, ?5)",
                [
                    (*key, row.prompt, repeat, now, row.details)
                    for row in rows
                    if row.details is not None
                ],
            )

        self._file.write(write)

    def claim(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> list[str]:
        """Return the prompts that are now this one's to ask: new, and asked by nobody else.

        Before the first are claimed, the file is looked through.
        """
        question = question_of(identity, candidates, repeat)
        me = holder(self._number)
        if not self._looked_through:
            # Answers may be missing because they cannot be found; and to write makes damage worse.
            # It takes 1.6 s a gigabyte.
            self._file.mend_if_damaged()
            self._looked_through = True

        def write(connection: sqlite3.Connection) -> list[str]:
            taken = {*_look(connection, question, prompts)[0]}
            leases.remove_lapsed(connection, me)
            for (claimed,) in connection.execute(
                "SELECT prompts FROM leases "
                "WHERE holder <> ? AND identity = ? AND candidates = ? AND repeat = ?",
                (me, *question),
            ).fetchall():
                taken.update(_prompts(claimed))
            mine = [prompt for prompt in prompts if prompt not in taken]
            if mine:
                connection.execute(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?)",
                    (me, *question, json.dumps(mine), 0.0),
                )
                leases.renew(connection, me)
            return mine

        mine = self._file.write(write)
        if mine and self._keeper is None:
            self._keeper = Keeper(self.path, me)
        return mine

    def renew(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> bool:
        """Say whether what was claimed is still this one's to ask; any thread may call it."""
        keeper = self._keeper
        try:
            return keeper is not None and keeper.stands(question_of(identity, candidates, repeat))
        except ERRORS as error:
            if is_circumstance(error):
                raise self._file.unusable(error) from None
            return False  # whoever looks into the file next mends it

    def release(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> None:
        """Give up what was claimed."""
        question = question_of(identity, candidates, repeat)
        self._let_go("holder = ? AND identity = ? AND candidates = ? AND repeat = ?", question)

    def _let_go(self, which: str, values: Sequence[object]) -> None:
        me = holder(self._number)

        def remove(connection: sqlite3.Connection) -> bool:
            connection.execute(f"DELETE FROM leases WHERE {which}", (me, *values))
            remaining = connection.execute("SELECT 1 FROM leases WHERE holder = ? LIMIT 1", (me,))
            if remaining.fetchone() is not None:
                return False
            connection.execute("DELETE FROM signs WHERE holder = ?", (me,))
            return True

        if self._file.write(remove) and self._keeper is not None:
            self._keeper.stop()
            self._keeper = None

    def knows(self, identity: str, candidates: Sequence[str]) -> bool:
        """Say whether there are any answers of a model about these candidates."""
        key = question_of(identity, candidates, 0).candidates

        def look(connection: sqlite3.Connection) -> bool:
            return any(
                connection.execute(
                    "SELECT 1 FROM answers WHERE model = ? AND candidates = ? LIMIT 1",
                    (number, key),
                ).fetchone()
                for number in _models(connection, identity)
            )

        return self._file.read(look)

    def hash_of(self, path: Path, compute: Callable[[Path], str]) -> str:
        """Return a file's hash: computed, or remembered if the file has not changed since."""

        def recall(state: State) -> tuple[str, str] | None:
            row: tuple[str, str] | None = self._file.read(
                lambda connection: connection.execute(
                    "SELECT hash, checksum FROM hashes "
                    "WHERE path = ? AND size = ? AND modified = ? AND changed = ?",
                    state,
                ).fetchone()
            )
            return row

        def remember(state: State, digest: str, seal: str) -> None:
            self._file.write(
                lambda connection: connection.execute(
                    "INSERT OR REPLACE INTO hashes VALUES (?, ?, ?, ?, ?, ?)",
                    (*state, digest, seal),
                )
            )

        return kept_hash(path, compute, recall, remember)

    def models(self) -> list[CachedModel]:
        """Return what is cached, by model, the latest first."""

        def look(connection: sqlite3.Connection) -> list[CachedModel]:
            rows = connection.execute(
                "SELECT name, identity, COUNT(prompt), COALESCE(MAX(written), 0) FROM models "
                "LEFT JOIN answers ON models.id = model GROUP BY models.id ORDER BY 4 DESC, 1"
            )
            return [CachedModel(*row) for row in rows]

        return self._file.read(look)

    def prune(self, older_than: float | None = None, model: str | None = None) -> int:
        """Remove answers written before a time, or of models by name; return how many."""
        conditions, values = [], []
        if older_than is not None:
            conditions.append("written < ?")
            values.append(str(older_than))
        if model is not None:
            conditions.append("model IN (SELECT id FROM models WHERE name = ?)")
            values.append(model)
        where = " AND ".join(conditions) or "1"

        def remove(connection: sqlite3.Connection) -> int:
            gone = connection.execute(f"DELETE FROM answers WHERE {where}", values).rowcount
            connection.execute("DELETE FROM models WHERE id NOT IN (SELECT model FROM answers)")
            connection.execute(
                "DELETE FROM details WHERE (model, candidates, prompt, repeat, written) NOT IN "
                "(SELECT model, candidates, prompt, repeat, written FROM answers)"
            )
            return gone

        # What is removed leaves no trace in the file, should we be killed before it is made anew.
        self._file.read(lambda connection: connection.execute("PRAGMA secure_delete = ON"))
        gone = self._file.write(remove)
        self._file.read(lambda connection: connection.execute("VACUUM"))
        return gone


def _mend(path: Path) -> tuple[Path, int]:
    from hornlens.store.salvage import mend  # seldom needed

    return mend(path)


def _models(connection: sqlite3.Connection, identity: str) -> list[int]:
    """Return the numbers of a model: the index holds its identity, and so does the table."""
    rows = connection.execute(
        "SELECT id FROM models WHERE identity = ?1 "
        "UNION SELECT id FROM models NOT INDEXED WHERE identity = ?1 ORDER BY 1",
        (identity,),
    )
    return [number for (number,) in rows]


def _look(
    connection: sqlite3.Connection, question: Question, prompts: Sequence[str]
) -> tuple[dict[str, Scores], list[Any]]:
    """Return the whole answers to some prompts, and the prompts of the damaged ones."""
    rows: list[Row] = []
    for number in reversed(_models(connection, question.identity)):  # what is older counts
        for start in range(0, len(prompts), 500):
            part = prompts[start : start + 500]
            marks = ",".join("?" * len(part))
            cursor = connection.execute(
                "SELECT prompt, scores, ranks, content FROM answers "
                "LEFT JOIN details USING (model, candidates, prompt, repeat, written) "
                f"WHERE model = ? AND candidates = ? AND repeat = ? AND prompt IN ({marks})",
                (number, question.candidates, question.repeat, *part),
            )
            rows += map(Row._make, cursor)
    return opened(question, rows)


def _drop(
    connection: sqlite3.Connection, question: Question, prompts: Sequence[str]
) -> dict[str, Scores]:
    """Remove the damaged answers to some prompts; return the whole ones."""
    answers, damaged = _look(connection, question, prompts)
    for number in _models(connection, question.identity):
        connection.executemany(
            "DELETE FROM answers WHERE model = ? AND candidates = ? AND repeat = ? AND prompt = ?",
            [(number, question.candidates, question.repeat, prompt) for prompt in damaged],
        )
    return answers


def _prompts(claimed: object) -> list[str]:
    """Return the prompts of a claim; none of one that is damaged."""
    try:
        prompts = json.loads(str(claimed))
    except ValueError:
        return []
    texts = prompts if isinstance(prompts, list) else []
    return [prompt for prompt in texts if isinstance(prompt, str)]
