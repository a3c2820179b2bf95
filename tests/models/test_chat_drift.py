"""Who answers behind an address: whether it stays the same, and what is said where it does not."""

import json
from contextlib import closing
from dataclasses import replace
from random import Random

import pytest

from hornlens.api import extract, load
from hornlens.errors import HornlensError
from hornlens.logic.repeats import Repeats
from hornlens.models.protocol import ModelError, ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.verification import verify
from hornlens.verifying.verify import verify_content
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


# --- who answers ---


def test_another_model_behind_the_address_ends_the_run_with_one_line(tmp_path):
    with ChatServer(answers_as=lambda count: "tiny-1" if count < 8 else "tiny-2") as server:
        done = run(server, "--batch-size", "1")
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "tiny-2 answers now, and tiny-1 did before" in done.stderr
        assert not (tmp_path / "o" / "envelope.json").exists()
        calls = server.begun
        assert calls < PROMPTS + 8  # it is not asked again and again
        # What tiny-1 answered is kept, and never mixed with what tiny-2 answers now.
        done = run(server, "--batch-size", "1")
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "some answers are by tiny-1 and some by tiny-2" in done.stderr
        assert server.begun < calls + 4
        done = run(server, "--cache", "fresh.sqlite")
        assert done.returncode == 0, done.stderr
        replies = [reply for answer in answers(tmp_path) for reply in answer["replies"]]
        assert {reply["fingerprint"] for reply in replies} == {"tiny-2 fp-1"}


def test_one_stray_reply_of_another_model_is_asked_again():
    with ChatServer(faults=["", "", "wrong model"]) as server:
        found = extract(model_at(server, elicit="say"), parse_probe(PROBE), cache=False)
        assert found.certificate.meets("exact") and not kinds(found) & {"models", "fingerprints"}


def test_several_fingerprints_are_counted_dated_and_not_called_exact(tmp_path):
    with ChatServer(
        fingerprint=lambda count: "fp-1" if count < 6 else "fp-2",
        clock=lambda count: 1_790_000_000 + 60 * count,
    ) as server:
        done = run(server, "--batch-size", "1")
        assert done.returncode == 0, done.stderr
    # The first of them was a trial.
    sentence = (
        "The replies of openai/tiny have 2 fingerprints: tiny fp-2 (7 replies, 2026-09-21 14:19:20 "
        "to 2026-09-21 14:25:20 UTC); tiny fp-1 (5 replies, 2026-09-21 14:14:20 to 2026-09-21 "
        "14:18:20 UTC)."
    )
    assert sentence in done.stdout
    assert "exact" not in done.stdout.lower()
    assert "But the 12 replies have 2 fingerprints (7 and 5 replies)" in done.stdout
    content = json.loads((tmp_path / "o" / "envelope.json").read_text(encoding="utf-8"))
    assert content["certificate"]["sources"] == {"replies": [7, 5]}
    assert content["certificate"]["kind"] == "mixed"
    (warning,) = [w for w in content["warnings"] if w["kind"] == "fingerprints"]
    assert warning["sentence"].startswith(sentence)
    assert warning["names"] == ["tiny fp-2", "tiny fp-1"]
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "have 2 fingerprints" in page and "Proved of these replies only" in page
    assert "The rules are a fact about these replies" in page
    assert "The rules are a fact about this model" not in page
    found = load(tmp_path / "o")
    certificate = found.envelope.certificate
    assert not certificate.meets("exact") and certificate.meets("bounded")
    assert [w.sentence for w in found.warnings] == [w["sentence"] for w in content["warnings"]]
    assert verify(tmp_path / "o").ok
    # Kept answers count as those of now.
    with ChatServer(port=server.server.server_address[1]) as server:
        again = run(server)
        assert server.begun == 0 and sentence in again.stdout


def test_verify_counts_fingerprints_again(tmp_path):
    with ChatServer(fingerprint=lambda count: f"fp-{count % 2}") as server:
        extract(model_at(server, elicit="say"), parse_probe(PROBE), cache=False).save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    assert verify_content(content, tmp_path).ok
    sources = content["certificate"].pop("sources")
    content["certificate"]["kind"] = "exact"
    assert "fingerprints" in verify_content(content, tmp_path).wrong
    content["certificate"]["sources"] = {**sources, "replies": [11, 1]}
    assert "fingerprints" in verify_content(content, tmp_path).wrong


def test_kept_answers_of_another_fingerprint_are_told(tmp_path):
    with ChatServer(fingerprint=lambda count: "old") as server:
        port = server.server.server_address[1]
        run(server, "--max-calls", "7")
    with ChatServer(fingerprint=lambda count: "new", port=port) as server:
        done = run(server)
        assert done.returncode == 0, done.stderr
        assert "tiny new (6 replies); tiny old (6 replies)" in done.stdout


# --- a sample is asked again ---


def answers(folder):
    return json.loads((folder / "o" / "envelope.json").read_text(encoding="utf-8"))["answers"]


def kinds(found):
    return {warning.kind for warning in found.warnings}


def test_prompts_asked_again_at_the_end_show_whether_the_model_has_changed(tmp_path):
    with ChatServer() as server:
        run(server, "--cache", "a.sqlite")  # nothing is asked again at a server of this machine
        assert server.begun == 1 + PROMPTS
        done = run(server, "--cache", "b.sqlite", "--recheck", "5")
        assert server.begun == 2 * (1 + PROMPTS) + 5
        assert "5 prompts got the same answer when asked again" in done.stdout
        assert "17 prompts asked" in done.stdout and "exact" in done.stdout.lower()
        again = run(server, "--cache", "b.sqlite", "--recheck", "5")
        assert server.begun == 2 * (1 + PROMPTS) + 5
        assert "5 prompts got the same answer when asked again" in again.stdout
        # Nothing may be spent on it: then it is left out.
        done = run(server, "--cache", "c.sqlite", "--recheck", "5", "--max-calls", "15")
        assert done.returncode == 0 and "2 prompts got the same answer" in done.stdout
    with ChatServer(say=lambda s: "He" if server.begun > 1 + PROMPTS else "She") as server:
        done = run(server, "--cache", "d.sqlite", "--recheck", "5")
        assert done.returncode == 0, done.stderr
        warning = "5 of 5 prompts got another answer when they were asked again at the end"
        assert f"Warning: {warning}" in done.stdout and "exact" not in done.stdout.lower()
        certificate = load(tmp_path / "o").envelope.certificate
        assert (certificate.sources.reasked, certificate.sources.changed) == (5, 5)
        assert not certificate.meets("exact") and verify(tmp_path / "o").ok


def test_above_temperature_0_nothing_is_asked_again():
    with ChatServer() as server:
        done = run(server, "--temperature", "0.5", "--recheck", "5")
        assert done.returncode == 2 and "--recheck needs temperature 0" in done.stderr
        done = run(server, "--repeats", "20", "--recheck", "5")
        assert done.returncode == 2 and "leave one out" in done.stderr
        model = model_at(server, elicit="say", temperature=0.5)
        assert model.recheck_count(1000) == 0 and server.begun == 0
    far = ModelOptions(base_url="https://chat.invalid/v1")
    assert open_model("openai/tiny", far).recheck_count(1000) == 20
    assert open_model("openai/tiny", replace(far, temperature=0.5)).recheck_count(1000) == 0
    assert open_model("openai/tiny", replace(far, recheck=0)).recheck_count(1000) == 0


def test_the_dry_run_counts_what_is_asked_again(tmp_path):
    with ChatServer() as server:
        done = run(server, "--dry-run", "--recheck", "5")
        assert "At most 17 calls" in done.stdout and "5 prompts are asked again" in done.stdout
        done = run(server, "--dry-run", "--recheck", "5", elicit="choose")
        assert "At most 34 calls" in done.stdout  # each in two orders
        done = run(server, "--dry-run", "--recheck", "5", "--format", "json")
        assert json.loads(done.stdout)["cost"]["calls"] == 17
        assert server.begun == 0
    (tmp_path / "jobs.yaml").write_text(many_jobs(), encoding="utf-8")
    where = ("--model", "openai/tiny", "--base-url", "https://chat.invalid/v1", "--elicit", "say")
    done = hornlens("extract", "jobs.yaml", *where, "--dry-run")
    assert "At most 408 calls" in done.stdout and "8 prompts are asked again" in done.stdout


def many_jobs():
    """A probe with 400 prompts."""
    jobs = ", ".join(f"job {k}" for k in range(19))
    places = ", ".join(f"place {k}" for k in range(19))
    return PROBE.replace("nurse, engineer, soldier", jobs).replace("Africa, Europe", places)


# --- a gateway that caches ---

LONG = (
    "I would say {} here, since that reads best to my ear at present.",
    "{}, most probably; though one cannot be certain of anything like this.",
    "I would go with {}, because it sounds natural and fits what people write.",
)


def talkative(seed=0, word="He"):
    """Replies of many words, which vary."""
    rng = Random(seed)
    return lambda sentence: rng.choice(LONG).format(word) + f" ({rng.randrange(10**6)} times.)"


def certificate_of(found):
    return found.envelope.certificate


@pytest.mark.parametrize("dated", [True, False])
def test_repeats_from_a_cache_are_told_and_no_level_is_claimed(tmp_path, dated):
    """By their ids, where there are any; else by long replies that agree word for word."""
    clock = (lambda count: 1_790_000_000 + count) if dated else None
    say = (lambda sentence: "He") if dated else talkative()
    with ChatServer(say=say, caches=True, clock=clock) as server:
        model = model_at(server, elicit="say")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
        assert server.begun < 1 + 5 * PROMPTS  # it ends as soon as it is seen
    certificate = certificate_of(found)
    assert certificate.noise.alpha is None and certificate.noise.copied
    assert certificate.undecided == PROMPTS and not certificate.meets("tested")
    assert certificate.kind == "copied" and "No probability is claimed" in certificate.sentence
    assert not found.rules
    (warning,) = [w for w in found.warnings if w.kind == "copies"]
    evidence = "have the id of an earlier one" if dated else "the same word for word"
    assert evidence in warning.sentence and "no probability is claimed" in warning.sentence
    found.save(tmp_path)
    assert verify(tmp_path).ok
    again = load(tmp_path)
    assert certificate_of(again) == certificate and kinds(again) == kinds(found)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    content["certificate"]["noise"].pop("copied")
    content["certificate"]["noise"]["alpha"] = 0.05
    assert verify_content(content, tmp_path).ok != dated  # nothing is decided by the others
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Repeats are copies" in page and "for the repeated replies are copies" in page


@pytest.mark.parametrize("say", [lambda sentence: "He", talkative()])
def test_a_sure_model_that_samples_is_believed(say):
    """It names the same candidate each time: in the same word, or in words that vary."""
    for clock in (None, lambda count: 1_790_000_000):
        with ChatServer(say=say, clock=clock) as server:
            model = model_at(server, elicit="say")
            found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
        certificate = certificate_of(found)
        assert certificate.noise.alpha == 0.05 and not certificate.undecided
        assert "copies" not in kinds(found)


def test_ids_that_all_replies_share_tell_nothing():
    with ChatServer(clock=lambda count: 1_790_000_000) as server:
        reply = server._identified
        server._identified = lambda path, body: {**reply(path, body), "id": "chatcmpl-0"}
        model = model_at(server, elicit="say")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
    assert certificate_of(found).noise.alpha == 0.05


def test_a_sure_model_that_repeats_the_question_is_believed():
    """Its replies are long, and all the same: but all the words are those of the prompt."""
    with ChatServer(say=lambda sentence: sentence.replace("____", "He")) as server:
        model = model_at(server, elicit="say")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
    assert "copies" not in kinds(found)


def test_copies_in_one_way_of_asking_discredit_all(tmp_path):
    with ChatServer(say=lambda s: "He", caches=True, clock=lambda count: 10**9 + count) as server:
        model = model_at(server, elicit="say,constrained")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
    assert all(certificate_of(each).noise.copied is not None for each in (found, *found.worlds))
    found.save(tmp_path)
    assert verify(tmp_path).ok
