"""Classifiers and tables for tests: scikit-learn's own data, cut to a few columns."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small models are fitted sooner by one thread than by many that wait for each other."""
    with threadpool_limits(1):
        yield


def data(name):
    """Rows and classes: a few columns of one of scikit-learn's tables, or digits reduced."""
    if name == "digits":
        found = load_digits()
        few = found.target < 4
        return PCA(4, random_state=0).fit_transform(found.data[few]).round(3), found.target[few]
    load = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}[name]
    found = load()
    return found.data[:, :4], found.target


DATA = ("iris", "wine", "breast_cancer", "digits")
TREES = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(5, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5),
}
OTHERS = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "mlp": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((5,), max_iter=60, random_state=0)
    ),
    "svm": lambda: make_pipeline(StandardScaler(), SVC()),
}


def all_cells(result):
    """Every cell of an explanation, as rows of levels."""
    return np.array(list(product(*(range(f.size) for f in result.binned.features))))


def near(values, count=3):
    """Numbers on, just below and just above others, in single and in double precision."""
    found = []
    for value in values:
        value = float(value)
        found.append(value)
        for kind in (np.float32, np.float64):
            up = down = kind(value)
            for _ in range(count):
                up, down = np.nextafter(up, kind(np.inf)), np.nextafter(down, kind(-np.inf))
                found += [float(up), float(down)]
            found.append(float(kind(value)))
    return found
