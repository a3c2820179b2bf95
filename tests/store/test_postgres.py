"""Answers in PostgreSQL: a real server, many processes, kills, damage, and no password anywhere."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from hornlens.errors import HornlensError
from hornlens.store.connection import shown
from hornlens.store.database import CacheError
from hornlens.store.opening import open_store
from hornlens.store.postgres import PostgresStore
from hornlens.store.protocol import ManagedStore, Scores
from hornlens.testing.stores import SharedStoreConformance
from tests.postgres_server import PASSWORD, Server

pytest.importorskip("psycopg", reason="needs pip install 'hornlens[postgres]'")

YES, NO = Scores((-0.1, -2.0), (0, 7)), Scores((-3.0, -0.5), None, "beside")


@pytest.fixture(scope="module")
def server():
    with closing(Server()) as running:
        yield running


@pytest.fixture
def database(server):
    return server.schema()


@pytest.fixture
def place(server, database):
    return server.address(database)


class TestPostgres(SharedStoreConformance):
    @pytest.fixture(autouse=True)
    def empty(self, place):
        self.place = place

    def open(self):
        return PostgresStore(self.place)


def test_a_place_says_which_store_it_is(place, tmp_path, monkeypatch):
    with closing(open_store(place)) as store:
        assert isinstance(store, PostgresStore) and isinstance(store, ManagedStore)
    with closing(open_store(tmp_path / "c.sqlite")) as store:
        assert store.place == store.shown == str(tmp_path / "c.sqlite")
        assert isinstance(store, ManagedStore)
    monkeypatch.setenv("HORNLENS_CACHE", place)
    with closing(open_store()) as store:
        assert store.place == place


def test_listing_and_pruning(place):
    store = PostgresStore(place)
    store.claim("m1", ["p", "q"], ["a"])  # which knows no name yet
    store.put("m1", "one", [("p", YES), ("q", YES)], ["a"])
    store.put("m1", "one", [("p", YES)], ["b"])
    store.put("m2", "two", [("p", YES)], ["a"])
    assert {(m.name, m.identity, m.answers) for m in store.models()} == {
        *(("one", "m1", 3), ("two", "m2", 1))
    }
    assert abs(store.models()[0].last_written - time.time()) < 60
    assert store.prune(model="one") == 3
    assert [m.name for m in store.models()] == ["two"]
    assert store.prune(older_than=time.time() - 100) == 0
    assert store.prune(older_than=time.time() + 100) == 1
    assert store.models() == []
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "scores = replace(scores, '-0.1', '-0.9')",
        "scores = '[-0.1, -2.0]'",
        "ranks = '[1, 7]'",
        "prompt = '\"another\"'",
        "prompt = 'no JSON'",
        "details = '\"more\"'",
        "key = sha256('other')",
    ],
)
def test_a_damaged_answer_is_dropped_and_the_others_are_kept(server, database, change):
    warnings = []
    store = PostgresStore(server.address(database), warnings.append)
    store.put("m", "n", [("p", YES), ("q", YES)], ["a", "b"])
    which = "prompt = '\"p\"'"
    server.execute(f"UPDATE hornlens_answers SET {change} WHERE {which}", database)
    assert store.get("m", ["p", "q"], ["a", "b"]) == {"q": YES}
    assert store.claim("m", ["p", "q"], ["a", "b"]) == ["p"]
    store.put("m", "n", [("p", NO)], ["a", "b"])
    assert store.get("m", ["p", "q"], ["a", "b"]) == {"p": NO, "q": YES}
    assert len(warnings) == (0 if change.startswith("key") else 1)  # it is not found at all
    assert all("are damaged; they are asked for again" in line for line in warnings)
    store.close()


# Many who ask.

ASKER = """
import os, sys, time
from hornlens.models.protocol import Answer
from hornlens.store.opening import open_store
from hornlens.targets.answers import Answers

place, log, prompts, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

class Counted:
    name = "counted"
    def check(self, candidates): pass
    def identity(self): return "counted:1"
    def score(self, asked, candidates):
        for start in range(0, len(asked), 10):
            part = asked[start:start + 10]
            for prompt in part:
                handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                os.write(handle, f"{os.getpid()} {prompt}\\n".encode())
                os.close(handle)
            time.sleep(seconds)
            # Another answer each time: whoever uses its own instead of the first is found out.
            yield [(start + i, Answer((-time.time() % 7, -1.0))) for i in range(len(part))]

store = open_store(place)
answers = Answers(Counted(), ("a", "b"), store)
texts = [f"prompt {i} {os.environ.get('MORE', '')}" for i in range(prompts)]
mine = int(os.environ.get("FIRST", "0"))
turned = texts[mine:] + texts[:mine]
said = []
for start in range(0, prompts, 40):
    said += answers.ask(turned[start:start + 40])
print(hash(tuple(a.scores for _, a in sorted(zip(turned, said)))))
store.close()
"""


def asker(place, log, prompts, seconds, first=0):
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, place, str(log), str(prompts), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FIRST": str(first), "PYTHONHASHSEED": "0"},
    )


def asked(log: Path) -> list[tuple[int, str]]:
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines]


def test_six_processes_ask_every_prompt_once_and_all_use_the_same_answers(place, tmp_path):
    log = tmp_path / "log"
    askers = [asker(place, log, 400, 0.01, first=67 * number) for number in range(6)]
    said = [each.communicate(timeout=120) for each in askers]
    assert [each.returncode for each in askers] == [0] * 6, said
    assert len({out for out, _ in said}) == 1
    times = Counter(prompt for _, prompt in asked(log))
    assert len(times) == 400 and set(times.values()) == {1}
    assert len({pid for pid, _ in asked(log)}) > 1


def test_what_a_killed_process_was_asking_is_asked_by_another_at_once(place, tmp_path):
    log = tmp_path / "log"
    victim = asker(place, log, 40, 0.3)
    while len(asked(log)) < 10:
        assert victim.poll() is None
        time.sleep(0.05)
    other = asker(place, log, 40, 0.01)
    time.sleep(1)
    victim.send_signal(signal.SIGKILL)
    started = time.monotonic()
    said = other.communicate(timeout=50)
    assert other.returncode == 0, said
    assert time.monotonic() - started < 30  # a claim that is only left to run out takes a minute
    victim.communicate()
    times = Counter(prompt for _, prompt in asked(log))
    assert len(times) == 40
    again = [prompt for prompt, count in times.items() if count > 1]
    assert len(again) <= 10  # what it had at work


def test_a_claim_without_a_sign_of_life_runs_out(place, monkeypatch):
    monkeypatch.setattr("hornlens.store.leases.TERM", 1.0)
    store, other = PostgresStore(place), PostgresStore(place)
    assert store.claim("m", ["p", "q"], ["a"]) == ["p", "q"]
    assert other.claim("m", ["p"], ["a"]) == []
    store._keeper.stop()
    time.sleep(1.1)
    assert store.renew("m", ["a"])  # nobody has taken it over yet
    assert other.claim("m", ["p"], ["a"]) == []
    time.sleep(1.1)
    assert other.claim("m", ["p"], ["a"]) == ["p"]
    assert not store.renew("m", ["a"]) and other.renew("m", ["a"])
    assert store.claim("m", ["p", "q"], ["a"]) == ["q"]
    assert store.renew("m", ["a"])
    store.close()
    other.close()


def test_a_claim_is_renewed_while_its_holder_is_at_work(server, database, place, monkeypatch):
    monkeypatch.setattr("hornlens.store.leases.TERM", 0.8)
    store, other = PostgresStore(place), PostgresStore(place)
    store.claim("m", ["p"], ["a"])
    for _ in range(6):
        time.sleep(0.3)
        assert other.claim("m", ["p"], ["a"]) == []
    store.release("m", ["a"])
    assert other.claim("m", ["p"], ["a"]) == ["p"]
    other.close()
    store.close()
    assert server.execute("SELECT * FROM hornlens_leases", database) == []


def test_two_schemas_of_a_database_know_nothing_of_each_other(server):
    stores = [PostgresStore(server.address(server.schema())) for _ in range(2)]
    for store in stores:
        assert store.claim("m", ["p"], ["a"]) == ["p"]
        assert store.get("m", ["p"], ["a"]) == {}
        store.put("m", "n", [("p", YES)], ["a"])
    for store in stores:
        store.close()


def test_many_may_make_the_tables_at_once(place):
    failed = []

    def begin():
        try:
            store = PostgresStore(place)
            store.put("m", "n", [("p", YES)], ["a"])
            store.close()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    with closing(PostgresStore(place)) as store:
        assert [(m.name, m.answers) for m in store.models()] == [("n", 1)]


def test_a_server_that_is_started_anew_is_no_end(server, place):
    store, other = PostgresStore(place), PostgresStore(place)
    store.put("m", "n", [("p", YES)], ["a"])
    assert store.claim("m", ["q", "r"], ["a"]) == ["q", "r"]
    server.restart()
    store.put("m", "n", [("q", NO)], ["a"])
    assert store.get("m", ["p", "q"], ["a"]) == {"p": YES, "q": NO}
    assert other.claim("m", ["q", "r"], ["a"]) == []  # whose holder is there again
    store.close()
    other.close()


def test_a_server_that_is_starting_is_waited_for(server, place):
    with server.starting() as go_on:
        later = threading.Timer(1.0, go_on)
        later.start()
        begun = time.monotonic()
        with closing(PostgresStore(place)) as store:
            assert time.monotonic() - begun > 1.0
            store.put("m", "n", [("p", YES)], ["a"])
        later.join()


def test_a_server_that_never_ends_its_start_is_one_line(server, place, monkeypatch):
    pauses = []
    monkeypatch.setattr("hornlens.store.connection.time.sleep", pauses.append)
    with server.starting() as go_on:
        with pytest.raises(CacheError, match="not accepting connections"):
            PostgresStore(place)
        monkeypatch.undo()
        go_on()
    assert sum(pauses) > 10


# What is wrong is one line, and a password is in none.


def test_a_password_in_an_address_is_refused_and_not_shown(place):
    for address in (
        f"postgresql://auditor:{PASSWORD}@127.0.0.1/audit",
        f"postgresql://auditor@127.0.0.1/audit?password={PASSWORD}",
        f"postgresql://auditor:{PASSWORD}%zz@127.0.0.1/audit",
        f"postgres://auditor:{PASSWORD}@[::1/audit",
    ):
        with pytest.raises(CacheError) as raised:
            open_store(address)
        assert PASSWORD not in str(raised.value) and "\n" not in str(raised.value)
    done = hornlens("extract", "--cache", address)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert PASSWORD not in done.stderr + done.stdout


def test_an_address_is_shown_without_what_need_not_be_seen():
    assert shown("postgresql://a@h:1/d?sslkey=/k&sslmode=verify-full") == "postgresql://a@h:1/d"
    assert shown("postgresql://?service=audit") == "postgresql://?service=audit"
    assert shown("postgresql:///d") == "postgresql:///d"


def hornlens(*arguments, environment=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return subprocess.run(
        [sys.executable, "-m", "hornlens", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**clean, **(environment or {})},
    )


@pytest.mark.slow
def test_the_password_comes_from_the_environment_or_a_file_and_is_written_nowhere(
    server, database, tmp_path
):
    place = server.guarded(database)
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{server.port}:*:auditor:{PASSWORD}\n")
    passwords.chmod(0o600)
    services = tmp_path / "services"
    services.write_text(
        f"[audit]\nhost=127.0.0.1\nport={server.port}\nuser=auditor\ndbname=postgres\n"
        f"options=-csearch_path={database.partition('.')[2]}\n"
        f"password={PASSWORD}\n"
    )
    out = tmp_path / "out"
    for address, environment in (
        (place, {"PGPASSWORD": PASSWORD}),
        (place, {"PGPASSFILE": str(passwords)}),
        ("postgresql://?service=audit", {"PGSERVICEFILE": str(services)}),
    ):
        done = hornlens("extract", "--cache", address, "--out", out, environment=environment)
        assert done.returncode == 0, done.stderr
        listed = hornlens("cache", "list", "--cache", address, environment=environment)
        assert "demo" in listed.stdout and "660" in listed.stdout, listed
        written = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
        said = (done.stdout + done.stderr + listed.stdout + listed.stderr).encode()
        assert PASSWORD.encode() not in written + said
        assert b"services" not in written and b"127.0.0.1" not in written
    assert json.loads((out / "run.json").read_text())["answered_from_cache"] == 660
    for environment in ({}, {"PGPASSWORD": "wrong-" + PASSWORD}):
        done = hornlens("extract", "--cache", place, "--out", out, environment=environment)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert PASSWORD not in done.stderr and "password" in done.stderr
    assert PASSWORD not in server.log()


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "the cache cannot be used: connection failed"),
        ("postgresql://u@h:port/d", "the cache"),
        ("postgresql://u@127.0.0.1:1/d?unheard=of", "none of a database"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path, address, line):
    done = hornlens("extract", "--cache", address, "--out", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert line in done.stderr and not (tmp_path / "out").exists()


def test_a_database_of_another_encoding_or_of_a_newer_version_is_refused(server, database, place):
    with pytest.raises(CacheError, match="is in SQL_ASCII, and must be in UTF8"):
        PostgresStore(server.address(server.database("SQL_ASCII")))
    PostgresStore(place).close()
    server.execute("UPDATE hornlens_about SET format = 2", database)
    with pytest.raises(CacheError, match="has format 2, and this version reads 1"):
        PostgresStore(place)


def test_one_who_may_only_read_is_told_so_in_a_line(server, database, place):
    PostgresStore(place).close()
    schema = database.partition(".")[2]
    server.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO auditor", database)
    done = hornlens(
        *("extract", "--cache", server.guarded(database)), environment={"PGPASSWORD": PASSWORD}
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "permission denied" in done.stderr


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(HornlensError, match=r"pip install 'hornlens\[postgres\]'"):
        open_store("postgresql://h/d")


# Commands.


def files(folder: Path) -> dict[str, bytes]:
    names = {"run.json", "times.json", "times.md", "times.tex", "times.csv", "report.html"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in names
    }


def test_a_study_in_a_database_has_the_bytes_of_one_in_a_file(place, tmp_path):
    (tmp_path / "study.yaml").write_text(
        "hornlens: 1\nname: small\nmodels: [demo]\nbudgets: [3]\nruns: 2\nsamples: 100\n"
        "limit: 100\n"
    )
    for name, cache in (("database", place), ("file", tmp_path / "c.sqlite")):
        done = hornlens(
            *("study", tmp_path / "study.yaml", "--cache", cache),
            *("--out", tmp_path / name, "--jobs", 2),
        )
        assert done.returncode == 0, done.stderr
    assert files(tmp_path / "database") == files(tmp_path / "file") != {}


def test_a_cache_in_a_database_is_listed_and_cleared(place):
    with closing(PostgresStore(place)) as store:
        store.put("m", "name", [("p", YES)], ["a"])
    assert "name" in hornlens("cache", "list", "--cache", place).stdout
    done = hornlens("cache", "clear", "--yes", "--cache", place)
    assert done.stdout.startswith("1 answer removed from postgresql://owner@"), done
    assert "0 models" in hornlens("cache", "list", "--cache", place).stdout
