"""Scikit-learn's wrappers around trees are read exactly: their sums say what `predict` says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SelectKBest  # noqa: E402
from sklearn.linear_model import LogisticRegression, RidgeClassifier  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.semi_supervised import SelfTrainingClassifier  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

from hornlens import explain  # noqa: E402
from hornlens.targets.classifiers.columns import read_table  # noqa: E402
from hornlens.targets.classifiers.pipelines import read_tree_model  # noqa: E402
from hornlens.targets.classifiers.thresholds import exact_cuts  # noqa: E402
from tests.tree_rows import adversarial, differences  # noqa: E402


def tree(depth=3, **more):
    return DecisionTreeClassifier(max_depth=depth, random_state=1, **more)


def forest(count=4, depth=3, **more):
    return RandomForestClassifier(count, max_depth=depth, random_state=1, **more)


def boosting(**more):
    return GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=1, **more)


def histograms(**more):
    return HistGradientBoostingClassifier(max_iter=6, max_depth=3, min_samples_leaf=5, **more)


def scaled(clf):
    return make_pipeline(StandardScaler(), clf)


BOTH = {
    "tree": tree,
    "weighted tree": lambda: tree(class_weight="balanced"),
    "forest": forest,
    "extra trees": lambda: ExtraTreesClassifier(5, max_depth=3, random_state=1),
    "boosting": boosting,
    "boosting from zero": lambda: boosting(init="zero"),
    "histograms": histograms,
    "histograms with interactions": lambda: histograms(interaction_cst=[[0, 1], [2]]),
    "weighted forest": lambda: forest(class_weight="balanced_subsample"),
    "bag": lambda: BaggingClassifier(tree(), 5, max_features=0.6, random_state=0),
    "bag of pipelines": lambda: BaggingClassifier(scaled(tree()), 3, random_state=0),
    "bag of few rows": lambda: BaggingClassifier(tree(), 9, max_samples=2, random_state=3),
    "boosted stumps": lambda: AdaBoostClassifier(n_estimators=5, random_state=0),
    "boosted trees": lambda: AdaBoostClassifier(tree(2), n_estimators=5, random_state=0),
    "average": lambda: VotingClassifier(
        [("a", tree()), ("b", scaled(forest())), ("c", forest(3))],
        voting="soft",
        weights=[1, 2, 0.5],
    ),
    "votes": lambda: VotingClassifier(
        [("a", tree()), ("b", tree(2)), ("c", scaled(tree(4)))], weights=[1, 1.5, 1]
    ),
    "stack": lambda: StackingClassifier([("a", tree()), ("b", scaled(forest()))]),
    "stack under ridge": lambda: StackingClassifier(
        [("a", tree()), ("b", forest())], final_estimator=RidgeClassifier()
    ),
    "stack of decisions": lambda: StackingClassifier(
        [("a", boosting()), ("b", histograms())], stack_method="decision_function"
    ),
    "search": lambda: GridSearchCV(scaled(tree()), {"decisiontreeclassifier__max_depth": [2, 3]}),
    "random search": lambda: RandomizedSearchCV(
        forest(), {"max_depth": [2, 3]}, n_iter=1, random_state=0
    ),
    "one against rest": lambda: OneVsRestClassifier(forest()),
    "boosting against rest": lambda: OneVsRestClassifier(boosting()),
    "self-training": lambda: SelfTrainingClassifier(forest()),
    "eliminated": lambda: RFE(forest(), n_features_to_select=3),
    "selected": lambda: make_pipeline(SelectKBest(k=3), forest()),
    "pipeline in a search in a vote": lambda: VotingClassifier(
        [("a", GridSearchCV(scaled(forest()), {"randomforestclassifier__max_depth": [2]}))],
        voting="soft",
    ),
    "vote in a pipeline": lambda: scaled(
        VotingClassifier([("a", tree()), ("b", forest())], voting="soft")
    ),
}
TWO = {
    "exponential": lambda: boosting(loss="exponential"),
    "monotone boosting": lambda: histograms(monotonic_cst=[1, -1, 0, 0, 0]),
    "monotone trees": lambda: forest(monotonic_cst=[1, 0, 0, -1, 0]),
    "calibrated trees": lambda: CalibratedClassifierCV(tree(), cv=3),
    "isotonic trees": lambda: CalibratedClassifierCV(tree(), method="isotonic", cv=3),
    "one sigmoid": lambda: CalibratedClassifierCV(forest(), ensemble=False),
    "one isotonic": lambda: CalibratedClassifierCV(forest(8, 5), ensemble=False, method="isotonic"),
    "sigmoid of boosting": lambda: CalibratedClassifierCV(boosting(), ensemble=False),
    "isotonic of boosting": lambda: CalibratedClassifierCV(
        histograms(), ensemble=False, method="isotonic"
    ),
    "threshold": lambda: FixedThresholdClassifier(forest(), threshold=0.3),
    "threshold at a tie": lambda: FixedThresholdClassifier(forest(4), threshold=0.5),
    "threshold of boosting": lambda: FixedThresholdClassifier(boosting(), threshold=0.7),
    "exponential threshold": lambda: FixedThresholdClassifier(
        boosting(loss="exponential"), threshold=0.7, pos_label="a"
    ),
    "threshold of decisions": lambda: FixedThresholdClassifier(
        histograms(), threshold=0.2, response_method="decision_function", pos_label="a"
    ),
    "never": lambda: FixedThresholdClassifier(forest(), threshold=2.0),
    "tuned": lambda: TunedThresholdClassifierCV(forest(), cv=3),
    "threshold of isotonic": lambda: FixedThresholdClassifier(
        CalibratedClassifierCV(forest(6), ensemble=False, method="isotonic"), threshold=0.4
    ),
    "threshold of sigmoid": lambda: FixedThresholdClassifier(
        CalibratedClassifierCV(boosting(), ensemble=False), threshold=0.4
    ),
    "threshold of stumps": lambda: FixedThresholdClassifier(
        AdaBoostClassifier(n_estimators=5), threshold=0.45
    ),
    "threshold of a stack": lambda: FixedThresholdClassifier(
        StackingClassifier([("a", tree()), ("b", forest())], final_estimator=LogisticRegression()),
        threshold=0.4,
    ),
}
NO_SUM = {
    "stack of boosting": lambda: StackingClassifier([("a", boosting()), ("b", forest())]),
    "bag of boosting": lambda: BaggingClassifier(boosting(), 3, random_state=0),
    "two precisions": lambda: VotingClassifier([("a", tree()), ("b", histograms())], voting="soft"),
    "votes of sums": lambda: VotingClassifier([("a", forest()), ("b", boosting())]),
    "calibrated forests": lambda: CalibratedClassifierCV(forest(), cv=3),
    "stack under a forest": lambda: StackingClassifier(
        [("a", tree()), ("b", forest())], final_estimator=forest()
    ),
    "one against one": lambda: OneVsOneClassifier(forest()),
}
NOT_READ = {
    "init": lambda: boosting(init=LogisticRegression()),
    "passthrough": lambda: StackingClassifier([("a", tree())], passthrough=True),
    "vote of others": lambda: VotingClassifier([("a", tree()), ("b", LogisticRegression())]),
    "calibrated regression": lambda: CalibratedClassifierCV(LogisticRegression(), cv=3),
}


LIBRARIES = {
    "xgboost": ("XGBClassifier", {"n_estimators": 5, "max_depth": 2}),
    "lightgbm": ("LGBMClassifier", {"n_estimators": 5, "max_depth": 2, "verbose": -1}),
    "catboost": ("CatBoostClassifier", {"n_estimators": 5, "depth": 2, "silent": True}),
}


def rows_of(classes, count=400, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 5))
    positive = rows[:, 0] + rows[:, 1] * rows[:, 2] + rng.normal(size=count) * 0.5 > 0
    y = positive.astype(int) + (0 if classes == 2 else rows[:, 3] > 0.5)
    return rows, np.array(list("abc"), dtype=object)[y]


def read(make, classes, seed=0):
    rows, y = rows_of(classes, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = make().fit(rows, y)
    return clf, rows, read_tree_model(clf, read_table(rows))


CASES = [(name, make, classes) for name, make in BOTH.items() for classes in (2, 3)]
CASES += [(name, make, 2) for name, make in TWO.items()]
SUMS = pytest.mark.parametrize(
    ("make", "classes"),
    [(make, classes) for _, make, classes in CASES],
    ids=[f"{name}, {classes} classes" for name, _, classes in CASES],
)


def differing(make, classes, count, seed=0):
    """Return how many adversarial rows get another class from the sums."""
    clf, rows, model = read(make, classes, seed)
    assert model is not None
    assert model.trees.summed
    asked = adversarial(model, rows, count, seed)
    bad = differences(model, clf, asked, clf.classes_)
    print(len(bad), "of", count, "rows differ:", asked[bad[:3]].tolist())
    return len(bad)


@SUMS
def test_the_largest_sum_is_the_class(make, classes):
    assert differing(make, classes, 2_000) == 0


@pytest.mark.slow
@SUMS
@pytest.mark.parametrize("seed", range(2))
def test_the_largest_sum_is_the_class_of_many_rows(make, classes, seed):
    assert differing(make, classes, 100_000, seed) == 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", NO_SUM.values(), ids=NO_SUM)
def test_where_no_sum_decides_the_breaks_part_all_classes(make, classes):
    clf, rows, model = read(make, classes)
    assert model is not None
    assert not model.trees.summed
    cuts = exact_cuts(model, read_table(rows))
    asked = adversarial(model, rows, 4_000)
    cells = np.column_stack(
        [cuts[at].places(asked[:, at]) if at in cuts else 0 * asked[:, at] for at in range(5)]
    )
    classes_of: dict[tuple, set] = {}
    for cell, answer in zip(cells.tolist(), clf.predict(asked).tolist(), strict=True):
        classes_of.setdefault(tuple(cell), set()).add(answer)
    assert {len(answers) for answers in classes_of.values()} == {1}


@pytest.mark.parametrize("make", NOT_READ.values(), ids=NOT_READ)
def test_what_depends_on_more_than_trees_is_asked(make):
    _, _, model = read(make, 2)
    assert model is None


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("at", [0.01, 0.3, 0.5, 0.99])
def test_thresholds_of_other_libraries_are_read(library, at):
    kind, options = LIBRARIES[library]
    booster = getattr(pytest.importorskip(library), kind)
    rows, y = rows_of(2)
    clf = FixedThresholdClassifier(booster(**options), threshold=at).fit(rows, y == "b")
    model = read_tree_model(clf, read_table(rows))
    assert model.trees.summed
    asked = adversarial(model, rows, 5_000)
    assert len(differences(model, clf, asked, clf.classes_)) == 0


def test_a_threshold_is_found_although_the_average_has_ties():
    clf, rows, model = read(lambda: FixedThresholdClassifier(forest(4), threshold=0.5), 2)
    result = explain(clf, rows)
    assert result.certificate.scope.of == "every input"
    assert model.trees.summed


def test_numbers_beyond_single_precision_are_compared_as_histogram_boosting_does():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(-1, 1, 400) * 1e200, rng.normal(size=400)])
    clf = histograms().fit(rows, (rows[:, 0] > 3e199) ^ (rows[:, 1] > 0))
    result = explain(clf, rows)
    print(result)
    assert result.certificate.scope.of == "every input"
    assert not any("never asks" in note for note in result.notes)
