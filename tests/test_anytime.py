"""Ended at any step, every engine says what is true; let go on, it ends as if nothing had been."""

from itertools import combinations, count
from random import Random

import pytest

from hornlens.errors import HornlensError
from hornlens.exact import bounded, envelopes, grid, saturation, short
from hornlens.exact.bounded import bounded_envelope_of_formula, bounded_envelope_of_table
from hornlens.exact.engine import run
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.exact.grid import GridEngine, LabelledSpace
from hornlens.exact.implicates import ImplicateSearch
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource, TableSource
from hornlens.limits import Limits, Stopped
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, mask_of
from hornlens.logic.certificates import EXACT, Interrupted, certificate_from_json
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.targets import KINDS, random_formula, random_space, random_theory


class StopAt(Limits):
    """Ends a run when it is looked at for the n-th time."""

    def __init__(self, looks: int, **limits):
        super().__init__(**limits)
        self.looks = looks

    def reached(self, rules: int = 0):
        self.looks -= 1
        if self.looks <= 0:
            self.interrupt()
        return super().reached(rules)


def at_every_step(begin, positives, background, case):
    """Run an engine to its end, and again and again to each of its steps; return the basis."""
    whole = run(begin())
    assert whole.certificate == EXACT
    for steps in count(1):
        found = run(begin(), StopAt(steps))
        for rule in found.basis:
            assert all(rule.satisfied_by(x) for x in positives), (case, steps, rule)
        assert found.basis == dg_basis(found.basis, background), (case, steps)
        assert (whole.basis + background).entails(found.basis), (case, steps)
        if found.ended is None:
            assert found == whole
            break
        assert found.certificate == Interrupted("interrupt", len(found.basis)), (case, steps)
    if whole.basis.rules:
        most = len(whole.basis) - 1
        fewer = run(begin(), Limits(max_rules=most)) if most else None
        assert fewer is None or (fewer.ended, len(fewer.basis)) == ("max_rules", most), case
    assert run(begin(), Limits(max_rules=len(whole.basis) + 1)) == whole, case
    return whole.basis


def hold_to_it(envelope, positives, case):
    """Check that all rules hold, and that the readable ones say the same."""
    for rule in (*envelope.basis, *envelope.readable):
        assert all(rule.satisfied_by(x) for x in positives), (case, rule)
    assert envelope.basis == dg_basis(envelope.basis), case
    assert envelope.readable.entails(envelope.basis), case
    assert envelope.basis.entails(envelope.readable), case


@pytest.mark.parametrize("kind", KINDS)
def test_engines_of_formulas(kind, monkeypatch):
    monkeypatch.setattr(saturation, "TOGETHER", 3)
    for seed in range(12):
        formula, clauses = random_formula(seed, kind, widths=(2, 6))
        rng = Random(seed)
        granted = random_theory(rng, formula.width, rng.choice([0, 0, 1, 2]))
        inside = [x for x in range(1 << formula.width) if granted.satisfied_by(x)]
        positives = [x for x in brute.positives_of(clauses, formula.width) if x in set(inside)]
        wanted = brute.dg(positives, inside)
        engines = [
            lambda f=formula, g=granted: ImplicateSearch(f, g),
            lambda f=formula, g=granted: EnvelopeSearch(FormulaSource(f, g), g),
        ]
        for begin in engines:
            basis = at_every_step(begin, positives, granted, (seed, kind, clauses, granted))
            assert brute.pairs(basis) == wanted


@pytest.mark.parametrize("seed", range(12))
def test_engines_of_tables_and_grids(seed, monkeypatch):
    monkeypatch.setattr(grid, "TOGETHER", 2)
    rng = Random(seed)
    for round in range(8):
        space = random_space(rng)
        if space.count > 300:
            continue
        accepted = [x for x in space if rng.random() < rng.choice([0.2, 0.7, 0.9])]
        labelled = LabelledSpace.of(space, set(accepted).__contains__)
        case = (seed, round)
        at_every_step(lambda each=labelled: GridEngine(each), accepted, space.background, case)
        width = rng.randint(1, 6)
        rows = [rng.getrandbits(width) for _ in range(rng.randint(0, 12))]
        plain = Space.of_variables(Vocabulary(tuple(f"v{i}" for i in range(width))))
        at_every_step(
            lambda r=rows, w=width: EnvelopeSearch(TableSource(r, w)),
            rows,
            plain.background,
            (*case, rows),
        )


@pytest.mark.parametrize("limit", [0, envelopes.GRID_LIMIT])
def test_envelopes_ended_early_hold_and_say_what_they_are(limit, monkeypatch):
    monkeypatch.setattr(envelopes, "GRID_LIMIT", limit)
    for seed in range(30):
        formula, clauses = random_formula(seed, KINDS[seed % len(KINDS)], widths=(3, 6))
        positives = brute.positives_of(clauses, formula.width)
        rows = tuple(positives) + tuple(positives[:1])
        table = Table(formula.vocabulary, rows)
        for of, target in ((envelope_of_formula, formula), (envelope_of_table, table)):
            whole = of(target)
            for steps in (1, 2, 3, 5, 9, 15, 25):
                found = of(target, limits=StopAt(steps))
                if found.certificate == EXACT:
                    assert found == whole
                    continue
                claim = found.certificate
                assert claim == Interrupted("interrupt", len(found.basis)), (seed, steps)
                assert found.non_horn.count is None and not found.non_horn.examples
                hold_to_it(found, positives, (seed, steps))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("limit", [0, envelopes.GRID_LIMIT])
def test_short_rules_ended_early_are_complete_as_far_as_they_say(seed, limit, monkeypatch):
    monkeypatch.setattr(bounded, "GRID_LIMIT", limit)
    monkeypatch.setattr(short, "TOGETHER", 4)
    monkeypatch.setattr(saturation, "TOGETHER", 2)
    rng = Random(seed)
    formula, clauses = random_formula(seed, KINDS[seed % len(KINDS)], widths=(3, 6))
    positives = brute.positives_of(clauses, formula.width)
    table = Table(formula.vocabulary, tuple(positives))
    monkeypatch.setattr(bounded, "FIRST", rng.choice([3, 2_000]))
    for of, target in ((bounded_envelope_of_formula, formula), (bounded_envelope_of_table, table)):
        whole = of(target, 3)
        for steps in count(1):
            found = of(target, 3, limits=StopAt(steps))
            if found.certificate == whole.certificate:
                assert found == whole
                break
            claim = found.certificate
            most = claim.max_conditions
            assert claim == Interrupted("interrupt", len(found.basis), max_conditions=most)
            hold_to_it(found, positives, (seed, steps))
            for size in range(0 if most is None else most + 1):
                for chosen in combinations(range(formula.width), size):
                    x = mask_of(chosen)
                    closed = brute.closure(positives, x)
                    rule = Rule(x, BOTTOM if closed is None else closed)
                    assert found.basis.entails(rule), (seed, steps, rule)
        for rules in range(1, len(whole.basis)):
            found = of(target, 3, limits=Limits(max_rules=rules))
            assert found.certificate == Interrupted("max_rules", rules), (seed, rules)
            hold_to_it(found, positives, (seed, rules))


def test_limits_are_reached_in_the_order_of_what_happens():
    now = [0.0]
    limits = Limits(time_limit=2, max_rules=3, clock=lambda: now[0])
    assert not limits.begun and limits.reached(3) is None and limits.begun
    now[0] = 1.9
    assert limits.reached(3) is None
    assert limits.reached(4) == "max_rules" == limits.reason
    limits = Limits(time_limit=2, clock=lambda: now[0])
    now[0] = 100.0
    assert limits.reached() is None  # the clock starts with the first look
    now[0] = 102.0
    with pytest.raises(Stopped, match="time_limit"):
        limits.check()
    limits = Limits()
    limits.interrupt()
    assert limits.reached(10**9) == "interrupt"


@pytest.mark.parametrize("bad", [{"time_limit": 0}, {"time_limit": float("inf")}, {"max_rules": 0}])
def test_limits_that_make_no_sense_are_refused(bad):
    with pytest.raises(HornlensError, match="must be"):
        Limits(**bad)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            Interrupted("time_limit", 3),
            "The run was ended by its time limit: these rules hold; there may be more.",
        ),
        (Interrupted("interrupt", 0), "The run was ended by hand: no rule is proved yet."),
        (
            Interrupted("max_rules", 3),
            "The run was ended by the limit on rules: these rules hold; there are more.",
        ),
        (
            Interrupted("time_limit", 3, 2, 660, 20),
            "The run was ended by its time limit, before 20 of 660 cells were asked: these rules "
            "hold whatever the answers would be; there may be more; the hypotheses are not proved.",
        ),
        (
            Interrupted("time_limit", 3, max_conditions=1),
            "The run was ended by its time limit: these rules hold; there may be more, but none "
            "with at most 1 condition.",
        ),
    ],
)
def test_the_certificate_says_itself_and_is_read_back(claim, sentence):
    assert claim.sentence == sentence and claim.proved and not claim.complete
    assert certificate_from_json(claim.as_json()) == claim
    with pytest.raises(HornlensError, match="reason must be one of"):
        certificate_from_json({**claim.as_json(), "reason": "boredom"})
