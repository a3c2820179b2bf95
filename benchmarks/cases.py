"""The logic core and the learner on formulas and tables, against exact oracles."""

from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

from benchmarks.targets import random_3cnf, random_horn, random_labelled_domain
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.logic.basis import dg_basis, in_canonical_order
from hornlens.logic.closures import dg_basis_of_closure
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
