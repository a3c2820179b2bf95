"""Classifiers from files on the command line, and the estimator of scikit-learn."""

import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from typer.testing import CliRunner

import hornlens
from hornlens.cli.app import app
from hornlens.errors import InputError
from hornlens.sklearn import EnvelopeClassifier
from tests.classifier_cases import data, one_thread

__all__ = ["one_thread"]


def run(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


@pytest.fixture
def table(tmp_path):
    """A CSV file of iris, with the class as its last column, and a tree for it."""
    rows, classes = data("iris")
    lines = [",".join(map(str, [*row, c])) for row, c in zip(rows.tolist(), classes, strict=True)]
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(["a,b,c,d,kind", *lines]) + "\n")
    return path, rows, DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, classes)


def test_a_skops_file_is_explained_with_its_own_thresholds(table, tmp_path):
    skops = pytest.importorskip("skops.io")
    path, rows, model = table
    skops.dump(model, tmp_path / "tree.skops")
    refused = str(run(tmp_path / "tree.skops", path, "--target", "kind").exception)
    assert "does not trust; if you do: --trust sklearn.tree._tree.Tree" in refused
    given = (
        tmp_path / "tree.skops",
        path,
        "--target",
        "kind",
        "--trust",
        "sklearn.tree._tree.Tree",
    )
    done = run(*given, "--out", tmp_path / "out")
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Exact:" in done.output and "d ≤ 0.8 → 0" in done.output
    assert hornlens.verify(tmp_path / "out").ok
    same = hornlens.explain(model, rows)
    printed = json.loads(run(*given, "--format", "json").output)
    assert [rule["support"] for rule in printed["rules"]] == [r.support for r in same.rules]
    assert "The full basis" in run(*given, "--basis").output


def test_an_onnx_file_is_explained_as_a_black_box(table, tmp_path):
    convert = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType

    path, rows, _ = table
    model = LogisticRegression(max_iter=1000).fit(rows, data("iris")[1])
    made = convert.convert_sklearn(
        model, initial_types=[("X", FloatTensorType([None, 4]))], options={"zipmap": False}
    )
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    done = run(tmp_path / "model.onnx", path, "--target", "kind", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "Exact for the binned model" in done.output
    assert hornlens.verify(tmp_path / "out").ok
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b\n1,2\n")
    assert "takes 4 columns" in str(run(tmp_path / "model.onnx", wide).exception)


def test_a_rule_of_a_black_box_is_refuted_by_a_row():
    rows = np.array([[a, b] for a in range(20) for b in range(3)])

    def model(given):
        return (given[:, 0] >= 10) & (given[:, 1] > 0)

    refuted = hornlens.prove(model, "x0 >= 10 -> True", rows)
    assert refuted.status == "refuted" and not refuted
    assert refuted.row["x0"] >= 10 and refuted.row["x1"] == 0 and refuted.said == "False"
    assert hornlens.prove(model, "x0 < 10 -> False", rows).status == "not refuted"
    assert hornlens.prove(model, "x0 < 10 and x0 > 12 -> False", rows).status == "vacuous"


def test_pickles_and_other_files_are_refused(table, tmp_path):
    path, _, model = table
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    for name in ("model.pkl", "model.skops", "model.onnx", "model.txt"):
        (tmp_path / name).write_bytes(pickle.dumps(model))
        error = run(tmp_path / name, path, "--target", "kind").exception
        assert isinstance(error, InputError) and "\n" not in str(error), name
    assert "pickle" in str(run(tmp_path / "model.pkl", path).exception)
    assert "no column 'species'" in str(
        run(tmp_path / "m.onnx", path, "--target", "species").exception
    )


def test_the_estimator_passes_scikit_learns_checks():
    check_estimator(EnvelopeClassifier())


def test_the_estimator_predicts_by_its_rules():
    rows, classes = data("wine")
    model = EnvelopeClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), domain="grid")
    model.fit(rows, classes)
    assert model.decided(rows).all() and len(model.rules_) > 2
    assert (model.predict(rows) == model.estimator_.predict(rows)).all()
    assert (
        cross_val_score(make_pipeline(StandardScaler(), EnvelopeClassifier()), rows, classes).mean()
        > 0.7
    )
    short = EnvelopeClassifier(domain="grid", max_conditions=1, otherwise="prior").fit(
        rows, classes
    )
    open_ = ~short.decided(rows)
    assert open_.any() and (short.predict(rows)[open_] == short.prior_).all()
    with pytest.raises(ValueError, match="otherwise must be"):
        EnvelopeClassifier(otherwise="guess").fit(rows, classes)
    assert np.array_equal(model.classes_, np.unique(classes))
