"""The answers of a result in one order: that of its files and pages, which point to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from hornlens.logic.maskmap import key_of

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

Position: TypeAlias = Callable[[int, int], int]
"""Where the answer to a cell in a world stands; a KeyError if there is none."""


def answers_of(extraction: Findings) -> list[tuple[int, int]]:
    """Return the cell and the way of asking of each answer, in the order of envelope.json."""
    each = enumerate(extraction.each)
    return sorted((cell, place) for place, world in each for cell in world.decisions)


def places_of(answers: Sequence[tuple[int, int]]) -> Position:
    """Return a function that tells where an answer stands."""
    places = {(key_of(cell), world): i for i, (cell, world) in enumerate(answers)}
    return lambda cell, world: places[key_of(cell), world]
