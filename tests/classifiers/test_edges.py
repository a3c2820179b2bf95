"""Columns at the edges: replaced values, large whole numbers, mostly zeros, and no column."""

import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens.errors import HornlensError, InputError
from hornlens.logic.named import NamedRule
from hornlens.logic.numbers import exact_number

RNG = np.random.default_rng(3)


def tree(depth=4):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def near(result, rows):
    """Rows with each threshold, and the numbers beside it, in place of a value."""
    made = []
    for place, cuts in enumerate(result.edges.values()):
        for cut in cuts:
            values = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf)]
            for value in values:
                for row in rows[:20]:
                    made.append([*row[:place], value, *row[place + 1 :]])
    return np.array(made, dtype=rows.dtype)


def assert_read(model, rows, tmp_path=None):
    """The rules are exact, and say of each row, and near each threshold, what the model says."""
    result = hornlens.explain(model, rows)
    assert result.certificate.meets("exact"), result.certificate
    every = np.concatenate([rows, near(result, rows)])
    odd = every[result.predict(every) != model.predict(every)]
    assert not len(odd), odd[:3]
    if tmp_path is not None:
        result.save(tmp_path)
        assert hornlens.verify(tmp_path).ok
        assert hornlens.load(tmp_path).rules.to_frame().equals(result.rules.to_frame())
    return result


# --- imputers ---


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("value", [-999.0, 0.0, np.nan])
@pytest.mark.parametrize("indicator", [False, True])
def test_what_an_imputer_replaces_is_a_level_of_its_own(strategy, value, indicator, tmp_path):
    rows = np.round(RNG.normal(50, 20, (200, 2)), 1)
    rows[::4, 0] = value
    empty = np.isnan(rows[:, 0]) if np.isnan(value) else rows[:, 0] == value
    wanted = (np.where(empty, 60, rows[:, 0]) > 50) & (rows[:, 1] > 30)
    step = SimpleImputer(
        missing_values=value, strategy=strategy, fill_value=55, add_indicator=indicator
    )
    model = make_pipeline(step, StandardScaler(), tree()).fit(rows, wanted)
    result = assert_read(model, rows, tmp_path)
    if not np.isnan(value):
        first = result.edges["x0"].index(value)
        assert result.edges["x0"][first + 1] == np.nextafter(value, np.inf)


def test_an_imputer_of_some_columns_and_an_indicator_beside_it_are_read():
    rows = np.round(RNG.normal(50, 20, (200, 3)), 1)
    rows[::3, 1] = np.nan
    wanted = np.isnan(rows[:, 1]) & (rows[:, 0] > 40) | (rows[:, 2] > 60)
    columns = ColumnTransformer(
        [
            ("filled", make_pipeline(SimpleImputer(), StandardScaler()), [1, 2]),
            ("empty", MissingIndicator(features="all"), [1]),
            ("same", "passthrough", [0]),
        ]
    )
    assert_read(make_pipeline(columns, tree()).fit(rows, wanted), rows)


def test_a_column_that_was_all_missing_is_left_out_by_an_imputer():
    rows = RNG.normal(size=(100, 3))
    gone = rows.copy()
    gone[:, 1] = np.nan
    model = make_pipeline(SimpleImputer(), tree()).fit(gone, gone[:, 2] > 0)
    result = hornlens.explain(model, gone)
    assert result.certificate.meets("exact")
    assert "x2" in str(result.rules)


def test_a_whole_number_that_is_replaced_is_a_level_of_its_own():
    rows = RNG.integers(0, 90, (200, 2))
    rows[::4, 0] = -1
    wanted = np.where(rows[:, 0] < 0, 50, rows[:, 0]) > 45
    model = make_pipeline(SimpleImputer(missing_values=-1), tree()).fit(rows, wanted)
    result = hornlens.explain(model, rows)
    assert result.certificate.meets("exact")
    every = np.array([[first, 3] for first in range(-9, 99)])
    assert (result.predict(every) == model.predict(every)).all()


# --- what cannot be traced back ---


def negative(rows):
    return -np.asarray(rows)


negative.__name__ = "identity"
UNREAD = {
    "FunctionTransformer calls identity": FunctionTransformer(negative),
    "KNNImputer fills a column by others": KNNImputer(missing_values=-1),
    "FeatureUnion makes columns of several": make_union(StandardScaler(), "passthrough"),
}


@pytest.mark.parametrize("reason", UNREAD)
def test_why_trees_were_not_read_is_told_with_what_to_do(reason, tmp_path):
    rows = RNG.normal(size=(200, 2))
    model = make_pipeline(UNREAD[reason], tree(2)).fit(rows, rows[:, 0] > 0.3)
    result = hornlens.explain(model, rows)
    assert result.certificate.scope.of == "surrogate"
    assert result.notes[0].startswith(f"its trees could not be read because {reason}")
    assert "; " in result.notes[0]
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    assert hornlens.load(tmp_path).notes == result.notes
    with pytest.raises(InputError, match=reason):
        hornlens.explain(model, rows, bins="model")


def test_a_function_transformer_without_a_function_changes_nothing():
    rows = RNG.normal(size=(100, 2))
    model = make_pipeline(FunctionTransformer(), tree(2)).fit(rows, rows[:, 0] > 0.3)
    assert_read(model, rows)


# --- numbers ---


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@pytest.mark.parametrize(
    "last", [tree(3), HistGradientBoostingClassifier(max_iter=3), RandomForestClassifier(3)]
)
def test_whole_numbers_that_no_float_holds_are_read_exactly(kind, last, tmp_path):
    most = 10**16 if kind is np.int64 else 2**64 - 1
    times = RNG.integers(most - 10**15, most, 200, dtype=kind)
    rows = pandas.DataFrame({"ts_ns": times, "b": RNG.integers(0, 5, 200).astype(kind)})
    model = last.fit(rows, (times > np.median(times)) ^ (rows["b"] == 2))
    result = hornlens.explain(model, rows)
    assert result.certificate.meets("exact"), result.certificate
    edges = result.edges["ts_ns"]
    assert edges and any(isinstance(edge, int) for edge in edges)
    near = [int(edge) + step for edge in edges for step in (-1, 0, 1)]
    some = pandas.DataFrame({"ts_ns": np.array(near, dtype=kind), "b": np.array(3, dtype=kind)})
    for b in range(5):
        some["b"] = np.full(len(some), b, dtype=kind)
        assert (result.predict(some) == model.predict(some)).all()
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    assert hornlens.load(tmp_path).edges == result.edges
    assert result.flips("ts_ns").ever
    for edge in edges[:2]:
        for sign, value in (("<", edge), (">=", edge)):
            rule = f"ts_ns {sign} {int(value)} & b = 2 -> True"
            proof = hornlens.prove(model, rule, rows)
            if proof.row is not None:
                held = proof.row["ts_ns"] < value if sign == "<" else proof.row["ts_ns"] >= value
                assert held and proof.said == "False"
            assert proof.status in ("proved", "refuted")


def test_a_function_of_nanoseconds_is_asked_about_numbers_of_its_rows():
    times = 1_700_000_000_000_000_001 + RNG.integers(0, 10**9, 100)
    rows = np.column_stack([times, RNG.integers(0, 3, 100)])
    result = hornlens.explain(lambda x: x[:, 0] > 1_700_000_000_500_000_000, rows)
    assert set(result.binned.every[0].points) & set(map(exact_number, times.tolist()))
    assert result.agreement.rows > 0.95


@pytest.mark.parametrize("frame", [False, True])
def test_rows_of_single_precision_stay_so_through_a_scaler(frame):
    rows = RNG.normal(1000, 3, (200, 2)).astype(np.float32)
    model = make_pipeline(StandardScaler(), tree())
    given = pandas.DataFrame(rows, columns=["x0", "x1"]) if frame else rows
    model.fit(given, (rows[:, 0] > 1001) ^ (rows[:, 1] > 999))
    result = hornlens.explain(model, given)
    assert result.certificate.meets("exact")
    some = []
    for place, cuts in enumerate(result.edges.values()):
        for cut in cuts:
            value = np.float32(cut)
            for _ in range(4):
                value = np.nextafter(value, np.float32(-np.inf))
            for _ in range(9):
                row = rows[len(some) % 200].copy()
                row[place] = value
                some.append(row)
                value = np.nextafter(value, np.float32(np.inf))
    every = np.array(some, dtype=np.float32)
    every = pandas.DataFrame(every, columns=["x0", "x1"]) if frame else every
    assert (result.predict(every) == model.predict(every)).all()


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_numbers_that_a_column_cannot_have_meet_no_condition(kind):
    rows = RNG.integers(0, 10, (100, 2)).astype(kind)
    model = tree(2).fit(rows, rows[:, 0] > 4)
    for rule in ("x0 > 1e300 -> False", "x0 <= -1e300 -> False", "x0 = 0.5 -> False"):
        assert hornlens.prove(model, rule, rows).status == "vacuous"
        assert hornlens.prove(lambda x: x[:, 0] > 4, rule, rows).status == "vacuous"
        judged = hornlens.explain(model, rows).judge(NamedRule.parse(rule))
        assert judged.truth.outcome == "vacuous"
    if kind is np.uint8:
        assert hornlens.prove(model, "x0 > 255 -> False", rows).status == "vacuous"
    assert hornlens.prove(model, "x0 < 1e300 & x0 > 4 -> True", rows).status == "proved"


# --- mostly zeros ---


def gains(count=1500):
    gain = np.where(RNG.random(count) < 0.92, 0.0, np.round(RNG.exponential(8000, count)))
    return pandas.DataFrame({"capital_gain": gain, "age": np.round(RNG.normal(40, 10, count))})


@pytest.mark.parametrize("bins", ["auto", "quantile"])
def test_a_column_of_mostly_zeros_is_cut(bins):
    rows = gains()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(rows, (rows["capital_gain"] > 5000) | (rows["age"] > 60))
    result = hornlens.explain(model, rows, bins=bins)
    assert result.edges["capital_gain"] and not result.notes
    assert result.flips("capital_gain").rows > 0
    if bins == "auto":
        quantiles = hornlens.explain(model, rows, bins="quantile").agreement
        assert result.agreement.uniform > quantiles.uniform + 0.1


def test_a_column_with_one_bin_is_tried_by_other_values_before_anything_is_said():
    rows = gains()
    edges = {"age": [40], "capital_gain": []}
    result = hornlens.explain(lambda x: x["capital_gain"] > 5000, rows, bins=edges)
    assert result.notes == ("column 'capital_gain' has one bin: rules are silent on it",)
    flips = result.flips("capital_gain")
    assert flips.of_rows == len(rows) and flips.rows > 1000 and flips.examples
    still = hornlens.explain(lambda x: x["age"] > 40, rows, bins=edges).flips("capital_gain")
    assert not still.ever and not still.proved and still.of_rows == len(rows)


def test_nothing_is_said_of_a_column_with_one_bin_where_the_model_is_not_there(tmp_path):
    rows = gains()
    edges = {"age": [40], "capital_gain": []}
    hornlens.explain(lambda x: x["capital_gain"] > 5000, rows, bins=edges).save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    flips = hornlens.load(tmp_path).flips("capital_gain")
    assert not flips.of_rows and "none of" not in flips.sentence


def test_a_condition_inside_a_bin_is_answered_by_rows_that_meet_it():
    rows = gains()
    edges = {"age": [40], "capital_gain": []}
    result = hornlens.explain(lambda x: x["capital_gain"] > 5000, rows, bins=edges)
    broken = result.judge(NamedRule.parse("capital_gain >= 50000 -> False"))
    assert broken.truth.outcome == "broken"
    assert float(broken.answers[0].prompts[0].split(",")[0].split("=")[1]) >= 50000
    held = result.judge(NamedRule.parse("capital_gain >= 50000 -> True"))
    assert held.truth.outcome == "open" and "Not proved" in held.finding


def test_a_sparse_table_of_many_columns_is_no_single_cell():
    scipy = pytest.importorskip("scipy.sparse")
    rows = scipy.random(100, 800, 0.002, random_state=0, format="csr")
    model = LogisticRegression(C=100).fit(rows, RNG.integers(0, 2, 100))
    result = hornlens.explain(model, rows)
    assert result.binned.cell_count > 1000
    assert not result.certificate.meets("exact")


# --- rules of some cells ---


@pytest.mark.parametrize("seed", range(3))
def test_rules_of_the_cells_near_rows_say_how_often_they_are_right_elsewhere(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 4))
    model = tree(6).fit(rows, rows[:, 0] * rows[:, 1] + rows[:, 2] > 0.1)
    result = hornlens.explain(model, rows, domain="data", changes=0)
    inputs = rng.uniform(rows.min(axis=0), rows.max(axis=0), (4000, 4))
    right = (result.predict(inputs) == model.predict(inputs)).mean()
    assert right < 0.97
    assert abs(result.agreement.ruled - right) < 0.03
    assert "the rules are right on" in result.certificate.sentence
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    assert hornlens.load(tmp_path).agreement == result.agreement


# --- no raw errors ---


def test_a_regressor_of_another_library_is_an_error_in_a_line():
    class Regressor:
        classes_ = ()
        _estimator_type = "regressor"

        def predict(self, rows):
            return rows[:, 0]

    with pytest.raises(InputError, match="it predicts numbers"):
        hornlens.explain(Regressor(), RNG.normal(size=(9, 2)))
    boosting = pytest.importorskip("catboost").CatBoostRegressor
    model = boosting(iterations=2, verbose=0, allow_writing_files=False)
    rows = RNG.normal(size=(50, 2))
    with pytest.raises(InputError, match="CatBoostRegressor is no classifier"):
        hornlens.explain(model.fit(rows, rows[:, 0]), rows)


def test_nullable_whole_numbers_with_missing_values_are_asked_as_they_are():
    rows = pandas.DataFrame(
        {
            "a": pandas.array([1, 2, None, 4] * 30, dtype="Int64"),
            "b": pandas.array([0.5, None, 2.0, 3.0] * 30, dtype="Float64"),
            "c": pandas.array([True, None, False, True] * 30, dtype="boolean"),
            "d": RNG.normal(size=120),
        }
    )

    def model(given):
        a = given["a"].fillna(0).astype(float) + given["d"]
        return np.where((a > 2) | given["c"].fillna(False).astype(bool), "yes", "no")

    result = hornlens.explain(model, rows)
    assert result.agreement.drawn == 10_000 and result.rules
    times = [2**60 + 1, 2**60 + 3_001]
    large = pandas.DataFrame({"a": pandas.array(times * 20, dtype="Int64")})
    exact = hornlens.explain(lambda x: x["a"] > 2**60 + 2_000, large)
    assert exact.agreement.rows == 1


def test_a_number_that_the_type_of_a_column_cannot_hold_is_an_error_in_a_line():
    rows = RNG.integers(0, 9, (50, 2)).astype(np.uint8)
    with pytest.raises(HornlensError, match="uint8 cannot have the number"):
        hornlens.explain(lambda x: x[:, 0] > 4, rows, bins={"x0": [300]})


@pytest.mark.parametrize("rules", ["cover", "all"])
@pytest.mark.parametrize("most", [None, 2])
def test_a_grid_without_columns_has_one_rule(rules, most):
    rows = np.zeros((10, 2))
    result = hornlens.explain(
        lambda x: np.zeros(len(x), int), rows, rules=rules, max_conditions=most
    )
    assert str(result.rules) == "⊤ → 0"


# --- categories ---


def test_categories_that_only_the_encoder_knows_are_levels():
    rows = pandas.DataFrame(
        {"sex": RNG.choice(["f", "m", "x"], 300), "weight": RNG.normal(size=300)}
    )
    columns = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore"), ["sex"])], remainder="passthrough"
    )
    wanted = (rows["sex"] == "x") | (rows["weight"] > 0)
    model = make_pipeline(columns, tree()).fit(rows, wanted)
    result = hornlens.explain(model, rows[rows["sex"] != "x"])
    assert "sex = x → True" in str(result.rules)
    assert (result.predict(rows) == model.predict(rows)).all()
    assert result.certificate.scope.excluded == ("missing values", "new values in sex")
