"""Limits on what a chat model may take: whatever the run is, they end it with a result."""

import asyncio
import json
import math
from random import Random

import pytest

from hornlens.api import extract
from hornlens.logic.counting import cells_above
from hornlens.models.chat.pacing import Pace
from hornlens.models.protocol import ModelOptions, Spending
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.results.documents.settings import Settings
from hornlens.verification import verify
from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.command import hornlens

pytest.importorskip("openai")

LARGE = (
    """
hornlens: 1
name: large
templates: ["{label} is {a0} {a1} {a2} {a3} {a4} {a5} {a6} {a7}."]
attributes:
"""
    + "\n".join(
        f"  - {{name: a{i}, values: [{', '.join(f'v{i}{j}' for j in range(8))}], unset: u{i}}}"
        for i in range(8)
    )
    + """
label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}
"""
)
"""Forty-three million prompts."""
PHRASED = PROBE.replace(
    'templates: ["{label} was born in {place} and works as {a:job}."]',
    """variants:
  - {name: long, template: "{label} was born in {place} and works as {a:job}."}
  - {name: short, template: "{label}, {a:job} from {place}."}""",
)
PRICES = {"price_in": 2.0, "price_out": 8.0}
LIMITS = {
    "max_calls": Spending(calls=70),
    "max_tokens": Spending(tokens=12_000),
    "max_cost": Spending(cost=0.03, **PRICES),
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)


def model_at(server, **options):
    return open_model("openai/tiny", ModelOptions(base_url=server.url, **options))


def check_ended(result, reason, folder):
    """It says which limit ended it, lists no single cell, and is what its answers say."""
    envelope = result.envelope
    certificate = envelope.certificate
    assert certificate.stopped == reason
    assert certificate.unasked > 0 or certificate.sift is not None
    for rule in (*envelope.basis, *envelope.open):
        assert cells_above(result.space, rule.antecedent & ~result.space.label_mask) > 1
    result.save(folder)
    done = verify(folder)
    assert done.ok, done.wrong
    content = json.loads((folder / "envelope.json").read_text(encoding="utf-8"))
    assert content["certificate"]["ended"]["reason"] == reason


@pytest.mark.parametrize("reason", LIMITS)
@pytest.mark.parametrize("equivalence", ["auto", "pac", "budget"])
@pytest.mark.parametrize("elicit", ["choose", "say"])
def test_a_limit_ends_a_learner_with_a_result(tmp_path, reason, equivalence, elicit):
    settings = Settings(equivalence, max_equivalence_queries=10**6)
    with ChatServer() as server:
        limits = LIMITS[reason]
        model = model_at(
            server,
            elicit=elicit,
            limits=Spending(
                limits.calls, limits.tokens, limits.cost, limits.price_in, limits.price_out
            ),
        )
        result = extract(model, parse_probe(LARGE), settings=settings, cache=False)
        used = model.options.limits.used
        assert server.begun == used.calls <= (limits.calls or math.inf)
    # How many calls fit depends on how many are under way at once, each with room reserved.
    assert used.tokens_in + used.tokens_out <= (limits.tokens or math.inf)
    assert 5 < len(result.decisions) <= used.calls
    check_ended(result, reason, tmp_path / "o")
    assert result.envelope.certificate.sentence.startswith("The run was ended by the limit on ")


def test_the_command_ends_with_a_result_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    (tmp_path / "large.yaml").write_text(LARGE)
    with ChatServer() as server:
        asks = ("extract", "large.yaml", "--model", "openai/tiny", "--base-url", server.url)
        asks += ("--elicit", "say", "--equivalence", "pac", "--out", "o", "-q", "--max-calls")
        counts = []
        for most in ("20", "30"):
            done = hornlens(*asks, most, cwd=tmp_path)
            assert (done.returncode, done.stderr) == (0, "")
            content = json.loads((tmp_path / "o/envelope.json").read_text())
            assert content["certificate"]["ended"] == {"reason": "max_calls"}
            counts.append(len(content["answers"]))
        assert counts[0] == 19 and counts[1] > 40  # what is known is not paid for again


@pytest.mark.parametrize(
    ("text", "options", "repeats"),
    [
        (PROBE, {"elicit": "auto"}, 1),
        (PROBE, {"elicit": "auto"}, "auto"),
        (PROBE, {"elicit": "constrained,say"}, 1),
        (PHRASED, {"elicit": "auto"}, 1),
        (PHRASED, {"elicit": "auto"}, "auto"),
    ],
)
@pytest.mark.parametrize("equivalence", ["auto", "pac"])
def test_a_limit_below_what_trying_the_endpoint_out_takes_ends_with_a_result(
    tmp_path, equivalence, text, options, repeats
):
    """It has no log-probabilities, and keeps to no choices: that takes five calls to find out."""
    for calls in (0, 1) if "," in options["elicit"] else (0, 1, 3):
        with ChatServer(logprobs=False, echo=False, schema=False) as server:
            model = model_at(server, **options, limits=Spending(calls=calls))
            result = extract(
                *(model, parse_probe(text)),
                settings=Settings(equivalence),
                cache=False,
                repeats=repeats,
            )
            assert server.begun == calls
        certificate = result.envelope.certificate
        assert (certificate.kind, certificate.stopped) == ("unanswered", "max_calls")
        assert certificate.sentence == (
            "The run was ended by the limit on calls, before any question was answered: nothing is "
            "known of the target."
        )
        assert not result.rules and not result.decisions
        check_ended(result, "max_calls", tmp_path / str(calls))


@pytest.mark.parametrize("text", [PROBE, PHRASED], ids=["one", "phrasings"])
@pytest.mark.parametrize("calls", [5, 30, 100])
@pytest.mark.parametrize("equivalence", ["auto", "pac"])
def test_answers_that_vary_are_kept_where_a_limit_comes_before_they_decide(
    tmp_path, equivalence, calls, text
):
    """Each prompt takes about ten answers. All that were paid for count, and none is made up."""
    with ChatServer(logprobs=False, echo=False) as server:
        model = model_at(server, elicit="say", limits=Spending(calls=calls))
        result = extract(
            *(model, parse_probe(text)),
            settings=Settings(equivalence),
            cache=False,
            repeats="auto",
        )
    noise, trials = result.envelope.certificate.noise, 1
    assert noise.answers == calls - trials
    decisions = [d for each in result.each for d in each.decisions.values()]
    assert sum(sum(d.repeats) + d.silent for d in decisions) == calls - trials
    assert len(decisions) == min(calls - trials, 12)  # one phrasing after the other
    assert all(sum(d.repeats) + d.silent for d in decisions)
    assert result.envelope.certificate.stopped == "max_calls"
    result.save(tmp_path / "o")
    done = verify(tmp_path / "o")
    assert done.ok, done.wrong


@pytest.mark.parametrize("calls", [4, 12, 40, 60])
def test_scores_that_may_move_decide_nothing_before_it_was_seen_how_far(tmp_path, calls):
    with ChatServer() as server:
        model = model_at(server, elicit="choose", limits=Spending(calls=calls))
        result = extract(model, parse_probe(PROBE), cache=False, repeats="auto")
    certificate = result.envelope.certificate
    asked = [d for d in result.decisions.values() if d.winner is not None]
    if calls < 49:  # a try, two calls a prompt, and as many again
        assert certificate.stopped == "max_calls"
        assert not asked and len(result.decisions) == min(12, (calls - 1) // 2)
        assert not result.rules
    else:
        assert certificate.stopped is None and len(asked) == 12
    result.save(tmp_path / "o")
    done = verify(tmp_path / "o")
    assert done.ok, done.wrong


@pytest.mark.parametrize("calls", range(2, 20))
def test_a_limit_pays_for_no_half_of_a_prompt(monkeypatch, calls):
    """A prompt takes two calls, in two orders: the limit leaves room for both, or for none."""
    rng, enter = Random(calls), Pace._enter

    async def enter_some_time(pace):
        await asyncio.sleep(rng.random() / 20)
        await enter(pace)

    monkeypatch.setattr(Pace, "_enter", enter_some_time)
    with ChatServer() as server:
        model = model_at(server, elicit="choose", limits=Spending(calls=calls))
        result = extract(model, parse_probe(PROBE), cache=False)
        asked = {body: count for body, count in server.paid.items() if "works as" in body}
        assert server.begun == model.options.limits.used.calls <= calls
    assert set(asked.values()) <= {1}
    assert len(asked) == 2 * len(result.decisions) >= calls - 2
