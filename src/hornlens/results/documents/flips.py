"""What changing some attributes does to the answers: pairs of inputs, and a sentence.

A *flip* is two cells that were asked, differ in the named attributes only, and are answered
differently. Each of the two has a value of these attributes: a level, a node of a taxonomy, or that
it is missing. Unset is a value only of an attribute that has no more than one. Where one of the two
got an answer and the other none, that is counted apart; a gate counts it as a flip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any, ClassVar

from hornlens.counts import plural
from hornlens.logic.scopes import Of, Scope, percent


@dataclass(frozen=True)
class FlipPair:
    """Two inputs that differ in the named attributes only, and the answer to each.

    `shown` has the prompts of both, where they were asked in prompts; `variant` the way of asking,
    if there are several.
    """

    first: Mapping[str, Any]
    said_first: str
    second: Mapping[str, Any]
    said_second: str
    shown: tuple[tuple[str, ...], ...] = ()
    variant: str = ""

    def __post_init__(self) -> None:
        """Refuse prompts of one input only."""
        if len(self.shown) not in (0, 2):
            raise ValueError("has a flip that does not show both inputs")


@dataclass(frozen=True)
class Flips:
    """What changing one attribute, or several at once, does; false if it changes no answer.

    `pairs` of `of_pairs` pairs of cells that differ only in it have different answers; None where
    the cells could not all be asked. In `half_answered` further pairs, one cell got an answer and
    the other none; in `unanswered`, neither got one. `rows` of `of_rows` rows of X get another
    class if only this is changed; there are none where no rows were given. `proved`: whether this
    is so of all cells, and not of some; with `every_input`, of all inputs.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("ever", "sentence")
    feature: str
    """The attribute that is changed; several are joined by commas."""
    rows: int
    of_rows: int
    pairs: int | None
    of_pairs: int | None
    proved: bool
    every_input: bool
    examples: tuple[FlipPair, ...]
    half_answered: int = 0
    unanswered: int = 0
    excluded: tuple[str, ...] = ()
    """Inputs that nothing is said of, as in a scope."""
    chosen: bool = False
    """Whether the cells were chosen: then flips are examples, and their share is that of no pairs
    but these."""
    drawn: int = 0
    """How many random inputs were tried, every column uniform over its levels."""
    drawn_changed: int = 0
    """How many of these get another class if only this is changed."""
    bound: float | None = None
    """But for probability `delta`, at most this share of all inputs do, of all columns at once."""
    delta: float | None = None
    kept: tuple[int, int] | None = None
    """Where only plausible inputs are meant: so many of so many rows are like them."""

    def __post_init__(self) -> None:
        """Refuse pairs of cells without how many there are, and a bound of nothing."""
        if not 0 <= self.drawn_changed <= self.drawn or (self.bound is not None and not self.drawn):
            raise ValueError(f"has random inputs of {self.feature!r} that cannot be")
        if (self.pairs is None) != (self.of_pairs is None):
            raise ValueError(f"has pairs of {self.feature!r} without how many there are")

    @property
    def ever(self) -> bool:
        """Whether an answer changes somewhere, or whether there is one."""
        counted = self.rows or self.pairs or self.drawn_changed or self.half_answered
        return bool(counted or self.examples)

    def __bool__(self) -> bool:
        """Say whether an answer changes somewhere."""
        return self.ever

    @property
    def counted(self) -> int:
        """How many pairs a gate counts: half-answered ones are flips to it."""
        return (self.pairs or 0) + self.half_answered

    @property
    def share(self) -> float | None:
        """The share of the pairs that a gate counts, or else of the rows; None: there is none.

        Of random inputs, if it is larger there. Divided, as 0.29 * 100 is less than 29.
        """
        if self.chosen and not self.of_rows:
            return None
        random = self.drawn_changed / self.drawn if self.drawn else 0.0
        if self.of_pairs and (self.counted or not self.rows):
            return max(self.counted / self.of_pairs, random)
        return max(self.rows / self.of_rows, random) if self.of_rows else None

    @property
    def sentence(self) -> str:
        """What was counted or proved, in one or two sentences."""
        return self._of_rows() if self.of_rows else self._of_cells()

    def _of_rows(self) -> str:
        name = self.feature
        of: Of = "every input" if self.kept is None else "plausible"
        inputs = Scope(of, excluded=self.excluded, kept=self.kept).inputs
        about = f"for {inputs}" if self.every_input else "for the binned model"
        if not self.ever:
            if self.proved:
                return f"Changing only {name} never changes the decision: proved, {about}."
            none = f"Changing only {name} changed the decision for none of {self.of_rows:,} rows"
            if self.bound is None:
                return f"{none}; that it never does is not proved."
            return f"{none} and none of {self._bounded}"
        text = (
            f"Changing only {name} changes the decision for {self.rows:,} of {self.of_rows:,} rows "
            f"({percent(self.rows / max(1, self.of_rows))})"
        )
        if self.pairs is not None and self.of_pairs:
            cells = "cells" if self.proved else "asked cells"
            pairs = f"{self.pairs:,} of {self.of_pairs:,} pairs of {cells}"
            text += f", and in {pairs} that differ in it"
        if self.bound is not None:
            return f"{text}, and for {self.drawn_changed:,} of {self._bounded}"
        return f"{text}."

    @property
    def _bounded(self) -> str:
        """What random inputs show, as the end of a sentence."""
        sure = f"{Decimal(1) - Decimal(repr(self.delta or 0.0)):f}"
        return (
            f"{self.drawn:,} random inputs: with probability {sure}, it does so for at most "
            f"{ceil(1e4 * (self.bound or 0.0)) / 100:g}% of them."
        )

    def _of_cells(self) -> str:
        name, pairs = self.feature, self.pairs or 0
        if self.ever and not self.counted:
            first = next(iter(self.examples)).first
            asked = f"in none of {plural(self.of_pairs or 0, 'pair')} that were asked"
            row = ", ".join(f"{key} = {value}" for key, value in first.items())
            return f"Changing only {name} changes the answer, {asked}, but of {row}."
        if not self.of_pairs and self.proved:
            return f"Changing only {name} never changes the answer: proved."
        if not self.of_pairs:
            return f"No two cells that were asked differ only in {name}."
        compared = self.of_pairs - self.half_answered - self.unanswered
        there, cells = plural(compared, "pair"), " of cells"
        if compared < self.of_pairs:
            there, cells = f"{there} of cells with two answers", ""
        if not compared:
            text = f"No two cells that differ only in {name} both got an answer."
        elif self.chosen:
            some = f"{pairs:,}" if pairs else "none"
            text = f"Changing only {name} changed the answer in {some} of {there} that were asked."
        elif pairs:
            share = percent(pairs / compared)
            text = (
                f"Changing only {name} changes the answer in {pairs:,} of {there}{cells} ({share})."
            )
        elif self.proved:
            text = f"Changing only {name} never changes the answer, in {there}{cells}."
        else:
            text = f"Changing only {name} changed the answer in none of {there} that were asked."
        if self.half_answered:
            whole = f"all {plural(self.of_pairs, 'pair')}"
            text += (
                f" In {self.half_answered:,} of {whole} it decides whether there is an answer at "
                "all."
            )
        if self.unanswered:
            text += f" In {plural(self.unanswered, 'pair')} neither got an answer."
        if self.chosen:
            return f"{text} The cells were chosen, so that this is no share of all pairs."
        return text if self.proved else f"{text} Not every cell was asked and decided."

    def __str__(self) -> str:
        """Return the sentence."""
        return self.sentence
