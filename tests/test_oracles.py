"""Oracles: wrappers, verdicts, the PAC schedule and its failure rate, the white-box search."""

from math import comb
from random import Random

import pytest

from hornlens.exact import envelopes as whitebox
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.exact.sources import ABSURD, TableSource
from hornlens.logic.table import Table
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.protocol import Accepted, BudgetExhausted, Counterexample, Hypothesis
from hornlens.logic.basis import dg_basis
from hornlens.logic.batch import broken_rules, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.closures import dg_basis_of_positives
from hornlens.logic.cnf import Cnf, clause_of, clauses_of
from hornlens.logic.space import Space
from hornlens.logic.envelope import EXACT, Certificate
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, background_of
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.equivalence import (
    BudgetedEquivalence,
    ChainedEquivalence,
    ExhaustiveEquivalence,
    KnownAnswers,
    SampledEquivalence,
    pac_samples,
)
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.membership import (
    BudgetedMembership,
    CachingMembership,
    CountingMembership,
    FormulaMembership,
    FunctionMembership,
    TableMembership,
)
from tests import brute
from tests.targets import KINDS, random_domain, random_formula

EMPTY = Hypothesis(Theory(3))


@pytest.mark.parametrize("batch", [[], [0], list(range(8)), list(range(8)) * 4])
def test_membership_oracles_agree(batch):
    formula = Cnf(Vocabulary.numbered(3), (clause_of([-1, 2]), clause_of([-3])))
    expected = [formula.satisfied_by(x) for x in batch]
    for oracle in (
        FormulaMembership(formula),
        FunctionMembership(formula.satisfied_by),
        TableMembership(formula.positives()),
    ):
        assert oracle.ask(batch) == expected


def test_the_cache_asks_each_interpretation_once_even_within_a_batch():
    counting = CountingMembership(TableMembership([1, 2]), "distinct")
    cache = CachingMembership(counting)
    assert cache.ask([1, 1, 3, 1]) == [True, True, False, True]
    assert cache.ask([3, 2]) == [False, True]
    assert counting.count == 3
    assert cache.known == {1: True, 3: False, 2: True}


def test_a_budget_of_membership_queries_ends_the_run_with_what_it_has():
    oracle = BudgetedMembership(TableMembership([1]), 2)
    assert oracle.ask([1, 2]) == [True, False]
    with pytest.raises(BudgetExhausted, match="2 membership queries"):
        oracle.ask([3])
    clauses = ([-1, -2, 3], [-2, -3, 4], [-4, -5, 6], [-1, -6])
    formula = Cnf(Vocabulary.numbered(6), tuple(map(clause_of, clauses)))
    done = run(
        EnvelopeLearner(6),
        BudgetedMembership(FormulaMembership(formula), 1),
        ExhaustiveEquivalence.of(Domain(formula.vocabulary), FormulaMembership(formula)),
    )
    assert done.certificate == Certificate("budget_exhausted", {"membership_queries": 1})
    assert len(done.learned.hypothesis.theory) > 0


def test_queries_are_counted_by_role_and_speculation_changes_nothing_else():
    for seed in range(30):
        formula, _ = random_formula(seed, "any", widths=(4, 6))
        runs = []
        for speculate in (False, True):
            counting = CountingMembership(FormulaMembership(formula), "refinement")
            done = run(
                EnvelopeLearner(formula.width),
                counting,
                FormulaEquivalence(formula, "full", Random(seed)),
                speculate,
            )
            assert counting.count == done.queries.refinement + done.queries.speculative
            runs.append(done)
        plain, speculative = runs
        assert plain.learned == speculative.learned
        assert plain.queries.refinement == speculative.queries.refinement
        assert plain.queries.speculative == 0


def test_a_budget_of_equivalence_queries():
    formula = Cnf(Vocabulary.numbered(3), (clause_of([-1]), clause_of([-2])))
    oracle = BudgetedEquivalence(FormulaEquivalence(formula), 1)
    assert isinstance(oracle.judge(EMPTY), Counterexample)
    verdict = oracle.judge(EMPTY)
    assert verdict == Accepted(Certificate("budget_exhausted", {"equivalence_queries": 1}))


def test_a_chain_stops_at_the_first_counterexample_and_claims_the_strongest():
    class Says:
        def __init__(self, verdict):
            self.verdict, self.asked = verdict, 0

        def judge(self, hypothesis):
            self.asked += 1
            return self.verdict

    pac, exact = Says(Accepted(Certificate("pac"))), Says(Accepted(EXACT))
    no = Says(Counterexample(5))
    assert ChainedEquivalence((pac, exact)).judge(EMPTY) == Accepted(EXACT)
    assert ChainedEquivalence((pac, no, exact)).judge(EMPTY) == Counterexample(5)
    assert exact.asked == 1


def test_the_pac_schedule():
    assert [pac_samples(i, 0.1, 0.05) for i in (1, 2, 3)] == [37, 44, 51]
    for i in range(1, 20):  # what makes the δ's add up
        assert (1 - 0.1) ** pac_samples(i, 0.1, 0.05) <= 0.05 / 2**i


def test_known_answers_are_used_before_new_samples_are_drawn():
    drawn = CountingMembership(TableMembership([0]), "equivalence")
    oracle = SampledEquivalence(
        drawn, lambda rng: rng.getrandbits(3), 3, 0.1, 0.1, Random(0), {6: False}
    )
    assert oracle.judge(EMPTY) == Counterexample(6)
    assert drawn.count == 0


@pytest.mark.parametrize("bad", [0, 1, -0.5, 2])
def test_epsilon_and_delta_must_be_probabilities(bad):
    for epsilon, delta in ((bad, 0.1), (0.1, bad)):
        with pytest.raises(ValueError, match="must lie between 1e-09 and 1"):
            SampledEquivalence(TableMembership([]), lambda r: 0, 1, epsilon, delta, Random(0))


def test_pac_runs_exceed_epsilon_no_more_often_than_delta_allows():
    """Over many runs on targets with rare exceptions, which sampling is apt to miss."""
    epsilon, delta, runs, width = 0.05, 0.2, 300, 7
    failures = 0
    for seed in range(runs):
        rng = Random(seed)
        rare = {rng.getrandbits(width) for _ in range(rng.randint(1, 16))}
        formula, _ = random_formula(seed, "near-horn", widths=(width, width))
        target = {x for x in range(1 << width) if formula.satisfied_by(x) != (x in rare)}
        cache = CachingMembership(TableMembership(target))
        oracle = SampledEquivalence(
            cache, lambda r: r.getrandbits(width), width, epsilon, delta, rng, cache.known
        )
        done = run(EnvelopeLearner(width), cache, oracle)
        assert done.certificate.kind == "pac"
        assert done.certificate.details["samples"] == pac_samples(
            done.queries.equivalence, epsilon, delta
        )
        hypothesis = done.learned.hypothesis
        wrong = sum(hypothesis.satisfied_by(x) != (x in target) for x in range(1 << width))
        failures += wrong / (1 << width) > epsilon
    # The chance of so many failures, were each run to fail with probability δ.
    tail = sum(
        comb(runs, k) * delta**k * (1 - delta) ** (runs - k) for k in range(failures, runs + 1)
    )
    assert tail > 1e-6, f"{failures} of {runs} runs failed"


@pytest.mark.parametrize("grid_limit", [0, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(10))
def test_the_white_box_search_is_exact(chunk, kind, grid_limit, monkeypatch):
    monkeypatch.setattr(whitebox, "GRID_LIMIT", grid_limit)
    for seed in range(chunk * 30, chunk * 30 + 30):
        formula, clauses = random_formula(seed, kind)
        models = brute.positives_of(clauses, formula.width)
        expected = brute.dg(models, range(1 << formula.width))
        non_horn = brute.close(models) - set(models)
        for envelope in (
            envelope_of_formula(formula),
            envelope_of_table(Table(formula.vocabulary, tuple(models))),
        ):
            assert brute.pairs(envelope.basis) == expected, (seed, kind, clauses)
            assert envelope.non_horn.count == len(non_horn), (seed, kind, clauses)
            assert set(envelope.non_horn.examples) <= non_horn


@pytest.mark.parametrize("grid_limit", [0, 1 << 20])
@pytest.mark.parametrize("chunk", range(6))
def test_the_white_box_search_relative_to_a_background(chunk, grid_limit, monkeypatch):
    monkeypatch.setattr(whitebox, "GRID_LIMIT", grid_limit)
    for seed in range(chunk * 30, chunk * 30 + 30):
        rng = Random(seed)
        domain = random_domain(rng)
        background = background_of(domain.vocabulary)
        width = len(domain.vocabulary)
        if rng.random() < 0.5:  # a background need not come from attributes
            background += [Rule(rng.getrandbits(width or 1) % (1 << width), BOTTOM)]
        _, clauses = random_formula(seed, "any", widths=(width, width))
        clauses = [[v for v in clause if abs(v) <= width] for clause in clauses]
        formula = Cnf(Vocabulary(domain.vocabulary.names), tuple(map(clause_of, clauses)))
        space = [x for x in range(1 << width) if background.satisfied_by(x)]
        models = [x for x in brute.positives_of(clauses, width) if x in space]
        expected = brute.dg(models, space)
        envelope = envelope_of_formula(formula, background)
        assert brute.pairs(envelope.basis) == expected, (seed, clauses, background)
        assert envelope.non_horn.count == len(brute.close(models) - set(models))
        table = envelope_of_table(Table(formula.vocabulary, tuple(models)), background)
        assert brute.pairs(table.basis) == expected, (seed, clauses, background)


def test_non_horn_negatives_are_counted_the_same_by_solver_and_by_grid(monkeypatch):
    for seed in range(60):
        formula, clauses = random_formula(seed, "far-from-horn", widths=(4, 6))
        models = brute.positives_of(clauses, formula.width)
        table = Table(formula.vocabulary, tuple(models))
        by_grid = envelope_of_formula(formula), envelope_of_table(table)
        monkeypatch.setattr(whitebox, "GRID_LIMIT", 0)
        by_solver = envelope_of_formula(formula), envelope_of_table(table)
        monkeypatch.setattr(whitebox, "COUNT_LIMIT", 2)
        cut_off = envelope_of_formula(formula), envelope_of_table(table)
        monkeypatch.undo()
        count = by_grid[0].non_horn.count
        assert {e.non_horn.count for e in (*by_grid, *by_solver)} == {count}, clauses
        for envelope in cut_off:
            assert envelope.non_horn.count == (count if count <= 2 else None)
            assert envelope.non_horn.at_least == min(count, 2)


def test_an_oracle_may_be_used_for_several_runs():
    for seed in range(40):
        formula, clauses = random_formula(seed, "far-from-horn", widths=(4, 6))
        models = brute.positives_of(clauses, formula.width)
        for kind in ("horn", "full"):
            oracle = FormulaEquivalence(formula, kind, Random(seed))
            results = [
                run(EnvelopeLearner(formula.width), FormulaMembership(formula), oracle)
                for _ in range(3)
            ]
            for done in results:
                found = brute.pairs(done.learned.hypothesis.theory)
                assert found == brute.dg(models, range(1 << formula.width)), (seed, kind)


def test_wide_tables_take_more_than_one_word():
    rng = Random(7)
    width = 100
    rows = tuple(rng.getrandbits(width) | rng.getrandbits(width) for _ in range(6))
    table = Table(Vocabulary.numbered(width), rows)
    envelope = envelope_of_table(table)
    assert envelope.basis == dg_basis_of_positives(rows, width)
    assert envelope.non_horn.count == len(brute.close(rows) - set(rows))


def test_a_wide_formula_is_searched_without_enumeration():
    width = 200
    chain = Cnf(
        Vocabulary.numbered(width),
        (*(clause_of([-i, i + 1]) for i in range(1, width)), clause_of([-width, -1, 2])),
    )
    envelope = envelope_of_formula(chain)
    assert len(envelope.basis) == width - 1
    assert envelope.non_horn.count == 0
    assert envelope.readable == Theory(
        width, tuple(Rule(1 << i, 1 << (i + 1)) for i in range(width - 1))
    )
    assert len(clauses_of(envelope.readable)) == width - 1


def test_exhaustive_oracles_label_a_domain_in_one_batch():
    class Batches:
        def __init__(self):
            self.sizes = []

        def ask(self, batch):
            self.sizes.append(len(batch))
            return [x != 3 for x in batch]

    membership = Batches()
    oracle = ExhaustiveEquivalence.of(Domain(Vocabulary.numbered(3)), membership)
    assert oracle.judge(EMPTY) == Counterexample(3)
    assert membership.sizes == [8]


def test_a_large_horn_formula_is_quick_because_its_models_are_left_out():
    rng = Random(1)
    clauses = []
    for _ in range(60):
        body = rng.sample(range(1, 101), 3)
        clauses.append([-v for v in body] + ([rng.randint(1, 100)] if rng.random() < 0.8 else []))
    formula = Cnf(Vocabulary.numbered(100), tuple(map(clause_of, clauses)))
    assert envelope_of_formula(formula).basis == dg_basis(formula.theory())


def test_table_targets_find_models():
    target = TableSource([0b011, 0b110, 0b010], 3)
    assert target.positive(0b010, ABSURD) in (0b011, 0b110)
    assert target.positive(0b010, 0) == 0b110
    assert target.positive(0b111, ABSURD) is None
    assert target.known_positives == (0b011, 0b110)


@pytest.mark.parametrize("seed", range(40))
def test_search_and_grid_agree(seed, monkeypatch):
    rng = Random(seed)
    formula, clauses = random_formula(seed, rng.choice(KINDS), widths=(2, 6))
    background = Theory(formula.width, (Rule(rng.getrandbits(formula.width), BOTTOM),))
    models = [x for x in brute.positives_of(clauses, formula.width) if background.satisfied_by(x)]
    table = Table(formula.vocabulary, tuple(models))
    grid = envelope_of_formula(formula, background), envelope_of_table(table, background)
    monkeypatch.setattr(whitebox, "GRID_LIMIT", 0)
    search = envelope_of_formula(formula, background), envelope_of_table(table, background)
    assert {e.basis for e in (*grid, *search)} == {grid[0].basis}, (clauses, background)
    assert {e.non_horn.count for e in (*grid, *search)} == {grid[0].non_horn.count}


@pytest.mark.parametrize("width", [1, 6, 62, 63, 64, 130])
def test_batches_of_interpretations_obey_rules_as_each_one_does(width):
    rng = Random(width)

    def few(chance: float) -> int:
        return sum(1 << i for i in range(width) if rng.random() < chance)

    rules = [Rule(few(2 / width), BOTTOM if rng.random() < 0.4 else few(0.5)) for _ in range(40)]
    for count in (0, 1, 30, 3000):
        masks = [few(0.5) for _ in range(count)]
        batch = pack(masks, width)
        expected = [sum(not rule.satisfied_by(x) for rule in rules) for x in masks]
        assert broken_rules(batch, rules, width).tolist() == expected
        assert obeys(batch, rules).tolist() == [number == 0 for number in expected]
        assert obeys(batch, []).all() and unpack(batch) == masks
    assert unpack(pack([BOTTOM, 1, BOTTOM], width)) == [BOTTOM, 1, BOTTOM]


@pytest.mark.parametrize("seed", range(30))
def test_known_answers_find_the_first_that_a_hypothesis_gets_wrong(seed):
    """Hypotheses that change a little or altogether, answers that become more: as by looking."""
    rng = Random(seed)
    width = rng.choice([4, 6, 70])
    answers: dict[int, bool] = {}
    known = KnownAnswers(answers, width)
    rules: list[Rule] = []
    for _ in range(40):
        for _ in range(rng.randrange(4)):
            answers.setdefault(rng.getrandbits(width), rng.random() < 0.8)
        for _ in range(rng.choice([0, 1, 1, 2, 9])):
            if rules and rng.random() < 0.5:
                rules.pop(rng.randrange(len(rules)))
            else:
                low = rng.getrandbits(width) & rng.getrandbits(width)
                rules.append(Rule(low, rng.choice([BOTTOM, low | rng.getrandbits(width)])))
        excluded = frozenset(x for x in [*answers, rng.getrandbits(width)] if rng.random() < 0.2)
        hypothesis = Hypothesis(Theory(width, tuple(rules)), excluded)
        wrong = [x for x, label in answers.items() if hypothesis.satisfied_by(x) != label]
        assert known.first_wrong(hypothesis) == (wrong[0] if wrong else None)
