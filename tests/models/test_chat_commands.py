"""Chat models in `study` and `bias`: what they may take, and how they are asked."""

import json
import re
from pathlib import Path

import pytest

from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.command import hornlens
from tests.faults.rounds import rounds

pytest.importorskip("openai")

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
    keep_to_itself(monkeypatch, tmp_path)
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE)
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "sampled.yaml").write_text(STUDY + "limit: 5\n")


def run(server, *arguments, elicit="choose"):
    how = ("--base-url", server.url, "--elicit", elicit, "-q")
    return hornlens(*arguments, *how)


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


@pytest.mark.slow
def test_a_study_asks_in_several_ways():
    one = ("--model", "openai/tiny")
    with ChatServer() as server:
        both = run(server, "study", "study.yaml", *one, "--out", "both", elicit="choose,say")
        assert both.returncode == 0, both.stderr
        alone = run(server, "extract", "jobs.yaml", *one, "--out", "alone", elicit="choose,say")
        assert alone.returncode == 0, alone.stderr
    exact = json.loads(Path("both/exact/openai-tiny/envelope.json").read_text())
    assert exact["rules"] == json.loads(Path("alone/envelope.json").read_text())["rules"]


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("ways", "asked"),
    # All orders of a prompt are asked together: the second world is known then.
    [(("--elicit", "choose,say"), 24), (("--elicit", "choose", "--orders", "each"), 13)],
)
def test_progress_counts_the_prompts_of_every_way_of_asking(ways, asked):
    with ChatServer() as server:
        how = ("--base-url", server.url, *ways)
        asks = ("extract", "jobs.yaml", "--model", "openai/tiny", "--batch-size", 1, "--out", "o")
        done = hornlens(*asks, *how, telling=True)
    assert done.returncode == 0, done.stderr
    *before, last = re.findall(
        r"^Asking openai/tiny: (\d+ of 24 prompts(?: in)?)", done.stderr, re.M
    )
    assert before == [f"{number} of 24 prompts" for number in range(1, asked)], done.stderr
    assert last == "24 of 24 prompts in"
    assert "over 2 elicitations" in done.stdout
