"""How runs of learners end: exact once every cell was asked, and otherwise without single cells."""

from dataclasses import replace
from random import Random
from time import perf_counter

import pytest

from hornlens.extraction.extract import extract
from hornlens.extraction.formulas import LearnSettings, learn
from hornlens.formats.dimacs import parse_dimacs
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.events import Ended
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds
from tests import brute
from tests.oracles.test_oracles import chance_of
from tests.targets import KINDS, random_formula, random_space
from tests.verifying.test_verify import checked

FINE = Settings("pac", epsilon=1e-6, delta=1e-6)
"""A hundred times as many samples as any of these spaces has interpretations, and more."""


def random_target(rng, space):
    """Favourites of an attribute, and exceptions; sometimes no answer."""
    labels = (True, False) if space.label is None else space.label.variables
    answers = {}
    for cell in space.cells():
        favourite = Random(f"{cell & 7} {rng.random() < 0.1}").choice(labels)
        answers[cell] = None if rng.random() < 0.05 else favourite
    return FunctionTarget(lambda names: answers[space.vocabulary.mask(names)], space)


def spaces(seed):
    """A random space of at least two cells, perhaps with a background and with a label."""
    rng = Random(seed)
    while True:
        space = random_space(rng)
        if not 4 <= space.cell_count <= 300:
            continue
        if rng.random() < 0.5 and not space.label:
            space = replace(space, label=Nominal("label", ("yes", "no", "maybe")))
        if rng.random() < 0.5:
            mask = (1 << space.width) - 1 & ~space.label_mask
            left = rng.getrandbits(space.width) & rng.getrandbits(space.width) & mask
            space = replace(space, assumed=(Rule(left, BOTTOM),)) if left else space
        if sum(1 for _ in space.cells()) > 1:
            return rng, space


@pytest.mark.parametrize("seed", range(30))
def test_a_pac_run_that_knows_every_cell_ends_at_once_and_is_exact(seed):
    rng, space = spaces(seed)
    target = random_target(rng, space)
    policy = Policy(label_unset=rng.choice(["accept", "reject"]))
    if seed % 3 == 0:
        target = Worlds("both", {"one": target, "other": random_target(rng, space)})
    events = []
    result = extract(target, settings=replace(FINE, seed=seed), policy=policy, watch=events.append)
    exact = extract(target, settings=Settings("exhaustive"), policy=policy)
    assert result.envelope.certificate == exact.envelope.certificate
    assert result.envelope.basis == exact.envelope.basis == result.envelope.learned.basis
    assert result.envelope.hypothesis is None
    statistics = result.envelope.statistics
    assert statistics["equivalence_samples"] < 20_000
    assert events[-1] == Ended(events[-1].certificate) and events[-1].certificate.meets("exact")
    for world, alone in zip(result.worlds, exact.worlds, strict=True):
        assert world.envelope.basis == alone.envelope.basis
        assert world.envelope.certificate == alone.envelope.certificate
    assert checked(extraction_as_json(result)).ok


def error_of(target, settings):
    """Learn a target; return on which share of all that can be drawn the hypothesis errs."""
    learners = []

    def make(width):
        learners.append(EnvelopeLearner(width))
        return learners[0]

    result = extract(target, settings=settings, learner=make)
    space, hypothesis = target.space, learners[0].hypothesis()
    labels = (None,) if space.label is None else range(len(space.label.variables))
    wrong = total = 0
    for cell in space.cells():
        (decision,) = target.decide([cell])
        for label in labels:
            x = cell if label is None else space.with_label(cell, label)
            yes = decision.winner is None or decision.winner == (1 if label is None else label)
            wrong += hypothesis.satisfied_by(x) != yes
            total += 1
    return wrong / total, result.envelope.statistics["equivalence_queries"]


def test_of_many_random_targets_no_more_are_learned_badly_than_delta_allows():
    """Those that are hardest: a rule that is met with hardly more than ε, and others beside it."""
    delta, runs, failures, careless, queries = 0.2, 400, 0, 0, 0
    for seed in range(runs):
        rng = Random(seed)
        attributes = tuple(
            Nominal(f"a{i}", tuple(f"a{i}v{j}" for j in range(rng.randint(1, 4)))) for i in range(3)
        )
        label = Nominal("label", ("yes", "no")) if rng.random() < 0.5 else None
        space = Space(attributes, label)
        rules = [
            tuple(rng.choice(axis[1:]) for axis in rng.sample(space.axes[: len(attributes)], size))
            for size in rng.choices((1, 2, 3), k=rng.randint(1, 3))
        ]
        noise = {cell for cell in space.cells() if rng.random() < rng.choice((0, 0.05))}

        def call(names, space=space, rules=rules, noise=noise):
            cell = space.vocabulary.mask(names)
            broken = any(sum(rule) & ~cell == 0 for rule in rules) != (cell in noise)
            return not broken if space.label is None else ("yes" if broken else None)

        target = FunctionTarget(call, space)
        breaking = sum(any(sum(r) & ~cell == 0 for r in rules) for cell in space.cells())
        size = space.cell_count * (1 if label is None else 2)
        epsilon = min(0.4, max(0.02, (breaking - 0.5) / size))  # hardly less than all that breaks
        error, asked = error_of(target, Settings("pac", epsilon, delta, seed=seed))
        failures += error > epsilon
        queries += asked
        coarse = Settings("pac", min(0.9, 6 * epsilon), delta, seed=seed)
        careless += error_of(target, coarse)[0] > epsilon
    assert queries > 3 * runs
    assert chance_of(failures, runs, delta) > 1e-6, f"{failures} of {runs} runs failed"
    assert chance_of(careless, runs, delta) < 1e-6, f"the test cannot fail: {careless} of {runs}"


@pytest.mark.parametrize("chosen", [Settings("budget", 0.01, 0.01), Settings("pac", samples=400)])
def test_a_run_that_came_to_ask_every_cell_is_exact_whatever_ended_it(chosen):
    """Budgets and fixed samples go on as they were told to; what is concluded is exact."""
    space = Space((Nominal("job", ("nurse", "priest")),), Nominal("word", ("she", "he")))
    target = FunctionTarget(lambda names: "she" if "nurse" in names else "he", space)
    for most in (2, 200):
        settings = replace(chosen, max_equivalence_queries=most)
        result = extract(target, settings=settings)
        assert len(result.decisions) == 3 and result.envelope.certificate.meets("exact")
        assert result.envelope.hypothesis is not None
    for limits in (Limits(max_questions=3), Limits(time_limit=3600)):
        assert extract(target, settings=FINE, limits=limits).envelope.certificate.meets("exact")


def test_a_run_that_is_interrupted_after_its_last_question_still_gives_its_rules():
    space = Space((Nominal("job", ("nurse", "priest")),), Nominal("word", ("she", "he")))
    limits, asked = Limits(), []

    def call(names):
        asked.append(names)
        if len(asked) == 3:
            limits.interrupt()
        return "she" if "nurse" in names else "he"

    result = extract(FunctionTarget(call, space), settings=FINE, limits=limits)
    assert limits.reason == "interrupt" and len(asked) == 3
    assert result.envelope.certificate.meets("exact") and len(result.envelope.basis) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_formula_that_was_asked_about_completely_is_learned_exactly_from_samples(kind):
    for seed in range(10):
        formula, clauses = random_formula(seed, kind, widths=(1, 5))
        settings = LearnSettings(equivalence="pac", epsilon=1e-6, delta=1e-6, seed=seed)
        outcome = learn(formula, settings)
        positives = brute.positives_of(clauses, formula.width)
        expected = brute.dg(positives, range(1 << formula.width))
        assert outcome.envelope.certificate.meets("exact") and outcome.sampled < 20_000
        assert brute.pairs(outcome.envelope.basis) == expected
        assert outcome.distinct == 1 << formula.width
    coarse = learn(parse_dimacs("p cnf 9 1\n-1 -2 0\n"), LearnSettings(equivalence="pac"))
    assert coarse.envelope.certificate.joint is not None


def test_a_background_over_a_large_space_does_not_have_to_be_gone_through():
    attributes = tuple(Nominal(f"a{i}", tuple(f"a{i}v{j}" for j in range(8))) for i in range(12))
    plain = Space(attributes, Nominal("answer", ("yes", "no")))
    never = Rule(plain.vocabulary.mask(["a0v0", "a1v1"]), BOTTOM)
    target = FunctionTarget(
        lambda names: "yes" if "a2v2" in names else "no", replace(plain, assumed=(never,))
    )
    started = perf_counter()
    result = extract(target, settings=Settings("pac", 0.1, 0.1), limits=Limits(max_questions=300))
    certificate = result.envelope.certificate
    assert certificate.cells == 9**12 - 9**10
    assert certificate.unasked == certificate.cells - len(result.decisions)
    assert perf_counter() - started < 30


def cells_of(space, rule):
    """How many cells a rule speaks of, by looking at each."""
    left = rule.antecedent & ~space.label_mask
    return sum(left & ~cell == 0 for cell in space.cells())


def interruptions(rng, space):
    """Ways to end a run before all was asked: limits, and what a watcher does."""
    yield Limits(max_questions=rng.randint(1, max(1, space.cell_count // 2))), None
    ticks = iter(range(10**9))
    yield Limits(time_limit=rng.randint(3, 40), clock=lambda: next(ticks)), None
    limits, left = Limits(), iter(range(rng.randint(1, 9)))
    yield limits, lambda event: None if next(left, None) is not None else limits.interrupt()


@pytest.mark.parametrize("chunk", range(6))
def test_no_rule_of_a_learner_that_was_ended_repeats_the_answer_of_a_single_cell(chunk):
    ended = singles = with_background = 0
    for seed in range(chunk * 15, chunk * 15 + 15):
        rng, space = spaces(seed)
        target = random_target(rng, space)
        if seed % 3 == 0:
            target = Worlds("both", {"one": target, "other": random_target(rng, space)})
        for mode in ("pac", "budget"):
            for limits, watch in interruptions(rng, space):
                most = rng.randint(0, 9)
                settings = Settings(mode, 0.05, 0.05, max_equivalence_queries=most, seed=seed)
                whole = extract(target, settings=settings, limits=limits, watch=watch)
                for result in (whole, *whole.worlds):
                    envelope = result.envelope
                    if not envelope.certificate.unasked or envelope.certificate.joint:
                        continue
                    ended += 1
                    singles += envelope.statistics.get("single_cells", 0)
                    with_background += bool(space.assumed)
                    for rule in (*envelope.basis, *envelope.readable, *envelope.open):
                        assert cells_of(space, rule) > 1, (seed, mode, space.show(rule))
                assert checked(extraction_as_json(whole)).ok
    assert ended > 20 and singles > 20 and with_background > 5
