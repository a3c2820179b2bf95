"""Many interpretations at once: masks packed into rows of 63-bit words, tested with numpy.

Sixty-three bits a word leave the sign bit free, so that a row of -1 is BOTTOM here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

WORD = 63
BLOCK = 1 << 15
"""Pairs of a rule and an interpretation that are looked at together."""
FEW = 8
"""Up to so many words a row, all of them are looked at."""
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
    words = np.zeros((len(masks), count), dtype=np.int64)
    if count <= FEW:
        for i in range(count):
            words[:, i] = [mask >> (WORD * i) & low for mask in masks]
    else:  # of thousands of variables, most masks have a few: a word that is 0 costs nothing
        for row, mask in zip(words, masks, strict=True):
            if mask >= 0 and mask.bit_count() <= count:
                for bit in bits(mask):
                    row[bit // WORD] |= 1 << bit % WORD
            else:
                row[:] = [mask >> (WORD * i) & low for i in range(count)]
    if BOTTOM in masks:
        words[[i for i, mask in enumerate(masks) if mask == BOTTOM]] = BOTTOM
    return words


def unpack(words: Words) -> list[int]:
    """Return the rows as masks (or BOTTOM)."""
    if words.shape[1] > FEW:
        return _unpack_wide(words)
    columns = [words[:, i].tolist() for i in range(words.shape[1])]
    if len(columns) == 1:
        masks: list[int] = columns[0]
        return masks
    return [
        BOTTOM if row[0] == BOTTOM else sum(word << (WORD * i) for i, word in enumerate(row))
        for row in zip(*columns, strict=True)
    ]


def distinct(words: Words) -> Words:
    """Return the rows, each once, in the order of their masks."""
    ordered = words[np.lexsort(words.T)]
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new]


def _unpack_wide(words: Words) -> list[int]:
    masks = [0] * len(words)
    bottom = words[:, 0] == BOTTOM
    rows, columns = np.nonzero(words)
    kept = ~bottom[rows]
    rows, columns = rows[kept], columns[kept]
    values = words[rows, columns].tolist()
    for row, column, word in zip(rows.tolist(), columns.tolist(), values, strict=True):
        masks[row] |= word << (WORD * column)
    for row in np.flatnonzero(bottom).tolist():
        masks[row] = BOTTOM
    return masks


def contains(batch: Words, row: Words) -> NDArray[np.bool_]:
    """Say of each interpretation in the batch whether it has all variables of `row`."""
    if batch.shape[1] <= FEW:
        asked: Sequence[int] = range(1, batch.shape[1])
    else:
        asked = np.flatnonzero(row).tolist()
    result: NDArray[np.bool_] = (batch[:, 0] & row[0]) == row[0]
    for i in asked:
        result &= (batch[:, i] & row[i]) == row[i]
    return result


def obeys(batch: Words, theory: Theory) -> NDArray[np.bool_]:
    """Say of each interpretation in the batch whether it obeys all rules of a theory."""
    result = np.ones(len(batch), dtype=np.bool_)
    for broken in _broken(batch, theory.rules, theory.width):
        result &= ~broken.any(axis=0)
    for group in pack(theory.exclusive, theory.width):
        part = batch & group
        result &= ((part & (part - 1)) == 0).all(axis=1) & (np.count_nonzero(part, axis=1) <= 1)
    return result


def broken_rules(batch: Words, rules: Iterable[Rule], width: int) -> NDArray[np.int64]:
    """Count for each interpretation in the batch the `rules` that it breaks."""
    result = np.zeros(len(batch), dtype=np.int64)
    for broken in _broken(batch, rules, width):
        result += broken.sum(axis=0)
    return result


def _broken(batch: Words, rules: Iterable[Rule], width: int) -> Iterator[NDArray[np.bool_]]:
    """Yield, some rules at a time, which rule (row) each interpretation (column) breaks.

    As many at a time as stay in the processor's cache: with few interpretations that is all.
    """
    rules = list(rules)
    if batch.shape[1] > FEW:
        yield from _broken_wide(batch, rules, width)
        return
    antecedents = pack([rule.antecedent for rule in rules], width)
    consequents = pack([rule.consequent for rule in rules], width)
    together = max(1, BLOCK // max(1, len(batch)))
    for start in range(0, len(rules), together):
        some = slice(start, start + together)
        broken = _contained(antecedents[some], batch)
        broken &= ~_contained(consequents[some], batch)  # ⊥ is contained in nothing
        yield broken


def _broken_wide(batch: Words, rules: Sequence[Rule], width: int) -> Iterator[NDArray[np.bool_]]:
    """Yield the same for one rule at a time: of its words, only those that ask for something."""
    by_column = np.asfortranarray(batch)
    for rule in rules:
        antecedent, consequent = pack([rule.antecedent, rule.consequent], width)
        broken = contains(by_column, antecedent)
        if rule.consequent != BOTTOM and broken.any():
            broken &= ~contains(by_column, consequent)
        yield broken[None, :]


def _contained(rows: Words, batch: Words) -> NDArray[np.bool_]:
    """Say of each row whether each interpretation has all its variables."""
    columns = rows.T[:, :, None]
    result: NDArray[np.bool_] = (columns[0] & batch[:, 0]) == columns[0]
    for i in range(1, len(columns)):
        result &= (columns[i] & batch[:, i]) == columns[i]
    return result
