"""The logic core and the learner on formulas and tables, against exact oracles."""

from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

from benchmarks.featuremodels import feature_model
from benchmarks.targets import random_3cnf, random_horn, random_labelled_domain
from hornlens.exact.bounded import (
    bounded_envelope_of_formula,
    bounded_envelope_of_grid,
    bounded_envelope_of_table,
)
from hornlens.exact.engine import run as run_engine
from hornlens.exact.implicates import ImplicateSearch
from hornlens.exact.levels import levels_of_grid
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.limits import Limits
from hornlens.logic.basis import dg_basis, in_canonical_order
from hornlens.logic.closures import dg_basis_of_closure
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.membership import FormulaMembership


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def envelope(variables: int, clauses: int, seed: int) -> dict[str, Any]:
    """The exact envelope of a random 3-CNF, white-box."""
    search = EnvelopeSearch(FormulaSource(random_3cnf(variables, clauses, seed)))
    basis, seconds = _timed(search.run)
    return {"seconds": seconds, "rules": len(basis), "positives": len(search.positives)}


def envelope_ratio(variables: int, clauses: int, seed: int) -> dict[str, Any]:
    """The same by NextClosure over the closure operator, divided by ours."""
    formula = random_3cnf(variables, clauses, seed)
    ours, fast = _timed(lambda: EnvelopeSearch(FormulaSource(formula)).run())
    operator = EnvelopeSearch(FormulaSource(formula)).closure
    theirs, slow = _timed(lambda: dg_basis_of_closure(operator, variables))
    assert ours == theirs
    return {"seconds": fast, "rules": len(ours), "ratio": slow / fast}


def algorithm1(variables: int, rules: int, seed: int) -> dict[str, Any]:
    """Algorithm 1 on a random Horn target, against an exact oracle."""
    formula = random_horn(variables, rules, seed)
    learner = EnvelopeLearner(variables)
    oracle = FormulaEquivalence(formula, "full")
    done, seconds = _timed(lambda: run(learner, FormulaMembership(formula), oracle))
    learned = in_canonical_order(done.learned.hypothesis.theory)
    assert learned == dg_basis(formula.theory())
    return {
        "seconds": seconds,
        "rules": len(learned),
        "equivalence_queries": done.queries.equivalence,
        "membership_queries": done.queries.refinement,
    }


def labelled(values: int, rules: int, seed: int) -> dict[str, Any]:
    """The DG basis of a labelled domain of six attributes."""
    target = random_labelled_domain(values, rules, seed)
    basis, seconds = _timed(target.dg_basis)
    rng = Random(seed)  # the rules agree with the labels wherever we look
    for _ in range(200):
        x = target.space.sample(rng)
        cell = tuple(axis.index(x & sum(axis)) for axis in target.space.axes)
        if target.positive.reshape(target.space.shape)[cell]:
            assert basis.satisfied_by(x)
    return {
        "seconds": seconds,
        "interpretations": len(target.space),
        "rules": len(basis),
        "non_horn": len(target.non_horn()),
    }


def implicates_ratio(variables: int, clauses: int, seed: int) -> dict[str, Any]:
    """The exact envelope of a random 3-CNF: time of the search for rules, divided by implicates."""
    formula = random_3cnf(variables, clauses, seed)
    ours, fast = _timed(lambda: ImplicateSearch(formula).run())
    search, slow = _timed(lambda: EnvelopeSearch(FormulaSource(formula)).run())
    assert ours == search
    return {"seconds": fast, "rules": len(ours), "ratio": slow / fast}


def bounded_formula(variables: int, clauses: int, conditions: int, seed: int) -> dict[str, Any]:
    """The rules of a random 3-CNF with at most so many conditions."""
    formula = random_3cnf(variables, clauses, seed)
    found, seconds = _timed(lambda: bounded_envelope_of_formula(formula, conditions))
    return {"seconds": seconds, "rules": len(found.basis)}


def bounded_ratio(variables: int, clauses: int, conditions: int, seed: int) -> dict[str, Any]:
    """The short rules of a random 3-CNF, and the time of all rules divided by theirs."""
    formula = random_3cnf(variables, clauses, seed)
    found, fast = _timed(lambda: bounded_envelope_of_formula(formula, conditions))
    whole, slow = _timed(lambda: ImplicateSearch(formula).run())
    assert whole.entails(found.basis)
    counts = {"rules": len(found.basis), "of": len(whole)}
    return {"seconds": fast, **counts, "ratio": slow / fast}


def bounded_feature_model(features: int, conditions: int, seed: int) -> dict[str, Any]:
    """The short rules of a feature model; and what the full search has proved in as much time."""
    formula = feature_model(features, seed)
    found, seconds = _timed(lambda: bounded_envelope_of_formula(formula, conditions))
    limits = Limits(max(seconds, 0.1))
    whole = run_engine(EnvelopeSearch(FormulaSource(formula)), limits)
    return {
        "seconds": seconds,
        "clauses": len(formula.clauses),
        "rules": len(found.basis),
        "proved_by_full_search": len(whole.basis),
        "full_search_ended": whole.ended or "by itself",
    }


def bounded_labelled(values: int, rules: int, conditions: int, seed: int) -> dict[str, Any]:
    """The short rules of a labelled domain, and the time of its full envelope divided by theirs."""
    domain = random_labelled_domain(values, rules, seed)
    found, fast = _timed(lambda: bounded_envelope_of_grid(domain, conditions))
    again = random_labelled_domain(values, rules, seed)  # nothing is computed of it yet
    whole, slow = _timed(
        lambda: Envelope.of(again.space, again.dg_basis(), non_horn=NonHorn.of(again.non_horn()))
    )
    return {
        "seconds": fast,
        "interpretations": len(domain.positive),
        "rules": len(found.basis),
        "of": len(whole.basis),
        "ratio": slow / fast,
    }


def levels(values: int, rules: int, conditions: int, seed: int) -> dict[str, Any]:
    """The curve of a labelled domain, and the time of its full envelope divided by the curve's."""
    domain = random_labelled_domain(values, rules, seed)
    basis, slow = _timed(domain.dg_basis)
    found, fast = _timed(lambda: levels_of_grid(domain, basis, conditions))
    last = len(found.steps)
    return {
        "seconds": fast,
        "interpretations": len(domain.positive),
        "rules": last,
        "of": len(basis),
        "explained": found.explained(last) / max(1, found.rejections),
        "exceptions": found.exceptions(last),
        "ratio": slow / fast,
    }


def bounded_table(rows: int, columns: int, conditions: int, support: int) -> dict[str, Any]:
    """The rules of a random table with at most so many conditions, each with some support."""
    rng = Random(0)
    density = [rng.choice((0.02, 0.1, 0.3)) for _ in range(columns)]
    drawn = tuple(
        sum((rng.random() < share) << i for i, share in enumerate(density)) for _ in range(rows)
    )
    table = Table(Vocabulary.numbered(columns), drawn)
    found, seconds = _timed(lambda: bounded_envelope_of_table(table, conditions, None, support))
    return {"seconds": seconds, "rules": len(found.basis)}
