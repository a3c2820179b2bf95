"""Exact envelopes of what one can look into: formulas and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from hornlens.errors import InputError
from hornlens.exact.clarified import Clarified
from hornlens.exact.columns import Columns
from hornlens.exact.concepts import intersections
from hornlens.exact.engine import Progress, ProvedRules, run
from hornlens.exact.exclusive_columns import Groups, GroupsEngine
from hornlens.exact.grid import GridEngine, LabelledSpace, labels_of_positives
from hornlens.exact.implicates import ImplicateSearch
from hornlens.exact.occurring import COUNT_LIMIT, Occurring
from hornlens.exact.premises import PremiseSearch
from hornlens.exact.sat import outside
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource
from hornlens.limits import Limits
from hornlens.logic.batch import obeys, unpack
from hornlens.logic.certificates import bounded
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory

GRID_LIMIT = 1 << 20
"""Up to so many interpretations are labelled whole: no search is faster."""
SMALL_GRID, POINTS_A_ROW = 1 << 18, 4_000
"""Measured on random tables: a grid that is larger, with more points for each row, takes longer
than the search for premises."""
MOST_COLUMNS = 2_000
"""A basis may have as many rules as there are columns, each with nearly all of them."""
FAR = 1 / 3
"""Measured on random formulas: from such a share of non-Horn clauses on, the implicates are as fast
or faster, and the more so the more rules there are; near Horn their number explodes."""
UNKNOWN = NonHorn(None)
"""What is said of non-Horn negatives where nobody looked for them."""
NO_QUERIES = {
    "equivalence_queries": 0,
    "membership_queries": 0,
    "model_calls": 0,
    "distinct_prompts": 0,
}


def envelope_of_formula(
    formula: Cnf,
    background: Theory | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Envelope:
    """Return the exact envelope of a formula, relative to a background.

    The target is what obeys both: interpretations outside the background do not occur. The basis
    is the same whoever finds it: what is small is labelled whole, what is far from Horn (FAR) goes
    by its prime Horn implicates, and the rest by the search for one rule after another.

    Args:
        formula: The formula.
        background: Rules that are taken for granted, over the same variables.
        progress: A function that is told how far the search is.
        limits: What may end it early; the rules that are proved by then are returned.
    """
    assumed = background or Theory(formula.width)
    occurring = Occurring.of(formula, assumed)
    if len(occurring.places) < formula.width and 1 << formula.width > GRID_LIMIT:
        small = envelope_of_formula(*occurring.reduced(formula, assumed), progress, limits)
        return occurring.widened(small, formula.vocabulary, assumed)
    both = Cnf(formula.vocabulary, formula.clauses + clauses_of(assumed))
    space = Space.of_variables(formula.vocabulary, tuple(assumed))
    if space.count <= GRID_LIMIT:
        return _of_grid(LabelledSpace(space, both.accepts(space.masks())), progress, limits)
    if is_far_from_horn(both):
        implicates = ImplicateSearch(formula, assumed)
        proved = run(implicates, limits, progress)
        calls, kept = implicates.source.calls, len(implicates.positives)
        statistics = {**NO_QUERIES, "sat_calls": calls, "models_kept": kept}
    else:
        target = FormulaSource(formula, assumed)
        search = EnvelopeSearch(target, assumed)
        proved = run(search, limits, progress)
        statistics = {**_statistics(search), "sat_calls": search.solved + target.calls}
    return _of_proved(
        space, proved, lambda: non_horn_of(both, proved.basis + assumed), statistics=statistics
    )


def _of_proved(
    space: Space, proved: ProvedRules, non_horn: Callable[[], NonHorn], **rest: Any
) -> Envelope:
    """Return the envelope of proved rules; if ended early, nothing else is counted."""
    counted = UNKNOWN if proved.ended is not None else non_horn()
    return Envelope.of(
        space, proved.basis, certificate=proved.certificate, non_horn=counted, **rest
    )


def is_far_from_horn(formula: Cnf) -> bool:
    """Say whether at least a share of FAR of the clauses are not Horn."""
    odd = sum(not clause.is_horn for clause in formula.clauses)
    return odd >= FAR * len(formula.clauses)


def _of_grid(
    labelled: LabelledSpace, progress: Progress | None = None, limits: Limits | None = None
) -> Envelope:
    """Return the envelope of a target that is small enough to be labelled whole."""
    return _of_proved(
        labelled.space,
        run(GridEngine(labelled), limits, progress),
        lambda: NonHorn.of(labelled.non_horn()),
        statistics={**NO_QUERIES, "interpretations_labelled": len(labelled.positive)},
    )


def non_horn_of(formula: Cnf, envelope: Theory) -> NonHorn:
    """Count the interpretations that the envelope accepts and the formula rejects."""
    if 1 << formula.width <= GRID_LIMIT:
        masks = Space.of_variables(formula.vocabulary).masks()
        accepted = masks[obeys(masks, envelope)]
        return NonHorn.of(unpack(accepted[~formula.accepts(accepted)]))
    return _count_some(outside(envelope, formula))


def envelope_of_table(
    table: Table,
    background: Theory | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    space: Space | None = None,
) -> Envelope:
    """Return the exact envelope of a table of positive examples, relative to a background.

    Args:
        table: The table; its rows are the positive examples.
        background: Rules that are taken for granted, over the table's columns.
        progress: A function that is told how far the search is.
        limits: What may end it early; the rules that are proved by then are returned.
        space: The space whose variables the columns are; its background is taken for granted, too.

    Raises:
        InputError: if a row breaks the background, or there are too many columns that differ.
    """
    assumed = check_rows(table, background)
    if space is not None:
        space = replace(space, assumed=tuple(assumed))
        assumed = space.background
    if 1 << len(table.vocabulary) > GRID_LIMIT and not len(assumed):
        clarified = Clarified.of(table)
        small = clarified.reduced()
        if len(small.vocabulary) < len(table.vocabulary):
            inner = envelope_of_table(small, None, progress, limits)
            return with_support(clarified.widened(inner), table)
    if len(table.vocabulary) > MOST_COLUMNS:
        raise InputError(
            f"has {len(table.vocabulary):,} columns that differ: up to {MOST_COLUMNS:,} of them "
            "can be searched"
        )
    space = space or Space.of_variables(table.vocabulary, tuple(assumed))
    if len(assumed) and space.count <= GRID_LIMIT:
        labels = labels_of_positives(space, list(table.rows))
        envelope = _of_grid(LabelledSpace(space, labels), progress, limits)
    else:
        envelope = _of_rows(table.rows, space, progress, limits)
    return with_support(envelope, table)


def _of_rows(
    rows: Sequence[int], space: Space, progress: Progress | None, limits: Limits | None
) -> Envelope:
    """Return the envelope of rows.

    Where the sets that respect the groups of their columns are not too many, all are labelled.
    """
    search = PremiseSearch(rows, space.width, space.background)
    groups = Groups.of(search.columns)
    points = 0 if len(space.background) else groups.space.count
    if 0 < points <= GRID_LIMIT and (points <= SMALL_GRID or points <= POINTS_A_ROW * len(rows)):
        labelled = groups.labelled(rows)
        proved = run(GroupsEngine(groups, labelled), limits, progress)
        counted = {**NO_QUERIES, "interpretations_labelled": points}
        return _of_proved(space, proved, lambda: groups.non_horn(labelled), statistics=counted)

    def non_horn() -> NonHorn:
        some = _count_some(intersections(search.columns))
        if some.count is None and 0 < points <= GRID_LIMIT:
            return groups.non_horn(groups.labelled(rows))
        return some

    proved = run(search, limits, progress)
    counted = {**NO_QUERIES, "weakest_premises": len(search.premises)}
    return _of_proved(space, proved, non_horn, statistics=counted)


def check_rows(table: Table, background: Theory | None) -> Theory:
    """Return the background of a table, or none; a row that breaks it is an InputError."""
    assumed = background or Theory(len(table.vocabulary))
    for row, line in zip(table.rows, table.lines or [None] * len(table.rows), strict=True):
        for rule in assumed:
            if not rule.satisfied_by(row):
                place = "a row" if line is None else f"the row in line {line}"
                raise InputError(
                    f"{place} breaks the background rule {rule.show(table.vocabulary)}"
                )
    return assumed


def with_support(envelope: Envelope, table: Table) -> Envelope:
    """Return the envelope of a table with the support of its readable rules: the rows they fit."""
    columns = Columns(table.rows, envelope.space.width)
    support = columns.supports(rule.antecedent for rule in envelope.readable)
    return replace(envelope, support=support)


def only_supported(envelope: Envelope, table: Table, min_support: int) -> Envelope:
    """Return the envelope of a table without the rules whose conditions fewer rows have.

    It has all rules, or all with so few conditions, unless a limit ended it.

    What follows from conditions that enough rows have takes no other rules: whatever fires on the
    way from a set to its closure is contained in as many rows as the set itself.
    """
    support = with_support(envelope, table).support or ()
    pairs = zip(envelope.basis.rules, support, strict=True)
    kept = tuple(rule for rule, rows in pairs if rows >= min_support)
    claim = bounded(envelope.certificate.complete.max_conditions, len(kept), min_support)
    if envelope.certificate.ended is not None:  # then others of them may be missing, too
        claim = replace(envelope.certificate, rules=len(kept))
    small = Envelope.of(
        envelope.space,
        Theory(envelope.space.width, kept),
        certificate=claim,
        non_horn=envelope.non_horn,
        statistics={**envelope.statistics, "rules_left_out": len(support) - len(kept)},
    )
    return with_support(small, table)


def _statistics(search: EnvelopeSearch) -> dict[str, int]:
    return {
        **NO_QUERIES,
        "equivalence_queries": len(search.rules) + 1,
        "closure_queries": search.closures,
        "models_kept": len(search.positives),
    }


def _count_some(negatives: Iterator[int]) -> NonHorn:
    """Count up to the limit; past it, say that there are more."""
    counted = list(islice(negatives, COUNT_LIMIT))
    return NonHorn.of(counted, complete=next(negatives, None) is None)
