"""Chat models over HTTP: how they are asked, what is made of their replies, what stops a run."""

import json
import math
import os
import time
from contextlib import closing
from email.utils import formatdate
from random import Random

import pytest

from hornlens.api import extract, load
from hornlens.logic.repeats import Repeats
from hornlens.models.chat import memory
from hornlens.models.chat.pacing import Patience
from hornlens.models.chat.reading import read_choice, read_text
from hornlens.models.chat.wording import orders
from hornlens.models.protocol import (
    Elicitation,
    ModelError,
    ModelOptions,
    Spending,
)
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.testing.models import ModelConformance, ask, refusal
from tests import command
from tests.chat_server import PROBE, ChatServer, keep_to_itself, lean

pytest.importorskip("openai")
pytest.importorskip("anthropic")

WORDS = ("She", "He")
JOBS = (
    *("nurse", "engineer", "soldier", "dancer", "pilot", "writer", "judge", "farmer", "actor"),
    *("doctor", "teacher", "very careful driver of heavy lorries", "cook"),
)
PROMPTS = tuple(f"[MASK] works as a {job}." for job in JOBS)
SECRET = "sk-test-0123456789abcdefSECRET"
QUICK = Patience(attempts=6, busy=5.0, first_pause=0.002, longest_pause=0.02, timeout=10.0)


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """No key of somebody's, no file of somebody's, and nothing known of endpoints."""
    keep_to_itself(monkeypatch, tmp_path, SECRET)


def model_at(server, spec="openai/tiny", **options):
    url = server.root if spec.startswith("anthropic") else server.url
    model = open_model(spec, ModelOptions(base_url=url, **options))
    model.connection.patience = QUICK
    return model


def hornlens(*arguments, cwd):
    """Run the command as a process of its own."""
    env = {**os.environ, "HORNLENS_CACHE": str(cwd / "answers.sqlite")}
    return command.hornlens(*arguments, cwd=cwd, env=env)


def likes(prompt, word):
    return lean(prompt.replace("[MASK]", "____"), word)


def place_of(answer):
    """What is named, or has the best of the scores."""
    return answer.as_choice().named


def winner(prompt):
    return max(WORDS, key=lambda word: likes(prompt, word))


class TestOpenAIDialect(ModelConformance):
    prompts = PROMPTS
    words = WORDS
    close = 1e-9

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _server(cls):
        with ChatServer() as server:
            cls.server = server
            yield

    def build(self, options):
        chosen = ModelOptions(
            batch_size=options.batch_size, base_url=self.server.url, elicit="choose"
        )
        return open_model("openai/tiny", chosen)


class TestAnthropicDialect(TestOpenAIDialect):
    def build(self, options):
        chosen = ModelOptions(batch_size=options.batch_size, base_url=self.server.root)
        return open_model("anthropic/tiny", chosen)


@pytest.mark.parametrize("method", ["choose", "constrained", "say"])
def test_each_way_of_asking_finds_what_the_model_likes(method):
    with ChatServer() as server:
        answers = ask(model_at(server, elicit=method), PROMPTS, WORDS)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        assert WORDS[place_of(answer)] == winner(prompt), prompt
        assert len(answer.scores) == (2 if method == "choose" else 0)
        assert len(answer.replies) == (1 if method == "say" else 2)
        assert all(r.tokens[0] > 0 and "tiny" in r.fingerprint for r in answer.replies)


def test_likelihood_sums_the_log_probabilities_of_the_sentence():
    with ChatServer() as server:
        answers = ask(model_at(server, elicit="likelihood"), PROMPTS, WORDS)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        sums = []
        for word in WORDS:
            text = prompt.replace("[MASK]", word)
            parts = [f" {part}" for part in text.split()][1:]
            sums.append(-math.fsum(lean(text, f"{k}{part}") * 5 for k, part in enumerate(parts)))
        lead = answer.scores[0] - answer.scores[1]
        assert lead == pytest.approx(sums[0] - sums[1])


def test_the_place_in_which_a_candidate_is_offered_counts_for_nothing_on_average():
    words = ("She", "He", "They")
    with ChatServer(bias=3.0) as biased, ChatServer() as fair:
        pairs = zip(
            ask(model_at(biased, elicit="choose", orders="average"), PROMPTS, words),
            ask(model_at(fair, elicit="choose", orders="average"), PROMPTS, words),
            strict=True,
        )
        for one, other in pairs:
            leads = [answer.scores[0] - answer.scores[1] for answer in (one, other)]
            assert leads[0] == pytest.approx(leads[1])
            assert len({reply.order for reply in one.replies}) == 3


def test_orders_do_not_depend_on_the_order_of_the_words():
    words = ["c", "a", "b"]
    offered = {tuple(words[k] for k in order) for order in orders(words, "rotate")}
    assert offered == {("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")}
    assert orders(["b", "a"], "once") == [(1, 0)]
    many = [f"w{k}" for k in range(6)]
    assert orders(many, "rotate") == [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)]


def test_candidates_of_many_tokens_that_begin_alike_are_told_apart():
    words = ("Christian doctor", "Christian nurse")
    with ChatServer() as server:
        for method in ("choose", "constrained", "say"):
            server.say = lambda sentence: f"{max(words, key=lambda w: lean(sentence, w))}."
            answers = ask(model_at(server, elicit=method), PROMPTS[:4], words)
            for prompt, answer in zip(PROMPTS, answers, strict=False):
                best = words[place_of(answer)]
                assert best == max(words, key=lambda word: likes(prompt, word)), method


def test_what_the_endpoint_cannot_do_is_found_out():
    with ChatServer(logprobs=False) as server:
        assert ":constrained:" in model_at(server).identity()
    with ChatServer(logprobs=False, schema=False) as server:
        assert ":say:" in model_at(server).identity()
    with ChatServer(echo=False) as server:
        said = refusal(lambda: model_at(server, elicit="likelihood").check(WORDS))
        assert "gives no log-probabilities of a text" in said
    with ChatServer(logprobs=False) as server:
        said = refusal(lambda: model_at(server, elicit="choose").check(WORDS))
        assert "gives no log-probabilities" in said


def test_what_was_found_out_is_known_without_asking_again(monkeypatch):
    with ChatServer(logprobs=False) as server:
        model = model_at(server)
        identity = model.identity()
        begun = server.begun
        monkeypatch.setattr(memory, "_methods", {})  # as in another process
        assert model_at(server).identity() == identity
        assert server.begun == begun


def test_parameters_that_a_model_refuses_are_left_out():
    with ChatServer(refuses=("temperature", "max_tokens", "seed")) as server:
        answers = ask(model_at(server, elicit="choose"), PROMPTS, WORDS)
        assert {r.how for answer in answers for r in answer.replies} == {"temperature not taken"}
        sent = server.seen[-1][1]
        assert "max_completion_tokens" in sent and "temperature" not in sent
        said = refusal(lambda: model_at(server, elicit="choose", temperature=0.5).check(WORDS))
        assert "leave out --temperature" in said
    with ChatServer(refuses=("temperature",)) as server:
        answers = ask(model_at(server, "anthropic/tiny"), PROMPTS, WORDS)
        assert {r.how for answer in answers for r in answer.replies} == {"temperature not taken"}


def test_a_model_that_thinks_first_gets_the_room_for_it():
    with ChatServer(room_needed=1000) as server:
        answers = ask(model_at(server, elicit="constrained"), PROMPTS[:3], WORDS)
        assert not any(answer.outcome for answer in answers)


def test_a_name_that_the_endpoint_does_not_list_is_caught():
    with ChatServer(names=("models/tiny-large", "big:latest")) as server:
        said = refusal(lambda: model_at(server, "openai/tny-large").check(WORDS))
        assert "has no model 'tny-large'" in said and "tiny-large" in said
        model_at(server, "openai/tiny-large", elicit="say").check(WORDS)
        model_at(server, "openai/big", elicit="say").check(WORDS)
        assert server.begun == 2
    with ChatServer(names=None) as server:  # it does not say
        model_at(server, "openai/anything", elicit="say").check(WORDS)


def test_free_text_is_read_as_a_candidate_a_refusal_or_something_else():
    words = ("York", "New York", "He")
    for text, expected in [
        ("he", 2),
        ("He.", 2),
        ("“He” fits best", 2),
        ("New York", 1),
        ("York", 0),
        ("York, not New York", "unclear"),
        ("the", "other"),
        ("", "other"),
        ("He or York", "unclear"),
        ("I'm sorry, but he is unknown", "refusal"),
        ("I can’t answer that.", "refusal"),
        ("As an AI, I have no view: He", "refusal"),
    ]:
        reading = read_text(text, words, {})
        assert expected in (reading.outcome, reading.named) and reading.reason, text
    assert read_text("a woman", ("She", "He"), {"She": [r"\bwom[ae]n\b"]}).named == 0
    assert read_choice('```json\n{"answer": "He"}\n```', words).named == 2
    assert read_choice('{"answer": "It"}', words).outcome == "other"
    assert read_choice("I cannot do that", words).outcome == "refusal"


def test_a_refusal_is_an_abstention_and_never_a_rejection(tmp_path):
    def say(sentence):
        if "nurse" in sentence:
            return "I'm sorry, I can't say."
        return "Maria" if "soldier" in sentence else "He"

    with ChatServer(say=say) as server:
        found = extract(model_at(server, elicit="say"), parse_probe(PROBE), cache=False)
    reasons = {decision.abstained for _, decision in found.abstentions}
    assert reasons == {"refusal", "other"} and len(found.abstentions) == 6
    assert (
        not found.entails("nurse & female -> false") and found.entails("engineer -> male") is False
    )
    assert found.entails("engineer & female -> false")
    found.save(tmp_path)
    again = load(tmp_path)
    assert again.abstentions == found.abstentions
    replies = {s.text for details in again.details.values() for s in details.replies}
    assert replies == {"I'm sorry, I can't say.", "Maria", "He"}


def test_changed_patterns_read_the_kept_replies_anew(tmp_path):
    probe, other = parse_probe(PROBE), PROBE.replace("word: She", 'word: She, patterns: ["Maria"]')
    with (
        ChatServer(say=lambda _: "Maria") as server,
        closing(AnswerCache(tmp_path / "a.sqlite")) as cache,
    ):
        first = extract(model_at(server, elicit="say"), probe, cache=cache)
        begun = server.begun
        second = extract(model_at(server, elicit="say"), parse_probe(other), cache=cache)
        assert server.begun == begun
    assert len(first.abstentions) == 12 and not second.abstentions


def test_the_probes_own_wording_is_used_and_belongs_to_the_identity():
    own = Elicitation("say", "Be brief.", "Who? Sentence: {sentence}")
    with ChatServer() as server:
        model = model_at(server)
        worded = model.asked_with(own)
        ask(worded, PROMPTS[:1], WORDS)
        sent = server.seen[-1][1]["messages"]
        assert [message["content"] for message in sent] == [
            "Be brief.",
            f"Who? Sentence: {PROMPTS[0].replace('[MASK]', '____')}",
        ]
        plain = model_at(server, elicit="say").identity()
        assert worded.identity() != plain


def test_each_repeat_is_a_sample_with_a_seed_of_its_own():
    with ChatServer() as server:
        model = model_at(server, elicit="say", temperature=1.0)
        for repeat in range(3):
            ask(model.asked_with(Elicitation(), repeat), PROMPTS[:2], WORDS)
        seeds = [body["seed"] for _, body in server.seen if "Sentence:" in str(body)]
        assert len(set(seeds)) == len(seeds) == 6
        assert {body["temperature"] for _, body in server.seen} == {1.0}


def test_no_key_is_in_what_is_kept_or_said(tmp_path):
    faults = ["", "", "401"]
    with ChatServer(faults=faults) as server:
        url = server.url.replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"
        model = open_model("openai/tiny", ModelOptions(base_url=url, elicit="choose"))
        assert SECRET not in model.identity() + repr(model.connection.address)
        with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
            with pytest.raises(ModelError) as caught:
                extract(model, parse_probe(PROBE), cache=cache)
            assert "401" in str(caught.value) and "\n" not in str(caught.value)
            for fault in ("400", "403", "404", *["429"] * 9):
                server.faults[:] = [fault] * 99
                model = model_at(server, elicit="choose")
                model.connection.patience = Patience(attempts=1, busy=0.0)
                said = refusal(lambda model=model: model.check(WORDS))
                assert fault in said and SECRET not in said
            server.faults.clear()
            result = extract(model_at(server, elicit="choose"), parse_probe(PROBE), cache=cache)
        result.save(tmp_path / "out")
        assert server.keys == {f"Bearer {SECRET}"}
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_a_missing_key_or_a_wrong_address_is_said_in_a_line(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    for kind in ("openai", "anthropic"):
        model = open_model(f"{kind}/some", ModelOptions(elicit="say"))
        model.identity()
        assert f"set {kind.upper()}_API_KEY" in refusal(lambda model=model: model.check(WORDS))
    for url in ("ftp://x", "nonsense", "http://[", "http://x:port"):
        model = open_model("openai/x", ModelOptions(base_url=url))
        assert "--base-url" in refusal(model.identity)
    for options in ({"elicit": "x"}, {"orders": "x"}, {"temperature": 3.0}):
        refusal(lambda options=options: open_model("openai/x", ModelOptions(**options)))


def test_calls_are_made_many_at_a_time_and_fewer_when_it_is_too_much():
    prompts = [f"[MASK] has number {n}." for n in range(300)]
    with ChatServer(latency=0.1) as server:
        model = model_at(server, elicit="say", batch_size=16)
        model.check(WORDS)
        ask(model, prompts, WORDS)
        assert 4 < server.most_at_once <= 16
        pace = model.connection.pace
        before = pace.limit
        server.faults[:] = ["429 after"] * 20
        ask(model, [f"{p} Again." for p in prompts[:20]], WORDS)
        assert pace.limit < before


def test_a_budget_stops_before_it_is_exceeded_and_what_was_paid_for_is_kept(tmp_path):
    with ChatServer() as server, closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        model = model_at(server, elicit="choose", limits=Spending(calls=9), batch_size=2)
        early = extract(model, parse_probe(PROBE), cache=cache)
        assert server.begun == 9
        certificate, decided = early.envelope.certificate, len(early.decisions)
        assert (certificate.kind, certificate.stopped) == ("interrupted", "max_calls")
        assert 3 <= decided < 12 and certificate.unasked == 12 - decided
        assert certificate.sentence.startswith(
            f"The run was ended by the limit on calls, before {12 - decided} of 12 cells were asked"
        )
        done = extract(model_at(server, elicit="choose"), parse_probe(PROBE), cache=cache)
        assert done.record.reused == decided and done.record.asked == 12 - decided
        assert set(early.envelope.readable) <= set(done.envelope.readable)
        assert done.envelope.certificate.meets("exact")
    prices = {"price_in": 2.0, "price_out": 8.0}
    for limits in (Spending(tokens=3000), Spending(cost=0.006, **prices)):
        with ChatServer() as server:
            model = model_at(server, elicit="choose", limits=limits)
            with pytest.raises(ModelError, match="could be exceeded"):
                ask(model, PROMPTS, WORDS)
            used = model.options.limits.used
            assert 0 < used.tokens_in + used.tokens_out <= 3000
            assert server.begun == used.calls
    with pytest.raises(ModelError, match="--price-in"):
        open_model("openai/x", ModelOptions(limits=Spending(cost=1.0)))


def test_an_estimate_is_never_less_than_what_is_used(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with ChatServer() as server:
        for method in ("choose", "constrained", "say", "likelihood"):
            limits = Spending(price_in=1.0, price_out=2.0)
            model = model_at(server, elicit=method, limits=limits)
            begun = server.begun
            most = model.estimate(PROMPTS, WORDS)
            assert server.begun == begun
            model.check(WORDS)
            trials = model.options.limits.used.calls
            ask(model, PROMPTS, WORDS)
            used = model.options.limits.used
            assert used.calls - trials == most.calls
            assert used.tokens_in <= most.tokens_in + 200
            assert most.cost == pytest.approx((most.tokens_in + 2 * most.tokens_out) / 1e6)


def test_a_closed_iterator_leaves_nothing_under_way():
    with ChatServer(latency=0.05) as server:
        model = model_at(server, elicit="say")
        batches = model.score([f"[MASK] has number {n}." for n in range(200)], WORDS)
        next(batches)
        batches.close()
        begun = -1
        for _ in range(20):  # what had been sent before may still arrive, on a busy machine
            if server.begun == begun:
                break
            begun = server.begun
            time.sleep(1.0)
        assert server.begun == begun < 200


def test_replies_are_kept_as_json_in_the_result(tmp_path):
    with ChatServer() as server:
        extract(model_at(server, elicit="choose"), parse_probe(PROBE), cache=False).save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    reply = content["answers"][0]["replies"][0]
    assert reply["fingerprint"] == "tiny fp-1" and reply["finish"] == "stop"
    assert reply["how"] == "temperature 0" and sorted(reply["order"]) == [0, 1]


def test_what_a_run_takes_is_said_before_anything_is_sent(tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(PROBE, encoding="utf-8")
    with ChatServer() as server:
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", "choose"]
        prices = ["--price-in", "1", "--price-out", "2"]
        study = tmp_path / "study.yaml"
        study.write_text(
            f"hornlens: 1\nname: s\nprobe: {file.name}\nmodels: [demo]\nbudgets: [5]\nruns: 1\n",
            encoding="utf-8",
        )
        for command in (
            ["extract", str(file), "--dry-run"],
            ["study", str(study), "--dry-run", "--out", "s"],
            ["probe", "show", str(file)],
        ):
            done = hornlens(*command, *where, *prices, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert "At most 24 calls" in done.stdout and "Nothing was sent" in done.stdout
            assert "at the prices given" in done.stdout
        assert server.begun == 0 and not server.keys and not (tmp_path / "s").exists()
        done = hornlens("extract", str(file), *where, "--max-calls", "5", "-q", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "interrupted: the run was ended by the limit on calls, before" in done.stdout
        assert server.begun == 5
        early = json.loads((tmp_path / "hornlens-out/envelope.json").read_text())
        assert early["certificate"]["kind"] == "interrupted"
        assert early["certificate"]["ended"] == {"reason": "max_calls"}
        assert early["certificate"]["unasked"] == 12 - len(early["answers"])
        done = hornlens("extract", str(file), *where, "--max-calls", "50", "-q", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        whole = json.loads((tmp_path / "hornlens-out/envelope.json").read_text())
        assert whole["certificate"]["kind"] == "exact" and len(whole["answers"]) == 12
        assert {json.dumps(line) for line in early["answers"]} <= {
            json.dumps(line) for line in whole["answers"]
        }
        # Each prompt takes two calls: the limit ends the run before one of them is paid for alone.
        asked = {body: count for body, count in server.paid.items() if "works as" in body}
        assert sum(asked.values()) == 24
        done = hornlens("extract", str(file), *where, "--max-cost", "1", cwd=tmp_path)
        assert done.returncode == 2 and "--price-in" in done.stderr
        done = hornlens("extract", str(file), *where, "--out", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = hornlens("extract", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0 and "nothing to pay" in done.stdout


def test_the_bias_of_places_is_measured_and_reported(tmp_path):
    with ChatServer(bias=9.0) as server:
        found = extract(model_at(server, elicit="choose"), parse_probe(PROBE), cache=False)
        found.save(tmp_path)
        fair = extract(model_at(server, elicit="say"), parse_probe(PROBE), cache=False)
        again = extract(
            model_at(server, elicit="choose"), parse_probe(PROBE), cache=False, repeats="auto"
        )
    (said,) = [w.sentence for w in again.warnings if w.kind == "order"]
    assert "changes the answer in 12 of 12 prompts" in said  # asked again, it is no less biased
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    assert content["orders"] == {"prompts": 12, "differing": 12, "named": [24, 0]}
    (warning,) = [w for w in load(tmp_path).warnings if w.kind == "order"]
    assert warning.sentence == (
        "The order in which candidates are offered changes the answer in 12 of 12 prompts: of "
        "24 named, 24 the one in place 1, 0 the one in place 2 (12 each would be even)."
    )
    assert not [w for w in fair.warnings if w.kind == "order"]


def test_an_endpoint_that_wants_to_be_left_alone_is_and_not_for_ever():
    soon = formatdate(time.time() + 1, usegmt=True)
    for header in ("0.05", soon):
        with ChatServer(faults=[f"429 {header}"]) as server:
            ask(model_at(server, elicit="say"), PROMPTS[:2], WORDS)
    for fault in ("429", "500", "503"):
        with ChatServer(faults=[f"{fault} 86400"] * 9) as server:
            said = refusal(
                lambda server=server: ask(model_at(server, elicit="say"), PROMPTS, WORDS)
            )
            assert "busy for too long" in said


def test_answers_without_log_probabilities_are_sampled_until_they_decide(tmp_path):
    rng = Random(1)

    def say(sentence):
        chance = 0.97 if "nurse" in sentence else 0.5 if "soldier" in sentence else 0.03
        return "She" if rng.random() < chance else "He"

    with ChatServer(say=say) as server, closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        model = model_at(server, elicit="say")
        found = extract(model, parse_probe(PROBE), cache=cache, repeats=Repeats(most=40))
        asked = [body for _, body in server.seen if "Sentence:" in str(body)]
        assert {body["temperature"] for body in asked} == {1.0}
        assert len({body["seed"] for body in asked}) == len(asked)
        begun = server.begun
        again = extract(
            model_at(server, elicit="say"),
            parse_probe(PROBE),
            cache=cache,
            repeats=Repeats(most=40),
        )
        assert server.begun == begun and again.decisions == found.decisions
    assert found.entails("nurse & male -> false") and not found.entails("soldier & male -> false")
    assert found.possible.entails("soldier & male -> false")
    assert found.envelope.certificate.noise.answers == len(asked) == found.record.asked
    replies = [len(told.replies) for told in found.details.values()]
    assert sum(replies) == len(asked)


def test_samples_are_drawn_in_an_order_drawn_by_chance():
    with ChatServer(logprobs=False) as server:
        model = model_at(server, elicit="constrained")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
        told = [s for details in found.details.values() for s in details.replies]
        assert {s.order for s in told} == {(0, 1), (1, 0)}
        first = sum(s.order == (0, 1) for s in told) / len(told)
        assert 0.3 < first < 0.7 and all(s.how == "temperature 1" for s in told)
        plain = model.asked_with(Elicitation()).identity()
        assert model.asked_with(Elicitation(), 0, True).identity() == f"{plain}:drawn"
        # Its answers do not depend on the place, so each prompt is decided.
        assert found.envelope.certificate.undecided == 0
        assert not [w for w in found.warnings if w.kind == "order"]
    with ChatServer(logprobs=False, bias=99.0) as server:
        model = model_at(server, elicit="constrained")
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
        # The first that is offered is named: no label wins by that, and it is said.
        assert found.envelope.certificate.undecided == 12
        (warning,) = [w for w in found.warnings if w.kind == "order"]
        assert warning.sentence.startswith("Where a candidate is offered decides")


def test_equal_answers_at_temperature_0_prove_nothing():
    with ChatServer() as server:
        model = model_at(server, elicit="say", temperature=0.0)
        with pytest.raises(ModelError, match="not independent"):
            extract(model, parse_probe(PROBE), cache=False, repeats="auto")


@pytest.mark.slow
def test_repeats_on_the_command_line(tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(PROBE, encoding="utf-8")
    rng = Random(2)
    with ChatServer(say=lambda s: rng.choice(WORDS) if "nurse" in s else "He") as server:
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", "say", "-q"]
        done = hornlens(
            "extract", str(file), *where, "--repeats", "30", "--settle", "20", "--out", "o",
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "certain despite noise: with probability 0.95 or more" in done.stdout
        assert "Possibly: In its most frequent answer" in done.stdout
        assert hornlens("verify", "o", cwd=tmp_path).returncode == 0
        page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
        assert "Possible rules" in page and "Certain despite noise" in page
        done = hornlens("extract", str(file), *where, "--repeats", "30", "--dry-run", cwd=tmp_path)
        assert "At most 360 calls" in done.stdout and "is decided after 13" in done.stdout
        for wrong in (["--repeats", "1"], ["--repeats", "x"], ["--alpha", "0.1"]):
            done = hornlens("extract", str(file), *where, *wrong, cwd=tmp_path)
            assert done.returncode == 2 and "--repeats" in done.stderr


def test_ways_of_asking_are_worlds(tmp_path):
    with ChatServer() as server:
        model = model_at(server, elicit="choose,say")
        found = extract(model, parse_probe(PROBE), cache=False)
        assert [world.world for world in found.worlds] == ["choose", "say"]
        assert found.noun == "elicitation"
        own = [extract(model_at(server, elicit=method), parse_probe(PROBE), cache=False)
               for method in ("choose", "say")]  # fmt: skip
        for world, alone in zip(found.worlds, own, strict=True):
            assert world.decisions == alone.decisions and world.identity == alone.identity
        for rule in found.envelope.basis:
            assert all(alone.envelope.entails(rule) for alone in own)
        found.save(tmp_path)
        assert [world.world for world in load(tmp_path).worlds] == ["choose", "say"]
        assert "commas between" in refusal(lambda: model_at(server, elicit="choose,nonsense"))
    with ChatServer(bias=9.0) as server:
        model = model_at(server, elicit="choose", orders="each")
        found = extract(model, parse_probe(PROBE), cache=False)
        assert [world.world for world in found.worlds] == ["choose, He first", "choose, She first"]
        # Whoever is offered first is named: that is a rule of each order, and of neither both.
        assert not found.envelope.basis
        assert found.worlds[0].entails("female -> false") and found.worlds[1].entails(
            "male -> false"
        )
        begun = server.begun
        assert model.options.orders == "each" and begun == 24 + 1
