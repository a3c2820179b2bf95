"""A learner at work against oracles made from a formula: what `hornlens learn` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from hornlens.deprecation import deprecated, renamed_argument
from hornlens.errors import HornlensError
from hornlens.exact.envelopes import non_horn_of
from hornlens.exact.sat import cnf_counterexample, solve, solver_of
from hornlens.learning.driver import Bounds, Run, run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.events import Event
from hornlens.learning.horn import HornLearner, horn1_learner
from hornlens.learning.protocol import EquivalenceOracle, Learner, MembershipOracle
from hornlens.limits import Limits
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, bits, intersection
from hornlens.logic.certificates import check_tolerances, ended_early
from hornlens.logic.cnf import Cnf
from hornlens.logic.encoding import dec, enc
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets
from hornlens.logic.theory import Theory
from hornlens.oracles.encoded import EncodedEquivalence, EncodedMembership
from hornlens.oracles.equivalence import BudgetedEquivalence, Kind, SampledEquivalence
from hornlens.oracles.formula import FormulaEquivalence
from hornlens.oracles.known import KnownAnswers
from hornlens.oracles.membership import (
    CachingMembership,
    CountingMembership,
    FormulaMembership,
    LimitedMembership,
)
from hornlens.results.documents.envelope import envelope_as_json

LEARNERS: dict[str, Callable[[int], Learner]] = {
    "envelope": EnvelopeLearner,
    "horn": HornLearner,
    "horn1": horn1_learner,
}
CHOICES = {
    "algorithm": tuple(LEARNERS),
    "goal": ("envelope", "cnf"),
    "equivalence": ("exact", "pac", "budget"),
}
FAIR = "interpretations drawn with each variable true or false with equal chance"


@renamed_argument("target", "goal", since="0.3", removal="0.5")
@dataclass(frozen=True)
class LearnSettings:
    """How a formula is learned.

    Args:
        algorithm: "envelope" (the paper's Algorithm 1), or "horn" or "horn1" for Horn formulas.
        goal: What the equivalence oracle wants: the "envelope", or the formula itself ("cnf").
            Default: what suits the algorithm.
        via_encoding: Learn the formula as the envelope of its encoding (the paper's Section 4.2).
        equivalence: "exact" (or "exhaustive") by SAT, "pac" by samples, "budget" by SAT with a
            limit on queries.
        epsilon: PAC: the share of random interpretations on which the rules may be wrong.
        delta: PAC: the probability that they are wrong on more than that.
        max_equivalence_queries: Budget: how many equivalence queries are asked.
        seed: The seed by which counterexamples and samples are chosen. None: the first ones.
        speculate: Ask membership queries in batches; the result is the same.

    Raises:
        HornlensError: if a combination makes no sense.
    """

    algorithm: str = "envelope"
    goal: str | None = None
    via_encoding: bool = False
    equivalence: str = "exact"
    epsilon: float = 0.05
    delta: float = 0.05
    max_equivalence_queries: int = 100
    seed: int | None = None
    speculate: bool = False

    def __post_init__(self) -> None:
        """Fill in the goal, and check."""
        if self.goal is None:
            plain = self.algorithm == "envelope" and not self.via_encoding
            object.__setattr__(self, "goal", "envelope" if plain else "cnf")
        if self.equivalence == "exhaustive":
            object.__setattr__(self, "equivalence", "exact")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise HornlensError(
                    f"--{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}"
                )
        if self.algorithm != "envelope" and self.goal == "envelope":
            raise HornlensError(
                f"{self.algorithm} learns the formula itself: use --goal cnf, "
                "or --algorithm envelope"
            )
        if self.via_encoding and (self.algorithm != "envelope" or self.goal != "cnf"):
            raise HornlensError("--via-encoding needs --algorithm envelope and --goal cnf")
        if self.via_encoding and self.equivalence == "pac":
            raise HornlensError("--via-encoding works with --equivalence exact or budget")
        check_tolerances(self.epsilon, self.delta)

    @property
    def target(self) -> str | None:
        """The goal, by its old name."""
        deprecated("LearnSettings.target", "LearnSettings.goal", since="0.3", removal="0.5")
        return self.goal


@dataclass(frozen=True)
class LearnOutcome:
    """A run on a formula: what was learned, and what it cost.

    `envelope` and the run are about the formula that the learner was up against: the encoding of
    the given one, if it went that way. `bounds` are the proved ones, where they can be counted.
    """

    formula: Cnf
    settings: LearnSettings
    run: Run
    envelope: Envelope
    bounds: Bounds | None
    sampled: int
    distinct: int

    def learned_formula(self) -> Cnf:
        """Return H ∪ Q as a formula over the target's own variables."""
        clauses = self.run.learned.hypothesis.clauses()
        if self.settings.via_encoding:
            return dec(clauses, self.formula.vocabulary)
        return Cnf(self.formula.vocabulary, clauses)

    def as_json(self, trace: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the outcome as `hornlens learn --format json` prints it."""
        content = envelope_as_json(self.envelope)
        names = self.formula.vocabulary
        if self.settings.via_encoding:  # what was learned is the formula, not the envelope
            for key in ("background", "rules", "readable", "non_horn"):
                del content[key]
            content["variables"] = list(names.names)
        if trace is not None:
            content["trace"] = list(trace)
        queries, bounds = self.run.queries, self.bounds
        content["statistics"] = {
            "equivalence_queries": queries.equivalence,
            "membership_queries": queries.refinement + queries.speculative + self.sampled,
            "refinement": queries.refinement,
            "speculative": queries.speculative,
            "equivalence_samples": self.sampled,
            "distinct": self.distinct,
            "model_calls": 0,
            "distinct_prompts": 0,
            "bounds": bounds
            and {"equivalence_queries": bounds.equivalence, "refinement": bounds.membership},
        }
        # "target" is what the goal was called up to 0.2: who reads this may look for it.
        content["settings"] = {**asdict(self.settings), "target": self.settings.goal}
        if self.settings.goal == "cnf":
            content["cnf"] = [
                {"if": [*names.names_of(c.antecedent)], "any": [*names.names_of(c.consequent)]}
                for c in self.learned_formula().clauses
            ]
        return content


def learn(
    formula: Cnf,
    settings: LearnSettings | None = None,
    watch: Callable[[Event], None] | None = None,
    limits: Limits | None = None,
) -> LearnOutcome:
    """Learn a formula or its envelope by queries.

    Args:
        formula: The target.
        settings: How it is learned. Default: Algorithm 1 with exact oracles.
        watch: A function that is called with every event of the run.
        limits: What may end the run early. The rules that the formula entails, by SAT, are proved
            then; the others are hypotheses. `max_rules` counts both.

    Raises:
        NotHorn: with the proof, if "horn" or "horn1" is given a formula that is not Horn.
    """
    chosen = settings or LearnSettings()
    rng = None if chosen.seed is None else Random(chosen.seed)
    distinct = CountingMembership(FormulaMembership(formula))
    known = KnownAnswers(formula.width)
    cache = CachingMembership(distinct, known)
    membership: MembershipOracle = cache
    sampled = CountingMembership(cache if limits is None else LimitedMembership(cache, limits))
    goal = formula
    equivalence: EquivalenceOracle
    if chosen.via_encoding:
        goal = enc(formula)
        membership = EncodedMembership(cache, formula.width)
        equivalence = EncodedEquivalence(
            lambda guess: cnf_counterexample(formula, guess, rng), formula.vocabulary
        )
    elif chosen.equivalence == "pac":
        equivalence = SampledEquivalence(
            sampled,
            lambda generator: generator.getrandbits(formula.width) if formula.width else 0,
            formula.width,
            chosen.epsilon,
            chosen.delta,
            rng or Random(0),
            known,
            measures=FAIR,
            size=1 << formula.width,
        )
    else:
        kind: Kind = "horn" if chosen.goal == "envelope" else "full"
        equivalence = FormulaEquivalence(formula, kind, rng, limits)
    if chosen.equivalence == "budget":
        equivalence = BudgetedEquivalence(equivalence, chosen.max_equivalence_queries)
    learner = LEARNERS[chosen.algorithm](goal.width)
    done = run(learner, membership, equivalence, chosen.speculate, watch, limits)
    if done.certificate.stopped is not None:
        envelope = _ended(formula, goal, done, cache, limits or Limits())
        done = replace(done, certificate=envelope.certificate)
        return LearnOutcome(formula, chosen, done, envelope, None, sampled.count, distinct.count)
    # H is its own basis when Algorithm 1 or HORN1 ends on an exact yes; otherwise it may not be.
    basis = dg_basis(done.learned.hypothesis.theory)
    # It may stop before it has the whole envelope of an encoding: that is not what was asked for.
    exact = done.certificate.all_rules and not chosen.via_encoding
    envelope = Envelope.of(
        Space.of_variables(goal.vocabulary),
        basis,
        certificate=done.certificate,
        non_horn=non_horn_of(goal, basis)
        if exact
        else NonHorn.of(done.learned.non_horn, complete=False),
    )
    bounds = _bounds(envelope, chosen.algorithm) if exact else None
    return LearnOutcome(formula, chosen, done, envelope, bounds, sampled.count, distinct.count)


def _ended(
    formula: Cnf, goal: Cnf, done: Run, answers: CachingMembership, limits: Limits
) -> Envelope:
    """Return what is proved of a run that was ended early, and what stays a hypothesis.

    Of an encoded formula nothing is proved: its rules are about other variables.
    """
    ended = done.certificate.stopped
    assert ended is not None
    width = goal.width
    proved: list[Rule] = []
    others: list[Rule] = []
    known = [x for x, yes in answers.answers.items() if yes] if goal is formula else []
    positives = Supersets(list({*known, *done.learned.positives}), width)
    with solver_of(goal.clauses, width) as solver:
        for rule in done.learned.hypothesis.theory:
            x = rule.antecedent
            left = rule.consequent & intersection(positives.having(x))
            if left != BOTTOM and not left & ~x:
                continue  # an answer breaks all of it
            held = Rule(x, left)
            broken = (
                solve(solver, [*(i + 1 for i in bits(x)), *without], width) is not None
                for without in ([[]] if held.is_negative else [[-(i + 1)] for i in bits(held.new)])
            )
            (others if goal is not formula or any(broken) else proved).append(held)
    basis = dg_basis(Theory(width, tuple(proved)))
    if limits.max_rules is not None:
        basis = Theory(width, basis.rules[: limits.max_rules])
    held_true = readable(dg_basis(Theory(width, (*proved, *others))))
    hypotheses = tuple(rule for rule in held_true if not basis.entails(rule))
    claim = ended_early(ended, len(basis), len(hypotheses))
    space = Space.of_variables(goal.vocabulary)
    return Envelope.of(space, basis, certificate=claim, non_horn=NonHorn(None), open=hypotheses)


def _bounds(envelope: Envelope, algorithm: str) -> Bounds | None:
    """Return the proved bounds, where the non-Horn examples could be counted."""
    width, rules = len(envelope.vocabulary), len(envelope.basis)
    if algorithm == "horn":
        return Bounds.of_horn(width, rules)
    if envelope.non_horn.count is None:
        return None
    return Bounds.of_envelope(width, rules, envelope.non_horn.count)
