"""Which of scikit-learn's classifiers are read, and that none is misread.

Each one that can be fitted is explained; what its certificate claims is held against `predict`, on
rows at and beside all cuts.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from hornlens import explain
from hornlens.errors import HornlensError
from hornlens.targets.classifiers.columns import read_table
from hornlens.targets.classifiers.pipelines import read_tree_model

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
NAMED = [("a", TREE), ("b", DecisionTreeClassifier(max_depth=1, random_state=0))]
NEEDS = {
    "CalibratedClassifierCV": {"estimator": TREE, "cv": 2},
    "ClassifierChain": {"estimator": TREE},
    "FixedThresholdClassifier": {"estimator": TREE, "threshold": 0.4},
    "GridSearchCV": {"estimator": TREE, "param_grid": {"max_depth": [1, 2]}, "cv": 2},
    "HalvingGridSearchCV": {"estimator": TREE, "param_grid": {"max_depth": [1, 2]}, "cv": 2},
    "HalvingRandomSearchCV": {
        "estimator": TREE,
        "param_distributions": {"max_depth": [1, 2]},
        "cv": 2,
    },
    "MultiOutputClassifier": {"estimator": TREE},
    "OneVsOneClassifier": {"estimator": TREE},
    "OneVsRestClassifier": {"estimator": TREE},
    "OutputCodeClassifier": {"estimator": TREE, "random_state": 0},
    "RFE": {"estimator": TREE, "n_features_to_select": 2},
    "RFECV": {"estimator": TREE, "cv": 2},
    "RadiusNeighborsClassifier": {"outlier_label": "most_frequent"},
    "RandomizedSearchCV": {
        "estimator": TREE,
        "param_distributions": {"max_depth": [1, 2]},
        "n_iter": 1,
        "cv": 2,
    },
    "SelfTrainingClassifier": {"estimator": TREE},
    "StackingClassifier": {"estimators": NAMED, "cv": 2, "final_estimator": LogisticRegression()},
    "TunedThresholdClassifierCV": {"estimator": TREE, "cv": 2},
    "VotingClassifier": {"estimators": NAMED},
}
"""What estimators need that others stand in, and cannot be made without."""
SMALLER = {"n_estimators": 4, "max_depth": 2, "max_iter": 4, "random_state": 0}
READ = {
    *("DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreesClassifier"),
    *("RandomForestClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier"),
    *("AdaBoostClassifier", "BaggingClassifier", "CalibratedClassifierCV"),
    *("FixedThresholdClassifier", "OneVsRestClassifier", "SelfTrainingClassifier"),
    *("StackingClassifier", "TunedThresholdClassifierCV", "VotingClassifier"),
    *("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"),
    *("RFE", "RFECV"),
}
"""Estimators whose class is that of the largest sum of leaves."""
BREAKS = {"OneVsOneClassifier", "OutputCodeClassifier"}
"""Estimators whose class follows from the leaves in another way."""
SEVERAL_LABELS = {"ClassifierChain", "MultiOutputClassifier"}
"""Estimators that give several labels at once."""


def names():
    return dict(all_estimators("classifier")) | {
        name: kind for name, kind in all_estimators() if name in NEEDS
    }


EVERY = names()


def made(name):
    """Return an estimator with few trees and steps, so that its grid is small."""
    needs = NEEDS.get(name, {})
    estimator = EVERY[name](**needs)
    known = set(estimator.get_params(deep=False)) - set(needs)
    return estimator.set_params(**{key: SMALLER[key] for key in SMALLER if key in known})


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 8, size=(120, 3)) + 0.25
    return rows, ((rows[:, 0] > 3) ^ (rows[:, 1] + rows[:, 2] > 9)).astype(int)


def around(result, rows):
    """Return rows whose numbers are at the cuts, one bit beside them, and beyond all."""
    rng = np.random.default_rng(1)
    asked = rows[rng.integers(0, len(rows), 3_000)].copy()
    for at in range(rows.shape[1]):
        cuts = np.array([*result.edges.get(f"x{at}", ()), 0.0])
        beside = [np.nextafter(cuts, to) for to in (-np.inf, np.inf)]
        single = [
            np.nextafter(cuts.astype(np.float32), np.float32(to)).astype(float)
            for to in (-np.inf, np.inf)
        ]
        every = np.concatenate([cuts, *beside, *single, [-1e6, 1e6, 0.0]])
        new = every[rng.integers(0, len(every), len(asked))]
        asked[:, at] = np.where(rng.random(len(asked)) < 0.7, new, asked[:, at])
    return asked


@pytest.mark.parametrize("name", sorted(set(EVERY) - SEVERAL_LABELS))
def test_what_is_claimed_of_an_estimator_is_true(name, data):
    rows, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clf = made(name).fit(rows, y)
        except Exception as error:  # it wants rows, or an option, that this test has not
            pytest.skip(f"{name} is not fitted: {type(error).__name__}")
        model = read_tree_model(clf, read_table(rows))
        read = model is not None and model.trees.summed
        assert (model is not None) == (name in READ | BREAKS), "the lists in this file are old"
        assert read == (name in READ)
        result = explain(clf, rows)
        asked = around(result, rows)
        try:
            said = clf.predict(asked)
        except ValueError:
            pytest.skip("it takes no such rows")
    claimed = result.predict(asked)
    is_exact = result.certificate.scope.of == "every input"
    assert is_exact or name not in READ | BREAKS
    if is_exact:
        bad = np.flatnonzero(np.asarray(claimed) != said)
        assert not len(bad), (name, asked[bad[:3]].tolist())


@pytest.mark.parametrize("name", sorted(SEVERAL_LABELS))
def test_several_labels_at_once_are_refused(name, data):
    rows, y = data
    clf = made(name).fit(rows, np.column_stack([y, 1 - y]))
    with pytest.raises(HornlensError):
        explain(clf, rows)


def test_every_estimator_that_is_listed_exists():
    assert set(EVERY) >= READ | BREAKS | SEVERAL_LABELS
