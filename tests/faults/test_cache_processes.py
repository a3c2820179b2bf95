"""Several processes with one noisy model on one cache, some of them killed: one answer to each."""

import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.faults.rounds import rounds

RUN = """
import os, random, sys, time
from contextlib import closing
from pathlib import Path

import hornlens
from hornlens.models.functions import FunctionModel
from hornlens.store.sqlite import AnswerCache

cache, log, out = map(Path, sys.argv[1:])

def noisy(prompt, words):
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{os.getpid()} {prompt}\\n".encode())
    os.close(handle)
    time.sleep(0.002)
    return [-3 * random.random() for _ in words]

model = FunctionModel(noisy, "noisy", "noisy")
with closing(AnswerCache(cache)) as store:
    hornlens.extract(model, "gender-occupation", cache=store).save(out)
"""


def start(folder, number):
    names = (folder / "c.sqlite", folder / "log", folder / f"out-{number}")
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, names)], stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("attack", range(rounds(2, 20)))
def test_processes_that_ask_at_once_ask_each_prompt_once_and_find_the_same(tmp_path, attack):
    draw = random.Random(attack)
    processes = [start(tmp_path, number) for number in range(rounds(4, 8))]
    time.sleep(draw.uniform(0.5, 3))
    victims = draw.sample(processes, len(processes) // 2)
    killed = set()
    for victim in victims:
        time.sleep(draw.uniform(0, 1))
        victim.kill()
        if victim.wait() < 0:
            killed.add(victim.pid)
    for process in processes:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0 or process.pid in killed, errors
    last = start(tmp_path, "rerun")
    assert last.communicate(timeout=240)[1] == "" and last.returncode == 0

    asked = [line.split(" ", 1) for line in (tmp_path / "log").read_text().splitlines()]
    times = Counter(prompt for _, prompt in asked)
    assert len(times) == 660
    # What a process was asking when it was killed, one prompt here, is asked once more.
    by_the_living = Counter(prompt for process, prompt in asked if int(process) not in killed)
    assert set(by_the_living.values()) <= {1}
    assert times.total() <= 660 + len(killed), (times.total(), killed)

    wanted = (tmp_path / "out-rerun" / "envelope.json").read_bytes()
    outs = {tmp_path / f"out-{i}" for i, p in enumerate(processes) if p.pid not in killed}
    assert all((out / "envelope.json").read_bytes() == wanted for out in outs)
    left = {file.name for file in tmp_path.iterdir()} - {"c.sqlite", "log", "out-rerun"}
    assert left <= {f"out-{number}" for number in range(len(processes))}
