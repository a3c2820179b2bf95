"""scores.csv: prompts with the scores of their candidate words, written and read back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows, csv_text

PROMPT = "prompt"
Scored = dict[str, dict[str, float]]
"""Scores by prompt and word."""


def scores_text(words: Sequence[str], scored: Mapping[str, Mapping[str, float]]) -> str:
    """Return the text of a file: a line for each prompt, by order; it may lack words."""
    return csv_text(
        [PROMPT, *words],
        (
            [prompt, *(repr(scores[word]) if word in scores else "" for word in words)]
            for prompt, scores in sorted(scored.items())
        ),
    )


def parse_scores(text: str, path: Path) -> tuple[list[str], Scored]:
    """Return the words and the scores of a file; what is wrong with it is an InputError.

    The first column called "prompt" has the prompts, each other one the scores of a word.
    """
    rows = csv_rows(text, path)
    line, columns = next(rows, (1, []))
    if PROMPT not in columns:
        raise InputError("needs a column 'prompt' and one for each candidate", path, line)
    column = columns.index(PROMPT)
    words = columns[:column] + columns[column + 1 :]
    twice = next((word for word, times in Counter(words).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"two columns have the name {twice!r}", path, line)
    found: Scored = {}
    for line, cells in rows:
        if len(cells) != len(columns):
            raise InputError(
                f"{len(cells)} cells, but the header has {len(columns)} columns", path, line
            )
        prompt = cells.pop(column)
        try:
            scores = {word: float(cell) for word, cell in zip(words, cells, strict=True) if cell}
        except ValueError:
            raise InputError("scores must be numbers", path, line) from None
        if any(map(math.isnan, scores.values())):
            raise InputError("a score is not a number (NaN)", path, line)
        if found.setdefault(prompt, scores) != scores:
            raise InputError("a second row for this prompt", path, line)
    return words, found
