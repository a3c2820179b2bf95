"""scores.csv: prompts with the scores of their candidate words, written and read back.

Where a model named a word and gave no scores, a column `[MASK]` has its number among the words: 1
for the first. (No candidate can be called `[MASK]`, and version 0.2 reads such files.) A line with
neither is a prompt that was not answered.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows, csv_text

PROMPT, NAMED = "prompt", "[MASK]"
Scored = dict[str, dict[str, float]]
"""Scores by prompt and word."""


class Recorded(NamedTuple):
    """What a file holds: its candidate words, and for each prompt the scores or the word named."""

    words: list[str]
    scored: Scored
    """Every prompt; without scores where a word was named, or nothing was answered."""
    named: dict[str, str] | None = None
    """The words named, by prompt; None: the file has scores only."""


def scores_text(
    words: Sequence[str],
    scored: Mapping[str, Mapping[str, float]],
    named: Mapping[str, str] | None = None,
) -> str:
    """Return the text of a file: a line for each prompt, by order; it may lack words."""
    choice = [] if named is None else [NAMED]

    def cells(prompt: str, scores: Mapping[str, float]) -> Iterator[object]:
        yield prompt
        yield from (repr(scores[word]) if word in scores else "" for word in words)
        if named is not None:
            yield words.index(named[prompt]) + 1 if prompt in named else ""

    lines = (list(cells(prompt, scores)) for prompt, scores in sorted(scored.items()))
    return csv_text([PROMPT, *words, *choice], lines)


def parse_scores(text: str, path: Path) -> Recorded:
    """Return what a file holds; what is wrong with it is an InputError.

    The first column called "prompt" has the prompts, one called "[MASK]" the numbers of the words
    that were named, and each other one the scores of a word.
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
    chosen = words.index(NAMED) if NAMED in words else None
    if chosen is not None:
        del words[chosen]
    numbers = {str(number): word for number, word in enumerate(words, 1)}
    scored: Scored = {}
    named: dict[str, str] = {}
    for line, cells in rows:
        if len(cells) != len(columns):
            raise InputError(
                f"{len(cells)} cells, but the header has {len(columns)} columns", path, line
            )
        prompt = cells.pop(column)
        choice = "" if chosen is None else cells.pop(chosen)
        try:
            scores = {word: float(cell) for word, cell in zip(words, cells, strict=True) if cell}
        except ValueError:
            raise InputError("scores must be numbers", path, line) from None
        if any(map(math.isnan, scores.values())):
            raise InputError("a score is not a number (NaN)", path, line)
        if choice and scores:
            raise InputError(f"a line has scores and a number under {NAMED}", path, line)
        if choice and choice not in numbers:
            raise InputError(f"{NAMED} must be the number of a word, from 1 on", path, line)
        known, word = prompt in scored, numbers.get(choice)
        if known and (scored[prompt], named.get(prompt)) != (scores, word):
            raise InputError("a second row for this prompt", path, line)
        scored[prompt] = scores
        if word is not None:
            named[prompt] = word
    return Recorded(words, scored, None if chosen is None else named)
