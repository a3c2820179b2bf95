"""What every strategy has to do: a suite of tests that yours may inherit.

```python
from hornlens.testing.strategies import StrategyConformance

class TestMine(StrategyConformance):
    def make(self, asking):
        return MyStrategy(asking)
```
"""

from __future__ import annotations

from random import Random
from typing import Any

from hornlens.extraction.asking import Questions
from hornlens.extraction.extract import Asking, extract
from hornlens.learning.protocol import Ask
from hornlens.learning.strategies import Cells, Strategy
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.space import Space
from hornlens.oracles.membership import CountingMembership
from hornlens.results.documents.settings import Settings
from hornlens.targets.functions import FunctionTarget

JOB = Nominal("job", ("nurse", "priest", "pilot"))
PLACE = Nominal("place", ("Europe", "Asia"))
AGE = Nominal("age", ("young", "old"))
SPACE = Space((JOB, PLACE, AGE), Nominal("pronoun", ("she", "he")))


def answers(names: tuple[str, ...]) -> str | None:
    """Nurses are she, nothing is said of old pilots, others are he but in Asia."""
    if {"pilot", "old"} <= set(names):
        return None
    return "she" if "nurse" in names or {"Asia", "young"} <= set(names) else "he"


class StrategyConformance:
    """Inherit, and return your strategy from `make`; `complete`: it asks every cell."""

    complete = False

    def make(self, asking: Asking) -> Strategy:
        """Return a new strategy for what it is given."""
        raise NotImplementedError

    def _asking(self) -> Asking:
        target = FunctionTarget(answers, SPACE)
        questions = Questions(target, Policy())
        return Asking(SPACE, CountingMembership(questions), Settings(), Random(0))

    def test_it_is_a_strategy(self) -> None:
        assert isinstance(self.make(self._asking()), Strategy)

    def test_it_yields_cells_of_the_space_or_questions_and_ends(self) -> None:
        questions = Questions(FunctionTarget(answers, SPACE), Policy())
        steps, seen = self.make(self._asking()).steps(), 0
        reply: Any = None
        while True:
            try:
                step: Any = steps.send(reply)
            except StopIteration:
                break
            reply, seen = None, seen + 1
            assert seen < 100_000, "it does not end"
            if isinstance(step, Cells):
                assert all(cell in SPACE and not cell & SPACE.label_mask for cell in step.cells)
                reply = questions.decide(step.cells)
                assert all(isinstance(decision, Decision) for decision in reply)
            elif isinstance(step, Ask):
                assert all(x in SPACE for x in step.batch)
                reply = questions.ask(step.batch)
        if self.complete:
            assert set(questions.decisions) == set(SPACE.cells())

    def test_it_can_say_what_it_takes_for_true_at_any_time(self) -> None:
        strategy = self.make(self._asking())
        assert strategy.proposal() is not None
        result = extract(FunctionTarget(answers, SPACE), strategy=lambda asking: strategy)
        assert strategy.proposal() is not None
        assert result.envelope.certificate.answered is not None

    def test_what_is_concluded_from_it_is_true_whenever_it_is_ended(self) -> None:
        target = FunctionTarget(answers, SPACE)
        whole = extract(target)
        for most in (1, 2, 3, 5, 9, 20):
            limits = Limits(max_questions=most)
            result = extract(target, strategy=self.make, limits=limits)
            assert len(result.decisions) <= most
            for rule, warrant in zip(
                result.envelope.basis.rules, result.envelope.warrants, strict=True
            ):
                assert not warrant.proved or whole.envelope.entails(rule)
            for rule in result.envelope.open:
                assert not result.breaking(rule, undecided=False)

    def test_the_same_strategy_asks_the_same(self) -> None:
        target = FunctionTarget(answers, SPACE)
        first, second = (extract(target, strategy=self.make) for _ in range(2))
        assert list(first.decisions) == list(second.decisions)
        assert first.envelope == second.envelope
