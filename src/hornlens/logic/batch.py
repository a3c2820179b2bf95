"""Many interpretations at once: masks packed into rows of 63-bit words, tested with numpy.

Sixty-three bits a word leave the sign bit free, so that a row of -1 is BOTTOM here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule

WORD = 63
Words: TypeAlias = NDArray[np.int64]
"""Shape (n, w): n interpretations of w words each."""


def words_needed(width: int) -> int:
    """Return how many words a mask of `width` variables takes (at least one)."""
    return max(1, -(-width // WORD))


def pack(masks: Sequence[int], width: int) -> Words:
    """Return the masks (or BOTTOM) as rows of words."""
    count = words_needed(width)
    if count == 1:
        return np.array(masks, dtype=np.int64).reshape(-1, 1)
    low = (1 << WORD) - 1
    rows = [
        [BOTTOM if mask == BOTTOM else mask >> (WORD * i) & low for i in range(count)]
        for mask in masks
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, count)


def unpack(words: Words) -> list[int]:
    """Return the rows as masks (or BOTTOM)."""
    columns = [words[:, i].tolist() for i in range(words.shape[1])]
    if len(columns) == 1:
        masks: list[int] = columns[0]
        return masks
    return [
        BOTTOM if row[0] == BOTTOM else sum(word << (WORD * i) for i, word in enumerate(row))
        for row in zip(*columns, strict=True)
    ]


def contains(batch: Words, row: Words) -> NDArray[np.bool_]:
    """Say of each interpretation in the batch whether it has all variables of `row`."""
    result: NDArray[np.bool_] = (batch[:, 0] & row[0]) == row[0]
    for i in range(1, batch.shape[1]):
        result &= (batch[:, i] & row[i]) == row[i]
    return result


def obeys(batch: Words, rules: Iterable[Rule], width: int) -> NDArray[np.bool_]:
    """Say of each interpretation in the batch whether it obeys all `rules`."""
    rules = list(rules)
    result = np.ones(len(batch), dtype=np.bool_)
    antecedents = pack([rule.antecedent for rule in rules], width)
    consequents = pack([rule.consequent for rule in rules], width)
    for rule, antecedent, consequent in zip(rules, antecedents, consequents, strict=True):
        covered = contains(batch, antecedent)
        if rule.is_negative:
            result &= ~covered
        elif covered.any():
            where = np.flatnonzero(covered)
            result[where] &= contains(batch[where], consequent)
    return result
