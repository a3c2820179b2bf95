"""Rules that cover rows: each is proved, the shares are counted, and limits end it with what is."""

import copy
import json

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import hornlens
from hornlens import Limits
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import cells_at, rows_in
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.limits import ENDED

LIMIT = 10
"""Fewer cells than any of these ensembles has, so that its trees are looked into."""


def ensemble(seed):
    """Return a small ensemble, rows that it takes, and options: now and then with a background."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 6, (50, 4)).astype(float)
    classes = (
        rng.integers(0, 3, 50) if seed % 3 == 0 else (rows[:, 0] + rows[:, 1] > rows[:, 2] + 4)
    )
    if seed % 2:
        model = RandomForestClassifier(4, max_depth=4, random_state=seed)
    else:
        model = GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=seed)
    options = {"limit": LIMIT}
    if seed % 5 == 4:
        options["background"] = ["x0 > 3 -> x1 > 1"]
    return model.fit(rows, classes), rows, options


def all_cells(result):
    """Return every cell that occurs, and what the model says of it."""
    binned = result.binned
    cells = cells_at(np.arange(binned.cell_count), binned.shape)
    cells = cells[result.vote.occur(cells)]
    return cells, binned.ask(cells)


@pytest.mark.parametrize("seed", range(12))
def test_every_rule_is_true_of_all_cells_and_none_can_be_wider(seed):
    model, rows, options = ensemble(seed)
    result = hornlens.explain(model, rows, cover=1, **options)
    cells, labels = all_cells(result)
    axes = result.binned.axes
    for rule in result.boxes:
        inside = rows_in(cells, rule.box, axes)
        assert (labels[inside] == rule.place).all(), (seed, rule)
        for place, axis in enumerate(axes):
            for wider in axis.wider(rule.box[place]):
                box = (*rule.box[:place], wider, *rule.box[place + 1 :])
                assert (labels[rows_in(cells, box, axes)] != rule.place).any(), (seed, rule, wider)


@pytest.mark.parametrize("seed", range(12))
def test_the_rules_decide_the_share_that_is_wanted_and_the_certificate_counts_it(seed):
    model, rows, options = ensemble(seed)
    shares = []
    for wanted in (0.5, 0.9, 1):
        result = hornlens.explain(model, rows, cover=wanted, **options)
        coverage, places = result.certificate.coverage, result.decided(result.rows)
        decided = places >= 0
        occurs = result.vote.occur(result.rows)
        assert decided.sum() >= wanted * occurs.sum(), seed
        assert (coverage.rows, coverage.of_rows) == ((decided & occurs).sum(), occurs.sum())
        assert coverage.right == (occurs & (places == model_says(result))).sum()
        assert coverage.drawn == 10_000
        assert coverage.hard == 0
        shares.append(coverage.inputs / coverage.drawn)
        low, high = coverage.interval
        assert low <= shares[-1] <= high
    assert shares == sorted(shares)


def model_says(result):
    """Return what the model says of each row."""
    return np.asarray(result.said)


def test_the_share_of_uniform_inputs_is_that_of_fresh_ones():
    model, rows, options = ensemble(2)
    result = hornlens.explain(model, rows, cover=0.6, **options)
    low, high = rows.min(axis=0), rows.max(axis=0)
    fresh = np.random.default_rng(99).uniform(low, high, (20_000, 4))
    decided = result.predict(fresh, otherwise="?")
    share = np.mean([answer != "?" for answer in decided])
    first, last = result.certificate.coverage.interval
    assert first - 0.02 <= share <= last + 0.02
    same = [a == b for a, b in zip(decided, model.predict(fresh), strict=True) if a != "?"]
    assert all(same)


def test_short_rules_are_complete_beside_the_longer_ones():
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, **options)
    short = hornlens.explain(model, rows, max_conditions=2, **options)
    assert short.certificate.coverage is None
    assert {*short.boxes} == {one for one in result.boxes if conditions(result, one) <= 2}
    assert len(result.boxes) > len(short.boxes)
    assert result.certificate.complete.max_conditions == 2
    assert result.certificate.meets("bounded") and not result.certificate.meets("exact")
    sentence = result.certificate.sentence
    assert "Every rule with at most 2 conditions is here" in sentence
    assert (
        "Together the rules decide 50 of 50 rows (100%), all of them as the model does" in sentence
    )


def conditions(result, rule):
    axes = result.binned.axes
    return sum(span != axis.whole for span, axis in zip(rule.box, axes, strict=True))


def test_no_rules_are_looked_for_where_nothing_is_to_be_covered():
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, cover=0, **options)
    assert result.certificate.coverage is None
    assert all(conditions(result, one) <= 2 for one in result.boxes)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "all", None, True])
def test_a_share_that_is_none_is_refused(wrong):
    with pytest.raises(HornlensError, match="cover must be a share between 0 and 1"):
        hornlens.explain(lambda rows: rows[:, 0] > 1, [[1.0], [2.0]], cover=wrong)


def test_the_same_seed_gives_the_same_rules():
    model, rows, options = ensemble(3)
    first, again = (hornlens.explain(model, rows, seed=5, **options) for _ in range(2))
    assert first.boxes == again.boxes
    assert first.certificate == again.certificate


@pytest.mark.parametrize(
    "limits", [{"max_questions": 30}, {"max_rules": 3}, {"time_limit": 1e-3}, {"max_calls": 60}]
)
def test_limits_end_it_with_what_is_proved(limits, tmp_path):
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, limits=Limits(**limits), **options)
    certificate, coverage = result.certificate, result.certificate.coverage
    (reason,) = limits
    if not certificate.ended:
        pytest.skip("the limit was not reached")
    assert ENDED[reason] in certificate.sentence
    assert not certificate.complete
    cells, labels = all_cells(hornlens.explain(model, rows, **options))
    for rule in result.boxes:
        assert (labels[rows_in(cells, rule.box, result.binned.axes)] == rule.place).all()
    assert coverage.rows == (result.decided(result.rows) >= 0).sum()
    assert coverage.drawn == 0  # inputs were drawn in the cells that were asked, not everywhere
    assert "how many other inputs they decide was not measured" in certificate.sentence
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok


FORGERIES = {
    "other rows": lambda line: {"rows": line["rows"] - 1, "right": line["right"] - 1},
    "more rows in all": lambda line: {"of_rows": line["of_rows"] + 1},
    "fewer right": lambda line: {"right": line["right"] - 1},
    "more inputs": lambda line: {"inputs": line["inputs"] + 1},
    "fewer drawn": lambda line: {"drawn": line["drawn"] - 1},
    "hardly any drawn": lambda line: {"inputs": 0, "drawn": 10},
    "another field": lambda line: {"sure": 1},
    "no share": lambda line: {"wanted": 0},
    "more that may be wider than there are": lambda line: {"hard": 10_000},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_coverage_is_refused(name, tmp_path):
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, cover=0.5, **options)
    content = json.loads(json_text(result.as_json()))
    path = tmp_path / "envelope.json"
    path.write_text(json_text(content))
    assert hornlens.verify(path).ok
    forged = copy.deepcopy(content)
    line = forged["certificate"]["coverage"]
    line.update(FORGERIES[name](line))
    path.write_text(json_text(with_digest(forged)))
    assert not accepted(path), name


def accepted(path):
    try:
        return hornlens.verify(path).ok
    except HornlensError:
        return False


def test_a_coverage_of_a_grid_is_refused(tmp_path):
    model, rows, _ = ensemble(1)
    content = json.loads(json_text(hornlens.explain(model, rows).as_json()))
    content["certificate"]["coverage"] = {"wanted": 0.9, "rows": 50, "of_rows": 50, "right": 50}
    path = tmp_path / "envelope.json"
    path.write_text(json_text(with_digest(content)))
    assert not accepted(path)


def test_where_rules_with_two_conditions_are_too_many_a_note_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("hornlens.targets.classifiers.short.MOST_CELLS", 60)
    monkeypatch.setattr("hornlens.verifying.classifying.notes.MOST_SHORT", 60)
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, **options)
    assert result.certificate.complete.max_conditions == 1
    assert result.notes[0] == (
        "every rule with at most 1 condition is here: those with 2 are too many to be gone through"
    )
    assert result.certificate.coverage.rows == len(rows)
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    content = json.loads((tmp_path / "envelope.json").read_text())
    content["classifier"]["notes"].pop(0)
    (tmp_path / "envelope.json").write_text(json_text(with_digest(content)))
    assert not accepted(tmp_path / "envelope.json")


def test_an_ensemble_over_many_columns_has_rules(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 30))
    model = RandomForestClassifier(3, max_depth=3, random_state=0)
    model.fit(rows, rows[:, 0] + rows[:, 1] > rows[:, 2])
    result = hornlens.explain(model, rows, cover=0.9, limit=LIMIT)
    assert result.certificate.coverage.rows >= 0.9 * len(rows)
    assert result.headline().rules


def test_saving_a_large_table_changes_the_first_rows_only(monkeypatch, tmp_path):
    monkeypatch.setattr("hornlens.classifiers.flips.MOST_CHANGED", 200)
    model, rows, options = ensemble(1)
    result = hornlens.explain(model, rows, **options)
    result.save(tmp_path)
    lines = json.loads((tmp_path / "envelope.json").read_text())["classifier"]["flips"]
    most = 200 // sum(feature.size for feature in result.binned.features)
    assert {line["of_rows"] for line in lines} == {most} and most < len(rows)
    assert hornlens.verify(tmp_path).ok
    assert hornlens.load(tmp_path).flips("x0").of_rows == most


def test_a_model_that_says_something_else_than_its_trees_is_covered_as_a_stand_in():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4))
    said = (rows[:, 0] + rows[:, 1] > 0).astype(int)

    class Liar(RandomForestClassifier):
        def predict(self, given):
            classes = super().predict(given)
            return np.where(np.asarray(given)[:, 0] < -0.5, 1 - classes, classes)

    Liar.__module__, Liar.__name__ = "sklearn.mine", "RandomForestClassifier"
    model = Liar(5, max_depth=3, random_state=0).fit(rows, said)
    result = hornlens.explain(model, rows, limit=1)
    assert not result.certificate.scope.direct
    assert result.agreement.differs
