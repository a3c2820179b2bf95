"""How many cells a space has, or a rule speaks of, where not every combination can occur.

Attributes that no assumed rule ties together are counted by multiplying. Only combinations of tied
ones are looked at, so a space of 10¹² cells is counted if each rule is about a few attributes.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from hornlens.logic.batch import Words, obeys, pack, words_needed
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory

MOST = 1 << 25
"""So many combinations of attributes that are tied together are looked at, at most."""
TOGETHER = 1 << 16
"""So many of them are looked at at a time."""


def cells_above(space: Space, cell: int = 0, most: int = MOST) -> int | None:
    """Return how many cells have all that a cell has.

    None: assumed rules tie together more than `most` combinations of them.

    >>> from hornlens import Nominal, Space
    >>> from hornlens.theory import Rule
    >>> work, sex = Nominal("work", ("nurse", "priest")), Nominal("sex", ("female", "male"))
    >>> cells_above(Space((work, sex), assumed=(Rule(0b0110, -1),)))
    8
    """
    closure = space.background.closure(cell)
    if closure == BOTTOM:
        return 0
    count = 1
    for places, rules in _tied(space):
        if rules:
            choices = [_choices_above(space, place, closure) for place in places]
            if prod(map(len, choices)) > most:
                return None
            count *= _obeying(choices, Theory(space.width, tuple(rules)))
        else:
            count *= _count_above(space, places[0], closure)
    return count


def _tied(space: Space) -> list[tuple[list[int], list[Rule]]]:
    """Return the places of attributes that assumed rules tie together, and these rules."""
    parts: list[tuple[int, list[int], list[Rule]]] = [
        (space.groups[place], [place], []) for place in range(len(space.attributes))
    ]
    for rule in space.assumed:
        mask = rule.antecedent | max(rule.consequent, 0)
        about = [part for part in parts if part[0] & mask]
        if not about:
            continue  # ⊤ → ⊥: then there are no cells, and nobody comes here
        parts = [part for part in parts if not part[0] & mask]
        places = [place for _, tied, _ in about for place in tied]
        rules = [rule, *(each for _, _, tied in about for each in tied)]
        parts.append((sum(group for group, _, _ in about), places, rules))
    return [(places, rules) for _, places, rules in parts]


def _count_above(space: Space, place: int, cell: int) -> int:
    """Return how many choices of an attribute say at least what a closed cell says of it."""
    if space.complete:
        return len(_choices_above(space, place, cell))
    attribute = space.attributes[place]
    part = (cell & space.groups[place]) >> space.offsets[place]
    above = attribute.above(attribute.place(part))
    return len(range(attribute.count)[above]) if isinstance(above, slice) else len(above)


def _choices_above(space: Space, place: int, cell: int) -> list[int]:
    choices = space.leaves[place] if space.complete else space.axes[place]
    part = cell & space.groups[place]
    return [choice for choice in choices if part & ~choice == 0]


def _obeying(choices: list[list[int]], theory: Theory) -> int:
    """Count the combinations of choices that obey a theory."""
    split, size = len(choices), 1
    while split and size * len(choices[split - 1]) <= TOGETHER:
        split -= 1
        size *= len(choices[split])
    rest = _combinations(choices[split:], theory.width)
    count = 0
    for chosen in product(*choices[:split]):
        count += int(obeys(rest | pack([sum(chosen)], theory.width), theory).sum())
    return count


def _combinations(choices: list[list[int]], width: int) -> Words:
    """Return all combinations of choices as packed rows."""
    rows = np.zeros((1, words_needed(width)), dtype=np.int64)
    for masks in choices:
        packed = pack(masks, width)
        rows = (rows[:, None, :] | packed[None, :, :]).reshape(-1, rows.shape[1])
    return rows
