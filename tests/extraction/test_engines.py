"""Targets that can be looked into: what their engines work out is what asking them finds."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

import hornlens
from hornlens import FormulaTarget, FunctionTarget, Limits, Settings, Space, TableTarget
from hornlens.errors import HornlensError, InputError
from hornlens.exact.engine import Step
from hornlens.formats.anytables import open_table
from hornlens.formats.dimacs import read_dimacs
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.events import Ended, RuleAdded
from hornlens.learning.strategies import Everything
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.rule import Rule
from hornlens.logic.scopes import ROWS
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.equivalence import ExhaustiveEquivalence
from hornlens.targets.protocol import LooksInside, Target
from hornlens.targets.worlds import Worlds
from hornlens.testing.targets import TargetConformance
from tests import brute
from tests.command import hornlens as command
from tests.exact.test_tables import random_background, random_rows
from tests.targets import KINDS, random_formula, random_theory
from tools.golden.doors import BlackBox

EXAMPLES = Path(__file__).parents[2] / "examples"
ANIMALS = EXAMPLES / "animals.csv"
LEFT_OUT = ("model", "table", "digest")
"""What may differ between results that have the same rules."""


def chain(width):
    """Each variable implies the next one; the first cannot be, as it excludes the last."""
    clauses = [[-i, i + 1] for i in range(1, width)]
    return Cnf(Vocabulary.numbered(width), tuple(map(clause_of, [*clauses, [-1, -width]])))


def scaled_file(folder, rng):
    lines = ["colour,age,says", "red,,yes"]
    for _ in range(rng.randint(0, 7)):
        age = rng.choice(["", rng.randint(10, 70)])
        lines.append(f"{rng.choice(['red', 'blue'])},{age},{rng.choice(['yes', 'no', ''])}")
    path = folder / "scaled.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


# --- what engines find ---


def test_a_formula_of_100_variables_is_exact():
    result = hornlens.extract(FormulaTarget(chain(100)))
    assert result.envelope.certificate.meets("exact")
    assert len(result.rules) == 99 and result.entails("x2 -> x100") and result.entails("x1 -> ⊥")
    assert not result.asked and not result.decisions and result.record.asked == 0


@pytest.mark.parametrize("width", [14_000, 14_001, 20_000])
def test_wide_formulas_and_tables_have_an_identity(width):
    """Python refuses to write larger numbers in decimals."""
    names = Vocabulary.numbered(width)
    formulas = [Cnf(names, (clause_of([-i, width]),)) for i in (1, 2)]
    tables = [Table(names, (1 << (width - 1), row)) for row in (1, 2)]
    made = [*map(FormulaTarget, formulas), *map(TableTarget, tables)]
    assert len({target.identity() for target in made}) == 4
    result = hornlens.envelope(tables[0])
    assert result.identity == made[2].identity() and result.certificate.meets("exact")


@pytest.mark.parametrize("seed", range(40))
def test_the_engine_of_a_formula_finds_what_asking_it_finds(seed):
    formula, clauses = random_formula(seed, KINDS[seed % len(KINDS)])
    theory = random_theory(Random(seed), formula.width, seed % 3)
    settings = Settings(max_conditions=seed % 4 or None)
    target = FormulaTarget(formula, background=theory)
    inside, asked = (hornlens.extract(t, settings=settings) for t in (target, BlackBox(target)))
    assert (inside.asked, asked.asked) == (False, True)
    assert inside.envelope.basis == asked.envelope.basis
    assert inside.envelope.readable == asked.envelope.readable
    assert inside.envelope.certificate == asked.envelope.certificate
    assert inside.envelope.non_horn.count == asked.envelope.non_horn.count
    if settings.max_conditions is None:
        domain = [x for x in range(1 << formula.width) if theory.satisfied_by(x)]
        models = [x for x in brute.positives_of(clauses, formula.width) if x in domain]
        assert brute.pairs(inside.envelope.basis) == brute.dg(models, domain)


@pytest.mark.parametrize("seed", range(30))
def test_the_engine_of_a_table_finds_what_asking_it_finds(seed):
    rng = Random(seed)
    width = rng.randint(1, 6)
    rows = random_rows(rng, width)
    theory = random_background(rng, rows, width)
    target = TableTarget(Table(Vocabulary.numbered(width), tuple(rows)), background=theory)
    inside, asked = hornlens.extract(target), hornlens.extract(BlackBox(target))
    assert not inside.asked and inside.envelope.basis == asked.envelope.basis
    assert inside.envelope.certificate.scope == ROWS
    support = [
        sum(rule.antecedent & ~row == 0 for row in rows) for rule in inside.envelope.readable
    ]
    assert list(inside.envelope.support) == support
    assert [row.support for row in inside.rules] == sorted(support, reverse=True)


@pytest.mark.parametrize("seed", range(15))
def test_a_table_of_values_is_a_target_over_its_own_space(seed, tmp_path):
    """Its label is an attribute like others: rows of equal values may have different ones."""
    opened = open_table(scaled_file(tmp_path, Random(seed)), ["age=interval:30,60"], "says")
    target = TableTarget(opened.table, columns=opened.space, notes=opened.said)
    assert opened.space.label is not None and target.space.label is None
    assert target.space.vocabulary == opened.table.vocabulary
    inside, asked = hornlens.extract(target), hornlens.extract(BlackBox(target))
    assert inside.envelope.basis == asked.envelope.basis
    assert inside.space == target.space and not any(inside.vacuous)


@pytest.mark.parametrize("seed", range(24))
def test_gates_pass_only_what_is_so_of_what_nobody_was_asked(seed):
    """Short rules that are complete say nothing of longer ones: those are not known."""
    rng = Random(seed)
    width = rng.randint(3, 4)
    names = Vocabulary.numbered(width)
    rows = random_rows(rng, width)
    clauses = [[-(i + 1) if x >> i & 1 else i + 1 for i in range(width)] for x in range(1 << width)]
    formula = Cnf(names, tuple(clause_of(c) for x, c in enumerate(clauses) if x not in rows))
    for source in (Table(names, tuple(rows)), formula):
        for most in (0, 1, 2, None):
            result = hornlens.envelope(source, settings=Settings(max_conditions=most))
            for left in range(1 << width):
                for right in [-1, *(1 << i for i in range(width))]:
                    holds = all(left & ~x or (right >= 0 and not right & ~x) for x in rows)
                    rule = hornlens.NamedRule.of(Rule(left, right), names)
                    assert not result.judge(rule).truth.holds or holds
                    assert result.judge(rule).truth.outcome != "broken" or not holds
                    if most is None or left.bit_count() <= most:
                        assert result.judge(rule).truth.holds == holds


@pytest.mark.parametrize("seed", range(15))
def test_short_rules_over_intervals_that_enough_rows_bear_out(seed, tmp_path):
    """They are all there: each short rule that holds of so many rows follows from them."""
    path = scaled_file(tmp_path, Random(seed))
    opened = open_table(path, ["age=interval:30,60"], "says")
    rows, space = opened.table.rows, opened.space.unlabelled
    for most, least in ((1, 1), (1, 2), (2, 2)):
        settings = Settings(max_conditions=most, min_support=least)
        scales = ["age=interval:30,60"]
        result = hornlens.envelope(path, settings=settings, scales=scales, label="says")
        complete = result.certificate.complete
        assert (complete.max_conditions, complete.min_support) == (most, least)
        for row in result.rules:
            rule = row.rule.rule(space.vocabulary)
            assert row.support >= least and all(map(rule.satisfied_by, rows))
        for left in range(1 << space.width):
            have = [row for row in rows if not left & ~row]
            short = sum(bool(left & group) for group in space.groups) <= most
            if short and len(have) >= least:
                for i in range(space.width):
                    if all(row >> i & 1 for row in have):
                        assert result.entails(Rule(left, 1 << i)), (left, i)


class TestFormulaWithABackground(TargetConformance):
    def build(self):
        names = Vocabulary.numbered(4)
        rules = Theory(4, (hornlens.NamedRule.parse("x1 -> x2").rule(names),))
        return FormulaTarget(Cnf(names, (clause_of([1, 3]),)), background=rules)


class TestScaledTable(TargetConformance):
    def build(self):
        opened = open_table(EXAMPLES / "people.csv", [], "class")
        return TableTarget(opened.table, columns=opened.space)


# --- when it is asked ---


@pytest.mark.parametrize(
    "how",
    [
        {"settings": Settings(equivalence="pac")},
        {"settings": Settings(equivalence="budget")},
        {"learner": EnvelopeLearner},
        {"equivalence": lambda asking: ExhaustiveEquivalence(labelled(asking))},
        {"strategy": lambda asking: Everything(asking.space)},
        {"settings": Settings(min_support=2)},
    ],
    ids=["pac", "budget", "learner", "oracle", "strategy", "support in cells"],
)
def test_who_wants_to_learn_asks(how):
    result = hornlens.extract(FormulaTarget(chain(4)), **how)
    assert result.asked and result.record.asked > 0


def labelled(asking):
    from hornlens.exact.grid import LabelledSpace

    return LabelledSpace.of(asking.space, lambda x: asking.membership.ask([x])[0])


def test_samples_ask_no_more_than_the_limit():
    space = Space.of_variables(Vocabulary.numbered(14))
    target = FunctionTarget(lambda names: len(names) % 3 != 1, space)
    result = hornlens.extract(target, settings=Settings(equivalence="pac", limit=50))
    assert result.record.asked == len(result.decisions) == 50
    assert result.envelope.certificate.stopped == "max_questions"


def test_several_worlds_are_asked():
    targets = {name: FormulaTarget(chain(4), name) for name in "ab"}
    result = hornlens.extract(Worlds("both", targets))
    assert result.asked and result.record.asked == 32


def test_the_support_of_rules_is_counted_in_rows():
    table = Table(Vocabulary(("a", "b")), (0b11, 0b11, 0b10))
    settings = Settings(min_support=2)
    result = hornlens.extract(TableTarget(table), settings=settings)
    assert not result.asked and str(result.rules) == "⊤ → b"
    assert result.envelope.certificate.complete.min_support == 2


class Counting:
    """An engine of somebody else's: it proves a rule a step."""

    def __init__(self, rules, width):
        self.rules, self.width, self.done = rules, width, []

    def steps(self):
        for rule in self.rules:
            self.done.append(rule)
            yield Step([rule])

    def proved(self):
        return self.done


@dataclass
class Own:
    """A target of somebody else's that can be looked into."""

    name = "own"
    space = Space.of_variables(Vocabulary(("a", "b", "c")))

    def identity(self):
        return "own"

    def decide(self, cells):
        raise AssertionError("it was asked")

    def show(self, cell):
        return (str(cell),)

    def engine(self, settings):
        from hornlens.exact.engine import run
        from hornlens.logic.envelope import Envelope

        names = self.space.vocabulary
        rules = [hornlens.NamedRule.parse(text).rule(names) for text in ("a -> b", "c -> ⊥")]
        rules[0] = type(rules[0])(rules[0].antecedent, rules[0].antecedent | rules[0].consequent)

        def work(limits, progress):
            done = run(Counting(rules, 3), limits, progress)
            return Envelope.of(self.space, done.basis, certificate=done.certificate)

        return work if settings.max_conditions is None else None


def test_a_target_of_ones_own_may_bring_an_engine():
    assert isinstance(Own(), LooksInside) and isinstance(Own(), Target)
    result = hornlens.extract(Own())
    assert str(result.rules) == "a → b\nc → ⊥" and result.envelope.certificate.meets("exact")
    ended = hornlens.extract(Own(), limits=Limits(max_rules=1))
    assert len(ended.rules) == 1 and ended.envelope.certificate.stopped == "max_rules"
    with pytest.raises(HornlensError, match="it was asked"):
        hornlens.extract(Own(), settings=Settings(max_conditions=1))
    function = FunctionTarget(lambda names: True, Own.space)
    assert not isinstance(function, LooksInside)


# --- limits, events, progress ---


def test_a_limit_ends_with_what_is_proved():
    limits = Limits(max_rules=3)
    result = hornlens.envelope(chain(40), limits=limits)
    whole = hornlens.envelope(chain(40))
    assert limits.reason == "max_rules" and len(result.rules) == 3
    assert result.envelope.certificate.stopped == "max_rules"
    assert all(whole.entails(row.rule) for row in result.rules)
    assert not result.envelope.certificate.meets("bounded")


def test_rules_are_shown_and_progress_is_made():
    events, notes = [], []
    result = hornlens.envelope(
        chain(30), watch=events.append, progress=lambda *note: notes.append(note)
    )
    assert [e.rule for e in events if isinstance(e, RuleAdded)] == [*result.envelope.basis]
    assert events[-1] == Ended(result.envelope.certificate)
    assert notes[-1][0] == 29 and [count for count, _ in notes] == sorted(n for n, _ in notes)


def test_almost_rules_and_levels_come_with_it():
    settings = Settings(min_confidence=0.6, detail="2")
    result = hornlens.envelope(ANIMALS, settings=settings)
    assert result.envelope.almost is not None and result.envelope.levels is not None
    printed = command(
        *("envelope", ANIMALS, "--min-confidence", "0.6", "--detail", "2", "--format", "json")
    )
    assert kept(result.export("json")) == kept(printed.stdout)


def kept(text):
    """A result's JSON without the name of its source, and without the concepts of a table."""
    return {key: part for key, part in json.loads(text).items() if key not in LEFT_OUT}


# --- the door ---


def test_a_file_its_contents_and_its_target_have_the_same_rules(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = open_table(ANIMALS).table
    sources = [ANIMALS, str(ANIMALS), table, TableTarget(table), pandas.read_csv(ANIMALS)]
    results = [hornlens.envelope(source) for source in sources]
    assert all(kept(each.export("json")) == kept(results[0].export("json")) for each in results)
    assert [r.name for r in results] == ["animals.csv"] * 2 + ["table"] * 2 + ["data frame"]
    formula = EXAMPLES / "pronouns.cnf"
    both = hornlens.envelope(formula), hornlens.envelope(read_dimacs(formula))
    assert kept(both[0].export("json")) == kept(both[1].export("json"))
    printed = command("envelope", formula, "--format", "json").stdout
    assert both[0].export("json") == printed
    both[0].save(tmp_path / "made")
    assert (tmp_path / "made" / "envelope.json").read_text("utf-8") == printed


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_is_read_as_its_file(library, tmp_path):
    frames = pytest.importorskip(library)
    path = EXAMPLES / "people.csv"
    how = {"label": "class", "scales": ["age=interval:35"]}
    by_frame = hornlens.envelope(frames.read_csv(path), **how)
    by_file = hornlens.envelope(path, **how)
    assert kept(by_frame.export("json")) == kept(by_file.export("json"))


def test_a_frame_may_have_cells_that_say_nothing():
    pandas = pytest.importorskip("pandas")
    columns = {"a": ["x", pandas.NA, "x"], "b": [1.0, float("nan"), 2.0], "c": [True, False, True]}
    result = hornlens.envelope(pandas.DataFrame(columns))
    assert result.entails("a=x -> c") and result.entails("c -> a=x")
    twice = pandas.DataFrame([[0, 1]], columns=["a", "a"])
    with pytest.raises(InputError, match="two columns of the data frame have the same name"):
        hornlens.envelope(twice)


def test_a_background_is_a_file_a_theory_or_texts(tmp_path):
    names = open_table(ANIMALS).table.vocabulary
    file = tmp_path / "background.json"
    rule = {"if": ["swims"], "then": ["lays eggs"]}
    file.write_text(json.dumps({"rules": [rule]}))
    texts = ["swims -> lays eggs"]
    theory = Theory(5, tuple(hornlens.NamedRule.parse(text).rule(names) for text in texts))
    results = [hornlens.envelope(ANIMALS, background=b) for b in (file, str(file), theory, texts)]
    assert len({result.export("json") for result in results}) == 1
    assert len(results[0].rules) == len(hornlens.envelope(ANIMALS).rules) - 1
    wide = Theory(6)
    with pytest.raises(InputError, match="the background is about 6 variables, and there are 5"):
        hornlens.envelope(ANIMALS, background=wide)
    with pytest.raises(InputError, match=r"animals\.csv: .*breaks the background rule"):
        hornlens.envelope(ANIMALS, background=["lays eggs -> swims"])


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("none.cnf", {}, r"^none\.cnf: .*[Nn]o such file"),
        ("none.csv", {}, r"none\.csv: .*[Nn]o such file"),
        (EXAMPLES / "pronouns.cnf", {"settings": Settings(min_support=2)}, "has no rows"),
        (EXAMPLES / "pronouns.cnf", {"label": "x"}, "a formula has no columns"),
        (ANIMALS, {"settings": Settings(equivalence="pac")}, "for equivalence pac, use extract"),
        (ANIMALS, {"settings": Settings(equivalence="pac", min_support=2)}, "for equivalence pac"),
        (ANIMALS, {"scales": ["swims"]}, "is not COLUMN=KIND"),
        (chain(3), {"label": "x"}, "are for columns of values"),
        (3, {}, "a int cannot be looked into"),
        ("README.md", {}, "no such file|unknown kind of file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(source, options, message):
    with pytest.raises(HornlensError, match=message) as refused:
        hornlens.envelope(source, **options)
    assert "\n" not in str(refused.value)


def test_a_formula_too_wide_for_levels_is_named(tmp_path):
    path = tmp_path / "wide.cnf"
    path.write_text("p cnf 30 1\n-1 -2 0\n")
    done = command("envelope", path, "--detail", "2")
    assert done.returncode == 2
    assert done.stderr.startswith(f"hornlens: {path}: has 30 variables: what a formula rejects")


# --- what is done with the result ---


@pytest.mark.parametrize("source", [ANIMALS, chain(5)], ids=["table", "formula"])
def test_it_is_a_result_as_others_are(source, tmp_path):
    result = hornlens.envelope(source)
    assert isinstance(result, hornlens.Result)
    assert result.check({"require": [str(result.rules[0].rule)], "at_least": "exact"})
    again = pickle.loads(pickle.dumps(result))
    assert again.rules.csv() == result.rules.csv() and again.name == result.name
    hornlens.extract(cache=False).save(tmp_path)  # what another result left there goes
    result.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "envelope.json",
        "report.html",
        "rules.csv",
        "run.json",
    ]
    loaded = hornlens.load(tmp_path)
    assert loaded.rules.csv() == result.rules.csv()
    assert loaded.envelope.certificate == result.envelope.certificate


def test_rules_of_learners_and_experts_are_results_as_well():
    from hornlens.extraction.formulas import learn

    learned = hornlens.Result.of_envelope(learn(chain(4)).envelope, "chain")
    assert isinstance(learned, hornlens.Result) and not learned.asked
    assert learned.rules.csv() == hornlens.envelope(chain(4)).rules.csv()
    asking = hornlens.explore(["bird", "flies"], rows=[["bird", "flies"]])
    next(asking)
    with pytest.raises(StopIteration) as end:
        asking.send(True)
    explored = hornlens.Result.of_envelope(end.value.value, "birds")
    assert str(explored.rules) == "⊤ → bird ∧ flies" and explored.envelope.certificate.word


def test_the_command_works_out_what_can_be_looked_into(tmp_path):
    (tmp_path / "chain.cnf").write_text(
        "p cnf 100 100\n" + "".join(f"-{i} {i + 1} 0\n" for i in range(1, 100)) + "-1 -100 0\n"
    )
    done = command("extract", "--target", "formula/chain.cnf", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first.endswith("100 variables; its rules were worked out, and nothing was asked.")
    assert second.startswith("99 rules; exact")
    verified = command("verify", "out", "--against", "chain.cnf", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_rows_are_those_of_any_table(tmp_path):
    path = EXAMPLES / "people.csv"
    done = command("extract", "--target", f"rows/{path}", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    wanted = hornlens.envelope(path)
    assert kept(done.stdout) == kept(wanted.export("json"))
