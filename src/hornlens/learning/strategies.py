"""Strategies: who chooses the next questions. Generators that ask nothing, as learners are.

A strategy yields `Cells` to be decided, or `Ask` for interpretations, and is sent what came back:
decisions, or answers. Beside these it may yield events, and is sent None. Limits, counting, worlds
and models are not its business; it may be left alone for ever after any step. What it takes for
true at that time is its `proposal`, which is judged against what is known, rule by rule.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import Decision
from hornlens.logic.sifting import Sifted
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

if TYPE_CHECKING:  # a run that asks everything learns nothing, and starts the quicker
    from hornlens.learning.driver import Judging
    from hornlens.learning.events import Event, Queries
    from hornlens.learning.protocol import Ask, Hypothesis, Learner, Verdict


class Cells(NamedTuple):
    """Cells to be decided, in every world or in one; `again`: so many more answers of each.

    The reply is a list of decisions: what all worlds say of each cell.
    """

    cells: Sequence[int]
    world: int | None = None
    again: int = 0


class Lines(NamedTuple):
    """Cells to be decided in every world, of which is asked what is accepted.

    The reply has a row a cell and a column a label (one, where there are none): 1 if some world
    accepts that, 0 if none does, and -1 where that is not known.
    """

    cells: Sequence[int]


@dataclass(frozen=True)
class Proposal:
    """What a strategy takes for true: rules, what an oracle claims of them, and counts.

    `non_horn` are examples of what the target rejects and no Horn rule can.
    """

    theory: Theory | None = None
    certificate: Certificate | None = None
    non_horn: tuple[int, ...] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)
    sifted: Sifted | None = None
    """What a sift has shown, rule by rule: then there is no theory."""


Step: TypeAlias = "Cells | Lines | Ask | Event"
Reply: TypeAlias = "Sequence[Decision] | Sequence[bool] | NDArray[np.int8] | None"
Steps: TypeAlias = "Generator[Step, Reply, None]"


@runtime_checkable
class Strategy(Protocol):
    """Chooses questions, step by step."""

    def steps(self) -> Steps:
        """Yield what is to be asked, and take what came back, until there is nothing to ask."""
        ...

    def proposal(self) -> Proposal:
        """Return what it takes for true, at any time."""
        ...


@runtime_checkable
class HearsRest(Strategy, Protocol):
    """A strategy that takes what is known of its last `Lines`, if asking ended in their midst."""

    def hear_rest(self, known: Mapping[int, NDArray[np.int8]]) -> None:
        """Take the lines of the cells that were answered, by cell; nothing more will be asked."""
        ...


@dataclass(frozen=True)
class Everything:
    """Asks every cell of a space, and takes nothing for true.

    >>> from hornlens import Space
    >>> from hornlens.theory import Vocabulary
    >>> [step.cells for step in Everything(Space.of_variables(Vocabulary(("a",)))).steps()]
    [[0, 1]]
    """

    space: Space

    def steps(self) -> Steps:
        """Ask all cells in one go: whoever answers knows best how to part them."""
        yield Cells(list(self.space.cells()))

    def proposal(self) -> Proposal:
        """Return nothing."""
        return Proposal()


class Learning:
    """Lets a learner and an equivalence oracle choose: Algorithm 1, or one of one's own.

    `judge` yields the oracle's own questions, if it has any, and returns its verdict. When
    `all_known` returns a certificate, every answer is there: it ends, and proposes nothing, for
    what follows from all answers needs no learner.
    """

    def __init__(
        self,
        learner: Learner,
        judge: Callable[[Hypothesis], Verdict | Judging],
        speculate: bool = True,
        drawn: Callable[[], int] = lambda: 0,
        all_known: Callable[[], Certificate | None] | None = None,
    ):
        """Take a learner; `drawn` counts the samples of its oracle."""

        self.learner, self.judge, self.speculate, self.drawn = learner, judge, speculate, drawn
        self.all_known = all_known
        self._queries: Queries | None = None
        self._certificate: Certificate | None = None
        self._needed = True

    def steps(self) -> Steps:
        """Pass on what the learner and its oracle ask, and what they do."""
        # Imported here: a run that asks everything learns nothing, and starts the quicker.
        from hornlens.learning.driver import conversation
        from hornlens.learning.events import Conjectured, Ended, Progress
        from hornlens.learning.protocol import Ask

        talk = conversation(self.learner, self.judge, self.speculate)
        reply: Any = None
        try:
            while True:
                try:
                    step = talk.send(reply)
                except StopIteration:
                    return
                if self.all_known is not None and isinstance(step, Ask | Conjectured):
                    known = self.all_known()
                    if known is not None:
                        self._needed = False
                        yield Ended(known)
                        return
                if isinstance(step, Progress):
                    self._queries = step.queries
                elif isinstance(step, Ended):
                    self._certificate = step.certificate
                reply = yield step
        finally:
            talk.close()

    def proposal(self) -> Proposal:
        """Return the hypothesis as it stands."""
        from hornlens.learning.events import Queries

        learned, queries, drawn = self.learner.learned(), self._queries or Queries(), self.drawn()
        statistics = {
            "equivalence_queries": queries.equivalence,
            "membership_queries": queries.refinement + queries.speculative + drawn,
            "refinement": queries.refinement,
            "speculative": queries.speculative,
            "equivalence_samples": drawn,
        }
        if not self._needed:
            return Proposal(statistics=statistics)
        theory, non_horn = learned.hypothesis.theory, learned.non_horn
        return Proposal(theory, self._certificate, tuple(non_horn), statistics)
