"""Asking: cells are put to targets, each once, and a strategy is carried out until it is done.

Every limit ends it with what is known by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.learning.strategies import Cells, HearsRest, Lines
from hornlens.limits import Limits, Reason, Stopped
from hornlens.logic.certificates import ended_early
from hornlens.logic.decisions import YES, Decision, Policy, accepts, united
from hornlens.logic.knowledge import Knowledge, World
from hornlens.logic.maskmap import mask_map
from hornlens.targets.functions import RepeatedTarget
from hornlens.targets.protocol import Interruptible, PromptTarget, Settles, Target

if TYPE_CHECKING:
    from hornlens.learning.events import Event
    from hornlens.learning.protocol import Ask
    from hornlens.learning.strategies import Strategy
    from hornlens.oracles.known import KnownAnswers

Flags = NDArray[np.bool_]
MOST_LABELS = 10
"""Where there are more, what an answer says of most of them is not worth its place in memory."""
PART = 0.2
"""Seconds that a part of the questions may take, if they are asked in parts."""


class Questions:
    """The membership oracle of a target under a policy: each cell is decided once.

    An interpretation is accepted iff its label is what the target says of its cell; without a
    label, or where the target abstains, as the policy says. One decision tells of every label that
    a cell can have ("she" for a nurse is also "not he"): `known` hears all of it.
    """

    def __init__(
        self,
        target: Target,
        policy: Policy,
        known: KnownAnswers | None = None,
        limits: Limits | None = None,
        name: str = "",
        told: Callable[[int], None] | None = None,
    ):
        """Begin with nothing asked. If one of the `limits` is reached, asking raises Stopped.

        `told` is called with the number of cells each time that some were decided.
        """
        self.told = told
        self.target, self.policy, self.known, self.limits = target, policy, known, limits
        self.space, self.name = target.space, name
        self.decisions: MutableMapping[int, Decision] = mask_map(self.space.width)
        for rule in self.space.assumed:
            if (rule.antecedent | max(rule.consequent, 0)) & self.space.label_mask:
                raise HornlensError(
                    f"{rule.show(self.space.vocabulary)} is about the label, which the target "
                    "gives: only rules about the attributes can be taken for granted"
                )
        self._labels = 0 if self.space.label is None else len(self.space.label.variables)

    @property
    def worlds(self) -> Sequence[Questions]:
        """The ways of asking: this one."""
        return (self,)

    @property
    def knowledge(self) -> Knowledge:
        """What is known by now."""
        return Knowledge(self.space, (World(self.policy, self.decisions, self.name),))

    @property
    def prompts(self) -> int:
        """How many prompts a cell takes."""
        if not isinstance(self.target, PromptTarget):
            return 1
        return max(1, self.target.prompt_count // max(1, self.space.cell_count))

    @property
    def calls(self) -> int:
        """How often a target that is asked without prompts is called for a cell."""
        return self.target.repeats if isinstance(self.target, RepeatedTarget) else 1

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer a batch of membership queries with one batch of cells."""
        space = self.space
        if space.label is None:
            new = self._decide_new(batch)
            accepted = self._accepted(batch, [YES] * len(batch))
        else:
            # As `space.label_of` and the cells have it, but -1 for no label, and in one go.
            mask, first = space.label_mask, space.offsets[-1]
            labels = [((x & mask) >> first).bit_length() - 1 for x in batch]
            cells = [x & ~mask for x in batch]
            pairs = zip(cells, labels, strict=True)
            new = self._decide_new([cell for cell, label in pairs if label >= 0])
            accepted = self._accepted(cells, labels)
        if self.known is not None:
            self.known.tell(batch, accepted)
            self._tell(new, self.known)
        return accepted

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the target says of each cell; what is known is not asked again."""
        self._decide_new(cells)
        return [self.decisions[cell] for cell in cells]

    def settle(self, cells: Sequence[int], more: int) -> None:
        """Ask cells that are undecided so many times more, and take what is said now."""
        if cells and isinstance(self.target, Settles):
            self.target.settle(cells, more)
            self.decisions.update(zip(cells, self._asked(list(cells)), strict=True))

    def review(self) -> None:
        """Decide again what was decided by answers that turned out to vary more; nothing is asked.

        How far scores move is known the better, the more was asked again.
        """
        if self.decisions and isinstance(self.target, Settles):
            cells = list(self.decisions)
            self.decisions.update(zip(cells, self._asked(cells), strict=True))

    def _decide_new(self, cells: Sequence[int]) -> list[int]:
        """Decide those of the cells that are not yet, and return them.

        The neutral cell is asked before others if their scores are measured by its own.
        """
        first = [0] if self.policy.calibration == "neutral" and 0 in self.space else []
        asked = ((cell, None) for cell in (*first, *cells) if cell not in self.decisions)
        new = list(mask_map(self.space.width, asked))
        if not new:
            return new
        try:
            for some in self._in_parts(new):
                self.decisions.update(zip(some, self._asked(some), strict=True))
                if self.told is not None:
                    self.told(len(some))
        except Stopped:
            if isinstance(self.target, Interruptible):
                some = self.target.answered(new)
                if some:
                    self.decisions.update(zip(some, self._asked(some), strict=True))
            raise
        return new

    def _in_parts(self, cells: list[int]) -> Iterator[list[int]]:
        """Yield cells, so many at a time that nobody waits long for a limit to be noticed.

        Targets that are asked in prompts check the limit themselves, and know best how to put
        prompts together.
        """
        if self.limits is None and self.told is None:
            yield cells
            return
        limits = self.limits or Limits()
        limits.check()
        room, calls = limits.room(self.prompts), limits.calls_room(self.calls)
        allowed = cells if room is None else cells[:room]
        reason: Reason = "max_questions"
        if calls is not None and calls < len(allowed):
            allowed, reason = cells[:calls], "max_calls"
        if isinstance(self.target, Interruptible):
            if allowed:
                yield allowed
                limits.count(len(allowed) * self.prompts)
        else:
            start, count = 0, 1
            while start < len(allowed):
                limits.check()
                clock = time.perf_counter()
                some = allowed[start : start + count]
                limits.call(len(some) * self.calls)
                yield some
                limits.count(len(some) * self.prompts)
                start += count
                if time.perf_counter() - clock < PART:
                    count *= 2
        if len(allowed) < len(cells):
            limits.reason = reason
            raise Stopped(reason)

    def _asked(self, cells: list[int]) -> list[Decision]:
        """Return what the target says; whatever is wrong with it comes out as one clear error."""
        try:
            said = self.target.decide(cells)
            possible = {None, *range(self._labels or 2)}
            fits = len(said) == len(cells) and all(d.winner in possible for d in said)
        except (HornlensError, Stopped):
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise HornlensError(f"target {self.target.name} failed: {reason}") from error
        if not fits:
            raise HornlensError(
                f"target {self.target.name} does not decide every cell by one of its labels"
            )
        return said

    def _winners(self, cells: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        known = (self.decisions.get(cell) for cell in cells)
        return np.array([-1 if d is None else d.place for d in known], dtype=np.int64)

    def _accepted(self, cells: Sequence[int], asked: Sequence[int]) -> list[bool]:
        found: list[bool] = accepts(self.policy, self._winners(cells), asked).tolist()
        return found

    def _tell(self, cells: Sequence[int], known: KnownAnswers) -> None:
        """Pass on what follows from new decisions; of many labels, only the one that won."""
        space = self.space
        if self._labels <= MOST_LABELS:
            places = range(self._labels)
            accepted = accepts(self.policy, self._winners(cells)[:, None], places)
            examples = [space.with_label(cell, place) for cell in cells for place in places]
            known.tell(examples, accepted.reshape(-1).tolist())
            return
        won = [
            (cell, winner) for cell in cells if (winner := self.decisions[cell].winner) is not None
        ]
        examples = [space.with_label(cell, winner) for cell, winner in won]
        known.tell(examples, [True] * len(examples))


class UnitedQuestions:
    """The membership oracle of several worlds: what any of them accepts, it accepts."""

    def __init__(self, worlds: Sequence[Questions]):
        """Take the worlds' own, which keep what they were told."""
        self.worlds = worlds
        self.space = worlds[0].space
        self.known: KnownAnswers | None = None

    @property
    def knowledge(self) -> Knowledge:
        """What is known by now, of all worlds."""
        return Knowledge(self.space, tuple(w for q in self.worlds for w in q.knowledge.worlds))

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer a batch, asking each world about what none before it accepts."""
        accepted = dict.fromkeys(batch, False)
        for world in self.worlds:
            rest = [x for x, yes in accepted.items() if not yes]
            if rest:
                accepted.update(zip(rest, world.ask(rest), strict=True))
        found = [accepted[x] for x in batch]
        if self.known is not None:
            self.known.tell(batch, found)
        return found

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what all worlds say of each cell."""
        rounds = [world.decide(cells) for world in self.worlds]
        labels = 2 if self.space.label is None else len(self.space.label.variables)
        return [united(decisions, labels) for decisions in zip(*rounds, strict=True)]


def carry_out(
    strategy: Strategy,
    questions: Questions | UnitedQuestions,
    watch: Callable[[Event], None] | None = None,
    limits: Limits | None = None,
) -> Reason | None:
    """Ask what a strategy wants to know until it is done; return why it was ended before, if so.

    `watch` sees its events.
    """
    steps = strategy.steps()
    reply: Any = None
    step: Any = None
    ended: Reason | None = None
    try:
        while True:
            try:
                step = steps.send(reply)
            except StopIteration:
                return None
            reply = None
            if isinstance(step, Lines):
                questions.decide(step.cells)
                reply = accepted_lines(questions.knowledge, step.cells)
                continue
            if isinstance(step, Cells):
                reply = _decided(step, questions)
                continue
            # Only learners yield these: a run that asks everything imports none of them.
            from hornlens.learning.events import Ended
            from hornlens.learning.protocol import Ask

            if isinstance(step, Ask):
                reply = questions.ask(step.batch)
            else:
                reply = _answered(step, questions, watch, limits)
    except Stopped as stopped:
        ended = stopped.reason
    except Exception as error:
        if limits is None or not limits.caught(error):
            raise
        ended = "interrupt"
    finally:
        steps.close()
    if isinstance(step, Lines) and isinstance(strategy, HearsRest):
        # The first world is asked first: what is not known of the others may break a rule.
        known = [c for c in step.cells if c in questions.worlds[0].decisions]
        lines = accepted_lines(questions.knowledge, known)
        strategy.hear_rest(dict(zip(known, lines, strict=True)))
    if watch is not None and ended is not None:
        from hornlens.learning.events import Ended

        watch(Ended(ended_early(ended, 0)))
    return ended


def accepted_lines(knowledge: Knowledge, cells: Sequence[int]) -> NDArray[np.int8]:
    """Return for each cell and label whether it is accepted: 1, 0, or -1 where nobody knows."""
    sure, may = knowledge.lines(cells, may=False), knowledge.lines(cells, may=True)
    lines = np.where(sure, 1, np.where(may, -1, 0)).astype(np.int8)
    return lines if knowledge.space.label is None else lines[:, 1:]


def _answered(
    step: Ask | Event,
    questions: Questions | UnitedQuestions,
    watch: Callable[[Event], None] | None,
    limits: Limits | None,
) -> list[bool] | None:
    """Answer what a learner asks, or pass on what it says; a limit that is reached ends it.

    Only learners come here: a run that asks everything imports nothing of them.
    """
    from hornlens.learning.events import Conjectured, Ended
    from hornlens.learning.protocol import Ask

    if isinstance(step, Ask):
        return questions.ask(step.batch)
    if watch is not None:
        watch(step)
    rules = len(step.theory) if isinstance(step, Conjectured) else 0
    if limits is not None and not isinstance(step, Ended):
        limits.check(rules)
    return None


def _decided(step: Any, questions: Questions | UnitedQuestions) -> list[Decision]:
    worlds = questions.worlds if step.world is None else [questions.worlds[step.world]]
    if step.again:
        for world in worlds:
            world.settle(step.cells, step.again)
        return []
    if step.world is not None:
        return worlds[0].decide(step.cells)
    return questions.decide(step.cells)
