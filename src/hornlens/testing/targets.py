"""What every target keeps to. A target's test class inherits these tests, and says how to make it.

Any runner of `test_…` methods will do; pytest is not needed. With it:

    class TestMine(TargetConformance):
        def build(self):
            return MyTarget(...)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import ClassVar

from hornlens.logic.decisions import REASONS, YES, Decision, lead
from hornlens.logic.space import Space
from hornlens.results.documents.settings import Settings
from hornlens.targets.protocol import LooksInside, Target

MOST_CELLS = 200
"""How many cells of a space are asked about."""


def places(space: Space) -> range:
    """Return what a target of a space can decide: places of labels, or NO and YES."""
    return range(YES + 1 if space.label is None else _labels(space))


def _labels(space: Space) -> int:
    return 0 if space.label is None else len(space.label.variables)


def check_decision(decision: Decision, space: Space) -> None:
    """Refuse, by an AssertionError, a decision that no target of this space may give."""
    assert isinstance(decision, Decision), decision
    if decision.winner is None:
        assert decision.abstained in REASONS, f"no answer, for no known reason: {decision}"
    else:
        assert decision.winner in places(space), f"the winner is no label of the space: {decision}"
        assert not decision.abstained, f"an answer, and a reason why there is none: {decision}"
    assert math.isfinite(decision.margin) or decision.scores, f"a margin of nothing: {decision}"
    if decision.scores:
        _check_scores(decision, space)
    if decision.repeats:
        assert len(decision.repeats) == len(places(space)), f"not a count a label: {decision}"
        assert min(decision.repeats) >= 0, decision
        if decision.winner is not None:
            assert decision.repeats[decision.winner] == max(decision.repeats), decision


def _check_scores(decision: Decision, space: Space) -> None:
    """Scores are one a label, and the margin is the winner's lead."""
    scores = decision.scores
    assert len(scores) == _labels(space), f"not one score for each label: {decision}"
    assert not any(map(math.isnan, scores)), decision
    first = scores.index(max(scores)) if decision.winner is None else decision.winner
    if not decision.repeats:
        assert scores[first] == max(scores), f"another label leads: {decision}"
    elif decision.winner is None:
        return  # repeats disagreed: the margin is of what was said most often
    margin = lead(scores[first], max([*scores[:first], *scores[first + 1 :]]))
    assert decision.margin == margin, f"not the lead: {decision}"


class TargetConformance:
    """Inherit this, define `build`, and say whether the target answers with noise."""

    noisy: ClassVar[bool] = False
    """Whether it may answer another time otherwise."""

    def build(self) -> Target:
        """Return a new target, that nothing has been asked of."""
        raise NotImplementedError

    def questions_asked(self, target: Target) -> int | None:
        """Return how often the black box behind a target was asked; None: nobody counts."""
        return None

    def cells(self, target: Target) -> list[int]:
        """Return the cells that are asked about: all of a small space, some of a large one."""
        rng, space = Random(1), target.space
        if space.cell_count <= MOST_CELLS:
            some = list(space.cells())
        else:
            drawn = (space.sample(rng) & ~space.label_mask for _ in range(MOST_CELLS))
            some = list(dict.fromkeys([0, *drawn]))
        rng.shuffle(some)
        return some

    def test_it_is_a_target_with_a_name_and_a_space(self) -> None:
        target = self.build()
        assert isinstance(target, Target)
        assert isinstance(target.name, str) and target.name
        assert isinstance(target.space, Space) and target.space == target.space
        assert self.cells(target), "a space without cells"

    def test_nothing_is_asked_before_it_decides(self) -> None:
        target = self.build()
        target.show(next(target.space.cells()))
        target.identity()
        assert self.questions_asked(target) in (None, 0)
        target.decide(self.cells(target)[:1])
        assert self.questions_asked(target) != 0

    def test_there_is_a_decision_for_each_cell(self) -> None:
        target = self.build()
        cells = self.cells(target)
        decisions = target.decide(cells)
        assert isinstance(decisions, list) and len(decisions) == len(cells)
        for decision in decisions:
            check_decision(decision, target.space)

    def test_no_cells_get_no_decisions(self) -> None:
        assert self.build().decide([]) == []

    def test_decisions_come_in_the_order_of_the_cells(self) -> None:
        for target, cells, decisions in self._decided():
            by_cell = dict(zip(cells, decisions, strict=True))
            assert target.decide(cells[::-1]) == [by_cell[cell] for cell in reversed(cells)]

    def test_what_else_is_in_a_batch_changes_no_decision(self) -> None:
        for _, cells, decisions in self._decided():
            alone = self.build()
            assert [decision for cell in cells for decision in alone.decide([cell])] == decisions

    def test_another_one_of_its_kind_decides_alike(self) -> None:
        for _, cells, decisions in self._decided():
            assert self.build().decide(tuple(cells)) == decisions

    def test_no_cell_that_it_accepts_breaks_what_its_engine_finds(self) -> None:
        target = self.build()
        engine = target.engine(Settings()) if isinstance(target, LooksInside) else None
        if engine is None or target.space.label is not None:
            return
        rules, cells = engine(None, None).basis, self.cells(target)
        for cell, decision in zip(cells, target.decide(cells), strict=True):
            if decision.winner == YES:
                assert rules.satisfied_by(cell), f"it accepts what its engine excludes: {cell}"

    def test_the_cells_that_were_given_are_left_alone(self) -> None:
        target = self.build()
        cells = self.cells(target)
        before = list(cells)
        target.decide(cells)
        assert cells == before

    def test_the_identity_is_stable_or_none(self) -> None:
        target = self.build()
        before = target.identity()
        assert before is None or (isinstance(before, str) and before)
        target.decide(self.cells(target)[:3])
        assert target.identity() == before == self.build().identity()

    def test_every_cell_can_be_shown_to_people(self) -> None:
        target = self.build()
        for cell in self.cells(target):
            lines = target.show(cell)
            assert isinstance(lines, tuple) and lines
            assert all(isinstance(line, str) and line.strip() for line in lines), lines
            assert target.show(cell) == lines

    def _decided(self) -> Iterator[tuple[Target, Sequence[int], list[Decision]]]:
        """Yield a target with all its decisions; nothing, where each time is another."""
        if not self.noisy:
            target = self.build()
            cells = self.cells(target)
            yield target, cells, target.decide(cells)
