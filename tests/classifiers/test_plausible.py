"""Only what can exist: rules of the rows, how many an input may break, and proofs."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens import HornlensError, InputError, Plausible, explain, flips, prove
from hornlens.classifiers.nearest import rows_moved_into
from hornlens.exact.boxes.mining import _widest, empty_boxes
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.binning import bin_columns
from hornlens.targets.classifiers.plausible import LEAST, most_broken
from hornlens.targets.classifiers.points import Binned
from tests.command import hornlens as command


def linked(count, seed=0, noise=0.1):
    """Rows of two columns that go together, and of one that does not."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=count)
    return np.column_stack(
        [first, first + noise * rng.normal(size=count), rng.integers(0, 3, count)]
    )


def people(count, seed=0):
    """Whole numbers, categories, Booleans and missing values, which depend on each other."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], count)
    age = rng.integers(1, 90, count)
    return pandas.DataFrame(
        {
            "age": age,
            "sex": sex,
            "pregnant": (sex == "f") & (age > 18) & (age < 45) & (rng.random(count) < 0.4),
            "job": np.where(age < 16, "none", rng.choice(["cook", "clerk", "nurse"], count)),
            "pay": np.where(age < 16, np.nan, 1000.0 + 20 * age + rng.normal(size=count)),
            "planet": "earth",
        }
    )


def forest(rows, wanted, **options):
    model = RandomForestClassifier(5, max_depth=3, random_state=0, **options)
    return model.fit(rows, wanted)


# --- which rows are plausible ---


@pytest.mark.parametrize("count", [150, 300, 1000])
def test_at_most_one_in_a_hundred_fresh_rows_is_shut_out(count):
    """Over many data sets, as the conformal bound says; and what is drawn apart is shut out."""
    shares, apart = [], []
    for seed in range(60):
        plausible = Plausible.of(linked(count, seed))
        fresh = linked(2_000, 10_000 + seed)
        shares.append(1 - plausible.allows(fresh).mean())
        fresh[:, 1] = np.random.default_rng(seed).permutation(fresh[:, 1])
        apart.append(1 - plausible.allows(fresh).mean())
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) <= 0.01 + 3 * error
    assert np.mean(apart) > 0.3


def test_many_columns_are_cut_finely_and_no_more_fresh_rows_are_shut_out():
    mixing, shares = np.random.default_rng(7).normal(size=(3, 8)), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(1_500, 3)) @ mixing + 0.15 * rng.normal(size=(1_500, 8))
        plausible = Plausible.of(rows[:200], seed)
        shares.append(1 - plausible.allows(rows[200:]).mean())
    assert np.mean(shares) <= 0.01 + 3 * np.std(shares) / np.sqrt(len(shares))


def test_rows_that_are_held_out_have_no_part_in_the_rules():
    rows = load_breast_cancer(return_X_y=True)[0][:, :4]
    plausible = Plausible.of(rows)
    held_out = list(plausible.measured)
    other = rows.copy()
    other[held_out] = np.random.default_rng(0).permutation(1.3 * rows[held_out])
    again = Plausible.of(other)
    assert again.measured == plausible.measured
    assert again.rules == plausible.rules


@pytest.mark.parametrize(("bins", "least", "most"), [(12, 0.0, 0.65), (48, 0.8, 1.0)])
def test_fine_rules_follow_a_curve(bins, least, most):
    """Rows in which an area belongs to another radius are shut out, but for those close by."""
    rows = load_breast_cancer(return_X_y=True)[0][:, [0, 3]]
    shares = []
    for seed in range(5):
        plausible = Plausible.of(rows, seed, bins)
        fresh = rows[list(plausible.measured)]
        fresh[:, 1] = np.random.default_rng(seed).permutation(fresh[:, 1])
        shares.append(1 - plausible.allows(fresh).mean())
    assert least <= np.mean(shares) <= most
    assert Plausible.of(rows) == Plausible.of(rows, bins=48)


def test_all_cells_are_asked_where_rules_that_are_less_fine_allow_it():
    rng = np.random.default_rng(0)
    first = rng.normal(size=400)
    rows = np.column_stack([first, *(first + 0.1 * rng.normal(size=400) for _ in range(2))])

    def model(given):
        return given[:, 0] > 0

    fine = explain(model, rows, domain="plausible", limit=300_000)
    coarse = explain(model, rows, domain="plausible", limit=20_000)
    assert len(coarse.plausible.rules) < len(fine.plausible.rules)


def test_fresh_rows_with_categories_and_missing_values_are_kept_too():
    shares = []
    for seed in range(40):
        plausible = Plausible.of(people(400, seed))
        shares.append(1 - plausible.allows(people(1_000, 5_000 + seed)).mean())
    assert np.mean(shares) <= 0.01 + 3 * np.std(shares) / np.sqrt(len(shares))


def test_the_count_is_the_conformal_quantile():
    rng = np.random.default_rng(0)
    for count in (99, 100, 150, 199, 200, 1_000):
        counts = rng.poisson(2, count)
        most = most_broken(counts)
        rank = int(np.ceil((count + 1) * 0.99))
        assert most == sorted(counts.tolist())[rank - 1]
        assert np.mean(counts <= most) >= 0.99
    with pytest.raises(ValueError, match="too few"):
        most_broken(np.zeros(98, dtype=int))


def test_rules_are_found_and_no_row_that_showed_them_breaks_one():
    rows = people(600)
    plausible = Plausible.of(rows)
    assert plausible.rules and plausible.rows == 300 and plausible.held_out == 300
    showed = np.setdiff1d(np.arange(600), plausible.measured)
    assert not plausible.broken(rows)[showed].any()
    counts = plausible.broken(rows)[list(plausible.measured)]
    assert plausible.most_broken == most_broken(counts)
    assert plausible.kept == int((counts <= plausible.most_broken).sum())
    assert any("pay is missing" in rule or "job = none" in rule for rule in plausible.rules)
    odd = rows[:2].assign(age=[5, 5], sex="m", pregnant=True, job="nurse", pay=2500.0)
    assert not plausible.allows(odd).any()


def test_boxes_are_empty_apart_and_enough_rows_would_lie_in_each():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        first = rng.integers(0, 4, 300)
        other = rng.integers(0, 3, 300)
        rows = np.column_stack([first, np.minimum(3, first + rng.integers(0, 2, 300)), other])
        rows = np.column_stack([rows, (first + other) % 2])
        from hornlens.exact.boxes.axes import Axis

        axes = [Axis(4, 4, True), Axis(4, 4, True), Axis(3, 2, False), Axis(2, 2, False)]
        boxes = empty_boxes(rows, axes, seed)
        assert boxes == empty_boxes(rows, axes, seed)
        for box in boxes:
            inside = np.ones(len(rows), dtype=bool)
            shares = []
            for axis, (low, high) in box:
                met = (rows[:, axis] >= low) & (rows[:, axis] <= high)
                shares.append(met.mean())
                inside &= met
            assert not inside.any(), (seed, box)
            assert len(box) > 2 or len(rows) * np.prod(shares) >= 10, (seed, box)
        for one, other_box in itertools.permutations(boxes, 2):
            spans = dict(one)
            assert not all(
                axis in spans and low <= spans[axis][0] and spans[axis][1] <= high
                for axis, (low, high) in other_box
            ), (seed, one, other_box)


def test_the_widest_boxes_are_those_that_lie_in_no_other_one():
    rng = np.random.default_rng(0)
    drawn = set()
    for _ in range(400):
        axes = sorted(rng.choice(4, int(rng.integers(2, 4)), replace=False).tolist())
        drawn.add(tuple((axis, tuple(sorted(rng.integers(0, 5, 2).tolist()))) for axis in axes))

    def lies_in(box, other):
        spans = dict(box)
        return all(
            axis in spans and low <= spans[axis][0] and spans[axis][1] <= high
            for axis, (low, high) in other
        )

    boxes = sorted(drawn)
    expected = [box for box in boxes if not any(o != box and lies_in(box, o) for o in boxes)]
    assert sorted(_widest(boxes)) == expected and len(expected) < len(boxes)


def test_the_same_rows_give_the_same_rules_and_another_seed_holds_out_others():
    rows = linked(400)
    assert Plausible.of(rows) == Plausible.of(rows.copy())
    assert Plausible.of(rows).measured != Plausible.of(rows, seed=1).measured


def test_independent_columns_and_constant_ones_show_no_rule():
    rows = np.random.default_rng(0).integers(0, 3, (300, 2))
    plausible = Plausible.of(np.column_stack([rows, np.full(300, 7)]))
    assert not plausible.rules and plausible.most_broken == 0
    assert plausible.sentence == "Every input is plausible: the rows show no rule."
    assert plausible.allows([[5, 5, 5]]).all()
    assert Plausible.of(np.full((200, 2), 3.0)).rules == ()


def test_too_few_rows_are_an_error_in_a_line():
    with pytest.raises(InputError, match="takes 150 rows of X, and there are 149"):
        Plausible.of(linked(149))
    with pytest.raises(InputError, match="takes 150 rows"):
        explain(lambda rows: rows[:, 0] > 0, linked(50), domain="plausible")
    assert Plausible.of(linked(LEAST)).held_out == 99


def test_names_and_values_with_signs_of_rules_in_them_are_no_harm():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a -> b", "x and y", "no", "= 3"], 600)
    rows = pandas.DataFrame(
        {"a < b": np.where(kind == "no", 0, 5) + rng.random(600), "kind of": kind}
    )
    plausible = Plausible.of(rows)
    assert not plausible.broken(rows)[np.setdiff1d(np.arange(600), plausible.measured)].any()


# --- files ---


@pytest.mark.parametrize("name", ["plausible.yaml", "plausible.json"])
def test_what_is_plausible_is_saved_read_and_edited(tmp_path, name):
    plausible = Plausible.of(people(400))
    plausible.save(tmp_path / name)
    again = Plausible.load(tmp_path / name)
    assert again == plausible
    rows = people(200, 3)
    assert (again.broken(rows) == plausible.broken(rows)).all()
    fewer = plausible.without(*plausible.rules[:3])
    assert fewer.rules == plausible.rules[3:]
    assert (fewer.allows(rows) >= plausible.allows(rows)).all()
    with pytest.raises(InputError, match="there is no rule 'a -> b'"):
        plausible.without("a -> b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [a -> b]\n", "most_broken"),
        ("rules: []\nmost_broken: -1\n", "most_broken"),
        ("rules: []\nmost_broken: 0\nheld_out: 3\nkept: 4\n", "more rows than were held out"),
        ("rules: []\nmost_broken: 0\nmore: 1\n", "more"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_a_line(tmp_path, text, message):
    path = tmp_path / "plausible.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Plausible.load(path)


def test_rules_about_other_columns_are_refused():
    plausible = Plausible(("x9 > 3 -> x1 > 3",))
    with pytest.raises(InputError, match=r"plausible: .*names no column"):
        plausible.broken(linked(5))
    with pytest.raises(InputError, match="several columns on its right side"):
        Plausible(("x0 > 3 -> x1 > 3 and x2 > 1",)).broken(linked(5))


# --- proofs, against brute force ---


def small(seed):
    """A forest on few levels, its rows, and what is plausible by hand."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (250, 3)).astype(float)
    rows[:, 1] = np.minimum(3, rows[:, 0] + (rng.random(250) < 0.3))
    wanted = (rows.sum(axis=1) + rng.integers(0, 2, 250)) > 4
    rules = (
        "x0 < 1 -> x1 < 2",
        "x0 >= 2 -> x1 >= 2",
        "x0 >= 3 -> x1 >= 3",
        "x2 >= 3 and x0 < 1 -> x1 < 1",
        "x1 >= 3 -> x0 >= 2",
        "x1 < 1 and x2 < 1 -> x0 < 1",
    )
    return forest(rows, wanted), rows, Plausible(rules, int(rng.integers(0, 3)))


def every_input():
    """An input of each cell: rules are cut at whole numbers, trees between them."""
    return np.array(list(itertools.product((0, 0.75, 1, 1.75, 2, 2.75, 3), repeat=3)))


RULES = [
    f"{first} and {second} -> {label}"
    for first in ("x0 >= 2", "x0 < 1", "x1 >= 3")
    for second in ("x1 < 2", "x2 >= 3", "x1 >= 2")
    for label in ("True", "False")
]


def meets(rows, rule):
    """Say which rows meet the left side of a rule, read in another way."""
    left = rule.partition(" -> ")[0].split(" and ")
    inside = np.ones(len(rows), dtype=bool)
    for part in left:
        name, sign, value = part.split()
        column = rows[:, int(name[1])]
        inside &= column >= float(value) if sign == ">=" else column < float(value)
    return inside


@pytest.mark.parametrize("seed", range(4))
def test_rules_are_proved_or_refuted_for_the_plausible_inputs(seed):
    model, rows, plausible = small(seed)
    inputs = every_input()
    classes = model.predict(inputs).astype(str)
    usual = plausible.allows(inputs)
    for rule in RULES:
        inside, label = meets(inputs, rule), rule.partition(" -> ")[2]
        broken = inside & (classes != label)
        found = prove(model, rule, rows, domain="plausible", plausible=plausible)
        wanted = "refuted" if (broken & usual).any() else "proved"
        wanted = wanted if (inside & usual).any() else "vacuous"
        assert (found.status, found.domain) == (wanted, "plausible"), (seed, rule, found)
        if wanted == "refuted":
            row = np.array([list(found.row.values())])
            assert plausible.allows(row).all() and meets(row, rule).all(), (seed, rule, found)
            assert str(model.predict(row)[0]) == found.said != label, (seed, rule, found)
            assert found.plausible and "by a row like yours" in found.sentence
        every = prove(model, rule, rows, plausible=plausible)
        assert (every.status == "refuted") == broken.any(), (seed, rule, every)
        if every.status == "refuted":
            assert every.domain == "grid"
            assert every.plausible is bool((broken & usual).any()), (seed, rule, every)
            assert ("unlike" in every.sentence) is not every.plausible


def workers(count, seed):
    """Whole numbers, categories, and a column that is missing for one of them."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(0, 5, count), rng.choice(["f", "m"], count)
    job = np.where(sex == "f", rng.choice(["nurse", "cook"], count), rng.choice(["cook", "none"]))
    job = np.where(age < 2, "none", job)
    pay = np.where(job == "none", np.nan, age + rng.integers(0, 2, count) + 2.0 * (job == "nurse"))
    return pandas.DataFrame({"age": age, "sex": sex, "job": job, "pay": pay})


def met(frame, sides):
    """Say which rows meet conditions that are joined by "and": a missing value meets no number."""
    inside = np.ones(len(frame), dtype=bool)
    for part in [] if sides == "false" else sides.split(" and "):
        name, sign, value = part.split()
        column = frame[name]
        if sign == "is":
            inside &= column.isna() if value == "missing" else column.notna()
        elif sign == "=":
            inside &= column == value
        else:
            inside &= column >= float(value) if sign in ("≥", ">=") else column < float(value)
    return inside & (sides != "false")


@pytest.mark.parametrize("most", range(3))
@pytest.mark.parametrize("seed", range(2))
def test_rules_about_categories_and_missing_values_are_proved_as_every_input_shows(seed, most):
    rows = workers(300, seed)
    encode = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    wanted = (rows["pay"] > 4) ^ (rows["age"] > 2) ^ (rows["sex"] == "f")
    model = make_pipeline(encode, RandomForestClassifier(5, max_depth=4, random_state=seed))
    model.fit(rows, wanted)
    plausible = Plausible.of(rows, seed)
    plausible = replace(plausible, most_broken=most, measured=None)
    pays = [np.nan, *np.arange(-0.5, 9, 0.25)]
    every = itertools.product(range(5), ["f", "m"], ["none", "cook", "nurse"], pays)
    inputs = pandas.DataFrame(every, columns=rows.columns)
    broken = np.zeros(len(inputs), dtype=int)
    for rule in plausible.rules:
        left, right = rule.split(" → ")
        broken += met(inputs, left) & ~met(inputs, right)
    assert (plausible.broken(inputs) == broken).all()
    usual, classes = broken <= most, model.predict(inputs)
    assert usual.any() and not usual.all()
    parts = ["pay is missing", "pay >= 4", "job = none", "job = nurse", "age < 2", "sex = m"]
    statuses = set()
    for first, second in itertools.combinations(parts, 2):
        inside = met(inputs, f"{first} and {second}")
        for label in (False, True):
            rule = f"{first} and {second} -> {label}"
            found = prove(model, rule, rows, plausible=plausible, domain="plausible")
            expected = "refuted" if (inside & usual & (classes != label)).any() else "proved"
            expected = expected if (inside & usual).any() else "vacuous"
            assert found.status == expected or not inside.any(), (seed, most, rule, found)
            statuses.add(found.status)
            if found.row is not None:
                row = pandas.DataFrame([found.row])
                assert met(row, f"{first} and {second}").all() and plausible.allows(row).all()
                assert model.predict(row)[0] != label
    assert statuses >= {"proved", "refuted"}


@pytest.mark.parametrize("seed", range(3))
def test_flips_are_those_of_plausible_inputs(seed):
    model, rows, plausible = small(seed)
    inputs = every_input()
    classes, usual = model.predict(inputs), plausible.allows(inputs)
    for axis in range(3):
        rest = np.delete(inputs, axis, axis=1)
        ever = any(
            (classes[a] != classes[b]) and (rest[a] == rest[b]).all()
            for a, b in itertools.combinations(np.flatnonzero(usual), 2)
        )
        for limit in (200_000, 5):
            found = flips(model, f"x{axis}", rows, plausible=plausible, limit=limit)
            assert found.ever == ever, (seed, axis, limit, found)
            assert found.proved and (ever or "every plausible input" in found.sentence)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [200_000, 5])
def test_explained_rules_hold_for_plausible_inputs_and_are_as_general(seed, limit, tmp_path):
    model, rows, plausible = small(seed)
    background = ["x2 >= 2 -> x0 < 3"]
    result = explain(model, rows, plausible=plausible, limit=limit, background=background)
    inputs = every_input()
    classes = model.predict(inputs)
    meant = plausible.allows(inputs) & ~((inputs[:, 2] >= 2) & (inputs[:, 0] >= 3))
    said = result.predict(inputs, otherwise="none").astype(str)
    told = meant & (said != "none")
    assert (said[told] == classes[told].astype(str)).all()
    assert limit == 5 or (told == meant).all()
    assert result.certificate.scope.of == "plausible"
    assert not result.certificate.meets("bounded") and result.certificate.meets("tested")
    assert "every plausible input" in result.certificate.sentence
    assert "every input" not in result.certificate.sentence
    result.save(tmp_path)
    done = hornlens.verify(tmp_path / "envelope.json")
    assert done.ok, done.wrong
    again = hornlens.load(tmp_path)
    assert again.plausible == result.plausible
    assert again.as_json() == json.loads((tmp_path / "envelope.json").read_text())
    assert Plausible.load(tmp_path / "plausible.yaml") == result.plausible


# --- what prove tells ---


def test_a_rule_that_rows_obey_is_refuted_only_by_rows_unlike_them():
    rows = linked(600)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows[:, :2], rows[:, 0] > 0)
    found = prove(model, "x1 > 1.2 -> True", rows[:, :2])
    assert (found.status, found.plausible, bool(found)) == ("refuted", False, False)
    assert found.sentence.startswith("Refuted only by inputs unlike 99% of your rows: the model")
    assert found.nearest is not None and found.nearest.differs == ("x0",)
    assert f"row {found.nearest.place} of X" not in found.sentence
    assert prove(model, "x1 > 1.2 -> True", rows[:, :2], domain="plausible").status == "proved"
    like = prove(model, "x1 > -1 -> True", rows[:, :2])
    assert like.plausible and like.nearest.differs == ()
    assert list(like.row.values()) == rows[like.nearest.place, :2].tolist()
    assert like.sentence.endswith(f"It is row {like.nearest.place} of X.")


def test_the_nearest_row_differs_in_the_fewest_columns():
    model, rows, plausible = small(1)
    for rule in RULES:
        found = prove(model, rule, rows, plausible=plausible)
        if found.row is None:
            continue
        values = np.array(list(found.row.values()))
        counts = (rows != values).sum(axis=1)
        assert len(found.nearest.differs) == counts.min() == counts[found.nearest.place]


def test_a_counterexample_is_a_row_that_is_changed_where_the_rule_asks():
    """Of breast cancer, it would differ from the nearest row in some 20 of 30 columns otherwise."""
    rows, wanted = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(10, max_depth=6, random_state=0).fit(rows, wanted)
    plausible = Plausible.of(rows)
    for rule, asked in (
        ("x20 > 23.7 -> 0", {"x20"}),
        ("x23 <= 475.98 -> 1", {"x23"}),
        ("x20 <= 12.5 and x27 > 0.058 -> 1", {"x20", "x27"}),
        ("x0 <= 10.26 or x3 <= 300 -> 1", {"x0", "x3"}),
    ):
        found = prove(model, rule, rows, plausible=plausible)
        assert found.status == "refuted" and found.plausible
        assert set(found.nearest.differs) <= asked
        values = np.array([list(found.row.values())])
        assert plausible.allows(values).all() and str(model.predict(values)[0]) == found.said


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_moved_into_a_box_and_changed_nowhere_else(seed):
    """Numbers, words, Booleans and missing values: each level is the nearest, and each first row
    is changed in no more columns than the next one."""
    frame = people(120, seed)
    frame["pay"] = frame["pay"].mask(np.random.default_rng(seed).random(120) < 0.2)
    classifier = read_classifier(lambda rows: rows["age"] > 40, frame)
    binned = Binned(classifier, bin_columns(None, classifier, "quantile", 4).features)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        box = [int(rng.integers(1, 1 << feature.size)) for feature in binned.features]
        cells, columns = rows_moved_into(binned, box, rng)
        table = replace(classifier.table, columns=tuple(columns))
        assert (binned.places(table) == cells).all()
        rows = binned.places(classifier.table)
        expected = [moved(row, box, binned.features, rows) for row in rows.tolist()]
        assert sorted(map(tuple, cells.tolist())) == sorted(expected)
        counts = [
            sum(one != other for one, other in zip(row, cell, strict=True))
            for row, cell in zip(rows.tolist(), expected, strict=True)
        ]
        fewest = {
            cell for cell, count in zip(expected, counts, strict=True) if count == min(counts)
        }
        assert tuple(cells[0].tolist()) in fewest


def moved(row, box, features, rows):
    """The cell of a box that is nearest to a row, axis by axis."""
    cell = []
    for axis, (level, bits, feature) in enumerate(zip(row, box, features, strict=True)):
        allowed = [other for other in range(feature.size) if bits >> other & 1]
        known = [other for other in allowed if other < feature.size - feature.missing]
        if level not in allowed and feature.kind in ("number", "whole") and known:
            level = min(known, key=lambda other: (abs(other - level), other))
        elif level not in allowed:
            level = max(allowed, key=lambda other: (int((rows[:, axis] == other).sum()), -other))
        cell.append(level)
    return tuple(cell)


def test_too_few_rows_tell_nothing_and_no_rows_neither():
    rows = linked(600)
    model = DecisionTreeClassifier(random_state=0).fit(rows, rows[:, 0] > 0)
    few = prove(model, "x1 > 1.2 -> True", rows[:140])
    assert (few.status, few.plausible) == ("refuted", None)
    assert "X has 140 rows of 150" in few.sentence and few.nearest is not None
    none = prove(model, "x1 > 1.2 -> True")
    assert (none.status, none.plausible, none.nearest) == ("refuted", None, None)
    with pytest.raises(InputError, match="domain must be grid or plausible"):
        prove(model, "x1 > 1.2 -> True", rows, domain="data")


def test_other_models_than_trees_are_asked_about_plausible_inputs():
    rows = linked(600)

    def model(given):
        return given[:, 0] > 0

    found = prove(model, "x1 > 1.2 -> True", rows, domain="plausible")
    assert found.status == "not refuted"
    assert prove(model, "x1 > 1.2 -> True", rows).plausible is None
    result = explain(model, rows, domain="plausible")
    assert result.certificate.kind == "surrogate" and result.certificate.scope.kept
    with pytest.raises(HornlensError, match="cannot be sifted"):
        explain(model, rows, domain="plausible", limit=10)


def test_of_missing_values_and_categories_of_frames_the_same_is_told(tmp_path):
    rows = people(500)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sex", "job", "planet"]),
        remainder="passthrough",
    )
    model = make_pipeline(encode, DecisionTreeClassifier(max_depth=4, random_state=0))
    model.fit(rows, (rows["age"] > 40) & (rows["sex"] == "f") | rows["pregnant"])
    result = explain(model, rows, domain="plausible")
    usual = result.plausible.allows(rows)
    said = result.predict(rows, otherwise="none").astype(str)
    assert (said[usual] == model.predict(rows)[usual].astype(str)).all()
    result.save(tmp_path)
    done = hornlens.verify(tmp_path / "envelope.json")
    assert done.ok, done.wrong
    found = prove(model, "pregnant and sex = m -> False", rows)
    assert found.status == "proved" or found.plausible is False


def test_leaving_a_rule_out_or_adding_one_changes_the_domain():
    model, rows, plausible = small(0)
    whole = explain(model, rows, plausible=plausible)
    fewer = explain(model, rows, plausible=plausible.without(plausible.rules[0]))
    more = explain(model, rows, plausible=plausible, background=["x2 < 2 -> x0 < 2"])
    assert more.certificate.cells < whole.certificate.cells < fewer.certificate.cells
    with pytest.raises(InputError, match="leave it out, or plausible="):
        explain(model, rows, plausible=plausible, domain="data")


# --- the command ---


def test_the_command_explains_plausible_inputs_and_takes_the_file_again(tmp_path):
    skops = pytest.importorskip("skops.io")
    rows = linked(400)
    wanted = rows[:, 0] > 0
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, wanted)
    skops.dump(model, tmp_path / "model.skops")
    frame = pandas.DataFrame(rows, columns=["x0", "x1", "x2"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    files = ["explain", str(tmp_path / "model.skops"), str(tmp_path / "rows.csv")]
    done = command(*files, "--domain", "plausible", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "An input is plausible if it breaks at most" in done.stdout + done.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Only what is plausible" in page and "of every plausible input" in page
    file = str(tmp_path / "out" / "plausible.yaml")
    again = command(*files, "--plausible", file, "--format", "json")
    assert again.returncode == 0, again.stderr
    content = json.loads(again.stdout)
    assert content["certificate"]["scope"]["of"] == "plausible"
    assert content["classifier"]["plausible"]["rules"]
    (tmp_path / "bad.yaml").write_text("rules: [x7 > 3 -> x0 > 1]\nmost_broken: 0\n")
    bad = command(*files, "--plausible", str(tmp_path / "bad.yaml"))
    assert bad.returncode == 2 and "names no column" in bad.stderr
