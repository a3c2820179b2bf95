"""A real PostgreSQL server for the tests: in a folder of its own, on a socket and loopback."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

PASSWORD = "correct-horse-battery"


def programs() -> Path | None:
    """Return where PostgreSQL's programs are; None: nowhere."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    found = [Path(on_path).parent] if on_path else places
    return next((place for place in found if (place / "postgres").exists()), None)


def user() -> str | None:
    """Return as whom a server runs, which refuses to be root's; None: as ourselves."""
    if os.getuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


def _in(database: str) -> str:
    """Return the end of an address for a database, or a schema of it."""
    name, _, schema = database.partition(".")
    return name + (f"?options=-csearch_path%3D{schema}" if schema else "")


class Server:
    """Runs until it is closed. On its socket everybody is trusted; on loopback, by password."""

    def __init__(self, fsync: str = "off", shared_buffers: str = "16MB") -> None:
        bin_folder = programs()
        if bin_folder is None:
            pytest.skip("needs a PostgreSQL server (Debian: apt-get install postgresql)")
        self._bin, self._user, self._names = bin_folder, user(), count()
        self.folder = Path(tempfile.mkdtemp(prefix="hl-pg-", dir="/tmp"))  # its socket's path
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self.folder.chmod(0o755)
        self._data = self.folder / "data"
        self._run("initdb", "-D", self._data, "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        (self._data / "pg_hba.conf").write_text(
            "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._settings = {"fsync": fsync, "shared_buffers": shared_buffers}
        self._process = self._start()
        self._wait()
        self.execute(f"CREATE ROLE auditor LOGIN PASSWORD '{PASSWORD}'")

    def _run(self, name: str, *arguments: object) -> None:
        command = [str(self._bin / name), *map(str, arguments)]
        done = subprocess.run(
            command, user=self._user, cwd=self.folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def _start(self) -> subprocess.Popen:
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self.folder,
            "max_connections": 60,
            **self._settings,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [
                    str(self._bin / "postgres"),
                    "-D",
                    str(self._data),
                    "-p",
                    str(self.port),
                    *options,
                ],
                user=self._user,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def _wait(self) -> None:
        """Wait until it lets somebody in."""
        deadline = time.monotonic() + 60
        while True:
            try:
                self.execute("SELECT 1")
                return
            except Exception:
                assert self._process.poll() is None and time.monotonic() < deadline, self.log()
                time.sleep(0.05)

    def _refusal(self) -> str:
        """Return why it lets nobody in."""
        try:
            self.execute("SELECT 1")
            return ""
        except Exception as error:
            return str(error)

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def execute(self, sql: str, database: str = "postgres") -> list:
        """Run a statement as the owner."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as server:
            cursor = server.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def schema(self) -> str:
        """Make an empty place in the database; return what to call it."""
        name = f"s{next(self._names)}"
        self.execute(f"CREATE SCHEMA {name}")
        self.execute(f"GRANT ALL ON SCHEMA {name} TO auditor")
        return f"postgres.{name}"

    def database(self, encoding: str) -> str:
        """Make an empty database; return its name."""
        name = f"d{next(self._names)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'")
        return name

    def address(self, database: str) -> str:
        """Return the address by the socket, which needs no password."""
        host = str(self.folder).replace("/", "%2F")
        return f"postgresql://owner@{host}:{self.port}/{_in(database)}"

    def guarded(self, database: str) -> str:
        """Return the address by loopback, which needs the auditor's password."""
        return f"postgresql://auditor@127.0.0.1:{self.port}/{_in(database)}"

    def _stop(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(timeout=60)

    def restart(self) -> None:
        """End it at once, without a word to anybody, and start it again."""
        self._stop(signal.SIGQUIT)
        self._process = self._start()
        self._wait()

    @contextmanager
    def starting(self) -> Iterator[Callable[[], None]]:
        """Hold it in the midst of its start; the function that is given lets it go on."""
        self._stop(signal.SIGINT)
        (self._data / "standby.signal").touch()  # it follows another, and waits for it
        shutil.chown(self._data / "standby.signal", self._user or os.getuid())
        self._settings["hot_standby"] = "off"
        self._process = self._start()

        def go_on() -> None:
            self._run("pg_ctl", "promote", "-D", self._data, "-w")

        while "is not accepting connections" not in self._refusal():
            time.sleep(0.05)
        try:
            yield go_on
        finally:
            if (self._data / "standby.signal").exists():
                go_on()
            self._wait()

    def close(self) -> None:
        self._stop(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)
