"""Every learner against every oracle, on thousands of random formulas of every temper."""

from random import Random

import pytest

from hornlens.errors import HornlensError
from hornlens.exact.grid import LabelledSpace, labels_of_positives
from hornlens.exact.sat import cnf_counterexample
from hornlens.learning.driver import Bounds, events_of, run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.events import (
    Asked,
    Conjectured,
    CounterexampleTaken,
    NegativeSet,
    Progress,
    RuleAdded,
    RuleRetired,
)
from hornlens.learning.horn import HornLearner, horn1_learner
from hornlens.learning.protocol import (
    Accepted,
    Ask,
    Conjecture,
    Counterexample,
    NotHorn,
)
from hornlens.logic.basis import dg_basis, is_saturated
from hornlens.logic.bits import BOTTOM, intersection
from hornlens.logic.certificates import EXACT
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.encoding import dec, enc
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.encoded import EncodedEquivalence, EncodedMembership
from hornlens.oracles.equivalence import ExhaustiveEquivalence
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.membership import CountingMembership, FormulaMembership, FunctionMembership
from hornlens.testing.learners import LearnerConformance
from tests import brute
from tests.targets import KINDS, random_formula, random_space


def stubborn(candidates):
    """An adversary: the largest counterexample, so that refinements take longest."""
    return max(candidates, key=lambda x: (x.bit_count(), x))


def oracles(formula, kind, seed):
    domain, membership = Space.of_variables(formula.vocabulary), FormulaMembership(formula)
    yield FormulaEquivalence(formula, kind)
    yield FormulaEquivalence(formula, kind, Random(seed))
    for choose in (min, stubborn, Random(seed).choice, Random(seed + 1).choice):
        yield ExhaustiveEquivalence.of(domain, membership, kind, choose)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(20))
def test_algorithm_1_finds_the_envelope_within_the_proved_bounds(chunk, kind):
    for seed in range(chunk * 20, chunk * 20 + 20):
        formula, clauses = random_formula(seed, kind)
        width = formula.width
        models = brute.positives_of(clauses, width)
        expected = brute.dg(models, range(1 << width))
        non_horn = brute.close(models) - set(models)
        bounds = Bounds.of_envelope(width, len(expected), len(non_horn))
        for goal in ("horn", "full"):
            for i, oracle in enumerate(oracles(formula, goal, seed)):
                case = (seed, kind, clauses, goal, i)
                done = run(
                    EnvelopeLearner(width), FormulaMembership(formula), oracle, speculate=i % 2 == 1
                )
                theory = done.learned.hypothesis.theory
                assert brute.pairs(theory) == expected, case
                assert is_saturated(theory), case
                assert done.certificate == EXACT
                assert done.queries.equivalence <= bounds.equivalence, case
                assert done.queries.refinement <= bounds.membership, case
                assert set(done.learned.non_horn) <= non_horn, case
                if goal == "full":  # the corollary: H ∪ Q ≡ φ
                    accepted = [
                        x for x in range(1 << width) if done.learned.hypothesis.satisfied_by(x)
                    ]
                    assert accepted == models, case
                    learned = Cnf(formula.vocabulary, done.learned.hypothesis.clauses())
                    assert cnf_counterexample(formula, learned) is None, case


@pytest.mark.parametrize("learner", [HornLearner, horn1_learner])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(5))
def test_the_classics_learn_horn_targets_and_refute_others_with_proof(chunk, kind, learner):
    for seed in range(chunk * 20, chunk * 20 + 20):
        formula, clauses = random_formula(seed, kind)
        width = formula.width
        models = brute.positives_of(clauses, width)
        expected = brute.dg(models, range(1 << width))
        is_horn = brute.close(models) == set(models)
        bound = (
            Bounds.of_horn if learner is HornLearner else lambda w, r: Bounds.of_envelope(w, r, 0)
        )
        for i, oracle in enumerate(oracles(formula, "full", seed)):
            case = (seed, kind, clauses, i)
            try:
                done = run(learner(width), FormulaMembership(formula), oracle)
            except NotHorn as proof:
                assert not is_horn, case
                assert proof.negative not in models, case
                assert set(proof.positives) <= set(models), case
                assert intersection(proof.positives) == proof.negative, case
                continue
            assert is_horn, case
            assert list(done.learned.hypothesis.theory.positives()) == models, case
            bounds = bound(width, len(expected))
            assert done.queries.equivalence <= bounds.equivalence, case
            assert done.queries.refinement <= bounds.membership, case
            if learner is horn1_learner:
                assert brute.pairs(done.learned.hypothesis.theory) == expected, case


@pytest.mark.parametrize("chunk", range(10))
def test_inside_a_domain_the_result_is_relative_to_its_background(chunk):
    for seed in range(chunk * 30, chunk * 30 + 30):
        rng = Random(seed)
        domain = random_space(rng)
        density = rng.choice([0.3, 0.6, 0.9, 0.97])
        models = [x for x in domain if rng.random() < density]
        labelled = LabelledSpace(domain, labels_of_positives(domain, models))
        expected = brute.dg(models, list(domain))
        non_horn = brute.close(models) - set(models)
        width = len(domain.vocabulary)
        bounds = Bounds.of_envelope(width, len(expected), len(non_horn))
        for goal in ("horn", "full"):
            for choose in (min, stubborn, rng.choice):
                oracle = ExhaustiveEquivalence(labelled, goal, choose)
                membership = FunctionMembership(set(models).__contains__)
                done = run(EnvelopeLearner(width), membership, oracle)
                case = (domain.vocabulary, models, goal)
                assert brute.pairs(done.learned.hypothesis.theory) == expected, case
                assert done.queries.equivalence <= bounds.equivalence, case
                assert done.queries.refinement <= bounds.membership, case


ERRATUM = [[-3, -4], [-1, 4], [-1, 5, 2], [-4, 1, -2], [1, -2], [-2, -4], [-2], [4, 5, 1]]


def test_no_example_stands_twice_in_e_minus_where_the_paper_allows_it():
    """The paper's claim that E⁻ has no repetitions holds for Horn examples only."""
    formula = Cnf(Vocabulary.numbered(5), tuple(map(clause_of, ERRATUM)))
    models = brute.positives_of(ERRATUM, 5)
    expected = brute.dg(models, range(32))
    unguarded_repeats = 0
    for seed in range(300):
        for guarded in (True, False):
            oracle = ExhaustiveEquivalence.of(
                Space.of_variables(formula.vocabulary),
                FormulaMembership(formula),
                "full",
                Random(seed).choice,
            )
            learner = EnvelopeLearner(5) if guarded else Unguarded(5)
            seen = []
            done = run(learner, FormulaMembership(formula), oracle, watch=seen.append)
            assert brute.pairs(done.learned.hypothesis.theory) == expected, seed
            repeats = repeats_in(seen)
            assert not (guarded and repeats), seed
            unguarded_repeats += repeats
    assert unguarded_repeats  # so the test has the teeth it needs


class Unguarded(EnvelopeLearner):
    """Algorithm 1 as printed: it may refine into an example that E⁻ has already."""

    def __init__(self, width):
        super().__init__(width)
        self.antecedents = NoMemory()


class NoMemory(set):
    def __contains__(self, item):
        return False


def repeats_in(seen):
    """Replay E⁻ from the events; count the rounds after which some example stands twice."""
    slots, count = {}, 0
    for event in seen:
        if isinstance(event, NegativeSet):
            slots[event.position] = event.after
        elif isinstance(event, RuleRetired):
            slots.pop(event.position)
        elif isinstance(event, Conjectured):
            count += len(set(slots.values())) < len(slots)
    return count


APPENDIX = Cnf(Vocabulary(tuple("abcd")), (clause_of([-1]), clause_of([2, 3])))


def adversary(hypothesis, state):
    """The appendix's choice of counterexamples, over and over: {d}, {b, d}, {c, d}."""
    for x in (0b1000, 0b1010, 0b1100):
        if APPENDIX.satisfied_by(x) != hypothesis.satisfied_by(x):
            return x
    return None


def test_the_textbook_loop_cycles_on_the_appendixs_adversary():
    learner = HornLearner(4, textbook=True)
    steps = learner.steps()
    question = next(steps)
    hypotheses = []
    for _ in range(300):
        while not isinstance(question, Conjecture):
            asked = isinstance(question, Ask)
            answers = [APPENDIX.satisfied_by(x) for x in question.batch] if asked else None
            question = steps.send(answers)
        hypotheses.append(frozenset(question.hypothesis.theory.rules))
        x = adversary(question.hypothesis, None)
        assert x is not None, "the adversary always has a counterexample"
        question = steps.send(Counterexample(x))
    assert hypotheses[0] == frozenset()
    assert hypotheses[3:] == hypotheses[:-3]  # the same three hypotheses, for ever


@pytest.mark.parametrize("learner", [HornLearner, horn1_learner])
def test_our_classics_end_there_with_a_proof(learner):
    with pytest.raises(NotHorn) as raised:
        run(learner(4), FormulaMembership(APPENDIX), AppendixOracle())
    assert raised.value.negative == 0b1000
    assert set(raised.value.positives) == {0b1010, 0b1100}


class AppendixOracle:
    """The adversary while it can go on; after that, the truth."""

    def __init__(self):
        self.truth = FormulaEquivalence(APPENDIX, "horn")

    def judge(self, hypothesis):
        x = adversary(hypothesis, None)
        return self.truth.judge(hypothesis) if x is None else Counterexample(x)


def test_algorithm_1_ends_on_the_same_adversary_with_a_implies_bottom():
    seen = []
    done = run(EnvelopeLearner(4), FormulaMembership(APPENDIX), AppendixOracle(), watch=seen.append)
    assert done.learned.hypothesis.theory.show(APPENDIX.vocabulary) == "a → ⊥"
    assert done.learned.non_horn == (0b1000,)
    assert done.learned.positives == (0b1010, 0b1100)
    shown = [event.example for event in seen if isinstance(event, CounterexampleTaken)]
    assert shown[:3] == [0b1000, 0b1010, 0b1100]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(4))
def test_a_cnf_is_learned_through_the_envelope_of_its_encoding(chunk, kind):
    for seed in range(chunk * 15, chunk * 15 + 15):
        formula, clauses = random_formula(seed, kind, widths=(0, 4))
        width = formula.width
        done = run(
            EnvelopeLearner(2 * width),
            EncodedMembership(FormulaMembership(formula), width),
            EncodedEquivalence(lambda h, f=formula: cnf_counterexample(f, h), formula.vocabulary),
        )
        learned = dec(done.learned.hypothesis.clauses(), formula.vocabulary)
        assert list(learned.positives()) == brute.positives_of(clauses, width), (
            seed,
            kind,
            clauses,
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30))
def test_decoding_the_envelope_of_the_encoding_gives_the_formula_back(seed, kind):
    formula, clauses = random_formula(seed, kind, widths=(0, 4))
    encoded = enc(formula)
    assert list(dec(encoded.clauses, formula.vocabulary).positives()) == list(formula.positives())
    labelled = LabelledSpace.of(Space.of_variables(encoded.vocabulary), encoded.satisfied_by)
    envelope = labelled.dg_basis()
    hypothesis = EnvelopeLearner(encoded.width).hypothesis().__class__(envelope)
    decoded = dec(hypothesis.clauses(), formula.vocabulary)
    assert list(decoded.positives()) == brute.positives_of(clauses, formula.width), clauses


def test_the_driver_gives_what_it_has_when_a_learner_is_stopped():
    learner = EnvelopeLearner(3)
    steps = learner.steps()
    assert isinstance(next(steps), Conjecture)
    assert steps.send(Counterexample(0b111)) == CounterexampleTaken(1, 0b111, False)
    assert next(steps) == NegativeSet(0, None, 0b111)
    assert next(steps) == RuleAdded(0, Rule(0b111, BOTTOM))
    assert isinstance(next(steps), Conjecture)
    assert learner.learned().negatives == (0b111,)
    with pytest.raises(StopIteration):
        steps.send(Accepted(EXACT))


class TestEnvelopeLearner(LearnerConformance):
    def make(self, width):
        return EnvelopeLearner(width)


class TestEnvelopeLearnerInAnotherOrder(LearnerConformance):
    def make(self, width):
        return EnvelopeLearner(width, order=lambda meets: meets[::-1])


class TestHorn1Learner(LearnerConformance):
    horn_only = True

    def make(self, width):
        return horn1_learner(width)


class TestHornLearner(LearnerConformance):
    horn_only = True
    reports_rules = False  # it makes H anew after every negative: each conjecture shows it

    def make(self, width):
        return HornLearner(width)


def orders(seed):
    """Ways to put the candidates of a refinement in order, by their intersections or otherwise."""
    rng = Random(seed)
    yield "smallest first", lambda meets: sorted(meets, key=lambda meet: meet[1].bit_count())
    yield "largest first", lambda meets: sorted(meets, key=lambda meet: -meet[1].bit_count())
    yield "last first", lambda meets: meets[::-1]
    yield "at random", lambda meets: rng.sample(meets, len(meets))


@pytest.mark.parametrize("kind", KINDS)
def test_refining_in_any_order_ends_with_the_envelope(kind):
    """The paper's order alone is proved to give H as the DG basis itself, within the bounds."""
    for seed in range(60):
        formula, clauses = random_formula(seed, kind)
        models = brute.positives_of(clauses, formula.width)
        expected = brute.dg(models, range(1 << formula.width))
        for name, order in orders(seed):
            for i, oracle in enumerate(oracles(formula, "full", seed)):
                learner = EnvelopeLearner(formula.width, order)
                done = run(learner, FormulaMembership(formula), oracle)
                basis = dg_basis(done.learned.hypothesis.theory)
                assert brute.pairs(basis) == expected, (seed, kind, name, i)


def test_the_papers_order_of_refinement_is_needed_for_a_basis_without_redundancy():
    sizes = {None: set(), reversed_order: set()}
    for seed in range(200):
        formula, clauses = random_formula(seed, "horn", widths=(6, 6))
        models = brute.positives_of(clauses, 6)
        least = len(brute.dg(models, range(64)))
        oracle = ExhaustiveEquivalence.of(
            Space.of_variables(formula.vocabulary), FormulaMembership(formula), "horn", stubborn
        )
        for order, found in sizes.items():
            done = run(EnvelopeLearner(6, order), FormulaMembership(formula), oracle)
            found.add(len(done.learned.hypothesis.theory) - least)
    assert sizes[None] == {0}
    assert max(sizes[reversed_order]) > 0


def reversed_order(meets):
    return meets[::-1]


class AsksForAll:
    """Asks about a batch, wants all answers or up to the first no, and then conjectures."""

    def __init__(self, wants_all, gives_up=False):
        self.wants_all, self.gives_up = wants_all, gives_up
        self.answers = []

    def steps(self):
        self.answers = yield Ask((3, 1, 0), self.wants_all)
        verdict = yield Conjecture(EnvelopeLearner(2).hypothesis())
        assert isinstance(verdict, Counterexample) == self.gives_up

    def learned(self):
        return EnvelopeLearner(2).learned()


@pytest.mark.parametrize("speculate", [False, True])
def test_a_learner_may_want_all_answers(speculate):
    everything = Cnf(Vocabulary.numbered(2))
    for wants_all in (False, True):
        learner = AsksForAll(wants_all)
        membership = CountingMembership(FunctionMembership(lambda x: x != 3))
        seen = list(events_of(learner, membership, FormulaEquivalence(everything), speculate))
        asked = next(event for event in seen if isinstance(event, Asked))
        assert asked.needed == (3 if wants_all else 1)
        assert list(asked.answers) == [False, True, True][: membership.count] == learner.answers
        assert membership.count == (3 if wants_all or speculate else 1)
        queries = [event for event in seen if isinstance(event, Progress)][-1].queries
        assert (queries.refinement, queries.refinement + queries.speculative) == (
            asked.needed,
            membership.count,
        )


def test_a_learner_that_gives_up_before_a_yes_is_an_error_that_says_so():
    nothing = Cnf(Vocabulary.numbered(2), (clause_of([]),))
    with pytest.raises(HornlensError, match="AsksForAll ended without an accepted conjecture"):
        run(AsksForAll(False, True), FormulaMembership(nothing), FormulaEquivalence(nothing))
