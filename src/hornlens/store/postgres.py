"""Answers in a PostgreSQL database, which asking processes on many machines share.

The same guarantees as of the cache in a file: what is recorded first counts, nobody asks what
another one is asking, every answer has its checksum.
"""

from __future__ import annotations

import json
import math
import platform
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hornlens.logging import get_logger
from hornlens.store import leases
from hornlens.store.connection import Connection
from hornlens.store.database import CacheError
from hornlens.store.hashes import State, kept_hash
from hornlens.store.leases import Silences
from hornlens.store.protocol import CachedModel, Scores
from hornlens.store.seals import Question, Row, opened, question_of, sealed

__all__ = ["PostgresStore"]

_log = get_logger(__name__)
_GLANCE = 0.5
"""Seconds after which one looks again whether the server has hung up."""


class PostgresStore:
    """A SharedStore in a database.

    A claim ends when its holder has been disconnected for some seconds, which the server knows of a
    process that is killed; and when the holder has given no sign of life for a minute, though it is
    connected: it is stopped, or cut off. Both by the clock of whoever waits for it.
    """

    def __init__(self, place: str, warn: Callable[[str], None] = lambda message: None):
        """Connect to the database, and make its tables if it has none yet."""
        self.place = place
        self._warn: Callable[[str], None] | None = warn
        self._numbers: dict[Question, int] = {}
        self._named: set[Question] = set()
        self._server = Connection(place, self._forget)
        self._keeper: _Keeper | None = None
        self._silences = Silences()
        self._signed = -math.inf

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
        if self._keeper is not None:
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
            assert number is not None
            # Who has a claim had its lock before; so one whose holder has none is disconnected.
            claims = server.execute(
                "SELECT holder, max(until) FROM hornlens_leases "
                "WHERE question = %s AND holder <> %s GROUP BY holder",
                (number, me),
            ).fetchall()
            alive = {
                holder for (holder,) in server.execute(_ALIVE, (self._server.lock,)).fetchall()
            }
            lapsed = self._silences.lapsed(
                {(number, holder): (holder in alive, until) for holder, until in claims}
            )
            # All that they hold here, so that they see it before their next call.
            server.execute(
                "DELETE FROM hornlens_leases WHERE question = %s "
                "AND (holder = ANY(%s) OR holder = %s AND NOT key = ANY(%s))",
                (number, [holder for _, holder in lapsed], me, [*keys]),
            )
            mine = server.execute(
                "INSERT INTO hornlens_leases AS lease (question, key, holder, until) "
                "SELECT %(number)s, key, %(me)s, now() + %(term)s * interval '1 second' "
                "FROM unnest(%(keys)s::bytea[]) AS key WHERE NOT EXISTS (SELECT FROM "
                "hornlens_answers AS a WHERE a.question = %(number)s AND a.key = key.key) "
                "ORDER BY key "
                "ON CONFLICT (question, key) DO UPDATE SET (holder, until) = "
                "(excluded.holder, excluded.until) WHERE lease.holder = %(me)s RETURNING key",
                {"number": number, "me": me, "term": leases.TERM, "keys": [*keys]},
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
        if mine and self._keeper is None:
            self._keeper = _Keeper(self._keep)
        return [prompt for key, prompt in keys.items() if key in mine]

    def renew(self, identity: str, candidates: Sequence[str], repeat: int = 0) -> bool:
        """Say whether what was claimed is still this one's to ask; any thread may call it."""
        question = question_of(identity, candidates, repeat)
        old = time.monotonic() - self._signed >= leases.TERM / 4

        def look(server: Any) -> bool:
            number, me = self._number(server, question), self._server.holder
            if old:
                self._sign(server)
            row = server.execute(
                "SELECT FROM hornlens_leases WHERE question = %s AND holder = %s LIMIT 1",
                (number, me),
            ).fetchone()
            return row is not None

        return self._server.do(look)

    def _sign(self, server: Any) -> None:
        """Give a sign of life for all claims."""
        server.execute(
            "UPDATE hornlens_leases SET until = now() + %s * interval '1 second' WHERE holder = %s",
            (leases.TERM, self._server.holder),
        )
        self._signed = time.monotonic()

    def _keep(self) -> None:
        """Give a sign of life if it is time, or if the connection was lost: then take it up."""
        if time.monotonic() - self._signed >= leases.TERM / 4 or self._server.is_lost:
            # A claim may run out where this fails: then it is seen before the next call.
            with suppress(CacheError):
                self._server.do(self._sign, pauses=(0.0,))

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

        if self._server.do(remove) and self._keeper is not None:
            self._keeper.stop()
            self._keeper = None

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

        return self._server.do(look, silence=math.inf)

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

        return self._server.do(remove, silence=math.inf)

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


class _Keeper:
    """Calls something now and then, in a thread of its own, until it is stopped."""

    def __init__(self, keep: Callable[[], None]):
        self._stopped = threading.Event()
        self.stop: Callable[[], None] = self._stopped.set
        threading.Thread(target=self._run, args=(keep,), daemon=True).start()

    def _run(self, keep: Callable[[], None]) -> None:
        while not self._stopped.wait(min(_GLANCE, leases.TERM / 8)):
            keep()


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
