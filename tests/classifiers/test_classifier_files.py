"""Classifiers from files on the command line, and the estimator of scikit-learn."""

import hashlib
import json
import os
import pickle
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from typer.testing import CliRunner

import hornlens
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.report import progress
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
    given = (tmp_path / "tree.skops", path, "--label", "kind")
    done = run(*given, "--out", tmp_path / "out")
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Exact:" in done.output and "d ≤ 0.8 → 0" in done.output
    assert hornlens.verify(tmp_path / "out").ok
    same = hornlens.explain(model, rows)
    printed = json.loads(run(*given, "--format", "json").output)
    content = (tmp_path / "tree.skops").read_bytes()
    assert printed["model"]["identity"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert printed["model"]["identity"] in (tmp_path / "out" / "report.html").read_text()
    assert [rule["support"] for rule in printed["readable"]] == [r.support for r in same.rules]
    assert "The full basis" in run(*given, "--basis").output


def test_where_nobody_looks_on_long_work_says_where_it_is(table, tmp_path, monkeypatch):
    skops = pytest.importorskip("skops.io")
    path, _, model = table
    skops.dump(model, tmp_path / "tree.skops")
    monkeypatch.setattr(progress, "FIRST", 0.0)
    given = (tmp_path / "tree.skops", path, "--label", "kind")
    assert "Asking tree.skops: 150 rows" in run(*given).stderr
    assert run(*given, "-q").stderr == ""


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature"])
def test_a_skops_tree_that_leads_outside_itself_is_refused(table, tmp_path, field):
    skops = pytest.importorskip("skops.io")
    path, _, model = table
    state = model.tree_.__getstate__()
    for wrong in (10**6, 0 if field != "feature" else -7):
        nodes = state["nodes"].copy()
        nodes[field][0] = wrong
        model.tree_.__setstate__({**state, "nodes": nodes})
        skops.dump(model, tmp_path / "tree.skops")
        error = run(tmp_path / "tree.skops", path, "--label", "kind").exception
        assert isinstance(error, InputError) and "nodes are no tree" in str(error), wrong
    model.tree_.__setstate__(state)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=2),
        GradientBoostingClassifier(n_estimators=2),
        RandomForestClassifier(2, max_depth=2),
        make_pipeline(StandardScaler(), MLPClassifier((3,), max_iter=9)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_usual_models_in_skops_files_need_nobodys_trust(table, tmp_path, model):
    skops = pytest.importorskip("skops.io")
    path, rows, _ = table
    model.fit(rows, data("iris")[1])
    skops.dump(model, tmp_path / "model.skops")
    done = run(tmp_path / "model.skops", path, "--label", "kind", "--format", "json")
    assert done.exit_code == 0, done.exception
    same = hornlens.explain(model, rows)
    printed = [(rule["class"], rule["support"]) for rule in json.loads(done.output)["readable"]]
    assert printed == [(r.label, r.support) for r in same.rules]


@pytest.mark.parametrize(
    ("field", "wrong"), [("left", 10**6), ("right", 0), ("feature_idx", 4), ("feature_idx", -1)]
)
def test_histogram_boosting_that_leads_outside_its_trees_is_refused(table, tmp_path, field, wrong):
    skops = pytest.importorskip("skops.io")
    path, rows, _ = table
    model = HistGradientBoostingClassifier(max_iter=2).fit(rows, data("iris")[1])
    model._predictors[1][2].nodes[field][0] = wrong
    skops.dump(model, tmp_path / "model.skops")
    error = run(tmp_path / "model.skops", path, "--label", "kind").exception
    assert isinstance(error, InputError) and "nodes are no tree" in str(error)


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, RandomForestClassifier])
def test_an_ensemble_whose_trees_are_wider_than_its_rows_is_refused(table, tmp_path, kind):
    skops = pytest.importorskip("skops.io")
    path, rows, _ = table
    wide = np.column_stack([rows, *[rows[:, 3]] * 50])
    model = kind(n_estimators=2, random_state=0).fit(wide, data("iris")[1])
    model.n_features_in_ = 4
    for tree in np.ravel(model.estimators_):
        tree.n_features_in_ = 4
    skops.dump(model, tmp_path / "model.skops")
    error = run(tmp_path / "model.skops", path, "--label", "kind").exception
    assert isinstance(error, InputError) and "rows of another width" in str(error)


def test_types_that_skops_does_not_trust_are_named(table, tmp_path):
    skops = pytest.importorskip("skops.io")
    path, rows, _ = table
    model = KNeighborsClassifier().fit(rows, data("iris")[1])
    skops.dump(model, tmp_path / "model.skops")
    refused = str(run(tmp_path / "model.skops", path, "--label", "kind").exception)
    assert "does not trust; if you do: --trust sklearn." in refused
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0])
    skops.dump(model.fit(rows.round(), data("iris")[1]), tmp_path / "model.skops")
    given = (tmp_path / "model.skops", path, "--label", "kind")
    refused = str(run(*given).exception)
    wanted = refused.split("if you do: ")[1].split()
    assert any("TreePredictor" in name for name in wanted)
    assert run(*given, *wanted).exit_code == 0


@pytest.mark.parametrize(
    "func", [os.system, eval, print, getattr, np.testing.assert_equal, np.save]
)
def test_what_can_run_code_is_never_offered_nor_trusted(table, tmp_path, func):
    skops = pytest.importorskip("skops.io")
    path = table[0]
    for held in (func, partial(func, "touch hacked")):
        model = make_pipeline(FunctionTransformer(held), RandomForestClassifier(2))
        skops.dump(model, tmp_path / "model.skops")
        given = (tmp_path / "model.skops", path, "--label", "kind")
        refused = str(run(*given).exception)
        assert "--trust" not in refused and "can run any code" in refused, refused
        names = skops.get_untrusted_types(file=tmp_path / "model.skops")
        trust = [word for name in (*names, "os.system") for word in ("--trust", name)]
        error = run(*given, *trust).exception
        assert isinstance(error, InputError), error
        assert "can run any code" in str(error) or "it can run code" in str(error)


def test_a_class_of_ones_own_is_trusted_by_its_name(table, tmp_path, monkeypatch):
    skops = pytest.importorskip("skops.io")
    path, rows, _ = table
    source = "from sklearn.linear_model import LogisticRegression as L\nclass Own(L):\n    pass\n"
    (tmp_path / "own_models.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    model = import_module("own_models").Own(max_iter=500).fit(rows, data("iris")[1])
    skops.dump(model, tmp_path / "model.skops")
    given = (tmp_path / "model.skops", path, "--label", "kind")
    assert "only if it is a class of your own" in str(run(*given).exception)
    assert run(*given, "--trust", "own_models.Own").exit_code == 0


def test_what_is_wrong_with_a_table_or_a_model_names_the_column(tmp_path):
    skops = pytest.importorskip("skops.io")
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"a": [1.0, 2, 3, 4], "b": [1, 0, 1, 0]})
    classes = ["n", "y", "n", "y"]
    models = {
        "tree": DecisionTreeClassifier(random_state=0).fit(rows, classes),
        "unfitted": DecisionTreeClassifier(),
        "line": LinearRegression().fit(rows, [1, 2, 3, 4]),
        "smooth": LogisticRegression().fit(rows, classes),
    }
    for name, model in models.items():
        skops.dump(model, tmp_path / f"{name}.skops")
    good = "a,b,t\n1,1,n\n2,0,y\n3,1,n\n4,0,y\n"
    for model, text, message in [
        ("unfitted", good, "not fitted"),
        ("line", good, "is no classifier"),
        ("tree", good.replace("b", "c", 1), "lacks the column 'b'"),
        ("tree", "b,a,t\n1,1,n\n2,0,y\n", "another order than the model's: 'a'"),
        ("tree", "a,b,t\n1,x,n\n2,y,y\n", "there are words in 'b'"),
        ("smooth", "a,b,t\n1,1,n\n,0,y\n", "missing values are in 'a'"),
        ("tree", "a,b,t\n", "has no rows"),
        ("tree", "a,a,t\n1,2,n\n", "a name of its own"),
    ]:
        (tmp_path / "rows.csv").write_text(text)
        error = run(tmp_path / f"{model}.skops", tmp_path / "rows.csv", "--label", "t").exception
        assert isinstance(error, HornlensError) and "\n" not in str(error), (model, text)
        assert message in str(error), (model, str(error))
    (tmp_path / "rows.csv").write_text("a,b,t\n1,1,n\n1,1,y\n")
    done = run(tmp_path / "smooth.skops", tmp_path / "rows.csv", "--label", "t")
    assert done.exit_code == 0 and "1 rule over 2 rows" in done.output
    assert "column 'a' is constant (1)" in done.output


def test_an_onnx_file_is_explained_as_a_black_box(table, tmp_path):
    convert = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType

    path, rows, _ = table
    model = LogisticRegression(max_iter=1000).fit(rows, data("iris")[1])
    made = convert.convert_sklearn(
        model, initial_types=[("X", FloatTensorType([None, 4]))], options={"zipmap": False}
    )
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    done = run(tmp_path / "model.onnx", path, "--label", "kind", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "That is of the binned model" in done.output and "not of yours" in done.output
    assert "Exact" not in done.output
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
        error = run(tmp_path / name, path, "--label", "kind").exception
        assert isinstance(error, InputError) and "\n" not in str(error), name
    assert "pickle" in str(run(tmp_path / "model.pkl", path).exception)
    assert "no column 'species'" in str(
        run(tmp_path / "m.onnx", path, "--label", "species").exception
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
