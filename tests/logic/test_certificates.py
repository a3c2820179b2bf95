"""Certificates: what they say follows from what is known, and nothing can make them lie."""

from itertools import product

import pytest

from hornlens.errors import InputError
from hornlens.formats.certificates import certificate_from_json
from hornlens.logic.certificates import LEVELS, TITLES, Certificate, cut_off, explored, pac
from hornlens.logic.grounds import Complete, Ending, Joint, Noise, Trial, Word
from hornlens.logic.scopes import Agreement, Scope
from hornlens.logic.warrants import OPEN, PROVED, Warrant

GOOD = Agreement(1.0, 1.0, 10_000, 40, 0, 200, 0)
BAD = Agreement(0.84, 0.9, 10_000, 40, 9, 200, 0)
COMPLETE = (
    Complete(),
    Complete(every=True),
    Complete(decides=True),
    Complete(max_conditions=2),
    Complete(max_conditions=2, min_support=5, unit="prompts"),
    Complete(max_conditions=2, unsettled=519),
)
SCOPES = (
    Scope(),
    Scope("every input", "all that there are", "its thresholds", agreement=GOOD),
    Scope("surrogate", "all that there are", "by quantiles", agreement=BAD),
    Scope("part", "those near the rows", "its thresholds", agreement=GOOD),
    Scope("rows"),
)
GROUNDS = (
    {},
    {"ended": Ending("time_limit")},
    {"ended": Ending("max_equivalence_queries", 20)},
    {"noise": Noise(660, 12, 15_000, 0.05, 100)},
    {"noise": Noise(660, 0, 726, drift=0.02, reasked=66)},
    {"joint": Joint(0.1, 0.05, 52)},
    {"trial": Trial(0.05, 0.05, 50_000, 300, 2, 4_000)},
    {"word": Word(7)},
)
PROMISES = (
    *("every other Horn rule", "every input", "decide every cell", "decide all", "was settled"),
    *("is here, or follows", "follows from these", "follows from them", "complete"),
)
"""Words that promise that nothing is missing, or that all inputs are meant."""


def every_certificate():
    """All combinations of properties that can be made."""
    for weakest, complete, scope, grounds, rules, unasked, answered in product(
        ("proved", "tested", "open"),
        COMPLETE,
        SCOPES,
        GROUNDS,
        (0, 3),
        (0, 20),
        (None, (660, 660), (0, 660), (0, 0)),
    ):
        try:
            yield Certificate(
                weakest,
                complete,
                scope,
                rules=rules,
                cells=660,
                unasked=unasked,
                answered=answered,
                **grounds,
            )
        except ValueError:
            continue


ALL = list(every_certificate())


def test_whatever_is_known_it_is_named_said_and_read_back():
    assert len(ALL) > 5_000
    for certificate in ALL:
        assert certificate.kind in TITLES and certificate.title, certificate
        sentence = certificate.sentence
        assert sentence.endswith(".") and "None" not in sentence.replace("None of", ""), sentence
        assert "  " not in sentence and ".." not in sentence and ",." not in sentence, sentence
        assert certificate.together.endswith("."), certificate
        again = certificate_from_json(certificate.as_json())
        assert again == certificate and again.sentence == sentence
        assert (again.rules, again.answered) == (certificate.rules, certificate.answered)


def test_no_sentence_promises_what_is_not_known():
    for certificate in ALL:
        said = f"{certificate.sentence} {certificate.together}"
        told = f"{certificate}: {said}"
        left = certificate.ended or certificate.unasked or certificate.undecided
        if certificate.unanswered or certificate.weakest == "open":
            if certificate.joint is None and certificate.word is None:
                for promise in PROMISES:
                    assert promise not in said, told
            assert "hold" not in certificate.together, told
        if not certificate.scope.direct and not certificate.unanswered:
            assert "that is every input" not in said, told
            if certificate.certain and certificate.weakest == "proved" and not certificate.ended:
                assert "84.00% of the rows" in said and "not of yours" in said, told
        if left and certificate.complete.every is False:
            assert "Together they are complete" not in said, told
        if certificate.complete.unsettled and certificate.certain and not left:
            assert "complete" not in certificate.together, told
        if certificate.proved and certificate.rules and certificate.certain and not left:
            assert "not proved" not in said, told


def test_levels_follow_from_the_properties_and_from_nothing_else():
    for certificate in ALL:
        exact, bounded, tested = map(certificate.meets, LEVELS)
        assert exact <= bounded <= tested, certificate
        assert certificate.strength == exact + bounded + tested
        if exact:
            assert certificate.proved and certificate.certain and certificate.scope.whole
            assert not (certificate.ended or certificate.unasked or certificate.undecided)
            assert certificate.complete.every or certificate.complete.decides
        if bounded:
            assert certificate.proved and certificate.complete and not certificate.ended
        if certificate.unanswered or not certificate.scope.direct or certificate.ended:
            assert not tested, certificate
        if certificate.complete.unsettled:
            assert not tested, certificate
        if certificate.kind == "exact":
            assert exact, certificate
        assert certificate.all_rules <= certificate.settled <= certificate.proved


@pytest.mark.parametrize(
    "made",
    [
        lambda: Certificate(complete=Complete(every=True), ended=Ending("interrupt")),
        lambda: Certificate(complete=Complete(every=True), unasked=3),
        lambda: Certificate(complete=Complete(every=True), noise=Noise(10, 2, 20, 0.05, 9)),
        lambda: Complete(every=True, unsettled=2),
        lambda: Scope("every input", agreement=BAD),
        lambda: Scope("everything"),
        lambda: Certificate("certain"),
        lambda: Certificate(answered=(3, 2)),
        lambda: Certificate(rules=-1),
        lambda: Ending("boredom"),
        lambda: Warrant("proved", bound=0.1),
        lambda: Warrant("tested", bound=1.0),
        lambda: Warrant("known"),
        lambda: Agreement(1.2, 1.0, 1, 1, 0),
        lambda: Agreement(1.0, 1.0, 1, 1, 2),
        lambda: Trial(0.05, 1.0, 10, 3, 2),
    ],
)
def test_what_contradicts_itself_cannot_be_made(made):
    with pytest.raises(ValueError):
        made()


def test_warrants_say_what_stands_behind_a_rule():
    tested = Warrant("tested", 90, 0.05)
    assert PROVED.within(0) and not OPEN.within(0.99)
    assert tested.within(0.05) and not tested.within(0.049)
    assert not Warrant("tested", 90).within(0.99)
    for warrant in (PROVED, OPEN, tested, Warrant("tested", 3), Warrant("tested", bound=0.2)):
        assert Warrant.from_json(warrant.as_json()) == warrant
        assert warrant.sentence.endswith(".")
    for bad in ({}, {"kind": "sure"}, {"kind": "tested", "bound": 2}, [], None, {"kind": []}):
        with pytest.raises(InputError, match="warrant"):
            Warrant.from_json(bad)


def test_a_sampled_rule_is_bound_by_the_chance_of_its_left_side():
    joint = Joint(0.1, 0.05, 52)
    assert joint.warrant(0.5) == Warrant("tested", bound=0.2)
    assert joint.warrant(1.0) == Warrant("tested", bound=0.1)
    for chance in (0.1, 0.05, None):
        assert joint.warrant(chance) == OPEN


def test_what_oracles_and_experts_claim():
    assert pac(0.1, 0.1, 30).kind == "pac" and pac(0.1, 0.1, 30).meets("tested")
    assert cut_off(20).kind == "budget_exhausted" and cut_off(20).refused
    assert not cut_off(20, 4).refused and cut_off(20, 4).samples == 4
    word = explored(7, open=2, sampled=1)
    assert word.kind == "explored" and not word.meets("exact") and not word.meets("tested")
    assert explored(7).has_all and not explored(7, open=1).has_all
