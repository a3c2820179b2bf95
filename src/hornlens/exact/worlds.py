"""Worlds: what holds in all of them are the rules of the envelope of all that some of them accept.

A world is a way of asking, a model, or a reading of what is undecided. A rule holds in every one of
them iff it rejects nothing that one of them accepts: so what is common to phrasings, languages or
models is one envelope, of a union.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hornlens.errors import InputError
from hornlens.exact.grid import LabelledSpace
from hornlens.logic.batch import obeys
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory


def union(labelled: Sequence[LabelledSpace]) -> LabelledSpace:
    """Return the space, labelled by whether some world accepts a point.

    The worlds must have one grid: what is not granted in all of them is not granted in the union.
    """
    space = shared_space([each.space for each in labelled])
    if any(each.space.all_attributes != space.all_attributes for each in labelled):
        raise InputError("worlds with other attributes have no grid in common")
    return LabelledSpace(space, np.logical_or.reduce([each.positive for each in labelled]))


def grid_of(theory: Theory, space: Space) -> LabelledSpace:
    """Return a space labelled by what a theory accepts; it entails the space's background."""
    return LabelledSpace(space, obeys(space.masks(), theory))


def shared_space(spaces: Sequence[Space]) -> Space:
    """Return a space that has every interpretation of these, which have the same variables.

    It takes for granted what all of them do; other variables than the first's are an InputError.
    """
    first = spaces[0]
    for other in spaces[1:]:
        check_variables(first, other)
    if all(other == first for other in spaces[1:]):
        return first
    alike = all(other.all_attributes == first.all_attributes for other in spaces)
    candidates = dict.fromkeys(
        rule for space in spaces for rule in (space.assumed if alike else space.background)
    )
    assumed = tuple(r for r in candidates if all(space.background.entails(r) for space in spaces))
    return (
        replace(first, assumed=assumed) if alike else Space.of_variables(first.vocabulary, assumed)
    )


def check_variables(space: Space, other: Space) -> None:
    """Refuse two spaces that have not the same variables in the same order."""
    names, theirs = space.vocabulary.names, other.vocabulary.names
    if names != theirs:
        odd = set(names) ^ set(theirs)
        what = f"such as {sorted(odd)[0]!r}" if odd else "in another order"
        raise InputError(f"different variables, {what}")
