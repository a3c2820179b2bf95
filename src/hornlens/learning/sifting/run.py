"""A run: what is sifted for, what was asked so far, and how cells are asked and drawn."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.events import Sifting
from hornlens.learning.sifting.axes import Box, Cells, Ground
from hornlens.learning.sifting.candidates import CandidateRules, Statement
from hornlens.learning.sifting.drawing import Stream
from hornlens.learning.sifting.families import Family
from hornlens.learning.sifting.tally import Answers, Tally
from hornlens.learning.strategies import Lines
from hornlens.logic.sifting import Draw
from hornlens.logic.space import Space

Cell: TypeAlias = NDArray[np.int64]
Found = TypeVar("Found")
Looking: TypeAlias = "Generator[Lines | Sifting, Answers, Found]"
"""It asks, and comes to something."""
Phase: TypeAlias = "Looking[int]"
"""A part of a run: it yields what is asked, and returns how much of something it did."""
EVER = 1 << 62
"""As many questions as anyone likes."""


@dataclass(frozen=True)
class SiftOptions:
    """What is sifted for: K conditions on attributes, ε, δ, the seed, the questions allowed."""

    conditions: int = 2
    epsilon: float = 0.05
    delta: float = 0.05
    seed: int = 0
    budget: int | None = None
    varies: bool = False
    """Whether asking a cell again may give another answer."""
    rare: float = 2.0
    """A label is rare if it is given in at most so many times ε of all cells: then it is not sifted
    where it is never given, but sought where it is given more often. 0: none is."""


@dataclass(eq=False)
class SiftRun:
    """The state that all phases share."""

    space: Space
    options: SiftOptions
    ground: Ground
    tally: Tally
    rng: np.random.Generator
    left: float
    """What is left of δ."""
    families: list[Family] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    curve: list[tuple[int, int]] = field(default_factory=list)
    uniform: list[int] = field(default_factory=list)
    """The places of the cells that were taken from all cells alike."""
    to_go: int | None = None
    """How many more questions it takes, about; None as long as nobody knows."""
    _pending: list[Cell] = field(default_factory=list)
    """The cells that are being asked."""
    _bases: Sequence[int] = ()
    """Where those were drawn from, if they were drawn for the last family."""
    _streams: dict[tuple[int, int], Stream] = field(default_factory=dict)

    @classmethod
    def of(cls, space: Space, statements: Sequence[Statement], options: SiftOptions) -> SiftRun:
        """Lay out all candidates; nothing is asked yet."""
        ground = Ground.of(space)
        candidates = CandidateRules.of(ground, options.conditions, len(statements))
        # In a complete space, a value is concluded where all others are excluded.
        concluding = -1 if space.complete else options.conditions - (space.label is not None)
        tally = Tally(ground, candidates, statements, concluding)
        rng = np.random.default_rng(options.seed)
        return cls(space, options, ground, tally, rng, options.delta)

    @property
    def room(self) -> int:
        """How many questions may still be asked."""
        budget = self.options.budget
        return EVER if budget is None else max(0, budget - len(self.tally))

    @property
    def last(self) -> Family | None:
        """The family that was fixed last."""
        return self.families[-1] if self.families else None

    # --- asking ---

    def ask(self, cells: Sequence[Cell]) -> Phase:
        """Ask what is new of these cells; return how many that are."""
        new: dict[bytes, Cell] = {}
        for cell in cells:
            if self.tally.is_new(cell):
                new.setdefault(cell.tobytes(), cell)
        self._pending = list(new.values())[: self.room]
        if not self._pending:
            return 0
        rows = np.array(self._pending)
        answers = yield Lines(self.ground.masks(rows))
        self._pending = []
        self._take(rows, answers)
        yield Sifting(len(self.tally), self.tally.live, self.tally.possible, self.to_go)
        return len(rows)

    def _take(self, rows: Cells, answers: Answers) -> None:
        self.tally.grow(rows, self.ground.masks(rows), answers)
        self.curve.append((len(self.tally), self.tally.live))

    def hear(self, cells: Cells, answers: Answers) -> None:
        """Take answers to cells that were asked beforehand: they refute, and support no claim."""
        new: dict[bytes, int] = {}
        for place, cell in enumerate(cells):
            if self.tally.is_new(cell):
                new.setdefault(cell.tobytes(), place)
        if new:
            places = list(new.values())
            self._take(cells[places], answers[places])

    def inside(self, box: Box, count: int) -> list[Cell]:
        """Draw a few cells of a box that were not asked, for no claim."""
        numbered = self.ground.numbered(box)
        cells: list[Cell] = []
        for _ in range(20 * count):
            if len(cells) == count or not numbered.room:
                break
            cell = numbered.any(self.rng)
            fine = self.ground.counted or self.ground.allows(cell[None])[0]
            if fine and self.tally.is_new(cell):
                cells.append(cell)
        return cells

    # --- drawing for a family ---

    def share(self, part: float) -> float:
        """Take a part of what is left of δ."""
        delta = part * self.left
        self.left -= delta
        return delta

    def draw(self, family: Family, plan: Mapping[int, int]) -> Phase:
        """Draw so many cells from each base, ask them, and let the family hear the answers.

        They are heard in the order of drawing. Returns how many were asked.
        """
        taken: set[bytes] = set()
        cells: list[Cell] = []
        bases: list[int] = []
        for base, count in plan.items():
            key = family.number, base
            if key not in self._streams:
                box = family.bases[base][0]
                self._streams[key] = Stream.of(self.options.seed, *key, box, self.ground)
            for _ in range(min(count, self.room - len(cells))):
                cell = self._streams[key].draw(self.tally, taken)
                if cell is None:
                    break
                taken.add(cell.tobytes())
                cells.append(cell)
                bases.append(base)
        self._bases = bases
        asked = yield from self.ask(cells)
        self._hear(family, len(self.tally) - asked, asked)
        return asked

    def _hear(self, family: Family, first: int, count: int) -> None:
        tally = self.tally
        for at, base in zip(range(first, first + count), self._bases, strict=False):
            self.draws.append(Draw(at, family.number, base))
            if all(part is None for part in family.bases[base][0]):
                self.uniform.append(at)
            family.hear(base, tally.cells[at], tally.broken[:, at], tally.unknown[:, at])
        self._bases = ()

    def hear_rest(self, known: Mapping[int, NDArray[np.int8]]) -> None:
        """Take what is known of the last cells, where asking was ended in their midst.

        Of cells that were drawn, those count that come before the first without an answer.
        """
        masks = self.ground.masks(np.array(self._pending)) if self._pending else []
        there = [k for k, mask in enumerate(masks) if mask in known]
        if not there:
            return
        first = next((k for k, mask in enumerate(masks) if mask not in known), len(masks))
        rows, self._pending = np.array([self._pending[k] for k in there]), []
        self._take(rows, np.array([known[masks[k]] for k in there]))
        if self._bases and self.last is not None:
            start = len(self.tally) - len(there)
            self._hear(self.last, start, first)
