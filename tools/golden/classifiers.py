"""Cases of classifiers: functions of rows, and models that scikit-learn fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple

from tools.golden.case import COUNT, Case
from tools.golden.doors import Parts, explained

MODES: tuple[dict[str, Any], ...] = (
    {},
    {"rules": "all"},
    {"max_conditions": 1},
    {"max_conditions": 2},
    {"domain": "data"},
    {"domain": "data", "changes": 0},
    {"domain": "data", "max_conditions": 2},
    {"limit": 5, "max_conditions": 1},
    {"limit": 5, "epsilon": 0.2, "seed": 3},
    {"bins": "uniform", "n_bins": 3},
)
"""How functions are explained: in turn."""
GRID: tuple[dict[str, Any], ...] = (
    {},
    {"rules": "all"},
    {"max_conditions": 1},
    {"max_conditions": 2},
    {"domain": "data"},
    {"background": ["x0 < 1 -> x1 < 1"]},
    {"domain": "data", "changes": 0, "max_conditions": 2},
)
"""How grids are explained: in turn."""
BACKGROUND = ("b -> c = x", "c = y -> a < 4", "a < 1 -> not b")
FITTED: tuple[dict[str, Any], ...] = (
    {"bins": "model"},
    {"bins": "model", "rules": "all"},
    {"bins": "model", "max_conditions": 1},
    {"bins": "model", "max_conditions": 2},
    {"bins": "model", "max_conditions": 1, "limit": 1},
    {"bins": "model", "max_conditions": 2, "limit": 1},
    {"bins": "model", "domain": "data"},
    {"bins": "quantile", "n_bins": 3},
    {"bins": "model", "background": ["x0 < 0 -> x1 < 1"]},
    {"bins": "model", "background": ["x0 < 0 -> x1 < 1"], "max_conditions": 2, "limit": 1},
)
"""How fitted models are explained: in turn."""
VOTED: dict[str, dict[str, Any]] = {"cells": {}, "leaves": {"max_conditions": 2, "limit": 1}}
BINNED: dict[str, dict[str, Any]] = {
    "cells": {"n_bins": 3},
    "samples": {"n_bins": 3, "limit": 1, "max_conditions": 2},
}
"""How models of real rows are explained."""


def classifiers() -> Iterator[Case]:
    """Yield classifiers, if what they need is installed."""
    if find_spec("pandas") is None or find_spec("sklearn") is None:
        return
    for seed in range(COUNT):
        yield Case(f"classifier/function/{seed:03}", partial(_function, seed))
    for seed in range(COUNT):
        yield Case(f"classifier/grid/{seed:03}", partial(_grid, seed))
    for seed in range(COUNT):
        yield Case(
            f"classifier/fitted/{seed:03}", partial(_fitted, seed), partial(_fingerprint, seed)
        )
    yield from _on_data()


def _on_data() -> Iterator[Case]:
    """Yield models of real rows, and explanations of every shape: pipelines, gaps, categories."""
    from tests.classifier_cases import DATA, OTHERS, TREES, data
    from tests.explanation_cases import CASES

    def fitted(name: str, kind: str) -> Any:
        rows, classes = data(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a network that is not trained to its end will do
            return ({**TREES, **OTHERS}[kind]()).fit(rows, classes), rows

    def run(name: str, kind: str, options: dict[str, Any]) -> Parts:
        return explained(*fitted(name, kind), **options)

    def made(name: str, kind: str) -> str:
        return _answers(*fitted(name, kind))

    for name in DATA:
        for kind in (*TREES, *OTHERS):
            ways = VOTED if kind in TREES else BINNED
            for way, options in ways.items():
                key = f"classifier/data/{name}, {kind}, {way}"
                yield Case(key, partial(run, name, kind, options), partial(made, name, kind))
    for name, case in CASES.items():

        def of_case(case: Any = case) -> Parts:
            model, rows, options = case()
            return explained(model, rows, **options)

        def made_case(case: Any = case) -> str:
            model, rows, _ = case()
            return _answers(model, rows)

        yield Case(f"classifier/shape/{name}", of_case, made_case)


def _answers(model: Any, rows: Any) -> str:
    """Return what tells a model from another: what it says of its rows."""
    said = model.predict(rows) if hasattr(model, "predict") else model(rows)
    return sha256(repr(list(map(str, said))).encode()).hexdigest()[:16]


# --- functions of rows ---


def frame_of(rng: Random) -> Any:
    """Return rows: numbers with and without gaps, Booleans, words, whole numbers, one value."""
    import pandas

    count = rng.randint(15, 60)
    columns: dict[str, Callable[[], Any]] = {
        "a": lambda: rng.randrange(12) / 2,
        "b": lambda: rng.random() < 0.5,
        "c": lambda: rng.choice("xyz"),
        "d": lambda: rng.choice([None, 0.5, 1.5, 2.5]),
        "e": lambda: rng.randint(18, 60),
        "f": lambda: rng.choice(["p", None]),
        "g": lambda: 1.0,
    }
    names = ["a", "b", "c", *sorted(rng.sample(["d", "e", "f", "g"], rng.randint(0, 2)))]
    return pandas.DataFrame({name: [columns[name]() for _ in range(count)] for name in names})


class DecisionList(NamedTuple):
    """A classifier: the first conjunction that a row meets says its class."""

    parts: list[tuple[list[Callable[[Any], Any]], str]]
    classes_: list[str]

    def predict(self, rows: Any) -> Any:
        """Return a class for each row."""
        import numpy as np

        said = np.full(len(rows), "no", dtype=object)
        for tests, label in reversed(self.parts):
            meets = np.ones(len(rows), dtype=bool)
            for test in tests:
                meets &= np.asarray(test(rows), dtype=bool)
            said[meets] = label
        return said


def decision_list(rng: Random, names: list[str]) -> DecisionList:
    """Return a classifier of random conditions."""

    def test_of() -> Callable[[Any], Any]:
        name = rng.choice(names)
        cut = rng.randrange(1, 10) / 2
        value: Any = rng.choice("xyz")
        return {
            "a": lambda rows: rows["a"] < cut,
            "b": lambda rows: rows["b"].astype(bool),
            "c": lambda rows: rows["c"] == value,
            "d": lambda rows: rows["d"].isna() if cut > 2.5 else rows["d"] > cut,
            "e": lambda rows: rows["e"] >= 18 + 9 * cut,
            "f": lambda rows: rows["f"].isna(),
            "g": lambda rows: rows["g"] > 2,
        }[name]

    labels = ["no", "yes", "maybe"][: rng.choice([2, 2, 3])]
    parts = [
        ([test_of() for _ in range(rng.randint(1, 3))], rng.choice(labels))
        for _ in range(rng.randint(3, 8))
    ]

    return DecisionList(parts, labels)


def _function(seed: int) -> Parts:
    rng = Random(f"classifier {seed}")
    rows = frame_of(rng)
    model = decision_list(rng, list(rows.columns))
    options = dict(MODES[seed % len(MODES)])
    if rng.random() < 0.3:
        options["background"] = rng.sample(BACKGROUND, rng.randint(1, 2))
    options.setdefault("n_bins", rng.choice([2, 3, 4]))
    basis = options.get("domain") is None and "limit" not in options and len(rows.columns) < 5
    return explained(model, rows, basis, **options)


# --- grids of cells whose classes are drawn ---


class Drawn(NamedTuple):
    """A classifier over whole numbers from 0 on: the class of a cell is drawn, or a threshold's."""

    seed: int
    noise: float
    classes_: list[str]

    def predict(self, rows: Any) -> Any:
        """Return a class for each row."""
        import numpy as np

        cells, where = np.unique(np.floor(rows), axis=0, return_inverse=True)
        said = [self._of(tuple(map(int, cell))) for cell in cells.tolist()]
        return np.array(said, dtype=object)[where.ravel()]

    def _of(self, cell: tuple[int, ...]) -> str:
        rng = Random(f"grid {self.seed} {cell}")
        if rng.random() < self.noise:
            return rng.choice(self.classes_)
        return self.classes_[(cell[0] > 1) + (cell[0] + cell[-1] > 4 and len(self.classes_) > 2)]


def _grid(seed: int) -> Parts:
    import numpy as np

    rng = Random(f"grid {seed}")
    sizes = [rng.randint(2, 5) for _ in range(rng.randint(2, 4))]
    rows = np.array([[rng.randrange(size) + 0.5 for size in sizes] for _ in range(40)])
    edges = {f"x{place}": list(range(1, size)) for place, size in enumerate(sizes)}
    classes = ["no", "yes", "maybe"][: rng.choice([2, 3])]
    model = Drawn(seed, rng.choice([0.02, 0.1, 0.3, 1.0]), classes)
    options = dict(GRID[seed % len(GRID)])
    return explained(model, rows, "domain" not in options, bins=edges, **options)


# --- fitted models ---


def _model(seed: int) -> tuple[Any, Any]:
    """Return a small tree or an ensemble of trees, and its rows."""
    import numpy as np
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.tree import DecisionTreeClassifier

    rng = Random(f"fitted {seed}")
    width, classes = rng.randint(2, 4), rng.randint(2, 3)
    rows = np.array([[rng.randrange(-4, 5) / 2 for _ in range(width)] for _ in range(80)])
    wanted = [
        (int(row[0] > 0) + int(row[1] > 0.5)) % classes
        if rng.random() < 0.8
        else rng.randrange(classes)
        for row in rows.tolist()
    ]
    make = [
        lambda: DecisionTreeClassifier(max_depth=4, random_state=seed),
        lambda: RandomForestClassifier(4, max_depth=3, random_state=seed),
        lambda: ExtraTreesClassifier(4, max_depth=3, random_state=seed),
        lambda: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed),
        lambda: HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5, min_samples_leaf=5),
    ][(seed // len(FITTED)) % 5]
    return make().fit(rows, wanted), rows


def _fitted(seed: int) -> Parts:
    model, rows = _model(seed)
    options = FITTED[seed % len(FITTED)]
    return explained(model, rows, "domain" not in options and "limit" not in options, **options)


def _fingerprint(seed: int) -> str:
    """Return what tells a fitted model from another: what it says of a fine grid of points."""
    import numpy as np

    model, rows = _model(seed)
    points = np.random.default_rng(0).integers(-36, 37, (4_000, rows.shape[1])) / 16
    return sha256(repr(model.predict(points).tolist()).encode()).hexdigest()[:16]
