"""Answers that vary: what is claimed of them is true, as often as is said."""

import hashlib
import json
import math
from contextlib import closing
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from hornlens.api import extract, load
from hornlens.errors import HornlensError
from hornlens.exact.readings import reading
from hornlens.extraction.asking import Questions
from hornlens.formats.certificates import certificate_from_json
from hornlens.learning.strategies import Cells, Proposal
from hornlens.limits import Limits
from hornlens.logic.certificates import despite_noise
from hornlens.logic.decisions import UNDECIDED, Decision, Policy
from hornlens.logic.named import NamedRule
from hornlens.logic.repeats import ALPHA, MOST, Repeats, certified, evidence, fewest, threshold
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer
from hornlens.probes.loading import parse_probe
from hornlens.report.possible import show_possible
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.possible import possible_rules, undecided_of
from hornlens.results.documents.settings import Settings
from hornlens.store.sqlite import AnswerCache
from hornlens.verification import verify
from hornlens.verifying.noise import evidence as evidence_again
from hornlens.verifying.verify import verify_content
from tests import brute
from tests.chat_server import PROBE

PHRASED = PROBE.replace(
    'templates: ["{label} was born in {place} and works as {a:job}."]',
    """variants:
  - {name: long, template: "{label} was born in {place} and works as {a:job}."}
  - {name: short, template: "{label}, {a:job} from {place}."}""",
)


def draws(chances, seed=0):
    """A model that says She with the chance of the first word that a prompt has; else ½."""
    rng = Random(seed)

    def call(prompt, words):
        chance = next((c for word, c in chances.items() if word in prompt), 0.5)
        return [1.0, 0.0] if rng.random() < chance else [0.0, 1.0]

    return FunctionModel(call, sampled=True)


# --- the test ---


def test_the_evidence_is_the_integral_and_is_worked_out_in_two_ways():
    for s in range(12):
        for f in range(12):
            steps = 2000
            points = [0.5 + (k + 0.5) / (2 * steps) for k in range(steps)]
            integral = sum((2 * q) ** s * (2 - 2 * q) ** f for q in points) / steps
            assert float(evidence(s, f)) == pytest.approx(integral, rel=1e-3)
            assert evidence(s, f) == evidence_again(s, f)
            # A fair coin does not change it on average; one that leans the other way lowers it.
            after = (evidence(s + 1, f) + evidence(s, f + 1)) / 2
            assert after == evidence(s, f)
            assert evidence(s + 1, f) > evidence(s, f + 1)


def test_a_unanimous_model_takes_some_eighteen_answers_for_660_cells():
    assert fewest(threshold(0.05, 660, 2)) == 18
    assert fewest(threshold(0.05, 660, 3)) == 19  # "no answer" is an outcome, too
    needed = threshold(0.05, 660, 3)
    assert certified([19, 0, 0], needed) == 0 and certified([18, 0, 0], needed) is None
    assert certified([0, 0, 30], needed) == 2 and certified([30, 25, 0], needed) is None
    for alpha in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(HornlensError, match="--alpha"):
            Repeats(alpha=alpha)


class Simulated:
    """Many noisy targets at once: the counts at which each cell was decided, or given up."""

    def __init__(self, chances, needed, most, rng):
        # A table of what is certified, by the counts of the three outcomes' two largest.
        enough = np.full(most + 1, most + 1)
        for losses in range(most + 1):
            wins = next((w for w in range(losses + 1, most + 1 - losses)
                         if evidence(w, losses) >= needed), None)  # fmt: skip
            enough[losses] = most + 1 if wins is None else wins
        shape = chances.shape[:-1]
        counts = np.zeros(chances.shape, int)
        self.winner = np.full(shape, -1)
        self.asked = np.zeros(shape, int)
        bounds = chances.cumsum(-1)
        for _ in range(most):
            open_ = self.winner < 0
            drawn = (rng.random(shape)[..., None] > bounds).sum(-1).clip(0, chances.shape[-1] - 1)
            for k in range(chances.shape[-1]):
                counts[..., k] += open_ & (drawn == k)
            self.asked += open_
            best = counts.argmax(-1)
            ordered = np.sort(counts, -1)
            decided = open_ & (ordered[..., -1] >= enough[ordered[..., -2]])
            self.winner[decided] = best[decided]


class Fixed:
    """A target over the probe's space whose decisions are given."""

    name = "fixed"

    def __init__(self, space, decisions):
        self.space, self.known = space, decisions

    def identity(self):
        return None

    def decide(self, cells):
        return [self.known[cell] for cell in cells]

    def show(self, cell):
        return (str(cell),)


def test_of_a_thousand_noisy_targets_the_claims_are_false_less_often_than_alpha():
    alpha, targets, most = 0.1, 1000, 60
    space = parse_probe(PROBE).space
    cells = list(space.cells())
    rng = np.random.default_rng(16)
    # Some are hard: the first two outcomes nearly tie. The third is to give no answer.
    lean = rng.choice([0.5, 0.52, 0.6, 0.75, 0.9, 0.99], (targets, len(cells)))
    none = rng.choice([0.0, 0.05, 0.3], (targets, len(cells)))
    first = rng.integers(0, 2, (targets, len(cells)))
    high, low = lean * (1 - none), (1 - lean) * (1 - none)
    chances = np.stack([np.where(first == 0, high, low), np.where(first == 0, low, high), none], -1)
    ties = chances.max(-1, keepdims=True) == chances
    true = np.where(ties.sum(-1) > 1, -1, chances.argmax(-1))
    needed = threshold(alpha, len(cells), 3)
    done = Simulated(chances, needed, most, rng)
    wrong = ((done.winner >= 0) & (done.winner != true)).any(-1)
    false_claims, undecided = 0, int((done.winner < 0).sum())
    policy = Policy()

    def rules(winners, accept):
        known = {
            cell: Decision(None, abstained="other") if w == 2
            else Decision(int(w)) if w >= 0
            else Decision(None, abstained=UNDECIDED)
            for cell, w in zip(cells, winners, strict=True)
        }  # fmt: skip
        questions = Questions(Fixed(space, known), policy)
        questions.decide(cells)
        return reading(questions.knowledge, may=accept).dg_basis()

    # Where every decided cell is right, the brackets hold.
    for k in range(targets):
        background = space.background
        certain, possible = rules(done.winner[k], True), rules(done.winner[k], False)
        truth = rules(np.where(true[k] < 0, 2, true[k]), True)  # a tie claims nothing
        held = all((truth + background).entails(rule) for rule in certain) and all(
            (possible + background).entails(rule) for rule in truth
        )
        assert held or wrong[k]
        false_claims += not held
    margin = 3 * math.sqrt(alpha * (1 - alpha) / targets)
    assert wrong.sum() <= (alpha + margin) * targets
    assert false_claims <= (alpha + margin) * targets
    assert 0 < undecided < done.winner.size
    asked = done.asked.mean()
    print(f"{wrong.sum()} of {targets} runs wrong; {asked:.1f} answers a cell, {most} if fixed")
    assert asked < most


def test_a_model_that_is_right_nine_times_in_ten_takes_some_thirty_answers():
    """What docs/chat-models.md says of 660 cells, at the default level and number of repeats."""
    rng = np.random.default_rng(9)
    for outcomes, mean in ((2, 31), (3, 32)):
        chances = np.tile([0.9, 0.1, 0.0][:outcomes], (3000, 1))
        done = Simulated(chances, threshold(ALPHA, 660, outcomes), MOST, rng)
        assert (done.winner == 0).mean() > 0.995 and not (done.winner == 1).any()
        assert done.asked.mean() == pytest.approx(mean, abs=1)


# --- extraction ---


def test_certain_rules_and_possible_rules_are_those_of_the_two_readings(tmp_path):
    for seed in range(25):
        rng = Random(seed)
        chances = {f"{job} .": 0.0 for job in ()}
        space = parse_probe(PROBE).space
        chances = {
            word: rng.choice([0.02, 0.5, 0.98])
            for word in ("nurse", "engineer", "soldier", "Africa", "Europe")
        }
        found = extract(
            draws(chances, seed), parse_probe(PROBE), cache=False, repeats=Repeats(most=40)
        )
        assert found.envelope.certificate.noise is not None
        readings = {True: [], False: []}
        for cell, decision in found.decisions.items():
            for accept, accepted in readings.items():
                accepted.append(cell)
                for k in range(2):
                    if decision.winner == k or (decision.abstained == UNDECIDED and accept):
                        accepted.append(space.with_label(cell, k))
        points = list(space)
        for accept, theory in ((True, found.envelope.basis), (False, found.possible.basis)):
            assert brute.pairs(theory) == brute.dg(readings[accept], points), seed
        certain = found.envelope
        for line in possible_rules(found):
            assert line.certain == certain.entails(line.rule), seed
            for cell, _ in line.undecided:
                worst = [space.with_label(cell, k) for k in range(2)]
                assert any(not line.rule.satisfied_by(x) for x in worst)
        found.save(tmp_path)
        again = load(tmp_path)
        assert again.possible.basis == found.possible.basis
        assert again.envelope.certificate == found.envelope.certificate
        assert verify(tmp_path).ok


def test_a_rule_that_is_only_possible_is_unknown_and_one_that_is_broken_is_so():
    chances = {"nurse": 0.99, "soldier": 0.5, "engineer": 0.01}
    found = extract(draws(chances), parse_probe(PROBE), cache=False, repeats=Repeats(most=60))
    rules = [
        "nurse & male -> false",
        "soldier & male -> false",
        "engineer & male -> false",
    ]
    checked = found.check({"require": rules})
    assert [outcome.status for outcome in checked.outcomes] == ["holds", "unknown", "broken"]
    assert "Possibly" not in found.rules[0].sentence
    assert found.rules[0].sentence.startswith("In its most frequent answer to each prompt, ")


def test_settling_asks_only_what_would_settle_a_rule():
    asked = []
    rng = Random(3)

    def call(prompt, words):
        asked.append(prompt)
        chance = 0.7 if "soldier" in prompt else 0.99
        return [1.0, 0.0] if rng.random() < chance else [0.0, 1.0]

    model = FunctionModel(call, sampled=True)
    before = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=25))
    assert undecided_of(before)
    may = {pair for line in possible_rules(before) for pair in line.undecided}
    prompts = {before.show(cell)[0] for cell, _ in may}
    rng.seed(3)
    asked.clear()
    after = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(25, settle=400))
    assert len(undecided_of(after)) < len(undecided_of(before))
    further = asked[before.envelope.statistics["model_calls"] :]
    assert further and set(further) <= prompts
    assert after.envelope.certificate.noise.most >= max(map(asked.count, prompts))
    assert after.envelope.statistics["model_calls"] == len(asked)


def test_a_refusal_that_is_certified_is_decided_and_no_rejection():
    class Refusing(FunctionModel):
        def score(self, prompts, candidates):
            for index, prompt in enumerate(prompts):
                outcome = "refusal" if "nurse" in prompt else ""
                yield [(index, Answer((0.0, -1.0), outcome=outcome))]

    model = Refusing(lambda *_: (), sampled=True)
    found = extract(model, parse_probe(PROBE), cache=False, repeats="auto")
    assert {d.abstained for _, d in found.abstentions} == {"refusal"}
    assert not undecided_of(found) and not found.entails("nurse & male -> false")
    assert found.entails("engineer & male -> false")
    assert found.possible.basis == found.envelope.basis


def test_log_probabilities_decide_at_once_up_to_the_drift(tmp_path):
    rng = Random(5)

    def call(prompt, words):
        lead = 0.01 if "soldier" in prompt else 3.0
        return [lead + rng.uniform(-0.1, 0.1), 0.0]

    with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        model = FunctionModel(call, identity="x")
        found = extract(model, parse_probe(PROBE), cache=cache, repeats="auto")
        certificate = found.envelope.certificate
        assert 0 < certificate.noise.drift <= 0.2 and certificate.noise.reasked == 12
        assert (
            certificate.noise.alpha is None and "No probability is claimed" in certificate.sentence
        )
        near = {c for c, d in found.decisions.items() if d.margin <= certificate.noise.drift}
        assert {cell for cell, _ in undecided_of(found)} == near and len(near) == 3
        again = extract(model, parse_probe(PROBE), cache=cache, repeats="auto")
        assert again.record.asked == 0 and again.decisions == found.decisions
    steady = FunctionModel(lambda p, w: [1.0, 0.0] if "nurse" in p else [0.0, 1.0])
    found = extract(steady, parse_probe(PROBE), cache=False, repeats="auto")
    assert found.envelope.certificate.noise.drift == 0 and not undecided_of(found)
    assert found.entails("nurse & male -> false")
    with pytest.raises(HornlensError, match="--settle repeats samples"):
        extract(steady, parse_probe(PROBE), cache=False, repeats=Repeats(settle=5))


def test_phrasings_share_the_level_and_what_is_possible_is_told_of_each(tmp_path):
    chances = {"nurse": 0.99, "soldier": 0.5, "engineer": 0.01}
    found = extract(draws(chances), parse_probe(PHRASED), cache=False, repeats=Repeats(most=60))
    assert found.envelope.certificate.noise.prompts == 24
    assert {world.envelope.certificate.noise.prompts for world in found.worlds} == {12}
    assert found.entails("nurse & male -> false")
    assert found.possible.entails("soldier & male -> false")
    found.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    assert content["possible"]["settling"] and content["variants"][0]["possible"]["rules"]
    assert load(tmp_path).worlds[1].possible.basis == found.worlds[1].possible.basis


def test_a_result_that_claims_too_much_is_found_out(tmp_path):
    chances = {"nurse": 0.99, "soldier": 0.5, "engineer": 0.01}
    found = extract(draws(chances), parse_probe(PROBE), cache=False, repeats=Repeats(most=60))
    found.save(tmp_path)
    text = (tmp_path / "envelope.json").read_text(encoding="utf-8")

    def said(change):
        content = json.loads(text)
        change(content)
        done = verify_content(content, tmp_path)
        assert not done.ok
        return done.wrong

    decided = next(k for k, a in enumerate(json.loads(text)["answers"]) if a["winner"])
    left = next(k for k, a in enumerate(json.loads(text)["answers"]) if not a["winner"])
    assert "do not decide" in said(lambda c: c["certificate"]["noise"].update(alpha=1e-9))
    assert "are undecided" in said(lambda c: c["certificate"]["noise"].update(undecided=0))
    assert "answers" in said(lambda c: c["certificate"]["noise"].update(answers=7))
    assert "answers" in said(lambda c: c["certificate"]["noise"].update(most=3))
    assert "decide" in said(lambda c: c["answers"][left].update(repeats=[60, 0]))
    assert said(lambda c: c["answers"][decided].update(repeats=[5, 5]))
    assert said(lambda c: c["possible"]["rules"].pop())
    assert "settle" in said(lambda c: c["possible"]["settling"].pop())
    assert "break" in said(
        lambda c: next(r for r in c["possible"]["readable"] if r["undecided"])["undecided"].pop()
    )


def test_what_noise_cannot_be_brought_together_with_is_refused():

    probe = parse_probe(PROBE)
    model = draws({})
    with pytest.raises(HornlensError, match="no log-probabilities"):
        extract(model, probe, cache=False, repeats="auto", policy=Policy(margin=1.0))
    for bad in ({"most": 1}, {"most": 2.5}, {"settle": -1}, {"alpha": 2}):
        with pytest.raises(HornlensError):
            Repeats(**bad)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(max_conditions=1),
        Settings(min_support=4),
        Settings("pac", epsilon=0.2, delta=0.2),
        Settings("pac", epsilon=1e-6, delta=1e-6),  # every cell is asked before: that ends it
        Settings("pac", epsilon=0.4, delta=0.4, max_conditions=1),
        Settings("pac", epsilon=0.4, delta=0.4, min_support=2, seed=1),
        Settings(limit=5),
        Settings("budget", max_equivalence_queries=3),
        Settings(min_confidence=0.7),
    ],
    ids=lambda settings: f"{settings.equivalence}-{settings.max_conditions}-{settings.limit}",
)
def test_repeats_combine_with_every_other_setting(settings, tmp_path):
    """Each such pair was refused. Nothing is claimed that the most frequent answers break."""
    chances = {"nurse": 0.99, "soldier": 0.5, "engineer": 0.01}
    truth = {"nurse": 0, "engineer": 1}
    for limits in (None, Limits(max_questions=4), Limits(max_rules=2)):
        found = extract(
            draws(chances, 1),
            parse_probe(PROBE),
            cache=False,
            repeats=Repeats(most=40),
            settings=settings,
            limits=limits,
        )
        certificate = found.envelope.certificate
        varies = certificate.noise is not None or certificate.sift.varies
        assert varies and not certificate.meets("bounded")
        space = found.space
        for row in found.rules:
            rule = row.rule.rule(space.vocabulary)
            for cell in space.cells():
                names = space.vocabulary.names_of(cell)
                for job, label in truth.items():
                    if job in names:
                        assert rule.satisfied_by(space.with_label(cell, label)), (row, names)
        found.save(tmp_path)
        assert (done := verify(tmp_path)).ok, done.wrong


def test_samples_whose_answer_is_undecided_bear_no_epsilon():
    """Everything is a toss-up: that no sample contradicts the rules says nothing of them."""
    toss_up = extract(
        draws({}, 1),
        parse_probe(PROBE),
        cache=False,
        repeats=Repeats(most=13),
        settings=Settings("pac", epsilon=0.4, delta=0.4, seed=1),
    )
    certificate = toss_up.envelope.certificate
    assert certificate.unasked and certificate.undecided == len(toss_up.decisions)
    assert certificate.joint is None and not certificate.rules
    assert certificate.sentence.startswith(f"{certificate.unasked} of 12 cells were not asked: ")


@pytest.mark.parametrize("text", [PROBE, PHRASED], ids=["one", "phrasings"])
@pytest.mark.parametrize("calibration", ["none", "neutral"])
@pytest.mark.parametrize("repeats", [1, 2, "auto"])
@pytest.mark.parametrize("equivalence", ["auto", "pac", "budget"])
def test_no_more_prompts_are_asked_than_questions_are_allowed(
    equivalence, repeats, calibration, text, tmp_path
):
    """Neither those that measure how far scores move, nor the one that others are measured by."""
    prompts = set()

    def scores(prompt, words):
        prompts.add(prompt)
        return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]

    result = extract(
        scores,
        parse_probe(text),
        cache=False,
        repeats=repeats,
        policy=Policy(calibration=calibration),
        settings=Settings(equivalence),
        limits=Limits(max_questions=3),
    )
    assert len(prompts) == 3 and sum(len(each.decisions) for each in result.each) == 3
    result.save(tmp_path / "a")
    load(tmp_path / "a").save(tmp_path / "b")
    one, two = (tmp_path / name / "scores.csv" for name in "ab")
    assert one.read_text() == two.read_text() and len(one.read_text().splitlines()) == 4


def test_the_mean_of_all_cells_takes_all_cells():
    for limits in (Limits(max_questions=11), Limits(max_questions=12)):
        asked = []
        policy = Policy(calibration="mean")

        def run(limits=limits, asked=asked, policy=policy):
            def scores(prompt, words):
                asked.append(prompt)
                return [0.9, 0.1]

            return extract(scores, parse_probe(PROBE), cache=False, policy=policy, limits=limits)

        if limits.max_questions < 12:
            with pytest.raises(HornlensError, match="--max-questions"):
                run()
            assert not asked
        else:
            assert run().certificate.meets("exact") and len(asked) == 12


def test_what_was_decided_before_scores_moved_is_looked_at_again():
    """The first cells that are asked move by nothing, a later one by more than their leads."""
    space, times = parse_probe(PROBE).space, {}
    cells = sorted(space.cells(), key=lambda cell: "nurse" in space.vocabulary.names_of(cell))

    def scores(prompt, words):
        times[prompt] = times.get(prompt, 0) + 1
        moved = 3.0 if "nurse" in prompt and times[prompt] > 1 else 0.0
        return [math.log(0.6) + moved, math.log(0.4)]

    class OneByOne:
        def steps(self):
            for cell in cells:
                yield Cells([cell])

        def proposal(self):
            return Proposal()

    result = extract(
        scores,
        parse_probe(PROBE),
        cache=False,
        repeats="auto",
        strategy=lambda asking: OneByOne(),
    )
    assert len(result.decisions) == len(cells)
    assert all(d.abstained == UNDECIDED for d in result.decisions.values())
    assert not len(result.rules)


def test_a_rule_that_nothing_can_break_holds_in_a_phrasing_whatever_is_wanted(tmp_path):
    """One that is rarer than those that are wanted is not listed, and is not unknown."""

    def call(prompt, words):
        return [0.0, 1.0] if "nurse" in prompt and "Europe" in prompt else [1.0, 0.0]

    found = extract(
        FunctionModel(call, sampled=True),
        parse_probe(PHRASED),
        cache=False,
        repeats=Repeats(most=60),
        settings=Settings(min_support=2),
    )
    rare = NamedRule.parse("nurse & Europe & female -> false")
    assert not found.certificate.noise.undecided
    for world in found.worlds:
        assert not world.entails(rare) and world.judge(rare).truth.holds
        assert not world.judge(NamedRule.parse("nurse & female -> false")).truth.holds
    found.save(tmp_path)
    assert (done := verify(tmp_path)).ok, done.wrong


def test_what_was_not_asked_leaves_rules_possible(tmp_path, capsys):
    """None of them is certain, and nobody says that no other is possible."""
    found = extract(
        FunctionModel(lambda prompt, words: [1.0, 0.0], sampled=True),
        parse_probe(PROBE),
        cache=False,
        repeats="auto",
        limits=Limits(max_questions=3),
        settings=Settings(max_conditions=1),
    )
    claim = found.certificate.sentence
    assert "before 9 of 12 cells were asked: others may be possible" in claim
    assert "follows from the possible ones" not in claim
    assert found.possible is not None and len(found.possible.readable)
    assert not any(line.certain for line in possible_rules(found))
    found.save(tmp_path)
    lines = json.loads((tmp_path / "envelope.json").read_text())["possible"]["readable"]
    assert lines and not any(line["certain"] for line in lines)
    assert all(line["sentence"].startswith("Possibly: ") for line in lines)
    assert verify(tmp_path).ok
    show_possible(Terminal(), found)
    printed = capsys.readouterr().out
    for text in (printed, (tmp_path / "report.html").read_text("utf-8")):
        assert "Not every prompt was asked: other rules are possible." in text
        assert "no other rule is possible" not in text and "all that are possible" not in text
        assert "or obey none" not in text


def test_the_certificate_says_itself_and_is_read_back():
    for certificate in (
        despite_noise(660, 12, 15000, 0.05, 100),
        despite_noise(660, 3, 726, drift=0.02, reasked=66),
    ):
        assert certificate_from_json(certificate.as_json()) == certificate
        assert "this wording, this snapshot of the model" in certificate.sentence
    assert "With probability 0.95 or more" in despite_noise(660, 12, 15000, 0.05, 100).sentence
    for bad in ({"alpha": 2.0}, {}, {"alpha": 0.05, "drift": 0.1}, {"drift": -1.0}):
        with pytest.raises(ValueError):
            despite_noise(10, 1, 20, **bad)
    with pytest.raises(ValueError):
        despite_noise(1, 2, 3, 0.05)


def test_the_same_answers_decide_alike_whatever_the_process(tmp_path):
    """Each repeat is kept under its own number: a second run asks nothing, and finds the same."""

    def call(prompt, words):
        call.count += 1
        digest = hashlib.sha256(f"{prompt}{call.count}".encode()).digest()[0]
        return [1.0, 0.0] if digest < 200 else [0.0, 1.0]

    call.count = 0
    model = FunctionModel(call, identity="noisy", sampled=True)
    with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        one = extract(model, parse_probe(PROBE), cache=cache, repeats=Repeats(most=30))
        asked = call.count
        two = extract(model, parse_probe(PROBE), cache=cache, repeats=Repeats(most=30))
        assert call.count == asked and two.decisions == one.decisions
        # More repeats go on from there.
        three = extract(model, parse_probe(PROBE), cache=cache, repeats=Repeats(most=60))
        assert call.count > asked and three.record.reused >= one.record.asked - 1
    assert Fraction(1, 2) < Fraction(200, 256)
