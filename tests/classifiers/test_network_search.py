"""The search for cells of boxes in networks, held against all of their cells."""

import numpy as np
import pytest

from hornlens.limits import Stopped
from hornlens.targets.classifiers.bounding.networks import NetworkSearch, NetworkTables
from hornlens.targets.classifiers.bounding.occurring import Occurrence
from hornlens.targets.classifiers.bounding.stacks import Intervals
from tests.network_cases import drawn_boxes, drawn_network, every_cell, inside

BOXES = 20


def searched(seed, patience=20_000, check=lambda: None):
    """Return what becomes of random boxes, and what is so."""
    rng = np.random.default_rng(seed)
    network = drawn_network(rng)
    cells, sizes = every_cell(network), network.sizes.tolist()
    forbidden = [
        [
            int(rng.integers(1, 1 << size)) if rng.random() < 0.6 else (1 << size) - 1
            for size in sizes
        ]
        for _ in range(int(rng.choice([0, 0, 2])))
    ]
    occurring = Occurrence(forbidden, sizes, 0)
    said = (network.at(cells) > 0).all(axis=1) & occurring.occur(cells)

    def confirm(low, high):
        cell = occurring.cell_in(low, high)
        return cell if cell is not None and (network.at(cell[None]) > 0).all() else None

    tables = NetworkTables(network, 2.0**-53)
    search = NetworkSearch(tables, occurring, tables.tolerance, confirm, check, patience)
    lows, highs = drawn_boxes(rng, network.sizes, BOXES)
    verdicts = search.run(Intervals(lows, highs, np.arange(BOXES)), BOXES)
    return network, cells, said, occurring.occur(cells), (lows, highs), verdicts


@pytest.mark.parametrize("seed", range(160))
def test_what_is_said_of_boxes_is_so(seed):
    network, cells, said, occur, boxes, verdicts = searched(seed)
    early = searched(seed, 0)[-1]
    for box, (low, high) in enumerate(zip(*boxes, strict=True)):
        own, case = inside(cells, low, high), (seed, box)
        assert verdicts.status[box] == int((said & own).any()), case
        assert early.status[box] in (-1, verdicts.status[box]), case
        if verdicts.status[box] == 1:
            assert (said & own & (cells == verdicts.cells[box]).all(axis=1)).any(), case
        if (own & occur).any():
            most = network.at(cells[own & occur]).min(axis=1).max()
            assert most <= verdicts.bounds[box] + 1e-6, case
            assert most <= early.bounds[box] + 1e-6, case


def test_a_limit_leaves_boxes_open():
    def check():
        raise Stopped("time_limit")

    verdicts = searched(7, check=check)[-1]
    assert (verdicts.status == -1).all() and verdicts.stopped is not None
    assert np.isinf(verdicts.bounds).all()
