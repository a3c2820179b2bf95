"""`hornlens learn`: a learner at work against oracles made from a formula."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from hornlens.errors import HornlensError
from hornlens.exact.envelopes import non_horn_of
from hornlens.exact.sat import cnf_counterexample
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.learning.driver import Bounds, Queries, Run, run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.horn import Horn1Learner, HornLearner
from hornlens.learning.protocol import EquivalenceOracle, Learner, MembershipOracle, NotHorn
from hornlens.logic.basis import dg_basis
from hornlens.logic.cnf import Cnf
from hornlens.logic.encoding import dec, enc
from hornlens.logic.envelope import Envelope, NonHorn, check_tolerances
from hornlens.oracles.encoded import EncodedEquivalence, EncodedMembership
from hornlens.oracles.equivalence import (
    BudgetedEquivalence,
    Kind,
    SampledEquivalence,
)
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.membership import (
    CachingMembership,
    CountingMembership,
    FormulaMembership,
)
from hornlens.report.terminal import (
    Terminal,
    certificate_in_words,
    plural,
    show_envelope,
    show_set,
)
from hornlens.report.trace import trace_lines
from hornlens.results.envelope import envelope_as_json


@dataclass(frozen=True)
class LearnSettings:
    """What the options of `hornlens learn` say."""

    algorithm: str
    target: str
    via_encoding: bool
    equivalence: str
    epsilon: float
    delta: float
    max_equivalence_queries: int
    seed: int | None
    speculate: bool

    def check(self) -> None:
        """Refuse combinations that make no sense."""
        if self.algorithm != "envelope" and self.target == "envelope":
            raise HornlensError(
                f"{self.algorithm} learns the formula itself: use --target cnf, "
                "or --algorithm envelope"
            )
        if self.via_encoding and (self.algorithm != "envelope" or self.target != "cnf"):
            raise HornlensError("--via-encoding needs --algorithm envelope and --target cnf")
        if self.via_encoding and self.equivalence == "pac":
            raise HornlensError("--via-encoding works with --equivalence exact or budget")
        check_tolerances(self.epsilon, self.delta)


@dataclass(frozen=True)
class Outcome:
    """A run, the formula that the learner was up against, and what it cost."""

    formula: Cnf
    run: Run
    sampled: int
    distinct: int
    bounds: Bounds | None
    envelope: Envelope


def learn_command(path: Path, settings: LearnSettings, trace: bool, form: str, quiet: bool) -> int:
    """Run the learner and print what happened; the exit code says whether it could."""
    settings.check()
    formula = read_dimacs(path)
    terminal = Terminal(quiet)
    try:
        with terminal.progress(f"Learning {path.name}:") as note:
            outcome = _learn(
                formula,
                settings,
                trace,
                lambda q: note(
                    f"{plural(q.equivalence, 'equivalence query')}, "
                    f"{plural(q.refinement, 'membership query')}"
                ),
            )
    except NotHorn as proof:
        names = formula.vocabulary
        accepted = " and ".join(show_set(names.names_of(x)) for x in proof.positives)
        print(
            f"hornlens: {path}: the target is not Horn: it accepts {accepted} but rejects their "
            f"intersection {show_set(names.names_of(proof.negative))}; use --algorithm envelope",
            file=sys.stderr,
        )
        return 1
    if form == "json":
        sys.stdout.write(json_text(_as_json(outcome, formula, settings, trace)))
        return 0
    _show(terminal, path, outcome, formula, settings, trace)
    return 0


def _learn(formula: Cnf, settings: LearnSettings, trace: bool, progress: Any) -> Outcome:
    rng = None if settings.seed is None else Random(settings.seed)
    asked = CountingMembership(FormulaMembership(formula), "distinct")
    cache = CachingMembership(asked)
    membership: MembershipOracle = cache
    sampled = CountingMembership(cache, "equivalence")
    goal = formula
    equivalence: EquivalenceOracle
    if settings.via_encoding:
        goal = enc(formula)
        membership = EncodedMembership(cache, formula.width)
        equivalence = EncodedEquivalence(
            lambda guess: cnf_counterexample(formula, guess, rng), formula.vocabulary
        )
    elif settings.equivalence == "pac":
        equivalence = SampledEquivalence(
            sampled,
            lambda generator: generator.getrandbits(formula.width) if formula.width else 0,
            formula.width,
            settings.epsilon,
            settings.delta,
            rng or Random(0),
            cache.known,
        )
    else:
        kind: Kind = "horn" if settings.target == "envelope" else "full"
        equivalence = FormulaEquivalence(formula, kind, rng)
    if settings.equivalence == "budget":
        equivalence = BudgetedEquivalence(equivalence, settings.max_equivalence_queries)
    learner: Learner = {
        "envelope": EnvelopeLearner,
        "horn1": Horn1Learner,
        "horn": HornLearner,
    }[settings.algorithm](goal.width, trace=trace)
    done = run(learner, membership, equivalence, settings.speculate, progress)
    # H is its own basis when Algorithm 1 or HORN1 ends on an exact yes; otherwise it may not be.
    basis = dg_basis(done.learned.hypothesis.theory)
    # It may stop before it has the whole envelope of an encoding: that is not what was asked for.
    exact = done.certificate.kind == "exact" and not settings.via_encoding
    seen = done.learned.non_horn
    envelope = Envelope.of(
        goal.vocabulary,
        basis,
        certificate=done.certificate,
        non_horn=non_horn_of(goal, basis) if exact else NonHorn.of(seen, complete=False),
    )
    bounds = _bounds(envelope, settings) if exact else None
    return Outcome(goal, done, sampled.count, asked.count, bounds, envelope)


def _bounds(envelope: Envelope, settings: LearnSettings) -> Bounds | None:
    """Return the proved bounds, where the non-Horn examples could be counted."""
    width, rules = len(envelope.vocabulary), len(envelope.basis)
    if settings.algorithm == "horn":
        return Bounds.of_horn(width, rules)
    if envelope.non_horn.count is None:
        return None
    return Bounds.of_envelope(width, rules, envelope.non_horn.count)


def _learned_formula(outcome: Outcome, formula: Cnf, settings: LearnSettings) -> Cnf:
    """Return H ∪ Q as a formula over the target's own variables."""
    clauses = outcome.run.learned.hypothesis.clauses()
    if settings.via_encoding:
        return dec(clauses, formula.vocabulary)
    return Cnf(formula.vocabulary, clauses)


def _statistics(queries: Queries, outcome: Outcome) -> dict[str, int]:
    return {
        "equivalence_queries": queries.equivalence,
        "membership_queries": queries.refinement + queries.speculative + outcome.sampled,
        "refinement": queries.refinement,
        "speculative": queries.speculative,
        "equivalence_samples": outcome.sampled,
        "distinct": outcome.distinct,
        "model_calls": 0,
        "distinct_prompts": 0,
    }


def _as_json(
    outcome: Outcome, formula: Cnf, settings: LearnSettings, trace: bool
) -> dict[str, Any]:
    content = envelope_as_json(outcome.envelope)
    if settings.via_encoding:  # what was learned is the formula, not its encoding's envelope
        for key in ("background", "rules", "readable", "non_horn"):
            del content[key]
        content["variables"] = list(formula.vocabulary.names)
    if trace:
        done = outcome.run
        lines = trace_lines(done.learned, done.certificate, outcome.formula.vocabulary)
        content["trace"] = list(lines)
    content["statistics"] = _statistics(outcome.run.queries, outcome)
    content["statistics"]["bounds"] = (
        None
        if outcome.bounds is None
        else {
            "equivalence_queries": outcome.bounds.equivalence,
            "refinement": outcome.bounds.membership,
        }
    )
    content["settings"] = vars(settings)
    if settings.target == "cnf":
        clauses = _learned_formula(outcome, formula, settings).clauses
        names = formula.vocabulary
        content["cnf"] = [
            {"if": list(names.names_of(c.antecedent)), "any": list(names.names_of(c.consequent))}
            for c in clauses
        ]
    return content


def _show(
    terminal: Terminal,
    path: Path,
    outcome: Outcome,
    formula: Cnf,
    settings: LearnSettings,
    trace: bool,
) -> None:
    terminal.say(
        f"{path.name}: {plural(formula.width, 'variable')}, "
        f"{plural(len(formula.clauses), 'clause')}; {settings.algorithm} learner."
    )
    if trace:
        terminal.say()
        done = outcome.run
        for line in trace_lines(done.learned, done.certificate, outcome.formula.vocabulary):
            terminal.say(line)
        terminal.say()
    if settings.via_encoding:
        learned = _learned_formula(outcome, formula, settings)
        terminal.say(f"{certificate_in_words(outcome.envelope).capitalize()}.", "bold")
        terminal.say(f"{plural(len(learned.clauses), 'clause')}, decoded:")
        for clause in learned.clauses:
            terminal.say(f"  {clause.show(formula.vocabulary)}")
    else:
        show_envelope(terminal, outcome.envelope)
        exact = outcome.envelope.certificate.kind == "exact"
        if settings.target == "cnf" and outcome.run.learned.non_horn and exact:
            terminal.say("Together with one quasi-Horn rule for each of them, that is the formula.")
    terminal.say()
    _show_queries(terminal, outcome)


def _show_queries(terminal: Terminal, outcome: Outcome) -> None:
    queries, bounds = outcome.run.queries, outcome.bounds
    proved = (f"{bounds.equivalence:,}", f"{bounds.membership:,}") if bounds else ("-", "-")
    rows = [
        ["equivalence", f"{queries.equivalence}", proved[0]],
        ["membership: refinement", f"{queries.refinement}", proved[1]],
        ["membership: speculative", f"{queries.speculative}", "-"],
        ["membership: equivalence samples", f"{outcome.sampled}", "-"],
        ["distinct interpretations asked", f"{outcome.distinct}", "-"],
    ]
    terminal.table(["queries", "asked", "proved bound"], rows)
