"""Two chat models on loopback, compared; and one with an attribute changed, killed and resumed."""

import json
import signal
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

import hornlens as library
from tests.chat_server import ChatServer, keep_to_itself, lean
from tests.command import START, hornlens

pytest.importorskip("openai")

JOBS = ("nurse", "engineer", "soldier", "singer")
PLACES = ("Africa", "Europe", "Asia")
AGES = ("young", "old")
PROBE = f"""
hornlens: 1
name: jobs
templates: ["{{label}} is {{age}}, was born in {{place}} and works as {{a:job}}."]
attributes:
  - {{name: job, values: [{", ".join(JOBS)}], unset: person}}
  - {{name: place, values: [{", ".join(PLACES)}], unset: some place}}
  - {{name: age, values: [{", ".join(AGES)}], unset: of some age}}
label: {{name: gender, values: [{{name: female, word: She}}, {{name: male, word: He}}]}}
"""
CELLS = 5 * 4 * 3


class TwoMinds(ChatServer):
    """The model "other-model" thinks of soldiers as the first does of singers, and may refuse."""

    refused = ""

    def _words(self, user, body):
        if body["model"] == "other-model":
            if self.refused and self.refused in user:
                return "I cannot say that.", [("I", -0.1)]
            user = user.replace("soldier", "singer")
        return super()._words(user, body)


def sentence(job, place, age):
    a = "an" if job == "engineer" else "a"
    return f"____ is {age}, was born in {place} and works as {a} {job}."


@pytest.fixture(autouse=True)
def _place(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE)


def arguments(server, *more):
    how = ("--base-url", server.url, "--elicit", "choose", "-q")
    return ("extract", "jobs.yaml", "--model", "openai/tiny", *how, *more)


def compared(server, *more):
    return hornlens(*arguments(server, "--compare-with", "openai/other-model", *more))


def test_two_models_differ_where_one_thinks_otherwise():
    with TwoMinds() as server:
        done = compared(server, "--out", "o")
        assert done.returncode == 0, done.stderr
        assert {body["model"] for _, body in server.seen} == {"tiny", "other-model"}
    result = library.load("o")
    assert result.title == "openai/tiny and openai/other-model"
    assert result.entails("differ -> soldier")
    assert len(result.decisions) == CELLS and not result.abstentions
    differing = {cell for cell, decision in result.decisions.items() if decision.winner == 1}
    for job, place, age in product(JOBS, PLACES, AGES):
        cell = result.space.vocabulary.mask([job, place, age])
        said = [
            max(("She", "He"), key=lambda word, s=s: lean(s, word))
            for s in (sentence(job, place, age), sentence(_thought(job), place, age))
        ]
        shown = result.show(cell)
        assert [text.split(": ")[0] for text in shown] == [
            f"openai/tiny → {said[0]}",
            f"openai/other-model → {said[1]}",
        ]
        assert (said[0] != said[1]) == (cell in differing)
    assert differing
    assert all(result.details[text].replies for cell in differing for text in result.show(cell))
    assert library.verify("o").ok
    assert hornlens("report", "o").returncode == 0


def _thought(job):
    return "singer" if job == "soldier" else job


def test_a_model_that_refuses_is_told_apart():
    with TwoMinds(logprobs=False, schema=False) as server:
        server.refused = "Africa"
        apart = compared(server, "--elicit", "say", "--out", "apart")
        assert apart.returncode == 0, apart.stderr
        answer = compared(server, "--elicit", "say", "--silence", "answer", "--out", "answer")
        assert answer.returncode == 0, answer.stderr
    result = library.load("apart")
    silent = {cell for cell, _ in result.abstentions}
    africa = result.space.vocabulary.mask(["Africa"])
    assert silent == {cell for cell in result.decisions if cell & africa}
    assert {decision.abstained for _, decision in result.abstentions} == {"half"}
    assert not result.entails("Africa -> differ")
    assert library.load("answer").entails("Africa -> differ")


def test_what_both_may_cost_is_one_limit():
    with TwoMinds() as server:
        done = compared(server, "--max-calls", "60", "--out", "o")
        assert done.returncode == 0, done.stderr
        assert server.begun == 60
        result = library.load("o")
        assert result.certificate.ended.reason == "max_calls"
        done = compared(server, "--out", "o")
        assert done.returncode == 0, done.stderr
        asked = [count for body, count in server.paid.items() if "works as" in body]
        assert len(asked) == 2 * 2 * CELLS  # two models, two orders
    assert library.load("o").certificate.kind == "exact"


@pytest.mark.parametrize(
    ("more", "after"), [(("--compare-with", "openai/other-model"), 100), (("--flip", "place"), 25)]
)
def test_a_run_that_is_killed_asks_nothing_again(more, after):
    """With sifting, whose questions depend on the answers so far."""
    with TwoMinds(latency=0.05) as server:
        command = arguments(server, *more, "--equivalence", "sift", "--out", "o")
        running = subprocess.Popen([*START, *command], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while server.begun < after and time.monotonic() < until and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        assert running.returncode == -signal.SIGKILL
        assert not Path("o/envelope.json").exists()
        before = server.paid.copy()
        again = hornlens(*command)
        assert again.returncode == 0, again.stderr
        asked = {body: n for body, n in server.paid.items() if "works as" in body}
        doubled = sum(n - 1 for n in asked.values())
        assert doubled <= 32  # those that were under way, of both models
        assert sum(before.values()) > after / 2
        first = json.loads(Path("o/envelope.json").read_text())
        count = server.begun
        hornlens(*command[:-1], "again")
        assert server.begun == count
        assert json.loads(Path("again/envelope.json").read_text()) == first
    assert first["certificate"]["kind"] == "sifted"
