"""What every learner keeps to, on random targets inside and outside of domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random

from hornlens.learning.driver import Run, run
from hornlens.learning.events import (
    Asked,
    Conjectured,
    CounterexampleTaken,
    Ended,
    Event,
    NegativeSet,
    Progress,
    RuleAdded,
    RuleChanged,
    RuleRetired,
)
from hornlens.learning.protocol import (
    Accepted,
    Counterexample,
    Hypothesis,
    Learner,
    NotHorn,
    Verdict,
)
from hornlens.logic.bits import intersection
from hornlens.logic.certificates import EXACT
from hornlens.logic.closures import intersection_closure
from hornlens.logic.rule import Rule


@dataclass
class Teacher:
    """A target inside a domain that answers both kinds of queries, and remembers them."""

    width: int
    domain: tuple[int, ...]
    positives: frozenset[int]
    choose: Callable[[Sequence[int]], int]
    asked: list[int] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    judged: int = 0

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Look each query up."""
        self.asked += batch
        return [x in self.positives for x in batch]

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return one of all counterexamples in the domain, or yes: H ∪ Q is the target."""
        self.judged += 1
        wrong = [x for x in self.domain if hypothesis.satisfied_by(x) != (x in self.positives)]
        if not wrong:
            return Accepted(EXACT)
        self.shown.append(self.choose(wrong))
        return Counterexample(self.shown[-1])


def teachers(horn: bool, attributes: bool, count: int = 40) -> Iterator[Teacher]:
    """Yield random targets: Horn ones or any; with attributes, or over all interpretations."""
    for seed in range(count):
        rng = Random(f"{seed} {horn} {attributes}")
        sizes = [rng.randint(1, 3) if attributes else 1 for _ in range(rng.randint(0, 4))]
        axes, width = [], 0
        for size in sizes:
            axes.append((0, *(1 << i for i in range(width, width + size))))
            width += size
        domain = tuple(map(sum, product(*axes)))
        density = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        positives = {x for x in domain if rng.random() < density}
        if horn:
            positives = intersection_closure(positives)
        choose: Callable[[Sequence[int]], int] = (min, max, rng.choice)[rng.randrange(3)]
        yield Teacher(width, domain, frozenset(positives), choose)


class LearnerConformance:
    """Give `make`, and say what the learner promises beside the protocol."""

    horn_only = False
    """It raises NotHorn, with a proof, on targets that are not Horn."""
    asks_intersections = True
    """It asks about intersections of counterexamples only."""
    reports_rules = True
    """Its events about rules add up to its hypothesis."""

    def make(self, width: int) -> Learner:
        """Return a new learner for targets over `width` variables."""
        raise NotImplementedError

    def test_it_learns_horn_targets(self) -> None:
        for teacher in teachers(horn=True, attributes=False):
            self._learn(teacher)

    def test_it_learns_inside_a_domain(self) -> None:
        for teacher in teachers(horn=True, attributes=True):
            self._learn(teacher)
            assert {*teacher.asked} <= {*teacher.domain}, "it asked outside of the domain"

    def test_it_ends_on_every_target(self) -> None:
        for attributes in (False, True):
            for teacher in teachers(horn=False, attributes=attributes):
                closed = intersection_closure(teacher.positives)
                try:
                    done = self._learn(teacher)
                except NotHorn as proof:
                    assert self.horn_only, proof
                    assert {*proof.positives} <= teacher.positives, proof
                    assert proof.negative in closed - teacher.positives, proof
                    assert intersection(proof.positives) == proof.negative, proof
                    continue
                theory = done.learned.hypothesis.theory
                envelope = {x for x in teacher.domain if theory.satisfied_by(x)}
                assert envelope == closed, "its rules alone are not the envelope"
                assert {*done.learned.non_horn} <= closed - teacher.positives

    def test_it_asks_about_intersections_of_counterexamples_only(self) -> None:
        for teacher in teachers(horn=True, attributes=True) if self.asks_intersections else ():
            self._learn(teacher)
            assert {*teacher.asked} <= intersection_closure(teacher.shown)

    def test_its_queries_are_counted_and_speculation_changes_nothing_else(self) -> None:
        pairs = zip(*(teachers(horn=True, attributes=True) for _ in range(2)), strict=True)
        for one_by_one, at_once in pairs:
            plain = self._learn(one_by_one)
            speculative = self._learn(at_once, speculate=True)
            for done, teacher in ((plain, one_by_one), (speculative, at_once)):
                asked = done.queries.refinement + done.queries.speculative
                assert (done.queries.equivalence, asked) == (teacher.judged, len(teacher.asked))
            assert plain.learned == speculative.learned
            assert plain.queries.refinement == speculative.queries.refinement
            assert plain.queries.speculative == 0

    def test_its_events_agree_with_the_target_and_the_result(self) -> None:
        for horn in (True, False):
            for teacher in teachers(horn, attributes=True):
                seen: list[Event] = []
                try:
                    done = self._learn(teacher, watch=seen.append)
                except NotHorn:
                    continue
                assert [e for e in seen if isinstance(e, Ended)] == [Ended(done.certificate)]
                assert isinstance(seen[-1], Ended)
                assert [e for e in seen if isinstance(e, Progress)][-1].queries == done.queries
                conjectured = [e for e in seen if isinstance(e, Conjectured)]
                assert [e.number for e in conjectured] == [*range(1, len(conjectured) + 1)]
                assert conjectured[-1].theory == done.learned.hypothesis.theory
                assert [x for e in seen if isinstance(e, Asked) for x in e.batch[: e.needed]] == (
                    teacher.asked
                )
                taken = [e for e in seen if isinstance(e, CounterexampleTaken)]
                assert [(e.number, e.example) for e in taken] == [*enumerate(teacher.shown, 1)]
                assert all(e.positive == (e.example in teacher.positives) for e in taken)
                rules, negatives = folded(seen)
                assert tuple(negatives.values()) == done.learned.negatives
                if self.reports_rules:
                    assert tuple(rules.values()) == done.learned.hypothesis.theory.rules

    def test_it_does_the_same_again(self) -> None:
        pairs = zip(*(teachers(horn=True, attributes=True) for _ in range(2)), strict=True)
        for first, second in pairs:
            seen: tuple[list[Event], list[Event]] = [], []
            self._learn(first, watch=seen[0].append)
            self._learn(second, watch=seen[1].append)
            assert seen[0] == seen[1]

    def _learn(
        self,
        teacher: Teacher,
        speculate: bool = False,
        watch: Callable[[Event], None] | None = None,
    ) -> Run:
        done = run(self.make(teacher.width), teacher, teacher, speculate, watch)
        accepted = {x for x in teacher.domain if done.learned.hypothesis.satisfied_by(x)}
        assert accepted == teacher.positives and done.certificate.all_rules
        return done


def folded(events: Sequence[Event]) -> tuple[dict[int, Rule], dict[int, int]]:
    """Return H and E⁻ by position, as the events tell of them."""
    rules: dict[int, Rule] = {}
    negatives: dict[int, int] = {}
    for event in events:
        match event:
            case NegativeSet(position, before, after):
                assert negatives.get(position) == before, event
                negatives[position] = after
            case RuleAdded(position, rule):
                assert position not in rules, event
                rules[position] = rule
            case RuleChanged(position, before, rule):
                assert rules[position] == before, event
                rules[position] = rule
            case RuleRetired(position, antecedent):
                assert negatives.pop(position) == antecedent, event
                rules.pop(position, None)
    return rules, negatives
