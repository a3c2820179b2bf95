"""Explanations of every kind, small, for walks through their documents."""

import struct
import warnings
import zlib
from base64 import b64decode

import numpy as np
import pandas
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import hornlens
from hornlens import Limits, Plausible
from tests.explanation_cases import people_model, people_rows


def numbers(count=40, width=3):
    return np.random.default_rng(1).integers(0, 5, (count, width)).astype(float)


def sums(rows):
    return np.where(rows[:, 0] + rows[:, 1] > 4, "yes", "no")


def classes(rows):
    return (rows[:, 0] > 2) & (rows[:, 1] > 1) | (rows[:, 2] > 3)


def function():
    """A function of categories: its values are all that there is."""
    rows = pandas.DataFrame({"size": list("SMLSML"), "red": [True, False, True, True, False, True]})
    return lambda given: np.where((given["size"] == "L") & given["red"], "buy", "leave"), rows, {}


def binned():
    """A binned function, which stands in for it."""
    return sums, numbers(width=2), {"n_bins": 3}


def tree():
    rows = numbers()
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, classes(rows)), rows, {}


def leaves():
    """A forest with too many cells: proved by its leaves."""
    rows = numbers()
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(rows, classes(rows))
    return model, rows, {"limit": 5}


def boosted():
    rows = numbers()
    model = GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0)
    return model.fit(rows, classes(rows)), rows, {"max_conditions": 2}


def rounded():
    """Trees whose sums have single precision: the file says what may be a tie."""
    rows = numbers()
    model = XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)
    return model.fit(rows, classes(rows)), rows, {"limit": 5}


def several():
    """Three classes, and a column that does not matter."""
    rows = numbers(30, 3)
    rows[:, 2] = 7
    kinds = np.array([10, 20, 30])[(rows[:, 0] > 1).astype(int) + (rows[:, 1] > 2)]
    return DecisionTreeClassifier(random_state=0).fit(rows, kinds), rows, {"label": "kind"}


def missing():
    rows = numbers(30, 2)
    rows[::4, 1] = np.nan
    wanted = (rows[:, 0] > 2) | np.isnan(rows[:, 1])
    return (
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2).fit(rows, wanted),
        rows,
        {},
    )


def people():
    """Whole numbers, categories, Booleans, missing values; a background."""
    rows, wanted = people_rows(60)
    last = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, min_samples_leaf=2)
    return people_model(last).fit(rows, wanted), rows, {"background": ["pregnant -> sex = f"]}


def assumed():
    """Leaves and a background: boxes that do not occur."""
    model, rows, _ = leaves()
    return model, rows, {"limit": 5, "background": ["x0 > 3 -> x1 > 1"]}


def plausible():
    """Every cell that breaks few enough of the rows' own rules."""
    rows = numbers(220)
    rows[:, 1] = np.minimum(4, rows[:, 0] + (rows[:, 2] > 3))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes(rows))
    return model, rows, {"domain": "plausible"}


def plausible_leaves():
    """Leaves, a background, and rules that were given, of which one may be broken."""
    model, rows, options = assumed()
    rules = ("x0 > 2 -> x1 > 0", "x1 > 3 -> x0 > 0", "x2 > 3 and x0 < 1 -> x1 > 1")
    return model, rows, {**options, "plausible": Plausible(rules, 1)}


def sifted():
    rows = np.hstack([numbers(), numbers()[::-1]])
    return classes, rows, {"bins": "quantile", "n_bins": 3, "limit": 5, "max_conditions": 1}


def cut_off():
    model, rows, _ = tree()
    return model, rows, {"limits": Limits(max_questions=7)}


def few():
    model, rows, _ = tree()
    return model, rows, {"limits": Limits(max_rules=2)}


def near():
    model, rows, _ = tree()
    return model, rows[:8], {"domain": "data"}


def near_binned():
    return sums, numbers(8, 2), {"n_bins": 3, "domain": "data"}


def sift_cut_off():
    model, rows, options = sifted()
    return model, rows, {**options, "limits": Limits(max_questions=120)}


def fallen_back():
    """A tree behind a step that nobody can look into: the first note says so."""
    rows = numbers(width=2)
    model = make_pipeline(FunctionTransformer(np.negative), DecisionTreeClassifier(max_depth=2))
    return model.fit(rows, rows[:, 0] > 2), rows, {"n_bins": 2}


KINDS = {
    kind.__name__: kind
    for kind in (
        *(function, binned, tree, leaves, boosted, several, missing, people, assumed, sifted),
        *(plausible, plausible_leaves),
        *(cut_off, few, near, near_binned, sift_cut_off, rounded, fallen_back),
    )
}


def explained(name):
    """Return the explanation of a kind."""
    model, rows, options = KINDS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hornlens.explain(model, rows, **options)


def unpacked_numbers(text, code):
    """The numbers that a text holds: little-endian, deflated, in base 64."""
    raw = zlib.decompress(b64decode(text, validate=True))
    return struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)
