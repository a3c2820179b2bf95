"""The parts of sifting, each against brute force: boxes, candidates, draws, e-values, bounds."""

from itertools import product
from math import exp

import numpy as np
import pytest

from hornlens.learning.sifting.axes import Ground
from hornlens.learning.sifting.candidates import CandidateRules, statements_of
from hornlens.learning.sifting.drawing import Stream
from hornlens.learning.sifting.families import Family, gain
from hornlens.learning.sifting.members import ValueMember
from hornlens.learning.sifting.run import SiftOptions, SiftRun
from hornlens.learning.sifting.tally import Tally
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.shares import least_share
from tests.learning.sifting.boxes import cells_of, random_case

SEEDS = range(60)


def spaces():
    for seed in SEEDS:
        yield seed, random_case(seed, 0.2).box.space


def test_the_cells_of_a_box_are_numbered_each_once():
    for seed, space in spaces():
        ground = Ground.of(space)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            box = tuple(
                None if rng.random() < 0.5 else rng.random(axis.size) < 0.7 for axis in ground.axes
            )
            numbered = ground.numbered(box)
            cells = [tuple(numbered.cell(k).tolist()) for k in range(numbered.room)]
            every = np.array(list(product(*map(range, ground.sizes)))).reshape(-1, len(box))
            wanted = {
                tuple(cell.tolist())
                for cell in every[ground.allows(every)]
                if all(part is None or part[x] for part, x in zip(box, cell, strict=True))
            }
            assert len(cells) == len(set(cells)), seed
            assert set(cells) == wanted, seed
            assert ground.room(box) == len(wanted), seed
            if wanted:
                assert tuple(numbered.any(rng).tolist()) in wanted, seed


def test_levels_are_the_cells_of_the_space():
    for seed, space in spaces():
        ground = Ground.of(space)
        every = np.array(list(product(*map(range, ground.sizes)))).reshape(-1, len(ground.axes))
        allowed = every[ground.allows(every)]
        masks = ground.masks(allowed)
        assert sorted(masks) == sorted(cells_of(space)), seed
        assert (ground.levels(masks) == allowed).all(), seed


def test_candidates_contain_what_they_say():
    for seed, space in spaces():
        ground = Ground.of(space)
        candidates = CandidateRules.of(ground, 2, 1)
        cells = ground.levels(cells_of(space)[:40])
        containing = candidates.containing(cells)
        values = np.random.default_rng(seed).random((len(cells), 2)).astype(np.float32)
        ends = [*candidates.offsets.tolist(), candidates.count]
        sums = np.concatenate(
            [candidates.sums(place, cells, values) for place in range(len(ends) - 1)]
        )
        for candidate in range(0, candidates.count, 7):
            box = candidates.box(candidate)
            inside = ground.holds(box, cells)
            masks = np.array([candidates.mask(candidate) & ~m == 0 for m in ground.masks(cells)])
            assert (inside == masks).all(), seed
            assert (inside == (containing == candidate).any(axis=1)).all(), seed
            assert sums[candidate] == pytest.approx(values[inside].sum(axis=0), abs=1e-4), seed
            assert candidates.rooms[candidate] == ground.room(box), seed


def test_parents_are_the_next_more_general_ones():
    for seed, space in list(spaces())[:25]:
        ground = Ground.of(space)
        candidates = CandidateRules.of(ground, 2, 1)
        if candidates.count > 300:
            continue
        every = np.array(list(product(*map(range, ground.sizes)))).reshape(-1, len(ground.axes))
        sets = [ground.holds(candidates.box(c), every) for c in range(candidates.count)]
        above = {
            c: {p for p in range(candidates.count) if p != c and (sets[c] <= sets[p]).all()}
            for c in range(candidates.count)
        }
        for c in range(candidates.count):
            direct = {p for p in above[c] if not any(p in above[q] for q in above[c])}
            parents = {p for p in candidates.parents[c].tolist() if p < candidates.count}
            assert direct <= parents <= above[c], (seed, c)
        depth = {int(c): k for k, rank in enumerate(candidates.ranks) for c in rank}
        assert all(depth[p] < depth[c] for c in above for p in above[c]), seed


def drawn_cells(seed, base, count, size=6):
    space = random_case(3, 0.2).box.space
    ground = Ground.of(space)
    candidates = CandidateRules.of(ground, 1, 1)
    tally = Tally(ground, candidates, statements_of(space, [Policy()]), -1)
    stream = Stream.of(seed, 0, base, (None,) * len(ground.axes), ground)
    taken = set()
    cells = []
    for _ in range(count):
        cell = stream.draw(tally, taken)
        if cell is None:
            break
        taken.add(cell.tobytes())
        cells.append(tuple(cell.tolist()))
    return cells, ground


def test_draws_are_a_function_of_the_seed_and_never_come_twice():
    cells, ground = drawn_cells(5, 2, 10_000)
    assert cells == drawn_cells(5, 2, 10_000)[0]
    assert len(cells) == len(set(cells)) == ground.room((None,) * len(ground.axes))
    assert cells[:20] != drawn_cells(6, 2, 20)[0]
    assert cells[:20] != drawn_cells(5, 3, 20)[0]


def test_draws_are_uniform():
    _, ground = drawn_cells(0, 0, 1)
    room = ground.room((None,) * len(ground.axes))
    counts = {}
    for seed in range(40 * room):
        first = drawn_cells(seed, 0, 1)[0][0] if seed < 2_000 else None
        if first is None:
            break
        counts[first] = counts.get(first, 0) + 1
    draws, expected = sum(counts.values()), sum(counts.values()) / room
    chi = sum((n - expected) ** 2 / expected for n in counts.values())
    chi += expected * (room - len(counts))
    assert chi < room + 5 * (2 * room) ** 0.5, (chi, room, draws)


@pytest.mark.parametrize(
    ("room", "used", "epsilon"), [(40, 7, 0.1), (12, 0, 0.3), (1000, 900, 0.05)]
)
def test_a_clean_draw_of_a_bad_rule_has_a_mean_of_one_at_most(room, used, epsilon):
    least = int(epsilon * room + 1e-9) + 1
    for bad in range(least, room - used + 1):
        clean = (room - used - bad) / (room - used)
        step = gain(room, used, epsilon)
        assert clean * (exp(step) if step < 50 else 0 if clean == 0 else 1e20) <= 1 + 1e-9, bad


def family_of(members, delta=0.1, epsilon=0.3):
    space = random_case(3, 0.2).box.space
    ground = Ground.of(space)
    box = (None,) * len(ground.axes)
    room = ground.room(box)
    rules = [ValueMember(Rule(0, -1), 0, box, room, (k,)) for k in range(members)]
    return Family(0, 0, delta, rules, ground, epsilon, used=[0] * members)


def test_listing_pays_for_those_that_fail_only():
    family = family_of(6)
    family.shown[:] = np.log([10.0, 10.0, 10.0, 10.0, 10.0, 10.0])
    assert family.listed().all()  # nobody fails: 1/δ is enough
    family.shown[0] = -np.inf
    assert not family.listed().any()  # one fails: 2/δ
    family.shown[1:] = np.log(20.0)
    assert family.listed().tolist() == [False] + [True] * 5
    family.shown[:] = np.log([60.0, 50.0, 1.0, 1.0, 1.0, 1.0])
    assert family.listed().tolist() == [True, True] + [False] * 4  # 5/δ = 50
    family.shown[1] = np.log(49.0)
    assert family.listed().tolist() == [True] + [False] * 5  # 6/δ = 60


def test_least_share_is_the_bound_of_clopper_and_pearson():
    assert least_share(0, 40, 0.05) == 0
    assert least_share(40, 40, 0.05) == pytest.approx(0.05 ** (1 / 40))
    assert least_share(1, 40, 0.05) == pytest.approx(1 - 0.95 ** (1 / 40))


def test_shares_of_delta_never_add_up_to_more():
    run = SiftRun.of(random_case(3, 0.2).box.space, (), SiftOptions(delta=0.2))
    taken = [run.share(part) for part in (0.6, 0.2, 0.6, 0.5, 0.99)]
    assert sum(taken) + run.left == pytest.approx(0.2)
    assert run.left > 0
