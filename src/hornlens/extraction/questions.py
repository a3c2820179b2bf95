"""Membership queries put to a target: each cell is decided once, and all that follows is known."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.exact.grid import LabelledSpace, cell_index
from hornlens.limits import Limits, Stopped
from hornlens.logic.decisions import YES, Decision, Policy, accepts
from hornlens.logic.maskmap import mask_map
from hornlens.logic.space import Space
from hornlens.targets.protocol import Interruptible, Target

if TYPE_CHECKING:
    from hornlens.oracles.known import KnownAnswers

Flags = NDArray[np.bool_]
MOST_LABELS = 10
"""Where there are more, what an answer says of most of them is not worth its place in memory."""

PART = 0.2
"""Seconds that a part of the questions may take, if they are asked in parts."""


class Questions:
    """The membership oracle of a target under a policy.

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
    ):
        """Begin with nothing asked. If one of the `limits` is reached, asking raises Stopped."""
        self.target, self.policy, self.known, self.limits = target, policy, known, limits
        self.space = target.space
        self.decisions: MutableMapping[int, Decision] = mask_map(self.space.width)
        for rule in self.space.granted:
            if (rule.antecedent | max(rule.consequent, 0)) & self.space.label_mask:
                raise HornlensError(
                    f"{rule.show(self.space.vocabulary)} is about the label, which the target "
                    "gives: only rules about the attributes can be taken for granted"
                )
        self._labels = 0 if self.space.label is None else len(self.space.label.variables)

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

    def decide_again(self, cells: Sequence[int]) -> None:
        """Take what the target says of cells now in the place of what it said before."""
        self.decisions.update(zip(cells, self._asked(list(cells)), strict=True))

    def _decide_new(self, cells: Sequence[int]) -> list[int]:
        """Decide those of the cells that are not yet, and return them."""
        asked = ((cell, None) for cell in cells if cell not in self.decisions)
        new = list(mask_map(self.space.width, asked))
        if not new:
            return new
        try:
            for some in self._in_parts(new):
                self.decisions.update(zip(some, self._asked(some), strict=True))
        except Stopped:
            if isinstance(self.target, Interruptible):
                some = self.target.answered(new)
                self.decisions.update(zip(some, self._asked(some), strict=True))
            raise
        return new

    def _in_parts(self, cells: list[int]) -> Iterator[list[int]]:
        """Yield cells, so many at a time that nobody waits long for a limit to be heeded.

        Who is asked in prompts heeds it by itself, and knows best how to put them together.
        """
        if self.limits is not None:
            self.limits.check()
        if self.limits is None or isinstance(self.target, Interruptible):
            yield cells
            return
        start, count = 0, 1
        while start < len(cells):
            self.limits.check()
            clock = time.perf_counter()
            yield cells[start : start + count]
            start += count
            if time.perf_counter() - clock < PART:
                count *= 2

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

    def tabulate(self, undecided: bool = True) -> LabelledSpace:
        """Decide every cell, and so label the whole space; what is undecided counts as is said."""
        self.decide(list(self.space.cells()))
        return self.possible(undecided)

    def possible(self, undecided: bool = True) -> LabelledSpace:
        """Label the space by what the target accepts, or may accept as far as it was not asked.

        A rule that holds of all this holds whatever the target would say. And no other does: of a
        cell that was not asked, each label may be the one.
        """
        space = self.space
        cells = list(space.cells())
        asked = [YES] if space.label is None else [-1, *range(self._labels)]
        positive = accepts(self.policy, self._winners(cells)[:, None], asked, undecided)
        unknown = np.array([cell not in self.decisions for cell in cells], dtype=np.bool_)
        positive |= unknown[:, None] & (np.array(asked) >= 0)
        if not space.granted:
            if space.complete:
                positive = _among_all_choices(space, positive)
            return LabelledSpace(space, positive.reshape(-1))
        accepted = {
            x
            for cell, line in zip(cells, positive.tolist(), strict=True)
            for x in self._labelled(cell, [i for i, yes in zip(asked, line, strict=True) if yes])
        }
        return LabelledSpace.of(space, accepted.__contains__)

    def _winners(self, cells: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        known = (self.decisions.get(cell) for cell in cells)
        return np.array([-1 if d is None else d.place for d in known], dtype=np.int64)

    def _accepted(self, cells: Sequence[int], asked: Sequence[int]) -> list[bool]:
        found: list[bool] = accepts(self.policy, self._winners(cells), asked).tolist()
        return found

    def _tell(self, cells: Sequence[int], known: KnownAnswers) -> None:
        """Pass on what follows from new decisions; of many labels, only the one that won."""
        if self._labels <= MOST_LABELS:
            places = range(self._labels)
            accepted = accepts(self.policy, self._winners(cells)[:, None], places)
            examples = [x for cell in cells for x in self._labelled(cell, places)]
            known.tell(examples, accepted.reshape(-1).tolist())
            return
        won = [
            (cell, winner) for cell in cells if (winner := self.decisions[cell].winner) is not None
        ]
        examples = [self.space.with_label(cell, winner) for cell, winner in won]
        known.tell(examples, [True] * len(examples))

    def _labelled(self, cell: int, labels: Iterable[int]) -> list[int]:
        if not self._labels:
            return [cell for _ in labels]
        return [cell if label < 0 else self.space.with_label(cell, label) for label in labels]

    def accepted(self) -> Iterator[int]:
        """Yield what the target is known to accept, with a label where there are labels."""
        places = range(self._labels) if self._labels else [YES]
        cells = list(self.decisions)
        lines = accepts(self.policy, self._winners(cells)[:, None], places).tolist()
        for cell, line in zip(cells, lines, strict=True):
            yield from self._labelled(cell, [i for i, yes in zip(places, line, strict=True) if yes])

    @property
    def policies(self) -> list[Policy]:
        """The policy."""
        return [self.policy]

    def cells(self) -> Iterable[int]:
        """Return the cells that were asked about."""
        return self.decisions.keys()

    @property
    def asked(self) -> int:
        """How many cells were asked about."""
        return len(self.decisions)


def _among_all_choices(space: Space, positive: Flags) -> Flags:
    """Return what is accepted, by cell and label, in the grid of all that can be said."""
    found = np.zeros(space.shape, dtype=np.bool_)
    where = cell_index(space)
    labelled = positive if space.label is None else positive[:, 1:]
    found[where] = labelled.reshape(found[where].shape)
    return found


class UnitedQuestions:
    """The membership oracle of several worlds: what any of them accepts, it accepts."""

    def __init__(self, worlds: Sequence[Questions]):
        """Take the worlds' own, which keep what they were told."""
        self.worlds = worlds
        self.space = worlds[0].space
        self.known: KnownAnswers | None = None

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

    def tabulate(self, undecided: bool = True) -> LabelledSpace:
        """Decide every cell in every world, and so label the whole space."""
        from hornlens.exact.worlds import union

        return union([world.tabulate(undecided) for world in self.worlds])

    def possible(self) -> LabelledSpace:
        """Label the space by what some world accepts, or may accept as far as it was not asked."""
        from hornlens.exact.worlds import union

        return union([world.possible() for world in self.worlds])

    def accepted(self) -> Iterator[int]:
        """Yield what some world is known to accept, with a label where there are labels."""
        for world in self.worlds:
            yield from world.accepted()

    @property
    def policies(self) -> list[Policy]:
        """The policy of each world."""
        return [world.policy for world in self.worlds]

    def cells(self) -> Iterable[int]:
        """Return the cells that every world was asked about."""
        first, *others = self.worlds
        return [c for c in first.decisions if all(c in each.decisions for each in others)]

    @property
    def asked(self) -> int:
        """How many cells every world was asked about."""
        return sum(1 for _ in self.cells())
