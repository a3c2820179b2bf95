"""Classifiers as targets: for `extract`, other learners, several models at once."""

import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")

from itertools import product

from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import hornlens
from hornlens.classifiers.target import ClassifierTarget
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.testing.targets import TargetConformance
from tests.classifier_cases import data, one_thread
from tests.explanation_cases import people_model, people_rows

__all__ = ["one_thread"]


def iris_tree():
    rows, classes = data("iris")
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes)
    return ClassifierTarget.of(tree, rows, identity="iris")


class TestTree(TargetConformance):
    """Numbers with the model's own thresholds, three classes."""

    def build(self):
        return iris_tree()


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


@pytest.mark.parametrize("seed", range(4))
def test_where_a_class_never_is_said_is_what_holds_of_all_complete_cells(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    rows[rng.random(60) < 0.3, 0] = np.nan
    target = ClassifierTarget.of(below(rng), rows, bins="quantile", n_bins=3)
    result = hornlens.extract(target)
    assert result.envelope.certificate.kind == "exact"
    space, binned = target.space, target.binned
    cells = np.array(list(product(*(range(feature.size) for feature in binned.features))))
    said = binned.ask(cells)
    whole = [
        sum(own[level] for own, level in zip(target._said.levels, cell, strict=True))
        for cell in cells.tolist()
    ]
    names = space.vocabulary.names_of
    for part in list(space.cells())[:: 3 if seed else 1]:
        found = {
            place for cell, place in zip(whole, said.tolist(), strict=True) if not part & ~cell
        }
        for place, label in enumerate(space.label.variables):
            rule = " & ".join([*names(part), label]) + " -> false"
            assert result.entails(rule) == (place not in found), (seed, rule)


def test_a_row_that_is_asked_fits_the_cell_and_is_shown():
    target = iris_tree()
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
    first = iris_tree()
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
    assert "classifier/MODEL,DATA[,COLUMN]" in run("target", "list").output
    for wrong in (
        "classifier/x.skops",
        "classifier/a,b,c,d",
        f"classifier/{tmp_path}/tree.skops,no",
    ):
        error = run("extract", "--target", wrong).exception
        assert isinstance(error, HornlensError) and "\n" not in str(error), wrong


def test_a_classifier_without_anything_to_ask_is_refused():
    with pytest.raises(InputError, match="every column has one level"):
        ClassifierTarget.of(lambda rows: rows[:, 0] > 1, np.zeros((4, 2)))
