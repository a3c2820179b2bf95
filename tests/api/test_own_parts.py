"""Rehearsals: a certificate, a strategy and a knowledge of one's own, through everything."""

import json
from dataclasses import replace
from random import Random

import pytest

import hornlens
from hornlens.exact.readings import reading
from hornlens.extraction.conclude import Wanted, conclude
from hornlens.learning.strategies import Cells, Everything, Proposal, Strategy
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.logic.decisions import UNDECIDED, Decision, Policy
from hornlens.logic.knowledge import Knowledge, World
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.oracles.equivalence import ExhaustiveEquivalence
from hornlens.testing.strategies import StrategyConformance
from tests import brute
from tests.command import hornlens as run_command
from tests.targets import random_space

JOB = hornlens.Nominal("job", ("nurse", "priest", "pilot"))
PLACE = hornlens.Nominal("place", ("Europe", "Asia", "Africa"))
SPACE = hornlens.Space((JOB, PLACE), hornlens.Nominal("pronoun", ("she", "he")))


def says(names):
    return "she" if "nurse" in names or {"priest", "Asia"} <= set(names) else "he"


TARGET = hornlens.FunctionTarget(says, SPACE)


# --- a certificate of one's own ---


class Audited(Certificate):
    """Half of the rules were looked at by somebody, who found nothing wrong."""

    @property
    def kind(self):
        return "audited_by_hand"

    @property
    def sentence(self):
        return "An auditor looked at half of the rules, and found none broken."


def test_a_certificate_of_ones_own_goes_through_everything(tmp_path):
    """What it claims follows from its properties: nobody has to be told of its kind."""
    result = hornlens.extract(TARGET)
    own = Audited("open", rules=len(result.rules), cells=16, unasked=0, answered=(16, 16))
    envelope = replace(result.envelope, certificate=own, own_warrants=None, levels=None)
    audited = replace(result, envelope=envelope)
    assert repr(audited).endswith("audited_by_hand>")
    assert "Audited by hand: An auditor looked at half" in audited._repr_html_()
    for level in ("exact", "bounded", "tested"):
        assert not audited.check({"at_least": level})
    rule = "nurse & he -> false"
    found = audited.check({"require": [rule], "forbid": [rule]})
    assert [outcome.passed for outcome in found.outcomes] == [False, False]
    audited.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    assert content["certificate"]["kind"] == "audited_by_hand"
    assert content["claim"] == own.sentence
    assert {line["warrant"]["kind"] for line in content["rules"]} == {"open"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Audited by hand" in page and own.sentence in page
    assert "They are not proved, and others may be missing." in page
    for false in ("Together they are complete", "every Horn rule that", "Every cell of the space"):
        assert false not in page, false
    # What such a certificate claims follows from nothing that is in the file.
    done = run_command("verify", tmp_path)
    assert (done.returncode, "Wrong: " in done.stdout) == (1, True), done.stdout
    assert 'certificate.kind: is "audited_by_hand"' in done.stdout
    shown = run_command("compare", tmp_path, tmp_path)
    # Read back, it is named by its properties.
    assert shown.returncode == 0 and "(open)" in shown.stdout
    loaded = hornlens.load(tmp_path)
    assert not loaded.envelope.certificate.meets("tested")
    assert not loaded.check({"at_least": "tested"})


# --- a strategy of one's own ---


class EverySecond:
    """Asks every second cell, in two steps, and takes one rule for true."""

    def __init__(self, asking):
        self.space, self.seen = asking.space, []

    def steps(self):
        cells = list(self.space.cells())[::2]
        half = len(cells) // 2
        for some in (cells[:half], cells[half:]):
            self.seen += yield Cells(some)

    def proposal(self):
        nurse, he = (self.space.vocabulary.mask([name]) for name in ("nurse", "he"))
        wrong = self.space.vocabulary.mask(["Asia", "she"])
        return Proposal(Theory(self.space.width, (Rule(nurse | he, -1), Rule(wrong, -1))))


class TestEverySecond(StrategyConformance):
    def make(self, asking):
        return EverySecond(asking)


class TestEverything(StrategyConformance):
    complete = True

    def make(self, asking):
        return Everything(asking.space)


def test_a_strategy_of_ones_own_chooses_what_is_asked_and_claims_nothing_false(tmp_path):
    made = []

    def make(asking):
        made.append(EverySecond(asking))
        return made[-1]

    assert isinstance(EverySecond(hornlens.extract(TARGET)), Strategy)
    result = hornlens.extract(TARGET, strategy=make)
    cells = list(SPACE.cells())
    assert set(result.decisions) == set(cells[::2]) and len(made[0].seen) == len(cells[::2])
    certificate = result.envelope.certificate
    assert (certificate.unasked, certificate.cells) == (len(cells) - len(cells[::2]), len(cells))
    assert not certificate.settled and not certificate.meets("bounded")
    whole = hornlens.extract(TARGET)
    assert all(whole.entails(row.rule) for row in result.rules if row.warrant.proved)
    # Of what it takes for true, what an answer breaks is dropped, and the rest is open.
    texts = [SPACE.show(rule) for rule in result.envelope.open]
    assert texts == ["nurse ∧ he → ⊥"] or result.entails("nurse & he -> false")
    assert "Asia ∧ she → ⊥" not in texts
    result.save(tmp_path)
    assert (done := hornlens.verify(tmp_path)).ok, done.wrong
    limited = hornlens.extract(TARGET, strategy=make, limits=hornlens.Limits(max_questions=2))
    assert limited.envelope.certificate.stopped == "max_questions" and len(limited.decisions) == 2


# --- concluding is a pure function of knowledge ---


def random_knowledge(rng):
    """Worlds in which some cells were decided, some not, and some not asked."""
    space = random_space(rng)
    labels = 2 if space.label is None else len(space.label.variables)
    worlds, cells = [], list(space.cells())
    for name in range(rng.choice([1, 1, 2])):
        policy = Policy(
            label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
        )
        asked = [cell for cell in cells if rng.random() < rng.choice([0.5, 0.9, 1.0])]
        decisions = {}
        for cell in asked:
            kind = rng.random()
            if kind < 0.1:
                decisions[cell] = Decision(None, abstained="refusal")
            elif kind < 0.2:
                decisions[cell] = Decision(None, abstained=UNDECIDED)
            else:
                decisions[cell] = Decision(rng.randrange(labels))
        worlds.append(World(policy, decisions, f"w{name}"))
    return Knowledge(space, tuple(worlds)), cells


def accepted_by_hand(knowledge, cells, may):
    """What is accepted, or may be, worked out cell by cell."""
    space, found = knowledge.space, set()
    labels = [None] if space.label is None else [-1, *range(len(space.label.variables))]
    for cell in cells:
        for label in labels:
            for policy, decisions, _ in knowledge.worlds:
                decision = decisions.get(cell)
                if label == -1:
                    yes = policy.label_unset == "accept"
                elif decision is None or decision.abstained == UNDECIDED:
                    yes = may
                elif decision.winner is None:
                    yes = policy.abstain == "accept"
                else:
                    yes = decision.winner == (1 if label is None else label)
                if yes:
                    bare = label is None or label < 0
                    found.add(cell if bare else space.with_label(cell, label))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_certain_and_possible_rules_are_the_two_readings_of_what_is_known(seed):
    rng = Random(f"knowledge {seed}")
    knowledge, cells = random_knowledge(rng)
    space = knowledge.space
    points = list(space)
    may, known = (accepted_by_hand(knowledge, cells, each) for each in (True, False))
    case = f"seed {seed}: {space}, {knowledge.worlds}"
    for accepted, flag in ((may, True), (known, False)):
        theory = reading(knowledge, may=flag).dg_basis()
        assert brute.pairs(theory) == brute.dg(sorted(accepted), points), case
    first, second = (conclude(knowledge, Wanted()).envelope for _ in range(2))
    assert first == second, case
    for rule in first.basis:
        assert all(rule.satisfied_by(x) for x in may), (case, rule)
    certificate = first.certificate
    assert (certificate.unasked == 0) == (knowledge.unasked == 0), case
    if knowledge.unasked:
        assert not certificate.complete and not certificate.meets("bounded"), case
        # Whatever is certain and speaks of several cells is there.
        for left, right in brute.dg(sorted(may), points):
            rule = Rule(left, -1 if right is None else right)
            above = [c for c in cells if left & ~space.label_mask & ~c == 0]
            if len(above) > 1:
                assert (first.basis + space.background).entails(rule), (case, space.show(rule))
    elif any(d.answered for w in knowledge.worlds for d in w.decisions.values()):
        assert certificate == EXACT and brute.pairs(first.basis) == brute.dg(sorted(may), points)
    else:
        assert certificate.kind == "unanswered", case


@pytest.mark.parametrize("seed", range(60))
def test_what_a_rule_counts_is_what_is_known_of_its_cells(seed):
    rng = Random(f"counts {seed}")
    knowledge, cells = random_knowledge(rng)
    space = knowledge.space
    names = space.vocabulary.names
    for _ in range(10):
        left = space.vocabulary.mask([n for n in names if rng.random() < 0.25])
        rule = Rule(left, -1)
        if space.assumed or space.background.closure(left) == -1:
            continue
        counted = knowledge.count(rule)
        about = [c for c in cells if left & ~space.label_mask & ~c == 0]
        assert sum(counted) == len(about) * len(knowledge.worlds), (seed, rule)
        asked = [(w, c) for w in knowledge.worlds for c in about if c in w.decisions]
        assert counted.unasked == len(about) * len(knowledge.worlds) - len(asked)
        silent = sum(w.decisions[c].abstained == "refusal" for w, c in asked)
        undecided = sum(w.decisions[c].abstained == UNDECIDED for w, c in asked)
        assert (counted.silent, counted.undecided) == (silent, undecided)


# --- an oracle of one's own ---


def test_what_an_oracle_looked_at_was_not_asked():
    """It knows all rules without asking: no gate takes a cell that was not asked for an answer."""
    every = dict(zip(SPACE.cells(), TARGET.decide(list(SPACE.cells())), strict=True))
    grid = reading(Knowledge(SPACE, (World(Policy(), every),)))
    result = hornlens.extract(
        TARGET,
        equivalence=lambda asking: ExhaustiveEquivalence(grid),
        settings=hornlens.Settings(equivalence="pac"),
    )
    assert result.certificate.meets("exact") and 0 < len(result.decisions) < SPACE.cell_count
    for cell in SPACE.cells():
        for label in (0, 1):
            left = SPACE.with_label(cell, label)
            rule = hornlens.NamedRule.of(Rule(left, -1), SPACE.vocabulary)
            above = (d.winner for c, d in every.items() if not cell & ~c)
            holds = label not in above
            assert result.judge(rule).truth.holds == holds
            assert bool(result.check({"require": [str(rule)], "answered": "0%"})) == holds
    assert not result.check({"invariant": ["place"]})
    assert not result.flips("place").proved
