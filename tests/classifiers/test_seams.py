"""Two ways to the same claim about a classifier agree: asked or loaded, judged or gated."""

import pickle
import re

import numpy as np
import pandas
import polars
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import hornlens
from hornlens import Limits
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.exact.boxes.cells import OUTSIDE


def whole_numbers(seed):
    """A small forest over whole numbers, and its rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 5, (60, 4)).astype(float)
    classes = (rows[:, 0] > 2) & (rows[:, 1] > 1) | (rows[:, 2] > 3)
    return RandomForestClassifier(3, max_depth=3, random_state=seed).fit(rows, classes), rows


@pytest.mark.parametrize("seed", range(12))
def test_flips_of_a_run_that_was_ended_are_proved_of_the_trees_or_not_at_all(seed, tmp_path):
    forest, rows = whole_numbers(seed)
    whole = hornlens.explain(forest, rows)
    ended = hornlens.explain(forest, rows, limits=Limits(max_questions=3 + seed % 7))
    ended.save(tmp_path)
    for result in (ended, hornlens.load(tmp_path)):
        for name in result.feature_names:
            flips = result.flips(name)
            if not (flips.proved or flips.ever):
                assert result is not ended
                continue  # the model would have to be asked
            assert flips.ever == whole.flips(name).ever
            assert ("never changes" in flips.sentence) != flips.ever
            if flips.ever:
                allowing = {"invariant": [name], "allow": ["open"]}
                assert not result.check(allowing)


def test_a_tolerated_share_of_flips_is_one_of_all_cells(tmp_path):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, (80, 3))
    edges = {f"x{place}": [1, 2, 3] for place in range(3)}

    def decide(cells):
        return (cells[:, 0] + cells[:, 1] * cells[:, 2]) % 5 == 0

    result = hornlens.explain(decide, rows, bins=edges, limits=Limits(max_questions=20))
    flips = result.flips("x0")
    assert flips.ever
    assert not flips.proved
    gate = {"invariant": [{"attributes": ["x0"], "tolerance": 0.99}], "allow": ["surrogate"]}
    assert not result.check(gate)
    assert result.check({**gate, "allow": ["surrogate", "open"]})
    assert hornlens.explain(decide, rows, bins=edges).check(gate)


def test_rules_that_contradict_each_other_predict_the_same_when_loaded(tmp_path):
    rng = np.random.default_rng(13)
    rows = rng.integers(0, 6, (200, 4)).astype(float)
    classes = (rows.sum(axis=1) % 3).astype(int)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(rows, classes)
    result = hornlens.explain(tree, rows[:20], domain="data", changes=0)
    result.save(tmp_path)
    loaded = hornlens.load(tmp_path)
    clashes = [
        {rule.label for rule in result.rules if inside(rule, cell)}
        for cell in result.binned.places(result.binned.classifier.table.like(rows))
    ]
    assert any(len(labels) > 1 for labels in clashes)
    assert result.predict(rows).tolist() == loaded.predict(rows).tolist()


def inside(rule, cell):
    """Say whether a cell lies in the box of a rule."""
    return all(low <= at <= high for at, (low, high) in zip(cell, rule.box, strict=True))


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_a_result_of_a_frame_can_be_pickled(frame):
    rng = np.random.default_rng(0)
    rows = frame({"a": rng.integers(0, 9, 50), "b": rng.random(50), "c": rng.random(50) < 0.5})
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    tree.fit(rows, rng.random(50) < 0.5)
    result = hornlens.explain(tree, rows)
    again = pickle.loads(pickle.dumps(result))
    assert again.export("json") == result.export("json")
    assert str(again.flips("a")) == str(result.flips("a"))


@pytest.mark.parametrize("kind", ["fresh", "loaded"])
def test_classes_called_true_and_false_are_no_tautologies(kind, tmp_path):
    rows = np.array([[20.0], [30.0], [50.0]])
    result = hornlens.explain(lambda cells: cells[:, 0] >= 40, rows, bins={"x0": [40]})
    if kind == "loaded":
        result.save(tmp_path)
        result = hornlens.load(tmp_path)

    def passes(kind, rule):
        return bool(result.check({kind: [rule], "allow": ["surrogate"]}))

    for rule in str(result.rules).splitlines():  # as they are shown
        assert passes("require", rule)
        assert not passes("forbid", rule)
    for wrong in ("x0 < 40 -> True", "x0 >= 40 -> False", "-> true"):
        assert not passes("require", wrong)
        assert passes("forbid", wrong)
    assert passes("require", '"True" -> x0 >= 40')
    assert not passes("forbid", '"True" -> x0 >= 40')
    assert passes("require", "x0 < 40 & class = True -> false")
    (outcome,) = result.check({"forbid": ["x0 < 40 -> True"]}).outcomes
    assert outcome.finding.endswith("Read as: x0 < 40 → class = True.")


# --- what X does not have ---


@pytest.fixture(scope="module")
def flagged():
    """A tree that was fitted with both values of a flag, and rows that have one of them."""
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame({"flag": rng.random(200) < 0.5, "age": rng.integers(18, 70, 200)})
    classes = np.where(rows.flag | (rows.age > 40), "yes", "no")
    tree = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    return tree, rows[~rows.flag]


def test_the_other_value_of_a_constant_boolean_is_not_every_input(flagged):
    tree, rows = flagged
    result = hornlens.explain(tree, rows)
    assert result.certificate.scope.excluded == ("new values in flag",)
    proof = hornlens.prove(tree, "age <= 40 -> no", rows)
    assert proof.sentence.endswith("(but for new values in flag).")
    with pytest.raises(InputError, match="has no value 'True'"):
        hornlens.prove(tree, "flag & age <= 40 -> no", rows)
    with pytest.raises(InputError, match="has no value 'True'"):
        result.check(["flag & age <= 40 -> no"])
    assert result.check(["not flag & age <= 40 -> no"])


@pytest.mark.parametrize("rule", ["flag -> age >= 50", "flag = true & age < 90 -> false"])
def test_a_background_about_the_other_value_of_a_constant_column_rules_nothing_out(flagged, rule):
    tree, rows = flagged
    result = hornlens.explain(tree, rows, background=[rule])
    assert OUTSIDE not in result.labelled.labels
    assert result.check(["age <= 40 -> no"])
    rows = rows.assign(kind="plain")
    result = hornlens.explain(
        lambda table: table["age"].to_numpy() > 40, rows, background=["kind = other -> age > 50"]
    )
    assert OUTSIDE not in result.labelled.labels
    result = hornlens.explain(
        lambda table: table["age"].to_numpy() > 40, rows, background=["kind = plain -> age > 50"]
    )
    assert str(result.rules) == "⊤ → True"


def test_missing_values_that_no_row_has_are_not_known_to_be_impossible():
    rng = np.random.default_rng(0)
    rows = rng.random((100, 2))
    gaps = np.where(rng.random((100, 2)) < 0.2, np.nan, rows)
    classes = np.where(np.isnan(gaps[:, 0]) | (gaps[:, 0] > 0.5), "yes", "no")
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(gaps, classes)
    assert tree.predict([[np.nan, 0.5]]) == ["yes"]
    result = hornlens.explain(tree, rows)
    (outcome,) = result.check(["x0 is missing -> no"]).outcomes
    assert (outcome.passed, outcome.status) == (False, "unknown")
    assert outcome.finding == "Not known: no row of X has a missing x0."
    assert not result.check(["yes -> x0 is known"])
    assert hornlens.prove(tree, "x0 is missing -> no", rows).status == "not refuted"
    full = hornlens.explain(tree, gaps)
    assert full.check(["x0 is missing & x1 <= 0.1 -> yes"])
    assert full.check({"forbid": ["yes -> x0 is known"]})


def test_a_flip_to_what_the_background_rules_out_is_none():
    rows = pandas.DataFrame(
        {"pregnant": [True, True, False, False], "sex": ["f", "f", "f", "m"], "age": [1, 2, 1, 2]}
    )

    def decide(table):
        odd = table["pregnant"].to_numpy() & (table["sex"] == "m").to_numpy()
        return odd | (table["age"] > 1).to_numpy()

    assert hornlens.flips(decide, "sex", rows)
    given = hornlens.flips(decide, "sex", rows, background=["pregnant -> sex = f"])
    assert (given.ever, given.rows, given.pairs, given.examples) == (False, 0, 0, ())


def test_limits_that_are_used_up_end_with_no_answer_and_no_traceback():
    rows = np.random.default_rng(0).random((50, 3))
    limits = Limits(max_questions=5)
    for _ in range(2):
        again = hornlens.explain(
            lambda cells: cells[:, 0] > 0.5, rows, bins="quantile", limits=limits
        )
    assert (len(again.rules), again.certificate.stopped) == (0, "max_questions")
    assert again.agreement.drawn == 0
    assert again.certificate.scope.of != "every input"


def test_a_label_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="label must be a text, not 3"):
        hornlens.explain(lambda cells: cells[:, 0] > 0.5, [[0.0], [1.0]], label=3)


# --- pages and commands ---


def page_text(result, folder):
    """Return the text of a result's page, without its scripts."""
    result.save(folder)
    page = (folder / "report.html").read_text()
    page = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_page_counts_the_rows_and_cells_that_were_compared_and_asked(tmp_path):
    rows = np.random.default_rng(0).random((50, 3))

    def decide(cells):
        return cells[:, 0] > 0.5

    ended = hornlens.explain(decide, rows, bins="quantile", limits=Limits(max_questions=10))
    compared = ended.agreement.compared
    assert compared < 50
    text = page_text(ended, tmp_path)
    assert f"of {compared} rows whose cells were asked and" in text
    assert "of 50 rows and" not in text
    sifted = hornlens.explain(decide, rows, bins="quantile", limit=5)
    asked = len(sifted.labelled.cells)
    assert f"Cells asked {asked} of 64" in page_text(sifted, tmp_path)
    assert "of 50 rows and" in page_text(sifted, tmp_path)


@pytest.fixture
def saved_forest(tmp_path):
    """Write a forest over two columns of whole numbers, and their rows as CSV."""
    skops = pytest.importorskip("skops.io")
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame({"age": rng.integers(18, 70, 90), "visits": rng.integers(0, 4, 90)})
    classes = np.where((rows.age > 40) & (rows.visits > 1), "yes", "no")
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(rows, classes)
    skops.dump(forest, tmp_path / "model.skops")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return forest, rows


def test_the_command_shows_thresholds_of_whole_numbers_as_python_does(saved_forest, tmp_path):
    model, data, out = (str(tmp_path / name) for name in ("model.skops", "rows.csv", "out"))
    run = CliRunner().invoke(app, ["explain", model, data, "--out", out])
    assert run.exit_code == 0
    assert str(hornlens.load(tmp_path / "out").rules) == str(hornlens.explain(*saved_forest).rules)


def test_words_that_trees_do_not_accept_are_an_error_in_a_line(saved_forest, tmp_path):
    (tmp_path / "words.csv").write_text("age,visits\nold,2\n30,3\n")
    run = CliRunner().invoke(
        app, ["explain", *(str(tmp_path / name) for name in ("model.skops", "words.csv"))]
    )
    assert isinstance(run.exception, HornlensError)
    assert "could not convert string to float: 'old'" in str(run.exception)
    rows = pandas.DataFrame({"age": ["old", "new"], "visits": [1, 2]})
    with pytest.raises(HornlensError, match=r"'age' has values that are no numbers: .*'old'"):
        hornlens.prove(saved_forest[0], "visits > 1 -> yes", rows)
