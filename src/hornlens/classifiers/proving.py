"""`prove`: is anyone's rule true of a classifier, for every input? If not, a row that breaks it.

Of a rule that is refuted it tells whether a row like those of X breaks it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from hornlens.classifiers.nearest import Nearest, moved_to_rows, nearest_row
from hornlens.classifiers.progress import shown
from hornlens.counts import plural
from hornlens.deprecation import renamed_argument
from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import Levels, cells_at, rows_in
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import ENDED, Limits, Stopped
from hornlens.logic.scopes import Of, Scope
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Bins, bin_columns
from hornlens.targets.classifiers.boxes import box_of, never_missing
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.conditions import ParsedRule, parse_rule
from hornlens.targets.classifiers.guard import is_measured, measured_by, unlike
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.plausible import KEPT, LEAST, Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

TRIED = 20_000
"""How many random inputs are tried."""
Status = Literal["proved", "refuted", "not refuted", "vacuous"]
ProofDomain = Literal["grid", "plausible"]


@dataclass(frozen=True)
class Proof:
    """What became of a rule; true if it is proved.

    `row` is an input that breaks it, and `said` what the classifier says of it. `domain` says of
    which inputs it was to be proved: "grid" are all of them. `plausible`: whether an input that is
    like the rows of X breaks it; None where that is not known. `nearest` is the row of X that is
    most like `row`.
    """

    rule: str
    status: Status
    sentence: str
    row: Mapping[str, Any] | None = None
    said: str | None = None
    domain: ProofDomain = "grid"
    plausible: bool | None = None
    nearest: Nearest | None = None

    def __bool__(self) -> bool:
        """Say whether the rule is proved, or speaks of nothing that can be."""
        return self.status in ("proved", "vacuous")

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence


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
    background: Sequence[str] = (),
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
    domain: ProofDomain = "grid",
    plausible: Plausible | None = None,
) -> Proof:
    """Prove a rule of a classifier for every input, or find a row that breaks it.

    For ensembles of scikit-learn's trees, a rule is decided for every input. For other classifiers,
    rows of X, random inputs and the cells of a grid are tried: a row that breaks the rule refutes
    it; if there is none, the rule is "not refuted".

    Args:
        clf: A classifier, as `explain` takes it.
        rule: The rule, as text: "age < 25 & income > 100 -> approved = no".
        X: Rows as the classifier takes them. Not needed for trees over plain numbers.
        bins: How numbers are cut into levels, as in `explain`.
        n_bins: How many bins a column gets at most.
        limit: For other models than trees: up to this many cells, the whole grid is tried.
        label: What the predicted column is called in the rule.
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
            rows of X show it, if there are 200 of them.

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
    classifier = read_classifier(clf, _rows_for(clf) if X is None else X, limits)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        if meter is not None:
            meter.begin()
        options = _Options(bins, n_bins, limit, label, given, seed)
        if domain not in ("grid", "plausible"):
            raise InputError(f"domain must be grid or plausible, not {domain!r}")
        table = classifier.table
        if domain == "plausible" and plausible is None:
            plausible = Plausible.of(table, seed)
        try:
            if domain == "plausible":
                proof = _proved(clf, classifier, rule, options, meter, plausible)
                return _beside_row(proof, table)
            proof = _proved(clf, classifier, rule, options, meter)
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
                proof, lambda: _proved(clf, classifier, rule, options, meter, usual), usual
            )
            return _beside_row(proof, table)
        except Stopped:  # no call was left to look at what was found
            return _cut_off(rule, meter, "before it was decided")


class _Options(NamedTuple):
    """How to prove; see `prove`."""

    bins: Bins
    n_bins: int
    limit: int
    label: str
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
    rule: str,
    options: _Options,
    meter: Meter | None,
    plausible: Plausible | None = None,
) -> Proof:
    """Return what becomes of a rule of a classifier, for every input or every plausible one."""
    table, seed = classifier.table, options.seed
    parsed = parse_rule(rule, table.names, options.label)
    wanted = _wanted(parsed, classifier)
    assumed = Background(options.background, table.names, plausible)
    more = assumed.cuts(table, parsed.conditions)
    binning = bin_columns(clf, classifier, options.bins, options.n_bins, more)
    assumed = assumed.counted_in(binning.features, table)
    binned = Binned(classifier, binning.features, meter)
    every = box_of(parsed.conditions, binned.every)
    of = _Inputs(assumed)
    if (unseen := never_missing(parsed.conditions, binned.every)) is not None:
        but = f"no row of X has a missing {unseen}"
        return of.meant(Proof(rule, "not refuted", f"Not refuted, but not proved: {but}."))
    if every is None:
        return of.meant(Proof(rule, "vacuous", "No input meets its conditions: it says nothing."))
    box = tuple(every[place] for place in binned.telling)
    trees, forbidden = binning.trees, assumed.over(binned.every)
    tries = _Tries(rule, binned, wanted)
    is_summed = trees is not None and trees.trees.summed
    if not is_summed or plausible is not None:
        row = tries.first_row(box, forbidden)
        if row is not None:
            return of.meant(row)
    if trees is not None and is_summed:
        vote = Vote(binned, trees, None, forbidden.weighted, forbidden.most_broken)
        proof = _by_vote(rule, vote, box, wanted, of)
    else:
        proof = _by_search(tries, box, options.limit, seed, binning.exact, forbidden, of)
    return of.meant(_guarded(proof, binned, seed))


@dataclass(frozen=True)
class _Inputs:
    """The inputs for which a rule is to be proved, in words."""

    assumed: Background

    @property
    def words(self) -> str:
        """All of them."""
        plausible = self.assumed.plausible
        kept = None if plausible is None else (plausible.kept, plausible.held_out)
        of: Of = "every input" if plausible is None else "plausible"
        return Scope(of, assumed=bool(self.assumed.texts), kept=kept).inputs

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


def _guarded(proof: Proof, binned: Binned, seed: int) -> Proof:
    """Return a proof, unless the model as it was read differs from the model itself."""
    if proof.status != "proved":
        return proof
    table, meter = binned.classifier.table, binned.meter
    decide = binned.classifier.decide
    said = decide(table.columns) if meter is None else meter.measured(decide, table.columns)
    short = replace(binned, classifier=replace(binned.classifier, table=table.first(len(said))))
    rows = short.places(short.classifier.table)
    agreement = measured_by(short, rows, said, seed, meter=meter).agreement
    if is_measured(agreement):
        excluded = unlike(short)
        if not excluded:
            return proof
        but = f" (but for {' and '.join(excluded)})"
        return replace(proof, sentence=f"{proof.sentence[:-1]}{but}.")
    if not agreement.differs:
        return _cut_off(proof.rule, meter, f"and it {agreement.shares}")
    varies = f" {agreement.varying}" if agreement.varied else ""
    return Proof(
        proof.rule,
        "not refuted",
        "Not proved: it holds of the model as it was read, which does not always say what the "
        f"model itself says. It {agreement.shares}.{varies}",
    )


def _cut_off(rule: str, meter: Meter | None, known: str) -> Proof:
    """Return that nothing is proved because a limit was reached, and what is known by then."""
    reason = None if meter is None or meter.limits is None else meter.limits.reason
    early = f"the run was ended {ENDED[reason]}" if reason else "it is too hard to prove"
    return Proof(rule, "not refuted", f"Not refuted, but not proved: {early}, {known}.")


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


def _wanted(parsed: ParsedRule, classifier: Classifier) -> int:
    """Return the classes that a rule allows, as bits."""
    if parsed.label is None:
        return 0
    labels = classifier.labels
    wanted = parsed.label.strip()
    if wanted in labels:
        place = labels.index(wanted)
    else:
        folded = [label.lower() for label in labels]
        if wanted.lower() not in folded:
            known = ", ".join(labels[:8])
            raise InputError(f"there is no class {wanted!r} (there are: {known})")
        place = folded.index(wanted.lower())
    bit = 1 << place
    return ((1 << len(labels)) - 1) & ~bit if parsed.negated else bit


def _by_vote(rule: str, vote: Vote, box: Box, wanted: int, of: _Inputs) -> Proof:
    """Decide it for every input that is meant, by the trees themselves."""
    binned, classes = vote.binned, vote.binned.classifier.classes
    allowed = [place for place in range(len(classes)) if wanted >> place & 1]
    if vote.cell_in(vote.mask(box)) is None:
        return Proof(rule, "vacuous", of.none)
    if len(allowed) == 1:
        cells, status = vote.others_among([vote.mask(box)], allowed, 50 * 20_000)
        if status[0] == 1:
            return _refuted(rule, binned, cells[0])
        if status[0] == 0:
            return Proof(rule, "proved", f"Proved for {of.words}.")
        return _too_hard(rule, binned.meter)
    try:
        cell, settled = vote.any_of(vote.mask(box), ~wanted)
    except Stopped:
        return _too_hard(rule, binned.meter)
    if cell is not None:
        return _refuted(rule, binned, cell)
    if settled:
        return Proof(rule, "proved", f"Proved for {of.words}.")
    return _too_hard(rule, binned.meter)


def _too_hard(rule: str, meter: Meter | None) -> Proof:
    if meter is not None and meter.ended is not None:
        return _cut_off(rule, meter, "before the trees were searched to the end")
    return Proof(rule, "not refuted", "Not refuted, but too hard to prove.")


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
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in row.items())
    return Proof(rule, "refuted", f"Refuted: the model says {said} of {shown}.", row, said)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _by_search(
    tries: _Tries,
    box: Box,
    limit: int,
    seed: int,
    exact: bool,
    forbidden: Forbidden,
    of: _Inputs,
) -> Proof:
    """Try cells of the box, and random inputs in it, after the rows of X."""
    rule, binned = tries.rule, tries.binned
    shape = tuple(high - low + 1 for low, high in box)
    count = prod(shape)
    rng = np.random.default_rng(seed)
    lows = np.array([low for low, _ in box], dtype=np.intp)
    if count <= limit:
        cells = cells_at(np.arange(count), shape) + lows
    else:
        cells = np.column_stack([rng.integers(low, high + 1, limit) for low, high in box])
    cells = cells[forbidden.allows(cells)]
    if not len(cells):
        return Proof(rule, "vacuous", of.none)
    if (found := tries.first_other(binned.columns(cells))) is not None:
        return found
    if exact and count <= limit and not tries.cut:
        words = f" for {of.words}" if of.assumed.plausible is not None else ""
        asked = f"each of {len(cells):,} cells that it speaks of was asked"
        return Proof(rule, "proved", f"Proved{words}: {asked}.")
    some = cells[rng.integers(0, len(cells), TRIED)]
    columns = binned.columns(some)
    for axis, place in enumerate(binned.telling):
        columns[place] = binned.every[place].draw(some[:, axis], rng)
    if (found := tries.first_other(columns)) is not None:
        return found
    none = f"none of {tries.count:,} inputs that were tried breaks it"
    if tries.cut:
        return _cut_off(rule, binned.meter, f"and {none}")
    return Proof(rule, "not refuted", f"Not proved: {none}.")


class _Tries:
    """Inputs that are tried for one that breaks a rule, as many as the limits allow."""

    def __init__(self, rule: str, binned: Binned, wanted: int):
        self.rule, self.binned = rule, binned
        places = range(len(binned.classifier.classes))
        self.allowed = np.array([bool(wanted >> place & 1) for place in places])
        self.count, self.cut = 0, False

    def first_row(self, box: Box, forbidden: Forbidden) -> Proof | None:
        """Return a row of X that breaks the rule, among those of a box that occur."""
        table = self.binned.classifier.table
        rows = self.binned.places(table)
        inside = rows_in(rows, box, self.binned.axes) & forbidden.allows(rows)
        if not inside.any():
            return None
        return self.first_other([column[inside] for column in table.columns], counted=False)

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
        wrong = np.flatnonzero(~self.allowed[said])
        if not len(wrong):
            return None
        row = int(wrong[0])
        values = [column[row] for column in columns]
        return _broken_by(self.rule, self.binned, values, int(said[row]))
