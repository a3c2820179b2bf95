"""Ended at any step, every engine says what is true; let go on, it ends as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import combinations, count
from random import Random

import pytest
from pysat.solvers import Solver

import hornlens
from hornlens import Policy, Settings, load, verify
from hornlens.api import extract
from hornlens.errors import HornlensError
from hornlens.exact import bounded, envelopes, grid, saturation, short
from hornlens.exact.bounded import bounded_envelope_of_formula, bounded_envelope_of_table
from hornlens.exact.engine import Step, run
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.exact.grid import GridEngine, LabelledSpace
from hornlens.exact.implicates import ImplicateSearch
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource
from hornlens.extraction.formulas import LearnSettings, learn
from hornlens.formats.certificates import certificate_from_json
from hornlens.limits import ENDING, Limits, Stopped
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, mask_of
from hornlens.logic.certificates import EXACT, ended_early
from hornlens.logic.decisions import YES, Decision, accepts
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.command import hornlens as run_command
from tests.table_source import TableSource
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
        assert found.certificate == ended_early("interrupt", len(found.basis)), (case, steps)
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
        assumed = random_theory(rng, formula.width, rng.choice([0, 0, 1, 2]))
        inside = [x for x in range(1 << formula.width) if assumed.satisfied_by(x)]
        positives = [x for x in brute.positives_of(clauses, formula.width) if x in set(inside)]
        wanted = brute.dg(positives, inside)
        engines = [
            lambda f=formula, g=assumed: ImplicateSearch(f, g),
            lambda f=formula, g=assumed: EnvelopeSearch(FormulaSource(f, g), g),
        ]
        for begin in engines:
            basis = at_every_step(begin, positives, assumed, (seed, kind, clauses, assumed))
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
                assert claim == ended_early("interrupt", len(found.basis)), (seed, steps)
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
            most = claim.complete.max_conditions
            assert claim == ended_early("interrupt", len(found.basis), max_conditions=most)
            hold_to_it(found, positives, (seed, steps))
            for size in range(0 if most is None else most + 1):
                for chosen in combinations(range(formula.width), size):
                    x = mask_of(chosen)
                    closed = brute.closure(positives, x)
                    rule = Rule(x, BOTTOM if closed is None else closed)
                    assert found.basis.entails(rule), (seed, steps, rule)
        for rules in range(1, len(whole.basis)):
            found = of(target, 3, limits=Limits(max_rules=rules))
            assert found.certificate == ended_early("max_rules", rules), (seed, rules)
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
            ended_early("time_limit", 3),
            "The run was ended by its time limit: these rules hold; there may be more.",
        ),
        (ended_early("interrupt", 0), "The run was ended by hand: no rule is proved yet."),
        (
            ended_early("max_rules", 3),
            "The run was ended by the limit on rules: these rules hold; there are more.",
        ),
        (
            ended_early("time_limit", 3, 2, 660, 20),
            "The run was ended by its time limit, before 20 of 660 cells were asked: these rules "
            "hold whatever the answers would be; there may be more; the open rules are not proved.",
        ),
        (
            ended_early("time_limit", 3, max_conditions=1),
            "The run was ended by its time limit: these rules hold; there may be more, but none "
            "with at most 1 condition.",
        ),
    ],
)
def test_the_certificate_says_itself_and_is_read_back(claim, sentence):
    assert claim.sentence == sentence and claim.proved and not claim.settled
    assert certificate_from_json(claim.as_json()) == claim
    with pytest.raises(HornlensError, match="reason must be one of"):
        certificate_from_json({**claim.as_json(), "ended": {"reason": "boredom"}})


def random_target(rng):
    """A target with labels or without, that abstains at times, and what it decides of each cell."""
    while True:
        space = random_space(rng)
        if space.cell_count <= 60:
            break
    labels = 2 if space.label is None else len(space.label.variables)
    choices = [None, *range(labels), *range(labels)]
    said = {cell: Decision(rng.choice(choices)) for cell in space.cells()}
    said = {
        cell: d if d.winner is not None else Decision(None, abstained="none")
        for cell, d in said.items()
    }
    return Decided(space, said)


class Decided:
    """A target that looks its answers up."""

    name = "decided"

    def __init__(self, space, said):
        self.space, self.said = space, said

    def identity(self):
        return None

    def decide(self, cells):
        return [self.said[cell] for cell in cells]

    def show(self, cell):
        return (str(cell),)


def may_be_accepted(target, policy, known):
    """Every interpretation that is accepted in some completion of what is known."""
    space = target.space
    labels = [YES] if space.label is None else [-1, *range(len(space.label.variables))]
    found = []
    for cell in space.cells():
        winners = [target.said[cell].place] if cell in known else [-1, *range(max(2, len(labels)))]
        for label in labels:
            x = cell if label < 0 or space.label is None else space.with_label(cell, label)
            anything = cell not in known and label >= 0
            if anything or any(accepts(policy, winner, label) for winner in winners):
                found.append(x)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_extractions_ended_at_any_step_claim_what_is_certain_and_all_of_it(seed):
    rng = Random(seed)
    target = random_target(rng)
    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
    )
    whole = extract(target, policy=policy)
    for steps in count(1):
        found = extract(target, policy=policy, limits=StopAt(steps))
        if found.envelope.certificate == EXACT:
            assert found.envelope == whole.envelope
            break
        space, claim, case = target.space, found.envelope.certificate, (seed, steps)
        possible = may_be_accepted(target, policy, set(found.decisions))
        if claim.unasked:
            assert claim.unasked == sum(c not in found.decisions for c in space.cells()), case
            cells = list(space.cells())

            def speaks_of(left, cells=cells, space=space):
                return sum(left & ~space.label_mask & ~cell == 0 for cell in cells)

            certain = brute.dg(possible, list(space))
            # A rule that speaks of one cell repeats an answer: those are counted, and not listed.
            wanted = {pair for pair in certain if space.assumed or speaks_of(pair[0]) > 1}
            assert brute.pairs(found.envelope.basis) == wanted, case
            singles = found.envelope.statistics.get("single_cells", 0)
            assert singles == len(certain) - len(wanted), case
        for rule in (*found.envelope.basis, *found.envelope.readable):
            assert all(rule.satisfied_by(x) for x in possible), (case, rule)
        assert (whole.envelope.basis + space.background).entails(found.envelope.basis), case


@pytest.mark.parametrize("seed", range(8))
def test_learners_ended_at_any_step_prove_some_and_hold_nothing_that_is_broken(seed, tmp_path):
    rng = Random(seed)
    target = random_target(rng)
    policy = Policy(label_unset=rng.choice(["accept", "reject"]))
    settings = Settings("pac", epsilon=0.3, delta=0.3)
    whole = extract(target, policy=policy, settings=settings)
    steps = 0
    while True:
        steps += rng.randint(1, 9)
        found = extract(target, policy=policy, settings=settings, limits=StopAt(steps))
        envelope = found.envelope
        if envelope.certificate.ended is None:
            # A run that asked every cell keeps no hypothesis, wherever it was ended.
            assert replace(envelope, hypothesis=None) == replace(whole.envelope, hypothesis=None)
            break
        case = (seed, steps)
        possible = may_be_accepted(target, policy, set(found.decisions))
        for rule in (*envelope.basis, *envelope.readable):
            assert all(rule.satisfied_by(x) for x in possible), (case, rule)
        for rule in envelope.open:
            assert not found.breaking(rule), (case, rule)
            assert not (envelope.basis + envelope.background).entails(rule), (case, rule)
        assert envelope.certificate.open == len(envelope.open)
        if steps % 4 == 0:
            found.save(tmp_path)
            verified = verify(tmp_path)
            assert verified.ok, (case, verified.wrong)
            assert load(tmp_path).envelope.open == envelope.open


@pytest.mark.parametrize("algorithm", ["envelope", "horn1"])
@pytest.mark.parametrize("equivalence", ["exact", "pac"])
def test_learning_from_a_formula_can_be_ended_at_any_step(algorithm, equivalence):
    for seed in range(6):
        kind = "horn" if algorithm == "horn1" else KINDS[seed % len(KINDS)]
        formula, clauses = random_formula(seed, kind, widths=(2, 5))
        positives = brute.positives_of(clauses, formula.width)
        settings = LearnSettings(algorithm, equivalence=equivalence, epsilon=0.3, delta=0.3)
        whole = learn(formula, settings)
        for steps in count(1):
            found = learn(formula, settings, limits=StopAt(steps))
            if found.run.certificate.ended is None:
                assert found.envelope == whole.envelope
                break
            hold_to_it(found.envelope, positives, (seed, steps))
            assert found.run.certificate == found.envelope.certificate


def test_a_prompted_model_ended_early_goes_on_from_its_answers(tmp_path):
    cache = tmp_path / "answers.sqlite"
    whole = hornlens.extract(cache=False)
    asked = []
    for _ in range(9):
        found = hornlens.extract(cache=cache, limits=StopAt(3))
        asked.append(len(found.decisions))
        if found.envelope.certificate == EXACT:
            break
        assert (whole.envelope.basis + whole.space.background).entails(found.envelope.basis)
        found.save(tmp_path / "out")
        verified = verify(tmp_path / "out")
        assert verified.ok, verified.wrong
    again = hornlens.extract(cache=cache)
    assert again.record.reused >= asked[-1] > 0
    again.save(tmp_path / "again")
    whole.save(tmp_path / "whole")
    for name in ("envelope.json", "rules.csv", "scores.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_changed_result_that_was_ended_early_is_refused(tmp_path):
    found = hornlens.extract(cache=False, limits=StopAt(4))
    found.save(tmp_path)
    path = tmp_path / "envelope.json"
    content = json.loads(path.read_text())
    content["rules"].append({"if": [content["variables"][0]], "then": None})
    content["readable"].append({**content["readable"][0], **content["rules"][-1]})
    content["certificate"]["rules"] += 1
    path.write_text(json.dumps(content))
    assert not verify(tmp_path).ok


def test_the_command_line_ends_early_with_files_and_exit_codes(tmp_path):
    def run_it(*arguments):
        return run_command(*arguments, cwd=tmp_path)

    done = run_it("extract", "--no-cache", "--max-rules", 5, "--out", "some")
    assert done.returncode == 0 and "5 rules; interrupted: the run was ended" in done.stdout
    claim = json.loads((tmp_path / "some/envelope.json").read_text())["certificate"]
    assert claim["kind"] == "interrupted" and claim["ended"] == {"reason": "max_rules"}
    assert claim["rules"] == 5 and claim["answered"] == [660, 660]
    assert run_it("verify", "some").returncode == 0
    (tmp_path / "slow.py").write_text(
        "import os, signal, sys\n"
        "from hornlens.models.demo import DemoModel\n"
        "score, batches = DemoModel.score, []\n"
        "def slow(self, prompts, candidates):\n"
        "    for batch in score(self, prompts, candidates):\n"
        "        batches.append(batch)\n"
        "        if len(batches) == 3: os.kill(os.getpid(), signal.SIGINT)\n"
        "        yield batch\n"
        "DemoModel.score = slow\n"
        "from hornlens.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "slow.py", "extract", "-q", "--cache", "a.sqlite", "--out", "cut"]
    cut = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert cut.returncode == 130, cut.stderr
    assert cut.stderr == ENDING.decode() + "hornlens: interrupted\n"
    content = json.loads((tmp_path / "cut/envelope.json").read_text())
    assert content["certificate"]["ended"]["reason"] == "interrupt" and content["rules"]
    assert 0 < content["certificate"]["unasked"] < 660
    assert run_it("verify", "cut").returncode == 0
    run_it("extract", "--cache", "a.sqlite", "--out", "cut")
    run_it("extract", "--no-cache", "--out", "whole")
    pair = [(tmp_path / name / "envelope.json").read_bytes() for name in ("cut", "whole")]
    assert pair[0] == pair[1]
    (tmp_path / "f.cnf").write_text("p cnf 3 2\n-1 2 0\n-2 3 0\n")
    done = run_it("learn", "f.cnf", "--max-rules", 1, "--format", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["certificate"]["kind"] == "interrupted"
    for bad in (["--time-limit", "0"], ["--max-rules", "0"], ["--time-limit", "nan"]):
        refused = run_it("envelope", "f.cnf", *bad)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["envelope", "learn"])
def test_an_interrupted_formula_ends_with_what_is_proved(tmp_path, command):
    rng = Random("interrupted formula")
    clauses = [[v * rng.choice((1, -1)) for v in rng.sample(range(1, 61), 3)] for _ in range(120)]
    clauses += [[-60, 1], [-60, -2]]  # a Horn part: what it says is told first
    lines = ["p cnf 60 122", *(" ".join(map(str, [*clause, 0])) for clause in clauses)]
    (tmp_path / "hard.cnf").write_text("\n".join(lines) + "\n")
    read, write = os.pipe()
    tells = (
        "import os, sys; from hornlens.limits import Limits; from hornlens.__main__ import main\n"
        "number, begin = int(sys.argv.pop(1)), Limits.begin\n"
        "def tell(self):\n    self.begun or os.write(number, b'.')\n    begin(self)\n"
        "Limits.begin = tell\nmain()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", tells, str(write), command, "hard.cnf", "--format", "json", "-q"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[write],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(write)
    assert os.read(read, 1) == b"."  # the run has begun
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    os.close(read)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors == ENDING.decode() + "hornlens: interrupted\n"
    content = json.loads(said)
    assert content["certificate"]["kind"] == "interrupted"
    assert content["certificate"]["ended"]["reason"] == "interrupt"
    with Solver("minisat22", bootstrap_with=clauses) as solver:
        for rule in content["rules"]:
            left = [int(name[1:]) for name in rule["if"]]
            for head in [None] if rule["then"] is None else rule["then"]:
                more = [] if head is None else [-int(head[1:])]
                assert not solver.solve(assumptions=[*left, *more]), rule
    if command == "envelope":
        assert content["rules"]


def test_a_ctrl_c_that_a_solver_tells_is_one():
    """Its code catches the signal itself; here it comes for sure while one is at work."""
    from hornlens.limits import ended_by_ctrl_c, is_ctrl_c

    pigeons = [[20 * p + h + 1 for h in range(11)] for p in range(12)]
    pigeons += [
        [-(20 * p + h + 1), -(20 * q + h + 1)]
        for h in range(11)
        for p, q in combinations(range(12), 2)
    ]  # no solver is through with that soon

    class Hard:
        width = 1
        told: BaseException | None = None

        def steps(self):
            yield Step([Rule(0, 1)])
            with Solver("minisat22", bootstrap_with=pigeons) as solver:
                # By another process: while it is at work, it lets no thread of ours go on.
                subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
                try:
                    solver.solve()
                except BaseException as error:
                    self.told = error
                    raise

        def proved(self):
            return [Rule(0, 1)]

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        limits, engine = Limits(), Hard()
        with ended_by_ctrl_c(limits):
            found = run(engine, limits)
        assert engine.told is not None and is_ctrl_c(engine.told)
        assert (found.ended, len(found.basis)) == ("interrupt", 1)
        limits = Limits()
        limits.begin()
        with ended_by_ctrl_c(limits):
            assert limits.caught(engine.told)
        assert limits.reason == "interrupt"  # or else the exit code would be 0
        # Again, and nobody said that it ends the run with what it has.
        with pytest.raises(Exception, match="keyboard interrupt"):
            run(Hard(), Limits())
        with pytest.raises(KeyboardInterrupt):  # and after that Python hears it
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)
