"""Boosters and their files, explained and proved: what is claimed is what the library answers."""

import json
import sys

import numpy as np
import pandas
import pytest
from catboost import CatBoost, CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner
from xgboost import XGBClassifier

import hornlens
from hornlens.cli.app import app
from hornlens.targets.classifiers.files import open_classifier

RNG = np.random.default_rng(3)
COUNT = 200


def frame():
    rows = pandas.DataFrame(
        {
            "mean radius": RNG.normal(size=COUNT),
            "n": RNG.integers(0, 5, COUNT),
            "letter": RNG.choice(list("xyz"), COUNT),
            "code": RNG.choice([3, 7], COUNT),
            "yes": RNG.random(COUNT) > 0.5,
        }
    )
    rows.loc[:20, "mean radius"] = np.nan
    return rows


PLAIN = frame()
CODED = PLAIN.assign(
    letter=pandas.Categorical(PLAIN["letter"]), code=pandas.Categorical(PLAIN["code"])
)
WANTED = (
    (PLAIN["mean radius"].fillna(1) > 0) & (PLAIN["n"] > 1)
    | (PLAIN["letter"] == "y")
    | (PLAIN["code"] == 7) & PLAIN["yes"]
).astype(int)
QUIET = {"verbose": 0, "allow_writing_files": False, "one_hot_max_size": 9}
CATEGORIES = {"cat_features": ["letter", "code"]}


def models():
    xgboost = XGBClassifier(n_estimators=4, max_depth=3, enable_categorical=True, n_jobs=1)
    lightgbm = LGBMClassifier(
        n_estimators=4, max_depth=3, min_child_samples=5, min_data_per_group=5, verbose=-1
    )
    catboost = CatBoostClassifier(iterations=4, depth=3, **QUIET, **CATEGORIES)
    options = {"iterations": 4, "depth": 3, "loss_function": "Logloss", **QUIET, **CATEGORIES}
    xgboost.fit(CODED, WANTED)
    lightgbm.fit(CODED, WANTED)
    return {
        "xgboost": (xgboost, CODED, xgboost.predict),
        "xgboost.Booster": (xgboost.get_booster(), CODED, xgboost.predict),
        "lightgbm": (lightgbm, CODED, lightgbm.predict),
        "lightgbm.Booster": (lightgbm.booster_, CODED, lightgbm.predict),
        "catboost": (catboost.fit(PLAIN, WANTED), PLAIN, catboost.predict),
        "CatBoost": (CatBoost(options).fit(PLAIN, WANTED), PLAIN, catboost.predict),
    }


MODELS = models()


def shuffled(rows, result, count=3_000):
    """Rows of values of X and of cuts, column by column."""
    rng, made = np.random.default_rng(1), {}
    for name in rows:
        values = rng.choice(np.asarray(rows[name]), count)
        feature = next(f for f in result.binned.features if f.name == name)
        if feature.cuts is not None:
            cuts = np.array([v for c in feature.cuts.values for v in (c, np.nextafter(c, -9))])
            if name == "n":
                cuts = np.round(cuts)
            values = np.where(rng.random(count) < 0.5, rng.choice(cuts, count), values)
        made[name] = values
    return pandas.DataFrame(made).astype(rows.dtypes.to_dict())


@pytest.mark.parametrize("name", MODELS)
def test_an_explanation_answers_as_the_library_does(name, tmp_path):
    model, rows, predict = MODELS[name]
    result = hornlens.explain(model, rows)
    assert result.certificate.scope.of == "every input" and result.how.startswith("the model's own")
    others = shuffled(rows, result)
    assert (np.asarray(result.predict(others)) == predict(others)).all()
    result.save(tmp_path)
    assert hornlens.verify(tmp_path / "envelope.json").ok
    kept = hornlens.load(tmp_path / "envelope.json")
    assert (np.asarray(kept.predict(others)).astype(str) == predict(others).astype(str)).all()


@pytest.mark.parametrize("name", MODELS)
def test_proofs_agree_with_all_cells(name):
    model, rows, _ = MODELS[name]
    whole = hornlens.explain(model, rows)
    short = hornlens.explain(model, rows, limit=5, max_conditions=2)  # by the leaves
    listed = {str(rule) for rule in hornlens.explain(model, rows, max_conditions=2).rules}
    assert {str(rule) for rule in short.rules} == listed
    for rule in whole.rules:
        text = str(rule).replace("→", "->").replace("∧", "and")
        assert hornlens.prove(model, text, rows).status == "proved", text
    assert hornlens.prove(model, "n = 4 -> 0", rows).status == "refuted"


def test_what_leaves_are_rounded_by_is_kept_and_checked(tmp_path):
    model, rows, _ = MODELS["xgboost"]
    hornlens.explain(model, rows, limit=5).save(tmp_path)
    path = tmp_path / "envelope.json"
    content = json.loads(path.read_text())
    assert 1e-9 < content["classifier"]["rounding"] < 1e-5
    assert hornlens.verify(path).ok
    assert hornlens.load(path).vote.rounding == content["classifier"]["rounding"]


def test_blanks_in_names_are_underscores_to_lightgbm():
    rows = PLAIN[["mean radius", "n"]]
    model = LGBMClassifier(n_estimators=3, verbose=-1).fit(rows, WANTED)
    result = hornlens.explain(model, rows)
    assert "mean radius" in {feature.name for feature in result.binned.features}
    with pytest.raises(hornlens.HornlensError, match="mean_radius"):
        hornlens.explain(model, rows.rename(columns={"mean radius": "mean-radius"}))


def test_columns_without_names_stay_without():
    rows = PLAIN[["n", "code"]].to_numpy(float)
    model = LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1).fit(rows, WANTED)
    assert {feature.name for feature in hornlens.explain(model, rows).binned.features} <= {
        "x0",
        "x1",
    }


def test_a_scaler_before_the_trees_is_traced():
    rows = PLAIN[["n", "code"]].assign(size=RNG.normal(size=COUNT))
    for last in (
        XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1),
        LGBMClassifier(n_estimators=4, max_depth=2, verbose=-1),
        CatBoostClassifier(iterations=4, depth=2, **QUIET),
    ):
        model = make_pipeline(StandardScaler(), last).fit(rows, WANTED)
        result = hornlens.explain(model, rows)
        assert result.certificate.scope.of == "every input"
        others = pandas.DataFrame(
            {
                "n": RNG.integers(-2, 8, 2_000),
                "code": RNG.integers(0, 9, 2_000),
                "size": RNG.normal(size=2_000) * 2,
            }
        )
        assert (np.asarray(result.predict(others)) == model.predict(others)).all()


def test_several_classes_with_names_of_their_own():
    names = np.array(["low", "mid", "high"])[np.clip(PLAIN["n"], 0, 2)]
    rows = PLAIN[["n", "code"]]
    for model in (
        LGBMClassifier(n_estimators=5, verbose=-1).fit(rows, names),
        CatBoostClassifier(iterations=5, depth=2, **QUIET).fit(rows, names),
    ):
        result = hornlens.explain(model, rows)
        assert (np.asarray(result.predict(rows)) == np.ravel(model.predict(rows))).all()
        assert result.certificate.scope.of == "every input"


@pytest.mark.parametrize("missing", [0, 1, 2, -1])
@pytest.mark.parametrize("order", ["xyz", "zyx"])
def test_a_code_that_counts_as_missing_is_one_of_the_rows(missing, order):
    """XGBoost looks for it before it codes categories by name: the frame's order matters."""
    wanted = PLAIN["letter"].isin(["x", "z"]) & (PLAIN["n"] > 1) | (PLAIN["letter"] == "y")
    rows = CODED[["n", "letter"]]
    model = XGBClassifier(
        n_estimators=4, max_depth=3, enable_categorical=True, missing=missing, n_jobs=1
    ).fit(rows, wanted.astype(int))
    rows = rows.assign(letter=pandas.Categorical(PLAIN["letter"], categories=list(order)))
    result = hornlens.explain(model, rows, limit=1)
    assert result.certificate.scope.of == "every input"
    assert (np.asarray(result.predict(rows)) == model.predict(rows)).all()
    for letter in order:
        here = rows[rows["letter"] == letter]
        said = model.predict(here[here["n"] > 2])
        proof = hornlens.prove(model, f"letter = {letter} and n > 2 -> 1", rows)
        assert proof.status == ("proved" if said.all() else "refuted"), letter


def test_truth_is_one_to_catboost():
    """It hashes a Boolean category as the text 1 or 0."""
    rows = PLAIN[["mean radius", "yes"]]
    wanted = (PLAIN["mean radius"].fillna(1) > 0) & PLAIN["yes"]
    model = CatBoostClassifier(iterations=4, depth=3, **QUIET, cat_features=["yes"])
    model.fit(rows, wanted)
    for limit in (1, 200_000):
        result = hornlens.explain(model, rows, limit=limit)
        assert (np.asarray(result.predict(rows)) == model.predict(rows)).all()
    assert hornlens.prove(model, "not yes -> False", rows).status == "proved"


# --- files ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    PLAIN.to_csv(path / "data.csv", index=False)
    MODELS["xgboost"][0].save_model(path / "x.json")
    MODELS["xgboost"][0].save_model(path / "x.ubj")
    MODELS["lightgbm"][0].booster_.save_model(path / "l.txt")
    MODELS["catboost"][0].save_model(str(path / "c.cbm"))
    MODELS["catboost"][0].save_model(str(path / "c.json"), format="json")
    return path


FILES = {
    "x.json": "xgboost",
    "x.ubj": "xgboost",
    "l.txt": "lightgbm",
    "c.cbm": "catboost",
    "c.json": "catboost",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_answers_as_its_model_does(folder, name):
    _, rows, predict = MODELS[FILES[name]]
    opened, table = open_classifier(folder / name, folder / "data.csv", None)
    result = hornlens.explain(opened, table)
    assert result.certificate.scope.of == "every input"
    assert (np.asarray(result.predict(table)) == predict(rows)).all()


@pytest.mark.parametrize("name", FILES)
def test_the_scores_of_a_file_have_a_threshold(folder, name, tmp_path):
    model, rows, _ = MODELS[FILES[name]]
    scores = model.predict_proba(rows)[:, 1]
    high = float(np.unique(scores)[-2])  # a score that rows have: there, it is the second class
    for threshold in (0.3, high):
        opened, table = open_classifier(folder / name, folder / "data.csv", None)
        result = hornlens.explain(opened, table, threshold=threshold)
        assert result.certificate.scope.of == "every input"
        said = np.asarray(result.predict(table)).astype(int)
        assert (said == (scores >= threshold)).all()
    done = run(folder / name, folder / "data.csv", "--threshold", "0.3", "--format", "json")
    assert done.exit_code == 0, done.output


def test_a_booster_without_scores_has_no_threshold():
    model = XGBClassifier(n_estimators=2, objective="binary:hinge").fit(ONE, WANTED)
    with pytest.raises(hornlens.HornlensError, match="no predict_proba"):
        hornlens.explain(model.get_booster(), ONE, threshold=0.3)


def run(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


@pytest.mark.parametrize("name", FILES)
def test_the_command_explains_a_file(folder, name):
    done = run(folder / name, folder / "data.csv", "--format", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["certificate"]["scope"]["of"] == "every input"


def write(path, text):
    path.write_text(text)


ONE = PLAIN[["n"]]
CTR = {"iterations": 3, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 2}
REFUSED = {
    "dart.json": (
        lambda path: XGBClassifier(booster="dart").fit(ONE, WANTED).save_model(path),
        "dart",
    ),
    "gblinear.ubj": (
        lambda path: XGBClassifier(booster="gblinear").fit(ONE, WANTED).save_model(path),
        "gblinear",
    ),
    "linear.txt": (
        lambda path: (
            LGBMClassifier(linear_tree=True, verbose=-1).fit(ONE, WANTED).booster_.save_model(path)
        ),
        "linear trees",
    ),
    "counts.cbm": (
        lambda path: (
            CatBoostClassifier(**CTR, **CATEGORIES).fit(PLAIN, WANTED).save_model(str(path))
        ),
        "CTR",
    ),
    "other.json": (lambda path: write(path, "{}"), "neither XGBoost nor CatBoost"),
    "text.json": (lambda path: write(path, "no"), "no JSON"),
    "text.txt": (lambda path: write(path, "no"), "no model of LightGBM"),
    "head.txt": (lambda path: write(path, "tree\nversion=v4\n"), "no model of LightGBM"),
    "text.ubj": (lambda path: write(path, "no"), "no model of XGBoost"),
    "text.cbm": (lambda path: write(path, "no"), "no model of CatBoost"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_such_classifier_is_refused_in_one_line(folder, name, tmp_path):
    make, reason = REFUSED[name]
    make(tmp_path / name)
    error = run(tmp_path / name, folder / "data.csv").exception
    assert isinstance(error, hornlens.HornlensError), error
    assert reason in str(error) and name in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("key", "forged"), [("left_children", 77), ("right_children", 0), ("split_indices", 9)]
)
def test_nodes_that_form_no_tree_are_refused_before_anything_is_asked(
    folder, key, forged, tmp_path
):
    """XGBoost would read outside its own memory."""
    content = json.loads((folder / "x.json").read_text())
    content["learner"]["gradient_booster"]["model"]["trees"][1][key][0] = forged
    (tmp_path / "forged.json").write_text(json.dumps(content))
    with pytest.raises(hornlens.HornlensError, match=r"no tree|no model"):
        open_classifier(tmp_path / "forged.json", folder / "data.csv", None)


def test_a_category_that_the_model_does_not_know_is_named(folder, tmp_path):
    PLAIN.assign(letter="q").to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(hornlens.HornlensError, match="'letter' has 'q'"):
        open_classifier(folder / "x.json", tmp_path / "new.csv", None)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_a_library_that_is_not_there_is_named_with_its_extra(folder, library, monkeypatch):
    name = next(name for name, own in FILES.items() if own == library)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(hornlens.HornlensError, match=rf"hornlens\[{library}\]"):
        open_classifier(folder / name, folder / "data.csv", None)
