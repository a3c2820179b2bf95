"""What is measured. Each case runs in a process of its own and returns figures."""

from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

from benchmarks.targets import random_3cnf, random_horn, random_labelled_domain
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.logic.basis import dg_basis, in_canonical_order
from hornlens.logic.models import dg_basis_of_closure
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.membership import FormulaMembership
from hornlens.oracles.search import EnvelopeSearch
from hornlens.oracles.targets import FormulaTarget


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def envelope(variables: int, clauses: int, seed: int) -> dict[str, Any]:
    """The exact envelope of a random 3-CNF, white-box."""
    search = EnvelopeSearch(FormulaTarget(random_3cnf(variables, clauses, seed)))
    basis, seconds = _timed(search.run)
    return {"seconds": seconds, "rules": len(basis), "models": len(search.models)}


def envelope_ratio(variables: int, clauses: int, seed: int) -> dict[str, Any]:
    """The same by NextClosure over the closure operator, divided by ours."""
    formula = random_3cnf(variables, clauses, seed)
    ours, fast = _timed(lambda: EnvelopeSearch(FormulaTarget(formula)).run())
    operator = EnvelopeSearch(FormulaTarget(formula)).closure
    theirs, slow = _timed(lambda: dg_basis_of_closure(operator, variables))
    assert ours == theirs
    return {"seconds": fast, "rules": len(ours), "ratio": slow / fast}


def algorithm1(variables: int, rules: int, seed: int) -> dict[str, Any]:
    """Algorithm 1 on a random Horn target, against an exact oracle."""
    formula = random_horn(variables, rules, seed)
    learner = EnvelopeLearner(variables, trace=False)
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
        x = target.domain.sample(rng)
        cell = tuple(axis.index(x & sum(axis)) for axis in target.domain.axes)
        if target.positive.reshape(target.domain.shape)[cell]:
            assert basis.satisfied_by(x)
    return {
        "seconds": seconds,
        "interpretations": len(target.domain),
        "rules": len(basis),
        "non_horn": len(target.non_horn()),
    }


CASES: dict[str, Callable[..., dict[str, Any]]] = {
    case.__name__: case for case in (envelope, envelope_ratio, algorithm1, labelled)
}


FULL: list[tuple[str, tuple[int, ...], float]] = [
    *(("envelope", (n, m, 0), 600.0) for n, m in ((10, 30), (15, 45), (20, 60), (25, 70))),
    *(("envelope", (30, 80, seed), 60.0) for seed in range(3)),
    ("envelope", (35, 85, 0), 120.0),
    ("envelope", (40, 90, 0), 120.0),
    ("envelope", (50, 100, 0), 300.0),
    ("envelope_ratio", (12, 30, 0), 120.0),
    ("envelope_ratio", (16, 40, 0), 120.0),
    ("envelope_ratio", (20, 50, 0), 120.0),
    *(("algorithm1", (n, r, 0), 120.0) for n, r in ((25, 50), (50, 100), (100, 100), (100, 200))),
    *(("labelled", (v, 300, 0), 120.0) for v in (3, 5, 7, 9)),
    *(("labelled", (9, r, 0), 120.0) for r in (100, 900)),
]
QUICK: list[tuple[str, tuple[int, ...], float]] = [
    ("envelope", (20, 60, 0), 30.0),
    ("envelope", (30, 80, 0), 30.0),
    ("envelope_ratio", (12, 30, 0), 30.0),
    ("algorithm1", (25, 50, 0), 30.0),
    ("algorithm1", (50, 100, 0), 30.0),
    ("labelled", (5, 100, 0), 30.0),
]
