"""Proofs of what moving a column never does: over trees, over a grid, or tries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.networkproofs import prover_of
from hornlens.classifiers.proofs import MeantInputs, Proof, not_finished, plain_value, too_hard
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Stopped
from hornlens.targets.classifiers.binning import Binning
from hornlens.targets.classifiers.cases import Cases
from hornlens.targets.classifiers.conditions import (
    Expression,
    OfClass,
    OfValue,
    atoms,
    conditions_in,
)
from hornlens.targets.classifiers.moving import Motion, flags_of, within
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.provers import Prover

HARD = 400_000
"""After so many pairs of boxes, a search is given up."""


def proved_motion(
    rule: str,
    motion: Motion,
    binned: Binned,
    binning: Binning,
    forbidden: Forbidden,
    says: Callable[[OfClass | OfValue], int],
    limit: int,
    seed: int,
    meant: MeantInputs,
) -> Proof:
    """Return what becomes of a rule that moving a column never turns one class into another."""
    features = {feature.name: feature for feature in binned.every}
    feature = features[motion.column]
    if motion.up is not None and not feature.is_ranged:
        raise InputError(f"column {motion.column!r} has no order: write it without up or down")
    every = (1 << len(binned.classifier.classes)) - 1
    cases = Cases(features, says, every)
    first, then = (_bits(part, cases) for part in (motion.first, motion.then))
    boxes = [case.masks(binned.features) for case in cases.of(motion.where)]
    boxes = [box for box in boxes if all(box)]
    if len(conditions_in(motion.where)) < len(list(atoms(motion.where))):
        raise InputError(f"{rule!r}: conditions behind where are about columns")
    if not boxes:
        return Proof(rule, "vacuous", "No input meets its conditions: it says nothing.")
    exact = binning.exact
    place = binned.classifier.table.names.index(motion.column)
    if place not in binned.telling:  # it has one level: nothing is moved
        if exact:
            return Proof(rule, "proved", "Proved for every input.")
        return Proof(rule, "not refuted", "Not proved: no other value was tried.")
    axis = binned.telling.index(place)
    pairs = motion.pairs(first, then, every)
    prover = prover_of(binning, binned, forbidden)
    if prover is not None:
        proof = _by_bounds(rule, prover, axis, pairs, motion.up, boxes, meant)
        is_ended = binned.meter is not None and binned.meter.ended is not None
        if binning.network is None or proof.status != "not refuted" or is_ended:
            return proof
    return _by_cells(rule, binned, axis, pairs, motion.up, boxes, forbidden, exact, limit, seed)


def _bits(expression: Expression | None, cases: Cases) -> int:
    """Return the classes that an expression names."""
    if expression is None:
        return 0
    if conditions_in(expression):
        raise InputError(f"{expression} is no class: a column turns one class into another")
    bits = 0
    for case in cases.of(expression):
        bits |= case.classes
    return bits


def _by_bounds(
    rule: str,
    prover: Prover,
    axis: int,
    pairs: Sequence[tuple[int, int]],
    up: bool | None,
    boxes: Sequence[Sequence[int]],
    meant: MeantInputs,
) -> Proof:
    is_settled = True
    for box in boxes:
        for first, then in pairs:
            try:
                status, ends = within(prover, box).moved(axis, first, then, up, HARD)
            except Stopped:
                return too_hard(rule, prover.binned.meter)
            if ends is not None:
                return _refuted(rule, prover.binned, axis, ends)
            is_settled &= status == 0
    if not is_settled:
        return too_hard(rule, prover.binned.meter)
    return Proof(rule, "proved", f"Proved for {meant.words}.")


def _by_cells(
    rule: str,
    binned: Binned,
    axis: int,
    pairs: Sequence[tuple[int, int]],
    up: bool | None,
    boxes: Sequence[Sequence[int]],
    forbidden: Forbidden,
    exact: bool,
    limit: int,
    seed: int,
) -> Proof:
    """Ask cells that differ in a feature only: all, or those of the rows of X and random ones."""
    rng, tried, whole = np.random.default_rng(seed), 0, True
    levels = np.arange(binned.features[axis].size)
    if up is not None:
        levels = levels[: binned.features[axis].known]
    for box in boxes:
        own = [np.flatnonzero(flags_of(bits)) for bits in box]
        along = np.intersect1d(own[axis], levels)
        own[axis] = np.zeros(1, dtype=np.intp)
        shape = tuple(map(len, own))
        lines = max(1, limit // max(1, len(along)))
        if prod(shape) <= lines:
            places = cells_at(np.arange(prod(shape)), shape)
        else:
            whole = False
            places = np.column_stack([rng.integers(0, size, lines // 2) for size in shape])
        cells = np.column_stack([own[at][places[:, at]] for at in range(len(own))])
        if prod(shape) > lines:
            rows = binned.places(binned.classifier.table)
            inside = np.ones(len(rows), dtype=np.bool_)
            for at, bits in enumerate(box):
                if at != axis:
                    inside &= flags_of(bits, binned.features[at].size)[rows[:, at]]
            cells = np.concatenate([rows[inside][: lines // 2], cells])
        try:
            labels = _labels(binned, cells, axis, along, forbidden)
        except Stopped:
            none = f"none of {tried:,} inputs that were tried breaks it"
            return not_finished(rule, binned.meter, f"and {none}")
        tried += int((labels >= 0).sum())
        ends = _broken(labels, pairs, up)
        if ends is not None:
            line, low, high = ends
            both = np.stack([cells[line], cells[line]])
            both[:, axis] = along[low], along[high]
            return _refuted(rule, binned, axis, (both[0], both[1]))
    if whole and exact:
        words = f"each of {tried:,} cells that it speaks of was asked"
        return Proof(rule, "proved", f"Proved: {words}.")
    none = f"none of {tried:,} inputs that were tried breaks it"
    return Proof(rule, "not refuted", f"Not proved: {none}.")


def _labels(
    binned: Binned, cells: Levels, axis: int, along: NDArray[np.intp], forbidden: Forbidden
) -> NDArray[np.intp]:
    """Return the class of each cell with each of some levels; -1 where that does not occur."""
    every = np.repeat(cells, len(along), axis=0)
    every[:, axis] = np.tile(along, len(cells))
    labels = np.full(len(every), -1, dtype=np.intp)
    allowed = forbidden.allows(every)
    labels[allowed] = binned.ask(every[allowed])
    return labels.reshape(len(cells), len(along))


def _broken(
    labels: NDArray[np.intp], pairs: Sequence[tuple[int, int]], up: bool | None
) -> tuple[int, int, int] | None:
    """Return a line of cells, and two places in it that break the rule."""
    for first, then in pairs:
        before, after = (_is_one_of(labels, classes) for classes in (first, then))
        for low in range(labels.shape[1]):
            places = np.arange(labels.shape[1])
            ways = places != low if up is None else places > low if up else places < low
            hits = before[:, low, None] & after & ways
            if hits.any():
                line, high = np.unravel_index(int(hits.argmax()), hits.shape)
                return int(line), low, int(high)
    return None


def _is_one_of(labels: NDArray[np.intp], classes: int) -> NDArray[np.bool_]:
    known = np.maximum(labels, 0)
    return np.asarray((labels >= 0) & (np.int64(classes) >> known & 1 == 1))


def _refuted(rule: str, binned: Binned, axis: int, ends: tuple[Levels, Levels]) -> Proof:
    """Return two rows that differ in one column, with what the model says of each."""
    columns = binned.columns(np.stack(ends))
    names, labels = binned.classifier.table.names, binned.classifier.labels
    said = [labels[place] for place in binned.ask(np.stack(ends)).tolist()]
    rows = [{name: _plain(c[at]) for name, c in zip(names, columns, strict=True)} for at in (0, 1)]
    name = names[binned.telling[axis]]
    rest = ", ".join(f"{n} = {plain_value(v)}" for n, v in rows[0].items() if n != name)
    where = f", where {rest}" if rest else ""
    step = f"{name} from {plain_value(rows[0][name])} to {plain_value(rows[1][name])}"
    sentence = f"Refuted: {step} turns {said[0]} into {said[1]}{where}."
    return Proof(rule, "refuted", sentence, rows[0], said[1], moved=rows[1])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
