"""Models without trees to look into are sifted: all short rules from a few thousand rows."""

import json
import pickle
import re
import time
from itertools import combinations, product
from zlib import crc32

import numpy as np
import pandas
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from typer.testing import CliRunner

import hornlens
from hornlens import ClassifierTarget, Limits, Settings
from hornlens.cli.app import app
from hornlens.deprecation import HornlensDeprecationWarning
from hornlens.errors import HornlensError
from hornlens.exact.boxes.spaces import box_of_mask
from hornlens.learning.events import Ended, RuleAdded, Sifting
from hornlens.logic.named import NamedRule
from hornlens.targets.classifiers.background import Background
from tests.classifier_cases import one_thread

__all__ = ["one_thread"]

COLUMNS, BINS = 12, 8
EDGES = {f"x{column}": [edge / BINS for edge in range(1, BINS)] for column in range(COLUMNS)}
ROWS = np.random.default_rng(9).random((300, COLUMNS))


class Counting:
    """A model that counts the rows that it is asked."""

    def __init__(self, decide, classes=("no", "yes")):
        self.decide, self.classes_, self.asked = decide, np.array(classes), 0

    def predict(self, rows):
        self.asked += len(rows)
        return self.decide(rows)


def planted(seed, rules=6, wide=3):
    """A black box: a score of all columns, and boxes of two columns in which it always says yes."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(COLUMNS, BINS))
    boxes = []
    for _ in range(rules):
        pair = sorted(rng.choice(COLUMNS, 2, replace=False).tolist())
        lows = rng.integers(0, BINS - wide + 1, 2).tolist()
        boxes.append(
            {column: (low, low + wide - 1) for column, low in zip(pair, lows, strict=True)}
        )

    def decide(rows):
        cells = np.clip((np.asarray(rows) * BINS).astype(int), 0, BINS - 1)
        yes = sum(scores[column][cells[:, column]] for column in range(COLUMNS)) > 0
        for box in boxes:
            inside = [(cells[:, c] >= lo) & (cells[:, c] <= hi) for c, (lo, hi) in box.items()]
            yes |= np.all(inside, axis=0)
        return np.where(yes, "yes", "no")

    return Counting(decide), boxes


def contains(outer, inner):
    """Say whether a box lies in another."""
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def broken_share(result, rule, count=3_000):
    """Estimate of how many of its cells a rule is broken, by cells that nobody asked."""
    rng = np.random.default_rng(1)
    cells = np.column_stack([rng.integers(low, high + 1, count) for low, high in rule.box])
    return float((result.binned.ask(cells) != rule.place).mean())


def test_rules_of_a_common_class_are_listed_where_the_other_one_is_rare():
    """A class that is said of 9% of the cells is not so rare that it goes without saying."""
    _, boxes = planted(5)
    scores = np.random.default_rng(5).normal(size=(COLUMNS, BINS))
    columns = range(COLUMNS)
    drawn = np.random.default_rng(0).random((20_000, COLUMNS))
    least = np.quantile(sum(scores[c][(drawn[:, c] * BINS).astype(int)] for c in columns), 0.78)

    def decide(rows):
        cells = np.clip((np.asarray(rows) * BINS).astype(int), 0, BINS - 1)
        high = sum(scores[column][cells[:, column]] for column in columns) > least
        for box in boxes:
            inside = [(cells[:, c] >= lo) & (cells[:, c] <= hi) for c, (lo, hi) in box.items()]
            high &= ~np.all(inside, axis=0)
        return np.where(high, "yes", "no")

    assert 0.06 < (decide(drawn) == "yes").mean() < 0.1
    result = hornlens.explain(Counting(decide), ROWS, bins=EDGES)
    for box in boxes:
        wide = [box.get(column, (0, BINS - 1)) for column in columns]
        assert any(rule.place == 0 and contains(rule.box, wide) for rule in result.rules), box
    assert all(broken_share(result, rule) <= 0.05 for rule in result.rules)


@pytest.mark.parametrize("seed", range(3))
def test_all_planted_rules_are_found_for_a_few_thousand_rows(seed):
    model, boxes = planted(seed)
    result = hornlens.explain(model, ROWS, bins=EDGES)
    asked = model.asked
    statistics = result.envelope.statistics
    assert result.certificate.kind == "sifted" and result.certificate.sift.conditions == 2
    for box in boxes:
        whole = tuple(box.get(column, (0, BINS - 1)) for column in range(COLUMNS))
        assert any(rule.label == "yes" and contains(rule.box, whole) for rule in result.rules), box
    assert all(
        rule.warrant.kind == "tested" and rule.warrant.bound == 0.05 for rule in result.rules
    )
    assert all(broken_share(result, rule) <= 0.05 for rule in result.rules)
    # 71,000 rows were asked for fewer rules when cells were drawn at random.
    assert asked < 5_000
    assert statistics["predicted"] == asked == result.record.asked
    assert statistics["questions"] == len(result.decisions) == len(result.labelled.cells)
    assert asked == len(ROWS) + statistics["questions"] + statistics["measured"]


def test_rules_of_a_pipeline_are_those_of_its_binned_model_and_say_so():
    rng = np.random.default_rng(0)
    rows = rng.random((1_500, 10))
    wanted = (rows[:, 0] > 0.7) & (rows[:, 1] > 0.6) | (rows[:, 2] < 0.25) & (rows[:, 3] > 0.5)
    for last in (SVC(C=10), MLPClassifier((32,), max_iter=300, random_state=0)):
        model = make_pipeline(StandardScaler(), last).fit(rows, wanted)
        result = hornlens.explain(model, rows[:300], n_bins=6)
        certificate = result.certificate
        assert result.rules and not certificate.scope.direct and not certificate.meets("tested")
        assert "That is of the binned model" in certificate.sentence
        assert all("the binned model says" in rule.sentence for rule in result.rules)
        assert 0.8 < result.agreement.rows <= 1 and result.agreement.drawn == 500
        assert all(broken_share(result, rule) <= 0.05 for rule in result.rules)


# --- small spaces, all of whose cells are known ---


def small_case(seed):
    """A random table of classes over columns of all kinds, with a background at times."""
    rng = np.random.default_rng(seed)
    count, values = 60, ["red", "green", "blue"]
    rows = pandas.DataFrame(
        {
            "size": rng.integers(0, 5, count).astype(float),
            "colour": rng.choice(values, count),
            "old": rng.choice([True, False], count),
            "grade": pandas.Categorical(
                rng.choice(list("abcd"), count), list("abcd"), ordered=True
            ),
        }
    )
    if seed % 2:
        rows.loc[rng.random(count) < 0.2, "size"] = np.nan
    if seed % 3 == 1:
        rows["colour"] = [
            None if gap else c for c, gap in zip(rows.colour, rng.random(count) < 0.2, strict=True)
        ]
    classes = ["a", "b", "c"][: 2 + seed % 2]
    table = {}
    patches = [(rng.integers(0, 4), rng.integers(0, 4), rng.choice(classes)) for _ in range(3)]

    def decide(given):
        said = []
        for size, colour, old, grade in given.itertuples(index=False):
            key = (str(size), str(colour), bool(old), str(grade))
            if key not in table:
                table[key] = classes[crc32(repr((seed, key)).encode()) % len(classes)]
            label = table[key]
            for low, high, other in patches:
                if low <= "abcd".index(str(grade)) <= high and (low % 2 == 0) == bool(old):
                    label = str(other)
                    break
            said.append(label)
        return np.array(said, dtype=object)

    background = ["colour = red -> old"] if seed % 4 == 2 else []
    given = {"bins": {"size": [1, 2, 3, 4]}, "background": background, "limit": 1, "seed": seed}
    return Counting(decide, classes), rows, given


def every_box(axes, most):
    """Yield every box with at most so many conditions."""
    for size in range(most + 1):
        for some in combinations(range(len(axes)), size):
            ranges = [
                axis.ranges[1:] if place in some else (axis.whole,)
                for place, axis in enumerate(axes)
            ]
            yield from product(*ranges)


def true_labels(result):
    """The class of each cell, asked; -1 where the background rules it out."""
    grid = result.binned.label_grid().astype(int)
    cells = np.indices(grid.shape).reshape(grid.ndim, -1).T
    names = result.binned.classifier.table.names
    allowed = Background(result.background, names).over(result.binned.every).allows(cells)
    grid.reshape(-1)[~allowed] = -1
    return grid


def classes_in(grid, box):
    found = np.unique(grid[tuple(slice(low, high + 1) for low, high in box)])
    return [int(place) for place in found if place >= 0]


def unsound(result, grid):
    """The listed rules that more than ε of their cells break, or any, if they are proved."""
    wrong = []
    for rule in result.rules:
        inside = grid[tuple(slice(low, high + 1) for low, high in rule.box)]
        share = (inside[inside >= 0] != rule.place).mean()
        if share > (0 if rule.warrant.proved else rule.warrant.bound):
            wrong.append(rule)
    return wrong


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_what_holds_without_exception_follows_from_listed_and_open_rules(first, tmp_path):
    wrong = 0
    for seed in range(first, first + 10):
        model, rows, given = small_case(seed)
        most = None if seed % 3 else Limits(max_questions=int(30 + 5 * seed))
        result = hornlens.explain(model, rows, **given, limits=most)
        if most is not None:
            assert most.questions <= most.max_questions
        grid = true_labels(result)
        wrong += bool(unsound(result, grid))
        assert result.certificate.open == len(result.open)
        shown = [(rule.box, rule.place) for rule in (*result.rules, *result.open)]
        almost = [
            (box_of_mask(result.space, one.rule.antecedent), result.space.label_of(one.rule.new))
            for one in result.envelope.sifted.almost
        ]
        for box in every_box(result.binned.axes, 2):
            places = classes_in(grid, box)
            if len(places) == 1:
                same = [b for b, place in (*shown, *almost) if place == places[0]]
                assert any(contains(b, box) for b in same), (seed, box)
        labels = dict(zip(map(tuple, result.labelled.cells), result.labelled.labels, strict=True))
        assert all(grid[cell] == label for cell, label in labels.items())
        for box, place in shown:
            inside = [
                label
                for cell, label in labels.items()
                if all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True))
            ]
            assert set(inside) <= {place}
        result.save(tmp_path)
        assert (done := hornlens.verify(tmp_path)).ok, (seed, done.wrong)
        assert hornlens.load(tmp_path).as_json() == result.as_json()
    assert wrong <= 2  # 5% of the runs, by the certificate


def test_of_more_than_two_classes_rules_say_which_is_given_and_the_certificate_says_so():
    kinds = np.array(["low", "middle", "high"])
    model = Counting(
        lambda rows: kinds[np.clip((rows[:, 0] * 3 + rows[:, 1]).astype(int), 0, 2)], sorted(kinds)
    )
    result = hornlens.explain(model, ROWS, bins="quantile")
    assert result.rules and {rule.label for rule in result.rules} <= set(kinds)
    assert all(broken_share(result, rule) <= 0.05 for rule in result.rules)
    assert "rule for a class with at most 2 conditions" in result.certificate.sentence
    record = result.as_json()["sift"]
    assert record["classes"] is True
    assert all(rule["then"] for family in record["families"] for rule in family["rules"])


def test_one_class_only_and_too_many_columns():
    always = Counting(lambda rows: ["a"] * len(rows), ["a"])
    same = hornlens.explain(always, ROWS, bins="quantile")
    assert str(same.rules) == "⊤ → a" and same.rules[0].warrant.kind == "tested"
    rows = np.random.default_rng(0).random((60, 110))
    model = Counting(lambda x: np.where(x[:, 0] > 0.5, "yes", "no"))
    result = hornlens.explain(model, rows, bins="quantile", n_bins=8)
    assert result.certificate.sift.conditions == 1
    assert any("too many to sift" in note for note in result.notes)
    assert all("x0" in str(rule) for rule in result.rules) and len(result.rules) >= 2
    with pytest.raises(HornlensError, match="too many to sift"):
        hornlens.explain(model, rows, bins="quantile", n_bins=8, max_conditions=2)


def test_a_background_that_allows_nothing_is_refused():
    with pytest.raises(HornlensError, match="allows no cell"):
        given = ["x1 < 2 -> false", "x1 >= 2 -> false"]
        hornlens.explain(lambda x: x[:, 0] > 0.5, ROWS, background=given, max_conditions=1)


# --- limits ---


@pytest.mark.parametrize("most", [1, 7, 60, 400, 1_100])
def test_a_limit_on_questions_counts_every_cell_that_is_asked(most, tmp_path):
    model, _ = planted(0)
    limits = Limits(max_questions=most)
    result = hornlens.explain(model, ROWS, bins=EDGES, limits=limits)
    asked, certificate = len(result.labelled.cells), result.certificate
    assert asked == limits.questions == most == result.envelope.statistics["questions"]
    assert certificate.ended.reason == "max_questions" == limits.reason
    assert model.asked == len(ROWS) + asked + result.envelope.statistics["measured"]
    assert certificate.open >= len(result.open) and (most > 60 or not result.rules)
    assert all(broken_share(result, rule) <= rule.warrant.bound <= 0.2 for rule in result.rules)
    result.save(tmp_path)
    assert (done := hornlens.verify(tmp_path)).ok, done.wrong
    assert hornlens.load(tmp_path).as_json() == result.as_json()


def test_a_budget_that_is_too_small_for_all_rules_gives_bounds_to_some():
    model, _ = planted(1)
    result = hornlens.explain(model, ROWS, bins=EDGES, limits=Limits(max_questions=1_100))
    bounds = {rule.warrant.bound for rule in result.rules}
    assert bounds and max(bounds) <= 0.2 and result.open
    assert all(rule.warrant.kind == "open" and rule.needs > 0 for rule in result.open)


def test_a_time_limit_and_somebody_end_it_with_what_is_known(tmp_path):
    for limits in (Limits(time_limit=1.0), Limits()):
        model, _ = planted(2)
        decide = model.decide

        def slow(rows, limits=limits, decide=decide, model=model):
            if limits.time_limit is None and model.asked > 1_000:
                limits.interrupt()
            time.sleep(0.0005 * len(rows) if limits.time_limit else 0)
            return decide(rows)

        model.decide = slow
        start = time.perf_counter()
        result = hornlens.explain(model, ROWS, bins=EDGES, limits=limits)
        assert time.perf_counter() - start < 30
        assert result.certificate.ended.reason == limits.reason
        assert limits.reason == ("time_limit" if limits.time_limit else "interrupt")
        assert len(result.labelled.cells) > 0 and result.certificate.open
        result.save(tmp_path)
        assert (done := hornlens.verify(tmp_path)).ok, done.wrong


def test_the_first_rules_are_kept_and_the_others_are_open():
    model, _ = planted(0)
    whole = hornlens.explain(model, ROWS, bins=EDGES)
    first = hornlens.explain(model, ROWS, bins=EDGES, limits=Limits(max_rules=2))
    assert [str(rule) for rule in first.rules] == [str(rule) for rule in whole.rules[:2]]
    assert first.certificate.ended.reason == "max_rules"
    assert first.certificate.open == len(first.open) == len(whole.rules) - 2
    assert {str(rule) for rule in whole.rules[2:]} == {str(rule) for rule in first.open}


def test_samples_is_the_old_name_of_a_limit_on_questions():
    model, _ = planted(0)
    with pytest.warns(HornlensDeprecationWarning, match="max_questions"):
        result = hornlens.explain(model, ROWS, bins=EDGES, samples=500)
    assert len(result.labelled.cells) == 500
    assert result.certificate.ended.reason == "max_questions"
    with pytest.warns(HornlensDeprecationWarning):
        small = hornlens.explain(model, ROWS, bins={"x0": [0.5]}, n_bins=2, limit=5_000, samples=5)
    assert len(small.decisions) > 5 and small.certificate.ended is None


def test_those_who_watch_see_how_many_rules_are_alive():
    model, _ = planted(0)
    events = []
    result = hornlens.explain(model, ROWS, bins=EDGES, watch=events.append)
    sifting = [event for event in events if isinstance(event, Sifting)]
    live = [event.live for event in sifting]
    assert len(live) > 3 and live == sorted(live, reverse=True)
    assert sifting[-1].asked == len(result.labelled.cells)
    assert sum(isinstance(event, RuleAdded) for event in events) == len(result.rules)
    assert isinstance(events[-1], Ended)


# --- what is kept, and asked of it ---


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A sifted explanation with open rules, and its folder."""
    model, _ = planted(1)
    result = hornlens.explain(model, ROWS, bins=EDGES, limits=Limits(max_questions=1_100))
    folder = tmp_path_factory.mktemp("kept")
    result.save(folder)
    return result, folder


def test_what_was_saved_is_read_and_pickled_as_it_was(kept):
    result, folder = kept
    content = json.loads((folder / "envelope.json").read_text())
    assert content["sift"]["order"] == list(range(content["classifier"]["cells"]["count"]))
    assert all(line["warrant"]["kind"] == "open" and line["box"] for line in content["open"])
    assert content["certificate"]["sift"]["questions"] == content["statistics"]["questions"]
    loaded = hornlens.load(folder)
    for other in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert other.as_json() == content
        assert other.envelope.sifted == result.envelope.sifted
        assert other.open.csv() == result.open.csv() == (folder / "open.csv").read_text()
    again = hornlens.explain(planted(1)[0], ROWS, bins=EDGES, limits=Limits(max_questions=1_100))
    assert again.as_json() == content  # one seed


def test_draws_come_after_their_family_and_lie_in_their_base(kept):
    result, folder = kept
    sift = json.loads((folder / "envelope.json").read_text())["sift"]
    names, space = result.space.vocabulary, result.space
    listed = {(tuple(r.antecedent), tuple(r.consequent)) for r in map(canonical, result.rules)}
    fixed = set()
    for at, number, base in sift["draws"]:
        family = sift["families"][number]
        assert at >= family["at"]
        line = family["bases"][base]
        left = family["rules"][line["rule"]]["if"] if "rule" in line else line["if"]
        box = box_of_mask(space, names.mask(left))
        cell = result.labelled.cells[sift["order"][at]]
        assert all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True))
    for family in sift["families"]:
        fixed |= {(tuple(rule["if"]), tuple(rule["then"])) for rule in family["rules"]}
    assert listed <= fixed


def canonical(row):
    """A rule in variables, as the table has it."""
    return row.canonical


def test_rules_are_judged_by_what_is_known_of_them(kept):
    result, _ = kept
    rule, open_rule = result.rules[0], result.open[0]
    first, second, third = (
        result.judge(NamedRule(tuple(c), (label,)))
        for c, label in (
            (rule.conditions, rule.label),
            (open_rule.conditions, open_rule.label),
            (rule.conditions[:1], rule.label),
        )
    )
    assert first.truth.outcome == "tested" and first.truth.warrant == rule.warrant
    assert second.truth.outcome == "open"
    assert third.truth.outcome == "broken" and third.answers


def test_a_rule_all_of_whose_cells_were_asked_is_proved(tmp_path):
    rows = pandas.DataFrame(
        {name: list("abc") * 4 for name in "uvwx"} | {"y": ["p", "q", "p", "r"] * 3}
    )
    model = Counting(lambda given: np.where(given["u"] == "a", "yes", "no"))
    result = hornlens.explain(model, rows, limit=2, epsilon=0.001, delta=0.001)
    assert {str(rule) for rule in result.rules} == {"u = a → yes", "u = b → no", "u = c → no"}
    assert all(rule.warrant.proved for rule in result.rules)
    assert (
        result.certificate.proved and "Every listed rule is proved" in result.certificate.sentence
    )
    assert result.certificate.scope.of == "every input"
    special = NamedRule(("u = a", "v = b"), ("yes",))
    assert result.judge(special).truth.holds
    result.save(tmp_path)
    assert (done := hornlens.verify(tmp_path)).ok, done.wrong


# --- as a target ---


def test_extract_of_a_target_sifts_as_explain_does():
    model, _ = planted(0)
    target = ClassifierTarget.of(model, ROWS, bins=EDGES)
    explained = hornlens.explain(model, ROWS, bins=EDGES)
    for settings in (Settings(), Settings(equivalence="sift"), Settings(max_conditions=3)):
        before = model.asked
        result = hornlens.extract(target, settings=settings)
        assert isinstance(result, hornlens.Explanation)
        assert result.rules.csv() == explained.rules.csv()
        assert result.envelope.sifted == explained.envelope.sifted
        assert result.record.asked == model.asked - before
    short = hornlens.extract(target, settings=Settings(equivalence="sift", max_conditions=2))
    assert short.certificate.sift.conditions == 1
    few = hornlens.extract(target, settings=Settings(max_questions=300))
    assert len(few.labelled.cells) == 300 == few.certificate.sift.questions
    few = hornlens.extract(target, settings=Settings(limit=250))
    assert len(few.labelled.cells) == 250
    with pytest.raises(HornlensError, match="must be 1 or more"):
        hornlens.extract(target, settings=Settings(equivalence="sift", max_conditions=0))
    envelope = target.engine(Settings())(None, None)
    assert envelope.readable == explained.envelope.readable
    assert envelope.certificate == explained.certificate


def test_a_small_space_and_a_forest_are_sifted_if_that_is_wanted():
    rows = np.random.default_rng(3).random((100, 2))
    model = Counting(lambda x: np.where(x[:, 0] > 0.5, "yes", "no"))
    target = ClassifierTarget.of(model, rows, bins={"x0": [0.5], "x1": [0.5]})
    result = hornlens.extract(target, settings=Settings(equivalence="sift"))
    assert result.certificate.kind == "sifted"
    assert {str(rule) for rule in result.rules} == {"x0 < 0.5 → no", "x0 ≥ 0.5 → yes"}
    assert not isinstance(hornlens.extract(target), hornlens.Explanation)


# --- the command ---


def test_the_command_says_what_was_asked_and_what_is_open(tmp_path):
    skops = pytest.importorskip("skops.io")
    rows = np.random.default_rng(0).random((400, 9))
    wanted = np.where((rows[:, 0] > 0.6) & (rows[:, 1] > 0.5), "yes", "no")
    model = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=300, random_state=0))
    skops.dump(model.fit(rows, wanted), tmp_path / "model.skops")
    pandas.DataFrame(rows, columns=list("abcdefghi")).to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / "model.skops"), str(tmp_path / "rows.csv")]
    run = CliRunner().invoke(app, ["explain", *files, "--epsilon", "0.1", "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    result = hornlens.load(tmp_path)
    statistics = result.envelope.statistics
    assert f"{statistics['questions']:,} cells" in run.output
    assert f"{statistics['measured']:,} inputs" in run.output
    assert result.certificate.sift.epsilon == 0.1 and "tested, at most 10%" in run.output
    run = CliRunner().invoke(app, ["explain", *files, "--max-questions", "200"])
    assert run.exit_code == 0 and re.search(r"[0-9,]+ open rules", run.output)


def test_the_page_shows_what_is_listed_open_and_refuted(kept):
    result, folder = kept
    page = (folder / "report.html").read_text("utf-8")
    text = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    text = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    statistics, sieve = result.envelope.statistics, result.certificate.sift
    assert f"Rules refuted {sieve.refuted:,} of {sieve.candidates:,}" in text
    assert f"Open rules {result.certificate.open:,}" in text and "they are no findings" in text
    assert f"asked about {statistics['predicted']:,} rows" in text
    assert "not how common it is among all" in text
    assert page.count(" would list it") == len(result.open)
    assert all(rule.warrant.words in text for rule in result.rules)
