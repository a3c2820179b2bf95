"""Classifiers as targets: for `extract`, other learners, several models at once."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")

from itertools import product

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from typer.testing import CliRunner

import hornlens
from hornlens import Limits, Settings
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.logic.rule import Rule
from hornlens.targets.classifiers.target import ClassifierTarget
from hornlens.targets.protocol import LooksInside
from hornlens.testing.targets import TargetConformance
from tests.classifier_cases import data, one_thread
from tests.explanation_cases import people_model, people_rows

__all__ = ["one_thread"]


def iris_tree(partial=None):
    rows, classes = data("iris")
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes)
    return ClassifierTarget.of(tree, rows, identity="iris", partial=partial)


class TestTree(TargetConformance):
    """Numbers with the model's own thresholds, three classes."""

    def build(self):
        return iris_tree()


class TestTypicalRows(TargetConformance):
    """The same, asked about cells that leave something open, too."""

    def build(self):
        return iris_tree(partial="typical")


class TestPeople(TargetConformance):
    """Categories, Booleans, whole numbers and missing values."""

    def build(self):
        pytest.importorskip("pandas")
        rows, classes = people_rows()
        model = people_model().fit(rows, classes)
        return ClassifierTarget.of(model, rows, bins="quantile", n_bins=2)


def below(rng):
    """A random classifier of three columns, the first with missing values."""
    weights = rng.normal(size=3)

    def says(rows):
        filled = np.nan_to_num(rows, nan=rng_fill)
        return np.digitize(filled @ weights, [-0.5, 0.5])

    rng_fill = rng.normal()
    return says


@pytest.mark.parametrize("partial", [None, "typical"])
@pytest.mark.parametrize("seed", range(4))
def test_where_a_class_never_is_said_is_what_holds_of_all_complete_cells(seed, partial):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    rows[rng.random(60) < 0.3, 0] = np.nan
    target = ClassifierTarget.of(below(rng), rows, bins="quantile", n_bins=3, partial=partial)
    result = hornlens.extract(target)
    assert result.envelope.certificate.kind == "exact"
    space, binned = target.space, target.binned
    assert space.complete == (partial is None) and len(space.attributes) == len(binned.features)
    cells = np.array(list(product(*(range(feature.size) for feature in binned.features))))
    said = binned.ask(cells)
    whole = [
        sum(own[level] for own, level in zip(space.leaves, cell, strict=True))
        for cell in cells.tolist()
    ]
    names = space.vocabulary.names_of
    for part in list(replace(space, complete=False).cells())[:: 3 if seed else 1]:
        found = {
            place for cell, place in zip(whole, said.tolist(), strict=True) if not part & ~cell
        }
        for place, label in enumerate(space.label.variables):
            rule = " & ".join([*names(part), label]) + " -> false"
            assert result.entails(rule) == (place not in found), (seed, rule)


@pytest.mark.parametrize("partial", [None, "typical"])
def test_a_row_that_is_asked_fits_the_cell_and_is_shown(partial):
    target = iris_tree(partial)
    names = target.space.vocabulary.names_of
    for cell in target.space.cells():
        (row,) = target.show(cell)
        shown = dict(part.split(" = ") for part in row.split(": ")[1].split(", "))
        assert list(shown) == ["x0", "x1", "x2", "x3"]
        for said in names(cell):
            column, sign, cut = said.split()
            number = float(shown[column])
            assert {">": number > float(cut), "≤": number <= float(cut)}[sign], (row, said)


def test_own_learners_and_several_classifiers_at_once():
    rows, classes = data("iris")
    first = iris_tree(partial="typical")
    sampled = hornlens.extract(first, settings=hornlens.Settings(equivalence="pac"))
    assert sampled.envelope.certificate.kind in ("pac", "exact")
    other = DecisionTreeClassifier(max_depth=1, random_state=0).fit(rows, classes)
    edges = {name: list(cuts) for name, cuts in hornlens.explain(other, rows).edges.items() if cuts}
    one = ClassifierTarget.of(other, rows, bins=edges)
    two = ClassifierTarget.of(first.binned.classifier.ask, rows, bins=edges)
    assert one.space == two.space
    common = hornlens.extract(hornlens.Worlds("model", {"one": one, "two": two}))
    assert len(common.rules) > 0


def test_the_command_takes_a_classifier_as_a_target(tmp_path):
    skops = pytest.importorskip("skops.io")
    rows, classes = data("iris")
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes)
    skops.dump(tree, tmp_path / "tree.skops")
    lines = [",".join(map(str, [*row, c])) for row, c in zip(rows.tolist(), classes, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,kind", *lines]) + "\n")

    def run(*arguments):
        return CliRunner().invoke(app, list(map(str, arguments)))

    spec = f"classifier/{tmp_path}/tree.skops,{tmp_path}/iris.csv,kind"
    done = run("extract", "--target", spec, "--out", tmp_path / "out")
    assert done.exit_code == 0, (done.output, done.exception)
    content = json.loads((tmp_path / "out" / "envelope.json").read_text())
    assert content["certificate"]["kind"] == "exact"
    assert any("kind = 0" in rule["if"] for rule in content["rules"])
    assert hornlens.verify(tmp_path / "out").ok
    short = [name for name in content["variables"] if not name.startswith("kind")]
    assert short == ["d > 0.8", "d > 1.75", "d ≤ 0.8", "d ≤ 1.75"]
    (column,) = content["space"]["attributes"]
    assert column["after"] == [0, 1]
    assert 0.8 < column["at"][0] < 0.8001 and 1.75 < column["at"][1] < 1.7501
    assert "d ≤ 0.8" in done.output and "0.8000" not in done.output
    assert run("extract", "--target", spec, "--out", tmp_path / "again").exit_code == 0
    compared = run("compare", tmp_path / "out", tmp_path / "again")
    assert compared.exit_code == 0, (compared.output, compared.exception)
    learned = run("extract", "--target", spec, "--equivalence", "pac")
    assert "has complete ones only" in str(learned.exception)
    learned = run("extract", "--target", f"{spec},partial=typical", "--equivalence", "pac")
    assert learned.exit_code == 0, (learned.output, learned.exception)
    assert "classifier/MODEL,DATA[,COLUMN]" in run("target", "list").output
    for wrong in (
        "classifier/x.skops",
        "classifier/a,b,c,d",
        f"classifier/{tmp_path}/tree.skops,no",
    ):
        error = run("extract", "--target", wrong).exception
        assert isinstance(error, HornlensError) and "\n" not in str(error), wrong


def test_extract_and_explain_agree():
    """The rules of complete cells are the basis of an explanation: typical rows are no cells."""
    pytest.importorskip("pandas")
    rows, classes = people_rows()
    model = people_model().fit(rows, classes)
    options = {"bins": "quantile", "n_bins": 2, "label": "loan"}
    target = ClassifierTarget.of(model, rows, **options)
    found, explained = hornlens.extract(target), hornlens.explain(model, rows, **options)
    basis = explained.basis()
    assert found.envelope.basis == basis.basis and found.space == basis.space
    assert found.envelope.non_horn.count == basis.non_horn.count == 0
    assert len(found.decisions) == target.binned.cell_count == target.space.cell_count
    labels = target.space.label.variables
    for cell, decision in found.decisions.items():
        rule = Rule(cell, target.space.with_label(0, decision.winner))
        assert found.entails(rule), (target.show(cell), labels[decision.winner])


def test_a_learner_asks_typical_rows_or_is_refused(tmp_path):
    with pytest.raises(HornlensError, match="partial='typical'"):
        hornlens.extract(iris_tree(), settings=hornlens.Settings(equivalence="pac"))
    with pytest.raises(InputError, match="asked about complete cells"):
        iris_tree().decide([0])
    with pytest.raises(InputError, match="partial must be"):
        iris_tree(partial="mean")


def test_that_a_value_is_missing_is_a_value_of_its_column():
    pytest.importorskip("pandas")
    rows, _ = people_rows()
    rows["sex"] = rows["sex"].where(rows["age"] > 30, None)

    def says(table):
        return np.where(table["sex"].isna() | table["income"].isna(), "yes", "no")

    target = ClassifierTarget.of(says, rows, bins={"age": [40]})
    by_name = {attribute.name: attribute for attribute in target.space.attributes}
    assert list(by_name) == ["age", "sex", "pregnant", "income"]
    assert by_name["sex"].variables == ("sex is known", "sex = f", "sex = m", "sex is missing")
    assert by_name["income"].variables == ("income is known", "income is missing")
    assert [by_name["sex"].describe(leaf) for leaf in by_name["sex"].leaves] == [
        *("sex = f", "sex = m", "sex is missing"),
    ]
    rules = set(str(hornlens.extract(target).rules).split("\n"))
    assert "class = no → sex is known ∧ income is known" in rules, rules
    assert "sex is known ∧ income is known → class = no" in rules, rules
    assert "income is missing → class = yes" in rules


def test_a_classifier_without_anything_to_ask_is_refused():
    with pytest.raises(InputError, match="every column has one level"):
        ClassifierTarget.of(lambda rows: rows[:, 0] > 1, np.zeros((4, 2)))


# --- looked into ---


def big_forest():
    rng = np.random.default_rng(4)
    rows = rng.random((300, 12))
    middle = (rows[:, 1:].sum(axis=1) > 5.5).astype(int)
    classes = np.where(rows[:, 0] > 0.7, 1, np.where(rows[:, 0] < 0.3, 0, middle))
    forest = RandomForestClassifier(3, max_depth=4, max_features=None, random_state=0)
    return forest.fit(rows, classes), rows


def test_a_forest_with_too_many_cells_is_looked_into_as_explain_does():
    model, rows = big_forest()
    target = ClassifierTarget.of(model, rows)
    wanted = Settings(max_conditions=2)
    assert target.space.count > 2_000_000 and isinstance(target, LooksInside)
    result = hornlens.extract(target, settings=wanted)
    explained = hornlens.explain(model, rows, max_conditions=2)
    assert isinstance(result, hornlens.Explanation) and len(result.rules) > 3
    assert result.rules.csv() == explained.rules.csv()
    assert result.certificate == explained.certificate and result.certificate.meets("bounded")
    envelope = target.engine(wanted)(None, None)
    assert envelope.readable == explained.envelope.readable
    assert envelope.warrants == explained.envelope.warrants


def test_its_limits_end_with_what_is_proved():
    model, rows = big_forest()
    target = ClassifierTarget.of(model, rows)
    limits = Limits(max_rules=2)
    result = hornlens.extract(target, settings=Settings(max_conditions=2), limits=limits)
    assert len(result.rules) == 2 and result.certificate.ended.reason == "max_rules"
    assert not result.certificate.meets("bounded") and limits.reason == "max_rules"
    envelope = target.engine(Settings(max_conditions=2))(Limits(max_rules=2), None)
    assert envelope.certificate.ended.reason == "max_rules" and len(envelope.basis) == 2


def test_a_basis_that_can_be_had_is_still_asked_for():
    model, rows = big_forest()
    target = ClassifierTarget.of(model, rows[:, :12], bins={"x0": [0.5], "x1": [0.5]}, n_bins=2)
    small = ClassifierTarget.of(lambda x: x[:, 0] > 0.5, rows[:, :2], bins={"x0": [0.5]}, n_bins=2)
    assert small.engine(Settings()) is None and not isinstance(
        hornlens.extract(small), hornlens.Explanation
    )
    assert target.engine(Settings(min_support=3)) is None


# --- thresholds, bands, and where the bins are cut ---


def loans():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=300), rng.integers(0, 9, 300)])
    return rows, 50 * rows[:, 0] + rows[:, 1]


def rules_of(target):
    return {str(rule) for rule in hornlens.extract(target).rules}


def test_a_target_has_a_threshold_or_bands_as_explain_does():
    rows, price = loans()
    granted = RandomForestClassifier(3, max_depth=2, random_state=0).fit(rows, price > 20)
    own = ClassifierTarget.of(granted, rows, threshold=0.9)
    said = own.binned.classifier.decide(list(rows.T)) == 1
    assert (said == (granted.predict_proba(rows)[:, 1] >= 0.9)).all()
    assert rules_of(own) != rules_of(ClassifierTarget.of(granted, rows))
    regressor = DecisionTreeRegressor(max_depth=3, random_state=0).fit(rows, price)
    banded = ClassifierTarget.of(regressor, rows, bands={"low": 0, "high": None}, label="price")
    assert banded.label == "price" and banded.binned.classifier.labels == ("low", "high")
    result = hornlens.explain(regressor, rows, bands={"low": 0, "high": None}, label="price")
    assert {f"{rule}".split(" → ")[0] for rule in result.rules} <= {
        rule.split(" → ")[0] for rule in rules_of(banded)
    }
    assert ClassifierTarget.of(regressor, rows, bands=[0]).label == "value"


def test_bins_are_cut_where_the_model_changes_in_targets_and_proofs():
    rows, _ = loans()

    def bank(given):
        return given[:, 0] >= 1.7

    cuts = [
        *ClassifierTarget.of(bank, rows, seed=0).binned.every[0].cuts.values,
        *hornlens.explain(bank, rows).edges["x0"],
    ]
    assert any(abs(cut - 1.7) < 0.1 for cut in cuts[: len(cuts) // 2])
    change = hornlens.recourse(bank, rows[:1], True, rows)
    assert 1.6 < change.changes["x0"] < 1.9
