"""Our own targets keep to what every target keeps to, and the suite notices who does not."""

import inspect
import json
import math
from random import Random

import pytest

import hornlens
from hornlens.errors import HornlensError, InputError
from hornlens.logic.attributes import Nominal
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.decisions import NO, YES, Decision, Policy
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.demo import DemoModel
from hornlens.models.functions import FunctionModel
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.formulas import FormulaTarget, TableTarget
from hornlens.targets.functions import FunctionTarget, RepeatedTarget
from hornlens.targets.prompted import PromptedModel
from hornlens.testing.targets import TargetConformance
from tests.command import hornlens as run_command

WORK = Nominal("work", ("nurse", "priest", "brewer"))
AGE = Ordered.cut("age", ("30", "60"))
PLACE = Taxonomy.of("place", [("Europe", None), ("Germany", "Europe"), ("Asia", None)])
LABELLED = Space((WORK, AGE, PLACE), Nominal("loan", ("granted", "refused")))
YES_OR_NO = Space((WORK, PLACE))


def loan(names):
    """Grant a loan to those who are 30 at least; of nurses elsewhere, say nothing."""
    if "age ≥ 30" in names:
        return "granted"
    return None if "nurse" in names else "refused"


def scored(names):
    """As many points as there are letters, for each label; a tie now and then."""
    letters = len("".join(names))
    return {"granted": -float(letters % 5), "refused": -float(letters % 3)}


def pronoun(prompt, words):
    """Log-probabilities that depend on the prompt and on the word, and not on the others."""
    return [math.log((len(prompt) % 7 + len(word)) / 30) for word in words]


class Counts:
    """A function that counts its calls."""

    def __init__(self, call):
        self.call, self.calls = call, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.call(*arguments)


class TestFunctionThatNamesALabel(TargetConformance):
    call = staticmethod(loan)
    space = LABELLED

    def build(self):
        return FunctionTarget(Counts(self.call), self.space, "loans", "loans 1")

    def questions_asked(self, target):
        return target.call.calls


class TestFunctionThatSaysYesOrNo(TestFunctionThatNamesALabel):
    call = staticmethod(lambda names: None if len(names) == 2 else "nurse" in names)
    space = YES_OR_NO


class TestFunctionThatGivesScores(TestFunctionThatNamesALabel):
    call = staticmethod(scored)


class TestFunctionWithAMargin(TestFunctionThatNamesALabel):
    def build(self):
        return FunctionTarget(Counts(scored), self.space, policy=Policy(margin=1.5))


class TestNoisyFunction(TargetConformance):
    noisy = True

    def build(self):
        rng = Random(3)
        return FunctionTarget(lambda names: rng.choice(["granted", "refused", None]), LABELLED)


class TestRepeatedNoisyFunction(TestNoisyFunction):
    def build(self):
        return RepeatedTarget(super().build(), 5)


class TestRepeatedNoisyScores(TargetConformance):
    noisy = True

    def build(self):
        rng = Random(3)
        target = FunctionTarget(
            lambda names: {"granted": -rng.random(), "refused": -rng.random()}, LABELLED
        )
        return RepeatedTarget(target, 4)


class TestRepeatedSteadyFunction(TargetConformance):
    def build(self):
        target = FunctionTarget(Counts(lambda names: "Asia" in names), YES_OR_NO, "yes", "1")
        return RepeatedTarget(target, 3)

    def questions_asked(self, target):
        return target.target.call.calls


class TestFormula(TargetConformance):
    def build(self):
        clauses = tuple(map(clause_of, [[1, 2], [-1, -2, 3], [-4]]))
        return FormulaTarget(Cnf(Vocabulary.numbered(5), clauses))


class TestTable(TargetConformance):
    def build(self):
        return TableTarget(Table(Vocabulary(("a", "b", "c")), (0b011, 0b101, 0b011)))


class TestPromptedFunction(TargetConformance):
    def build(self):
        model = FunctionModel(Counts(pronoun), "pronoun", identity="1")
        return PromptedModel(load_probe(DEFAULT), model, Policy())

    def questions_asked(self, target):
        return target.model.call.calls


class TestPromptedFunctionOfNoIdentity(TestPromptedFunction):
    def build(self):
        model = FunctionModel(Counts(pronoun), "pronoun")
        policy = Policy(margin=0.1, calibration="neutral")
        return PromptedModel(load_probe(DEFAULT), model, policy)


class TestPromptedFunctionAskedTwice(TestPromptedFunction):
    def build(self):
        model = FunctionModel(Counts(pronoun), "pronoun", identity="1")
        return PromptedModel(load_probe(DEFAULT), model, Policy(), repeats=2)


class TestPromptedDemoModelWithAStore(TargetConformance):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def opened(cls, tmp_path_factory):
        cls.store = AnswerCache(tmp_path_factory.mktemp("store") / "answers.sqlite")
        yield
        cls.store.close()

    def build(self):
        return PromptedModel(load_probe(DEFAULT), DemoModel(), Policy(top_k=5), self.store)

    def questions_asked(self, target):
        return target.asked + target.reused


# What the suite is for: to notice.

NEVER = Cnf(YES_OR_NO.vocabulary, (clause_of([]),))


class Stub(FunctionTarget):
    """A target that is right, but for what a test replaces."""

    made = 0


def broken(**methods):
    kind = type("Broken", (Stub,), methods)

    class Suite(TargetConformance):
        def build(self):
            return kind(lambda names: "nurse" in names, YES_OR_NO, "stub", "1")

    return Suite()


def failures(suite):
    """The names of the tests that fail."""
    found = []
    for name, test in inspect.getmembers(suite, inspect.ismethod):
        if name.startswith("test_"):
            try:
                test()
            except Exception:
                found.append(name)
    return found


def right(self, cells):
    return FunctionTarget.decide(self, cells)


def state(self, cells):
    """Decide by how often anything was decided."""
    type(self).made += 1
    return [Decision(YES if type(self).made % 2 else NO) for _ in cells]


@pytest.mark.parametrize(
    ("methods", "noticed"),
    [
        ({"decide": lambda self, cells: right(self, cells)[1:]}, "a_decision_for_each_cell"),
        ({"decide": lambda self, cells: right(self, sorted(cells))}, "in_the_order_of_the_cells"),
        ({"decide": lambda self, cells: [Decision(7) for _ in cells]}, "a_decision_for_each_cell"),
        ({"decide": lambda self, cells: [Decision(None) for _ in cells]}, "a_decision_for_each"),
        (
            {"decide": lambda self, cells: [Decision(YES, 1.0, (2.0, 1.0)) for _ in cells]},
            "a_decision_for_each_cell",
        ),
        (
            {"decide": lambda self, cells: [Decision(None, abstained="dunno") for _ in cells]},
            "a_decision_for_each_cell",
        ),
        ({"decide": lambda self, cells: right(self, cells or [0])}, "no_cells_get_no_decisions"),
        ({"decide": lambda self, cells: tuple(right(self, cells))}, "a_decision_for_each_cell"),
        ({"decide": state}, "another_one_of_its_kind"),
        (
            {"decide": lambda self, cells: [Decision(len(cells) % 2) for _ in cells]},
            "what_else_is_in_a_batch",
        ),
        ({"identity": lambda self: str(id(self))}, "the_identity_is_stable"),
        ({"identity": lambda self: ""}, "the_identity_is_stable"),
        (
            {"engine": lambda self, settings: FormulaTarget(NEVER).engine(settings)},
            "no_cell_that_it_accepts_breaks_what_its_engine_finds",
        ),
        ({"show": lambda self, cell: ()}, "can_be_shown"),
        ({"show": lambda self, cell: ("",)}, "can_be_shown"),
    ],
)
def test_the_suite_notices(methods, noticed):
    assert failures(broken()) == []
    assert any(noticed in name for name in failures(broken(**methods)))


@pytest.mark.parametrize("said", ["Granted", True, 1, {"granted": 1.0}, ["granted"]])
def test_what_a_function_says_must_fit_its_space(said):
    with pytest.raises(HornlensError, match=r"^f said .*; a target of this space says one of gr"):
        FunctionTarget(lambda names: said, LABELLED, "f").decide([0])


@pytest.mark.parametrize("repeats", [0, -1])
def test_to_ask_no_times_is_refused(repeats):
    target = FunctionTarget(loan, LABELLED)
    with pytest.raises(HornlensError, match=f"^repeats must be 1 or more, not {repeats}$"):
        RepeatedTarget(target, repeats)
    with pytest.raises(HornlensError, match=r"^repeats must be 1 or more"):
        PromptedModel(load_probe(DEFAULT), DemoModel(), Policy(), repeats=repeats)


def test_what_is_recorded_as_the_policy_is_what_decided():
    scored = FunctionTarget(
        lambda names: {"granted": 1.0, "refused": 0.8}, LABELLED, policy=Policy(margin=0.5)
    )
    result = hornlens.extract(scored, policy=Policy(abstain="reject"))
    assert result.policy == Policy(margin=0.5, abstain="reject") and result.abstentions
    for given in (Policy(margin=0.1), Policy(top_k=3), Policy(calibration="neutral")):
        with pytest.raises(HornlensError, match="a target decides by itself: give"):
            hornlens.extract(scored, policy=given)


def test_rules_about_the_label_cannot_be_taken_for_granted():
    nurse_is_she = Rule(0b0001, 0b1000)
    space = Space(
        (Nominal("work", ("nurse", "priest")),), Nominal("p", ("he", "she")), (nurse_is_she,)
    )
    target = FunctionTarget(lambda names: "she" if "nurse" in names else "he", space)
    with pytest.raises(HornlensError, match=r"nurse → she is about the label"):
        hornlens.extract(target)


def test_negatives_are_counted_among_what_can_occur():
    work = Nominal("work", ("nurse", "priest"))
    space = Space((work, Nominal("tall", ("tall",))), None, (Rule(0b001, 0b100),))
    result = hornlens.extract(FunctionTarget(lambda names: True, space))
    assert result.envelope.statistics["negatives"] == 0
    assert result.envelope.statistics["membership_queries"] == len(list(space)) == 5


@pytest.mark.parametrize(
    "decide",
    [
        lambda cells: [],
        lambda cells: [Decision(7)] * len(cells),
        lambda cells: 1 / 0,
        lambda cells: [None] * len(cells),
    ],
    ids=["too few", "no label of its own", "an error", "no decisions"],
)
def test_whatever_a_target_does_wrong_is_one_line(decide):
    class Evil:
        name, space = "evil", LABELLED

        def identity(self):
            return None

        def decide(self, cells):
            return decide(cells)

        def show(self, cell):
            return ("",)

    with pytest.raises(HornlensError, match=r"^target evil (failed|does not decide)"):
        hornlens.extract(Evil())


def test_repeats_that_give_scores_only_at_times_agree_on_those_that_win():
    said = iter([{"granted": 0.51, "refused": 0.49}] * 2 + [{"granted": 0.0, "refused": 1.0}, None])
    target = FunctionTarget(lambda names: next(said), LABELLED)
    (decision,) = RepeatedTarget(target, 3).decide([0])
    assert decision.winner == 0 and decision.repeats == (2, 1)
    assert decision.margin == pytest.approx(0.02)
    both = iter([None, {"granted": 1.0, "refused": 0.0}, {"granted": 1.0, "refused": 0.0}])
    again = FunctionTarget(lambda names: next(both), LABELLED)
    assert RepeatedTarget(again, 3).decide([0])[0].winner == 0


def test_a_target_takes_nothing_that_it_would_ignore(tmp_path):
    target = FunctionTarget(lambda names: "granted", LABELLED)
    for given in ({"cache": tmp_path / "c"}, {"repeats": 2}):
        with pytest.raises(HornlensError, match="asks its own questions"):
            hornlens.extract(target, **given)
    with pytest.raises(HornlensError, match="asks again by itself"):
        probe = load_probe("gender-occupation")
        RepeatedTarget(PromptedModel(probe, FunctionModel(lambda p, w: [0, 1]), Policy()), 3)


def test_a_page_of_another_result_does_not_stay(tmp_path):
    (tmp_path / "report.html").write_text("of another result")
    yes = FunctionTarget(lambda names: True, Space((Nominal("a", ("x",)),)))
    hornlens.extract(yes).save(tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "of another result" not in page and "<html" in page


def test_damaged_results_are_refused_in_a_line(tmp_path):
    target = FunctionTarget(lambda names: "granted" if names else "refused", LABELLED)
    hornlens.extract(target).save(tmp_path)
    file = tmp_path / "envelope.json"
    whole = json.loads(file.read_text())
    damages = {
        "statistics": None,
        "rules": [],
        "non_horn": {"count": "x", "examples": []},
        "background": [{"if": [], "then": None}],
        "answers": [{"set": ["nobody"]}],
        "policy": {"abstain": "perhaps"},
        "certificate": {"kind": "pac"},
    }
    for key, damaged in damages.items():
        file.write_text(json.dumps({**whole, key: damaged}))
        with pytest.raises(InputError) as refused:
            hornlens.load(tmp_path)
        assert str(file) in str(refused.value) and "\n" not in str(refused.value), key
    file.write_text(json.dumps(whole))
    (tmp_path / "scores.csv").write_text("prompt,granted,refused\na,b,c\n")
    with pytest.raises(InputError, match=r"scores\.csv:2: scores must be numbers"):
        hornlens.load(tmp_path)


def test_the_command_refuses_a_probe_or_a_model_beside_a_target():
    for more in (["--model", "demo"], ["gender-occupation"]):
        done = run_command("extract", "--target", "formula/x.cnf", *more)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "asks its own questions" in done.stderr
