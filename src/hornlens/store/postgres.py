"""Answers in a PostgreSQL database, which asking processes on many machines share.

The same guarantees as of the cache in a file: what is recorded first counts, nobody asks what
another one is asking, every answer has its checksum.
"""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hornlens.logging import get_logger
from hornlens.store.connection import Connection, connect
from hornlens.store.database import CacheError
from hornlens.store.hashes import State, kept_hash
from hornlens.store.leases import TERM
from hornlens.store.protocol import CachedModel, Scores
from hornlens.store.seals import Question, Row, opened, question_of, sealed

__all__ = ["PostgresStore"]

_log = get_logger(__name__)


class PostgresStore:
    """A SharedStore in a database.

    A claim ends when the connection of its holder does, which the server knows at once of a process
    that is killed; of a machine that is cut off, when it has given no sign of life for a minute.
    """

    def __init__(self, place: str, warn: Callable[[str], None] = lambda message: None):
        """Connect to the database, and make its tables if it has none yet."""
        self.place = place
        self._warn: Callable[[str], None] | None = warn
        self._numbers: dict[Question, int] = {}
        self._named: set[Question] = set()
        self._server = Connection(place, self._forget)
        self._renewal: _Renewal | None = None

    def _forget(self) -> None:
        """Take nothing for granted that was done in a transaction which failed."""
        self._numbers.clear()
        self._named.clear()

    @property
    def shown(self) -> str:
        """The database, for people: never with a password."""
        return self._server.shown

    def close(self) -> None:
        """Disconnect; what was claimed is released."""
        if self._renewal is not None:
            with suppress(CacheError):  # then it ends with the connection
                self._let_go("TRUE")
        self._server.close()

    def get(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> dict[str, Scores]:
        """Return the answers that are known, by prompt; damaged ones are removed."""
        question = question_of(identity, candidates, repeat)
        keys = {_key(prompt): prompt for prompt in prompts}

        def look(server: Any) -> tuple[dict[str, Scores], bool]:
            number = self._number(server, question)
            if number is None or not keys:
                return {}, False
            rows = server.execute(
                "SELECT key, prompt, scores, ranks, details FROM hornlens_answers "
                "WHERE question = %s AND key = ANY(%s)",
                (number, [*keys]),
            ).fetchall()
            texts = [
                (
                    key,
                    Row(_read(prompt), scores, ranks, None if details is None else _read(details)),
                )
                for key, prompt, scores, ranks, details in rows
            ]
            # The seal has the prompt in it: a row under the wrong key, or without one, is damaged.
            right = [
                row
                for key, row in texts
                if row.prompt == keys[key] and not row.scores.endswith("]")
            ]
            answers, _ = opened(question, right)
            damaged = [key for key, row in texts if keys[key] not in answers]
            for key in damaged:
                server.execute(
                    "DELETE FROM hornlens_answers WHERE question = %s AND key = %s", (number, key)
                )
            return answers, bool(damaged)

        answers, damaged = self._server.do(look)
        if damaged:
            message = f"answers in the cache {self.shown} are damaged; they are asked for again"
            _log.warning("%s", message)
            if self._warn is not None:
                self._warn(message)
                self._warn = None
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
        rows = {_key(prompt): sealed(question, prompt, Scores(*given)) for prompt, given in answers}
        if not rows:
            return
        keys = sorted(rows)  # in one order, so that two who write the same wait instead of block
        lines = [rows[key] for key in keys]
        columns = (
            [_written(line.prompt) for line in lines],
            [line.scores for line in lines],
            [line.ranks for line in lines],
            [None if line.details is None else _written(line.details) for line in lines],
        )

        def write(server: Any) -> None:
            number = self._number(server, question, str(name))
            server.execute(
                "INSERT INTO hornlens_answers (question, key, prompt, scores, ranks, details) "
                "SELECT %s, line.* FROM unnest"
                "(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::text[]) AS line "
                "ON CONFLICT DO NOTHING",
                (number, keys, *columns),
            )

        self._server.do(write)

    def claim(
        self, identity: str, prompts: Sequence[str], candidates: Sequence[str], repeat: int = 0
    ) -> list[str]:
        """Return the prompts that are now this one's to ask: new, and asked by nobody else."""
        question = question_of(identity, candidates, repeat)
        keys = {_key(prompt): prompt for prompt in prompts}

        def write(server: Any) -> set[bytes]:
            number, me = self._number(server, question, ""), self._server.holder
            # Who has a claim had its lock before; so a claim whose holder has none now is dead.
            claims = server.execute(
                "SELECT DISTINCT holder FROM hornlens_leases WHERE question = %s", (number,)
            ).fetchall()
            alive = {
                holder for (holder,) in server.execute(_ALIVE, (self._server.lock,)).fetchall()
            }
            dead = [holder for (holder,) in claims if holder not in alive]
            server.execute(
                "DELETE FROM hornlens_leases "
                "WHERE question = %s AND holder = %s AND NOT key = ANY(%s)",
                (number, me, [*keys]),
            )
            mine = server.execute(
                "INSERT INTO hornlens_leases AS lease (question, key, holder, until) "
                "SELECT %(number)s, key, %(me)s, now() + %(term)s * interval '1 second' "
                "FROM unnest(%(keys)s::bytea[]) AS key WHERE NOT EXISTS (SELECT FROM "
                "hornlens_answers AS a WHERE a.question = %(number)s AND a.key = key.key) "
                "ORDER BY key "
                "ON CONFLICT (question, key) DO UPDATE SET (holder, until) = "
                "(excluded.holder, excluded.until) WHERE lease.until < now() "
                "OR lease.holder = %(me)s OR lease.holder = ANY(%(dead)s) RETURNING key",
                {"number": number, "me": me, "term": TERM, "keys": [*keys], "dead": dead},
            ).fetchall()
            # Somebody may have answered and let go after the statement had begun to look.
            late = server.execute(
                "DELETE FROM hornlens_leases AS lease USING hornlens_answers AS a "
                "WHERE lease.question = %s AND lease.holder = %s "
                "AND a.question = lease.question AND a.key = lease.key RETURNING lease.key",
                (number, me),
            ).fetchall()
            return {bytes(key) for (key,) in mine} - {bytes(key) for (key,) in late}

        mine = self._server.do(write)
        if mine and self._renewal is None:
            self._renewal = _Renewal(self.place, lambda: self._server.holder)
        return [prompt for key, prompt in keys.items() if key in mine]

    def release(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> None:
        """Give up what was claimed."""
        question = question_of(identity, candidates, repeat)
        self._let_go(
            "question = (SELECT id FROM hornlens_questions WHERE digest = %s)", _digest(*question)
        )

    def _let_go(self, which: str, *values: object) -> None:
        def remove(server: Any) -> bool:
            me = self._server.holder
            server.execute(
                f"DELETE FROM hornlens_leases WHERE holder = %s AND {which}", (me, *values)
            )
            remaining = server.execute(
                "SELECT FROM hornlens_leases WHERE holder = %s LIMIT 1", (me,)
            )
            return remaining.fetchone() is None

        if self._server.do(remove) and self._renewal is not None:
            self._renewal.stop()
            self._renewal = None

    def knows(self, identity: str, candidates: Sequence[str]) -> bool:
        """Say whether there are any answers of a model about these candidates."""
        words = _digest(identity, question_of(identity, candidates, 0).candidates)

        def look(server: Any) -> bool:
            return bool(
                server.execute(
                    "SELECT EXISTS (SELECT FROM hornlens_questions AS q "
                    "WHERE q.words = %s AND EXISTS "
                    "(SELECT FROM hornlens_answers AS a WHERE a.question = q.id))",
                    (words,),
                ).fetchone()[0]
            )

        return self._server.do(look)

    def hash_of(self, path: Path, compute: Callable[[Path], str]) -> str:
        """Return a file's hash: computed, or remembered if this machine's file is unchanged."""
        machine = platform.node()

        def recall(state: State) -> tuple[str, str] | None:
            key = _digest(machine, *state)
            row: tuple[str, str] | None = self._server.do(
                lambda server: server.execute(
                    "SELECT hash, checksum FROM hornlens_hashes WHERE key = %s", (key,)
                ).fetchone()
            )
            return row

        def remember(state: State, digest: str, seal: str) -> None:
            key = _digest(machine, *state)
            self._server.do(
                lambda server: server.execute(
                    "INSERT INTO hornlens_hashes VALUES (%s, %s, %s) ON CONFLICT (key) DO UPDATE "
                    "SET (hash, checksum) = (excluded.hash, excluded.checksum)",
                    (key, digest, seal),
                )
            )

        return kept_hash(path, compute, recall, remember)

    def models(self) -> list[CachedModel]:
        """Return what is kept, by model, the latest first."""

        def look(server: Any) -> list[CachedModel]:
            rows = server.execute(
                "SELECT max(name), identity, count(key), "
                "coalesce(extract(epoch FROM max(written)), 0)::float8 "
                "FROM hornlens_questions JOIN hornlens_answers ON question = id "
                "GROUP BY identity ORDER BY 4 DESC, 1"
            ).fetchall()
            return [CachedModel(_read(name), _read(who), *more) for name, who, *more in rows]

        return self._server.do(look)

    def prune(self, older_than: float | None = None, model: str | None = None) -> int:
        """Remove answers written before a time, or of models by name; return how many."""
        name = None if model is None else _written(model)

        def remove(server: Any) -> int:
            return int(
                server.execute(
                    "DELETE FROM hornlens_answers USING hornlens_questions AS q "
                    "WHERE question = q.id "
                    "AND (%(before)s::float8 IS NULL OR written < to_timestamp(%(before)s)) "
                    "AND (%(name)s::text IS NULL OR q.name = %(name)s)",
                    {"before": older_than, "name": name},
                ).rowcount
            )

        return self._server.do(remove)

    def _number(self, server: Any, question: Question, name: str | None = None) -> int | None:
        """Return the number of a question; one is made where the name of its model is given.

        A claim comes before any answer, and knows no name yet: "".
        """
        if question in (self._named if name else self._numbers):
            return self._numbers[question]
        digest = _digest(*question)
        if name is not None:
            server.execute(
                "INSERT INTO hornlens_questions AS q "
                "(digest, words, identity, name, candidates, repeat) "
                "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (digest) DO UPDATE "
                "SET name = excluded.name WHERE q.name = %s AND excluded.name <> q.name",
                (
                    *(digest, _digest(question.identity, question.candidates)),
                    *(_written(question.identity), _written(name)),
                    *(_written(question.candidates), question.repeat, _written("")),
                ),
            )
        row = server.execute(
            "SELECT id FROM hornlens_questions WHERE digest = %s", (digest,)
        ).fetchone()
        if row is None:
            return None
        self._numbers[question] = number = int(row[0])
        if name:
            self._named.add(question)
        return number


_ALIVE = """
SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
AND classid = %s AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class _Renewal:
    """Puts off the end of a holder's claims, by a connection of its own, until it is stopped."""

    def __init__(self, place: str, holder: Callable[[], int]):
        self._stopped = threading.Event()
        self.stop: Callable[[], None] = self._stopped.set
        threading.Thread(target=self._renew, args=(place, holder), daemon=True).start()

    def _renew(self, place: str, holder: Callable[[], int]) -> None:
        while not self._stopped.wait(TERM / 4):
            # The claim may run out where this fails: then a prompt is asked twice, no more.
            with suppress(CacheError), connect(place) as server:
                server.execute(
                    "UPDATE hornlens_leases SET until = now() + %s * interval '1 second' "
                    "WHERE holder = %s",
                    (TERM, holder()),
                )


def _digest(*parts: object) -> bytes:
    """Return what stands for some texts and numbers in an index, which takes no long ones."""
    return blake2b(json.dumps(parts).encode("ascii"), digest_size=16).digest()


def _key(prompt: str) -> bytes:
    return _digest(prompt)


def _written(text: str) -> str:
    """Return a text as JSON: PostgreSQL's own texts have no zero character."""
    encoded = json.dumps(text, ensure_ascii=False)
    return encoded if encoded.isprintable() else json.dumps(text)


def _read(text: Any) -> Any:
    """Return what was written; None if it is damaged."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None
