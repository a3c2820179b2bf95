"""What chance would give, on a page."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.results.documents.chance import Chance, ChanceCount
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.chance import (
    MARK,
    UNMARKED,
    chance_sentences,
    conditions_of,
    mean_in_words,
    sentences_of,
)


@dataclass(frozen=True)
class ChancePicture:
    """The sentences, a line for each number of conditions, and the words beside each rule."""

    chance: Chance
    sentences: tuple[str, ...]
    lines: tuple[tuple[str, str, str, str], ...]

    def beside(self, place: int) -> str:
        """Return what is said beside a readable rule."""
        p_value = self.chance.p_values[place]
        if p_value is None:
            return ""
        words = MARK if self.chance.is_marked(place) else UNMARKED
        least = 1 / (self.chance.permutations + 1)
        size = f"p ≤ {p_value:.3f}" if p_value <= least else f"p = {p_value:.2g}"
        return f"{words} ({size})"


def chance_picture(result: Findings) -> ChancePicture | None:
    """Return what the page shows of chance; None if it is not known."""
    chance = result.table_chance
    if chance is not None:
        return _picture(chance, sentences_of(chance))
    if result.why_no_chance:
        return None
    chance = result.chance()
    if not (chance.total.rules or chance.total.high):
        return None
    return _picture(chance, chance_sentences(result, chance))


def _picture(chance: Chance, sentences: list[str]) -> ChancePicture:
    lines = tuple(_line(line) for line in (*chance.counts, chance.total))
    return ChancePicture(chance, tuple(sentences), lines)


def _line(line: ChanceCount) -> tuple[str, str, str, str]:
    return conditions_of(line), f"{line.rules:,}", mean_in_words(line.mean), f"{line.high:,}"
