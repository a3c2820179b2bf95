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
from sklearn.frozen import FrozenEstimator  # noqa: E402
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

from hornlens.classifiers import explain  # noqa: E402
from hornlens.targets.classifiers.columns import read_table  # noqa: E402
from hornlens.targets.classifiers.reading import read_tree_model  # noqa: E402
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
    "monotone histograms": lambda: histograms(interaction_cst=[[0, 1], [2]]),
    "monotone forest": lambda: forest(monotonic_cst=None, class_weight="balanced_subsample"),
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
        [("a", boosting()), ("b", forest())], stack_method="auto"
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
        StackingClassifier(
            [("a", tree()), ("b", forest())], final_estimator=LogisticRegression()
        ),
        threshold=0.4,
    ),
}
NO_SUM = {
    "bag of boosting": lambda: BaggingClassifier(boosting(), 3, random_state=0),
    "two precisions": lambda: VotingClassifier(
        [("a", tree()), ("b", histograms())], voting="soft"
    ),
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


def rows_of(classes, count=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=count) * 0.5 > 0).astype(int)
    y = y + (0 if classes == 2 else X[:, 3] > 0.5)
    return X, np.array(list("abc"))[y]


def fitted(make, classes, seed=0):
    X, y = rows_of(classes, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y), X


CASES = [(name, make, classes) for name, make in BOTH.items() for classes in (2, 3)]
CASES += [(name, make, 2) for name, make in TWO.items()]
IDS = [f"{name}, {classes} classes" for name, _, classes in CASES]


def wrong(make, classes, count, seed=0):
    clf, X = fitted(make, classes, seed)
    model = read_tree_model(clf, read_table(X))
    assert model is not None
    if not model.trees.summed:
        return None
    rows = adversarial(model, X, count, seed)
    bad = differences(model, clf, rows, clf.classes_)
    print(len(bad), "of", count, "rows differ:", rows[bad[:3]].tolist())
    return len(bad)


@pytest.mark.parametrize(("name", "make", "classes"), CASES, ids=IDS)
def test_the_largest_sum_is_the_class(name, make, classes):
    differing = wrong(make, classes, 2_000)
    if name == "stack of decisions" and classes == 2:
        pytest.skip("predict_proba of boosting is no sum")
    if name in MAYBE and differing is None:
        pytest.skip("rounding may decide a vote: only the breaks are read")
    assert differing == 0
