"""No answer is an outcome: counted by value, in rates, flips and warnings, and never left out."""

import json
import re
from itertools import combinations
from random import Random

import pytest

from hornlens.api import extract
from hornlens.logic.decisions import REASONS, Policy
from hornlens.models.protocol import Answer
from hornlens.probes.loading import parse_probe
from hornlens.report.page.rates import rate_charts
from hornlens.report.rates import flips_in_words, spread_in_words
from tests.command import hornlens as run_command
from tests.results.test_sentences import NamingModel
from tests.varied import random_probe

LOANS = {
    "hornlens": 1,
    "name": "loans",
    "templates": ["{name} asks for a loan {purpose}: it is {label}."],
    "attributes": [
        {"name": "name", "unset": "Somebody", "values": ["Emily", "Lakisha", "Jamal"]},
        {"name": "purpose", "unset": "today", "values": ["to travel", "to build", "to study"]},
    ],
    "label": {
        "name": "decision",
        "values": [{"name": "granted", "word": "granted"}, {"name": "denied", "word": "denied"}],
    },
}
PURPOSES = ("today", "to travel", "to build", "to study")


class Desk:
    """Grants Emily all loans, and Lakisha one; it refuses to speak of the other three."""

    name = "desk"

    def __init__(self, scored=False):
        self.scored = scored

    def identity(self):
        return None

    def check(self, candidates):
        pass

    def answer(self, prompt):
        place = next(i for i, purpose in enumerate(PURPOSES) if purpose in prompt)
        granted = Answer((-0.1, -2.5)) if self.scored else Answer(named=0)
        denied = Answer((-2.5, -0.1)) if self.scored else Answer(named=1)
        if "Lakisha" in prompt and place:
            return Answer(outcome=("refusal", "refusal", "cut")[place - 1])
        if "Jamal" in prompt and place > 1 and not self.scored:
            return denied
        return granted

    def score(self, prompts, candidates):
        yield [(i, self.answer(prompt)) for i, prompt in enumerate(prompts)]


def loans(scored=False, **more):
    return extract(Desk(scored), parse_probe(json.dumps(LOANS), "loans"), cache=False, **more)


@pytest.mark.parametrize("scored", [False, True])
def test_a_name_without_answers_makes_a_difference(scored):
    """What went wrong: “name makes no difference … get the same scores”, of what had answers."""
    result = loans(scored)
    said = " ".join(warning.sentence for warning in result.warnings)
    assert "“name” makes no difference" not in said
    for warning in result.warnings:
        if warning.kind == "same_values":
            assert "Lakisha" not in warning.names
    (silence,) = [w for w in result.warnings if w.kind == "no_answers"]
    assert silence.sentence.startswith(
        "No answer in 3 of 16 prompts (2: it refused to answer; 1: its reply was cut off)."
    )
    assert (
        "By name: no answer in 3 of 4 prompts with “Lakisha”, 0 of 4 with “Emily” and “Jamal”."
        in silence.sentence
    )
    assert len(silence.cells) == 3


def test_nothing_speaks_of_scores_where_a_model_only_replied():
    result = loans()
    said = [w.sentence for w in result.warnings] + [row.sentence for row in result.rules]
    assert not any(re.search("scores|lead| : ", text) for text in said)
    assert all(row.mean_margin is None for row in result.rules)


def test_rates_and_flips_say_how_many_pairs_were_compared():
    rates = loans().rates["name"]
    # 12 pairs: 6 of two answers, 6 of one; nobody else is without answers.
    assert (rates.pairs, rates.undecided, rates.half_answered, rates.flips) == (12, 6, 6, 2)
    assert flips_in_words(rates) == (
        "2 flips in 6 of 12 pairs with two answers; 6 pairs with one answer"
    )
    words = spread_in_words(rates, {})
    assert words == (
        "“granted” from 25% (Lakisha) to 100% (Emily), no answer from 0% (Emily) to 75% (Lakisha); "
    )
    silence = rates.silence
    assert (silence.low, silence.lowest, silence.high, silence.highest) == (
        *(0.0, "Emily"),
        *(0.75, "Lakisha"),
    )
    charts = {chart.rates.attribute: chart for chart in rate_charts(loans())}
    assert charts["name"].sentence == (
        "Changing only this changed the answer in 2 of 6 pairs of prompts with two answers. In 6 "
        "of all 12 pairs it decided whether there was an answer at all."
    )


def test_never_changed_is_said_of_what_was_compared():
    """What went wrong: “never changed the answer, in 12 pairs”, of which 4 could be compared."""
    result = loans(scored=True)
    rates = result.rates["name"]
    assert rates.flips == 0 and rates.pairs - rates.undecided == 6
    charts = {chart.rates.attribute: chart for chart in rate_charts(result)}
    assert charts["name"].sentence == (
        "Changing only this never changed the answer, in 6 pairs of prompts with two answers. In 6 "
        "of all 12 pairs it decided whether there was an answer at all."
    )
    flips = result.flips("name")
    assert flips and flips.ever
    assert flips.sentence == (
        "Changing only name never changes the answer, in 6 pairs of cells with two answers. In 6 "
        "of all 12 pairs it decides whether there is an answer at all."
    )


def test_pairs_without_any_answer_are_no_pairs_without_a_difference():
    policy = Policy(abstain="reject")
    silent = extract(
        NamingModel("s", silent=1.0), parse_probe(json.dumps(LOANS), "loans"), policy=policy
    )
    assert silent.rates["name"].unanswered == 12
    assert flips_in_words(silent.rates["name"]) == (
        "no flips to count: none of 12 pairs has two answers"
    )
    sentence = silent.flips("name").sentence
    assert "never" not in sentence and "In 12 pairs neither got an answer." in sentence


def test_reasons_are_kept_apart_everywhere(tmp_path):
    out, probe = tmp_path / "out", tmp_path / "loans.yaml"
    probe.write_text(json.dumps(LOANS))
    result = loans()
    result.save(out)
    content = json.loads((out / "envelope.json").read_text())
    told = [content["answers"][at]["abstained"] for at in content["abstentions"]]
    assert sorted(told) == ["cut", "refusal", "refusal"]
    page = (out / "report.html").read_text()
    assert f"2 because {REASONS['refusal']}, 1 because {REASONS['cut']}" in page
    shown = run_command("report", out)
    assert shown.returncode == 0, shown.stderr


class FirstOffered(Desk):
    """Names whatever stands first: what it names depends on the order, and so it is no answer."""

    def __init__(self, honest=()):
        self.honest = honest

    def answer(self, prompt):
        if any(name in prompt for name in self.honest):
            return Answer(named=0)
        return Answer(outcome="order")


@pytest.mark.parametrize("abstain", ["accept", "reject"])
def test_a_model_that_names_what_stands_first_never_never_names(abstain):
    """What went wrong: “the model never fills in …”, of what it named once in every prompt."""
    probe, policy = parse_probe(json.dumps(LOANS), "loans"), Policy(abstain=abstain)
    result = extract(FirstOffered(), probe, policy=policy, cache=False)
    (silence,) = result.warnings
    assert silence.sentence == (
        "No answer in 16 of 16 prompts (16: its answer depends on the order of the options)."
    )
    assert result.findings() == []
    said = [row.sentence for row in result.rules]
    assert not any("never" in text or "always" in text for text in said) or all(result.vacuous)
    assert abstain == "accept" or all(result.vacuous)
    some = extract(FirstOffered(("Emily",)), probe, policy=policy, cache=False)
    for evidence in some.findings():
        assert any(e.decision.winner is not None for e in some.could_break(evidence))
    assert "“denied” is never the answer, in 4 cases with an answer (12 have none)." in [
        warning.sentence.split(" 1 rule")[0].split(" 2 rules")[0] for warning in some.warnings
    ]


def test_rules_that_hold_because_there_were_no_answers_are_no_findings(tmp_path):
    """They hold whatever the model would say: nothing was said where they could be broken."""
    result = loans(policy=Policy(abstain="reject", label_unset="reject"))
    silent = [place for place, reason in enumerate(result.vacuity) if reason == "silence"]
    assert silent
    for place in silent:
        could = result.could_break(result.evidence[place])
        assert could and all(e.decision.winner is None for e in could)
        assert result.evidence[place].rule not in [item.rule for item in result.findings()]
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "holds vacuously: no prompt that could break it got an answer" in page


@pytest.mark.parametrize("seed", range(30))
def test_counts_by_value_are_those_of_the_replies(seed):
    """Warnings and rates say of each value how often there was no answer, counted by hand."""
    rng = Random(f"silence {seed}")
    probe = random_probe(rng)
    model = NamingModel(str(seed), lean=0.5, silent=rng.choice([0.1, 0.3, 0.6]))
    result = extract(model, probe, cache=False)
    space = probe.space
    for world, wording in zip(result.each, probe.wordings, strict=True):
        named = {cell: model.replies[wording.render(cell)][0] for cell in space.cells()}
        warnings = [
            w.sentence
            for w in result.warnings
            if w.kind == "no_answers" and w.variant == (world.world if result.worlds else "")
        ]
        silent = [cell for cell, place in named.items() if place is None]
        assert len(warnings) == bool(silent)
        for sentence in warnings:
            assert f"o answer in {len(silent)} of {len(named)} prompt" in sentence
        for attribute, group in zip(space.attributes, space.groups, strict=False):
            if len(attribute.variables) < 2:
                continue
            counts = {}
            pairs = half = none = 0
            for cell, other in combinations(named, 2):
                alike = cell & ~group == other & ~group
                if alike and cell & group and other & group:
                    pairs += 1
                    half += (named[cell] is None) != (named[other] is None)
                    none += named[cell] is None and named[other] is None
            rates = world.rates[attribute.name]
            assert (rates.pairs, rates.half_answered, rates.unanswered) == (pairs, half, none)
            for cell, place in named.items():
                if cell & group:
                    line = counts.setdefault(probe.vocabulary.names_of(cell & group)[0], [0, 0])
                    line[0] += place is None
                    line[1] += 1
            for said in warnings:
                part = re.search(rf"By {attribute.name}: no answer in ([^.]*)\.", said)
                read = {}
                for k, n, values in re.findall(
                    r"(\d+) of (\d+)(?: prompts?)? with ((?:“[^”]*”(?:, | and )?)+)",
                    part[1] if part else "",
                ):
                    read |= {value: [int(k), int(n)] for value in re.findall("“([^”]*)”", values)}
                assert read.items() <= counts.items()
                shares = [k / n for k, n in counts.values()]
                if read:
                    told = [k / n for k, n in read.values()]
                    assert (max(told), min(told)) == (max(shares), min(shares))
                assert part or max(shares) == min(shares) or "By " in said
