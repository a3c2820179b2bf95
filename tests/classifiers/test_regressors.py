"""Regressors in bands: what is claimed is what the library predicts, to the last bit."""

import json

import numpy as np
import pandas
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")

from catboost import CatBoost, CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner
from xgboost import XGBRegressor, XGBRFRegressor

import hornlens
from hornlens.cli.app import app
from hornlens.errors import InputError
from hornlens.targets.classifiers.files import open_classifier
from tests.classifier_cases import near, one_thread

__all__ = ["one_thread"]

RNG = np.random.default_rng(5)
COUNT, MANY = 240, 100_000
HOMES = pandas.DataFrame(
    {
        "size": RNG.normal(100, 30, COUNT),
        "rooms": RNG.integers(1, 7, COUNT),
        "city": RNG.choice(["Ulm", "Bonn", "Kiel"], COUNT),
    }
)
PRICE = (
    HOMES["size"] * 2_000
    + HOMES["rooms"] * 10_000
    + (HOMES["city"] == "Bonn") * 90_000
    + RNG.normal(0, 5_000, COUNT)
) / 100_000
CODED = HOMES.assign(city=pandas.Categorical(HOMES["city"]))
SMALL = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
XGB = {**SMALL, "enable_categorical": True}
LGB = {**SMALL, "min_child_samples": 5, "min_data_per_group": 5, "verbose": -1}
RARE = {"bagging_freq": 1, "bagging_fraction": 0.6}
QUIET = {"iterations": 3, "depth": 2, "verbose": 0, "allow_writing_files": False}
NAMED = {**QUIET, "one_hot_max_size": 9, "cat_features": ["city"]}


def models():
    """Each with its rows, and what predicts the numbers of rows."""
    made = {
        "xgboost": (XGBRegressor(**XGB), CODED),
        "xgboost, logarithms": (XGBRegressor(**XGB, objective="count:poisson"), CODED),
        "xgboost, forest": (XGBRFRegressor(**XGB), CODED),
        "lightgbm": (LGBMRegressor(**LGB), CODED),
        "lightgbm, logarithms": (LGBMRegressor(**LGB, objective="gamma"), CODED),
        "lightgbm, squares": (LGBMRegressor(**LGB, reg_sqrt=True), CODED),
        "lightgbm, forest": (LGBMRegressor(**LGB, boosting_type="rf", **RARE), CODED),
        "catboost": (CatBoostRegressor(**NAMED), HOMES),
        "catboost, logarithms": (CatBoostRegressor(**NAMED, loss_function="Poisson"), HOMES),
        "CatBoost": (CatBoost({**NAMED, "loss_function": "RMSE"}), HOMES),
    }
    fitted = {name: (model.fit(rows, PRICE), rows) for name, (model, rows) in made.items()}
    every = {name: (model, rows, model.predict) for name, (model, rows) in fitted.items()}
    own = every["xgboost, logarithms"][0]
    every["xgboost.Booster"] = (own.get_booster(), CODED, own.predict)
    own = every["lightgbm, squares"][0]
    every["lightgbm.Booster"] = (own.booster_, CODED, own.predict)
    return every


MODELS = models()


def ends_of(predict, rows):
    """A number that is predicted, the next one above another, and one that nobody predicts."""
    values = np.unique(predict(rows))
    kind = values.dtype.type
    above = np.nextafter(values[len(values) // 2], kind(np.inf))
    return [float(values[len(values) // 4]), float(above), float(values[-1]) * 1.01]


def beside(rows, result, count):
    """Rows of values of X, and of numbers at the cuts and beside them."""
    made = {}
    rng = np.random.default_rng(1)
    for feature in result.binned.every:
        values = rng.choice(np.asarray(rows[feature.name], dtype=object), count)
        if feature.cuts is not None and feature.cuts.values:
            cuts = np.array(near(feature.cuts.values))
            cuts = np.round(cuts) if feature.kind == "whole" else cuts
            values = np.where(rng.random(count) < 0.5, rng.choice(cuts, count), values)
        made[feature.name] = values
    return pandas.DataFrame(made).astype(rows.dtypes.to_dict())


@pytest.mark.parametrize("name", MODELS)
def test_bands_are_exact_for_every_input(name, tmp_path):
    model, rows, predict = MODELS[name]
    ends = ends_of(predict, rows)
    result = hornlens.explain(model, rows, bands=ends, label="price")
    assert result.certificate.scope.of == "every input" and result.how.startswith("the model's own")
    others = beside(rows, result, MANY)
    places = np.searchsorted(ends, predict(others).astype(np.float64), side="right")
    assert len(np.unique(places)) > 2
    assert (np.asarray(result.predict(others)) == np.array(result.classes)[places]).all()
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    short = hornlens.explain(model, rows, bands=ends, label="price", limit=1, max_conditions=2)
    same = hornlens.explain(model, rows, bands=ends, label="price", max_conditions=2)
    assert set(short.boxes) == set(same.boxes)


@pytest.mark.parametrize("name", MODELS)
def test_rules_may_compare_the_prediction(name):
    model, rows, predict = MODELS[name]
    values = np.unique(predict(rows))
    for end, holds in ((values[0] / 2, True), (values[-1], False)):
        rule = f"-> price > {float(end)!r}"
        assert bool(hornlens.prove(model, rule, rows, label="price")) == holds, rule


def test_a_booster_of_chances_predicts_numbers_where_bands_are_given():
    dear = (PRICE > 2.5).astype(int)
    booster = XGBRegressor(**XGB, objective="reg:logistic").fit(CODED, dear).get_booster()
    assert hornlens.explain(booster, CODED).classes == (0, 1)
    chances = np.asarray(booster.inplace_predict(CODED))
    result = hornlens.explain(booster, CODED, bands=[0.25, 0.5])
    assert result.certificate.scope.of == "every input"
    said = np.array(result.classes)[np.searchsorted([0.25, 0.5], chances, side="right")]
    assert (np.asarray(result.predict(CODED)) == said).all()


def test_where_rounding_decides_of_too_many_sums_only_the_breaks_are_used():
    """Near 1, one chance in single precision is that of many sums."""
    dear = (PRICE > 2.5).astype(int)
    options = {**XGB, "n_estimators": 12, "learning_rate": 1.0, "min_child_weight": 0}
    model = XGBRegressor(**options, objective="reg:logistic", reg_lambda=0).fit(CODED, dear)
    chances = np.unique(model.predict(CODED))
    end = float(chances[chances > 0.99999][0])
    result = hornlens.explain(model, CODED, bands=[end], limit=10_000_000)
    assert result.vote is None or not result.vote.model.trees.summed
    others = beside(CODED, result, 5_000)
    assert (
        np.asarray(result.predict(others))
        == np.array(result.classes)[(model.predict(others) >= end).astype(int)]
    ).all()


@pytest.mark.parametrize(
    "model",
    [
        CatBoostRegressor(**QUIET, loss_function="RMSEWithUncertainty"),
        CatBoostRegressor(**QUIET, loss_function="MultiQuantile:alpha=0.2,0.5"),
        XGBRegressor(n_estimators=2, objective="reg:quantileerror", quantile_alpha=[0.2, 0.5]),
    ],
    ids=["uncertainty", "quantiles", "alphas"],
)
def test_several_numbers_at_once_are_refused(model):
    model.fit(HOMES[["size", "rooms"]], PRICE)
    with pytest.raises(hornlens.HornlensError, match="one number for each row"):
        hornlens.explain(model, HOMES[["size", "rooms"]], bands=[2])


@pytest.mark.parametrize("name", MODELS)
def test_a_regressor_without_bands_is_told_of_them(name):
    model, rows, _ = MODELS[name]
    with pytest.raises(InputError, match=r"give bands=|is no classifier"):
        hornlens.explain(model, rows)


def test_a_classifier_in_a_booster_has_no_bands():
    booster = CatBoost({**QUIET, "loss_function": "Logloss"})
    booster.fit(HOMES[["size"]], (PRICE > 2).astype(int))
    with pytest.raises(InputError, match="is no regressor: its objective is Logloss"):
        hornlens.explain(booster, HOMES[["size"]], bands=[0.5])


# --- files ---

PLAIN = HOMES.assign(price=PRICE)


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def saved(folder):
    """A file for each library and kind of prediction, with what predicts."""
    kinds = ("xgboost", "lightgbm", "catboost")
    xgboost, lightgbm, catboost = (MODELS[f"{kind}, logarithms"][0] for kind in kinds)
    xgboost.save_model(folder / "x.json")
    xgboost.save_model(folder / "x.ubj")
    lightgbm.booster_.save_model(folder / "l.txt")
    catboost.save_model(str(folder / "c.cbm"))
    catboost.save_model(str(folder / "c.json"), format="json")
    by_letter = {"x": xgboost.predict, "l": lightgbm.predict, "c": catboost.predict}
    return {path.name: by_letter[path.name[0]] for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["x.json", "x.ubj", "l.txt", "c.cbm", "c.json"])
def test_a_file_of_a_regressor_is_explained_in_bands(name, tmp_path):
    predict = saved(tmp_path)[name]
    PLAIN.to_csv(tmp_path / "homes.csv", index=False)
    rows = HOMES if name.startswith("c") else CODED
    ends = ends_of(predict, rows)
    opened, table = open_classifier(tmp_path / name, tmp_path / "homes.csv", "price")
    result = hornlens.explain(opened, table, bands=ends)
    assert result.certificate.scope.of == "every input"
    places = np.searchsorted(ends, predict(rows).astype(np.float64), side="right")
    assert (np.asarray(result.predict(table)) == np.array(result.classes)[places]).all()
    files = (tmp_path / name, tmp_path / "homes.csv", "--label", "price")
    done = run("explain", *files, "--bands", ",".join(map(repr, ends)), "--format", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["certificate"]["scope"]["of"] == "every input"
    error = run("explain", *files).exception
    assert isinstance(error, InputError) and "give bands" in str(error)


# --- ONNX ---


def onnx_of_sklearn(make):
    skl2onnx = pytest.importorskip("skl2onnx")
    rows = PLAIN[["size", "rooms"]].to_numpy(np.float32)
    return skl2onnx.to_onnx(make.fit(rows, PRICE), rows[:1])


def onnx_of_booster(make, convert, wanted=PRICE):
    tools = pytest.importorskip("onnxmltools")
    types = pytest.importorskip("onnxmltools.convert.common.data_types")
    rows = PLAIN[["size", "rooms"]].to_numpy(np.float32)
    given = [("X", types.FloatTensorType([None, 2]))]
    model = make.fit(rows, wanted)
    return getattr(tools, convert)(model, initial_types=given, target_opset=15)


CHANCE = (PRICE - PRICE.min()) / (PRICE.max() - PRICE.min())
ONNX = {
    "tree": lambda: onnx_of_sklearn(DecisionTreeRegressor(max_depth=4)),
    "forest": lambda: onnx_of_sklearn(RandomForestRegressor(5, max_depth=3, random_state=0)),
    "extra trees": lambda: onnx_of_sklearn(ExtraTreesRegressor(5, max_depth=3, random_state=0)),
    "boosting": lambda: onnx_of_sklearn(GradientBoostingRegressor(n_estimators=5)),
    "scaled": lambda: onnx_of_sklearn(
        make_pipeline(StandardScaler(), RandomForestRegressor(3, max_depth=3, random_state=0))
    ),
    "xgboost": lambda: onnx_of_booster(XGBRegressor(**SMALL), "convert_xgboost"),
    "xgboost, logarithms": lambda: onnx_of_booster(
        XGBRegressor(**SMALL, objective="count:poisson"), "convert_xgboost"
    ),
    "xgboost, chances": lambda: onnx_of_booster(
        XGBRegressor(**SMALL, objective="reg:logistic"), "convert_xgboost", CHANCE
    ),
    "lightgbm": lambda: onnx_of_booster(LGBMRegressor(**LGB), "convert_lightgbm"),
    "lightgbm, logarithms": lambda: onnx_of_booster(
        LGBMRegressor(**LGB, objective="poisson"), "convert_lightgbm"
    ),
    "lightgbm, forest": lambda: onnx_of_booster(
        LGBMRegressor(**LGB, boosting_type="rf", **RARE), "convert_lightgbm"
    ),
    "bag": lambda: onnx_of_sklearn(
        BaggingRegressor(DecisionTreeRegressor(max_depth=3), 3, random_state=0)
    ),
}
BY_CELLS = ("bag",)


@pytest.mark.parametrize("name", ONNX)
def test_regressors_in_onnx_files_are_read(name, tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(ONNX[name]().SerializeToString())
    PLAIN[["size", "rooms"]].to_csv(tmp_path / "homes.csv", index=False)
    model, table = open_classifier(tmp_path / "model.onnx", tmp_path / "homes.csv", None)
    said = np.asarray(model.predict(table.rebuild(table.columns)), dtype=np.float64)
    ends = ends_of(lambda _: said.astype(np.float32), None)
    result = hornlens.explain(model, table, bands=ends)
    assert result.certificate.scope.of == "every input"
    others = beside(PLAIN[["size", "rooms"]], result, MANY)
    columns = [others[name].to_numpy() for name in others]
    predicted = np.asarray(model.predict(table.rebuild(columns)), dtype=np.float64)
    places = np.searchsorted(ends, predicted, side="right")
    assert len(np.unique(places)) > 2
    assert (np.asarray(result.predict(others)) == np.array(result.classes)[places]).all()
    if name not in BY_CELLS:
        short = hornlens.explain(model, table, bands=ends, limit=1, max_conditions=2)
        same = hornlens.explain(model, table, bands=ends, max_conditions=2)
        assert short.certificate.scope.of == "every input" and set(short.boxes) == set(same.boxes)
        with pytest.raises(InputError, match="give bands"):
            hornlens.explain(model, table)


def test_a_row_of_an_onnx_file_has_one_answer_whoever_is_asked_beside_it(tmp_path):
    """onnxruntime adds up the trees of a few rows in another order than those of many."""
    pytest.importorskip("onnxruntime")
    forest = RandomForestRegressor(5, max_depth=3, random_state=16)
    (tmp_path / "model.onnx").write_bytes(onnx_of_sklearn(forest).SerializeToString())
    PLAIN[["size", "rooms"]].to_csv(tmp_path / "homes.csv", index=False)
    model, table = open_classifier(tmp_path / "model.onnx", tmp_path / "homes.csv", None)
    whole = model.predict(table.rebuild(table.columns))
    for count in (1, 2, 7, 50, 60):
        parts = [
            model.predict(table.rebuild([column[at : at + count] for column in table.columns]))
            for at in range(0, len(table), count)
        ]
        assert (np.concatenate(parts) == whole).all(), count
