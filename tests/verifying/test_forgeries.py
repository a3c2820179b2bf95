"""Forged results, each mended as a forger would: what was hidden, swapped or made up is refused."""

import copy
import json
import random
import time
from pathlib import Path

import pytest

from hornlens.logic.repeats import Repeats, evidence, reaches
from hornlens.models.functions import FunctionModel
from hornlens.verifying import noise
from hornlens.verifying.ledgers.extractions import extraction_ledger
from hornlens.verifying.verify import verify_content
from tests.verifying.extraction_cases import MADE, case, small

PLACE = Path("envelope.json")


def content_of(kind):
    from hornlens.results.documents.writing import extraction_as_json

    return json.loads(json.dumps(extraction_as_json(case(kind))))


def refusal(content):
    """Return what `verify` finds wrong with a document, without writing it again."""
    return verify_content(content, PLACE).wrong or ""


def test_a_counterexample_cannot_be_hidden_in_the_background():
    content = content_of("prompted")
    hidden = content["answers"][-1]["set"]
    content["background"].append({"if": hidden, "then": None})
    assert "which no probe can give" in refusal(content)


def test_given_rules_are_listed_and_the_certificate_says_so():
    content = content_of("background")
    done = verify_content(content, PLACE)
    assert done.ok
    assert any("rules were given" in line and "a0 → b0" in line for line in done.not_checked)
    assert "the cells that the background allows" in content["claim"]
    del content["certificate"]["scope"]["assumed"]
    assert "what it assumes" in refusal(content)


@pytest.mark.parametrize("reason", ["refusal", "cut", "other", "none", "half", "divine", "repeats"])
def test_scores_that_decide_leave_no_reason_for_no_winner(reason):
    content = content_of("detailed")
    content["policy"]["abstain"] = "reject"
    answer = content["answers"][0]
    answer |= {"scores": [0.99, 0.01], "margin": 0.98, "winner": None, "abstained": reason}
    content["abstentions"] = [0]
    assert "is not why there is no winner" in refusal(content)


def test_a_refusal_needs_a_reply_that_refuses():
    content = content_of("chat")
    number = next(i for i, a in enumerate(content["answers"]) if a["winner"] is not None)
    answer = content["answers"][number]
    answer |= {"winner": None, "abstained": "refusal"}
    content["abstentions"] = sorted([*content["abstentions"], number])
    assert refusal(content)


def forged_samples(content, **changes):
    changed = copy.deepcopy(content)
    for line in (changed["certificate"], changed["hypothesis"]["certificate"]):
        line["joint"] |= changes
    return changed


def test_samples_fit_the_settings_and_what_was_asked():
    content = content_of("tested")
    assert refusal(content) == ""
    few = forged_samples(content, samples=2)
    assert "samples" in refusal(few)
    many = forged_samples(content, epsilon=1e-9, delta=1e-9, samples=10**11)
    many["settings"] |= {"epsilon": 1e-9, "delta": 1e-9, "samples": None}
    drawn = 10**11 + many["certificate"]["joint"]["queries"]
    many["statistics"]["equivalence_samples"] = drawn
    parts = ("refinement", "speculative", "equivalence_samples")
    many["statistics"]["membership_queries"] = sum(many["statistics"][k] for k in parts)
    assert refusal(many)
    late = forged_samples(content, queries=320)
    late["statistics"]["equivalence_queries"] = 320
    assert refusal(late)


def test_no_number_of_samples_excuses_a_broken_rule():
    content = content_of("tested")
    winner = content["answers"][0]["winner"]
    rule = {"if": [winner], "then": None, "warrant": {"kind": "open"}}
    content["rules"] = [rule]
    content["readable"] = [{**content["readable"][0], **rule}]
    content["certificate"] |= {"rules": 1, "weakest": "open"}
    content["certificate"].pop("unasked", None)
    content["settings"]["samples"] = 7
    assert refusal(content)


@pytest.mark.parametrize("kind", ["detailed", "worlds", "averaged"])
def test_a_prompt_is_the_template_with_its_values(kind):
    content = content_of(kind)
    answer = next(a for a in content["answers"] if "nurse" in a["prompts"][0])
    answer["prompts"][0] = answer["prompts"][0].replace("nurse", "plumber")
    assert "its prompts are not those of the template" in refusal(content)


def test_swapped_label_words_are_refused_where_something_sent_shows_them():
    content = content_of("chat")
    words = list(content["probe"]["label"].values())[::-1]
    content["probe"]["label"] = dict(zip(content["probe"]["label"], words, strict=True))
    assert "the candidates are not the words of the labels" in refusal(content)


CHANGES = {
    "rates": lambda c: c["rates"]["attributes"][0]["values"][0].update(abstained=1),
    "counts": lambda c: c["rates"]["attributes"][0]["values"][0]["counts"].update(female=99),
    "flips": lambda c: c["rates"]["attributes"][0]["flips"].update(count=0, examples=[]),
    "levels": lambda c: c.pop("levels"),
    "answered": lambda c: c["certificate"].update(answered=[12, 13]),
    "calls": lambda c: c["statistics"].update(model_calls=7),
    "questions": lambda c: c["statistics"].pop("questions"),
    "bounds": lambda c: c["settings"].update(max_conditions=2),
    "cost": lambda c: c["levels"].update(exception_cost=0.5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_counted_is_counted_again(change):
    content = content_of("intersections")
    assert refusal(content) == ""
    CHANGES[change](content)
    assert refusal(content)


def test_what_speaks_for_the_rules_of_a_variant_is_counted_again():
    for key in ("support", "prompts", "mean_margin"):
        content = content_of("worlds")
        content["variants"][0]["readable"][0][key] += 1
        assert key in refusal(content)


def test_the_open_rules_of_a_variant_are_counted_again():
    content = content_of("sampled worlds")
    content["variants"][0]["certificate"]["open"] += 1006
    assert "rules are open, not 1,007" in refusal(content)


def test_what_nobody_can_count_again_is_named():
    """What majorities leave out, and what a run that was ended stands for, is only intact."""
    for kind, field in (
        ("majority", "answers[].repeats[]"),
        ("interrupted", "statistics.membership_queries"),
        ("interrupted worlds", "variants[].statistics.membership_queries"),
    ):
        content = content_of(kind)
        fields = {
            one for own in extraction_ledger(content).intact_in(content).values() for one in own
        }
        assert field in fields, kind


# --- answers that vary ---


def test_evidence_is_the_same_by_both_ways():
    for wins in range(30):
        for losses in range(30):
            assert noise.evidence(wins, losses) == evidence(wins, losses)
            enough = wins > losses and evidence(wins, losses) >= 720
            assert reaches(wins, losses, 720) == enough


@pytest.mark.slow
def test_a_coin_that_is_tossed_often_is_verified(tmp_path):
    rng = random.Random(0)
    coin = FunctionModel(lambda p, w: [1, 0] if rng.random() < 0.5 else [0, 1], "coin", True)
    begin = time.monotonic()
    small(coin, repeats=Repeats(most=1200)).save(tmp_path)
    assert time.monotonic() - begin < 60
    assert refusal(json.loads((tmp_path / "envelope.json").read_text("utf-8"))) == ""


def test_every_kind_is_accepted_as_it_is():
    for kind in MADE:
        assert refusal(content_of(kind)) == "", kind
