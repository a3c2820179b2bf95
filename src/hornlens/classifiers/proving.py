"""`prove`: is anyone's rule true of a classifier, for every input? If not, a row that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hornlens.classifiers.monotone import proved_motion
from hornlens.classifiers.nearest import moved_to_rows, nearest_row, rows_moved_into
from hornlens.classifiers.networkproofs import guarded_network, in_ranges, network_levels
from hornlens.classifiers.progress import shown
from hornlens.classifiers.proofs import (
    Proof,
    ProofDomain,
    guarded,
    not_finished,
    plain_value,
    too_hard,
)
from hornlens.counts import plural
from hornlens.deprecation import renamed_argument
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Limits, Stopped
from hornlens.logic.scopes import Of, Scope
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Bins, bin_columns
from hornlens.targets.classifiers.bounding.occurring import TooHard
from hornlens.targets.classifiers.cases import Case, Cases
from hornlens.targets.classifiers.columns import Table, read_table
from hornlens.targets.classifiers.conditions import OfClass, OfValue, atoms, conditions_in
from hornlens.targets.classifiers.deciding import Banded, Bands, label_of, with_decision
from hornlens.targets.classifiers.estimators import is_called
from hornlens.targets.classifiers.grammar import Words, parse_rule
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.moving import Motion, flags_of, parse_motion
from hornlens.targets.classifiers.netproving import NetworkProver
from hornlens.targets.classifiers.plausible import KEPT, LEAST, Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.provers import Prover
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
    domain: ProofDomain = "grid",
    plausible: Plausible | None = None,
) -> Proof:
    """Prove a rule of a classifier for every input, or find a row that breaks it.

    For ensembles of trees that can be read, a rule is decided for every input; for networks of
    rectified units and linear models, for every input with numbers in the ranges of X. For others,
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
        domain: "grid": the rule is to hold for every input. "plausible": for every input that
            breaks no more of the rules of X than 99% of other rows do, as in `explain`.
        plausible: What is plausible, if it was found before (`Plausible.of(X)`). By default the
            rows of X show it, if there are 150 of them.

    Returns:
        Whether it is proved, refuted (with a row), not refuted, or vacuous. Where it is refuted,
        also whether a plausible row refutes it, and the row of X that is nearest.

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
    if named is not None or is_called(clf, "regressor"):
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
        asked, table = _Asked(rule, words, says), classifier.table
        if domain not in ("grid", "plausible"):
            raise InputError(f"domain must be grid or plausible, not {domain!r}")
        if domain == "plausible" and plausible is None:
            plausible = Plausible.of(table, seed)
        try:
            if domain == "plausible":
                proof = _proved(clf, classifier, asked, options, meter, plausible)
                return _beside_row(proof, table)
            proof = _proved(clf, classifier, asked, options, meter)
            if proof.status != "refuted":
                return proof
            if X is None:
                return _not_told(proof, "whether a row like yours breaks it takes rows to tell")
            if plausible is None and len(table) < LEAST:
                few = f"{plural(len(table), 'row')} of {LEAST} that it takes to tell"
                beside = _beside_row(proof, table)
                if beside.nearest is not None and not beside.nearest.differs:
                    return beside  # it does occur
                return _not_told(beside, f"X has {few} whether such an input can occur")
            usual = plausible or Plausible.of(table, seed)
            proof = _told_apart(
                proof, lambda: _proved(clf, classifier, asked, options, meter, usual), usual
            )
            return _beside_row(proof, table)
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


def _beside_row(proof: Proof, table: Table) -> Proof:
    """Return a proof with the row of X that is nearest to the one that breaks the rule."""
    if proof.row is None:
        return proof
    nearest = nearest_row(table, list(proof.row.values()))
    return replace(proof, sentence=f"{proof.sentence} {nearest.sentence}", nearest=nearest)


def _not_told(proof: Proof, why: str) -> Proof:
    """Return a refuted rule of which it is not known whether a row like those of X breaks it."""
    return replace(proof, sentence=f"{proof.sentence} {why[0].upper()}{why[1:]}.")


def _told_apart(proof: Proof, again: Callable[[], Proof], plausible: Plausible) -> Proof:
    """Return a refuted rule with what is known of it for plausible inputs; `again` proves it there.

    A plausible row that breaks it takes the place of another one.
    """
    try:
        among = again()
    except Stopped:
        among = Proof(proof.rule, "not refuted", "")
    if among.status == "refuted":
        return replace(among, domain=proof.domain)
    if among.status == "not refuted":
        return _not_told(proof, "whether a row like yours breaks it is not known")
    most = f"{KEPT:.0%}" if plausible.held_out else "most"
    only = f"Refuted only by inputs unlike {most} of your rows:"
    sentence = proof.sentence.replace("Refuted:", only, 1)
    return replace(proof, sentence=sentence, plausible=False)


def _proved(
    clf: Any,
    classifier: Classifier,
    asked: _Asked,
    options: _Options,
    meter: Meter | None,
    plausible: Plausible | None = None,
) -> Proof:
    """Return what becomes of a rule of a classifier, for every input or every plausible one."""
    table, seed, rule = classifier.table, options.seed, asked.rule
    motion = parse_motion(rule, asked.words)
    if motion is not None:
        return _motion_proved(clf, classifier, asked, motion, options, meter, plausible)
    parsed = parse_rule(rule, asked.words)
    assumed = Background(options.background, table.names, plausible)
    conditions = conditions_in(parsed.given, parsed.follows)
    more = assumed.cuts(table, conditions)
    looked_into = None
    if options.bins == "auto" and plausible is None:
        looked_into = network_levels(clf, classifier, more)
    if looked_into is not None:
        network, binning = looked_into
    else:
        network, given = None, (options.bins, options.n_bins, more)
        binning = bin_columns(clf, classifier, *given, meter, options.seed)
    assumed = assumed.counted_in(binning.features, table)
    binned = Binned(classifier, binning.features, meter)
    meant = _Inputs(assumed)
    of = {feature.name: feature for feature in binned.every}
    cases = Cases(of, asked.says, (1 << len(classifier.classes)) - 1)
    exceptions = _boxes(cases.of(parsed.exceptions), binned)
    unseen, is_met = list(cases.unseen), _boxes(cases.of(parsed.given), binned)
    if not is_met and not unseen:
        nothing = Proof(rule, "vacuous", "No input meets its conditions: it says nothing.")
        return meant.meant(nothing)
    trees, forbidden = binning.trees, assumed.over(binned.every)
    search = _Search(rule, binned, options.limit, seed, binning.exact, forbidden, meant)
    if trees is not None and trees.trees.summed:
        vote = Vote(binned, forbidden.weighted, forbidden.most_broken, trees)
        row = None if plausible is None else search.first_row(exceptions)
        proof = _by_vote(rule, vote, is_met, exceptions, meant) if row is None else row
    else:
        proof = search.decided(is_met, exceptions)
    by_network = network is not None and proof.status == "not refuted"
    if network is not None and by_network:
        of_network = replace(meant, ranges=in_ranges(binned))
        prover = NetworkProver(binned, forbidden.weighted, forbidden.most_broken, network)
        proof = _by_vote(rule, prover, is_met, exceptions, of_network)
    if proof and unseen:
        but = f"no row of X has a missing {unseen[0]}"
        return meant.meant(Proof(rule, "not refuted", f"Not refuted, but not proved: {but}."))
    if network is not None and by_network:
        return guarded_network(proof, network, binned, seed)
    return meant.meant(guarded(proof, binned, seed))


@dataclass(frozen=True)
class _Inputs:
    """The inputs for which a rule is to be proved, in words."""

    assumed: Background
    ranges: str = ""
    """Which numbers are meant, if not all."""

    @property
    def words(self) -> str:
        """All of them."""
        plausible = self.assumed.plausible
        kept = None if plausible is None else (plausible.kept, plausible.held_out)
        of: Of = "every input" if plausible is None else "plausible"
        every = Scope(of, assumed=bool(self.assumed.texts), kept=kept).inputs
        return f"{every}{self.ranges}"

    @property
    def none(self) -> str:
        """That there is none that meets a rule's conditions."""
        if self.assumed.plausible is None:
            return "The background allows no input that meets its conditions."
        return "No plausible input meets its conditions."

    def meant(self, proof: Proof) -> Proof:
        """Return a proof that says of which inputs it is."""
        if self.assumed.plausible is None:
            return proof
        sentence, is_refuted = proof.sentence, proof.status == "refuted"
        if is_refuted:
            sentence = sentence.replace("Refuted:", "Refuted by a row like yours:", 1)
        return replace(proof, sentence=sentence, domain="plausible", plausible=is_refuted or None)


def _motion_proved(
    clf: Any,
    classifier: Classifier,
    asked: _Asked,
    motion: Motion,
    options: _Options,
    meter: Meter | None,
    plausible: Plausible | None,
) -> Proof:
    """Return what becomes of a rule about moving a column."""
    table = classifier.table
    assumed = Background(options.background, table.names, plausible)
    more = assumed.cuts(table, conditions_in(motion.where))
    binning = bin_columns(clf, classifier, options.bins, options.n_bins, more, meter, options.seed)
    assumed = assumed.counted_in(binning.features, table)
    binned = Binned(classifier, binning.features, meter)
    forbidden = assumed.over(binned.every)
    proof = proved_motion(
        *(asked.rule, motion, binned, binning, forbidden, asked.says),
        *(options.limit, options.seed),
    )
    return _Inputs(assumed).meant(guarded(proof, binned, options.seed))


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
    rule: str, vote: Prover, is_met: Sequence[Region], exceptions: Sequence[Region], of: _Inputs
) -> Proof:
    """Decide it for every input that is meant, by the model itself: each case by itself."""
    binned, lead, is_settled = vote.binned, "", True
    every = (1 << len(binned.classifier.classes)) - 1
    with suppress(TooHard, Stopped):  # the proof does without
        if all(vote.cell_in(one.levels) is None for one in is_met):
            return Proof(rule, "vacuous", of.none)
    for levels, classes in exceptions:
        allowed = every & ~classes
        try:
            if allowed and not allowed & (allowed - 1):
                place = allowed.bit_length() - 1
                outcomes = vote.outcomes([levels], [place], HARD)
                status = outcomes.status[0]
                cell, settled = (outcomes.cells[0] if status == 1 else None), status == 0
                if status == -1:
                    lead = vote.in_words(float(outcomes.leads[0]), place)
            else:
                cell, settled = vote.any_of(levels, classes, HARD)
        except Stopped:
            return too_hard(rule, binned.meter)
        if cell is not None:
            return _refuted(rule, binned, cell)
        is_settled &= bool(settled)
    if not is_settled:
        return too_hard(rule, binned.meter, lead)
    return Proof(rule, "proved", f"Proved for {of.words}.")


def _refuted(rule: str, binned: Binned, cell: Levels) -> Proof:
    columns, decide = binned.columns(cell[None, :]), binned.classifier.decide
    place = int(decide(columns)[0])
    near = moved_to_rows(binned, cell)
    with suppress(Stopped):  # then it stays the point of the cell
        if int(decide(near)[0]) == place:
            columns = near
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
    of: _Inputs

    def first_row(self, exceptions: Sequence[Region]) -> Proof | None:
        """Return a row of X that breaks the rule, or one that does so when it is changed a little.

        Only rows that occur are returned; a row is changed in the columns that the rule asks about.
        """
        tries = _Tries(self.rule, self.binned)
        for look in (self._row_in, self._moved_into):
            for levels, classes in exceptions:
                tries.wanted(classes)
                if (proof := look(levels, tries)) is not None:
                    return proof
        return None

    def _moved_into(self, levels: Sequence[int], tries: _Tries) -> Proof | None:
        rng = np.random.default_rng(self.seed)
        cells, columns = rows_moved_into(self.binned, levels, rng)
        occur = self.forbidden.allows(cells)
        return tries.first_other([column[occur] for column in columns]) if occur.any() else None

    def _row_in(self, levels: Sequence[int], tries: _Tries) -> Proof | None:
        binned, table = self.binned, self.binned.classifier.table
        rows = binned.places(table)
        inside = self.forbidden.allows(rows)
        for axis, bits in enumerate(levels):
            inside &= flags_of(bits, binned.features[axis].size)[rows[:, axis]]
        if not inside.any():
            return None
        return tries.first_other([column[inside] for column in table.columns], counted=False)

    def decided(self, is_met: Sequence[Region], exceptions: Sequence[Region]) -> Proof:
        """Return what becomes of the rule: the first case that is refuted refutes it."""
        tries = _Tries(self.rule, self.binned)
        if not any(self._occurs(levels) for levels, _ in is_met):
            return Proof(self.rule, "vacuous", self.of.none)
        asked = 0
        for levels, classes in exceptions:
            tries.wanted(classes)
            proof, count = self._in_box(levels, tries)
            if proof is not None:
                return proof
            asked = -1 if count is None or asked < 0 else asked + count
        if asked >= 0:
            words = f"each of {asked:,} cells that it speaks of was asked"
            meant = f" for {self.of.words}" if self.of.assumed.plausible is not None else ""
            return Proof(self.rule, "proved", f"Proved{meant}: {words}.")
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
        binned = self.binned
        rng = np.random.default_rng(self.seed)
        if (row := self._row_in(levels, tries)) is not None:
            return row, None
        is_plausible = self.of.assumed.plausible is not None
        if is_plausible and (row := self._moved_into(levels, tries)) is not None:
            return row, None
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
