"""What a target is: a black box that decides the cells of a space, whatever it is inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from hornlens.errors import HornlensError
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.space import Space
from hornlens.results.documents.question import Question

if TYPE_CHECKING:
    from hornlens.exact.engine import Progress
    from hornlens.limits import Limits
    from hornlens.logic.envelope import Envelope
    from hornlens.results.documents.settings import Settings

RuleEngine: TypeAlias = "Callable[[Limits | None, Progress | None], Envelope]"
"""Works out the rules of a target, and asks nothing. If one of the limits ends it, it returns the
rules that are proved by then. Progress is called with the number of rules and the share of the work
that is done."""


@runtime_checkable
class Target(Protocol):
    """A black box over a space. A batch of cells is the primitive; one is a batch of one.

    One that turns scores into decisions may have a `policy`, which results then tell of.

    >>> from hornlens import Decision, Space, extract
    >>> from hornlens.theory import Vocabulary
    >>> class EvenlyMany:
    ...     name, space = "evenly many", Space.of_variables(Vocabulary(("a", "b")))
    ...     def identity(self):
    ...         return None
    ...     def decide(self, cells):
    ...         return [Decision(int(cell.bit_count() % 2 == 0)) for cell in cells]
    ...     def show(self, cell):
    ...         return (bin(cell),)
    >>> isinstance(EvenlyMany(), Target)
    True
    >>> print(extract(EvenlyMany()).rules)
    a → b
    b → a
    """

    @property
    def name(self) -> str:
        """How people call it."""
        ...

    @property
    def space(self) -> Space:
        """What can be said of a cell, and the labels it can be given (none: yes or no)."""
        ...

    def identity(self) -> str | None:
        """Return what its decisions depend on; None: no answer of it is ever kept for later."""
        ...

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what it says of each cell, in order. Cells are distinct, and without a label."""
        ...

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell as people read it: the sentences it was asked in, or a row of features."""
        ...


@runtime_checkable
class PromptTarget(Target, Protocol):
    """A target that is asked in prompts, each scored and perhaps kept: what results say of that.

    One whose model says more than scores may have `details`, by prompt, which results then keep;
    so they do with what `sent(cells)` returns, for one of these cells, where a target has that.
    """

    policy: Policy
    """How scores become decisions, and what undecided cells and missing labels count as."""

    @property
    def question(self) -> Question:
        """How it is asked."""
        ...

    @property
    def prompt_count(self) -> int:
        """How many prompts all cells take."""
        ...

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The raw scores of every prompt that was needed so far, by candidate word.

        A prompt to which a word was named, or nothing, has none.
        """
        ...

    @property
    def asked(self) -> int:
        """How many prompts were put to the model itself."""
        ...

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        ...

    @property
    def repeats(self) -> int:
        """How often each prompt is asked."""
        ...


@runtime_checkable
class Interruptible(Target, Protocol):
    """A target whose `decide` may be ended in its midst; it knows what it was told by then."""

    def answered(self, cells: Sequence[int]) -> list[int]:
        """Return those of the cells that it can decide without asking anything more."""
        ...


@runtime_checkable
class Settles(Target, Protocol):
    """A target whose answers vary, and that can be asked again what it has not decided."""

    def settle(self, cells: Sequence[int], more: int) -> None:
        """Ask cells that are not decided so many times more, or until they are."""
        ...


@runtime_checkable
class LooksInside(Target, Protocol):
    """A target that can be looked into: its rules are worked out, where a black box is asked.

    `decide` must agree with what its engine finds: learners still ask it. One whose engine asks
    questions of its own, and sifts by itself, has an attribute `sifts` that is true.
    """

    def engine(self, settings: Settings) -> RuleEngine | None:
        """Return what works out the rules that the settings want; None: it has to be asked."""
        ...


def check_repeats(repeats: int) -> None:
    """Refuse what is no number of repeats."""
    if not isinstance(repeats, int) or repeats < 1:
        raise HornlensError(f"repeats must be 1 or more, not {repeats!r}")
