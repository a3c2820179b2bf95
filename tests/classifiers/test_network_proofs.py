"""Rules of networks and linear models: proved ones are attacked, small ones are gone through."""

import warnings
from itertools import product

import numpy as np
import pandas
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import hornlens
from hornlens import Limits
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.columns import read_table
from hornlens.targets.classifiers.ensembles.trees import NotExact
from hornlens.targets.classifiers.features import number_feature
from hornlens.targets.classifiers.networks import read_network
from hornlens.targets.classifiers.points import Binned
from tests.classifier_cases import one_thread

__all__ = ["one_thread"]

ATTACKS = 20_000


def fitted(seed, classes=2, kind=None):
    """Return a model of numbers, whole numbers, categories and flags, with its rows."""
    rng = np.random.default_rng(seed)
    count = 300
    rows = pandas.DataFrame(
        {
            "dose": rng.normal(50, 20, count).round(2),
            "age": rng.integers(18, 40, count),
            "steps": rng.integers(0, 10_000, count),
            "site": rng.choice(list("abc"), count),
            "owns": rng.random(count) < 0.5,
        }
    )
    score = 0.06 * (rows["dose"] - 50) + 0.1 * (rows["age"] - 28) + (rows["site"] == "b")
    score += rng.normal(0, 0.3, count)
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    scaler = StandardScaler() if seed % 2 else MinMaxScaler((-1, 1))
    before = make_column_transformer(
        (scaler, ["dose", "age", "steps"]), (OneHotEncoder(), ["site"]), remainder="passthrough"
    )
    units = [(8,), (16, 8), (6, 6, 6)][seed % 3]
    every = [
        MLPClassifier(units, max_iter=60, random_state=seed),
        MLPClassifier(units, activation="identity", max_iter=60, random_state=seed),
        LogisticRegression(),
        RidgeClassifier(),
        LinearSVC(),
        SGDClassifier(random_state=seed),
    ]
    model = every[seed % 6] if kind is None else kind
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(before, model).fit(rows, labels), rows, rng


def drawn_rule(rows, labels, rng):
    """Return a rule of up to three conditions about numbers, and one about a category."""
    parts, low = [], rows.min(numeric_only=True)
    high = rows.max(numeric_only=True)
    for name in rng.permutation(["dose", "age", "steps"])[: int(rng.integers(1, 4))]:
        cut = round(float(rng.uniform(low[name], high[name])), 1)
        parts.append(f"{name} {'>=' if rng.random() < 0.5 else '<'} {cut}")
    if rng.random() < 0.5:
        parts.append(f"site = {rng.choice(list('abc'))}")
    return " and ".join(parts), str(rng.choice(labels))


def attacked(rows, conditions, rng):
    """Return inputs in the ranges of the rows that meet conditions: inside, and at all ends."""
    drawn = {}
    for name in ("dose", "age", "steps"):
        column = rows[name]
        cuts = [float(part.split()[2]) for part in conditions.split(" and ") if name in part]
        ends = [column.min(), column.max(), *cuts]
        ends += [np.nextafter(cut, side) for cut in cuts for side in (-np.inf, np.inf)]
        values = rng.uniform(column.min(), column.max(), ATTACKS)
        at_end = rng.random(ATTACKS) < 0.4
        values[at_end] = rng.choice(ends, at_end.sum())
        if name != "dose":
            values = np.clip(np.round(values + rng.choice([-1, 0, 1], ATTACKS)), *ends[:2])
        drawn[name] = values.astype(column.dtype)
    drawn["site"] = rng.choice(list("abc"), ATTACKS)
    drawn["owns"] = rng.random(ATTACKS) < 0.5
    frame = pandas.DataFrame(drawn)
    for part in conditions.split(" and "):
        name, compare, value = part.split()
        if compare == "=":
            frame = frame[frame[name] == value]
        else:
            number = float(value)
            frame = frame[frame[name] >= number if compare == ">=" else frame[name] < number]
    return frame


@pytest.mark.parametrize("seed", range(36))
def test_no_attack_breaks_a_rule_that_is_proved(seed):
    clf, rows, rng = fitted(seed, 3 if seed % 5 == 4 else 2)
    statuses = set()
    for number in range(6):
        conditions, label = drawn_rule(rows, clf.classes_, rng)
        rule = f"{conditions} -> {label}"
        proof = hornlens.prove(clf, rule, rows, seed=number)
        statuses.add(proof.status)
        if proof.status == "refuted":
            row = pandas.DataFrame([dict(proof.row)], columns=rows.columns).astype(rows.dtypes)
            assert str(clf.predict(row)[0]) != label, (seed, rule, proof)
        if proof.status == "proved":
            assert "with numbers in the ranges of X" in proof.sentence
            inputs = attacked(rows, conditions, rng)
            if len(inputs):
                assert (clf.predict(inputs).astype(str) == label).all(), (seed, rule)
    assert statuses <= {"proved", "refuted", "not refuted", "vacuous"}


def trained():
    """Return a network that has learned its rows, and these."""
    clf, rows, _ = fitted(0, kind=MLPClassifier((16, 8), max_iter=800, random_state=0))
    return clf, rows


def test_rules_are_proved_and_refuted():
    clf, rows = trained()
    assert hornlens.prove(clf, "dose >= 80 and age >= 35 -> 1", rows).status == "proved"
    assert hornlens.prove(clf, "dose >= 20 -> 1", rows).status == "refuted"
    assert hornlens.prove(clf, "dose < 5 and age < 20 and site = a -> 0", rows).status == "proved"


@pytest.mark.parametrize("seed", range(24))
def test_over_flags_and_categories_what_is_proved_is_so_of_all_inputs(seed):
    rng = np.random.default_rng(seed)
    names = [f"f{place}" for place in range(9)]
    rows = pandas.DataFrame({name: rng.random(200) < 0.5 for name in names})
    rows["site"] = rng.choice(list("abc"), 200)
    weights = rng.normal(size=9)
    labels = (rows[names] @ weights + (rows["site"] == "b") + rng.normal(0, 0.3, 200)) > 0.3
    model = MLPClassifier((10,) if seed % 2 else (6, 6), max_iter=40, random_state=seed)
    before = make_column_transformer((OneHotEncoder(), ["site"]), remainder="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = make_pipeline(before, model).fit(rows, labels)
    every = pandas.DataFrame(
        list(product(*[[False, True]] * 9, "abc")), columns=[*names, "site"]
    ).astype(rows.dtypes)
    said = clf.predict(every)
    for _ in range(5):
        some = rng.choice(names, int(rng.integers(1, 5)), replace=False)
        wanted = rng.random(len(some)) < 0.5
        label = bool(rng.random() < 0.5)
        site = str(rng.choice(list("abc")))
        inside = (every[list(some)] == wanted).all(axis=1) & (every["site"] != site)
        texts = [f"{name} = {value}" for name, value in zip(some, wanted, strict=True)]
        rule = f"{' and '.join(texts)} and site != {site} -> {label}"
        # Few cells are tried, so that the bounds decide.
        proof = hornlens.prove(clf, rule, rows, limit=8)
        holds = bool((said[inside] == label).all())
        assert proof.status == ("proved" if holds else "refuted"), (seed, rule, proof)
        if holds:
            assert "ranges" not in proof.sentence


def test_a_model_that_says_something_else_than_its_weights_proves_nothing():
    clf, rows = trained()
    clf.steps[-1][1].__class__ = type("MLPClassifier", (Liar,), {"__module__": "sklearn.mine"})
    proof = hornlens.prove(clf, "dose >= 80 and age >= 35 and steps >= 100 -> 1", rows)
    assert proof.status == "not refuted" and "as it was read" in proof.sentence


class Liar(MLPClassifier):
    """Says the other class of a few inputs."""

    def predict(self, rows):
        said = super().predict(rows)
        return np.where((rows[:, 0] < -0.9), 1 - said, said)


def test_a_limit_leaves_a_rule_open():
    clf, rows, _ = fitted(2, kind=MLPClassifier((60, 60), max_iter=30, random_state=0))
    limits = Limits(time_limit=1e-9)
    proof = hornlens.prove(clf, "dose >= 80 and age >= 35 -> 1", rows, limits=limits)
    assert proof.status == "not refuted" and "ended" in proof.sentence


def test_what_cannot_be_bounded_is_tried_as_before():
    kind = MLPClassifier((8,), activation="tanh", max_iter=60, random_state=0)
    clf, rows, _ = fitted(0, kind=kind)
    proof = hornlens.prove(clf, "dose >= 95 and age >= 38 -> 1", rows)
    assert proof.status in ("not refuted", "refuted") and "Proved for" not in proof.sentence


@pytest.mark.parametrize("seed", range(12))
def test_no_attack_shows_a_change_that_is_proved_not_to_be(seed):
    clf, rows, rng = fitted(seed, 3 if seed % 5 == 4 else 2)
    for low in (20, 60, 85):
        proof = hornlens.prove(clf, f"site never changes the class where dose >= {low}", rows)
        if proof.status == "refuted":
            both = pandas.DataFrame([dict(proof.row), dict(proof.moved)], columns=rows.columns)
            answers = clf.predict(both.astype(rows.dtypes))
            assert answers[0] != answers[1], (seed, proof)
        if proof.status == "proved":
            inputs = attacked(rows, f"dose >= {low}", rng)
            one, two, three = (clf.predict(inputs.assign(site=site)) for site in "abc")
            assert (one == two).all() and (two == three).all(), (seed, low)


def test_what_a_category_never_changes_is_proved_and_shown():
    clf, rows = trained()
    where = "site never changes the class where dose >= 90 and age >= 35"
    proof = hornlens.prove(clf, where, rows)
    assert proof.sentence == "Proved for every input with numbers in the ranges of X."
    assert hornlens.prove(clf, "site never changes the class", rows).status == "refuted"


def test_a_number_may_change_within_a_level():
    clf, rows = trained()
    proof = hornlens.prove(clf, "steps never changes the class where dose >= 90", rows)
    assert proof.status == "not refuted", proof


def test_numbers_that_have_one_level_are_no_constant():
    rows = np.column_stack([np.linspace(-2, 2, 50), np.linspace(0, 9, 50)])
    model = read_network(LogisticRegression().fit(rows, rows[:, 0] > 0), read_table(rows))
    features = model.features(read_table(rows), {})
    column = rows[:, 1]
    joined = (features[0], number_feature("x1", "number", column, Cuts.at([])))
    classifier = read_classifier(LogisticRegression().fit(rows, rows[:, 0] > 0), rows)
    with pytest.raises(NotExact, match="'x1' has one level"):
        model.over(Binned(classifier, joined))
