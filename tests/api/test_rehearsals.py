"""Rehearsals: what others will do with Hornlens, each as a short story."""

import json
from dataclasses import replace
from random import Random

import pytest

import hornlens
from hornlens.extraction.extract import Asking
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.events import Asked, Conjectured, CounterexampleTaken, Ended, Progress
from hornlens.learning.horn import HornLearner
from hornlens.learning.protocol import Accepted, Counterexample, NotHorn
from hornlens.logic.basis import dg_basis
from hornlens.logic.certificates import EXACT
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.functions import FunctionModel
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.testing.learners import folded
from tests import brute
from tests.plugins import Environment, wheel
from tests.targets import random_clauses

# A target that answers with noise, asked several times.

CLINIC = hornlens.Space(
    (
        hornlens.Nominal("fever", ("fever",)),
        hornlens.Nominal("age", ("child", "adult", "old")),
        hornlens.Nominal("smoker", ("smoker",)),
    ),
    hornlens.Nominal("advice", ("home", "doctor")),
)
CELLS = len(list(CLINIC.cells()))


def advice(names):
    """Children with a fever and old smokers see a doctor; all others stay at home."""
    ill = {"fever", "child"} <= {*names} or {"old", "smoker"} <= {*names}
    return "doctor" if ill else "home"


def sometimes_wrong(seed, chance=0.15):
    """The same, but now and then it says the opposite, or nothing: each time anew."""
    rng = Random(seed)

    def call(names):
        if rng.random() < chance:
            return {"home": "doctor", "doctor": "home"}[advice(names)]
        return None if rng.random() < chance / 3 else advice(names)

    return hornlens.FunctionTarget(call, CLINIC, "clinic")


def test_a_noisy_target_is_asked_often_enough_to_find_its_rules(tmp_path):
    steady = hornlens.extract(hornlens.FunctionTarget(advice, CLINIC, "clinic"))
    once = hornlens.extract(sometimes_wrong(1))
    often = hornlens.extract(hornlens.RepeatedTarget(sometimes_wrong(1), 25))
    assert once.envelope.basis != steady.envelope.basis == often.envelope.basis
    assert often.entails("old & smoker & home -> false")
    assert often.entails("fever ∧ child ∧ home → ⊥") and not often.entails("fever & home -> ⊥")
    assert not once.decisions[0].repeats
    for cell, decision in often.decisions.items():
        assert decision.winner == steady.decisions[cell].winner and len(decision.repeats) == 2
        assert 13 <= decision.repeats[decision.winner] <= sum(decision.repeats) <= 25
    assert min(max(decision.repeats) for decision in often.decisions.values()) < 25

    often.save(tmp_path)
    lines = json.loads((tmp_path / "envelope.json").read_text())["answers"]
    kept = [tuple(line["repeats"]) for line in lines]
    assert kept == [often.decisions[cell].repeats for cell in sorted(often.decisions)]
    assert hornlens.load(tmp_path).decisions == often.decisions


def test_where_repeated_answers_disagree_the_target_abstains(tmp_path):
    halves = {}

    def now_and_then(names):
        """Change one's mind about smokers every time."""
        halves[names] = halves.get(names, 0) + 1
        return "doctor" if "smoker" in names and halves[names] % 2 else "home"

    target = hornlens.FunctionTarget(now_and_then, CLINIC, "fickle")
    result = hornlens.extract(hornlens.RepeatedTarget(target, 4))
    smoker = CLINIC.vocabulary.mask(["smoker"])
    assert {cell for cell, _ in result.abstentions} == {c for c in CLINIC.cells() if c & smoker}
    for _, decision in result.abstentions:
        assert (decision.winner, decision.abstained) == (None, "repeats")
        assert decision.repeats == (2, 2)
    assert result.envelope.statistics["abstentions"] == CELLS // 2
    result.save(tmp_path)
    assert hornlens.load(tmp_path).abstentions == result.abstentions
    assert set(halves.values()) == {4}
    counted = hornlens.extract(
        hornlens.RepeatedTarget(target, 4), policy=hornlens.Policy(abstain="reject")
    )
    assert counted.entails("smoker & doctor -> ⊥") and counted.entails("smoker & home -> ⊥")
    assert not result.entails("smoker & doctor -> ⊥")


def noisy_pronoun(seed):
    """A language model's scores, with another noise each time; it counts its calls."""
    rng = Random(seed)

    def call(prompt, words):
        call.asked += 1
        lead = 1.0 if "nurse" in prompt else -1.0
        return [rng.gauss(lead, 1.5), rng.gauss(-lead, 1.5)]

    call.asked = 0
    return call


@pytest.mark.slow
def test_each_repeat_is_kept_and_no_second_run_asks_again(tmp_path):
    probe = load_probe(DEFAULT)
    prompts = [prompt for cell in probe.space.cells() for prompt in probe.render(cell)]
    store = AnswerCache(tmp_path / "answers.sqlite")

    def extract(seed, repeats):
        """Ask what has one identity, though its noise would be another by now."""
        model = FunctionModel(noisy_pronoun(seed), "noisy", identity="noisy 1")
        result = hornlens.extract(model, probe, cache=store, repeats=repeats)
        assert result.record.asked == model.call.asked
        return result

    first, second = extract(1, 5), extract(2, 5)
    assert (first.record.asked, first.record.reused) == (5 * len(prompts), 0)
    assert (second.record.asked, second.record.reused) == (0, 5 * len(prompts))
    assert second.decisions == first.decisions and second.envelope == first.envelope
    assert {sum(decision.repeats) for decision in first.decisions.values()} == {5}
    kept = [store.get("function:noisy 1", prompts, probe.label.words, i) for i in range(6)]
    assert [len(answers) for answers in kept] == [len(prompts)] * 5 + [0]
    assert len({answers[prompts[0]][0] for answers in kept[:5]}) == 5

    assert extract(3, 3).record.asked == 0
    assert extract(3, 7).record.asked == 2 * len(prompts)
    assert not extract(3, 1).entails("nurse & male -> false")
    assert extract(4, 31).entails("nurse & male -> false")
    store.close()


# A target without prompts: ordered and taxonomic attributes, saved and loaded.

LOANS = hornlens.Space(
    (
        hornlens.Ordered.cut("age", ("18", "30", "65")),
        hornlens.Ordered("income", ("low", "middle", "high")),
        hornlens.Taxonomy.of(
            "place", [("Europe", None), ("Germany", "Europe"), ("France", "Europe"), ("Asia", None)]
        ),
    ),
    hornlens.Nominal("loan", ("granted", "refused")),
)


def score(names):
    """Refuse those under 18, and low incomes in Europe; tie where too little is known."""
    refused = 2.0 * ("age < 18" in names) + 1.5 * ({"income ≤ low", "Europe"} <= {*names})
    granted = 1.0 * ("income ≥ high" in names and not refused)
    return {"granted": granted, "refused": refused}


def test_a_target_without_prompts_is_extracted_saved_and_loaded(tmp_path):
    target = hornlens.FunctionTarget(
        score, LOANS, "loans", given_identity="loans 3", policy=hornlens.Policy(margin=0.5)
    )
    policy = hornlens.Policy(abstain="accept", label_unset="accept")
    settings = hornlens.Settings(equivalence="exact", seed=4)
    result = hornlens.extract(target, policy=policy, settings=settings)
    assert result.envelope.certificate == EXACT
    readable = {result.space.show(item.rule) for item in result.evidence}
    assert "age < 18 ∧ granted → ⊥" in readable
    assert "income = low ∧ Europe ∧ granted → ⊥" in readable
    assert result.entails('"income ≤ low" & Germany & granted -> false')
    assert not result.entails('"income ≤ low" & Asia & granted -> false')
    assert result.question.templates == () and not result.scores

    result.save(tmp_path)
    again = hornlens.load(tmp_path)
    for name in (
        *("name", "identity", "question", "policy", "settings", "decisions", "scores"),
        *("space", "title", "order", "evidence", "abstentions", "excluded"),
    ):
        assert getattr(again, name) == getattr(result, name), name
    assert again.record == replace(result.record, seconds=round(result.record.seconds, 3))
    for name in (
        "basis",
        "readable",
        "certificate",
        "non_horn",
        "statistics",
        "background",
        "space",
    ):
        assert getattr(again.envelope, name) == getattr(result.envelope, name), name
    assert list(again.rules) == list(result.rules)
    assert all(again.show(cell) == result.show(cell) for cell in result.decisions)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "age &lt; 18" in page or "age < 18" in page
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("disparities.csv", "envelope.json", "flips.csv", "levels.csv", "rates.csv"),
        *("report.html", "rules.csv", "run.json", "scores.csv"),
    ]

    again.save(tmp_path / "twice")
    for name in ("envelope.json", "rules.csv", "scores.csv", "rates.csv", "report.html"):
        assert (tmp_path / "twice" / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_it_is_exact_by_the_definition():
    result = hornlens.extract(hornlens.FunctionTarget(score, LOANS))
    accepted = []
    for x in LOANS:
        said, label = score(LOANS.vocabulary.names_of(x)), LOANS.label_of(x)
        best = {"granted": 0, "refused": 1}[max(said, key=said.get)]
        if label is None or len({*said.values()}) == 1 or label == best:
            accepted.append(x)
    assert brute.pairs(result.envelope.basis) == brute.dg(accepted, list(LOANS))


# A learner of one's own, and an equivalence oracle of one's own.


def horn_target(seed):
    clauses = random_clauses(Random(seed), 6, "horn")
    return hornlens.FormulaTarget(Cnf(Vocabulary.numbered(6), tuple(map(clause_of, clauses))))


class LargestCounterexample:
    """Asks about everything, and shows the largest counterexample."""

    def __init__(self, asking: Asking):
        self.every = list(asking.space)
        self.accepted = asking.membership.ask(self.every)
        self.shown = []

    def judge(self, hypothesis):
        pairs = zip(self.every, self.accepted, strict=True)
        wrong = [x for x, yes in pairs if hypothesis.satisfied_by(x) != yes]
        if not wrong:
            return Accepted(EXACT)
        self.shown.append(max(wrong, key=lambda x: (x.bit_count(), x)))
        return Counterexample(self.shown[-1])


class LastFirst(EnvelopeLearner):
    """Algorithm 1 that looks at its latest negatives first."""

    def __init__(self, width):
        super().__init__(width, order=lambda meets: list(reversed(meets)))


@pytest.mark.parametrize("learner", [None, HornLearner, EnvelopeLearner, LastFirst])
@pytest.mark.parametrize("seed", range(8))
def test_any_learner_and_any_oracle_find_the_rules(learner, seed):
    target = horn_target(seed)
    exact = hornlens.extract(target)
    seen, made = [], []

    def oracle(asking):
        made.append(LargestCounterexample(asking))
        return made[0]

    pac = hornlens.Settings(equivalence="pac")  # the space is not tabulated beside the oracle
    result = hornlens.extract(
        target, settings=pac, learner=learner, equivalence=oracle, watch=seen.append
    )
    assert result.envelope.basis == exact.envelope.basis
    assert result.envelope.certificate == EXACT
    assert result.envelope.statistics["equivalence_samples"] == 2**6
    assert [e.example for e in seen if isinstance(e, CounterexampleTaken)] == made[0].shown
    assert seen[-1] == Ended(EXACT)
    (conjectured,) = [e for e in seen if isinstance(e, Conjectured)][-1:]
    rules, _ = folded(seen)
    if learner is not HornLearner:  # Algorithm 2 tells of no single rules
        assert tuple(rules.values()) == conjectured.theory.rules
    assert dg_basis(conjectured.theory, target.space.background) == result.envelope.basis


@pytest.mark.parametrize("learner", [None, HornLearner, LastFirst])
def test_a_learner_of_ones_own_may_be_judged_by_samples_or_by_everything(learner):
    target, seen = horn_target(3), []
    exact = hornlens.extract(target)
    settings = hornlens.Settings(equivalence="pac", epsilon=0.01, delta=0.01, seed=5)
    sampled = hornlens.extract(target, settings=settings, learner=learner, watch=seen.append)
    # Samples come to ask everything: then nothing is left to them. Ours ends there.
    assert sampled.envelope.certificate.meets("exact")
    assert (sampled.envelope.hypothesis is None) == (learner is None)
    if learner is None:
        assert seen[-1] == Ended(EXACT)
    else:
        assert sampled.envelope.learned.certificate.joint is not None
    assert sampled.envelope.basis == exact.envelope.basis
    if learner is LastFirst:
        rules = Theory(6, tuple(folded(seen)[0].values()))
        assert dg_basis(rules, target.space.background) == sampled.envelope.basis
    progress = [e.queries for e in seen if isinstance(e, Progress)][-1]
    assert progress.equivalence == sampled.envelope.statistics["equivalence_queries"]
    assert progress.refinement == sum(e.needed for e in seen if isinstance(e, Asked))
    tabulated = hornlens.extract(target, learner=learner or EnvelopeLearner)
    assert tabulated.envelope.basis == exact.envelope.basis
    assert tabulated.envelope.certificate == EXACT


def test_a_learner_for_horn_targets_says_so_of_another():
    xor = Cnf(Vocabulary.numbered(2), tuple(map(clause_of, [[1, 2], [-1, -2]])))
    with pytest.raises(NotHorn, match="the target is not Horn"):
        hornlens.extract(hornlens.FormulaTarget(xor), learner=HornLearner)


# Somebody else's target on the command line.

PLUGIN = """
import hornlens
from hornlens.targets.registry import TargetKind

SPACE = hornlens.Space(
    (hornlens.Ordered.cut("age", ("18",)), hornlens.Nominal("member", ("member",))),
    hornlens.Nominal("entry", ("in", "out")),
)


def open_target(name):
    def door(names):
        return "out" if "age < 18" in names else "in" if "member" in names else None

    return hornlens.FunctionTarget(door, SPACE, f"theirs/{name}", f"door {name}")


kind = TargetKind("theirs/NAME", "who may go in", open_target)
"""


@pytest.mark.slow
def test_a_package_adds_its_targets_to_the_command_line_by_being_installed(tmp_path):
    theirs = Environment.make(tmp_path)
    theirs.install(
        wheel(tmp_path, "theirs", "theirs = theirs_module:kind", PLUGIN, "hornlens.targets")
    )
    listed = theirs.run("hornlens", "target", "list")
    (line,) = [line for line in listed.splitlines() if "theirs" in line]
    assert line.split("  ")[0] == "theirs/NAME" and "who may go in" in line and "theirs 1.2" in line
    assert "theirs" not in theirs.run("hornlens", "model", "list")
    shown = theirs.run("hornlens", "extract", "--target", "theirs/club", "--out", "out")
    assert "theirs/club: 2 rules" in shown
    assert "age < 18 ∧ in → ⊥" in shown and "No answer in" in shown
    result = hornlens.load(tmp_path / "out")
    assert (result.name, result.identity) == ("theirs/club", "function:door club")
    assert result.entails('"age < 18" & in -> false')
    assert (tmp_path / "out" / "report.html").is_file()
    unknown = theirs.run("hornlens", "extract", "--target", "nobody/club", fails=True)
    assert unknown.startswith("hornlens: unknown target 'nobody/club'; expected one of: formula/")
    assert unknown.count("\n") == 1 and "theirs/NAME" in unknown
    theirs.pip("uninstall", "--yes", "theirs")
    assert "theirs" not in theirs.run("hornlens", "target", "list")
