"""Proofs about random small ensembles, held against all of their cells."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from hornlens.exact.boxes.cells import OUTSIDE, GridCells, Levels
from hornlens.exact.boxes.rulesets import short_rules_of_grid
from hornlens.limits import Limits, Stopped
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.bounding import tables as tables_module
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.short import known_cells, short_rules_of_vote
from hornlens.targets.classifiers.voting import Vote

SEEDS = 80
SEEDS_SLOWLY = 600
BUSHY, BUSHY_FROM = 9, 1_000_000
"""How deep bushy trees are, and from which seed on trees are bushy."""


@dataclass(frozen=True, eq=False)
class Small:
    """An ensemble over few cells: all of them, their class, sums of scores, and which occur."""

    rng: np.random.Generator
    vote: Vote
    cells: Levels
    classes: np.ndarray
    sums: np.ndarray
    occur: np.ndarray

    @property
    def sizes(self):
        return [feature.size for feature in self.vote.features]

    def inside(self, box):
        return within(box, self.cells)

    def a_box(self):
        sets = [int(self.rng.integers(1, 1 << size)) for size in self.sizes]
        return [
            some if self.rng.random() < 0.5 else (1 << size) - 1
            for some, size in zip(sets, self.sizes, strict=True)
        ]


def within(box, cells):
    inside = np.ones(len(cells), dtype=np.bool_)
    for axis, mask in enumerate(box):
        inside &= (mask >> cells[:, axis] & 1).astype(np.bool_)
    return inside


def feature(name, size, missing, ranged):
    known = size - missing
    if ranged:
        points = (*(level + 0.5 for level in range(known)), *([np.nan] * missing))
        return Feature(name, "number", points, Cuts.at(range(1, known)), (), missing)
    values = tuple("abcdefg"[:known])
    return Feature(name, "category", (*values, *([None] * missing)), None, values, missing)


def grown(rng, features, box, depth, score):
    """Return the leaves of a random tree: boxes as sets of levels, and scores."""
    axes = [axis for axis in range(len(features)) if box[axis].bit_count() > 1]
    if depth == 0 or not axes or rng.random() < (0.15 if depth < BUSHY // 2 else 0.01):
        return [(box, score())]
    axis = int(rng.choice(axes))
    own = features[axis]
    left = int(rng.integers(0, 1 << own.size))
    if own.is_ranged:
        left = (1 << int(rng.integers(0, own.known + 1))) - 1
        left |= (own.missing and rng.random() < 0.5) << own.known
    leaves = []
    for levels in (left, ~left):
        inner = [*box]
        inner[axis] &= levels
        if inner[axis]:
            leaves += grown(rng, features, inner, depth - 1, score)
    return leaves


def small(seed, limits=None):
    """Return a random ensemble; where its sums tie, any of these classes is the model's own.

    From the seed BUSHY_FROM on, trees have up to hundreds of leaves: more than one word has bits.
    """
    rng, bushy = np.random.default_rng(seed), seed >= BUSHY_FROM
    few, many = (5, 4) if bushy else (2, int(rng.integers(1, 5)))
    sizes = [int(size) for size in rng.integers(few, 7, many)]
    features = tuple(
        feature(f"x{at}", size, bool(size > 2 and rng.random() < 0.4), rng.random() < 0.7)
        for at, size in enumerate(sizes)
    )
    count, trees = int(rng.choice([1, 2, 2, 2, 3, 4])), int(rng.integers(1, 9))
    ties, forest = rng.random() < 0.5, rng.random() < 0.5

    def score_of(tree):
        def score():
            drawn = rng.integers(-4, 5, count) if ties else rng.normal(size=count)
            own = tree % count if count > 2 else count - 1
            return drawn * (np.arange(count) == own if not forest else 1.0)

        return score

    every = [(1 << size) - 1 for size in sizes]
    leaves = [
        grown(rng, features, every, BUSHY if bushy else int(rng.integers(1, 5)), score_of(tree))
        for tree in range(trees)
    ]
    cells = np.array(list(product(*map(range, sizes))), dtype=np.intp)
    added = np.zeros((len(cells), trees, count))
    for tree, own in enumerate(leaves):
        for box, score in own:
            added[within(box, cells), tree] = score
    sums = added.sum(axis=1)
    near = sums > sums.max(axis=1, keepdims=True) - 1e-9
    # What adds the very same is of one class: rounding is a function of what is added.
    tied: dict[bytes, int] = {}
    classes = np.array(
        [
            tied.setdefault(key.tobytes(), int(rng.choice(np.flatnonzero(best))))
            for key, best in zip(added, near, strict=True)
        ]
    )
    grid = classes.reshape(sizes)
    forbidden = tuple(
        tuple(
            int(rng.integers(1, 1 << size)) if rng.random() < 0.6 else (1 << size) - 1
            for size in sizes
        )
        for _ in range(int(rng.choice([0, 0, 1, 3, 12])))
    )
    most = int(rng.choice([0, 0, 1, 3]))
    names = tuple(f"x{at}" for at in range(len(sizes)))

    def rows(columns):
        return np.column_stack([own.places(c) for own, c in zip(features, columns, strict=True)])

    kinds, values = tuple(f.kind for f in features), tuple(f.values for f in features)
    columns = tuple(f.column(cells[:1, at]) for at, f in enumerate(features))
    table = Table(names, columns, kinds, values, rows)
    labels = tuple(map(str, range(count)))
    classifier = Classifier("small", labels, lambda cells: grid[tuple(cells.T)].astype(str), table)
    binned = Binned(classifier, features, None if limits is None else Meter(limits))
    vote = Vote(binned, forbidden, most)
    starts = np.cumsum([0, *map(len, leaves[:-1])])
    scores = np.array([score for own in leaves for _, score in own])
    packed = vote.packed([box for own in leaves for box, _ in own])
    vote = Vote(binned, forbidden, most, None, (packed, scores, starts))
    broken = sum((within(box, cells) for box in forbidden), np.zeros(len(cells), dtype=np.intp))
    return Small(rng, vote, cells, classes, sums, broken <= most)


def check_boxes(seed):
    own = small(seed)
    count = own.vote.classes
    assert (own.vote.occur(own.cells) == own.occur).all(), seed
    boxes = [own.a_box() for _ in range(10)]
    places = [int(own.rng.integers(0, count)) for _ in boxes]
    outcomes = own.vote.outcomes(boxes, places)
    early = own.vote.outcomes(boxes, places, 1)
    for number, (box, place) in enumerate(zip(boxes, places, strict=True)):
        inside, case = own.inside(box) & own.occur, (seed, number, box, place)
        other = inside & (own.classes != place)
        assert outcomes.status[number] == int(other.any()), case
        assert early.status[number] in (-1, outcomes.status[number]), case
        if outcomes.status[number] == 1:
            assert (other & (own.cells == outcomes.cells[number]).all(axis=1)).any(), case
        if count > 1 and inside.any():
            others = np.delete(own.sums, place, axis=1).max(axis=1)
            lead = (others - own.sums[:, place])[inside].max()
            assert lead <= outcomes.leads[number] + 1e-6, case
            assert lead <= early.leads[number] + 1e-6, case
        classes = int(own.rng.integers(0, 1 << count))
        cell, whole = own.vote.any_of(box, classes)
        wanted = inside & (classes >> own.classes & 1).astype(np.bool_)
        assert whole and (cell is not None) == wanted.any(), case
        assert cell is None or (wanted & (own.cells == cell).all(axis=1)).any(), case
        assert (own.vote.cell_in(box) is not None) == inside.any(), case


def check_pairs(seed):
    own = small(seed)
    count = own.vote.classes
    for axis, one in enumerate(own.vote.features):
        rest, level = np.delete(own.cells, axis, axis=1), own.cells[:, axis]
        same = (rest[:, None] == rest[None]).all(axis=2) & own.occur[:, None] & own.occur[None]
        flips = same & (own.classes[:, None] != own.classes[None])
        status, pair = own.vote.flip_along(axis)
        check_pair(own, (seed, axis), flips, status, pair)
        known = (level < one.known)[:, None] & (level < one.known)[None]
        for up in (True, False):
            before = int(own.rng.integers(0, 1 << count))
            rest_of = ((1 << count) - 1) & ~before
            after = rest_of if own.rng.random() < 0.5 else int(own.rng.integers(0, 1 << count))
            higher = level[None] > level[:, None] if up else level[None] < level[:, None]
            moves = flips & known & higher
            moves &= (before >> own.classes & 1).astype(np.bool_)[:, None]
            moves &= (after >> own.classes & 1).astype(np.bool_)[None]
            status, pair = own.vote.moved(axis, before, after, up)
            check_pair(own, (seed, axis, up, before, after), moves, status, pair)


def check_pair(own, case, wanted, status, pair):
    assert status == int(wanted.any()), case
    assert (pair is not None) == wanted.any(), case
    if pair is not None:
        first, second = (int((own.cells == cell).all(axis=1).argmax()) for cell in pair)
        assert wanted[first, second], (case, pair)


def check_short_rules(seed):
    own = small(seed)
    most = min(2, len(own.sizes))
    rows = own.cells[own.rng.integers(0, len(own.cells), 5)]
    done = short_rules_of_vote(own.vote, most, known_cells(own.vote, rows, seed))
    labels = np.where(own.occur, own.classes, OUTSIDE).astype(np.int8).reshape(own.sizes)
    wanted = short_rules_of_grid(GridCells(own.vote.binned.axes, labels), most)
    assert done.unsettled == 0, seed
    if own.occur.any():
        assert sorted(done.rules) == sorted(wanted), seed


CHECKS = [check_boxes, check_pairs, check_short_rules]


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_proved_of_random_ensembles_is_so_of_all_cells(check):
    for seed in range(SEEDS):
        check(seed)


@pytest.mark.parametrize("check", CHECKS)
def test_leaves_of_one_lead_that_add_something_else_may_be_rounded_otherwise(check):
    """Two sums of one tree apart, [0, 0] and [1, 1]: asked about one of them, all was proved."""
    check(237)


@pytest.mark.parametrize("check", [check_boxes, check_short_rules])
def test_what_is_proved_of_trees_with_hundreds_of_leaves_is_so_of_all_cells(check):
    assert small(BUSHY_FROM).vote.leaves[1].shape[0] > 200
    for seed in range(BUSHY_FROM, BUSHY_FROM + 20):
        check(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(16))
@pytest.mark.parametrize("check", CHECKS)
def test_what_is_proved_of_still_more_random_ensembles_is_so_of_all_cells(check, block):
    for seed in range(SEEDS_SLOWLY + 100 * block, SEEDS_SLOWLY + 100 * (block + 1)):
        check(seed)
    check(BUSHY_FROM + 100 + block)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_what_is_proved_of_hundreds_of_random_ensembles_is_so_of_all_cells(check):
    for seed in range(SEEDS, SEEDS_SLOWLY):
        check(seed)


@pytest.mark.parametrize("check", CHECKS)
def test_tables_that_are_kept_short_say_the_same(check, monkeypatch):
    monkeypatch.setattr(tables_module, "MEMORY", 0)
    for seed in range(40):
        check(seed)


def test_a_limit_leaves_open_what_is_not_settled():
    limits = Limits(time_limit=1e-9)
    own = small(3, limits)
    limits.begin()
    boxes = [own.a_box() for _ in range(5)]
    outcomes = own.vote.outcomes(boxes, [0] * 5)
    assert set(outcomes.status.tolist()) == {-1} and np.isinf(outcomes.leads).all()
    for question in (
        lambda: own.vote.any_of(boxes[0], 1),
        lambda: own.vote.flip_along(0),
        lambda: own.vote.moved(0, 1, 2, True),
    ):
        with pytest.raises(Stopped):
            question()
