"""What is said of a sifted result: true of what was drawn, and of nothing that was only chosen."""

import re
from dataclasses import replace

import pytest

import hornlens
from hornlens.logic.grounds import Sieve
from hornlens.logic.warrants import Warrant, at_most
from hornlens.results.wording.pages import no_rules, non_horn_words
from hornlens.results.wording.sifting import almost_words, shown_by
from tests.sifted_cases import MADE, case

SIEVE = Sieve(2, 0.05, 0.05, candidates=1_000, live=20, questions=300)


def test_a_tested_rule_says_on_how_many_random_cases_it_was_tried():
    result = case("listed")
    (row,) = result.rules
    asked = result.cases_of(result.evidence[0])
    tested = row.warrant.tested
    assert 0 < tested < asked
    assert row.sentence == (
        f"In all {asked} cases asked ({tested} at random), the target always says “no” where a is "
        "a1."
    )
    assert result.behind(0)[1] == (
        f"Tried on {tested} random cases inside it, no exception; at most 5% of its cases break it "
        "(all rules together: 95% sure)."
    )


def test_a_proved_rule_says_that_all_its_cases_were_asked():
    result = case("proved")
    place = next(i for i, w in enumerate(result.envelope.warrants) if w.proved)
    rule = result.envelope.readable.rules[place]
    room = sum(rule.antecedent & ~cell == 0 for cell in result.space.cells())
    assert result.behind(place)[1] == f"Proved: all of its {room} cases were asked."
    assert result.sentence(result.evidence[place]).startswith("The target always says ")


def test_where_most_of_a_small_rule_was_asked_that_is_said():
    warrant = Warrant("tested", 1, 0.05)
    assert "Tried on 1 random case inside it, no exception (26 of its 27 cases were asked)" in (
        shown_by(warrant, SIEVE, 26, 27)
    )
    assert "were asked" not in shown_by(Warrant("tested", 60, 0.05), SIEVE, 90, 3_000)


@pytest.mark.parametrize(("bound", "words"), [(0.05, "5%"), (0.1313444, "13.2%"), (1 / 3, "33.4%")])
def test_bounds_are_rounded_up(bound, words):
    assert at_most(bound) == words
    assert f"at most {words}" in Warrant("tested", 9, bound).words
    assert f"at most {words} of its cases" in Warrant("tested", 9, bound).sentence


def test_a_rule_of_several_worlds_holds_in_every_one():
    result = case("worlds")
    (row,) = result.rules
    assert re.fullmatch(
        r"In all \d+ cases asked \(\d+ at random\), in every one of 2 ways, the target always says "
        "“no” where a is a1.",
        row.sentence,
    )


def test_without_labels_it_accepts_nothing():
    (row,) = case("unlabelled").rules
    assert row.sentence.endswith("the target accepts nothing where a is a1 and b is b1.")
    assert row.sentence.startswith("In all ")


@pytest.mark.parametrize("name", ["ended", "unlabelled_ended"])
def test_open_rules_are_said_to_be_open(name):
    result = case(name)
    for row in result.open:
        assert row.sentence.startswith("Open: as far as it was asked, the target ")


def test_the_certificate_says_listed_open_refuted():
    result = case("ended")
    sieve, sentence = result.certificate.sift, result.certificate.sentence
    assert "With probability 0.95, no listed rule is broken by more of its cases" in sentence
    assert f"{result.certificate.open} rules are open" in sentence
    assert sentence.endswith(
        "No other rule with at most 2 conditions on attributes holds without exception, but for "
        f"what follows from these: for each of the other {sieve.refuted:,} an exception is on "
        "record."
    )
    assert sieve.refutes(1, 25) in sentence
    assert result.envelope.statistics["refuted"] == sieve.refuted


def test_no_rule_at_all_is_a_finding():
    result = case("nothing")
    assert result.certificate.sentence.startswith("No rule with at most 2 conditions on attributes")
    absence = no_rules(result.certificate, result.question)
    assert (
        absence.sentence
        == "No rule with at most 2 conditions on attributes holds without exception."
    )
    assert "Longer" in absence.note
    ended = no_rules(case("unlabelled_ended").certificate, result.question)
    assert ended.sentence == "No rule is shown yet." and "rules are open" in ended.note


def test_what_no_horn_rule_can_say_was_not_looked_for():
    result = case("listed")
    words = non_horn_words(result.envelope, result.question)
    assert words == "Not known: only rules with at most 2 conditions on attributes were looked for."


def test_chosen_cells_are_no_sample():
    """No margin is averaged over them, no value is told from another by a few of them."""
    result = case("prompted")
    (row,) = result.rules
    assert row.mean_margin is None and row.smallest_margin > 0
    assert {each.kind for each in result.warnings} <= {"small_margins"}


def test_a_rule_whose_cases_were_all_asked_keeps_its_mean_margin():
    def scores(prompt, words):
        return [0.5, 0.0] if "a1" in prompt else [0.0, 0.25]

    from tests.sifted_cases import SIFT, question

    result = hornlens.extract(scores, question(2, 2), settings=SIFT, cache=False)
    assert result.asked_all
    assert {row.mean_margin for row in result.rules if row.warrant.proved} <= {0.5, 0.25}


@pytest.mark.parametrize("name", MADE)
def test_broad_rules_come_first(name):
    result = case(name)
    assert [row.rule for row in result.rules] == [short for short, _ in result.envelope.named]


def test_what_takes_every_answer_is_said_to():
    from tests.sifted_cases import granted, sifted, space

    result = sifted(granted, space(6, 4), min_confidence=0.9, detail="5")
    (warning,) = [each for each in result.warnings if each.kind == "not_counted"]
    cells = f"{len(result.decisions):,} of {result.space.cell_count:,} cells were asked"
    assert warning.sentence.endswith(f"they take every answer, and {cells}.")


def test_a_rule_with_exceptions_says_how_many():
    result = case("almost")
    almost = result.envelope.sifted.almost
    assert almost
    for each in almost:
        words = almost_words(each, result.certificate.sift)
        assert f"Tried on {each.tested} random cases inside it" in words
        assert f"{len(each.exceptions)} exceptions on record" in words
    assert "every special case of a listed rule with exceptions" in result.certificate.sentence


def test_a_notebook_says_on_how_many_random_cases_a_rule_was_tried():
    result = case("listed")
    shown = result._repr_html_()
    assert f"<td>{result.rules[0].warrant.tested} random cases</td>" in shown
    assert "112 of 112" not in shown and result.certificate.sift.refutes(1, 0) in shown


def test_rules_are_ranked_by_their_closest_call():
    from hornlens.models.functions import FunctionModel
    from tests.sifted_cases import SIFT, chance, question

    def scores(prompt, words):
        lead = (chance(prompt.split(), "lead") + 1) / 100
        if "b2" in prompt:
            lead += 5
        bad = "b2" in prompt or "a1" in prompt or chance(prompt.split()) % 2
        return [0.0, lead] if bad else [lead, 0.0]

    result = hornlens.extract(
        FunctionModel(scores, "two"), question(), settings=replace(SIFT, rank="margin"), cache=False
    )
    closest = [row.smallest_margin for row in result.rules]
    assert len(closest) > 1 and closest == sorted(closest, reverse=True)
    assert str(result.rules[0]) == "b2 ∧ good → ⊥"
