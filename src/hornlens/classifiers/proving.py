"""`prove`: is anyone's rule true of a classifier, for every input? If not, a row that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hornlens.classifiers.monotone import proved_motion
from hornlens.classifiers.progress import shown
from hornlens.classifiers.proofs import Proof, guarded, not_finished, plain_value, too_hard
from hornlens.deprecation import renamed_argument
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Limits, Stopped
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Bins, bin_columns
from hornlens.targets.classifiers.cases import Case, Cases
from hornlens.targets.classifiers.columns import read_table
from hornlens.targets.classifiers.conditions import OfClass, OfValue, atoms, conditions_in
from hornlens.targets.classifiers.deciding import (
    Banded,
    Bands,
    is_regressor,
    label_of,
    with_decision,
)
from hornlens.targets.classifiers.grammar import Words, parse_rule
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.moving import Motion, flags_of, parse_motion
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

TRIED = 20_000
"""How many random inputs are tried."""
HARD = 1_000_000
"""After so many boxes, the search for one case is given up."""


@renamed_argument("target", "label", since="0.3", removal="0.5")
def prove(
    clf: Any,
    rule: str,
    X: Any = None,  # noqa: N803
    *,
    bins: Bins = "auto",
    n_bins: int = 4,
    limit: int = 200_000,
    label: str = "class",
    threshold: float | None = None,
    bands: Bands | None = None,
    background: Sequence[str] = (),
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
) -> Proof:
    """Prove a rule of a classifier for every input, or find a row that breaks it.

    For ensembles of scikit-learn's trees, a rule is decided for every input. For other classifiers,
    rows of X, random inputs and the cells of a grid are tried: a row that breaks the rule refutes
    it; if there is none, the rule is "not refuted".

    Args:
        clf: A classifier, as `explain` takes it.
        rule: The rule, as text: "age < 25 & income > 100 -> approved = no"; or what moving a column
            never does: "income up never turns yes into no where age < 30", "race never changes the
            class".
        X: Rows as the classifier takes them. Not needed for trees over plain numbers.
        bins: How numbers are cut into levels, as in `explain`.
        n_bins: How many bins a column gets at most.
        limit: For other models than trees: up to this many cells, the whole grid is tried.
        label: What the predicted column is called in the rule.
        threshold: The score from which on the second class is said, as in `explain`.
        bands: The bands of a regressor's predictions, as in `explain`. Rules may also compare the
            prediction itself: "rooms > 5 -> price > 300000", with `label="price"`.
        background: Rules that always hold ("pregnant -> sex = female"): inputs that break one do
            not occur.
        seed: The seed of the random inputs.
        limits: What may end it early, by time or questions (cells and random inputs; rows of X do
            not count), or by calls (every row that the model is given; `limits.calls` counts
            them). What is neither proved nor refuted by then is "not refuted".
        progress: True shows a progress bar, in a terminal or a notebook; a function is called with
            the number of inputs that were put to the model, each time.

    Returns:
        Whether it is proved, refuted (with a row), not refuted, or vacuous.

    Raises:
        InputError: if the rule cannot be read, or rows are needed.

    >>> from hornlens import prove
    >>> prove(lambda rows: rows[:, 0] > 2, "x0 > 3 -> True", [[1.0], [4.0]]).status
    'not refuted'
    """
    if not isinstance(rule, str):
        raise InputError(f"a rule is a text, not {type(rule).__name__}")
    given = (background,) if isinstance(background, str) else tuple(background)
    rows = _rows_for(clf) if X is None else X
    clf = with_decision(clf, threshold, bands, label)
    named = clf if isinstance(clf, Banded) else None
    if named is not None or is_regressor(clf):
        clf = _with_bands_of(rule, clf if named is None else named.estimator, rows, label, named)
    classifier = read_classifier(clf, rows, limits)
    words = _words(classifier, clf, label, named)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        if meter is not None:
            meter.begin()
        options = _Options(bins, n_bins, limit, given, seed)
        says = classifier.bits_of
        if isinstance(clf, Banded):
            says = partial(clf.bits_of, bands=named)
        try:
            return _proved(clf, classifier, _Asked(rule, words, says), options, meter)
        except Stopped:  # no call was left to look at what was found
            return not_finished(rule, meter, "before it was decided")


def _with_bands_of(
    rule: str, regressor: Any, rows: Any, label: str, named: Banded | None
) -> Banded:
    """Return a regressor with the bands that a rule asks for, beside those that it has."""
    columns = getattr(regressor, "feature_names_in_", None)
    table = read_table(rows, None if columns is None else list(map(str, columns)))
    labels = () if named is None else named.names
    words = Words.of(table, labels, label_of(label), numbers=True)
    if parse_motion(rule, words) is not None:
        if named is None:
            raise InputError(f"{rule!r} needs bands: bands=[…], where one ends and the next begins")
        return named
    parsed = parse_rule(rule, words)
    every = (*atoms(parsed.given), *atoms(parsed.follows))
    compared = [atom.condition for atom in every if isinstance(atom, OfValue)]
    if named is not None and not compared:
        return named
    return Banded.asked_by(regressor, compared, label_of(label), named)


def _words(classifier: Classifier, clf: Any, label: str, named: Banded | None) -> Words:
    if not isinstance(clf, Banded):
        return Words.of(classifier.table, classifier.labels, label)
    labels = () if named is None else named.names
    return Words.of(classifier.table, labels, label_of(label), numbers=True)


class _Asked(NamedTuple):
    """A rule as text, the names that it may hold, and which classes it names."""

    rule: str
    words: Words
    says: Callable[[OfClass | OfValue], int]


class Region(NamedTuple):
    """Cells of some levels (bits) of each feature that are of one of some classes (bits)."""

    levels: tuple[int, ...]
    classes: int


class _Options(NamedTuple):
    """How to prove; see `prove`."""

    bins: Bins
    n_bins: int
    limit: int
    background: tuple[str, ...]
    seed: int


def _proved(
    clf: Any, classifier: Classifier, asked: _Asked, options: _Options, meter: Meter | None
) -> Proof:
    """Return what becomes of a rule of a classifier that was read."""
    table, seed, rule = classifier.table, options.seed, asked.rule
    motion = parse_motion(rule, asked.words)
    if motion is not None:
        return _motion_proved(clf, classifier, asked, motion, options, meter)
    parsed = parse_rule(rule, asked.words)
    assumed = Background(options.background, table.names)
    conditions = conditions_in(parsed.given, parsed.follows)
    binning = bin_columns(
        clf, classifier, options.bins, options.n_bins, assumed.cuts(table, conditions)
    )
    binned = Binned(classifier, binning.features, meter)
    of = {feature.name: feature for feature in binned.every}
    cases = Cases(of, asked.says, (1 << len(classifier.classes)) - 1)
    exceptions = _boxes(cases.of(parsed.exceptions), binned)
    unseen, is_met = list(cases.unseen), _boxes(cases.of(parsed.given), binned)
    if not is_met and not unseen:
        return Proof(rule, "vacuous", "No input meets its conditions: it says nothing.")
    trees, forbidden = binning.trees, assumed.over(binned.every)
    if trees is not None and trees.trees.summed:
        vote = Vote(binned, trees, None, forbidden.boxes)
        proof = _by_vote(rule, vote, is_met, exceptions)
    else:
        search = _Search(rule, binned, options.limit, seed, binning.exact, forbidden)
        proof = search.decided(is_met, exceptions)
    if proof and unseen:
        but = f"no row of X has a missing {unseen[0]}"
        return Proof(rule, "not refuted", f"Not refuted, but not proved: {but}.")
    return guarded(proof, binned, seed)


def _motion_proved(
    clf: Any,
    classifier: Classifier,
    asked: _Asked,
    motion: Motion,
    options: _Options,
    meter: Meter | None,
) -> Proof:
    """Return what becomes of a rule about moving a column."""
    table = classifier.table
    assumed = Background(options.background, table.names)
    more = assumed.cuts(table, conditions_in(motion.where))
    binning = bin_columns(clf, classifier, options.bins, options.n_bins, more)
    binned = Binned(classifier, binning.features, meter)
    forbidden = assumed.over(binned.every)
    proof = proved_motion(
        *(asked.rule, motion, binned, binning, forbidden, asked.says),
        *(options.limit, options.seed),
    )
    return guarded(proof, binned, options.seed)


def _boxes(cases: Sequence[Case], binned: Binned) -> list[Region]:
    """Return cases as sets of levels of the features that have several."""
    boxes = []
    for case in cases:
        if all(case.levels(feature).any() for feature in binned.every):
            boxes.append(Region(tuple(case.masks(binned.features)), case.classes))
    return boxes


def _rows_for(clf: Any) -> Any:
    """Return a row of zeros, for a model of numbers that needs no more to be read."""
    count = getattr(clf, "n_features_in_", None)
    names = getattr(clf, "feature_names_in_", None)
    if count is None:
        raise InputError("prove needs rows: prove(clf, rule, X)")
    if names is None:
        return np.zeros((1, count))
    from hornlens.targets.classifiers.columns import Table

    columns = tuple(np.zeros(1) for _ in range(count))
    return Table(
        tuple(map(str, names)),
        columns,
        ("number",) * count,
        ((),) * count,
        _named_rows(list(map(str, names))),
    )


def _named_rows(names: Sequence[str]) -> Any:
    """Return what makes rows with names, if pandas is there; else the model warns, and goes on."""

    def rebuild(columns: Sequence[Any]) -> Any:
        try:
            import pandas
        except ImportError:
            return np.column_stack(columns)
        return pandas.DataFrame(dict(zip(names, columns, strict=True)), columns=list(names))

    return rebuild


def _by_vote(
    rule: str, vote: Vote, is_met: Sequence[Region], exceptions: Sequence[Region]
) -> Proof:
    """Decide it for every input, by the trees themselves: each case by itself."""
    binned = vote.binned
    every = (1 << len(binned.classifier.classes)) - 1
    if all(vote.cell_in(one.levels) is None for one in is_met):
        return Proof(rule, "vacuous", "The background allows no input that meets its conditions.")
    is_settled = True
    for levels, classes in exceptions:
        allowed = every & ~classes
        try:
            if allowed and not allowed & (allowed - 1):
                place = allowed.bit_length() - 1
                cells, status = vote.others_among([levels], [place], HARD)
                cell, settled = (cells[0] if status[0] == 1 else None), status[0] == 0
            else:
                cell, settled = vote.any_of(levels, classes)
        except Stopped:
            return too_hard(rule, binned.meter)
        if cell is not None:
            return _refuted(rule, binned, cell)
        is_settled &= bool(settled)
    if not is_settled:
        return too_hard(rule, binned.meter)
    of = "for every input" + (" that the background allows" if vote.forbidden else "")
    return Proof(rule, "proved", f"Proved {of}.")


def _refuted(rule: str, binned: Binned, cell: Levels) -> Proof:
    columns = binned.columns(cell[None, :])
    place = int(binned.classifier.decide(columns)[0])
    return _broken_by(rule, binned, [column[0] for column in columns], place)


def _broken_by(rule: str, binned: Binned, values: Sequence[Any], place: int) -> Proof:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    row = dict(zip(binned.classifier.table.names, plain, strict=True))
    said = binned.classifier.labels[place]
    shown = ", ".join(f"{name} = {plain_value(value)}" for name, value in row.items())
    return Proof(rule, "refuted", f"Refuted: the model says {said} of {shown}.", row, said)


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows of X, cells and random inputs that are tried, where no trees can be looked into."""

    rule: str
    binned: Binned
    limit: int
    seed: int
    exact: bool
    forbidden: Forbidden

    def decided(self, is_met: Sequence[Region], exceptions: Sequence[Region]) -> Proof:
        """Return what becomes of the rule: the first case that is refuted refutes it."""
        tries = _Tries(self.rule, self.binned)
        if not any(self._occurs(levels) for levels, _ in is_met):
            text = "The background allows no input that meets its conditions."
            return Proof(self.rule, "vacuous", text)
        asked = 0
        for levels, classes in exceptions:
            tries.wanted(classes)
            proof, count = self._in_box(levels, tries)
            if proof is not None:
                return proof
            asked = -1 if count is None or asked < 0 else asked + count
        if asked >= 0:
            words = f"each of {asked:,} cells that it speaks of was asked"
            return Proof(self.rule, "proved", f"Proved: {words}.")
        none = f"none of {tries.count:,} inputs that were tried breaks it"
        if tries.cut:
            return not_finished(self.rule, self.binned.meter, f"and {none}")
        return Proof(self.rule, "not refuted", f"Not proved: {none}.")

    def _occurs(self, levels: Sequence[int]) -> bool:
        return not self.forbidden.boxes or len(self._cells(levels)) > 0

    def _cells(self, levels: Sequence[int]) -> Levels:
        """Return all cells of a box that occur, or as many random ones as the limit is."""
        own = [
            np.flatnonzero([bits >> at & 1 for at in range(bits.bit_length())]) for bits in levels
        ]
        shape, rng = tuple(map(len, own)), np.random.default_rng(self.seed)
        if prod(shape) <= self.limit:
            places = cells_at(np.arange(prod(shape)), shape)
        else:
            places = np.column_stack([rng.integers(0, size, self.limit) for size in shape])
        if not own:
            return places
        cells = np.column_stack([own[axis][places[:, axis]] for axis in range(len(own))])
        return cells[self.forbidden.allows(cells)]

    def _in_box(self, levels: Sequence[int], tries: _Tries) -> tuple[Proof | None, int | None]:
        """Return an input of a box that breaks the rule, and how many cells were all to ask."""
        binned, table = self.binned, self.binned.classifier.table
        rng = np.random.default_rng(self.seed)
        rows = binned.places(table)
        inside = self.forbidden.allows(rows)
        for axis, bits in enumerate(levels):
            inside &= flags_of(bits, binned.features[axis].size)[rows[:, axis]]
        if inside.any():
            columns = [column[inside] for column in table.columns]
            if (proof := tries.first_other(columns, counted=False)) is not None:
                return proof, None
        cells = self._cells(levels)
        if not len(cells):
            return None, 0
        if (proof := tries.first_other(binned.columns(cells))) is not None:
            return proof, None
        if self.exact and prod(bits.bit_count() for bits in levels) <= self.limit and not tries.cut:
            return None, len(cells)
        some = cells[rng.integers(0, len(cells), TRIED)]
        columns = binned.columns(some)
        for axis, place in enumerate(binned.telling):
            columns[place] = binned.every[place].draw(some[:, axis], rng)
        return tries.first_other(columns), None


class _Tries:
    """Inputs that are tried for one that breaks a rule, as many as the limits allow."""

    def __init__(self, rule: str, binned: Binned):
        self.rule, self.binned = rule, binned
        self.count, self.cut = 0, False
        self.wanted(0)

    def wanted(self, classes: int) -> None:
        """Look for inputs of these classes (bits)."""
        self.breaking = flags_of(classes, len(self.binned.classifier.classes))

    def first_other(self, columns: Sequence[Any], counted: bool = True) -> Proof | None:
        """Return an input that breaks the rule, if there is one among those that are asked."""
        if self.cut:
            return None
        meter, decide = self.binned.meter, self.binned.classifier.decide
        if meter is None:
            said = decide(columns)
        elif counted:
            said = meter.answers(decide, columns)
        else:
            said = meter.measured(decide, columns, grace=False)
        self.count += len(said)
        self.cut = len(said) < len(columns[0])
        wrong = np.flatnonzero(self.breaking[said])
        if not len(wrong):
            return None
        row = int(wrong[0])
        values = [column[row] for column in columns]
        return _broken_by(self.rule, self.binned, values, int(said[row]))
