"""Processes that are stopped for longer than their claims hold: what others took over is theirs.

A call that is under way when its process is stopped may be made again by whoever takes over: nobody
can know whether it was answered. No other one is.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager

import pytest

from hornlens.store.opening import open_store
from tests.chat_server import ChatServer, keep_to_itself
from tests.faults.rounds import rounds
from tests.postgres_server import Server

TERM = 1.5
"""Seconds for which a claim holds here, instead of a minute."""
ASKER = """
import os, sys, time
from hornlens.models.functions import FunctionModel
from hornlens.store import leases
from hornlens.store.opening import open_store
from hornlens.targets.answers import Answers

leases.TERM = {term}
place, log, prompts, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def call(prompt, words):
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{{os.getpid()}} {{prompt}}\\n".encode())
    os.close(handle)
    time.sleep(seconds)
    return [-time.time() % 7, -1.0]  # another answer each time

{before}
store = open_store(place)
answers = Answers(FunctionModel(call, "counted", "counted"), ("a", "b"), store)
said = answers.ask([f"[MASK] {{i}}" for i in range(prompts)])
print([answer.scores for answer in said])
store.close()
"""
CLOCK = """
import random
real, moved, jumps = time.time, [0.0], random.Random(os.getpid())
def jumping():
    if jumps.random() < 0.3:
        moved[0] = jumps.choice([0.0, 3600.0, -3600.0])
    return real() + moved[0]
time.time = jumping
"""


@pytest.fixture(scope="module")
def server():
    with closing(Server()) as running:
        yield running


@pytest.fixture(params=["file", "database"])
def place(request, tmp_path):
    if request.param == "file":
        return str(tmp_path / "c.sqlite")
    server = request.getfixturevalue("server")
    return server.address(server.schema())


@contextmanager
def askers(place, log, count, prompts, seconds, before="", term=TERM):
    """Have processes that ask the same; they are ended in any case."""
    script = ASKER.format(term=term, before=before)
    command = [sys.executable, "-c", script, place, str(log), str(prompts), str(seconds)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes)]
    try:
        wait_until(lambda: calls(log))  # the first has claimed all
        processes += [subprocess.Popen(command, **pipes) for _ in range(count - 1)]
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def calls(log):
    """Return who has asked what, in order."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(pid), prompt) for pid, _, prompt in (line.partition(" ") for line in lines)]


def wait_until(reached, seconds=60):
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ends(processes):
    """Return what all have found, which is the same; none has complained."""
    endings = [process.communicate(timeout=90) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), endings
    assert len({text for text, _ in endings}) == 1, endings


def test_who_was_stopped_asks_nothing_that_another_has_taken_over(place, tmp_path):
    log, prompts = tmp_path / "log", 24
    with askers(place, log, 2, prompts, 0.15) as (first, second):
        wait_until(lambda: len(calls(log)) >= 3)
        first.send_signal(signal.SIGSTOP)
        under_way = calls(log)[-1][1]
        wait_until(lambda: [pid for pid, _ in calls(log)].count(second.pid) >= 4)
        first.send_signal(signal.SIGCONT)
        ends([first, second])
        times = Counter(prompt for _, prompt in calls(log))
    assert len(times) == prompts
    assert {prompt for prompt, count in times.items() if count > 1} <= {under_way}
    assert times.total() <= prompts + 1


def test_who_is_stopped_for_less_than_a_claim_holds_loses_nothing(place, tmp_path):
    log, prompts = tmp_path / "log", 12
    with askers(place, log, 2, prompts, 0.1, term=4.0) as (first, second):
        wait_until(lambda: len(calls(log)) >= 3)
        first.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        first.send_signal(signal.SIGCONT)
        ends([first, second])
        asked = calls(log)
    assert len(asked) == prompts and {pid for pid, _ in asked} == {first.pid}


@pytest.mark.parametrize("attack", range(rounds(1, 20)))
def test_several_are_stopped_at_random_and_nothing_is_paid_twice(place, tmp_path, attack):
    draw, log, prompts = random.Random(attack), tmp_path / "log", rounds(40, 120)
    stops = 0
    with askers(place, log, 4, prompts, 0.1) as processes:
        while any(process.poll() is None for process in processes) and stops < rounds(3, 12):
            victim = draw.choice(processes)
            time.sleep(draw.uniform(0.1, 0.6))
            if victim.poll() is None:
                victim.send_signal(signal.SIGSTOP)
                stops += 1
                time.sleep(draw.choice([0.3, TERM + 1]))
                victim.send_signal(signal.SIGCONT)
        ends(processes)
        times = Counter(prompt for _, prompt in calls(log))
    assert len(times) == prompts and times.total() <= prompts + stops, (times, stops)


@pytest.mark.parametrize("attack", range(rounds(1, 10)))
def test_a_clock_that_is_set_back_or_forward_an_hour_changes_nothing(place, tmp_path, attack):
    log, prompts = tmp_path / "log", 40
    with askers(place, log, 3, prompts, 0.1, before=CLOCK) as processes:
        ends(processes)
        times = Counter(prompt for _, prompt in calls(log))
    assert len(times) == prompts and set(times.values()) == {1}


CHAT = """
import sys
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.store import leases
from hornlens.store.opening import open_store
from hornlens.targets.answers import Answers

leases.TERM = {term}
place, url, prompts = sys.argv[1], sys.argv[2], int(sys.argv[3])
options = ModelOptions(base_url=url, elicit="choose", orders="once", batch_size={at_once})
answers = Answers(open_model("openai/tiny", options), ("She", "He"), open_store(place))
said = answers.ask([f"[MASK] has number {{i}}." for i in range(prompts)])
print([answer.scores for answer in said])
answers.cache.close()
"""


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_chat_model_is_paid_once_but_for_the_calls_under_way(
    place, tmp_path, monkeypatch, at_once
):
    pytest.importorskip("openai")
    keep_to_itself(monkeypatch, tmp_path)
    prompts = 24 * at_once
    with ChatServer(latency=0.15) as chat:
        script = CHAT.format(term=TERM, at_once=at_once)
        command = [sys.executable, "-c", script, place, chat.url, str(prompts)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        first = subprocess.Popen(command, **pipes)
        try:
            wait_until(lambda: chat.paid.total() >= 4)
            second = subprocess.Popen(command, **pipes)
            time.sleep(1.0)
            first.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            before = chat.paid.total()
            wait_until(lambda: chat.paid.total() >= before + 4 * at_once)
            first.send_signal(signal.SIGCONT)
            ends([first, second])
        finally:
            for process in (first, second):
                process.kill()
                process.communicate()
        again = {text: count for text, count in chat.paid.items() if count > 1}
    trials = [text for text in again if "has number" not in str(text)]  # each tries it out
    assert len(again) - len(trials) <= at_once, again


def test_a_claim_is_looked_at_in_the_store_and_by_any_thread(place):
    from concurrent.futures import ThreadPoolExecutor

    store = open_store(place)
    assert not store.renew("m", ["a"])  # nothing was claimed
    assert store.claim("m", ["p", "q"], ["a"]) == ["p", "q"]
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(lambda _: store.renew("m", ["a"]), range(40)))
    assert not store.renew("m", ["a"], 1) and not store.renew("m", ["b"])
    store.release("m", ["a"])
    assert not store.renew("m", ["a"])
    store.close()
    assert os.path.exists(place) is not place.startswith("postgresql")
