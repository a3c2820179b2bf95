"""A cache's log that is cut or another's, and copies made while it is written: no answer changes.

SQLite keeps what was written last in a log beside the file. Whoever copies one without the other,
or at another time, has a file that never was. What is whole in it is used, the rest is asked again.
"""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hornlens.store.sqlite import AnswerCache
from hornlens.targets.answers import Answers
from tests.faults.rounds import rounds
from tests.faults.test_cache_damage import Model

PROMPTS = [f"[MASK] is a nurse with number {number}{'.' * (number % 90)}" for number in range(600)]
WORDS = ("She", "He")
RIGHT = {prompt: Model.answer(prompt, WORDS) for prompt in PROMPTS}
ENDS = ("", "-wal", "-shm")


def ask(path, prompts, warnings=None):
    """Return the answers to prompts by a cache, and how many the model was asked."""
    with closing(AnswerCache(path, [].append if warnings is None else warnings.append)) as cache:
        asking = Answers(Model(), WORDS, cache)
        return dict(zip(prompts, asking.ask(prompts), strict=True)), asking.asked


def snapshot(path: Path, into: Path) -> None:
    """Copy a cache and what lies beside it, as it is now."""
    for end in ENDS:
        if (source := path.with_name(path.name + end)).exists():
            shutil.copyfile(source, into.with_name(into.name + end))


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """Caches in the middle of being written: of one file at several times, and of another file."""
    folder = tmp_path_factory.mktemp("states")
    for name, order in (("one", PROMPTS), ("other", PROMPTS[::-1])):
        path = folder / f"{name}.sqlite"
        with closing(AnswerCache(path)) as cache:
            asking = Answers(Model(), WORDS, cache)
            for number in range(12):
                asking.ask(order[50 * number : 50 * number + 50])
                snapshot(path, folder / f"{name}-{number}.sqlite")
                if (
                    number == 5
                ):  # what was written so far goes into the file, and the log begins anew
                    with closing(sqlite3.connect(path)) as beside:
                        beside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert all((folder / f"one-{number}.sqlite-wal").stat().st_size for number in range(12))
    return folder


def cut_log(draw, states, path):
    """Cut the log off somewhere."""
    snapshot(states / f"one-{draw.randrange(12)}.sqlite", path)
    log = path.with_name(f"{path.name}-wal")
    with log.open("r+b") as file:
        file.truncate(draw.randrange(log.stat().st_size))


def damaged_log(draw, states, path):
    """Change bytes of the log."""
    snapshot(states / f"one-{draw.randrange(12)}.sqlite", path)
    log = path.with_name(f"{path.name}-wal")
    data = bytearray(log.read_bytes())
    for _ in range(draw.choice([1, 4, 64])):
        data[draw.randrange(len(data))] = draw.randrange(256)
    log.write_bytes(data)


def log_of_another(draw, states, path):
    """Put the log of another cache beside it."""
    snapshot(states / f"one-{draw.randrange(12)}.sqlite", path)
    other = states / f"other-{draw.randrange(12)}.sqlite-wal"
    shutil.copyfile(other, path.with_name(f"{path.name}-wal"))


def log_of_another_time(draw, states, path):
    """Put a log beside it that it had before, or that it will have."""
    one, other = draw.randrange(12), draw.randrange(12)
    shutil.copyfile(states / f"one-{one}.sqlite", path)
    shutil.copyfile(states / f"one-{other}.sqlite-wal", path.with_name(f"{path.name}-wal"))


def without_log(draw, states, path):
    """Copy the file alone, as `cp` does."""
    shutil.copyfile(states / f"one-{draw.randrange(12)}.sqlite", path)


def torn_copy(draw, states, path):
    """Copy a part of the file at one time, the rest at a later one, and the log at a third."""
    times = sorted(draw.sample(range(12), 3))
    parts = [(states / f"one-{number}.sqlite").read_bytes() for number in times[:2]]
    place = draw.randrange(max(1, min(map(len, parts))))
    place -= place % draw.choice([1, 512, 4096])
    path.write_bytes(parts[0][:place] + parts[1][place:])
    if draw.random() < 0.7:
        log = states / f"one-{times[2]}.sqlite-wal"
        shutil.copyfile(log, path.with_name(f"{path.name}-wal"))


def foreign_index(draw, states, path):
    """Put nonsense, or another's, where processes share an index of the log."""
    snapshot(states / f"one-{draw.randrange(12)}.sqlite", path)
    index = path.with_name(f"{path.name}-shm")
    nonsense = [draw.randbytes(32768), b"", (states / "other-7.sqlite-shm").read_bytes()]
    index.write_bytes(draw.choice(nonsense))


ATTACKS = (
    cut_log,
    damaged_log,
    log_of_another,
    log_of_another_time,
    without_log,
    torn_copy,
    foreign_index,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_file_and_a_log_that_do_not_belong_together_change_no_answer(
    tmp_path, states, attack, monkeypatch
):
    # A copy may hold a claim of a process that knows nothing of the copy: it has to run out.
    monkeypatch.setattr("hornlens.store.leases.TERM", 0.5)
    draw = random.Random(attack.__name__)
    for number in range(rounds(20, 300)):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, warnings = folder / "c.sqlite", []
        attack(draw, states, path)
        answers, asked = ask(path, PROMPTS, warnings)
        assert answers == RIGHT, number
        assert ask(path, PROMPTS, warnings) == (RIGHT, 0), (number, asked)
        assert len(warnings) <= 1, (number, warnings)
        shutil.rmtree(folder)
