"""What we read of XGBoost, LightGBM and CatBoost decides each row as the library does."""

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

import hornlens
from hornlens.targets.classifiers.ensembles.readers import read_trees, rows_before
from hornlens.targets.classifiers.ensembles.trees import NotExact, Split
from tests.classifiers.ensembles.fuzzing import (
    CASES,
    NUMBERS,
    differences,
    hard_rows,
    in_bands,
    sums,
)

ROWS = np.random.default_rng(0).normal(size=(200, 3))
CLASSES = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)


def hold(library, models, rows, seed):
    read = 0
    for number in range(models):
        rng = np.random.default_rng([seed, number])
        case = CASES[library](rng)
        if not read_trees(case.model).summed:
            continue
        read += 1
        wrong, _ = differences(case, hard_rows(case, rows, rng))
        assert wrong.empty, f"{library} {seed}, {number}: {case.model.get_params()}\n{wrong.head()}"
    assert read > models // 2


@pytest.mark.parametrize("library", CASES)
def test_fuzzed_models_are_read_to_the_last_bit(library):
    hold(library, 10, 5_000, 1)


@pytest.mark.slow
@pytest.mark.parametrize("library", CASES)
def test_a_million_hard_rows_are_read_to_the_last_bit(library):
    hold(library, 50, 20_000, 2)


def hold_in_bands(library, models, rows, seed):
    read, at_edges = 0, 0
    for number in range(models):
        rng = np.random.default_rng([seed, number])
        case = NUMBERS[library](rng)
        banded = in_bands(case, rng)
        trees = banded.over([read_trees(case.model)])
        if not trees.summed:
            continue
        read += 1
        wrong, close = differences(case, hard_rows(case, rows, rng), banded, trees)
        text = f"{library} {seed}, {number}: {case.model.get_params()} {banded.cuts.values}"
        assert wrong.empty, f"{text}\n{wrong.head()}"
        at_edges += close
    assert read > models * 2 // 3
    assert at_edges < read * rows // 2  # elsewhere it is the trees that decide


@pytest.mark.parametrize("library", NUMBERS)
def test_bands_of_fuzzed_regressors_are_read_to_the_last_bit(library):
    hold_in_bands(library, 20, 5_000, 3)


@pytest.mark.slow
@pytest.mark.parametrize("library", NUMBERS)
def test_bands_of_a_million_hard_rows_are_read_to_the_last_bit(library):
    hold_in_bands(library, 50, 20_000, 4)


def test_zero_of_lightgbm_is_wide_whatever_the_threshold():
    """LightGBM takes what is within 1e-35 of zero for zero, before any node asks for it."""
    tiny = float(np.float32(1e-35))
    column = np.tile([-1.0, 0.0, 1.0], 100)[:, None]
    model = LGBMClassifier(n_estimators=3, learning_rate=1.0, min_child_samples=1, verbose=-1)
    model.fit(column, (column[:, 0] >= 0).astype(int))
    rows = np.array([[-tiny], [np.nextafter(-tiny, -1)], [tiny], [np.nextafter(tiny, 1)], [0.0]])
    total = sums(read_trees(model), rows_before(model).transform(rows))
    assert total.argmax(axis=1).tolist() == model.predict(rows).tolist() == [1, 0, 1, 1, 1]


def test_whole_numbers_in_arrays_are_single_to_lightgbm():
    """Its API makes float32 of arrays of integers: 2^24 + 1 is 2^24."""
    rows = np.array([[2**24 - 1], [2**24], [2**24 + 1], [2**24 + 2]] * 50)
    model = LGBMClassifier(n_estimators=2, min_child_samples=1, verbose=-1)
    model.fit(rows.astype(float), rows[:, 0] > 2**24)
    assert model.predict(rows[:4]).tolist() != model.predict(rows[:4].astype(float)).tolist()
    result = hornlens.explain(model, rows)
    assert result.certificate.scope.direct
    assert result.predict(rows).tolist() == model.predict(rows).tolist()


def test_a_number_that_stands_for_missing_goes_where_missing_goes():
    split = Split((0.5, 3.0), True).with_missing(1.0, 2.0)
    values = np.array([0.0, 0.5, 0.9, 1.0, 1.9, 2.0, 3.0, np.nan])
    assert split.left(values).tolist() == [True, False, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (XGBClassifier(n_estimators=2, booster="dart"), "dart"),
        (XGBClassifier(n_estimators=2, booster="gblinear"), "gblinear"),
        (LGBMClassifier(n_estimators=2, verbose=-1, linear_tree=True), "linear trees"),
        (LGBMClassifier(n_estimators=2, verbose=-1, pred_early_stop=True), "pred_early_stop"),
    ],
    ids=["dart", "gblinear", "linear", "early"],
)
def test_what_cannot_be_read_exactly_says_why(model, reason):
    model.fit(ROWS, CLASSES)
    with pytest.raises(NotExact, match=reason):
        read_trees(model)
    with pytest.raises(hornlens.HornlensError, match=reason):
        hornlens.explain(model, ROWS, bins="model")
    result = hornlens.explain(model, ROWS)
    assert not result.certificate.scope.direct and reason in " ".join(result.notes)


def test_counts_of_categories_are_refused_by_name():
    rows = np.array([["abc"[n % 3], float(n)] for n in range(90)], dtype=object)
    model = CatBoostClassifier(
        iterations=5, verbose=0, allow_writing_files=False, one_hot_max_size=2, cat_features=[0]
    )
    model.fit(rows, [n % 3 == 1 for n in range(90)])
    with pytest.raises(NotExact, match="one_hot_max_size"):
        read_trees(model)


def test_several_labels_at_once_are_refused():
    model = XGBClassifier(n_estimators=2).fit(ROWS, np.stack([CLASSES, 1 - CLASSES], axis=1))
    with pytest.raises(NotExact, match="several labels"):
        read_trees(model)
