"""A connection to a PostgreSQL server: made when it is needed, and again when it was lost.

A password is never taken from an address, which others see: it stands in results of `ps`, in logs
and in shell histories. libpq finds it in PGPASSWORD, a password file or a service file.
"""

from __future__ import annotations

import math
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import quote

from hornlens.errors import HornlensError
from hornlens.store.database import APPLICATION, CacheError

FORMAT = 1
"""Of the tables; a database of a newer one is refused."""
_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to do something again after the connection was lost."""
SILENCE = 30.0
"""Seconds for which a server may be silent; then the connection counts as lost."""
_GLANCE = 0.25
"""Seconds after which one looks again how long it has been silent."""
_SCHEMA = """
CREATE TABLE hornlens_about (format INTEGER NOT NULL);
CREATE TABLE hornlens_questions (
  id SERIAL PRIMARY KEY, digest BYTEA NOT NULL UNIQUE, words BYTEA NOT NULL,
  identity TEXT NOT NULL, name TEXT NOT NULL, candidates TEXT NOT NULL, repeat INTEGER NOT NULL);
CREATE INDEX ON hornlens_questions (words);
CREATE TABLE hornlens_answers (
  question INTEGER NOT NULL REFERENCES hornlens_questions, key BYTEA NOT NULL,
  prompt TEXT NOT NULL, scores TEXT NOT NULL, ranks TEXT, details TEXT,
  written TIMESTAMPTZ NOT NULL DEFAULT now(), PRIMARY KEY (question, key));
CREATE TABLE hornlens_leases (
  question INTEGER NOT NULL REFERENCES hornlens_questions, key BYTEA NOT NULL,
  holder INTEGER NOT NULL, until TIMESTAMPTZ NOT NULL, PRIMARY KEY (question, key));
CREATE INDEX ON hornlens_leases (holder);
CREATE TABLE hornlens_hashes (key BYTEA PRIMARY KEY, hash TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE SEQUENCE hornlens_holders AS INTEGER CYCLE;
INSERT INTO hornlens_about VALUES (1);
"""
# Not by to_regclass, which may answer from what this session knew before.
_ABOUT = "SELECT FROM pg_class WHERE relname = 'hornlens_about' AND pg_table_is_visible(oid)"
_LOCK = "SELECT ('hornlens_holders'::regclass::oid::bigint % 2147483647)::int"

T = TypeVar("T")


class Connection:
    """Does work on a server, each in one transaction: all of it, or nothing.

    While it lives, it holds the advisory lock (`lock`, `holder`), by which others know that it
    does. The first number is that of the tables, of which a database may have several, in schemas.
    Where the connection is lost it is made again, and the work is done again: all of ours may be.
    A network that swallows everything tells nobody, so a server that is silent for long is left.
    Threads take turns.
    """

    def __init__(self, place: str, forget: Callable[[], None] = lambda: None):
        """Connect; `forget` is called where work was undone, or may have been."""
        self.place, self.shown, self._forget = place, shown(place), forget
        self.lock = self.holder = 0
        self._server: Any = None
        self._turn, self._guard = threading.RLock(), threading.Lock()
        self._deadline = math.inf
        self._watching: threading.Thread | None = None
        self.do(lambda server: None)

    def close(self) -> None:
        """Disconnect; doing so twice is no error."""
        with self._turn:
            if self._server is not None:
                self._server.close()
                self._server = None

    @property
    def is_lost(self) -> bool:
        """Whether the server has hung up, as far as that is known while nothing is done."""
        if not self._turn.acquire(blocking=False):
            return False  # whoever uses it will see
        try:
            if self._server is None or self._server.closed:
                return True
            return bool(select.select([self._server.fileno()], [], [], 0)[0])
        except (OSError, ValueError):
            return False
        finally:
            self._turn.release()

    def do(
        self,
        work: Callable[[Any], T],
        pauses: Sequence[float] = _PAUSES,
        silence: float | None = None,
    ) -> T:
        """Return what some work returns, which is given the connection.

        `pauses` are the seconds before each attempt, `silence` those that the work may take.
        """
        with self._turn:
            return self._do(work, pauses, SILENCE if silence is None else silence)

    def _do(self, work: Callable[[Any], T], pauses: Sequence[float], silence: float) -> T:
        psycopg = import_psycopg()
        reason: Exception
        for pause in pauses:
            time.sleep(pause)
            try:
                if self._server is None:
                    self._begin()
                with self._watched(silence), self._server.transaction():
                    return work(self._server)
            except psycopg.errors.DeadlockDetected as error:
                self._forget()
                reason = error
            except psycopg.Error as error:
                self._forget()
                # One waits for a server on its way up, and who was connected for any.
                lost = self._server.closed if self._server is not None else self._is_away(error)
                if not (lost or _is_restart(psycopg, error)):
                    raise self._unusable(error) from None
                self._server, reason = None, error
            except BaseException:
                self._forget()
                raise
        raise self._unusable(reason)

    @contextmanager
    def _watched(self, silence: float) -> Iterator[None]:
        """Have the connection cut where this takes too long."""
        with self._guard:
            if self._watching is None:
                self._watching = threading.Thread(target=self._watch, daemon=True)
                self._watching.start()
        self._deadline = time.monotonic() + silence
        try:
            yield
        finally:
            self._deadline = math.inf

    def _watch(self) -> None:
        while True:
            time.sleep(_GLANCE)
            with self._guard:
                if self._server is None:
                    self._watching = None
                    return
            if time.monotonic() > self._deadline:
                self._deadline = math.inf
                with suppress(Exception):  # it may be closed just now
                    handle = self._server.fileno()
                    with socket.socket(fileno=os.dup(handle)) as line:
                        line.shutdown(socket.SHUT_RDWR)

    def _is_away(self, error: Exception) -> bool:
        """Say whether there is no server where there was one, or one that is starting."""
        if not isinstance(error, import_psycopg().OperationalError):
            return False
        return bool(self.holder) or _is_starting(self.place)

    def _begin(self) -> None:
        self._server = _connected(self.place)
        try:
            with self._watched(SILENCE):
                self._introduce(self._server)
        except BaseException:
            self.close()
            raise

    def _introduce(self, server: Any) -> None:
        """Become a holder, with all that was claimed before the connection was lost."""
        _prepare(server, self.shown)
        (self.lock,) = server.execute(_LOCK).fetchone()
        taken = False
        while not taken:
            (holder,) = server.execute("SELECT nextval('hornlens_holders')").fetchone()
            (taken,) = server.execute(
                "SELECT pg_try_advisory_lock(%s, %s)", (self.lock, holder)
            ).fetchone()
        if self.holder:  # the connection was lost, and what was claimed is ours still
            server.execute(
                "UPDATE hornlens_leases SET holder = %s WHERE holder = %s", (holder, self.holder)
            )
        self.holder = holder

    def _unusable(self, error: Exception) -> CacheError:
        return CacheError(f"{self.shown}: the cache cannot be used: {_line(error)}")


def import_psycopg() -> Any:
    """Return psycopg; raise HornlensError if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise HornlensError(
            "a cache in PostgreSQL needs pip install 'hornlens[postgres]'"
        ) from None
    return psycopg


def shown(place: str) -> str:
    """Return an address for people; raise CacheError if it is none, or has a password in it."""
    settings = _settings(place)
    if "service" in settings:
        return f"postgresql://?service={settings['service']}"
    user = f"{quote(settings['user'])}@" if "user" in settings else ""
    host, port = settings.get("host", ""), settings.get("port")
    place = quote(host, safe=",:") + (f":{port}" if port else "")
    return f"postgresql://{user}{place}/{quote(settings.get('dbname', ''))}"


def _settings(place: str) -> Mapping[str, str]:
    psycopg = import_psycopg()
    try:
        settings = psycopg.conninfo.conninfo_to_dict(place)
    except psycopg.Error:  # whose message may have the password in it
        raise CacheError(
            "the cache's address is none of a database: postgresql://USER@HOST:PORT/DATABASE"
        ) from None
    if {"password", "sslpassword"} & settings.keys():
        raise CacheError(
            "the cache's address has a password in it, which others can see: leave it out, and "
            "set PGPASSWORD, or write a password file (~/.pgpass) or a service file"
        )
    return {name: str(value) for name, value in settings.items()}


def _connected(place: str) -> Any:
    psycopg = import_psycopg()
    settings = _settings(place)
    usual = {"connect_timeout": "10", "fallback_application_name": "hornlens"}
    more = {name: value for name, value in usual.items() if name not in settings}
    return psycopg.connect(place, autocommit=True, client_encoding="UTF8", **more)


def _is_starting(place: str) -> bool:
    """Say whether a server is there and lets nobody in yet.

    A connection that fails says so in words alone, and those are in the server's language.
    """
    psycopg = import_psycopg()
    settings = psycopg.conninfo.make_conninfo(place, connect_timeout=2)
    return bool(psycopg.pq.PGconn.ping(settings.encode()) == psycopg.pq.Ping.REJECT)


def _prepare(server: Any, shown: str) -> None:
    """Make the tables, if there are none; raise CacheError if they are not for us."""
    (encoding,) = server.execute("SHOW server_encoding").fetchone()
    if encoding != "UTF8":
        raise CacheError(f"{shown}: the database is in {encoding}, and must be in UTF8")
    server.execute("SET synchronous_commit = on")  # what is recorded stays, whatever fails
    # Who is stopped or cut off in the middle of something holds nobody up.
    server.execute(f"SET idle_in_transaction_session_timeout = {int(SILENCE * 1000)}")
    with server.transaction():
        if server.execute(_ABOUT).fetchone() is None:
            server.execute("SELECT pg_advisory_xact_lock(%s, 0)", (APPLICATION,))
            if server.execute(_ABOUT).fetchone() is None:  # nobody else was faster
                server.execute(_SCHEMA)
        row = server.execute("SELECT max(format) FROM hornlens_about").fetchone()
    if row[0] != FORMAT:
        raise CacheError(
            f"{shown}: the cache has format {row[0]}, and this version reads {FORMAT}: "
            "use the version that made it, or another database"
        )


def _is_restart(psycopg: Any, error: Exception) -> bool:
    """Say whether a server that was there is on its way down or up."""
    states = psycopg.errors
    return isinstance(error, states.AdminShutdown | states.CrashShutdown | states.CannotConnectNow)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
