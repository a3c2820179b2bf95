"""The answer cache: real files, several processes, kills and damage."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from hornlens.errors import HornlensError
from hornlens.models.functions import FunctionModel
from hornlens.store.protocol import Scores
from hornlens.store.sqlite import AnswerCache, CacheError, default_path
from hornlens.targets.answers import Answers
from hornlens.testing.stores import SharedStoreConformance

YES, NO = Scores((-0.1, -2.0), (0, 7)), Scores((-3.0, -0.5), None, "beside")


class TestSqlite(SharedStoreConformance):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path):
        self.path = tmp_path / "c.sqlite"

    def open(self):
        return AnswerCache(self.path)


def test_answers_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "deep" / "down" / "c.sqlite"
    cache = AnswerCache(path)
    exact = Scores((-0.1 - 1e-17, float("-inf")))
    cache.put("m", "name", [("p", YES), ("q", NO), ("r", exact)], ["He", "She"])
    cache.close()
    again = AnswerCache(path)
    assert again.get("m", ["p", "q", "r", "s"], ["He", "She"]) == {"p": YES, "q": NO, "r": exact}


def test_only_the_same_question_gets_the_same_answer(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    cache.put("m", "name", [("p", YES)], ["He", "She"])
    assert cache.get("other", ["p"], ["He", "She"]) == {}
    assert cache.get("m", ["p"], ["She", "He"]) == {}
    assert cache.get("m", ["p"], ["He"]) == {}
    assert cache.get("m", ["p"], ["He", "She"], repeat=1) == {}
    assert cache.get("m", ["P"], ["He", "She"]) == {}
    cache.put("m", "name", [("p", NO)], ["He", "She"])  # the first answer stays
    assert cache.get("m", ["p"], ["He", "She"]) == {"p": YES}


def test_many_prompts_at_once(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    prompts = [f"prompt {i}" for i in range(3000)]
    cache.put("m", "name", [(p, YES) for p in prompts], ["a"])
    assert set(cache.get("m", prompts, ["a"])) == set(prompts)


def test_listing_and_pruning(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    cache.put("m1", "one", [("p", YES), ("q", YES)], ["a"])
    cache.put("m2", "two", [("p", YES)], ["a"])
    assert {(m.name, m.answers) for m in cache.models()} == {("one", 2), ("two", 1)}
    assert cache.prune(model="one") == 2
    assert [m.name for m in cache.models()] == ["two"]
    assert cache.prune(older_than=time.time() - 100) == 0
    assert cache.prune(older_than=time.time() + 100) == 1
    assert cache.models() == []


@pytest.mark.parametrize("damage", ["header", "schema", "middle", "a page", "short"])
def test_a_damaged_cache_is_kept_aside_and_what_can_be_read_is_kept(tmp_path, damage):
    path = tmp_path / "c.sqlite"
    answers = {f"prompt {i}": YES if i % 2 else NO for i in range(5000)}
    cache = AnswerCache(path)
    cache.put("m", "n", answers.items(), ["a"])
    cache.close()
    data = bytearray(path.read_bytes())
    if damage == "header":
        data[:16] = b"x" * 16
    elif damage == "schema":
        data[200:4096] = bytes(3896)
    elif damage == "middle":
        data[4096 : len(data) - 4096] = b"\xff" * (len(data) - 8192)
    elif damage == "a page":
        middle = len(data) // 8192 * 4096
        data[middle : middle + 4096] = b"\xff" * 4096
    else:
        del data[len(data) // 2 + 100 :]
    path.write_bytes(data)
    warnings = []
    cache = AnswerCache(path, warnings.append)
    found = cache.get("m", list(answers), ["a"])
    cache.put("m", "n", [("new", NO)], ["a"])
    assert cache.get("m", ["new"], ["a"]) == {"new": NO}
    assert found.items() <= answers.items()
    least = {"header": 5000, "schema": 5000, "middle": 0, "a page": 4900, "short": 1000}
    assert len(found) >= least[damage], len(found)
    assert (damage == "middle") == (not found)
    assert len(warnings) == 1 and "damaged" in warnings[0]
    assert {file.name for file in tmp_path.iterdir()} - {"c.sqlite-wal", "c.sqlite-shm"} == {
        "c.sqlite",
        "c.sqlite.damaged-1",
    }
    assert (tmp_path / "c.sqlite.damaged-1").read_bytes() == data


def test_who_has_a_cache_open_while_another_mends_it_goes_on_with_the_new_one(tmp_path):
    (tmp_path / "real").mkdir()
    path = tmp_path / "c.sqlite"
    path.symlink_to(tmp_path / "real" / "c.sqlite")
    warnings = []
    one, other = (AnswerCache(path, warnings.append) for _ in range(2))
    one.put("m", "n", [(f"prompt {i}", YES) for i in range(5000)], ["a"])
    other.put("m", "n", [("p", YES)], ["a"])
    path.chmod(0o600)
    one._file._mend("as if it were")
    assert one.get("m", ["p"], ["a"]) == {"p": YES}
    other.put("m", "n", [("q", NO)], ["a"])
    assert one.get("m", ["prompt 1", "q"], ["a"]) == {"prompt 1": YES, "q": NO}
    one.close()
    other.close()
    assert len(warnings) == 1 and path.is_symlink() and path.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in path.resolve().parent.iterdir()} == {
        "c.sqlite",
        "c.sqlite.damaged-1",
    } | {file.name for file in path.resolve().parent.glob("c.sqlite.damaged-1-wal")}


def another_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE answers (question TEXT, answer TEXT)")
        connection.execute("CREATE TABLE models (name TEXT)")
        connection.execute("INSERT INTO models VALUES ('T')")
    connection.close()


def a_text(path):
    path.write_text("this is no database, but it is long enough to look at" * 100)


@pytest.mark.parametrize("make", [a_text, another_database])
def test_a_file_that_is_no_cache_is_refused_and_left_as_it_is(tmp_path, make):
    path = tmp_path / "c.sqlite"
    make(path)
    before = path.read_bytes()
    with pytest.raises(CacheError, match=r"c\.sqlite: is no cache of hornlens"):
        AnswerCache(path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_a_healthy_cache_is_never_set_aside(tmp_path):
    path = tmp_path / "c.sqlite"
    warnings = []
    cache = AnswerCache(path, warnings.append)
    cache.put("m", Path("a/model"), [("p", YES)], ["a"])
    assert [model.name for model in cache.models()] == [str(Path("a/model"))]
    with pytest.raises(CacheError, match="cannot be used"):
        cache.get(Path("a/model"), ["p"], ["a"])  # what SQLite cannot take
    assert cache.get("m", ["p"], ["a"]) == {"p": YES}
    cache.close()
    assert warnings == [] and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE answers SET scores = '[NaN, -1]'",
        "UPDATE answers SET scores = '[-1]'",
        "UPDATE answers SET scores = '[-1, -2'",
        "UPDATE answers SET scores = x'5B2D312C2D325DFF'",
        "UPDATE answers SET scores = 12",
        "UPDATE answers SET scores = '[-1, \"-2\"]'",
        "UPDATE answers SET scores = replace(scores, '2', '3')",
        "UPDATE answers SET ranks = '[7, 0]'",
        "UPDATE answers SET prompt = 'q'",
        "UPDATE answers SET repeat = 1",
        'UPDATE answers SET candidates = \'["She", "He"]\'',
        'UPDATE details SET content = \'{"said": "otherwise"}\'',
        "DELETE FROM details",
        "UPDATE models SET identity = 'n'",
    ],
)
def test_an_answer_that_is_not_as_it_was_written_is_dropped_with_one_warning(tmp_path, change):
    path = tmp_path / "c.sqlite"
    cache = AnswerCache(path)
    answer = Scores((-0.5, -2.0), (0, 7), '{"said": "beside"}')
    cache.put("m", "name", [("p", answer)], ["He", "She"])
    cache.close()
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    warnings = []
    cache = AnswerCache(path, warnings.append)
    he, she = ["He", "She"], ["She", "He"]
    asked = [("m", "p", he, 0), ("m", "q", he, 0), ("n", "p", he, 0), ("m", "p", she, 0)]
    asked += [("m", "p", he, 1)]
    for identity, prompt, words, repeat in asked:
        assert cache.get(identity, [prompt], words, repeat) == {}
    assert len(warnings) == 1 and "damaged" in warnings[0]
    cache.put("m", "name", [("p", answer)], ["He", "She"])
    assert cache.get("m", ["p"], ["He", "She"]) == {"p": answer}


def test_a_remembered_hash_that_is_damaged_is_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("hornlens.store.hashes._SETTLED", -1.0)
    (tmp_path / "weights").write_text("one")
    cache = AnswerCache(tmp_path / "c.sqlite")
    assert cache.hash_of(tmp_path / "weights", Path.read_text) == "one"
    cache.close()
    connection = sqlite3.connect(tmp_path / "c.sqlite")
    assert connection.execute("UPDATE hashes SET hash = 'two'").rowcount == 1
    connection.commit()
    connection.close()
    cache = AnswerCache(tmp_path / "c.sqlite")
    assert cache.hash_of(tmp_path / "weights", Path.read_text) == "one"


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CacheError, match="the cache cannot be opened"):
        AnswerCache(tmp_path / "file" / "c.sqlite")


def test_where_the_cache_lives(monkeypatch, tmp_path):
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "mine.sqlite"))
    assert default_path() == tmp_path / "mine.sqlite"
    monkeypatch.delenv("HORNLENS_CACHE")
    assert default_path().name == "answers.sqlite"


WRITER = """
import sys
from pathlib import Path
from hornlens.store.sqlite import AnswerCache
cache = AnswerCache(Path(sys.argv[1]))
who = sys.argv[2]
for i in range(150):
    cache.put("m", "n", [(f"{who} {i}", ((-1.0,), None)), (f"both {i}", ((-2.0,), None))], ["a"])
    assert cache.get("m", [f"{who} {i}"], ["a"])
"""


def test_several_processes_share_one_cache_and_lose_nothing(tmp_path):
    path = tmp_path / "c.sqlite"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), who], stderr=subprocess.PIPE)
        for who in "abc"
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    cache = AnswerCache(path)
    wanted = [f"{who} {i}" for who in ("a", "b", "c", "both") for i in range(150)]
    assert set(cache.get("m", wanted, ["a"])) == set(wanted)


CLAIMER = """
import sys, time
from pathlib import Path
from hornlens.store.sqlite import AnswerCache
cache = AnswerCache(Path(sys.argv[1]))
print(cache.claim("m", ["p", "q"], ["a"]), flush=True)
time.sleep(600)
"""


def test_what_a_process_claims_is_free_when_it_is_killed(tmp_path):
    path = tmp_path / "c.sqlite"
    command = [sys.executable, "-c", CLAIMER, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "['p', 'q']\n"
    cache = AnswerCache(path)
    assert cache.claim("m", ["p", "q", "r"], ["a"]) == ["r"]
    process.kill()
    process.wait()
    process.stdout.close()
    assert cache.claim("m", ["p", "q", "r"], ["a"]) == ["p", "q", "r"]
    cache.close()


def test_a_claim_is_kept_alive_and_otherwise_runs_out(tmp_path, monkeypatch):
    monkeypatch.setattr("hornlens.store.leases.TERM", 0.4)
    cache, beside = (AnswerCache(tmp_path / "c.sqlite") for _ in range(2))
    assert cache.claim("m", ["p"], ["a"]) == ["p"]
    time.sleep(1)
    assert beside.claim("m", ["p"], ["a"]) == []
    cache._keeper.stop()
    time.sleep(0.6)
    assert beside.claim("m", ["p"], ["a"]) == ["p"]
    cache.close()
    assert cache.claim("m", ["p"], ["a"]) == []
    beside.close()
    assert cache.claim("m", ["p"], ["a"]) == ["p"]
    cache.close()


@pytest.mark.parametrize("until", ["9e99", "'soon'", "NULL + 1", "-1"])
def test_a_damaged_claim_keeps_nobody_waiting(tmp_path, until):
    cache, beside = (AnswerCache(tmp_path / "c.sqlite") for _ in range(2))
    assert cache.claim("m", ["p"], ["a"]) == ["p"]
    connection = sqlite3.connect(tmp_path / "c.sqlite")
    connection.execute(f"UPDATE OR IGNORE leases SET until = {until}, prompts = '[[1], \"p\"]'")
    connection.execute(f"UPDATE OR IGNORE signs SET at = {until}")
    connection.execute("UPDATE leases SET prompts = '{' WHERE prompts NOT LIKE '[[%'")
    connection.commit()
    connection.close()
    assert beside.claim("m", ["p"], ["a"]) == ["p"]
    beside.close()
    cache.close()


def test_what_was_written_survives_a_kill(tmp_path):
    path = tmp_path / "c.sqlite"
    endless = WRITER.replace("range(150)", "range(10**9)") + ""
    endless = endless.replace("    assert", "    print(i, flush=True)\n    assert")
    process = subprocess.Popen(
        [sys.executable, "-c", endless, str(path), "a"], stdout=subprocess.PIPE, text=True
    )
    last = -1
    for line in process.stdout:
        last = int(line)
        if last >= 40:
            break
    process.kill()
    process.wait()
    cache = AnswerCache(path)
    wanted = [f"a {i}" for i in range(last + 1)]
    assert set(cache.get("m", wanted, ["a"])) == set(wanted)
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_hash_of_a_file_is_computed_once_until_the_file_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("hornlens.store.hashes._SETTLED", -1.0)  # no file need be old for this
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    asked = []

    def compute(path):
        asked.append(path)
        return path.read_text()

    cache = AnswerCache(tmp_path / "c.sqlite")
    assert [cache.hash_of(file, compute) for _ in range(3)] == ["one"] * 3
    cache.close()
    again = AnswerCache(tmp_path / "c.sqlite")
    assert again.hash_of(file, compute) == "one"
    assert len(asked) == 1
    before = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time
    assert again.hash_of(file, compute) == "two"
    assert again.hash_of(file, compute) == "two"
    assert len(asked) == 2


def test_the_hash_of_a_file_that_was_just_written_is_not_remembered(tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    cache = AnswerCache(tmp_path / "c.sqlite")
    asked = []
    for _ in range(2):
        cache.hash_of(file, lambda path: asked.append(path) or "hash")
    assert len(asked) == 2


def test_it_says_whether_a_model_has_answered_these_candidates(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    assert not cache.knows("m", ["She", "He"])
    cache.put("m", "name", [("a prompt", ((-1.0, -2.0), None))], ["She", "He"])
    assert cache.knows("m", ["She", "He"])
    assert not cache.knows("m", ["He", "She"])
    assert not cache.knows("other", ["She", "He"])


OLD_SCHEMA = """
CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE answers (
  model INTEGER NOT NULL REFERENCES models(id), candidates TEXT NOT NULL, prompt TEXT NOT NULL,
  repeat INTEGER NOT NULL, scores TEXT NOT NULL, ranks TEXT, written REAL NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
"""


def written_by_an_old_version(path, model, identity, prompt):
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT OR IGNORE INTO models VALUES (?, ?, 'name')", (model, identity))
        connection.execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
            (model, '["a"]', prompt, 0, "[-1.0]", None, time.time()),
        )
    connection.close()


def test_the_cache_of_a_version_without_details_is_read_and_added_to(tmp_path):
    path = tmp_path / "c.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(OLD_SCHEMA)
    connection.close()
    written_by_an_old_version(path, 1, "m", "old")
    cache = AnswerCache(path)
    cache.put("m", "name", [("old", NO), ("new", Scores((-2.0,), None, "said"))], ["a"])
    assert cache.get("m", ["old", "new"], ["a"]) == {
        "old": Scores((-1.0,)),
        "new": Scores((-2.0,), None, "said"),
    }


def test_a_version_without_details_can_use_the_same_file_and_gives_nobody_anothers(tmp_path):
    path = tmp_path / "c.sqlite"
    cache = AnswerCache(path)
    cache.put("m", "name", [("p", Scores((-2.0,), None, "said"))], ["a"])
    cache.close()
    with sqlite3.connect(path) as connection:  # as it prunes: the details stay behind
        connection.execute("DELETE FROM answers")
        connection.execute("DELETE FROM models")
    connection.close()
    written_by_an_old_version(path, 1, "another", "p")
    cache = AnswerCache(path)
    assert cache.get("another", ["p"], ["a"]) == {"p": Scores((-1.0,))}
    cache.put("another", "name", [("p", NO)], ["a"])
    assert cache.get("another", ["p"], ["a"]) == {"p": Scores((-1.0,))}


def test_a_version_without_checksums_reads_what_this_one_writes(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    cache.put("m", "name", [("p", YES)], ["a", "b"])
    cache.close()
    connection = sqlite3.connect(tmp_path / "c.sqlite")
    [(scores, ranks)] = connection.execute("SELECT scores, ranks FROM answers")
    connection.close()
    assert json.loads(f"[{scores},{ranks}]") == [[*YES.scores], [*YES.ranks]]


class WithoutClaims:
    """A store as they were before prompts could be claimed."""

    def __init__(self, store):
        self.get, self.put, self.knows = store.get, store.put, store.knows
        self.hash_of, self.close = store.hash_of, store.close


@pytest.mark.parametrize("kind", [lambda store: store, WithoutClaims])
def test_what_another_recorded_while_one_asked_is_what_one_uses(tmp_path, kind):
    store, beside = (AnswerCache(tmp_path / "c.sqlite") for _ in range(2))

    def slow(prompt, words):
        beside.put("function:m", "m", [(prompt, Scores((-7.0, -8.0)))], words)
        return [-1.0, -2.0]

    answers = Answers(FunctionModel(slow, "m", "m"), ("a", "b"), kind(store))
    assert [answer.scores for answer in answers.ask(["x [MASK]", "y [MASK]"])] == [(-7.0, -8.0)] * 2
    assert (answers.asked, answers.reused) == (2, 0)
    beside.close()
    store.close()


def test_what_another_is_asking_is_waited_for_and_the_rest_is_asked(tmp_path):
    store, beside = (AnswerCache(tmp_path / "c.sqlite") for _ in range(2))
    assert beside.claim("function:m", ["x [MASK]"], ("a",)) == ["x [MASK]"]
    asked = []

    def call(prompt, words):
        asked.append(prompt)
        answer = threading.Timer(0.3, put)
        answer.start()
        return [-1.0]

    def put():
        with closing(AnswerCache(tmp_path / "c.sqlite")) as third:
            third.put("function:m", "m", [("x [MASK]", Scores((-7.0,)))], ("a",))

    answers = Answers(FunctionModel(call, "m", "m"), ("a",), store)
    found = [answer.scores for answer in answers.ask(["x [MASK]", "y [MASK]"])]
    assert asked == ["y [MASK]"] and found == [(-7.0,), (-1.0,)]
    assert (answers.asked, answers.reused) == (1, 1)
    beside.close()
    store.close()


def test_what_a_model_that_fails_had_claimed_is_free_at_once(tmp_path):
    store, beside = (AnswerCache(tmp_path / "c.sqlite") for _ in range(2))
    answers = Answers(FunctionModel(lambda prompt, words: 1 / 0, "m", "m"), ("a",), store)
    with pytest.raises(HornlensError, match="ZeroDivisionError"):
        answers.ask(["x [MASK]"])
    assert beside.claim("function:m", ["x [MASK]"], ("a",)) == ["x [MASK]"]
    beside.close()
    store.close()


def test_details_go_with_their_answers(tmp_path):
    path = tmp_path / "c.sqlite"
    cache = AnswerCache(path)
    for model in ("one", "two"):
        cache.put(model, model, [("p", Scores((-2.0,), None, model))], ["a"])
    cache.prune(model="one")
    assert cache.get("two", ["p"], ["a"]) == {"p": Scores((-2.0,), None, "two")}
    cache.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT content FROM details").fetchall() == [("two",)]
    connection.close()


OPEN = """
import sys
from pathlib import Path
from hornlens.store.protocol import Scores
from hornlens.store.sqlite import AnswerCache

def put(cache, *prompts):
    cache.put("m", "name", [(prompt, Scores((-0.1, -2.0))) for prompt in prompts], ["a", "b"])

path = Path(sys.argv[1])
cache = AnswerCache(path)
"""
TWICE = """
put(cache, "before")
AnswerCache(path).close()  # as a study does, run by run
print("ready", flush=True)
sys.stdin.readline()
put(cache, "after")
print("written", flush=True)
sys.stdin.readline()
"""


def test_a_process_that_opens_a_cache_twice_loses_nothing_to_others_and_a_kill(tmp_path):
    """A file that is closed takes all locks of its process along: others removed the log."""
    path = tmp_path / "c.sqlite"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", OPEN + TWICE, path], **pipes) as one:
        assert one.stdout.readline() == "ready\n"
        another = f"{OPEN}\nput(cache, 'theirs')\ncache.close()"
        subprocess.run([sys.executable, "-c", another, path], check=True)
        one.stdin.write("\n")
        one.stdin.flush()
        assert one.stdout.readline() == "written\n"
        one.kill()
    with closing(AnswerCache(path)) as cache:
        asked = ["before", "theirs", "after"]
        assert sorted(cache.get("m", asked, ["a", "b"])) == sorted(asked)


def test_a_cache_that_stays_open_does_not_disturb_those_that_are_opened_beside_it(tmp_path):
    path = tmp_path / "c.sqlite"
    left_open = AnswerCache(path)
    many = [f"{number}" for number in range(500)]
    left_open.put("m", "name", [(prompt, YES) for prompt in many], ["a", "b"])
    AnswerCache(path).close()
    for number in range(6):
        code = f"{OPEN}\nput(cache, *(f'{number} {{i}}' for i in range(900)))\ncache.close()"
        subprocess.run([sys.executable, "-c", code, path], check=True)
        with closing(AnswerCache(path)) as cache:
            ours = [(f"ours {number} {i}", NO) for i in range(300)]
            cache.put("m", "name", ours, ["a", "b"])
    prompts = [*many, *(f"{n} {i}" for n in range(6) for i in range(900)), "ours 0 7", "ours 5 9"]
    assert set(left_open.get("m", prompts, ["a", "b"])) == set(prompts)
    left_open.close()


def test_a_file_that_is_no_cache_is_refused_whatever_else_is_open(tmp_path):
    with closing(AnswerCache(tmp_path / "c.sqlite")):
        (tmp_path / "letter.txt").write_text("Dear cache")
        with pytest.raises(CacheError, match="is no cache of hornlens, and is left as it is"):
            AnswerCache(tmp_path / "letter.txt")


def test_a_cache_of_a_newer_version_is_refused_in_a_line_and_left_as_it_is(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "n", [("p", YES)], ["a", "b"])
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {0x02020202}")
        newer.execute("ALTER TABLE answers ADD COLUMN price REAL")
        newer.commit()
    before = path.read_bytes()
    with pytest.raises(CacheError, match="has format 2, and this version reads 1: use the version"):
        AnswerCache(path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]
    with closing(sqlite3.connect(path)) as accident:
        accident.execute(f"PRAGMA user_version = {0x02020203}")
        accident.execute("ALTER TABLE answers DROP COLUMN price")
        accident.commit()
    with closing(AnswerCache(path)) as cache:
        assert cache.get("m", ["p"], ["a", "b"]) == {"p": YES}


def test_a_version_without_signs_of_life_shares_a_cache(tmp_path):
    path = tmp_path / "c.sqlite"
    cache, beside = AnswerCache(path), AnswerCache(path)
    assert cache.claim("m", ["p"], ["a"]) == ["p"]
    cache._keeper.stop()
    with closing(sqlite3.connect(path)) as older:  # which knows of leases only
        older.execute("DELETE FROM signs")
        older.commit()
        assert beside.claim("m", ["p"], ["a"]) == []
        older.execute("UPDATE leases SET until = ?", (time.time() - 1,))
        older.commit()
        assert beside.claim("m", ["p"], ["a"]) == ["p"]
        older.execute("DELETE FROM leases")  # as it does when it takes something over
        older.commit()
    assert not beside.renew("m", ["a"]) and not cache.renew("m", ["a"])
    cache.close()
    beside.close()


def test_a_cache_without_signs_of_life_gets_the_table(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "n", [("p", YES)], ["a", "b"])
    with closing(sqlite3.connect(path)) as older:
        older.execute("DROP TABLE signs")
        older.commit()
    with closing(AnswerCache(path)) as cache:
        assert cache.get("m", ["p"], ["a", "b"]) == {"p": YES}
        assert cache.claim("m", ["p", "q"], ["a", "b"]) == ["q"] and cache.renew("m", ["a", "b"])
    assert [*tmp_path.iterdir()] == [path]
