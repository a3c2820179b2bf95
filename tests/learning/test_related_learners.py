"""The related learners find the envelope, within the bounds that are proved of each."""

import json
from random import Random

import pytest

from hornlens.cli.app import app
from hornlens.errors import HornlensError
from hornlens.extraction.related import learn_related
from hornlens.learning.characteristic import CharacteristicLearner
from hornlens.learning.driver import run
from hornlens.learning.horn import horn1_learner
from hornlens.learning.protocol import Counterexample, Hypothesis
from hornlens.limits import Limits
from hornlens.logic.closures import characteristic
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.closed import SampledClosures
from hornlens.oracles.entailment import Closures, FormulaEntailment
from hornlens.oracles.equivalence import pac_samples
from hornlens.oracles.known import KnownAnswers
from hornlens.testing.learners import LearnerConformance
from tests import brute
from tests.exact.test_tables import random_rows
from tests.targets import KINDS, random_formula


class TestCharacteristic(LearnerConformance):
    reports_rules = False

    def make(self, width):
        return CharacteristicLearner(width)


def cases(seed, count=40):
    """Tables and formulas, with their positives."""
    rng = Random(seed)
    for i in range(count):
        if i % 2:
            formula, clauses = random_formula(1000 * seed + i, KINDS[i % len(KINDS)], widths=(1, 6))
            yield formula, brute.positives_of(clauses, formula.width), formula.width
        else:
            width = rng.randint(1, 6)
            rows = random_rows(rng, width)
            yield Table(Vocabulary.numbered(width), tuple(rows)), rows, width


@pytest.mark.parametrize("algorithm", ["closure", "characteristic"])
@pytest.mark.parametrize("seed", range(4))
def test_the_envelope_is_found_within_the_bounds(seed, algorithm):
    for known, positives, width in cases(seed):
        outcome = learn_related(known, algorithm)
        assert brute.pairs(outcome.envelope.basis) == brute.dg(positives, range(1 << width)), known
        assert outcome.envelope.certificate.kind == "exact"
        for name, (asked, bound) in outcome.counts.items():
            assert bound is None or asked <= bound, (name, known)
        if algorithm == "characteristic":
            assert outcome.run.learned.positives == characteristic(positives)


@pytest.mark.parametrize("seed", range(3))
def test_the_pac_basis_keeps_its_promise_and_its_bounds(seed):
    """Of all runs, hardly more than δ may give other closures to more than ε of all sets."""
    epsilon, delta, failed, runs = 0.1, 0.1, 0, 0
    for known, positives, width in cases(100 + seed):
        outcome = learn_related(known, "pac-basis", epsilon, delta, seed=seed)
        theory = outcome.run.learned.hypothesis.theory
        wrong = sum(
            (-1 if (c := brute.closure(positives, x)) is None else c) != theory.closure(x)
            for x in range(1 << width)
        )
        failed += wrong > epsilon * (1 << width)
        runs += 1
        rules = len(brute.dg(positives, range(1 << width)))
        queries = outcome.run.queries
        assert queries.equivalence <= (2 * width + 1) * rules + 1, known
        assert queries.refinement <= (width + 1) * rules * rules
        asked, bound = outcome.counts["entailment queries"]
        assert asked <= bound
        assert outcome.envelope.certificate.kind == "pac"
    assert failed <= 3 * delta * runs


def test_the_pac_basis_pays_only_for_queries_that_draw_sets():
    saved = 0
    for seed in range(20):
        formula, _ = random_formula(seed, KINDS[seed % len(KINDS)], widths=(5, 7))
        width, known = formula.width, KnownAnswers(formula.width)
        closures = Closures(FormulaEntailment(formula), known)
        oracle = SampledClosures(
            *(closures, lambda rng, n=width: rng.getrandbits(n), 0.1, 0.05, Random(seed))
        )
        done = run(horn1_learner(width), closures, oracle)
        joint = done.certificate.joint
        assert joint.queries == oracle.paid <= oracle.queries == done.queries.equivalence
        assert joint.samples == pac_samples(oracle.paid, 0.1, 0.05)
        theory, drawn = done.learned.hypothesis.theory, oracle.drawn
        assert known.first_wrong(done.learned.hypothesis) is None
        if len(theory):  # what is known refutes it at once: nothing is drawn, nothing paid for
            weaker = Hypothesis(Theory(width, theory.rules[1:]))
            if known.first_wrong(weaker) is not None:
                assert isinstance(oracle.judge(weaker), Counterexample)
                assert (oracle.drawn, oracle.paid) == (drawn, joint.queries)
                saved += 1
    assert saved > 10


def test_what_is_proved_before_a_limit_holds():
    rows = random_rows(Random(8), 12, 40)
    table = Table(Vocabulary.numbered(12), tuple(rows))
    for algorithm in ("pac-basis", "closure", "characteristic"):
        outcome = learn_related(table, algorithm, limits=Limits(max_rules=2))
        assert outcome.envelope.certificate.kind == "interrupted"
        for rule in outcome.envelope.basis:
            assert all(rule.satisfied_by(row) for row in rows)


def test_the_command(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,c\n1,1,0\n0,1,1\n0,1,0\n")
    for algorithm in ("pac-basis", "closure", "characteristic"):
        app(["learn", str(tmp_path / "t.csv"), "--algorithm", algorithm], standalone_mode=False)
        assert "proved bound" in capsys.readouterr().out
        app(
            ["learn", str(tmp_path / "t.csv"), "--algorithm", algorithm, "--format", "json"],
            standalone_mode=False,
        )
        content = json.loads(capsys.readouterr().out)
        rules = [{"if": line["if"], "then": line["then"]} for line in content["rules"]]
        assert rules == [
            {"if": [], "then": ["b"]},
            {"if": ["a", "b", "c"], "then": None},
        ]
    with pytest.raises(HornlensError, match="in its own way"):
        app(
            ["learn", str(tmp_path / "t.csv"), "--algorithm", "closure", "--goal", "cnf"],
            standalone_mode=False,
        )


def test_too_many_closed_sets_are_refused_in_a_line(monkeypatch):
    monkeypatch.setattr("hornlens.extraction.related.MOST_CLOSED", 10)
    rows = tuple(63 ^ 1 << i for i in range(6))
    with pytest.raises(HornlensError, match="more than 10 intersections"):
        learn_related(Table(Vocabulary.numbered(6), rows), "closure")
