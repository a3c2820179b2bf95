"""What changing one feature of a classifier does: pairs of inputs, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hornlens.logic.scopes import percent


@dataclass(frozen=True)
class FlipPair:
    """Two inputs that differ in one feature only, and what is said of each."""

    first: Mapping[str, Any]
    said_first: str
    second: Mapping[str, Any]
    said_second: str


@dataclass(frozen=True)
class Flips:
    """What changing one feature does; false if it never changes the decision.

    `rows` of `of_rows` rows of X get another class if only this feature is changed. `pairs` of
    `of_pairs` pairs of cells that differ only in it have different classes; None where not all
    cells could be asked. `proved`: whether this is so of all inputs, and not of some; `excluded`
    names inputs that nothing is said of, as in a scope.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("ever", "sentence")
    feature: str
    rows: int
    of_rows: int
    pairs: int | None
    of_pairs: int | None
    proved: bool
    every_input: bool
    examples: tuple[FlipPair, ...]
    excluded: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse pairs of cells without how many there are."""
        if (self.pairs is None) != (self.of_pairs is None):
            raise ValueError(f"has pairs of {self.feature!r} without how many there are")

    @property
    def ever(self) -> bool:
        """Whether the decision changes somewhere."""
        return bool(self.examples)

    def __bool__(self) -> bool:
        """Say whether the decision changes somewhere."""
        return self.ever

    @property
    def sentence(self) -> str:
        """What was found."""
        name = self.feature
        about = "for every input" if self.every_input else "for the binned model"
        if self.every_input and self.excluded:
            about += f" (but for {' and '.join(self.excluded)})"
        if not self.ever:
            if self.proved:
                return f"Changing only {name} never changes the decision: proved, {about}."
            tried = f"for none of {self.of_rows:,} rows"
            if not self.of_rows and self.of_pairs:
                tried = f"in none of {self.of_pairs:,} pairs of asked cells"
            return (
                f"Changing only {name} changed the decision {tried}; that it never does is not "
                "proved."
            )
        parts = []
        if self.of_rows:
            share = percent(self.rows / self.of_rows)
            parts.append(f"for {self.rows:,} of {self.of_rows:,} rows ({share})")
        if self.pairs is not None and self.of_pairs:
            cells = "cells" if self.proved else "asked cells"
            pairs = f"{self.pairs:,} of {self.of_pairs:,} pairs of {cells}"
            parts.append(f"in {pairs} that differ in it")
        return f"Changing only {name} changes the decision {', and '.join(parts or ['at times'])}."

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence
