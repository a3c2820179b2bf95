"""PostgreSQL that goes away in the middle of a run: it goes on, or ends in one line.

No answer is lost, and none is paid for twice, but for a call that was under way.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing

import pytest

from tests.faults.rounds import rounds
from tests.faults.test_stopped import askers, calls, ends, wait_until
from tests.postgres_server import PASSWORD, Server

pytest.importorskip("psycopg", reason="needs pip install 'hornlens[postgres]'")

CUTS = ("a backend is killed", "a backend is ended", "the server is ended at once")


@pytest.fixture(scope="module")
def server():
    with closing(Server(fsync="on")) as running:
        yield running


BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hornlens'"
HOLDERS = f"SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND pid IN ({BACKENDS})"


def wait_for_all(server, count):
    """Wait until so many are connected: who never was gets a line at once."""
    wait_until(lambda: len(server.execute(HOLDERS)) >= count)


def cut(server, how):
    """Do it."""
    if how == CUTS[0]:
        os.kill(server.execute(BACKENDS)[0][0], signal.SIGKILL)  # it takes all others along
        wait_until(lambda: _is_up(server))
    elif how == CUTS[1]:
        server.execute(f"SELECT pg_terminate_backend(pid) FROM ({BACKENDS} LIMIT 1) AS one")
    else:
        server.restart()


def _is_up(server):
    try:
        return server.execute("SELECT 1")
    except Exception:
        return False


@pytest.mark.parametrize("how", CUTS)
def test_a_run_goes_on_when_the_server_is_there_again(server, tmp_path, how):
    log, prompts = tmp_path / "log", 60
    place = server.address(server.schema())
    with askers(place, log, 3, prompts, 0.15, term=20.0) as processes:
        wait_for_all(server, 3)
        for number in range(rounds(1, 4)):
            wait_until(lambda number=number: len(calls(log)) >= 5 + 8 * number)
            cut(server, how)
        ends(processes)
        times = Counter(prompt for _, prompt in calls(log))
    assert len(times) == prompts and set(times.values()) == {1}, times


class Proxy:
    """Stands between a client and the server; when it is silent it swallows all, and tells nobody.

    So does a firewall that has forgotten a connection.
    """

    def __init__(self, port):
        self._to, self.silent = port, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                ours, _ = self._listener.accept()
                theirs = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            for one, other in ((ours, theirs), (theirs, ours)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one, other):
        swallowed = False
        try:
            while data := one.recv(65536):
                swallowed |= self.silent
                if not swallowed:
                    other.sendall(data)
        except OSError:
            pass
        if not swallowed:
            other.close()

    def close(self):
        self._listener.close()


QUICK = "from hornlens.store import connection; connection.SILENCE = 2.0"


def through(proxy, server, schema):
    address = server.guarded(schema).replace(f":{server.port}/", f":{proxy.port}/")
    return f"{address}&connect_timeout=2"


def test_a_network_that_goes_silent_and_comes_back_loses_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    log, prompts = tmp_path / "log", 60
    with closing(Proxy(server.port)) as proxy:
        place = through(proxy, server, server.schema())
        with askers(place, log, 2, prompts, 0.1, before=QUICK, term=30.0) as processes:
            wait_for_all(server, 2)
            proxy.silent = True
            time.sleep(4)
            proxy.silent = False
            ends(processes)
            times = Counter(prompt for _, prompt in calls(log))
    assert len(times) == prompts and set(times.values()) == {1}, times


SCRIPT = """
import time
from hornlens.store import connection
connection.SILENCE, connection._PAUSES = 2.0, (0.0, 0.2)
connection.Connection.do.__defaults__ = ((0.0, 0.2), None)
from hornlens.models.table import TableModel
score = TableModel.score
def slowly(self, prompts, candidates):
    for batch in score(self, prompts, candidates):
        print("asked", flush=True)
        time.sleep(3)
        yield batch
TableModel.score = slowly
from hornlens.__main__ import main
main()
"""


@pytest.mark.parametrize("how", ["silent", "gone"])
def test_a_server_that_does_not_come_back_is_one_line(server, tmp_path, monkeypatch, how):
    from tests.faults import small

    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    small.write_all(tmp_path)
    with closing(Proxy(server.port)) as proxy:
        words = ["extract", "probe.yaml", "--model", "table/scores.csv", "--out", "out", "--cache"]
        words.append(through(proxy, server, server.schema()))
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, *words], cwd=tmp_path, **pipes)
        try:
            assert process.stdout.readline() == "asked\n"
            proxy.silent = True
            if how == "gone":
                proxy.close()
            _, errors = process.communicate(timeout=90)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 2 and errors.count("\n") == 1, errors
    assert "the cache cannot be used" in errors and PASSWORD not in errors
    assert not (tmp_path / "out" / "envelope.json").exists()
