"""Explanations of every shape that files and pages have to cope with."""

from functools import cache

import numpy as np
import pandas
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import hornlens
from hornlens import Limits
from tests.classifier_cases import data
from tests.report_cases import NASTY

KINDS = np.array(["setosa", "versicolor", "virginica"])
IRIS = ["sepal length", "sepal width", "petal length", "petal width"]


def flowers():
    rows, classes = data("iris")
    return pandas.DataFrame(rows, columns=IRIS), KINDS[classes]


def forest():
    """Every cell asked, at the model's own thresholds."""
    rows, kinds = flowers()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, kinds)
    return model, rows, {"label": "species"}


def beyond():
    """Short rules, proved by the leaves of the trees."""
    model, rows, _ = forest()
    return model, rows, {"max_conditions": 2, "limit": 1}


def binned():
    """A model that is not exact in its bins."""
    rows, kinds = flowers()
    return LogisticRegression(max_iter=500).fit(rows, kinds), rows, {"n_bins": 3}


def people_rows(count=250):
    draw = np.random.default_rng(3)
    rows = pandas.DataFrame(
        {
            "age": draw.integers(18, 80, count),
            "sex": draw.choice(["f", "m"], count),
            "pregnant": draw.choice([True, False], count),
            "income": [None if gap else 1.5 for gap in draw.random(count) < 0.3],
        }
    )
    wanted = (rows["age"] >= 40) & (rows["sex"] == "f") | rows["income"].isna()
    return rows, wanted.map({True: "yes", False: "no"})


def people_model(last=None):
    """A Pipeline over the columns of `people_rows`."""
    if last is None:
        last = HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=6, min_samples_leaf=2)
    return make_pipeline(
        ColumnTransformer(
            [
                ("sex", OneHotEncoder(), ["sex"]),
                ("pregnant", OrdinalEncoder(), ["pregnant"]),
                ("numbers", StandardScaler(), ["age", "income"]),
            ]
        ),
        last,
    )


def people():
    """Whole numbers, categories, Booleans, missing values; a background."""
    rows, wanted = people_rows()
    model = people_model().fit(rows, wanted)
    return model, rows, {"background": ["pregnant -> sex = f"]}


def near():
    """The cells of the rows and their neighbours."""
    model, rows, _ = binned()
    return model, rows, {"domain": "data", "changes": 1, "n_bins": 3}


def drawn():
    """Sifted: some cells were asked, and nothing is proved."""
    rows, _ = flowers()
    return (
        lambda given: np.where(given["petal width"] > 1, "wide", "thin"),
        rows,
        {"limit": 5, "max_conditions": 1, "bins": "quantile"},
    )


def constant():
    """One answer, and one column that never changes."""
    return (
        lambda given: ["yes"] * len(given),
        pandas.DataFrame({"a": [1.0, 1, 1], "b": ["x", "x", "x"]}),
        {},
    )


def nasty():
    """Names and values that would like to be markup, code or formulas."""
    first, second, *_ = NASTY
    rows = pandas.DataFrame(
        {
            first: list(NASTY) * 2,
            "=1+1": np.arange(2 * len(NASTY)) / 2,
            "__proto__": [True, False] * len(NASTY),
        }
    )

    def model(given):
        odd = given[first].isin(NASTY[:4]) & (given["=1+1"] > 2)
        return np.where(odd, second, "</title><b>")

    return model, rows, {"bins": {"=1+1": [2.5, 5]}, "label": NASTY[3]}


def cut_off():
    """Ended by a limit: most cells were not asked."""
    model, rows, options = people()
    rows = rows[(rows["sex"] == "f") | ~rows["pregnant"]].reset_index(drop=True)
    return model, rows, {**options, "limits": Limits(max_questions=30)}


def cut_off_near():
    """Ended by a limit among the cells of the rows and their neighbours."""
    model, rows, options = near()
    return model, rows, {**options, "limits": Limits(max_questions=30)}


CASES = {
    each.__name__: each for each in (forest, beyond, binned, people, near, drawn, constant, nasty)
}
ENDED = {each.__name__: each for each in (cut_off, cut_off_near)}
"""Runs that a limit ended."""


@cache
def explained(name):
    """The model, its rows, and what is said of it."""
    model, rows, options = (CASES | ENDED)[name]()
    return model, rows, hornlens.explain(model, rows, **options)
