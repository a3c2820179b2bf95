"""Boxes that are narrowed and made wider, held against every cell of small ensembles."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import hornlens
from hornlens.exact.boxes.axes import Axis
from hornlens.exact.boxes.cells import rows_in
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.targets.classifiers.bounding.plain import PlainBounds
from hornlens.targets.classifiers.covering import row_cover
from hornlens.targets.classifiers.growing import Growing
from hornlens.targets.classifiers.narrowing import Narrowing, Weighed
from hornlens.targets.classifiers.relaxing import relaxed
from hornlens.targets.classifiers.short import known_cells
from hornlens.targets.classifiers.voting import Vote
from tests.classifiers.test_covering import all_cells, ensemble


def with_gaps(seed):
    """Return an ensemble of three classes over numbers with gaps, and one column of categories."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 5, (80, 3)).astype(float)
    rows[:, 2] = rng.integers(0, 4, 80)
    classes = (rows[:, 0] + rows[:, 1] > 4).astype(int) + (rows[:, 2] == 1)
    rows[rng.random(80) < 0.2, 0] = np.nan
    model = HistGradientBoostingClassifier(
        max_iter=3, max_leaf_nodes=5, min_samples_leaf=3, categorical_features=[2]
    )
    return model.fit(rows, classes), rows, {"limit": 10}


def explained(seed):
    model, rows, options = with_gaps(seed) if seed % 2 else ensemble(seed)
    return hornlens.explain(model, rows, cover=0, **options)


def ends_of(box):
    return np.array(box, dtype=np.intp).reshape(-1, 2).T


@pytest.mark.parametrize("seed", range(16))
def test_each_box_of_a_path_has_rows_and_no_known_other_and_the_last_one_is_proved(seed):
    result = explained(seed)
    cells, labels = all_cells(result)
    axes, vote = result.binned.axes, result.vote
    rng = np.random.default_rng(seed)
    narrowing, proved = Narrowing(axes), 0
    for place in np.unique(labels).tolist():
        own = cells[labels == place]
        own = own[rng.random(len(own)) < 0.3]
        others = cells[labels != place]
        others = others[rng.random(len(others)) < rng.random() / 4]
        if not len(own):
            continue
        weighed = Weighed(own, rng.random(len(own)) + 0.1)
        path = narrowing.path(weighed, others, vote.leads_over(place), vote.tolerance)
        before = tuple(axis.whole for axis in axes)
        for box in path.boxes:
            assert rows_in(own, box, axes).any(), (seed, box)
            assert not rows_in(others, box, axes).any(), (seed, box)
            assert all(a <= c and d <= b for (a, b), (c, d) in zip(before, box, strict=True))
            assert all(span in axis.ranges for span, axis in zip(box, axes, strict=True)), box
            before = box
        if path.proved:
            proved += 1
            assert (labels[rows_in(cells, path.boxes[-1], axes)] == place).all(), seed
    assert proved


@pytest.mark.parametrize("seed", range(10))
def test_a_plain_bound_is_never_below_the_lead_of_a_cell(seed):
    result = explained(seed)
    cells, _ = all_cells(result)
    axes, vote = result.binned.axes, result.vote
    rng = np.random.default_rng(seed)
    for place in range(vote.classes):
        leads = vote.leads_over(place)
        height = np.max([lead.sums_at(cells)[:, 0] for lead in leads], axis=0)
        bounds = PlainBounds(leads, *ends_of([axis.whole for axis in axes]))
        assert bounds.bound >= height.max() - 1e-9
        box = [axis.whole for axis in axes]
        for axis in rng.permutation(len(axes)).tolist():
            ranges = [
                r for r in axes[axis].ranges if rows_in(cells, with_range(box, axis, r), axes).any()
            ]
            lows, highs = ends_of(ranges)
            after = bounds.narrowed(np.full(len(ranges), axis), lows, highs)
            for span, bound in zip(ranges, after.tolist(), strict=True):
                inside = rows_in(cells, with_range(box, axis, span), axes)
                assert bound >= height[inside].max() - 1e-9, (seed, place, span)
            number = int(rng.integers(len(ranges)))
            box = with_range(box, axis, ranges[number])
            bounds.narrow(axis, *ranges[number], float(after[number]))
            fresh = PlainBounds(leads, *ends_of(box))
            assert fresh.bound == pytest.approx(bounds.bound)
        inside = rows_in(cells, tuple(box), axes)
        if inside.sum() == 1:  # of one cell, the bound is what it is
            assert bounds.bound == pytest.approx(height[inside].max())


def with_range(box, axis, span):
    return (*box[:axis], span, *box[axis + 1 :])


@pytest.mark.parametrize("seed", range(16))
def test_each_relaxed_box_lets_in_more_rows_and_no_known_other(seed):
    result = explained(seed)
    cells, labels = all_cells(result)
    axes, vote = result.binned.axes, result.vote
    rng, moved = np.random.default_rng(seed), 0
    for number in rng.choice(len(cells), 10).tolist():
        place = int(labels[number])
        own = cells[labels == place]
        own = np.vstack([own[rng.random(len(own)) < 0.3], cells[number]])
        others = cells[labels != place]
        others = others[rng.random(len(others)) < 0.2]
        box = tuple((level, level) for level in cells[number].tolist())
        weighed = Weighed(own, rng.random(len(own)) + 0.1)
        boxes = relaxed(axes, box, weighed, others, vote.leads_over(place))
        assert boxes[-1] == box
        moved += len(boxes) - 1
        for wide, narrow in pairwise(boxes):
            assert all(a <= c and d <= b for (a, b), (c, d) in zip(wide, narrow, strict=True))
            assert all(span in axis.ranges for span, axis in zip(wide, axes, strict=True)), wide
            assert rows_in(own, wide, axes).sum() > rows_in(own, narrow, axes).sum()
            assert not rows_in(others, wide, axes).any(), (seed, wide)
    assert moved > 10


def test_growing_ends_where_what_was_too_hard_is_refuted_later():
    axes = [Axis(40, 40, True), Axis(2, 2, False)]
    growing = Growing(axes, BoxRule(((10, 10), (0, 0)), 1), [0, 1], np.array([[39, 0]]))
    assert growing.proposal == ((0, 38), (0, 0))
    growing.hear((-1, np.array([0, 0])))  # too hard: half as far
    assert growing.proposal == ((5, 24), (0, 0))
    growing.hear((1, np.array([20, 0])))
    assert growing.proposal == ((5, 19), (0, 0))
    for _ in range(100):
        if growing.proposal is None:
            break
        wide = ends_of(growing.proposal)
        growing.hear((1, wide[1] if (wide[1] > ends_of(growing.rule.box)[1]).any() else wide[0]))
    assert growing.proposal is None and not growing.general
    assert growing.rule == BoxRule(((10, 10), (0, 0)), 1)


@pytest.mark.parametrize("seed", range(12))
def test_a_box_is_widened_as_far_as_every_cell_allows(seed):
    result = explained(seed)
    cells, labels = all_cells(result)
    axes, rng = result.binned.axes, np.random.default_rng(seed)
    for number in rng.choice(len(cells), 10).tolist():
        place = int(labels[number])
        rule = BoxRule(tuple((level, level) for level in cells[number].tolist()), place)
        order = rng.permutation(len(axes)).tolist()
        growing = Growing(axes, rule, order, cells[:0])
        while growing.proposal is not None:
            inside = rows_in(cells, growing.proposal, axes)
            others = cells[inside & (labels != place)]
            answer = (1, others[rng.integers(len(others))]) if len(others) else (0, cells[0])
            growing.hear(answer)
        assert growing.general
        assert (labels[rows_in(cells, growing.rule.box, axes)] == place).all()
        for at, axis in enumerate(axes):
            for wider in axis.wider(growing.rule.box[at]):
                inside = rows_in(cells, with_range(growing.rule.box, at, wider), axes)
                assert (labels[inside] != place).any(), (seed, growing.rule, at, wider)


def test_a_rule_of_a_forest_over_many_columns_takes_few_questions(monkeypatch):
    bunch = load_breast_cancer()
    model = RandomForestClassifier(30, max_depth=5, random_state=0).fit(bunch.data, bunch.target)
    result = hornlens.explain(model, bunch.data, cover=0, max_conditions=1)
    vote, rows, asked = result.vote, result.rows, []
    cover = row_cover(vote, known_cells(vote, rows), rows, 0)
    monkeypatch.setattr(Vote, "outcomes_in", counting(Vote.outcomes_in, asked))
    cover.run(0.9, 1_000, widening=lambda: True)
    assert sum(asked) <= 9 * len(cover.rules) <= 9 * 50  # around single rows: 50 each
    open_ = np.ones(len(rows), dtype=bool)
    for rule, _ in cover.rules:
        inside = rows_in(rows, rule.box, vote.binned.axes)
        assert (inside & open_).any()
        assert (vote.binned.ask(rows[inside]) == rule.place).all()
        open_ &= ~inside
    assert open_.mean() <= 0.1


def counting(ask, counts):
    def outcomes_in(vote, boxes, places, *more):
        counts.append(len(places))
        return ask(vote, boxes, places, *more)

    return outcomes_in
