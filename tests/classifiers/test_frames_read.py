"""Trees over data frames are read exactly: categories, missing values, encoders, wrappers."""

from __future__ import annotations

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn", minversion="1.6")

from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

import hornlens  # noqa: E402

NUMBERS = ["age", "income"]


def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


def histograms(steps=3):
    return HistGradientBoostingClassifier(max_iter=steps, max_leaf_nodes=4, min_samples_leaf=5)


def forest(kind=RandomForestClassifier):
    return kind(3, max_depth=2, random_state=0)


def encoded(clf):
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["color"]),
        (StandardScaler(), ["age"]),
        remainder="passthrough",
    )
    return make_pipeline(steps, clf)


def vote(*members):
    named = [(str(at), member) for at, member in enumerate(members)]
    return VotingClassifier(named, voting="soft")


CASES = {
    "categories": (histograms, None),
    "categories in a vote": (lambda: vote(histograms(2), histograms()), None),
    "encoded in a vote": (lambda: vote(encoded(tree()), encoded(forest())), None),
    "encoded beside categories": (lambda: vote(encoded(tree()), histograms(2)), None),
    "encoded in a threshold": (
        lambda: FixedThresholdClassifier(encoded(forest()), threshold=0.3),
        None,
    ),
    "encoded and calibrated": (lambda: CalibratedClassifierCV(encoded(tree()), cv=2), None),
    "forest with gaps": (forest, NUMBERS),
    "extra trees with gaps": (lambda: forest(ExtraTreesClassifier), NUMBERS),
    "bag of a frame": (lambda: BaggingClassifier(tree(), 3, random_state=0), NUMBERS),
}


def people(columns, seed=0, count=400):
    rng = np.random.default_rng(seed)
    colors = pandas.Categorical(rng.choice(list("rgbyp"), count), categories=list("rgbypz"))
    frame = pandas.DataFrame(
        {
            "age": rng.integers(18, 70, count),
            "color": colors,
            "income": rng.normal(size=count),
        }
    )
    frame.loc[rng.random(count) < 0.1, "income"] = np.nan
    frame.loc[rng.random(count) < 0.05, "color"] = np.nan
    rich = frame.color.isin(["r", "p"]) & (frame.age > 40) | (frame.income.fillna(0) > 1)
    return frame[columns or list(frame.columns)], np.where(rich, "yes", "no")


def around(frame, edges, count=10_000, seed=1):
    """Return rows with values of all rows in any combination, and numbers at and beside cuts."""
    rng = np.random.default_rng(seed)
    made = {}
    for name in frame.columns:
        column = frame[name].iloc[rng.integers(0, len(frame), count)].reset_index(drop=True)
        cuts = np.array(edges.get(name, ()), dtype=float)
        if name in NUMBERS and len(cuts):
            at = cuts[rng.integers(0, len(cuts), count)]
            at = [at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)][rng.integers(3)]
            whole = column.dtype.kind == "i"
            at = np.floor(at).astype(int) if whole else at
            column = column.where(rng.random(count) < 0.5, at)
        made[name] = column
    return pandas.DataFrame(made)


@pytest.mark.parametrize(("make", "columns"), CASES.values(), ids=CASES)
def test_rules_are_of_every_input_and_say_what_the_model_says(make, columns, tmp_path):
    frame, y = people(columns)
    clf = make().fit(frame, y)
    result = hornlens.explain(clf, frame)
    assert result.certificate.scope.of == "every input"
    for seed in range(3):
        asked = around(frame, result.edges, seed=seed)
        bad = np.flatnonzero(result.predict(asked) != clf.predict(asked))
        assert not len(bad), asked.iloc[bad[:3]]
    result.save(tmp_path / "out")
    assert hornlens.verify(tmp_path / "out").ok


@pytest.mark.parametrize("name", ["categories", "encoded in a vote", "encoded in a threshold"])
def test_beyond_the_grid_each_rule_is_proved(name, tmp_path):
    make, columns = CASES[name]
    frame, y = people(columns)
    clf = make().fit(frame, y)
    result = hornlens.explain(clf, frame, limit=5, max_conditions=2)
    assert result.certificate.scope.of == "every input"
    assert len(result.rules) > 0
    asked = around(frame, hornlens.explain(clf, frame).edges)
    answers = clf.predict(asked)
    for rule in result.rules:
        proof = hornlens.prove(clf, rule.text if hasattr(rule, "text") else str(rule), frame)
        assert proof.status == "proved", rule
    decided = result.predict(asked, otherwise="open")
    assert (decided[decided != "open"] == answers[decided != "open"]).all()
    result.save(tmp_path / "out")
    assert hornlens.verify(tmp_path / "out").ok


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_whole_numbers_that_may_be_missing_stay_within_their_type(kind):
    """The search for a threshold goes to the ends of what a column can hold, and not beyond."""
    rng = np.random.default_rng(0)
    whole = [None if rng.random() < 0.1 else int(n) for n in rng.integers(0, 9, 200)]
    small = [int(n) for n in rng.integers(-5, 5, 200)]
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        arrays = (pandas.array(whole, "Int64"), pandas.array([*small[:-1], None], "Int8"))
        rows = pandas.DataFrame(dict(zip("ab", arrays, strict=True)))
    else:
        polars = pytest.importorskip("polars")
        series = (polars.Series(whole), polars.Series([*small[:-1], None], dtype=polars.Int8))
        rows = polars.DataFrame(dict(zip("ab", series, strict=True)))
    wanted = [n is None or n > 4 or m > 2 for n, m in zip(whole, small, strict=True)]
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5).fit(rows, wanted)
    result = hornlens.explain(model, rows)
    assert result.certificate.scope.of == "every input"
    assert result.edges["a"] and all(edge == int(edge) for edge in result.edges["a"])
    assert (result.predict(rows) == model.predict(rows)).all()
    assert hornlens.prove(model, "a is missing -> True", rows).status == "proved"
    assert hornlens.prove(model, "a >= 8 and b > 4 -> True", rows).status == "proved"
