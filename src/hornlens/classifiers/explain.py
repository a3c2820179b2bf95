"""`explain`: a classifier and rows in, the rules it obeys out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import prod
from typing import Any

import numpy as np

from hornlens.classifiers.progress import AskedModel, Watch, cells_asked, shown, tell_events
from hornlens.classifiers.result import Explanation
from hornlens.deprecation import deprecated, renamed_argument
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.limits import Limits
from hornlens.results.documents.findings import Record
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Bins, bin_columns
from hornlens.targets.classifiers.deciding import Bands, label_of, with_decision
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.options import Domain, Options, Which
from hornlens.targets.classifiers.plausible import BINS, Plausible
from hornlens.targets.classifiers.search import Search
from hornlens.targets.classifiers.target import ClassifierTarget

FINENESS = (BINS, 24, 12)
"""How many bins a column gets at most, whose ends are those of the rules of what is plausible."""


@renamed_argument("target", "label", since="0.3", removal="0.5")
def explain(
    clf: Any,
    X: Any,  # noqa: N803 - as all of scikit-learn calls it
    *,
    bins: Bins = "auto",
    n_bins: int = 4,
    domain: Domain = "grid",
    changes: int = 1,
    background: Sequence[str] = (),
    rules: Which = "cover",
    max_conditions: int | None = None,
    limit: int = 200_000,
    cover: float = 0.99,
    samples: int | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    seed: int = 0,
    label: str = "class",
    threshold: float | None = None,
    bands: Bands | None = None,
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
    watch: Watch | None = None,
    plausible: Plausible | None = None,
) -> Explanation:
    """Return the rules that a classifier obeys, each proved where that can be done.

    Args:
        clf: A fitted estimator or Pipeline, anything with `predict` or `predict_proba`, or a
            function of rows.
        X: Rows as the classifier takes them: an array, or a pandas or polars frame.
        bins: How numbers are cut into levels. "model" reads the thresholds of ensembles of
            trees: the rules are then exact for every input. "quantile", "uniform", edges by column
            (`{"age": [30, 60]}`) or a fitted KBinsDiscretizer cut numbers into bins. "auto" is
            "model" where that is possible. Else the model is asked about a few thousand inputs,
            and cut where it changes if that agrees with it more often than "quantile" does.
        n_bins: How many bins a column gets at most.
        domain: "grid" is every combination of levels; "data" is the cells of the rows of X and
            those that differ from one of them in at most `changes` features; "plausible" is what
            can exist: what breaks no more of the rules of X than 99% of other rows do.
        changes: For `domain="data"`: in how many features a cell may differ from a row.
        background: Rules that always hold ("pregnant -> sex = female"): cells that break one do
            not occur.
        rules: "cover" returns enough rules to decide every cell, each as general as possible;
            "all" returns every such rule.
        max_conditions: Return every rule with at most this many conditions, instead of a cover.
        limit: Up to this many cells, all are asked. Beyond it, ensembles of trees are looked
            into: rules are proved one by one until they decide a share of the rows (see `cover`),
            and beside them every rule with at most 2 conditions (fewer where there are millions of
            such conditions; `max_conditions` sets another number). Of other models, rules are
            sifted: all with at most so many conditions, tested, from a few thousand cells.
        cover: For ensembles of trees beyond `limit`: rules are added, those first that decide many
            rows, until they decide this share of the rows of X; the certificate says how many
            rows and how many uniform inputs they decide. 0: only rules with few conditions.
        samples: Deprecated: `limits=Limits(max_questions=…)` says how many cells may be asked.
        epsilon: For sifted rules: the share of its cells that may break a rule.
        delta: For sifted rules: the probability that any of them is broken more often than that.
        seed: The seed of all that is drawn at random.
        label: What the predicted column is called in rules.
        threshold: For a classifier of two classes with `predict_proba`: it says the second class
            where its score is this or more.
        bands: For a regressor: the numbers at which one band of its predictions ends and the next
            begins, or where each named band ends (`{"cheap": 100, "dear": None}`). Its classes are
            these bands.
        limits: What may end the run early: by time, questions or rules. The rules that hold however
            the other cells are answered are returned. Questions are cells: the rows of X, and the
            inputs by which the agreement is measured, do not count. `Limits(max_calls=…)` limits
            every row that the model is given, whatever for; `result.record.asked` counts them.
        progress: True shows a progress bar, in a terminal or a notebook; a function is called with
            the number of inputs that were put to the model, each time.
        watch: A function that is called with each event: `Progress` after cells were asked,
            `Sifting` with how many rules are still alive, where they are sifted, `RuleAdded` for
            each rule, and `Ended` with the certificate.
        plausible: For `domain="plausible"`, which it implies: rules that were found before
            (`result.plausible`, `Plausible.load(file)`), all or some of them. By default the rows
            of X show them.

    Returns:
        The rules, how often each applies to X, and what may be claimed of them.

    Raises:
        HornlensError: in one line, if the classifier, the rows or the options are wrong.

    >>> import numpy as np
    >>> X = np.array([[20.0], [30.0], [50.0]])
    >>> print(explain(lambda rows: rows[:, 0] >= 40, X, bins={"x0": [40]}).rules)
    x0 < 40 → False
    x0 ≥ 40 → True
    """
    if samples is not None:
        new = "limits=Limits(max_questions=…)"
        deprecated("explain(samples=…)", new, since="0.3", removal="0.5")
    options = Options(
        bins,
        n_bins,
        domain,
        changes,
        (background,) if isinstance(background, str) else tuple(background),
        rules,
        max_conditions,
        limit,
        samples,
        epsilon,
        delta,
        seed,
        label,
        cover=cover,
        plausible=plausible,
    )
    if bands is not None:
        options = replace(options, label=label_of(label))
    clf = with_decision(clf, threshold, bands, label)
    classifier = read_classifier(clf, X, limits)
    doing = AskedModel(classifier.name, watch)
    with shown(progress, doing) as advance:
        counted = None if watch is None else cells_asked(watch)
        listens = watch is not None or progress is True
        meter = meter_of(limits, advance, counted, doing.hear if listens else None)
        result = explain_with(clf, classifier, options, meter)
    if watch is not None:
        tell_events(result, watch)
    return result


def explain_with(
    clf: Any, classifier: Classifier, options: Options, meter: Meter | None = None
) -> Explanation:
    """Return the rules of a classifier that was read; a `meter` counts, shows and ends it."""
    classifier = classifier.with_fewer_rows(options.seed)
    names, plausible = classifier.table.names, plausible_of(classifier, options)
    background = Background(options.background, names, plausible)
    more = background.cuts(classifier.table)
    if meter is not None:
        meter.begin()
    given = (options.bins, options.n_bins, more)
    binning = bin_columns(clf, classifier, *given, meter, options.seed)
    background = background.counted_in(binning.features, classifier.table)
    return explained(lambda: Search.of(classifier, binning, background, options, meter))


def plausible_of(classifier: Classifier, options: Options) -> Plausible | None:
    """Return what is plausible, where that is the domain: as given, or as the rows of X show it.

    Its rules are as fine as they can be if all cells are to be asked; if they cannot, the finest.
    """
    if options.domain != "plausible":
        return None
    if options.plausible is not None:
        return options.plausible
    table = classifier.table
    for bins in FINENESS:
        plausible = Plausible.of(table, options.seed, bins)
        cuts = Background((), table.names, plausible).cuts(table)
        cells = prod(own.bins + options.n_bins - 1 for own in cuts.values())
        for name, kind, column in zip(table.names, table.kinds, table.columns, strict=True):
            if kind not in ("number", "whole"):
                cells *= len(set(map(str, column.tolist())))
            elif name not in cuts:
                cells *= options.n_bins
        if cells <= options.limit:
            return plausible
    return Plausible.of(table, options.seed)


def explain_target(
    target: ClassifierTarget,
    settings: Settings,
    limits: Limits | None = None,
    watch: Watch | None = None,
) -> Explanation:
    """Return the rules of classes of a classifier whose basis is out of reach for `extract`."""
    if settings.max_questions is not None:
        limits = limits or Limits()
        given = (settings.max_questions, limits.max_questions)
        limits.max_questions = min(n for n in given if n is not None)
    meter = meter_of(limits, None, None if watch is None else cells_asked(watch), watch)
    result = explained(lambda: target.search(settings, meter))
    if watch is not None:
        tell_events(result, watch)
    return result


def explained(begin: Callable[[], Search]) -> Explanation:
    """Return what a search comes to; `begin` asks about the rows, and so is timed, too."""
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    search = begin()
    outcome, options, binning = search.run(), search.options, search.binning
    made = partial(
        Explanation.of_boxes,
        agreement=outcome.measured.agreement,
        rows=outcome.rows,
        said=search.said,
        exact_bins=binning.exact and outcome.is_exact,
        how=binning.how,
        background=options.background,
        plausible=search.plausible,
        target=options.label,
        settings=options.settings,
        record=Record(started, time.perf_counter() - clock, outcome.asked),
        fallback=binning.fallback,
        notes=search.notes(outcome.measured.agreement, outcome.sifted),
        vote=outcome.vote,
        measured=outcome.measured,
        sifted=outcome.sifted,
        counted=outcome.counted,
    )
    labelled, certificate, most = outcome.labelled, outcome.certificate, search.most_rules
    result: Explanation = made(search.binned, outcome.boxes, labelled, certificate)
    if most is not None and len(result.rules) > most:
        kept = [BoxRule(row.box or (), row.place or 0) for row in result.rules[:most]]
        sifted = None if outcome.sifted is None else outcome.sifted.first(kept)
        certificate = search.first_of(certificate, labelled, kept, sifted, outcome.covering)
        result = made(search.binned, kept, labelled, certificate, sifted=sifted)
    of_some = options.domain == "data" and result.sifted is None
    return with_fidelity(result) if of_some else result


def with_fidelity(result: Explanation) -> Explanation:
    """Return an explanation of some cells with how often its rules are right on all inputs."""
    measured, agreement = result.measured, result.agreement
    if measured is None or not agreement.drawn:
        return result
    labels = result.decided(measured.cells)
    there = np.flatnonzero(labels >= 0)
    right = int(measured.inputs[there, labels[there]].sum())
    agreement = replace(agreement, ruled=right / int(measured.inputs.sum()))
    scope = result.claim.scope
    if scope.agreement is not None:
        scope = replace(scope, agreement=agreement)
    again: Any = {"envelope": None}  # it is made again, with this scope
    return replace(result, agreement=agreement, claim=replace(result.claim, scope=scope), **again)
