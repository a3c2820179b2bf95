"""Knowledge: what is known of each cell, in every world. What may be concluded follows from it.

A cell is decided, or undecided (it has an answer that is not known), or was not asked. So there are
two readings of a space: what *may* be accepted, and what *is*. A rule that holds of all that may be
is certain; one that nothing known breaks is possible; certain ⊆ true ⊆ possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.counting import cells_above
from hornlens.logic.decisions import UNDECIDED, YES, Decision, Policy, accepts
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets

AT_A_TIME = 1 << 16
"""To count what one rule speaks of, so many combinations are looked at, at most."""


class World(NamedTuple):
    """One way of asking: what was decided of each cell, and what that counts as."""

    policy: Policy
    decisions: Mapping[int, Decision]
    name: str = ""


class Counts(NamedTuple):
    """The cells that a rule speaks of, over all worlds: answered for it or against it, or not.

    `silent` got no answer, `undecided` one that is not known, `unasked` were not asked.
    """

    clean: int
    broken: int
    silent: int
    undecided: int
    unasked: int


@dataclass(frozen=True)
class Knowledge:
    """What is known of the cells of a space; an interpretation is accepted if one world does so."""

    space: Space
    worlds: tuple[World, ...]

    # --- how much is known ---

    @cached_property
    def total(self) -> int:
        """How many cells there are; where nobody can count those that occur, all of the grid."""
        space = self.space
        return count if (count := cells_above(space)) is not None else space.cell_count

    @cached_property
    def asked(self) -> Sequence[int]:
        """The cells that every world was asked about."""
        first, *others = (world.decisions for world in self.worlds)
        if not others:
            return list(first)
        return [cell for cell in first if all(cell in each for each in others)]

    @property
    def unasked(self) -> int:
        """How many cells some world was not asked about."""
        return self.total - len(self.asked)

    @cached_property
    def undecided(self) -> int:
        """How many answers are not known."""
        return sum(d.abstained == UNDECIDED for w in self.worlds for d in w.decisions.values())

    @cached_property
    def answered(self) -> tuple[int, int]:
        """How many questions got an answer, and how many there were."""
        silent = asked = 0
        for world in self.worlds:
            asked += len(world.decisions)
            silent += sum(
                decision.winner is None and not decision.answered
                for decision in world.decisions.values()
            )
        return asked - silent, asked

    # --- what is accepted ---

    @property
    def labels(self) -> Sequence[int]:
        """What an interpretation may claim of its cell: a label's place, or none (-1)."""
        label = self.space.label
        return [YES] if label is None else [-1, *range(len(label.variables))]

    def lines(self, cells: Sequence[int], may: bool) -> NDArray[np.bool_]:
        """Return, for each cell and each of `labels`, whether it is accepted, or may be."""
        accepted = np.zeros((len(cells), len(self.labels)), dtype=np.bool_)
        claimed = np.array(self.labels) >= 0
        for policy, decisions, _ in self.worlds:
            known = [decisions.get(cell) for cell in cells]
            places = np.array([-1 if d is None else d.place for d in known], dtype=np.int64)
            lines = accepts(policy, places[:, None], self.labels, undecided=may)
            unasked = np.array([d is None for d in known], dtype=np.bool_)[:, None]
            accepted |= np.where(unasked & claimed, may, lines)
        return accepted

    def interpretations(self, cells: Iterable[int], lines: NDArray[np.bool_]) -> Iterator[int]:
        """Yield the interpretations that lines of labels say yes to."""
        space, labels = self.space, self.labels
        for cell, line in zip(cells, lines.tolist(), strict=True):
            for label, yes in zip(labels, line, strict=True):
                if yes:
                    is_bare = label < 0 or space.label is None
                    yield cell if is_bare else space.with_label(cell, label)

    def accepted(self) -> list[int]:
        """Return all that is known to be accepted, with a label where there are labels."""
        cells = list(dict.fromkeys(cell for world in self.worlds for cell in world.decisions))
        known = self.lines(cells, may=False)
        if self.space.label is not None:
            known[:, 0] = False  # what claims no label says nothing of an answer
        return list(self.interpretations(cells, known))

    # --- of one rule ---

    def count(self, rule: Rule) -> Counts:
        """Count the cells that a rule speaks of, by what is known of them."""
        space, left = self.space, rule.antecedent & ~self.space.label_mask
        clean = broken = silent = undecided = seen = 0
        for world in self.worlds:
            cells = [cell for cell in world.decisions if left & ~cell == 0]
            lines = Knowledge(space, (world,)).lines(cells, may=False)
            for cell, line in zip(cells, lines, strict=True):
                decision = world.decisions[cell]
                seen += 1
                if decision.abstained == UNDECIDED:
                    undecided += 1
                elif decision.winner is None:
                    silent += 1
                elif any(
                    not rule.satisfied_by(x) for x in self.interpretations([cell], line[None])
                ):
                    broken += 1
                else:
                    clean += 1
        cells_above = count_above(space, left)
        unasked = 0 if cells_above is None else cells_above * len(self.worlds) - seen
        return Counts(clean, broken, silent, undecided, unasked)

    def is_settled(self, rules: Sequence[Rule]) -> list[bool]:
        """Say of rules that no answer breaks whether every cell was asked that they speak of."""
        if self.space.assumed:
            return [False] * len(rules)  # how many cells there are takes going through them
        asked = Supersets(self.asked, self.space.width)
        left = [rule.antecedent & ~self.space.label_mask for rule in rules]
        return [len(asked.places(cell)) == count_above(self.space, cell) for cell in left]


def count_above(space: Space, cell: int) -> int | None:
    """Return how many cells have all that a cell has; None if too many had to be looked at."""
    return cells_above(space, cell, AT_A_TIME)
