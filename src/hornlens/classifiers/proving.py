"""`prove`: is anyone's rule true of a classifier, for every input? If not, a row that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hornlens.classifiers.counterexamples import CounterexampleSearch, Region, refuted
from hornlens.classifiers.monotone import proved_motion
from hornlens.classifiers.nearest import nearest_row
from hornlens.classifiers.networkproofs import guarded_proof, in_ranges, network_levels, prover_of
from hornlens.classifiers.progress import shown
from hornlens.classifiers.proofs import (
    MeantInputs,
    Proof,
    ProofDomain,
    not_finished,
    too_hard,
)
from hornlens.counts import plural
from hornlens.deprecation import renamed_argument
from hornlens.errors import InputError
from hornlens.limits import Limits, Stopped
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning, Bins
from hornlens.targets.classifiers.bounding.occurring import TooHard
from hornlens.targets.classifiers.cases import Case, Cases
from hornlens.targets.classifiers.columns import Table, read_table
from hornlens.targets.classifiers.conditions import OfClass, OfValue, atoms, conditions_in
from hornlens.targets.classifiers.deciding import Banded, Bands, label_of, with_decision
from hornlens.targets.classifiers.estimators import is_called
from hornlens.targets.classifiers.grammar import Words, parse_rule
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.moving import Motion, parse_motion
from hornlens.targets.classifiers.options import QuestionOptions
from hornlens.targets.classifiers.plausible import KEPT, LEAST, Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.provers import Prover

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
    rows = _rows_for(clf) if X is None else X
    clf = with_decision(clf, threshold, bands, label)
    named = clf if isinstance(clf, Banded) else None
    if named is not None or is_called(clf, "regressor"):
        clf = _with_bands_of(rule, clf if named is None else named.estimator, rows, label, named)
    options = QuestionOptions.of(bins, n_bins, limit, background, seed)
    classifier = read_classifier(clf, rows, limits)
    words = _words(classifier, clf, label, named)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        if meter is not None:
            meter.begin()
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
    options: QuestionOptions,
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
    binning = _levels(clf, classifier, options, more, meter, plausible)
    assumed = assumed.counted_in(binning.features, table)
    binned = Binned(classifier, binning.features, meter)
    meant = MeantInputs(assumed, in_ranges(binning, binned))
    of = {feature.name: feature for feature in binned.every}
    cases = Cases(of, asked.says, (1 << len(classifier.classes)) - 1)
    exceptions = _boxes(cases.of(parsed.exceptions), binned)
    unseen, is_met = list(cases.unseen), _boxes(cases.of(parsed.given), binned)
    if not is_met and not unseen:
        nothing = Proof(rule, "vacuous", "No input meets its conditions: it says nothing.")
        return meant.meant(nothing)
    forbidden = assumed.over(binned.every)
    prover = prover_of(binning, binned, forbidden)
    search = CounterexampleSearch(
        rule, binned, options.limit, seed, binning.exact, forbidden, meant
    )
    tried = None
    if prover is None or binning.network is not None:
        tried = search.decided(is_met, exceptions)
    elif plausible is not None:
        tried = search.first_row(exceptions)
    if tried is not None and (prover is None or tried.status != "not refuted"):
        proof = tried
    else:
        assert prover is not None
        proof = _by_bounds(rule, prover, is_met, exceptions, meant)
    if proof and unseen:
        but = f"no row of X has a missing {unseen[0]}"
        return meant.meant(Proof(rule, "not refuted", f"Not refuted, but not proved: {but}."))
    return meant.meant(guarded_proof(proof, binning, binned, seed))


def _levels(
    clf: Any,
    classifier: Classifier,
    options: QuestionOptions,
    more: Mapping[str, Cuts],
    meter: Meter | None,
    plausible: Plausible | None,
) -> Binning:
    """Return the columns in levels: those over which a network is bounded, if it has one."""
    if options.bins == "auto" and plausible is None:
        levels = network_levels(clf, classifier, more)
        if levels is not None:
            return levels
    return options.binning(clf, classifier, more, meter)


def _motion_proved(
    clf: Any,
    classifier: Classifier,
    asked: _Asked,
    motion: Motion,
    options: QuestionOptions,
    meter: Meter | None,
    plausible: Plausible | None,
) -> Proof:
    """Return what becomes of a rule about moving a column."""
    table = classifier.table
    assumed = Background(options.background, table.names, plausible)
    more = assumed.cuts(table, conditions_in(motion.where))
    binning = _levels(clf, classifier, options, more, meter, plausible)
    assumed = assumed.counted_in(binning.features, table)
    binned = Binned(classifier, binning.features, meter)
    forbidden = assumed.over(binned.every)
    meant = MeantInputs(assumed, in_ranges(binning, binned))
    proof = proved_motion(
        *(asked.rule, motion, binned, binning, forbidden, asked.says),
        *(options.limit, options.seed, meant),
    )
    return meant.meant(guarded_proof(proof, binning, binned, options.seed))


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


def _by_bounds(
    rule: str,
    prover: Prover,
    is_met: Sequence[Region],
    exceptions: Sequence[Region],
    of: MeantInputs,
) -> Proof:
    """Decide it for every input that is meant, by the model itself: each case by itself."""
    binned, lead, is_settled = prover.binned, "", True
    every = (1 << len(binned.classifier.classes)) - 1
    with suppress(TooHard, Stopped):  # the proof does without
        if all(prover.cell_in(one.levels) is None for one in is_met):
            return Proof(rule, "vacuous", of.none)
    for levels, classes in exceptions:
        allowed = every & ~classes
        try:
            if allowed and not allowed & (allowed - 1):
                place = allowed.bit_length() - 1
                outcomes = prover.outcomes([levels], [place], HARD)
                status = outcomes.status[0]
                cell, settled = (outcomes.cells[0] if status == 1 else None), status == 0
                if status == -1:
                    lead = prover.in_words(float(outcomes.leads[0]), place)
            else:
                cell, settled = prover.any_of(levels, classes, HARD)
        except Stopped:
            return too_hard(rule, binned.meter)
        if cell is not None:
            return refuted(rule, binned, cell)
        is_settled &= bool(settled)
    if not is_settled:
        return too_hard(rule, binned.meter, lead)
    return Proof(rule, "proved", f"Proved for {of.words}.")
