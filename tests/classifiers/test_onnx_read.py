"""ONNX files of trees are read as onnxruntime decides by them, to the last bit."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper  # noqa: E402

from hornlens import explain, prove  # noqa: E402
from hornlens.errors import InputError  # noqa: E402
from hornlens.targets.classifiers.columns import read_table  # noqa: E402
from hornlens.targets.classifiers.ensembles.trees import NotExact  # noqa: E402
from hornlens.targets.classifiers.files import open_classifier  # noqa: E402
from hornlens.targets.classifiers.onnxfiles import OnnxModel  # noqa: E402
from hornlens.targets.classifiers.thresholds import exact_cuts  # noqa: E402
from tests.command import hornlens as run_command  # noqa: E402
from tests.tree_rows import adversarial, differences  # noqa: E402

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ")
VALUES = [0.0, 0.5, 1.0, -1.0, 2.0, 3.0, 0.25]


def opened(model, folder, width):
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return OnnxModel(path, [f"x{place}" for place in range(width)], None)


def graph_of(nodes, kind=TensorProto.FLOAT, width=4, label=TensorProto.INT64, ml=1, more=()):
    given = helper.make_tensor_value_info("X", kind, [None, width])
    said = helper.make_tensor_value_info("label", label, [None])
    graph = helper.make_graph(nodes, "trees", [given], [said], list(more))
    sets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", ml)]
    model = helper.make_model(graph, opset_imports=sets)
    model.ir_version = 8
    return model


def random_node(rng):
    """Return a TreeEnsembleClassifier of all that the standard allows, and its input's type."""
    classes = int(rng.choice([2, 2, 3]))
    targets = (
        [[0], [1], [0, 1]][rng.integers(3)]
        if classes == 2
        else [[0, 1, 2], [0, 2]][rng.integers(2)]
    )
    one, mixed = MODES[rng.integers(6)], rng.random() < 0.5
    gaps, positive = rng.random() < 0.2, rng.random() < 0.5
    given: dict[str, list] = {
        name: []
        for name in (
            *("nodes_treeids", "nodes_nodeids", "nodes_modes", "nodes_featureids", "nodes_values"),
            *("nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"),
            *("class_treeids", "class_nodeids", "class_ids", "class_weights"),
        )
    }
    for tree in range(int(rng.integers(1, 4))):
        for node in range(7):
            leaf = node >= 3
            mode = MODES[rng.integers(6)] if mixed else one
            value = 0.0 if leaf else float(rng.choice(VALUES))
            row = (tree, node, "LEAF" if leaf else mode, 0 if leaf else int(rng.integers(4)), value)
            row += (0, 0, 0) if leaf else (2 * node + 1, 2 * node + 2, int(rng.random() < 0.5))
            for name, entry in zip(given, row, strict=False):
                given[name].append(entry)
            for target in targets if leaf else ():
                if gaps and rng.random() < 0.3 and given["class_ids"]:
                    continue
                weight = float(np.float32(rng.normal() / 2))
                row = (tree, node, target, abs(weight) if positive else weight)
                for name, entry in zip(list(given)[8:], row, strict=True):
                    given[name].append(entry)
    named = rng.random() < 0.5
    base = int(rng.choice([0, 0, 1, classes])) if classes == 2 else int(rng.choice([0, classes]))
    more = {"base_values": rng.normal(size=base).astype(np.float32).tolist()} if base else {}
    labels = {"classlabels_strings": ["p", "q", "r"][:classes]}
    labels = labels if named else {"classlabels_int64s": [5, 7, 9][:classes]}
    transform = str(rng.choice(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]))
    node = helper.make_node(
        *("TreeEnsembleClassifier", ["X"], ["label", "scores"]),
        **{"domain": "ai.onnx.ml", "post_transform": transform, **given, **more, **labels},
    )
    kind = TensorProto.FLOAT if rng.random() < 0.7 else TensorProto.DOUBLE
    return node, kind, TensorProto.STRING if named else TensorProto.INT64


def check(clf, rows, count, seed=0):
    """Return the trees; if they decide by sums, they must decide as the file does."""
    table = replace(read_table(rows), rebuild=clf.rebuild)
    model = clf.tree_model(table)
    if model.trees.summed:
        asked = adversarial(model, rows, count, seed, missing=True, infinite=True)
        bad = differences(model, clf, asked, clf.classes_, clf.rebuild)
        assert not len(bad), asked[bad[:3]].tolist()
    return model


def check_cells(clf, rows, count=4_000):
    """Assert that all rows of a cell get one class."""
    table = replace(read_table(rows), rebuild=clf.rebuild)
    model = clf.tree_model(table)
    cuts = exact_cuts(model, table)
    asked = adversarial(model, rows, count)
    places = [cuts[at].places(asked[:, at]) for at in sorted(cuts)]
    answers: dict[tuple, set] = {}
    said = clf.predict(clf.rebuild(list(asked.T))).tolist()
    for cell, answer in zip(np.column_stack(places).tolist(), said, strict=True):
        answers.setdefault(tuple(cell), set()).add(answer)
    assert {len(own) for own in answers.values()} == {1}
    return model


def check_random(folder, seeds, count):
    summed = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        node, kind, label = random_node(rng)
        clf = opened(graph_of([node], kind, label=label), folder, 4)
        rows = rng.choice(VALUES, size=(100, 4))
        try:
            summed += check(clf, rows, count, seed).trees.summed
        except AssertionError:
            print("seed", seed, node)
            raise
    return summed


def test_random_trees_decide_as_onnxruntime_does(tmp_path):
    assert check_random(tmp_path, range(60), 500) > 15


@pytest.mark.slow
def test_many_random_trees_decide_as_onnxruntime_does(tmp_path):
    assert check_random(tmp_path, range(1000, 1400), 3_000) > 100


# --- what libraries export ---


def data(classes, seed=0, count=300):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4)).astype(np.float32)
    positive = rows[:, 0] + rows[:, 1] * rows[:, 2] > 0
    return rows, positive.astype(int) + (0 if classes == 2 else rows[:, 3] > 0.5)


def of_sklearn(make):
    def export(rows, y):
        skl2onnx = pytest.importorskip("skl2onnx")
        options = {"zipmap": False} if len(set(y)) == 2 else None
        return skl2onnx.to_onnx(make().fit(rows, y), rows[:1], options=options)

    return export


def of_booster(library, kind, convert, **more):
    def export(rows, y):
        booster, tools = pytest.importorskip(library), pytest.importorskip("onnxmltools")
        types = pytest.importorskip("onnxmltools.convert.common.data_types")
        clf = getattr(booster, kind)(n_estimators=6, max_depth=3, **more).fit(rows, y)
        named = [("X", types.FloatTensorType([None, 4]))]
        return getattr(tools, convert)(clf, initial_types=named, target_opset=15)

    return export


def sums_of():
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    def tree():
        return DecisionTreeClassifier(max_depth=4, random_state=0)

    def forest():
        return RandomForestClassifier(5, max_depth=4, random_state=0)

    return {
        "tree": of_sklearn(tree),
        "forest": of_sklearn(forest),
        "extra trees": of_sklearn(lambda: ExtraTreesClassifier(4, max_depth=4, random_state=0)),
        "boosting": of_sklearn(lambda: GradientBoostingClassifier(n_estimators=5, random_state=0)),
        "scaled": of_sklearn(lambda: make_pipeline(StandardScaler(), forest())),
        "scaled twice": of_sklearn(lambda: make_pipeline(MinMaxScaler(), RobustScaler(), tree())),
        "imputed": of_sklearn(lambda: make_pipeline(SimpleImputer(), forest())),
        "xgboost": of_booster("xgboost", "XGBClassifier", "convert_xgboost"),
        "lightgbm": of_booster(
            "lightgbm", "LGBMClassifier", "convert_lightgbm", verbose=-1, min_child_samples=3
        ),
    }


SUMS = (
    *("tree", "forest", "extra trees", "boosting", "scaled", "scaled twice", "imputed"),
    *("xgboost", "lightgbm"),
)


def exported(make, classes, folder):
    rows, y = data(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(rows, y)
    return opened(model, folder, 4), rows


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SUMS)
def test_what_libraries_export_is_read(name, classes, tmp_path):
    clf, rows = exported(sums_of()[name], classes, tmp_path)
    assert check(clf, rows, 3_000).trees.summed


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SUMS)
def test_what_libraries_export_is_read_for_many_rows(name, classes, tmp_path):
    clf, rows = exported(sums_of()[name], classes, tmp_path)
    assert check(clf, rows, 300_000).trees.summed


@pytest.mark.parametrize("classes", [2, 3])
def test_of_other_ensembles_the_cells_have_one_class(classes, tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=2)
    for make in (
        lambda: BaggingClassifier(tree, 3, random_state=0),
        lambda: AdaBoostClassifier(n_estimators=3, random_state=0),
    ):
        clf, rows = exported(of_sklearn(make), classes, tmp_path)
        assert not check_cells(clf, rows).trees.summed


def test_a_newer_node_has_its_breaks(tmp_path):
    """The TreeEnsemble of opset 5: leaves are apart from nodes."""

    def tensor(name, kind, values):
        return helper.make_tensor(name, kind, [len(values)], values)

    node = helper.make_node(
        *("TreeEnsemble", ["X"], ["scores"]),
        domain="ai.onnx.ml",
        n_targets=2,
        aggregate_function=1,
        post_transform=0,
        tree_roots=[0],
        nodes_modes=tensor("modes", TensorProto.UINT8, [0, 1, 2]),
        nodes_featureids=[0, 1, 2],
        nodes_splits=tensor("splits", TensorProto.FLOAT, [0.5, -0.25, 1.0]),
        nodes_truenodeids=[1, 0, 2],
        nodes_trueleafs=[0, 1, 1],
        nodes_falsenodeids=[2, 1, 3],
        nodes_falseleafs=[0, 1, 1],
        leaf_targetids=[0, 1, 0, 1],
        leaf_weights=tensor("weights", TensorProto.FLOAT, [1.0, 2.0, 3.0, 4.0]),
    )
    best = helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)
    clf = opened(graph_of([node, best], ml=5), tmp_path, 4)
    rows = np.random.default_rng(0).normal(size=(50, 4))
    model = check_cells(clf, rows)
    assert {at: own.tolist() for at, own in model.trees.breaks().items()} == {
        0: [float(np.nextafter(np.float32(0.5), np.float32(1)))],
        1: [-0.25],
        2: [1.0],
    }


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("Normalizer", "Normalizer before the trees"),
        ("Scaler", "turns the order of a column round"),
        ("Imputer", "replaces a number"),
    ],
)
def test_what_is_not_traced_is_named(step, reason, tmp_path):
    options = {
        "Normalizer": {"norm": "L2"},
        "Scaler": {"scale": [1.0, -1.0, 1.0, 1.0], "offset": [0.0] * 4},
        "Imputer": {"imputed_value_floats": [0.0] * 4, "replaced_value_float": -999.0},
    }[step]
    before = helper.make_node(step, ["X"], ["seen"], domain="ai.onnx.ml", **options)
    node, _, label = random_node(np.random.default_rng(0))
    node.input[0] = "seen"
    clf = opened(graph_of([before, node], label=label), tmp_path, 4)
    with pytest.raises(NotExact, match=reason):
        clf.tree_model(read_table(np.zeros((2, 4))))


def test_a_file_without_trees_is_asked(tmp_path):
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 2], list(range(8)))
    nodes = [
        helper.make_node("MatMul", ["X", "w"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0),
    ]
    clf = opened(graph_of(nodes, more=[weights]), tmp_path, 4)
    assert clf.tree_model(read_table(np.zeros((2, 4)))) is None


def test_trees_beside_other_arithmetic_are_asked(tmp_path):
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 2], list(range(8)))
    node, _, _ = random_node(np.random.default_rng(5))
    node.output[0] = "own"
    nodes = [
        node,
        helper.make_node("MatMul", ["X", "w"], ["more"]),
        helper.make_node("Add", ["more", "scores"], ["every"]),
        helper.make_node("ArgMax", ["every"], ["label"], axis=1, keepdims=0),
    ]
    clf = opened(graph_of(nodes, more=[weights]), tmp_path, 4)
    with pytest.raises(NotExact, match="its classes depend on columns that no tree asks for"):
        clf.tree_model(read_table(np.zeros((2, 4))))


# --- from end to end ---


@pytest.fixture
def bank(tmp_path):
    """Return a folder with an exported forest, and rows for it."""
    clf, rows = exported(sums_of()["scaled"], 2, tmp_path)
    del clf
    lines = [f"x{at}" for at in range(4)]
    text = [",".join([*lines, "label"])]
    _, y = data(2)
    text += [",".join([*map(repr, row), str(at)]) for row, at in zip(rows.tolist(), y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(text) + "\n")
    return tmp_path


def test_rules_of_a_file_are_of_every_input(bank):
    clf, table = open_classifier(bank / "model.onnx", bank / "rows.csv", "label")
    result = explain(clf, table, max_conditions=2)
    assert result.certificate.scope.of == "every input"
    rng = np.random.default_rng(1)
    asked = rng.normal(size=(5_000, 4)) * 2
    said = clf.predict(clf.rebuild(list(asked.T)))
    assert set(said.tolist()) == {0, 1}
    for rule in ("x0 >= 5 and x1 >= 5 -> 1", "x0 < -3 -> 0"):
        proof = prove(clf, rule, table)
        names = {f"x{at}": asked[:, at] for at in range(4)}
        inside = names["x0"] < -3 if "<" in rule else (names["x0"] >= 5) & (names["x1"] >= 5)
        wrong = said[inside] != int(rule[-1])
        assert proof.status == ("refuted" if wrong.any() else proof.status)
        assert proof.status in ("proved", "refuted")
    assert result.rules


def test_the_command_explains_and_verifies_a_file(bank):
    done = run_command(
        *("explain", "model.onnx", "rows.csv", "--label", "label", "--out", "out"),
        *("--max-conditions", "2"),
        cwd=bank,
    )
    assert done.returncode == 0, done.stderr
    checked = run_command("verify", "out/envelope.json", cwd=bank)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    document = json.loads((bank / "out" / "envelope.json").read_text())
    assert document["certificate"]["scope"]["of"] == "every input"


def test_without_onnx_a_file_is_asked_and_says_what_to_install(bank, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    clf, table = open_classifier(bank / "model.onnx", bank / "rows.csv", "label")
    with pytest.raises(NotExact, match=r"pip install 'hornlens\[onnx\]'"):
        clf.tree_model(table)
    assert explain(clf, table).certificate.scope.of == "surrogate"
    with pytest.raises(InputError, match=r"pip install 'hornlens\[onnx\]'"):
        explain(clf, table, bins="model")
