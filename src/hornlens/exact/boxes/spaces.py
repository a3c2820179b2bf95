"""A complete space as axes of levels: boxes of its cells are rules of it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Axis, Box, Range
from hornlens.exact.boxes.cells import Levels
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.logic.attributes import Attribute
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy


def axis_of(attribute: Attribute) -> Axis:
    """Return the leaves of an attribute as levels, and which ranges of them can be said.

    With one value only, there is no condition for its absence: that is an InputError.
    """
    if len(attribute.variables) == 1:
        raise InputError(f"attribute {attribute.name!r} has one value: boxes need two or more")
    size = len(attribute.leaves)
    if isinstance(attribute, Ordered):
        return Axis(size, size - attribute.missing, True)
    nodes: list[Range] = []
    if isinstance(attribute, Taxonomy):
        for choice in attribute.choices[1:]:
            under = [at for at, leaf in enumerate(attribute.leaves) if not choice & ~leaf]
            if 1 < len(under) < size:
                nodes.append((under[0], under[-1]))  # leaves stand in preorder
    return Axis(size, size, False, tuple(dict.fromkeys(nodes)))


def axes_of(space: Space) -> tuple[Axis, ...]:
    """Return an axis for each attribute of a space."""
    return tuple(map(axis_of, space.attributes))


def mask_of_box(space: Space, box: Box) -> int:
    """Return what is said of all cells of a box: what they have in common."""
    mask = 0
    for leaves, levels in zip(space.leaves, box, strict=True):
        mask |= mask_of_levels(leaves, levels)
    return mask


def mask_of_levels(leaves: Sequence[int], levels: Range) -> int:
    """Return what a range of leaves has in common; its ends have least."""
    low, high = levels
    common = leaves[low] & leaves[high]
    for leaf in leaves[low + 1 : high]:
        if not common:
            break
        common &= leaf
    return common


def box_of_mask(space: Space, mask: int) -> Box:
    """Return the cells that have all that a mask says of the attributes, as ranges of levels.

    What it says of one attribute must be a condition: the levels that have it stand in a row.
    """
    box = []
    for leaves, group in zip(space.leaves, space.groups, strict=False):
        part = mask & group
        if not part:
            box.append((0, len(leaves) - 1))
            continue
        levels = [level for level, leaf in enumerate(leaves) if not part & ~leaf]
        box.append((levels[0], levels[-1]))
    return tuple(box)


def short_mask_of_box(space: Space, box: Box) -> int:
    """Return the variables from which all that is said of a box follows: its bounds."""
    return short_mask(space, mask_of_box(space, box))


def short_mask(space: Space, mask: int) -> int:
    """Return the variables of a mask from which all others of it follow."""
    short = 0
    for attribute, at, group in zip(space.attributes, space.offsets, space.groups, strict=False):
        if own := (mask & group) >> at:
            implied = 0
            for rule in attribute.rules:  # each from one variable to another
                if not rule.antecedent & ~own:
                    implied |= rule.consequent
            short |= (own & ~implied) << at
    return short


def rules_of(space: Space, boxes: Sequence[BoxRule]) -> list[Rule]:
    """Return boxes with their labels as rules of a space."""
    made = []
    for box, place in boxes:
        left = mask_of_box(space, box)
        made.append(Rule(left, space.with_label(left, place)))
    return made


def levels_of_cells(space: Space, cells: Sequence[int]) -> Levels:
    """Return complete cells, given as masks, as rows of levels; a KeyError if one is not."""
    places = [{leaf: place for place, leaf in enumerate(leaves)} for leaves in space.leaves]
    parts = list(zip(places, space.groups, strict=False))
    rows = [[known[cell & group] for known, group in parts] for cell in cells]
    return np.array(rows, dtype=np.intp).reshape(len(cells), len(places))


def cells_of_levels(space: Space, rows: NDArray[np.intp]) -> list[int]:
    """Return rows of levels as masks."""
    return [
        sum(leaves[level] for leaves, level in zip(space.leaves, row, strict=True))
        for row in rows.tolist()
    ]
