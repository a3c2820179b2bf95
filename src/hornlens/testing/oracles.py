"""What every membership oracle and every equivalence oracle keeps to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Literal, TypeAlias

from hornlens.formats.certificates import certificate_from_json
from hornlens.learning.protocol import (
    Accepted,
    Counterexample,
    EquivalenceOracle,
    Hypothesis,
    MembershipOracle,
)
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import Certificate
from hornlens.logic.closures import dg_basis_of_positives, intersection_closure
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

Accepts: TypeAlias = Callable[[int], bool]
"""A target: whether it accepts an interpretation."""


def targets(count: int = 30) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield random targets: the number of variables, and what is accepted."""
    for seed in range(count):
        rng = Random(seed)
        width, density = rng.randint(1, 5), rng.choice([0.0, 0.2, 0.5, 0.9, 1.0])
        yield width, frozenset(x for x in range(1 << width) if rng.random() < density)


class MembershipConformance:
    """Give `make`: an oracle of the target that is a function on interpretations."""

    def make(self, width: int, accepts: Accepts) -> MembershipOracle:
        """Return a new oracle."""
        raise NotImplementedError

    def test_answers_stand_in_the_order_of_the_batch(self) -> None:
        for width, positives in targets():
            rng = Random(width)
            oracle = self.make(width, positives.__contains__)
            for size in (1, 2, 15, 16, 40):
                batch = [rng.getrandbits(width) for _ in range(size)]
                assert oracle.ask(batch) == [x in positives for x in batch], batch
            assert oracle.ask(tuple(batch)) == oracle.ask(batch), "a tuple is a batch as well"

    def test_an_empty_batch_has_no_answers(self) -> None:
        assert self.make(2, bool).ask([]) == []

    def test_repetitions_get_the_same_answer(self) -> None:
        oracle = self.make(3, lambda x: x != 5)
        assert oracle.ask([5, 1, 5, 5, 1]) == [False, True, False, False, True]
        assert oracle.ask([5]) + oracle.ask([1]) == [False, True], "also in later batches"

    def test_answers_are_bools(self) -> None:
        assert all(type(answer) is bool for answer in self.make(3, bool).ask([*range(8)] * 4))


class EquivalenceConformance:
    """Give `make`: an oracle of the target; say whether it is exact, and what it compares."""

    exact = True
    """What it accepts is equivalent for certain."""
    goal: Literal["full", "horn"] = "full"
    """`full`: a yes means H ∪ Q ≡ φ. `horn`: H ≡ env(φ)."""

    def make(self, width: int, accepts: Accepts) -> EquivalenceOracle:
        """Return a new oracle."""
        raise NotImplementedError

    def test_a_counterexample_is_one(self) -> None:
        for width, positives in targets():
            oracle = self.make(width, positives.__contains__)
            for hypothesis in hypotheses(width, positives):
                verdict = oracle.judge(hypothesis)
                if isinstance(verdict, Counterexample):
                    x = verdict.example
                    assert 0 <= x < 1 << width
                    assert hypothesis.satisfied_by(x) != (x in positives), (hypothesis, x)

    def test_what_is_accepted_comes_with_a_certificate(self) -> None:
        for width, positives in targets():
            verdict = self.make(width, positives.__contains__).judge(solution(width, positives))
            assert isinstance(verdict, Accepted), "the target itself has no counterexample"
            certificate = verdict.certificate
            assert isinstance(certificate, Certificate) and certificate.sentence.endswith(".")
            assert certificate_from_json(certificate.as_json()) == certificate
            assert certificate.all_rules == self.exact

    def test_an_exact_yes_means_that_nothing_is_wrong(self) -> None:
        for width, positives in targets() if self.exact else ():
            oracle = self.make(width, positives.__contains__)
            closed = intersection_closure(positives)
            for hypothesis in hypotheses(width, positives):
                if isinstance(oracle.judge(hypothesis), Accepted):
                    both = [x for x in range(1 << width) if hypothesis.satisfied_by(x)]
                    horn = [x for x in range(1 << width) if hypothesis.theory.satisfied_by(x)]
                    right = both == sorted(positives)
                    assert right or (self.goal == "horn" and horn == sorted(closed)), hypothesis


def solution(width: int, positives: frozenset[int]) -> Hypothesis:
    """Return H ∪ Q that is equivalent to the target, H the envelope's DG basis."""
    non_horn = intersection_closure(positives) - positives
    return Hypothesis(dg_basis_of_positives(positives, width), frozenset(non_horn))


def hypotheses(width: int, positives: frozenset[int]) -> Iterator[Hypothesis]:
    """Yield hypotheses as learners have them: right, too weak, too strong, with part of Q."""
    rng = Random(len(positives))
    right = solution(width, positives)
    yield Hypothesis(Theory(width))
    yield right
    yield Hypothesis(right.theory)
    for _ in range(10):
        rules = [rule for rule in right.theory if rng.random() < 0.8]
        if rng.random() < 0.5:
            low = rng.getrandbits(width) & rng.getrandbits(width)
            rules.append(Rule(low, rng.choice([BOTTOM, low | rng.getrandbits(width)])))
        excluded = frozenset(x for x in sorted(right.excluded) if rng.random() < 0.7)
        yield Hypothesis(Theory(width, tuple(rules)), excluded)
