"""Who answers behind an address: whether it stays the same, and what is said where it does not."""

import json
from contextlib import closing

import pytest

from hornlens.api import extract
from hornlens.errors import HornlensError
from hornlens.logic.repeats import Repeats
from hornlens.models.protocol import ModelError, ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.command import hornlens

pytest.importorskip("openai")

PROMPTS = 12


@pytest.fixture(autouse=True)
def _place(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE, encoding="utf-8")


def model_at(server, name="tiny", **options):
    return open_model(f"openai/{name}", ModelOptions(base_url=server.url, **options))


def run(server, *more, elicit="say", command="extract"):
    where = ("--model", "openai/tiny", "--base-url", server.url, "--elicit", elicit, "-q")
    return hornlens(command, "jobs.yaml", *where, "--out", "o", *more)


# --- repeats that can decide nothing ---


def test_a_dry_run_names_the_answers_that_decide_and_warns_if_there_are_fewer():
    with ChatServer() as server:
        done = run(server, "--repeats", "4", "--dry-run")
        assert done.returncode == 0 and server.begun == 0
        assert "is decided after 4" not in done.stdout
        assert "Warning: of any other model, --repeats 4 can decide nothing" in done.stdout
        assert "with 12 prompts and --alpha 0.05" in done.stdout
        assert "is decided after 13; use --repeats 13 or more" in done.stdout
        done = run(server, "--repeats", "13", "--dry-run")
        assert "is decided after 13;" in done.stdout and "Warning" not in done.stdout
        # Each way of asking has a share of the level.
        done = run(server, "--repeats", "13", "--dry-run", elicit="say,constrained")
        assert "is decided after 14; use" in done.stdout


def test_repeats_that_decide_nothing_are_refused_before_anything_is_asked():
    with ChatServer() as server:
        done = run(server, "--repeats", "4")
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "--repeats 4 can decide nothing" in done.stderr
        assert not any("Sentence" in json.dumps(body) for _, body in server.seen)
        done = run(server, "--repeats", "13")
        assert done.returncode == 0, done.stderr
        # A model with log-probabilities needs no repeats to decide.
        assert run(server, "--repeats", "2", elicit="choose").returncode == 0
        few = Repeats(most=2, settle=20)
        assert extract(model_at(server, elicit="say"), parse_probe(PROBE), repeats=few)
        with pytest.raises(HornlensError, match="can decide nothing"):
            extract(model_at(server, elicit="say"), parse_probe(PROBE), repeats=Repeats(most=5))


# --- what is kept ---


def test_without_a_cache_nobody_says_that_answers_are_kept():
    with ChatServer(faults=["", *["500"] * 999]) as server:
        model = model_at(server, elicit="say")
        model.connection.patience = type(model.connection.patience)(attempts=2, first_pause=0.01)
        with pytest.raises(ModelError) as lost:
            extract(model, parse_probe(PROBE), cache=False)
        assert "is lost, because there is no cache" in str(lost.value)
        assert "kept" not in str(lost.value)
    many = ("--max-calls", "9", "--model", "openai/tiny", "--out", "o", "-q", "--elicit", "choose")
    with ChatServer() as server:
        done = hornlens("bias", *many, "--base-url", server.url, "--no-cache")
        assert done.returncode == 2 and "--max-calls 9 is reached; what was" in done.stderr
        assert "is lost" in done.stderr and "is kept" not in done.stderr
        done = hornlens("bias", *many, "--base-url", server.url)
        assert done.returncode == 2 and "is kept, run the same command" in done.stderr


def test_two_models_of_one_address_never_share_answers(tmp_path):
    with ChatServer() as server, closing(AnswerCache(tmp_path / "c.sqlite")) as cache:
        for name in ("tiny", "other-model"):
            found = extract(model_at(server, name, elicit="say"), parse_probe(PROBE), cache=cache)
            assert (found.record.asked, found.record.reused) == (PROMPTS, 0)
        assert len({model.identity for model in cache.models()}) == 2
