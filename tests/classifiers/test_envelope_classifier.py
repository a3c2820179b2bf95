"""The estimator of scikit-learn is faithful to the one that it was given, on whatever rows."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.classifiers import incomes
from hornlens.sklearn import EnvelopeClassifier
from tests.classifier_cases import data, near, one_thread

__all__ = ["one_thread"]


def whole(name):
    """All columns of a table, or drawn records in the shape of Adult."""
    from sklearn import datasets

    if name == "adult":
        frame, wanted = incomes(600, 0)
        return frame.select_dtypes("number"), wanted
    return getattr(datasets, f"load_{name}")(return_X_y=True)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "adult"])
@pytest.mark.parametrize(
    "black_box", [None, RandomForestClassifier(10, max_depth=4, random_state=0)]
)
def test_it_says_what_its_estimator_says(name, black_box):
    rows, classes = whole(name)
    rows, held_out, classes, wanted = train_test_split(rows, classes, random_state=0)
    model = EnvelopeClassifier(black_box, time_limit=2).fit(rows, classes)
    own = model.estimator_.predict(held_out)
    assert (model.predict(held_out) == own).all()
    assert (model.predict_proba(held_out) == model.estimator_.predict_proba(held_out)).all()
    assert model.score(held_out, wanted) == (own == wanted).mean()


@pytest.mark.parametrize(
    "black_box",
    [
        DecisionTreeClassifier(max_depth=4),
        RandomForestClassifier(5, max_depth=3),
        GradientBoostingClassifier(n_estimators=4, max_depth=2),
        HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=5),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=4)),
    ],
    ids=lambda model: type(model[-1] if hasattr(model, "steps") else model).__name__,
)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("frames", [False, True])
def test_its_rules_are_its_estimators_to_the_last_bit(black_box, kind, frames):
    """Whatever type rows come in, at the fit and later."""
    pandas = pytest.importorskip("pandas")
    rows, classes = data("iris")
    rows = (rows * 10).astype(kind)
    names = list("abcd")
    given = pandas.DataFrame(rows, columns=names) if frames else rows
    model = EnvelopeClassifier(black_box).fit(given, classes)
    assert model.explanation_.exact_bins and model.decided(given).all()
    rng = np.random.default_rng(0)
    edges = model.explanation_.edges.values()
    columns = [rng.choice([*near(cuts, 2), 0.0, 25.5, 47.0], 3_000) for cuts in edges]
    for other in (np.float64, np.float32, np.int64, np.int8):
        edge = np.column_stack(columns).astype(other)
        wide = edge.astype(np.float64)
        if frames:
            edge, wide = (pandas.DataFrame(each, columns=names) for each in (edge, wide))
        decided = model.decided(edge)
        assert (model.predict(edge) == model.estimator_.predict(wide)).all(), other
        assert decided.any()


def people():
    """A frame with words, categories, booleans and gaps."""
    pandas = pytest.importorskip("pandas")
    frame, wanted = incomes(500, 1)
    frame["sex"] = frame["sex"].astype(pandas.CategoricalDtype(["f", "m"]))
    rng = np.random.default_rng(2)
    frame["retired"] = frame["age"] > 65
    for name in ("age", "work"):
        frame.loc[rng.random(len(frame)) < 0.1, name] = None
    return frame, np.where(wanted, "high", "low")


def test_frames_with_words_gaps_and_categories_go_straight_in():
    frame, wanted = people()
    model = EnvelopeClassifier(time_limit=3).fit(frame[:400], wanted[:400])
    later = frame[400:].reset_index(drop=True)
    later.loc[0, "work"], later.loc[1, "work"] = "never seen", None
    later.loc[2, "hours"] = np.nan  # never missing before
    assert (model.predict(later) == model.estimator_.predict(later)).all()
    assert not model.decided(later)[[0, 2]].any()
    shares = model.predict_proba(later)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(later)).all()
    assert model.score(frame[400:], wanted[400:]) > 0.6
    assert model.feature_names_in_.tolist() == frame.columns.tolist()


def test_words_are_categories_of_the_default_estimator_and_rules_name_them():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"job": rng.choice(["nurse", "smith", "clerk"], 300)})
    frame["years"] = rng.integers(0, 40, 300)
    wanted = (frame["job"] == "nurse") & (frame["years"] >= 20)
    model = EnvelopeClassifier().fit(frame, wanted)
    assert model.explanation_.exact_bins and model.decided(frame).all()
    assert {"job = smith → False", "job = clerk → False"} <= set(map(str, model.rules_))
    assert not model.decided(pandas.DataFrame({"job": ["cook"], "years": [3]})).any()


def test_an_encoder_of_ones_own_gets_the_frame():
    frame, wanted = people()
    frame = frame[["work", "hours", "sex"]].fillna({"work": "none"})
    encoder = make_column_transformer((OneHotEncoder(), ["work", "sex"]), remainder="passthrough")
    model = EnvelopeClassifier(make_pipeline(encoder, DecisionTreeClassifier(max_depth=3)))
    model.fit(frame, wanted, sample_weight=np.ones(len(frame)))
    assert model.explanation_.exact_bins and model.decided(frame).all()
    assert (model.predict(frame) == model.estimator_.predict(frame)).all()


def test_polars_frames_go_in_too():
    polars = pytest.importorskip("polars")
    rows, classes = data("iris")
    frame = polars.DataFrame({name: rows[:, at] for at, name in enumerate("abcd")})
    model = EnvelopeClassifier(DecisionTreeClassifier(max_depth=3)).fit(frame, classes)
    assert (model.predict(frame) == model.estimator_.predict(frame)).all()
    assert model.decided(frame).all()


def test_rows_of_weight_0_are_as_if_they_were_not_there():
    rows, classes = data("wine")
    weights = np.arange(len(rows)) % 3
    model = EnvelopeClassifier().fit(rows, classes, sample_weight=weights)
    twice = np.repeat(np.arange(len(rows)), weights)
    again = EnvelopeClassifier(DecisionTreeClassifier(max_depth=3, random_state=0))
    again.fit(rows[twice], classes[twice])
    weighted = EnvelopeClassifier(DecisionTreeClassifier(max_depth=3, random_state=0))
    weighted.fit(rows, classes, sample_weight=weights)
    assert list(map(str, again.rules_)) == list(map(str, weighted.rules_))
    assert np.allclose(again.shares_, model.shares_)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(rows, classes, sample_weight=0 * weights)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        EnvelopeClassifier(KNeighborsClassifier()).fit(rows, classes, sample_weight=weights)


def test_a_model_that_cannot_be_read_decides_itself():
    rows, classes = data("iris")
    black_box = LogisticRegression(max_iter=500)
    model = EnvelopeClassifier(black_box).fit(rows, classes)
    assert len(model.rules_) and not model.explanation_.exact_bins
    assert not model.decided(rows).any()
    assert (model.predict(rows) == model.estimator_.predict(rows)).all()
    by_rules = EnvelopeClassifier(black_box, otherwise="prior").fit(rows, classes)
    assert by_rules.decided(rows).all()
    said, shares = by_rules.predict(rows), by_rules.predict_proba(rows)
    assert (by_rules.classes_[shares.argmax(axis=1)] == said).all()
    differs = said != model.predict(rows)
    assert differs.any() and (shares[differs].max(axis=1) == 1).all()
    assert (shares[~differs] == model.predict_proba(rows)[~differs]).all()


def test_without_its_estimator_rows_that_no_rule_decides_get_the_shares_of_the_classes():
    rows, classes = data("wine")
    model = EnvelopeClassifier(max_conditions=1, otherwise="prior").fit(rows, classes)
    open_ = ~model.decided(rows)
    assert open_.any() and (model.predict(rows)[open_] == model.prior_).all()
    shares = model.predict_proba(rows)
    assert np.allclose(shares[open_], np.bincount(classes) / len(classes))
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(rows)).all()


def test_only_cells_that_were_asked_are_decided_where_not_all_were():
    rows, classes = data("wine")
    black_box = RandomForestClassifier(30, random_state=0)
    model = EnvelopeClassifier(black_box, domain="data").fit(rows[::2], classes[::2])
    assert model.decided(rows[::2]).all() and not model.decided(rows[1::2]).all()
    assert (model.predict(rows) == model.estimator_.predict(rows)).all()


def test_probabilities_are_those_of_estimators_that_have_them():
    rows, classes = data("iris")
    assert hasattr(EnvelopeClassifier(), "predict_proba")
    model = EnvelopeClassifier(LinearSVC())
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(rows, classes), "predict_proba")
