"""Chat models in `study` and `bias`: what they may take, and how they are asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hornlens.verifying.verify import verify
from tests import brute
from tests.chat_server import ChatServer
from tests.faults.rounds import rounds

pytest.importorskip("openai")

PROBE = """
hornlens: 1
name: jobs
templates: ["{label} was born in {place} and works as {a:job}."]
attributes:
  - {name: job, values: [nurse, engineer, soldier], unset: person}
  - {name: place, values: [Africa, Europe], unset: some place}
label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}
"""
STUDY = """
hornlens: 1
name: small
probe: jobs.yaml
models: [openai/tiny, openai/other-model]
budgets: [2, 9]
runs: 2
samples: 60
"""
PROMPTS = 12
CALLS = 2 * 2 * PROMPTS
"""Two models, each asked in two orders."""


@pytest.fixture(autouse=True)
def _place(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE)
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "sampled.yaml").write_text(STUDY + "limit: 5\n")


def run(server, *arguments, elicit="choose"):
    how = ("--base-url", server.url, "--elicit", elicit, "-q")
    return subprocess.run(
        [sys.executable, "-m", "hornlens", *arguments, *how],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=120,
    )


@pytest.mark.parametrize("name", ["sampled.yaml", "study.yaml"][: rounds(1, 2)])
def test_the_budget_of_a_study_is_that_of_all_its_models_and_runs(name):
    with ChatServer() as server:
        first = run(server, "study", name, "--max-calls", "30", "--out", "o")
        assert first.returncode == 2 and server.begun == 30, first.stderr
        assert first.stderr.startswith("hornlens: --max-calls 30 is reached")
        assert first.stderr.count("\n") == 1
        done = run(server, "study", name, "--max-calls", "30", "--jobs", "2", "--out", "o")
        assert done.returncode == 0, done.stderr  # the same command goes on
        asked = {body: count for body, count in server.paid.items() if "works as" in body}
        # One prompt may have had one of its two calls when the budget ended.
        assert sum(asked.values()) <= CALLS + 1
    study = json.loads(Path("o/study.json").read_text())
    assert [model["model"] for model in study["models"]] == ["openai/tiny", "openai/other-model"]


def test_a_study_asks_in_several_ways():
    one = ("--model", "openai/tiny")
    with ChatServer() as server:
        both = run(server, "study", "study.yaml", *one, "--out", "both", elicit="choose,say")
        assert both.returncode == 0, both.stderr
        alone = run(server, "extract", "jobs.yaml", *one, "--out", "alone", elicit="choose,say")
        assert alone.returncode == 0, alone.stderr
    exact = json.loads(Path("both/exact/openai-tiny/envelope.json").read_text())
    assert exact["rules"] == json.loads(Path("alone/envelope.json").read_text())["rules"]


def test_bias_counts_one_budget_over_models_and_measures_each_way():
    models = ("--model", "openai/tiny", "--model", "openai/other-model")
    each = ("--orders", "each", "--out", "o", "--format", "json")
    with ChatServer(bias=2.0) as server:
        stopped = run(server, "bias", *models, "--max-calls", "9", "--out", "o")
        assert stopped.returncode == 2 and server.begun == 9
        assert "--max-calls 9 is reached" in stopped.stderr
        done = run(server, "bias", *models[:2], "--min-people", "70000", *each)
        assert done.returncode == 0, done.stderr
    names = [model["name"] for model in json.loads(done.stdout)["models"]]
    assert names == ["openai/tiny (choose, He first)", "openai/tiny (choose, She first)"]
    first, second = (m["overall"]["normalised"]["mean"] for m in json.loads(done.stdout)["models"])
    assert first > second  # it likes what stands first


def test_bias_scores_are_made_of_log_probabilities_or_not_at_all():
    with ChatServer(logprobs=False, echo=False) as server:
        done = run(server, "bias", "--model", "openai/tiny", "--out", "o", elicit="say")
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "openai/tiny gives no log-probabilities as it is asked" in done.stderr
        assert not server.paid and not Path("o/bias.json").exists()


@pytest.mark.parametrize("command", [("extract", "jobs.yaml"), ("study", "study.yaml")])
def test_no_chat_model_is_asked_from_a_cluster(command):
    with ChatServer() as server:
        more = ("--executor", "ray", "--out", "o")
        model = ("--model", "openai/tiny")
        done = run(server, *command, *model, *more)
        assert done.returncode == 2 and not server.begun
        assert done.stderr == (
            "hornlens: openai/tiny is a chat model, which is asked from one machine: "
            "leave --executor ray out\n"
        )


def test_progress_counts_the_prompts_of_every_way_of_asking():
    with ChatServer(latency=0.25) as server:
        how = ("--base-url", server.url, "--elicit", "choose", "--orders", "each")
        done = subprocess.run(
            [sys.executable, "-m", "hornlens", "extract", "jobs.yaml", "--model", "openai/tiny",
             "--batch-size", "1", "--out", "o", *how],
            capture_output=True, text=True, env=os.environ, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "of 24 prompts" in done.stderr and "24 of 24 prompts in" in done.stderr
    assert "over 2 elicitations" in done.stdout


ANIMALS = [0b1011, 0b1101, 0b0100, 0b0000, 0b1000]
NAMES = ["feathers", "flies", "swims", "eggs"]


def knows_animals(sentence):
    """What somebody says who knows ANIMALS, and is asked in words."""
    words = sentence.removeprefix("Question: ").partition("?")[0]
    left, always, right = words.partition("is it always ")
    x = sum(1 << i for i, name in enumerate(NAMES) if name in left)
    closed = brute.closure(ANIMALS, x)
    if not always:  # can it be …?
        return "no" if closed is None else "yes"
    return "yes" if closed is None or closed >> NAMES.index(right) & 1 else "no"


def test_a_chat_model_is_the_expert_of_an_exploration(tmp_path):
    (tmp_path / "v.yaml").write_text(f"hornlens: 1\nvariables: [{', '.join(NAMES)}]\n")
    asks = ("explore", "v.yaml", "--model", "openai/tiny", "--format", "json")
    with ChatServer(say=knows_animals, latency=0.02) as server:

        def explored(*more):
            how = ("--base-url", server.url, "--elicit", "say")
            command = [sys.executable, "-m", "hornlens", *asks, *more, *how]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            (tmp_path / "rules.json").write_text(done.stdout)
            checked = verify(tmp_path / "rules.json", tmp_path / "v.exploration.json")
            assert checked.ok, checked.wrong
            return json.loads(done.stdout)

        early = explored("--time-limit", "0.1")
        assert early["certificate"]["kind"] == "interrupted"
        assert early["certificate"]["reason"] == "time_limit"
        begun = len(json.loads((tmp_path / "v.exploration.json").read_text())["answers"])
        whole = explored()
        kept = json.loads((tmp_path / "v.exploration.json").read_text())["answers"]
        assert 0 < begun < len(kept) and {a["by"] for a in kept} == {"openai/tiny"}
        assert whole["certificate"]["kind"] == "explored" and whole["certificate"]["open"] == 0
        names = {name: 1 << i for i, name in enumerate(NAMES)}
        for rule in whole["rules"]:  # as pairs of masks
            rule["left"] = sum(names[name] for name in rule["if"])
            rule["both"] = rule["then"] and rule["left"] + sum(names[n] for n in rule["then"])
        assert {(r["left"], r["both"]) for r in whole["rules"]} == brute.dg(ANIMALS, range(16))
        asked = sum(server.paid.values())
        again = explored("--fresh")  # all from the cache
        assert again["certificate"] == whole["certificate"]
        assert sum(server.paid.values()) == asked
