"""Rows of a SQLite file without its trees: what SQLite itself finds, and what it no longer can."""

import sqlite3
from contextlib import closing
from random import Random

import pytest

from hornlens.store.pages import rows
from hornlens.store.protocol import Scores
from hornlens.store.sqlite import AnswerCache


def any_value(rng):
    text = rng.choice("aé漢😀 ") * rng.choice([0, 1, 7, 100, 900, 1_100, 5_000, 20_000])
    number = rng.choice([0, 1, -1, 127, 128, -(2**15), 2**23, 2**31, 2**40, -(2**63), 2**63 - 1])
    return rng.choice([None, text, text.encode(), number, rng.random(), -1e300])


@pytest.mark.parametrize("size", [512, 1024, 4096, 65536])
def test_all_rows_are_read_as_sqlite_reads_them(tmp_path, size):
    rng = Random(size)
    path = tmp_path / "some.sqlite"
    kept = [(n, *(any_value(rng) for _ in range(3))) for n in range(300)]
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"PRAGMA page_size = {size}")
        file.execute("CREATE TABLE t (k INTEGER NOT NULL, a, b, c, PRIMARY KEY (k)) WITHOUT ROWID")
        file.execute("CREATE TABLE u (k INTEGER PRIMARY KEY, a, b, c)")
        for table in "tu":
            file.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", kept)
        found = [(*file.execute("SELECT * FROM t"),), (*file.execute("SELECT * FROM u"),)]
    assert [list(part) for part in found] == [kept, kept]
    read = {*rows(path.read_bytes())}
    assert {values for number, values in read if number is None} >= set(kept)
    assert {(number, *values[1:]) for number, values in read if number is not None} == set(kept)


def test_whatever_the_bytes_are_reading_them_ends():
    rng = Random(5)
    for _ in range(30):
        data = bytearray(rng.randbytes(4096 * 3))
        for start in (4096, 8192):
            data[start] = rng.choice([2, 5, 10, 13, 0])
        assert len([*rows(bytes(data))]) < 10_000
    assert [*rows(b"")] == [*rows(b"SQLite")] == []


def test_what_lies_below_a_damaged_inner_page_is_kept(tmp_path):
    path = tmp_path / "c.sqlite"
    answers = {f"prompt {i} " + "long " * (i % 400): Scores((-1.0, -i)) for i in range(4_000)}
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "n", answers.items(), ["a", "b"])
    data = bytearray(path.read_bytes())
    inner = [at for at in range(4096, len(data), 4096) if data[at] == 2]
    assert inner
    lost = 0
    for at in inner:
        lost += int.from_bytes(data[at + 3 : at + 5], "big")  # an inner page has rows, too
        data[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    with closing(AnswerCache(path)) as cache:
        found = cache.get("m", list(answers), ["a", "b"])
    assert found.items() <= answers.items() and len(found) >= len(answers) - lost
    assert lost < 0.2 * len(answers)


def test_what_was_pruned_does_not_come_back(tmp_path, monkeypatch):
    path = tmp_path / "c.sqlite"
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "gone", [(f"secret {i}", Scores((-1.0,))) for i in range(500)], ["a"])
        cache.put("k", "kept", [(f"known {i}", Scores((-1.0,))) for i in range(500)], ["a"])
        read = cache._file.read

        def killed(work):  # before the file is made anew
            if "VACUUM" in work.__code__.co_consts:
                raise KeyboardInterrupt
            return read(work)

        with monkeypatch.context() as patch:
            patch.setattr(cache._file, "read", killed)
            with pytest.raises(KeyboardInterrupt):
                cache.prune(model="gone")
    assert not [row for row in rows(path.read_bytes()) if "secret" in str(row)]
    data = bytearray(path.read_bytes())
    data[100] = 255
    path.write_bytes(data)
    with closing(AnswerCache(path)) as cache:
        assert [(model.name, model.answers) for model in cache.models()] == [("kept", 500)]
