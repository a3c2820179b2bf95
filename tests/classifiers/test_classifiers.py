"""Explaining classifiers: rules that decide every cell as the model does, and proofs."""

import re
from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens.errors import HornlensError, InputError
from hornlens.formats.digests import with_digest
from tests.classifier_cases import DATA, OTHERS, TREES, all_cells, data, near, one_thread
from tests.explanation_cases import people_model, people_rows

__all__ = ["one_thread"]


def check_both_ways(result):
    """Every rule holds of every cell in its box, and every cell has a rule of its class."""
    cells = all_cells(result)
    said = result.binned.ask(cells)
    decided = np.zeros(len(cells), dtype=bool)
    for box, place in result.boxes:
        inside = np.all(
            [(cells[:, a] >= lo) & (cells[:, a] <= hi) for a, (lo, hi) in enumerate(box)], 0
        )
        assert (said[inside] == place).all() and inside.any()
        decided |= inside
    assert decided.all()
    assert (result.decided(cells) == said).all()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", [*TREES, *OTHERS])
def test_the_rules_decide_every_cell_as_the_model_does(name, kind, tmp_path):
    rows, classes = data(name)
    model = (TREES.get(kind) or OTHERS[kind])().fit(rows, classes)
    result = hornlens.explain(model, rows, n_bins=3)
    check_both_ways(result)
    certificate = result.certificate
    assert certificate.proved and certificate.complete.decides
    # Bins of our own make a stand-in, unless nothing that was measured tells it from the model.
    assert certificate.meets("exact") == (kind in TREES)
    assert certificate.scope.of == ("every input" if kind in TREES else "surrogate")
    result.save(tmp_path)
    done = hornlens.verify(tmp_path)
    assert done.ok, done.wrong
    if kind in TREES:
        assert result.agreement.rows == result.agreement.uniform == 1 and not result.agreement.mixed
        assert (result.predict(rows) == model.predict(rows)).all()
        assert all(rule.confidence == 1 for rule in result.rules if rule.support)
        assert "that is every input" in result.certificate.sentence
    else:
        share = (result.predict(rows) == model.predict(rows)).mean()
        assert share == result.agreement.rows
        assert "binned model" in result.certificate.sentence


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("scaler", [None, StandardScaler, MinMaxScaler, RobustScaler])
def test_thresholds_are_exact_to_the_last_bit(kind, scaler):
    rows, classes = data("wine")
    model = TREES[kind]()
    model = model if scaler is None else make_pipeline(scaler(), model)
    model.fit(rows, classes)
    result = hornlens.explain(model, rows)
    rng = np.random.default_rng(0)
    for column, edges in result.edges.items():
        place = result.feature_names.index(column)
        if not edges:
            continue
        points = near(edges)
        some = rows[rng.integers(0, len(rows), len(points))].copy()
        some[:, place] = points
        assert (result.predict(some) == model.predict(some)).all(), column
        # Where the cut is, the model sees the difference: below it is another bin.
        below = np.nextafter(np.array(edges), -np.inf)
        levels = result.binned.every[place].places(below)
        assert levels.tolist() == list(range(len(edges)))


def test_thresholds_of_arrays_in_single_precision():
    rows, classes = data("iris")
    rows = rows.astype(np.float32)
    model = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    result = hornlens.explain(model, rows)
    for column, edges in result.edges.items():
        place = result.feature_names.index(column)
        if not edges:
            continue
        points = np.array(near(edges), dtype=np.float32)
        some = np.repeat(rows[:1], len(points), 0)
        some[:, place] = points
        assert (result.predict(some) == model.predict(some)).all()


def random_model(seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(2, 5)
    rows = rng.integers(-4, 5, (80, count)).astype(float) / 2
    classes = rng.integers(0, rng.integers(2, 4), 80)
    make = [
        lambda: DecisionTreeClassifier(max_depth=3, random_state=seed),
        lambda: RandomForestClassifier(3, max_depth=2, random_state=seed),
        lambda: GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=seed),
        lambda: HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=5),
    ][seed % 4]
    return make().fit(rows, classes), rows


def every_general_box(result, most=None):
    """All boxes of one class that cannot be made wider, by brute force."""
    features = result.binned.features
    labels = result.labelled.labels
    found = set()

    def place_of(box):
        part = np.unique(labels[tuple(slice(lo, hi + 1) for lo, hi in box)])
        return int(part[0]) if len(part) == 1 else None

    for box in product(*(f.axis.ranges for f in features)):
        place = place_of(box)
        if place is None:
            continue
        if any(
            place_of((*box[:axis], wider, *box[axis + 1 :])) == place
            for axis, feature in enumerate(features)
            for wider in feature.axis.wider(box[axis])
        ):
            continue
        conditions = sum(said != f.whole for said, f in zip(box, features, strict=True))
        if most is None or conditions <= most:
            found.add((box, place))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_all_rules_and_all_short_rules_are_those_of_brute_force(seed, tmp_path):
    model, rows = random_model(seed)
    result = hornlens.explain(model, rows, rules="all")
    if result.binned.cell_count > 300:
        pytest.skip("too many boxes for brute force")
    assert set(result.boxes) == every_general_box(result)
    assert set(hornlens.explain(model, rows).boxes) <= set(result.boxes)
    for most in (1, 2):
        wanted = every_general_box(result, most)
        assert set(hornlens.explain(model, rows, max_conditions=most).boxes) == wanted
        proved = hornlens.explain(model, rows, max_conditions=most, limit=1)
        assert proved.certificate.kind == "bounded" and proved.certificate.complete
        assert set(proved.boxes) == wanted, seed
        proved.save(tmp_path)
        assert (done := hornlens.verify(tmp_path)).ok, done.wrong


@pytest.mark.parametrize("seed", range(12))
def test_proofs_and_flips_are_those_of_brute_force(seed):
    model, rows = random_model(seed)
    result = hornlens.explain(model, rows)
    names, classes = result.feature_names, result.classes
    rng = np.random.default_rng(seed)
    for _ in range(4):
        parts = []
        for name in names:
            if rng.random() < 0.6:
                sign = rng.choice(["<", "<=", ">", ">="])
                parts.append(f"{name} {sign} {rng.integers(-4, 5) / 2}")
        label = classes[rng.integers(len(classes))]
        negated = rng.random() < 0.4
        rule = f"{' and '.join(parts) or 'true'} -> {'not ' if negated else ''}{label}"
        proof = hornlens.prove(model, rule)
        ends = [
            np.concatenate([near(result.edges[n], 1), np.arange(-4, 5) / 2, near([-2.5, 2.5], 1)])
            for n in names
        ]
        some = np.stack([rng.choice(each, 3000) for each in ends], axis=1)
        meets = np.ones(len(some), bool)
        for part in parts:
            name, sign, number = part.split()
            column = some[:, names.index(name)]
            compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
            meets &= compare[sign](column, float(number))
        right = (model.predict(some) == label) != negated
        if proof:
            assert right[meets].all(), rule
        else:
            assert proof.status == "refuted", rule
            row = np.array([[proof.row[n] for n in names]])
            said = model.predict(row)[0]
            assert str(said) == proof.said and (said == label) == negated, rule
            for part in parts:
                name, sign, number = part.split()
                assert eval(f"{float(proof.row[name])!r} {sign} {number}"), rule
    for name in names:
        here = hornlens.flips(model, name, rows)
        there = hornlens.flips(model, name, rows, limit=1)
        assert here.ever == there.ever and here.proved and there.proved
        assert here.rows == there.rows
        for pair in (*here.examples, *there.examples):
            first, second = (np.array([[p[n] for n in names]]) for p in (pair.first, pair.second))
            assert str(model.predict(first)[0]) == pair.said_first != pair.said_second
            assert str(model.predict(second)[0]) == pair.said_second
            assert [n for n in names if pair.first[n] != pair.second[n]] == [name]


def test_short_rules_of_a_forest_that_cannot_be_enumerated_are_proved(tmp_path):
    """Thirty columns; and six, on which the proofs find what the whole grid says."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    model = RandomForestClassifier(10, max_depth=3, random_state=0).fit(found.data, found.target)
    result = hornlens.explain(model, found.data, max_conditions=1)
    assert result.binned.cell_count > 10**12 and result.certificate.complete
    assert len(result.binned.features) > 20 and sum(map(len, result.edges.values())) > 60
    rows = found.data[:, :6]
    small = RandomForestClassifier(6, max_depth=2, random_state=1).fit(rows, found.target)
    short = hornlens.explain(small, rows, max_conditions=3, limit=1)
    assert len(short.boxes) > 5 and short.certificate.complete
    short.save(tmp_path)
    assert (done := hornlens.verify(tmp_path)).ok, done.wrong
    rng = np.random.default_rng(0)
    drawn = np.column_stack([f.draw_uniform(5_000, rng) for f in short.binned.every])
    said, given = short.predict(drawn), small.predict(drawn)
    decided = np.array([label is not None for label in said])
    assert decided.any() and (said[decided] == given[decided]).all()
    assert set(short.boxes) == set(hornlens.explain(small, rows, max_conditions=3).boxes)


@pytest.mark.parametrize("last", [None, RandomForestClassifier(9, max_depth=6, random_state=0)])
def test_frames_with_categories_booleans_whole_numbers_and_missing_values(last, tmp_path):
    frame, target = people_rows()
    model = people_model(last).fit(frame, target)
    result = hornlens.explain(model, frame)
    assert "model's own thresholds" in result.how
    check_both_ways(result)
    assert (result.predict(frame) == model.predict(frame)).all()
    text = str(result.rules)
    assert "income is missing" in text and re.search(r"age ≥ \d+ ∧ sex = f", text), text
    columns = set(result.rules.to_frame().columns)
    assert {"rule", "class", "support", "confidence", "cells", "warrant", "bound"} < columns
    result.save(tmp_path)
    assert (done := hornlens.verify(tmp_path)).ok, done.wrong
    proof = hornlens.prove(model, "age >= 45 and sex = f -> yes", frame)
    assert proof, proof
    assert hornlens.prove(model, "income is missing -> no", frame).status == "refuted"
    assert hornlens.prove(model, "not pregnant and income is known -> no", frame).row["sex"] == "f"
    assert not hornlens.flips(model, "pregnant", frame)
    assert hornlens.flips(model, "sex", frame).rows > 0


def test_polars_frames_are_taken_as_pandas_ones_are():
    polars = pytest.importorskip("polars")
    frame, _ = people_rows()
    rows = polars.DataFrame({k: frame[k].tolist() for k in frame if k != "income"})
    wanted = np.where((frame["age"] >= 40) & (frame["sex"] == "f"), "yes", "no")

    def model(given):
        assert isinstance(given, polars.DataFrame)
        return np.where(
            (given["age"].to_numpy() >= 40) & (given["sex"].to_numpy() == "f"), "yes", "no"
        )

    result = hornlens.explain(model, rows, bins={"age": [40]})
    assert str(result.rules) == "sex = m → no\nage < 40 → no\nage ≥ 40 ∧ sex = f → yes"
    assert (result.predict(rows) == wanted).all() and result.agreement.rows == 1


def test_what_is_null_in_a_polars_frame_is_null_for_the_model_and_not_nan():
    polars = pytest.importorskip("polars")
    rows = polars.DataFrame(
        {
            "age": [20, None, 40, 50],
            "income": [1.5, 2.5, None, 1.5],
            "sex": ["f", None, "m", "f"],
            "works": [True, None, False, True],
        }
    )
    for name, given in ((name, rows.select(name)) for name in rows.columns):

        def model(asked, name=name, given=given):
            assert asked.schema == given.schema
            return asked[name].is_null().to_numpy()

        result = hornlens.explain(model, given)
        assert f"{name} is missing → True" in str(result.rules).splitlines()
        assert result.agreement.rows == 1
    assert hornlens.explain(lambda asked: [1] * len(asked), rows).agreement.rows == 1
    with pytest.raises(InputError, match="lazy frame"):
        hornlens.explain(lambda asked: [1] * len(asked), rows.lazy())


@pytest.mark.slow
@pytest.mark.parametrize(("split_by", "thresholds", "count"), [("sqrt", 66, 0), (None, 62, 3)])
def test_three_conditions_of_a_forest_over_thirty_columns(split_by, thresholds, count):
    """Ten trees, over 60 thresholds: every rule with at most three conditions, or that none is."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    model = RandomForestClassifier(10, max_depth=3, max_features=split_by, random_state=0)
    model.fit(found.data, found.target)
    result = hornlens.explain(model, found.data, max_conditions=3)
    assert sum(map(len, result.edges.values())) == thresholds
    assert result.certificate.complete and len(result.boxes) == count
    for rule in result.rules:
        assert len(rule.conditions) == 3 and rule.confidence in (None, 1.0)
        assert hornlens.prove(model, str(rule)), rule
        for place in range(3):  # no condition can be left out
            fewer = [c for at, c in enumerate(rule.conditions) if at != place]
            assert not hornlens.prove(model, f"{' and '.join(fewer)} -> {rule.label}"), rule


def test_the_background_leaves_out_what_cannot_be():
    frame, _ = people_rows()
    frame = frame.drop(columns="income")

    def model(given):
        odd = given["pregnant"] & (given["sex"] == "m")
        return np.where(odd, "impossible", np.where(given["age"] < 40, "low", "high"))

    bins = {"age": [40]}
    free = hornlens.explain(Odd(model, ["low", "high", "impossible"]), frame, bins=bins)
    assert len(free.boxes) > 2
    assumed = hornlens.explain(
        lambda rows: np.where(model(rows) == "low", "low", "high"),
        frame,
        bins=bins,
        background=["pregnant -> sex = f"],
    )
    assert {str(rule) for rule in assumed.rules} == {"age < 40 → low", "age ≥ 40 → high"}
    assert assumed.certificate.cells == 6
    with pytest.raises(InputError, match="allows no cell"):
        hornlens.explain(
            model, frame, bins=bins, background=["age >= 0 -> false", "age < 0 -> false"]
        )


@pytest.mark.parametrize("seed", range(8))
def test_proofs_by_the_trees_respect_the_background(seed, tmp_path):
    """What the leaves prove of cells that occur is what asking all of them shows."""
    model, rows = random_model(seed)
    names = [f"x{place}" for place in range(rows.shape[1])]
    rng = np.random.default_rng(seed)
    background = [
        f"{names[0]} < {rng.integers(-2, 3) / 2} -> {names[1]} >= {rng.integers(-2, 3) / 2}",
        f"{names[-1]} > 1 and {names[0]} > 0.5 -> false",
    ][: 1 + seed % 2]
    for most in (1, 2):
        options = {"max_conditions": most, "background": background}
        wanted = hornlens.explain(model, rows, **options)
        proved = hornlens.explain(model, rows, limit=1, **options)
        assert set(proved.boxes) == set(wanted.boxes), (seed, most)
        assert "that the background allows" in proved.certificate.sentence
        proved.save(tmp_path)
        assert (done := hornlens.verify(tmp_path)).ok, done.wrong
        for rule in proved.rules[:5]:
            assert hornlens.prove(model, str(rule), rows, background=background), rule
        for name in names:
            here, there = wanted.flips(name), proved.flips(name)
            assert (here.ever, True) == (there.ever, there.proved), (seed, name)
    free = hornlens.explain(model, rows, max_conditions=2)
    lost = set(map(str, wanted.rules)) - set(map(str, free.rules))
    refuted = [rule for rule in lost if not hornlens.prove(model, rule, rows)]
    assert all(hornlens.prove(model, rule, rows, background=background) for rule in refuted)


def test_what_the_background_rules_out_is_vacuous():
    rows, classes = data("iris")
    model = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    assumed = ["x3 < 1 -> x2 < 3"]
    assert hornlens.prove(model, "x3 < 1 and x2 > 4 -> 2", rows).status == "refuted"
    proof = hornlens.prove(model, "x3 < 1 and x2 > 4 -> 2", rows, background=assumed)
    assert proof.status == "vacuous" and "background" in proof.sentence
    black_box = hornlens.prove(model.predict, "x3 < 1 and x2 > 4 -> 2", rows, background=assumed)
    assert black_box.status == "vacuous"


def test_the_domain_of_the_data_has_its_rows_and_their_neighbours(tmp_path):
    rows, classes = data("wine")
    model = LogisticRegression(max_iter=5000).fit(rows, classes)
    sizes = []
    for changes in (0, 1):
        result = hornlens.explain(model, rows, domain="data", changes=changes)
        cells, seen = result.labelled.cells, {tuple(c) for c in result.rows.tolist()}
        every = {tuple(c) for c in all_cells(result).tolist()}
        near_by = {
            c
            for c in every
            if min(sum(a != b for a, b in zip(c, s, strict=True)) for s in seen) <= changes
        }
        assert {tuple(c) for c in cells.tolist()} == near_by
        assert (result.decided(cells) == result.binned.ask(cells)).all()
        result.save(tmp_path)
        assert (done := hornlens.verify(tmp_path)).ok, done.wrong
        sizes.append(len(cells))
    assert sizes == sorted(set(sizes))


def test_cells_of_a_closed_forest_certify_no_absurd_rule():
    """12 columns and a forest: once, two predictions and one absurd rule had a PAC certificate."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 12))
    classes = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int)
    forest = RandomForestClassifier(100, max_depth=6, random_state=0).fit(rows, classes)
    result = hornlens.explain(forest.predict, rows)
    assert result.certificate.kind == "sifted" and result.certificate.sift.epsilon == 0.05
    fresh = np.column_stack([rng.integers(0, f.size, 20_000) for f in result.binned.features])
    said = result.binned.ask(fresh)
    for rule in result.rules:
        inside = np.all(
            [(fresh[:, a] >= lo) & (fresh[:, a] <= hi) for a, (lo, hi) in enumerate(rule.box)], 0
        )
        assert rule.warrant.bound <= 0.05 and (said[inside] == rule.place).mean() > 0.95
    one_sided = hornlens.explain(lambda rows: (rows[:, 0] > 1).astype(int), rows)
    assert "x0" in str(one_sided.rules[0])


def test_the_full_basis_says_more_than_what_implies_a_class():
    rows, classes = data("iris")
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes)
    basis = hornlens.explain(model, rows, label="species").basis()
    assert basis.certificate.kind == "exact"
    shown = [basis.space.show(rule) for rule in basis.readable.rules]
    assert any(line.startswith("species = 0 →") for line in shown)
    assert any(line.endswith("→ species = 0") for line in shown)


def test_requirements_are_checked_with_rows_that_break_them():
    rows, classes = data("iris")
    model = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    result = hornlens.explain(model, rows)
    done = result.check(
        {
            "require": ["x3 <= 0.8 -> 0", "x2 > 4.95 & x3 > 1.75 -> 2"],
            "forbid": ["x3 > 0.8 -> 1"],
            "invariant": [{"attributes": ["x0"]}],
            "at_least": "exact",
        }
    )
    assert done, str(done)
    broken = result.check({"require": ["x3 > 0.8 -> 1"], "invariant": [{"attributes": ["x3"]}]})
    assert len(broken.violations) == 2
    assert "x3 = " in str(broken.violations[0].answers[0])
    with pytest.raises(InputError, match="names no column"):
        result.check(["age < 3 -> 1"])
    with pytest.raises(InputError, match="no class 'setosa'"):
        result.check(["x0 < 3 -> setosa"])


def test_what_is_shown_is_read_back_and_proved():
    for kind in TREES:
        rows, classes = data("wine")
        model = TREES[kind]().fit(rows, classes)
        for rule in hornlens.explain(model, rows).rules[:12]:
            assert hornlens.prove(model, str(rule)), (kind, str(rule))


def test_bins_by_width_quantiles_edges_and_discretizers():
    rows, classes = data("iris")
    model = LogisticRegression(max_iter=1000).fit(rows, classes)
    for strategy in ("uniform", "quantile"):
        fitted = KBinsDiscretizer(3, encode="ordinal", strategy=strategy).fit(rows)
        theirs = hornlens.explain(model, rows, bins=fitted)
        assert (theirs.rows == fitted.transform(rows)).all()
        assert hornlens.explain(model, rows, bins=strategy, n_bins=3).binned.cell_count <= 81
    edges = hornlens.explain(model, rows, bins={"x2": [2.5, 4.9], "x3": [1]}, n_bins=2)
    assert "2.5 ≤ x2 < 4.9" in str(edges.rules)
    assert edges.edges["x2"] == (2.5, 4.9)


class Odd:
    """A classifier that says whatever it is told to."""

    def __init__(self, says, classes=None):
        self.says = says
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, rows):
        return self.says(rows)


ROWS = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])


def raising(rows):
    raise ZeroDivisionError("no\nway")


@pytest.mark.parametrize(
    ("model", "rows", "message"),
    [
        (DecisionTreeClassifier(), ROWS, "not fitted"),
        (DecisionTreeClassifier, ROWS, "give a fitted"),
        (Odd(raising), ROWS, "failed: ZeroDivisionError: no way"),
        (Odd(lambda rows: [0, 1]), ROWS, "one class of each of 3 rows"),
        (Odd(lambda rows: np.array([[1], [2], [1, 2]], dtype=object)), ROWS, "not hashable"),
        (Odd(lambda rows: [None] * len(rows)), ROWS, "says None of a row, and must say a class"),
        (Odd(lambda rows: None), ROWS, "one class of each of 3 rows"),
        (Odd(lambda rows: rows[:, 0] * 1.1, [0, 1]), ROWS, "says numbers, and no classes"),
        (Odd(lambda rows: ["a"] * len(rows), ["b", "c"]), ROWS, "says 'a', which is none"),
        (Odd(lambda rows: np.full(len(rows), np.nan)), ROWS, "is it a regressor"),
        (3, ROWS, "no predict"),
        (Odd(lambda rows: rows[:, 0]), np.zeros((0, 2)), "X has no rows"),
        (Odd(lambda rows: rows[:, 0]), [[1, 2], [1]], "its rows have several lengths"),
        (Odd(lambda rows: rows[:, 0]), [1, 2, 3], "rows and columns"),
        (Odd(lambda rows: rows[:, 0] > 1), [[1.0, np.inf]], "column 'x1' has infinite"),
    ],
)
def test_bad_models_and_rows_are_said_in_a_line(model, rows, message):
    with pytest.raises(HornlensError, match=message) as caught:
        hornlens.explain(model, rows)
    assert "\n" not in str(caught.value)


def test_bins_that_were_never_fitted_are_refused():
    with pytest.raises(InputError, match="the KBinsDiscretizer is not fitted"):
        hornlens.explain(Odd(lambda rows: rows[:, 0] > 1), ROWS, bins=KBinsDiscretizer())


def test_columns_that_do_not_fit_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2, 3, 4], "size": [1.0, 1, 2, 2]})
    model = DecisionTreeClassifier().fit(frame, [0, 1, 0, 1])
    with pytest.raises(InputError, match="lacks the column 'size'"):
        hornlens.explain(model, frame.rename(columns={"size": "height"}))
    with pytest.raises(InputError, match="not fitted with the column 'more'"):
        hornlens.explain(model, frame.assign(more=1))
    with pytest.raises(InputError, match=r"another order.*'age'"):
        hornlens.explain(model, frame[["size", "age"]])
    result = hornlens.explain(model, frame)
    with pytest.raises(InputError, match="no column 'size'"):
        result.predict(frame[["age"]])
    with pytest.raises(InputError, match="column 'age' has missing values"):
        result.predict(frame.assign(age=[1.0, None, 3, 4]))
    with pytest.raises(InputError, match="column 'age' has values that are no numbers"):
        result.predict(frame.assign(age=["a", "b", "c", "d"]))
    with pytest.raises(HornlensError, match="missing values are in 'size'"):
        hornlens.explain(
            LogisticRegression().fit(frame, [0, 1, 0, 1]), frame.assign(size=None).astype(float)
        )
    with pytest.raises(InputError, match="edges of column 'age'"):
        hornlens.explain(model, frame, bins={"age": ["x"]})
    with pytest.raises(HornlensError, match="no column 'weight'"):
        hornlens.explain(model, frame, bins={"weight": [1]})
    with pytest.raises(InputError, match="X has 3 columns; the model was fitted with 2"):
        hornlens.explain(DecisionTreeClassifier().fit(ROWS, [0, 1, 0]), np.zeros((2, 3)))
    with pytest.raises(InputError, match="names no column"):
        hornlens.prove(model, "height < 3 -> 1")
    with pytest.raises(InputError, match="no class '7'"):
        hornlens.prove(model, "age < 3 -> 7")
    with pytest.raises(InputError, match="not a rule"):
        hornlens.prove(model, "age < 3")
    with pytest.raises(HornlensError, match="no column 'height'"):
        hornlens.flips(model, "height", frame)


def test_constant_columns_are_noted_and_left_out():
    result = hornlens.explain(Odd(lambda rows: (rows[:, 0] > 1).astype(int)), ROWS)
    assert result.notes == ("column 'x1' is constant (5): rules are silent on it",)
    assert "x1" not in str(result.rules)


def test_options_that_make_no_sense_are_refused():
    model = DecisionTreeClassifier().fit(ROWS, [0, 1, 0])
    for options, message in [
        ({"bins": "tercile"}, "bins must be"),
        ({"domain": "all"}, "domain must be"),
        ({"rules": "some"}, "rules must be"),
        ({"n_bins": 1}, "n_bins must be 2 or more"),
        ({"epsilon": 0}, "epsilon"),
        ({"background": ["x0 < 3"]}, "not a rule about columns"),
        ({"bins": 3}, "edges by column"),
    ]:
        with pytest.raises(HornlensError, match=message):
            hornlens.explain(model, ROWS, **options)
    with pytest.raises(InputError, match="bins='model' reads"):
        hornlens.explain(LogisticRegression().fit(ROWS, [0, 1, 0]), ROWS, bins="model")


def test_a_constant_model_has_one_rule():
    result = hornlens.explain(lambda rows: ["yes"] * len(rows), ROWS)
    assert str(result.rules) == "⊤ → yes" and result.rules[0].support == 3


def test_a_damaged_file_is_found_out(tmp_path):
    import json

    rows, classes = data("iris")
    model = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    hornlens.explain(model, rows).save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text())

    def wrong(change):
        other = json.loads(json.dumps(content))
        change(other)
        (tmp_path / "envelope.json").write_text(json.dumps(with_digest(other)))
        return hornlens.verify(tmp_path).wrong

    assert wrong(lambda c: None) is None
    assert "there are" in wrong(lambda c: c["readable"].pop(0))

    def one_rule_less(c):
        c["readable"].pop(0)
        c["certificate"]["rules"] -= 1

    assert "no rule" in wrong(one_rule_less)
    assert "another class" in wrong(lambda c: c["readable"][0].update({"class": "1"}))
    assert "support" in wrong(lambda c: c["readable"][0].update(support=1))
    assert "its box says" in wrong(lambda c: c["readable"][0].update(conditions=["x3 ≤ 0.9"]))
    assert "wider" in wrong(lambda c: c["readable"][0].update(_narrower(c)))
    assert "in variables" in wrong(lambda c: c["readable"][0].update({"if": ["x3 ≤ 0.9"]}))
    assert "in variables" in wrong(lambda c: c["readable"][0].update(then=["class = 1"]))


def _narrower(content):
    """The first rule, with one more condition."""
    rule, content = content["readable"][0], content["classifier"]
    taken = {axis for axis, *_ in rule["box"]}
    axis = next(a for a in range(len(content["features"])) if a not in taken)
    feature = content["features"][axis]
    box = sorted([*rule["box"], [axis, 0, 0]])
    said = dict(zip([a for a, *_ in rule["box"]], rule["conditions"], strict=True))
    said[axis] = f"{feature['name']} ≤ {feature['texts'][0]}"
    sizes = [f["levels"] for f in content["features"]]
    widths = {a: high - low + 1 for a, low, high in box}
    cells = int(np.prod([widths.get(a, size) for a, size in enumerate(sizes)]))
    return {"box": box, "conditions": [said[a] for a, *_ in box], "cells": cells}
