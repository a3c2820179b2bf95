"""Classifiers compared and judged by conditions, over other thresholds, as by brute force."""

import json
import re

import numpy as np
import pytest

import hornlens
from hornlens import Limits
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import GridCells
from hornlens.logic.named import NamedRule
from hornlens.results.analysis.comparison import COMPARISON
from tests.classifier_cases import (
    OTHERS,
    TREES,
    DecisionTreeClassifier,
    RandomForestClassifier,
    data,
    one_thread,
)
from tests.command import hornlens as command

__all__ = ["one_thread"]

NAMES = ("x0", "x1", "x2", "x3")
SIGNS = {
    "<": np.less,
    "≤": np.less_equal,
    ">": np.greater,
    "≥": np.greater_equal,
    "=": np.equal,
}


def halves(seed):
    """Two trees of the same table, each fitted to a half of the rows: other thresholds."""
    rows, classes = data("iris")
    order = np.random.default_rng(seed).permutation(len(rows))
    parts = order[::2], order[1::2]
    kinds = (
        lambda: DecisionTreeClassifier(max_depth=3, random_state=seed),
        lambda: RandomForestClassifier(3, max_depth=2, random_state=seed),
    )
    return rows, [
        kind().fit(rows[part], classes[part]) for kind, part in zip(kinds, parts, strict=True)
    ]


def meets(rows, condition):
    """Which rows meet a condition as it is printed; thresholds count in single precision."""
    ends = re.findall(r"(?:([-\d.e+]+) ([<≤]) )?(x\d)(?: ([<≤>≥=]) ([-\d.e+]+))?", condition)
    ((low, first, name, second, high),) = ends
    column = rows[:, NAMES.index(name)]
    found = np.ones(len(rows), bool)
    if low:
        found &= SIGNS[{"<": ">", "≤": "≥"}[first]](column, float(low))
    if high:
        found &= SIGNS[second](column, float(high))
    return found


def merged_grid(results, at_most=60_000):
    """A row in every cell of the grid that has the thresholds of all, in its middle."""
    levels = []
    for name in NAMES:
        cuts = sorted({cut for each in results for cut in each.edges[name]})
        ends = np.array([cuts[0] - 1, *cuts, cuts[-1] + 1]) if cuts else np.array([0.0, 1.0])
        ends = ends[np.append(True, np.diff(ends) > 1e-5)]  # what is shown alike is one threshold
        levels.append((ends[1:] + ends[:-1]) / 2)
    assert np.prod([len(each) for each in levels]) < at_most
    return np.stack([each.ravel() for each in np.meshgrid(*levels, indexing="ij")], axis=1)


def as_row(text):
    values = dict(part.split(" = ") for part in text.split(", "))
    return np.array([[float(values[name]) for name in NAMES]])


@pytest.mark.parametrize("seed", range(8))
def test_rules_are_compared_as_every_cell_of_the_merged_grid_says(seed):
    rows, models = halves(seed)
    results = [hornlens.explain(model, rows) for model in models]
    assert results[0].edges != results[1].edges
    comparison = hornlens.compare(results, ["tree", "forest"])
    (pair,) = comparison.comparisons
    grid = merged_grid(results)
    answers = [model.predict(grid).astype(str) for model in models]
    ways = ((0, pair.rules_of_left_in_right), (1, pair.rules_of_right_in_left))
    outcomes = set()
    for owner, lines in ways:
        assert [str(line.rule) for line in lines] == [str(rule) for rule in results[owner].rules]
        for line in lines:
            inside = np.logical_and.reduce(
                [np.ones(len(grid), bool), *(meets(grid, part) for part in line.rule.antecedent)]
            )
            (label,) = line.rule.consequent
            assert (answers[owner][inside] == label).all()
            holds = (answers[1 - owner][inside] == label).all()
            assert (line.outcome == "contradicted") == (not holds), str(line.rule)
            assert line.outcome in ("entailed", "contradicted")
            outcomes.add(line.outcome)
            if line.witness is not None:
                row = as_row(line.witness.prompts[0])
                assert all(meets(row, part).all() for part in line.rule.antecedent)
                said = str(models[1 - owner].predict(row)[0])
                assert said == line.witness.said != label
    assert "contradicted" in outcomes and (seed == 5 or "entailed" in outcomes)
    # What is in common decides just the cells in which both agree.
    decided = np.zeros(len(grid), bool)
    for rule in comparison.common:
        inside = np.logical_and.reduce(
            [np.ones(len(grid), bool), *(meets(grid, part) for part in rule.antecedent)]
        )
        assert all((each[inside] == rule.consequent[0]).all() for each in answers)
        decided |= inside
    assert (decided == (answers[0] == answers[1])).all()
    assert not any(each.partial for each in comparison.results)
    assert str(comparison).splitlines() == [*pair.sentences, comparison.in_common]


def test_a_saved_classifier_is_compared_as_the_first_one_was(tmp_path):
    rows, models = halves(1)
    results = [hornlens.explain(model, rows, label="species") for model in models]
    for name, result in zip("ab", results, strict=True):
        result.save(tmp_path / name)
    there = hornlens.compare([tmp_path / "a", str(tmp_path / "b")])
    here = hornlens.compare(results, ["a", "b"])
    assert there.comparisons == here.comparisons and there.common == here.common
    assert [each.name for each in there.results] == ["a", "b"]
    shown = command("compare", "a", "b", "--out", "page", cwd=tmp_path)
    assert shown.returncode == 0 and "but b says " in shown.stdout
    assert here.comparisons[0].sentences[0] in re.sub(r"\s+", " ", shown.stdout)
    content = json.loads((tmp_path / "page" / "comparison.json").read_text("utf-8"))
    assert COMPARISON.parse(content, tmp_path).comparisons == here.comparisons
    page = (tmp_path / "page" / "report.html").read_text("utf-8")
    witness = here.comparisons[0].rules_of_left_in_right[-1].witness
    assert witness is None or witness.prompts[0] in page
    assert " says <bdi>" in page
    assert command("compare", "a", "b", "--fail-on-new", cwd=tmp_path).returncode == 1
    assert command("compare", "a", "a", "--fail-on-new", cwd=tmp_path).returncode == 0


def test_what_only_the_model_could_answer_is_unknown(tmp_path):
    rows, models = halves(2)
    forest = RandomForestClassifier(30, random_state=0).fit(*data("iris"))
    large = hornlens.explain(forest, rows, max_conditions=2, limit=1)
    assert not isinstance(large.labelled, GridCells) and large.vote is not None
    large.save(tmp_path / "large")
    tree = hornlens.explain(models[0], rows)
    for other in (large, hornlens.load(tmp_path / "large")):
        comparison = hornlens.compare([tree, other], ["tree", "large"])
        (pair,) = comparison.comparisons
        assert comparison.common is None and "not worked out" in comparison.in_common
        for line in pair.rules_of_left_in_right:
            if line.witness is not None:
                row = as_row(line.witness.prompts[0])
                assert str(forest.predict(row)[0]) == line.witness.said
                assert all(meets(row, part).all() for part in line.rule.antecedent)
        assert {line.outcome for line in pair.rules_of_left_in_right} & {"entailed", "contradicted"}
    cuts = {name: list(tree.edges[name]) for name in NAMES if tree.edges[name]}
    closed = hornlens.explain(
        lambda r: models[0].predict(r), rows, bins=cuts, limit=1, limits=Limits(max_questions=40)
    )
    assert closed.certificate.sift is not None
    closed.save(tmp_path / "closed")
    for other in (closed, tmp_path / "closed"):
        (pair,) = hornlens.compare([tree, other]).comparisons
        outcomes = {line.outcome for line in pair.rules_of_left_in_right}
        assert "unknown" in outcomes and "contradicted" not in outcomes


def test_settings_that_differ_are_named():
    rows, classes = data("iris")
    model = OTHERS["logistic regression"]().fit(rows, classes)
    one = hornlens.explain(model, rows, label="species", n_bins=3)
    two = hornlens.explain(model, rows, bins="uniform", n_bins=3, background=["x0 < 5 -> x2 < 4"])
    differing = {each.setting: each for each in hornlens.compare([one, two]).differences}
    assert {"label", "bins", "background"} <= set(differing)
    assert differing["bins"].disturbs and differing["background"].disturbs
    assert not differing["label"].disturbs
    assert differing["label"].values == ("species", "class")


def test_other_columns_and_other_classes_are_refused_in_a_line(tmp_path):
    rows, models = halves(3)
    tree = hornlens.explain(models[0], rows)
    fewer = hornlens.explain(lambda rows: rows[:, 0] > 5, rows[:, :2])
    with pytest.raises(InputError) as raised:
        hornlens.compare([tree, fewer], ["tree", "fewer"])
    assert str(raised.value) == "tree and fewer have different columns, such as 'x2'"
    two = hornlens.explain(lambda rows: np.where(rows[:, 0] > 5, "1", "4"), rows)
    with pytest.raises(InputError) as raised:
        hornlens.compare([tree, two], ["tree", "two"])
    assert str(raised.value) == "tree and two have different classes, such as '0'"
    extracted = hornlens.extract(lambda prompt, words: [0.9, 0.1], cache=False)
    with pytest.raises(InputError) as raised:
        hornlens.compare([tree, extracted], ["tree", "model"])
    assert str(raised.value) == (
        "tree and model cannot be compared: rules over columns and rules over variables"
    )
    with pytest.raises(hornlens.HornlensError, match="two results or more"):
        hornlens.compare([tree])
    with pytest.raises(hornlens.HornlensError, match="is no result"):
        hornlens.compare([tree, 3])
    tree.save(tmp_path / "tree")
    two.save(tmp_path / "two")
    done = command("compare", "tree", "two", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_columns_and_classes_may_stand_in_another_order():
    rows, models = halves(4)
    tree = hornlens.explain(models[0], rows)

    def turned(rows):
        return np.where(models[0].predict(rows[:, ::-1]) == 0, 0, 2)

    def straight(rows):
        return np.where(models[0].predict(rows) == 0, 2, 0)

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=list(NAMES))
    cuts = {name: list(tree.edges[name]) for name in NAMES if tree.edges[name]}
    first = hornlens.explain(lambda f: straight(f.to_numpy()), frame, bins=cuts)
    other = hornlens.explain(lambda f: turned(f.to_numpy()), frame[list(NAMES)[::-1]], bins=cuts)
    comparison = hornlens.compare([first, other])
    (pair,) = comparison.comparisons
    assert {line.outcome for line in pair.rules_of_left_in_right} == {"contradicted"}
    assert comparison.common == ()


def test_a_model_that_always_says_the_same_has_others_rules_vacuously():
    rows = np.array([[float(i)] for i in range(6)])
    cut = hornlens.explain(lambda rows: np.where(rows[:, 0] < 3, "a", "b"), rows, bins={"x0": [3]})

    def odd(rows):
        return np.where(rows[:, 0] == 5, "b", "a")  # of no point but that of a row

    dull = hornlens.explain(odd, rows, bins={"x0": [4]})
    assert set(np.unique(dull.labelled.labels)) == {0}
    (pair,) = hornlens.compare([cut, dull], ["cut", "dull"]).comparisons
    outcomes = {str(line.rule): line.outcome for line in pair.rules_of_left_in_right}
    assert outcomes == {"x0 < 3 → a": "vacuous", "x0 ≥ 3 → b": "contradicted"}


# --- rules of every form ---


@pytest.mark.parametrize("seed", range(10))
def test_conclusions_may_be_conditions_and_classes_may_stand_on_the_left(seed):
    rng = np.random.default_rng(seed)
    rows, (tree, _) = halves(seed)
    result = hornlens.explain(tree, rows)
    grid = merged_grid([result])
    answers = tree.predict(grid).astype(str)

    def some(count):
        found = []
        for name in rng.permutation(NAMES)[:count]:
            cuts = result.binned.every[NAMES.index(name)].cuts
            if cuts.values:  # with the sign that each cut is shown with
                place = int(rng.integers(len(cuts.texts)))
                signs = ["≤", ">"] if place in cuts.after else ["<", "≥"]
                found.append(f"{name} {rng.choice(signs)} {cuts.texts[place]}")
        return found

    statuses = set()
    for _ in range(12):
        left, right = some(rng.integers(0, 3)), some(rng.integers(0, 2))
        classes = [str(rng.integers(3))] if rng.random() < 0.5 else []
        never = rng.random() < 0.3
        given = NamedRule((*left, *classes), None if never else (*right, str(rng.integers(3)))[:1])
        inside = np.ones(len(grid), bool)
        for part in left:
            inside &= meets(grid, part)
        for label in classes:
            inside &= answers == label
        agrees = np.zeros(len(grid), bool) if never else np.ones(len(grid), bool)
        for part in given.consequent or ():
            agrees &= meets(grid, part) if "x" in part else answers == part
        judgement = result.judge(given)
        holds = agrees[inside].all()
        assert judgement.truth.holds == holds, str(given)
        assert (judgement.truth.outcome == "broken") == (not holds), str(given)
        statuses.add(judgement.truth.outcome)
        for shown in judgement.answers:
            row = as_row(shown.prompts[0])
            assert str(tree.predict(row)[0]) == shown.said
            assert all(meets(row, part).all() for part in left)
            right_there = not never and all(
                meets(row, part).all() if "x" in part else part == shown.said
                for part in given.consequent
            )
            assert not right_there and (not classes or shown.said == classes[0])
        checked = result.check({"require": [str(given)], "forbid": [str(given)]})
        assert {each.kind: each.passed for each in checked.outcomes} == {
            "require": holds,
            "forbid": not holds,
        }
    assert "broken" in statuses


def test_a_row_that_breaks_a_rule_meets_its_conditions():
    """A condition between two thresholds was answered with the point of the whole cell."""
    rows = np.array([[20.0], [30.0], [50.0]])

    def model(rows):
        return np.where(rows[:, 0] >= 40, "yes", "no")

    result = hornlens.explain(model, rows, bins={"x0": [40]})
    cases = (("x0 < -7 -> yes", -1e9, -7), ("x0 >= 41 & x0 < 41.5 -> no", 41, 41.5))
    for rule, low, high in cases:
        (shown,) = result.judge(NamedRule.parse(rule)).answers
        assert low <= float(shown.prompts[0].removeprefix("x0 = ")) < high, rule
    nothing = result.judge(NamedRule.parse("x0 > 3 & x0 < 2 -> yes"))
    assert nothing.truth.holds and not nothing.answers


def test_of_a_stand_in_no_rule_is_refuted_that_no_answer_breaks(tmp_path):
    """The binned model says something else than the model in a part of a cell."""
    rows = np.array([[0.0], [10.0], [15.0], [30.0], [40.0]])

    def model(rows):
        return np.where(rows[:, 0] > 29, "high", np.where(rows[:, 0] > 12, "mid", "low"))

    result = hornlens.explain(model, rows, bins={"x0": [20]})
    assert not result.exact_bins
    point = result.binned.features[0].points[1]
    said = str(model(np.array([[point]]))[0])
    other = {"mid": "x0 > 29 -> high", "high": "x0 >= 20 & x0 <= 29 -> mid"}[said]
    for each in (result, None):
        if each is None:
            result.save(tmp_path)
            each = hornlens.load(tmp_path)
        judgement = each.judge(NamedRule.parse(other))
        assert judgement.truth.outcome == "open" and not judgement.answers
        checked = each.check({"forbid": [other], "require": [other], "allow": ["surrogate"]})
        assert [outcome.passed for outcome in checked.outcomes] == [False, False]


def test_an_almost_rule_of_a_classifier_counts_cells():
    """The confidence was passed over: a rule with a single exception was broken."""
    rows = np.array([[float(i)] for i in range(10)])
    result = hornlens.explain(
        lambda rows: np.where(rows[:, 0] >= 9, "yes", "no"), rows, bins={"x0": list(range(1, 10))}
    )
    required = {"rule": "true -> no", "confidence": 0.9}
    allowed = {"require": [required], "allow": ["surrogate"]}
    (outcome,) = result.check(allowed).outcomes
    assert outcome.passed and outcome.status == "almost" and (outcome.count, outcome.of) == (1, 10)
    assert outcome.finding == (
        "9 of 10 cells that it speaks of agree. That is a confidence of 90%."
    )
    assert not result.check({**allowed, "require": [{**required, "confidence": 0.91}]})


# --- flips of several columns at once ---


@pytest.mark.parametrize("seed", range(6))
def test_several_columns_are_changed_at_once_as_by_brute_force(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows, models = halves(seed)
    few = rows[rng.permutation(len(rows))[:12]]
    model = models[seed % 2]
    result = hornlens.explain(model, few)
    names = [str(name) for name in rng.permutation(NAMES)[: 2 + seed % 2]]
    flips = result.flips(names)
    assert flips.feature == ", ".join(names)
    labels = result.labelled.labels
    axes = [i for i, feature in enumerate(result.binned.features) if feature.name in names]
    by_rest = {}
    for cell in np.ndindex(labels.shape):
        rest = tuple(level for axis, level in enumerate(cell) if axis not in axes)
        by_rest.setdefault(rest, []).append(int(labels[cell]))
    pairs = sum(len(each) * (len(each) - 1) // 2 for each in by_rest.values())
    alike = sum(
        each.count(p) * (each.count(p) - 1) // 2 for each in by_rest.values() for p in set(each)
    )
    if axes:
        assert (flips.pairs, flips.of_pairs) == (pairs - alike, pairs)
    else:
        assert flips.pairs is None
    changed = 0
    points = [result.binned.every[NAMES.index(name)].points for name in names]
    for row in few:
        other = np.repeat(row[None], int(np.prod([len(p) for p in points])), axis=0)
        other[:, [NAMES.index(name) for name in names]] = np.stack(
            [each.ravel() for each in np.meshgrid(*points)], axis=1
        )
        changed += (model.predict(other) != model.predict(row[None])[0]).any()
    assert (flips.rows, flips.of_rows) == (changed, len(few))
    assert flips.ever == (changed > 0 or bool(flips.pairs))
    for pair in flips.examples:
        differ = {name for name in NAMES if pair.first[name] != pair.second[name]}
        assert differ <= set(names)
    gate = result.check({"invariant": names}).outcomes[0]
    assert gate.passed == (not flips.ever) and gate.what == ", ".join(names)
    proved = hornlens.explain(model, few, limit=1, max_conditions=1).flips(names)
    assert (proved.ever, proved.rows, proved.proved) == (flips.ever, flips.rows, True)
    result.save(tmp_path)
    kept = hornlens.load(tmp_path).flips(names)
    assert (kept.pairs, kept.of_pairs, kept.ever) == (flips.pairs, flips.of_pairs, flips.ever)


def test_too_many_rows_are_refused_in_a_line(monkeypatch):
    from hornlens.classifiers import flips

    monkeypatch.setattr(flips, "MOST_ROWS", 10)
    rows, _ = halves(0)
    result = hornlens.explain(TREES["forest"]().fit(*data("iris")), rows)
    with pytest.raises(hornlens.HornlensError, match="name fewer columns"):
        result.flips(["x2", "x3"])
    with pytest.raises(InputError, match=r"^there is no column 'age'"):
        result.check({"invariant": ["age"]})
