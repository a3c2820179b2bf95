"""Related learners at work on a formula or a table: other queries, the same protocol and driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hornlens.errors import HornlensError
from hornlens.exact.envelopes import GRID_LIMIT
from hornlens.exact.premises import PremiseSearch
from hornlens.learning.characteristic import CharacteristicLearner
from hornlens.learning.driver import Bounds, Run, run
from hornlens.learning.events import Event
from hornlens.learning.horn import horn1_learner
from hornlens.learning.protocol import EntailmentOracle, EquivalenceOracle, Holds, Learner
from hornlens.limits import Limits
from hornlens.logic.basis import dg_basis
from hornlens.logic.batch import unpack
from hornlens.logic.certificates import check_tolerances, ended_early
from hornlens.logic.closures import characteristic
from hornlens.logic.cnf import Cnf
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.closed import (
    ClosedEquivalence,
    SampledClosures,
    StrongestEquivalence,
    closed_sets,
)
from hornlens.oracles.entailment import (
    Closures,
    CountingEntailment,
    FormulaEntailment,
    RowsEntailment,
)
from hornlens.oracles.known import KnownAnswers
from hornlens.results.documents.envelope import envelope_as_json

RELATED = ("pac-basis", "closure", "characteristic")
"""Borchmann, Hanika, Obiedkov; Dechter, Pearl; Kautz, Kearns, Selman."""
MOST_CLOSED = 1 << 20
"""So many closed sets are listed at most."""


@dataclass(frozen=True)
class Domain:
    """What is learned: something that knows its positives."""

    vocabulary: Vocabulary
    entailment: EntailmentOracle
    rows: Callable[[], Iterable[int]]
    """Lists all positives; a HornlensError if there may be too many."""

    @classmethod
    def of(cls, known: Cnf | Table) -> Domain:
        """Return the domain of a formula or of a table."""
        if isinstance(known, Table):
            width = len(known.vocabulary)
            oracle = RowsEntailment(known.rows, width)
            return cls(known.vocabulary, oracle, lambda: known.rows)
        formula = known

        def positives() -> Iterable[int]:
            if 1 << formula.width > GRID_LIMIT:
                raise HornlensError(
                    f"the positives of {formula.width} variables are too many to be listed: use "
                    "--algorithm envelope, characteristic or pac-basis"
                )
            masks = Space.of_variables(formula.vocabulary).masks()
            return unpack(masks[formula.accepts(masks)])

        return cls(formula.vocabulary, FormulaEntailment(formula), positives)


@dataclass(frozen=True)
class RelatedOutcome:
    """A run of a related learner: what was learned, and what it cost beside what is proved.

    `counts` are the queries that were asked, by what they are called, each with its bound if one is
    proved.
    """

    algorithm: str
    run: Run
    envelope: Envelope
    counts: dict[str, tuple[int, int | None]]

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as `hornlens learn --format json` prints it."""
        content = envelope_as_json(self.envelope)
        names = {name: name.replace(" ", "_").replace(":", "") for name in self.counts}
        content["statistics"] = {
            **{names[name]: count for name, (count, _) in self.counts.items()},
            "model_calls": 0,
            "distinct_prompts": 0,
            "bounds": {names[n]: bound for n, (_, bound) in self.counts.items() if bound},
        }
        content["settings"] = {"algorithm": self.algorithm}
        return content


def learn_related(
    known: Cnf | Table,
    algorithm: str,
    epsilon: float = 0.05,
    delta: float = 0.05,
    seed: int | None = None,
    watch: Callable[[Event], None] | None = None,
    limits: Limits | None = None,
) -> RelatedOutcome:
    """Learn the envelope of a formula or a table by one of the related algorithms.

    If a limit is reached, the rules that hold are proved, and the others are hypotheses.
    """
    check_tolerances(epsilon, delta)
    domain = Domain.of(known)
    width = len(domain.vocabulary)
    oracle = CountingEntailment(domain.entailment)
    learner: Learner = horn1_learner(width)
    equivalence: EquivalenceOracle
    closures = Closures(oracle, KnownAnswers(width) if algorithm == "pac-basis" else None)
    sampled: SampledClosures | None = None
    if algorithm == "pac-basis":
        rng = Random(seed or 0)
        sampled = SampledClosures(
            closures, lambda r: r.getrandbits(width) if width else 0, epsilon, delta, rng
        )
        membership, equivalence = closures, sampled
        done = run(learner, membership, equivalence, False, watch, limits)
    elif algorithm == "closure":
        closed = ClosedEquivalence(closed_sets(list(domain.rows()), MOST_CLOSED), width)
        done = run(learner, closed, closed, False, watch, limits)
    elif algorithm == "characteristic":
        learner = CharacteristicLearner(width, lambda rows: PremiseSearch(rows, width).run())
        done = run(learner, closures, StrongestEquivalence(oracle), False, watch, limits)
    else:
        raise HornlensError(f"--algorithm must be one of {', '.join(RELATED)}, not {algorithm!r}")
    envelope = _envelope(domain, done)
    done = replace(done, certificate=envelope.certificate)
    counts = _counts(algorithm, done, envelope, oracle, sampled)
    return RelatedOutcome(algorithm, done, envelope, counts)


def _envelope(domain: Domain, done: Run) -> Envelope:
    theory, certificate = done.learned.hypothesis.theory, done.certificate
    space = Space.of_variables(domain.vocabulary)
    basis = dg_basis(theory)
    if (ended := certificate.stopped) is None:
        return Envelope.of(space, basis, certificate=certificate, non_horn=NonHorn(None))
    proved = tuple(r for r in basis if isinstance(domain.entailment.entails(r), Holds))
    kept = dg_basis(Theory(theory.width, proved))
    others = tuple(rule for rule in basis if not kept.entails(rule))
    claim = ended_early(ended, len(kept), len(others))
    return Envelope.of(space, kept, certificate=claim, non_horn=NonHorn(None), open=others)


def _counts(
    algorithm: str,
    done: Run,
    envelope: Envelope,
    oracle: CountingEntailment,
    sampled: SampledClosures | None,
) -> dict[str, tuple[int, int | None]]:
    """Return what was asked, and what is proved of it.

    The bounds of HORN1 are in the rules of the target: where they are not all known, there is none.
    """
    width, queries = len(envelope.vocabulary), done.queries
    whole = done.certificate.all_rules
    if algorithm == "characteristic":
        most = len(characteristic(done.learned.positives)) + 1 if whole else None
        return {
            "equivalence queries": (queries.equivalence, most),
            "entailment queries": (oracle.count, None),
            "characteristic positives": (len(done.learned.positives), None),
        }
    bounds = Bounds.of_envelope(width, len(envelope.basis), 0) if whole else None
    counts: dict[str, tuple[int, int | None]] = {
        "equivalence queries": (queries.equivalence, bounds.equivalence if bounds else None),
        "membership queries": (queries.refinement, bounds.membership if bounds else None),
    }
    if sampled is not None:
        closures = sampled.drawn + queries.refinement
        counts["samples"] = (sampled.drawn, None)
        counts["entailment queries"] = (oracle.count, (width + 2) * closures)
    return counts
