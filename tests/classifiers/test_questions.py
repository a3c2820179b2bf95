"""Questions people ask of classifiers: thresholds, bands, moves, where it matters, recourse."""

import json
import pickle
from itertools import combinations, product

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")
pytest.importorskip("pandas")

import pandas
from sklearn.datasets import load_diabetes
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hornlens
from hornlens.errors import InputError
from tests.classifier_cases import all_cells, data, near, one_thread

__all__ = ["one_thread"]

REGRESSORS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestRegressor(4, max_depth=3, random_state=0),
    "extra trees": lambda: ExtraTreesRegressor(4, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=4, max_leaf_nodes=4),
    "poisson": lambda: HistGradientBoostingRegressor("poisson", max_iter=4, max_leaf_nodes=4),
    "pipeline": lambda: make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4)),
}
SCORERS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "exponential": lambda: GradientBoostingClassifier(loss="exponential", n_estimators=5),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=5),
    "pipeline": lambda: make_pipeline(
        StandardScaler(), RandomForestClassifier(3, max_depth=3, random_state=0)
    ),
}


def diabetes():
    found = load_diabetes()
    return pandas.DataFrame(found.data[:, [0, 2, 3]].round(2), columns=["age", "bmi", "bp"]), (
        found.target
    )


def loans(seed=0):
    rng = np.random.default_rng(seed)
    rows = pandas.DataFrame(
        {
            "age": rng.integers(18, 70, 200),
            "income": rng.normal(30, 12, 200).round(1),
            "priors": rng.integers(0, 5, 200),
            "sex": rng.integers(0, 2, 200),
        }
    )
    score = rows["income"] - 6 * rows["priors"] + 0.1 * rows["age"] + rng.normal(0, 5, 200)
    return rows, np.where(score > 20, "yes", "no")


def edge_rows(result, rng, count=3_000):
    """Rows on and beside the thresholds."""
    columns = []
    for feature in result.binned.every:
        values = near(feature.cuts.values) if feature.cuts is not None else []
        columns.append(rng.choice([*values, *feature.points], count))
    names = result.feature_names
    return pandas.DataFrame(dict(zip(names, columns, strict=True)))


# --- names in quotes, or, in ---


def test_names_in_quotes_are_read_as_the_documentation_of_gates_writes_them():
    rows, classes = data("breast_cancer")
    frame = pandas.DataFrame(rows, columns=["mean radius", "R&D", "a -> b", "x"])
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame, classes)
    result = hornlens.explain(model, frame)
    for rule in result.rules:
        assert hornlens.prove(model, str(rule), frame), rule
        named = hornlens.NamedRule(rule.conditions, (rule.label,))
        assert hornlens.prove(model, str(named), frame), named
        assert result.judge(named).truth.holds, named
    quoted = hornlens.prove(model, '"mean radius" > 1000 or "R&D" < -1 -> 0', frame)
    plain = hornlens.prove(model, "mean radius > 1000 or R&D < -1 -> 0", frame)
    assert quoted.status == plain.status


@pytest.mark.parametrize("seed", range(12))
def test_rules_with_or_and_not_are_proved_as_every_cell_says(seed):
    rng = np.random.default_rng(seed)
    rows, classes = data("iris")
    kind = list(SCORERS)[seed % 3]
    model = SCORERS[kind]() if kind != "exponential" else SCORERS["tree"]()
    model.fit(rows, classes)
    pieces = [
        f"x{rng.integers(4)} {rng.choice(['<', '>='])} {rng.uniform(0, 6):.2f}" for _ in "abc"
    ]
    left = f"({pieces[0]} or {pieces[1]}) and not ({pieces[2]})"
    right = rng.choice(["0", "not 1", "0 or 2", "in {1, 2}", "x0 > 4 or 1"])
    rule = f"{left} -> {right if not right.startswith('in') else 'class ' + right}"
    points = rng.uniform(0, 7, (4_000, 4))
    said = model.predict(points)
    first, second, third = (
        points[:, int(p[1])] < float(p.split()[2])
        if "<" in p
        else points[:, int(p[1])] >= float(p.split()[2])
        for p in pieces
    )
    follows = {
        "0": said == 0,
        "not 1": said != 1,
        "0 or 2": said != 1,
        "in {1, 2}": said > 0,
        "x0 > 4 or 1": (points[:, 0] > 4) | (said == 1),
    }[right]
    broken = (first | second) & ~third & ~follows
    for asked in (model, model.predict):
        proof = hornlens.prove(asked, rule, rows)
        assert not (broken.any() and proof.status in ("proved", "vacuous")), rule
    proof = hornlens.prove(model, rule, rows)
    assert proof.status in ("proved", "refuted", "vacuous")
    if proof.status == "refuted":
        row = np.array([list(proof.row.values())])
        assert str(model.predict(row)[0]) == proof.said


def test_gates_read_the_same_grammar(tmp_path):
    rows, classes = loans()
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows, classes)
    result = hornlens.explain(model, rows)
    (tmp_path / "rules.yaml").write_text(
        "hornlens: 1\n"
        "require:\n"
        '  - ("income" < -100 or "priors" > 100) & age < 200 -> no or yes\n'
        "forbid:\n"
        "  - income in {1, 2} or not (age < 30) -> yes\n"
    )
    outcome = result.check(tmp_path / "rules.yaml")
    assert [one.passed for one in outcome.outcomes] == [True, True], str(outcome)


def test_rules_are_judged_as_text_in_both_doors():
    rows = np.array([[age, income] for age in range(10, 60, 5) for income in range(1, 5)])
    result = hornlens.explain(
        lambda given: np.where((given[:, 0] >= 30) & (given[:, 1] > 2), "yes", "no"),
        rows,
        bins={"x0": [30], "x1": [3]},
    )
    assert result.judge("x0 >= 30 and x1 >= 3 -> yes").truth.holds
    assert result.judge("x0 < 30 or x1 < 3 -> no").truth.holds
    counted = result.exceptions("x0 >= 30 -> yes")
    assert (counted.broken, counted.of) == (1, 2)
    table = hornlens.envelope(pandas.DataFrame({"nurse": [1, 0], "female": [1, 0]}))
    assert table.judge("nurse -> female").truth.holds
    assert table.exceptions("nurse -> female").broken == 0
    for one in (result, table):
        with pytest.raises(InputError, match="a rule is a text"):
            one.judge(5)
        with pytest.raises(InputError, match="not a rule"):
            one.judge("nothing at all")


@pytest.mark.parametrize(("name", "value"), [("limit", 0), ("n_bins", 1), ("limit", "many")])
def test_proofs_and_recourse_check_their_options_as_explain_does(name, value):
    rows = np.array([[20.0], [40.0]])

    def bank(given):
        return given[:, 0] > 30

    for ask in (
        lambda **option: hornlens.explain(bank, rows, **option),
        lambda **option: hornlens.prove(bank, "x0 > 30 -> True", rows, **option),
        lambda **option: hornlens.recourse(bank, rows[0], True, rows, **option),
    ):
        with pytest.raises(InputError, match=f"{name} must be . or more"):
            ask(**{name: value})


# --- thresholds ---


@pytest.mark.parametrize("kind", SCORERS)
@pytest.mark.parametrize("threshold", [0, 0.05, 0.3, 0.5, 0.731, 1])
def test_a_threshold_decides_as_the_score_does(kind, threshold):
    rows, classes = data("breast_cancer")
    frame = pandas.DataFrame(rows[:, :3], columns=["a", "b", "c"])
    model = SCORERS[kind]().fit(frame, classes)
    result = hornlens.explain(model, frame, threshold=threshold)
    assert result.certificate.scope.of == "every input" and result.exact_bins
    beside = edge_rows(result, np.random.default_rng(0))
    wanted = (model.predict_proba(beside)[:, 1] >= threshold).astype(int)
    assert (result.predict(beside) == wanted).all()
    proved = hornlens.explain(model, frame, threshold=threshold, limit=1, max_conditions=2)
    same = hornlens.explain(model, frame, threshold=threshold, max_conditions=2)
    assert set(proved.boxes) == set(same.boxes)
    for rule in result.rules[:3]:
        assert hornlens.prove(model, str(rule), frame, threshold=threshold), rule


def test_a_threshold_is_saved_shown_and_checked(tmp_path):
    rows, classes = loans()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes)
    result = hornlens.explain(model, rows, threshold=0.3)
    assert result.binned.classifier.name == "RandomForestClassifier at 0.3"
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    assert str(hornlens.load(tmp_path).rules) == str(result.rules)
    assert (
        pickle.loads(pickle.dumps(result)).predict(rows).tolist() == result.predict(rows).tolist()
    )
    assert hornlens.flips(model, "sex", rows, threshold=0.3).of_rows == 200
    black_box = hornlens.explain(LogisticRegression().fit(rows, classes), rows, threshold=0.9)
    assert "at 0.9" in black_box.binned.classifier.name


@pytest.mark.parametrize(
    ("clf", "threshold", "problem"),
    [
        ("iris", 0.3, "needs two classes"),
        ("linear", 0.3, "has no predict_proba"),
        ("loans", 1.5, "a number from 0 to 1"),
        ("loans", "high", "a number from 0 to 1"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(clf, threshold, problem):
    rows, classes = data("iris") if clf == "iris" else loans()
    model = DecisionTreeClassifier().fit(rows, classes)
    model = LinearRegression().fit(rows, np.arange(len(rows))) if clf == "linear" else model
    with pytest.raises(InputError, match=problem):
        hornlens.explain(model, rows, threshold=threshold)


# --- bands ---


@pytest.mark.parametrize("kind", REGRESSORS)
def test_bands_of_a_regressor_are_exact(kind):
    rows, target = diabetes()
    model = REGRESSORS[kind]().fit(rows, target)
    bands = [110, 152.5, 200]
    result = hornlens.explain(model, rows, bands=bands, label="risk")
    assert result.certificate.scope.of == "every input"
    names = np.array(["risk < 110", "110 ≤ risk < 152.5", "152.5 ≤ risk < 200", "risk ≥ 200"])
    beside = edge_rows(result, np.random.default_rng(0))
    wanted = names[np.searchsorted(bands, model.predict(beside), side="right")]
    assert (result.predict(beside) == wanted).all()
    proved = hornlens.explain(model, rows, bands=bands, limit=1, max_conditions=2, label="risk")
    same = hornlens.explain(model, rows, bands=bands, max_conditions=2, label="risk")
    assert set(proved.boxes) == set(same.boxes)
    for rule in result.rules[:4]:
        assert hornlens.prove(model, str(rule), rows, label="risk"), rule


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_number_that_trees_predict_is_where_a_band_ends(kind):
    rows, target = diabetes()
    model = REGRESSORS[kind]().fit(rows, target)
    exact = sorted(set(model.predict(rows).tolist()))[2]
    result = hornlens.explain(model, rows, bands=[exact])
    says = result.predict(rows) == result.binned.classifier.labels[1]
    assert (says == (model.predict(rows) >= exact)).all()
    lowest = hornlens.prove(model, f"-> value >= {float(model.predict(rows).min())}", rows)
    assert lowest.status in ("proved", "refuted")
    for rule, holds in ((f"-> value >= {exact!r}", False), ("-> value > -1e6", True)):
        assert bool(hornlens.prove(model, rule, rows)) == holds, rule


def test_named_bands_and_comparisons_in_one_rule(tmp_path):
    rows, target = diabetes()
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(rows, target)
    bands = {"low": 120, "middle": 180, "high": None}
    result = hornlens.explain(model, rows, bands=bands, label="risk")
    assert result.classes == ("low", "middle", "high")
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    for rule in result.rules[:3]:
        options = {"bands": bands, "label": "risk"}
        assert hornlens.prove(model, str(rule), rows, **options), rule
        assert hornlens.prove(model, f"{rule} or risk > 1000", rows, **options), rule
    never = hornlens.prove(
        model, "-> not (low or middle) or risk < 180", rows, bands=bands, label="risk"
    )
    assert never.status == "proved"
    assert hornlens.flips(model, "age", rows, bands=[150]).of_rows == len(rows)


@pytest.mark.parametrize(
    ("bands", "problem"),
    [
        ([3, 1], "from low to high"),
        ([], "need numbers"),
        (["a"], "must begin at numbers"),
        ({"a": 1, "b": 2}, "the last None"),
        (5, "bands must be numbers"),
        ([float("nan")], "need numbers"),
    ],
)
def test_bands_that_make_no_sense_are_refused(bands, problem):
    rows, target = diabetes()
    model = DecisionTreeRegressor(max_depth=2).fit(rows, target)
    with pytest.raises(InputError, match=problem):
        hornlens.explain(model, rows, bands=bands)


def test_a_regressor_without_bands_is_told_of_them():
    rows, target = diabetes()
    model = DecisionTreeRegressor(max_depth=2).fit(rows, target)
    with pytest.raises(InputError, match=r"give bands="):
        hornlens.explain(model, rows)
    with pytest.raises(InputError, match="needs bands"):
        hornlens.prove(model, "age up never changes the class", rows)
    motion = hornlens.prove(
        model, "bmi up never turns low into high", rows, bands={"low": 150, "high": None}
    )
    assert motion.status in ("proved", "refuted")


# --- moving a column ---


def brute_moves(result, axis, first, then, up, where):
    """Whether some cell of one class becomes one of the other when its level moves."""
    labels = result.labelled.labels
    for cell in all_cells(result):
        if labels[tuple(cell)] not in first or not where(cell):
            continue
        for level in range(labels.shape[axis]):
            other = cell.copy()
            other[axis] = level
            goes = level > cell[axis] if up else level < cell[axis]
            goes = level != cell[axis] if up is None else goes
            if goes and labels[tuple(other)] in then and where(other):
                return True
    return False


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_moves_are_proved_as_every_pair_of_cells_says(kind, seed):
    rng = np.random.default_rng(seed)
    rows, classes = data("iris")
    model = SCORERS[kind]().fit(rows[:, :3], classes)
    result = hornlens.explain(model, rows[:, :3])
    column = int(rng.integers(3))
    way = ("up", "down", "")[seed % 3]
    first, then = rng.choice(3, 2, replace=False).tolist()
    cut = result.binned.every[(column + 1) % 3]
    condition, at = "", None
    if seed % 2 and cut.cuts.values:
        at = int(rng.integers(len(cut.cuts.values)))
        condition = f" where {cut.say((0, at))}"
    rule = f"x{column} {way} never turns {first} into {then}{condition}".replace("  ", " ")
    names = [feature.name for feature in result.binned.features]
    if f"x{column}" not in names:
        assert hornlens.prove(model, rule, rows[:, :3]), rule
        return
    axis = names.index(f"x{column}")

    def where(cell):
        return at is None or cell[names.index(cut.name)] <= at

    up = {"up": True, "down": False, "": None}[way]
    broken = brute_moves(result, axis, [first], [then], up, where)
    proof = hornlens.prove(model, rule, rows[:, :3])
    assert proof.status == ("refuted" if broken else "proved"), (rule, proof.sentence)
    if broken:
        ends = model.predict(np.array([list(proof.row.values()), list(proof.moved.values())]))
        assert ends.tolist() == [first, then] and proof.said == str(then)
        changed = [name for name in proof.row if proof.row[name] != proof.moved[name]]
        assert changed == [f"x{column}"]
    never = hornlens.prove(model, f"x{column} never changes the class", rows[:, :3])
    assert never.status == ("proved" if not result.flips(f"x{column}").ever else "refuted")


def test_moves_of_other_models_are_tried_and_of_categories_proved():
    rows, classes = loans()
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, classes)
    assert hornlens.prove(linear, "income up never turns yes into no", rows).status == "not refuted"
    broken = hornlens.prove(linear, "income up never turns no into yes", rows)
    assert broken.status == "refuted" and broken.moved["income"] > broken.row["income"]
    frame = pandas.DataFrame(list(product("abc", "xy")), columns=["c", "d"])

    def says(asked):
        return np.where((asked["c"] == "a") & (asked["d"] == "x"), "yes", "no")

    assert hornlens.prove(says, "c never turns yes into no where d = y", frame).status == "proved"
    assert hornlens.prove(says, "c never changes the class", frame).status == "refuted"
    with pytest.raises(InputError, match="has no order"):
        hornlens.prove(says, "c up never turns yes into no", frame)


# --- where it matters ---


@pytest.mark.parametrize("kind", ["tree", "forest", "histograms"])
def test_where_a_column_matters_is_what_every_cell_says(kind):
    rows, classes = data("breast_cancer")
    frame = pandas.DataFrame(rows[:, :3], columns=["a", "b", "c"])
    model = SCORERS[kind]().fit(frame, classes)
    result = hornlens.explain(model, frame)
    for axis, feature in enumerate(result.binned.features):
        where = result.where_it_matters(feature.name)
        along = np.moveaxis(result.labelled.labels, axis, -1)
        matters = along.max(axis=-1) != along.min(axis=-1)
        assert where.complete and where.share == pytest.approx(matters.mean())
        assert bool(matters.any()) == result.flips(feature.name).ever
        assert where.rows == matters[tuple(np.delete(result.rows, axis, axis=1).T)].sum()
        condition = " or ".join(
            f"({' and '.join(one.conditions)})" for one in where if one.matters and one.conditions
        )
        if condition and len(where.rules) > 1:
            text = f"{feature.name} never changes the class where not ({condition})"
            assert hornlens.prove(model, text, frame), text


def test_where_the_only_column_matters():
    """Nothing else is there that rules could speak of."""
    rows = np.arange(12.0)[:, None]
    model = DecisionTreeClassifier(max_depth=2).fit(rows, rows[:, 0] > 5)
    for where in (
        hornlens.explain(model, rows).where_it_matters("x0"),
        hornlens.explain(lambda given: given[:, 0] > 5, rows[:, :1]).where_it_matters("x0"),
    ):
        assert where.complete and where.share == 1 and where.rows == len(rows)
        assert [str(rule) for rule in where] == ["⊤ → matters"]
        assert "can change the decision where everywhere" not in where.sentence


def test_where_a_column_matters_beyond_the_grid_is_proved_box_by_box():
    rows, classes = data("breast_cancer")
    frame = pandas.DataFrame(rows, columns=["a", "b", "c", "d"])
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(frame, classes)
    whole = hornlens.explain(model, frame).where_it_matters("b")
    result = hornlens.explain(model, frame, limit=1, max_conditions=1)
    where = result.where_it_matters("b", most=400)
    assert where.share <= whole.share + 1e-9 and where.share + where.open >= whole.share - 1e-9
    assert where.open < 1 and any(rule.matters for rule in where)
    for rule in where.rules[:12]:
        texts = " and ".join(rule.conditions)
        proof = hornlens.prove(model, f"b never changes the class where {texts}", frame)
        assert proof.status == ("refuted" if rule.matters else "proved"), rule


# --- recourse ---


def brute_recourse(result, cell, wanted, free):
    """The least number of columns that must change, by trying every cell."""
    labels = result.labelled.labels
    for size in range(len(free) + 1):
        for axes in combinations(free, size):
            for levels in product(*(range(labels.shape[axis]) for axis in axes)):
                other = np.array(cell)
                other[list(axes)] = levels
                if labels[tuple(other)] == wanted:
                    return size
    return None


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_recourse_is_the_smallest_change_in_the_grid(kind):
    rows, classes = loans()
    model = SCORERS[kind]().fit(rows, classes)
    result = hornlens.explain(model, rows)
    names = [feature.name for feature in result.binned.features]
    free = [axis for axis, name in enumerate(names) if name != "sex"]
    refused = np.flatnonzero(model.predict(rows) == "no")[:12]
    answers = hornlens.recourses(model, rows.iloc[refused], "yes", rows, fixed=["sex"], most=4)
    for row, answer in zip(refused.tolist(), answers, strict=True):
        least = brute_recourse(result, result.rows[row], 1, free)
        assert answer.proved, answer.sentence
        if least is None:
            assert answer.status == "impossible"
            continue
        assert len(answer.changes) == least and "sex" not in answer.changes
        changed = pandas.DataFrame([answer.changed])[rows.columns].astype(rows.dtypes)
        assert model.predict(changed)[0] == "yes"
        same = {n: v for n, v in answer.changed.items() if n not in answer.changes}
        assert all(answer.row[name] == value for name, value in same.items())


def test_the_least_total_change_is_taken():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20, (300, 2)).astype(float)
    classes = np.where((rows[:, 0] >= 12) | (rows[:, 1] >= 17), "yes", "no")
    model = DecisionTreeClassifier(random_state=0).fit(rows, classes)
    near_first = hornlens.recourse(model, [11, 2], "yes", rows)
    near_second = hornlens.recourse(model, [1, 16], "yes", rows)
    assert list(near_first.changes) == ["x0"] and list(near_second.changes) == ["x1"]
    assert near_first.status == near_second.status == "proved"
    assert 11.5 < near_first.changes["x0"] < 11.7 and "Change x0 from 11 to" in near_first.sentence
    up = hornlens.recourse(model, [1, 16], "yes", rows, fixed=["x1"], only_down=["x0"])
    assert up.status == "impossible" and not up and up.changed is None
    assert hornlens.recourse(model, {"x0": 15, "x1": 1}, "yes", rows).status == "already"
    back = hornlens.recourse(model, [15, 18], "no", rows)
    assert len(back.changes) == 2 and back.proved
    assert hornlens.recourse(model, [15, 18], "no", rows, most=1).status == "not found"


def test_recourse_of_other_models_is_found_and_not_proved():
    rows, classes = loans()
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, classes)
    refused = rows.iloc[int(np.flatnonzero(linear.predict(rows) == "no")[0])]
    answer = hornlens.recourse(linear, refused, "yes", rows, only_up=["income"], fixed=["priors"])
    assert answer.status == "found" and not answer.proved
    changed = pandas.DataFrame([answer.changed])[rows.columns]
    assert linear.predict(changed)[0] == "yes"


def test_recourse_obeys_the_background():
    rows, classes = loans()
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows, classes)
    refused = rows.iloc[np.flatnonzero(model.predict(rows) == "no")[:8]]
    for answer in hornlens.recourses(
        model, refused, "yes", rows, background=["sex = 1 -> income < 25"]
    ):
        if answer.changed is not None and answer.changes:
            assert answer.changed["sex"] != 1 or answer.changed["income"] < 25


@pytest.mark.parametrize(
    ("row", "options", "problem"),
    [
        ([1, 2], {}, "the row has 2 values"),
        ({"age": 3}, {}, "the row has no 'income'"),
        ([30, "a", 1, 1], {}, "which is no number"),
        ([30, 20.0, 1, 1], {"fixed": ["ages"]}, "no column 'ages'"),
        ([30, 20.0, 1, 1], {"most": 0}, "most must be 1 or more"),
        ([30, 20.0, 1, 1], {"to": "perhaps"}, "there is no class 'perhaps'"),
        ([30, 20.0, 1, 1], {"to": "yes or no"}, "must name some of the classes"),
        ("row", {}, "a row must be"),
    ],
)
def test_recourse_that_makes_no_sense_is_refused(row, options, problem):
    rows, classes = loans()
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, classes)
    options = {"to": "yes", **options}
    with pytest.raises(hornlens.HornlensError, match=problem):
        hornlens.recourse(model, row, options.pop("to"), rows, **options)


def test_a_change_is_found_where_the_near_end_of_a_bin_is_not_enough():
    """Of a stand-in, the end of a bin may lie just before the model's own threshold."""
    rows = np.arange(0, 4, 0.25)[:, None]
    above = hornlens.recourse(lambda given: given[:, 0] > 2, [1.0], True, rows, bins={"x0": [2]})
    assert above.status == "found" and above.changes["x0"] > 2
    never = hornlens.recourse(
        lambda given: given[:, 0] == 3.75, [1.0], True, rows, bins={"x0": [2]}
    )
    assert never.status == "not found"


# --- commands ---


def test_the_commands_take_thresholds_bands_and_recourse(tmp_path):
    skops = pytest.importorskip("skops.io")
    from typer.testing import CliRunner

    from hornlens.cli.app import app

    rows, classes = loans()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes)
    prices = (10 * rows["income"] - rows["priors"]).round(1)
    regressor = RandomForestRegressor(4, max_depth=3, random_state=0).fit(rows, prices)
    files = [str(tmp_path / name) for name in ("m.skops", "loans.csv", "r.skops", "prices.csv")]
    skops.dump(model, files[0])
    skops.dump(regressor, files[2])
    rows.assign(granted=classes).to_csv(files[1], index=False)
    rows.assign(price=prices).to_csv(files[3], index=False)

    def run(*arguments):
        done = CliRunner().invoke(app, list(arguments))
        assert done.exit_code == 0 or isinstance(done.exception, InputError), done.output
        return done

    explained = []
    for threshold in ("0.2", "0.8"):
        out = tmp_path / threshold
        run(
            "explain", *files[:2], "--label", "granted", "--threshold", threshold, "--out", str(out)
        )
        result = hornlens.load(out)
        assert hornlens.verify(out).ok
        wanted = model.predict_proba(rows)[:, 1] >= float(threshold)
        assert ((result.predict(rows) == "yes") == wanted).all()
        explained.append(result.binned.classifier.identity)
    assert explained[0] != explained[1]
    banded = ["explain", *files[2:], "--label", "price", "--bands", "low:200,middle:300,high"]
    run(*banded, "--out", str(tmp_path / "bands"))
    assert hornlens.load(tmp_path / "bands").classes == ("low", "middle", "high")
    assert "give bands" in str(run("explain", *files[2:], "--label", "price").exception)
    number = str(int(np.flatnonzero(model.predict(rows) == "no")[0]) + 1)
    asked = ["recourse", *files[:2], "--label", "granted", "--row", number, "--to", "yes"]
    done = run(*asked, "--fixed", "sex", "--fixed", "age", "--format", "json")
    (line,) = json.loads(done.stdout)["recourse"]
    assert line["proved"] and not {"sex", "age"} & set(line["changes"])
    changed = pandas.DataFrame([line["changed"]])[rows.columns]
    assert model.predict(changed)[0] == "yes"
    assert line["sentence"] in " ".join(
        run(*asked, "--fixed", "sex", "--fixed", "age").stdout.split()
    )
    late = run(*asked[:6], "1000", "--to", "yes")
    assert "there is no row 1000" in str(late.exception)
    wrong = run(*banded[:-1], "low,high")
    assert "bands must be numbers" in str(wrong.exception)
