"""The outcome of a sift, whenever it stops: listed rules with warrants, open ones, a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from math import ceil, log, log1p

import numpy as np

from hornlens.learning.sifting.confirming import Confirmation
from hornlens.learning.sifting.contrasting import Contrast
from hornlens.learning.sifting.members import Member
from hornlens.learning.sifting.run import SiftRun
from hornlens.learning.sifting.survivors import Survivors
from hornlens.learning.sifting.tolerating import Tolerance, Tolerated
from hornlens.logic.sifting import (
    MOST_OPEN,
    AlmostShown,
    Base,
    FixedRules,
    Sifted,
    SiftRecord,
)
from hornlens.logic.warrants import PROVED, Warrant

LOOSEST = 4
"""A rule whose bound is more than so many times ε is left among the open ones."""
Key = tuple[int, ...]


def outcome_of(
    run: SiftRun,
    survivors: Survivors,
    confirmation: Confirmation,
    tolerance: Tolerance,
    contrast: Contrast,
) -> Sifted:
    """Return what is shown by now: every survivor is listed or open."""
    tolerance.review()
    epsilon = run.options.epsilon
    drawn = {key: n for key, (_, n) in confirmation.tested.items()} | _passed(run)
    tested = {key: Warrant("tested", n, epsilon) for key, n in drawn.items()}
    warrants = {**_bounds(run), **tested}
    listed: list[tuple[Member, Warrant]] = []
    left: list[Member] = []
    for member in survivors.all(tolerance.members):
        if survivors.is_whole(member):
            listed.append((member, PROVED))
        elif member.key in warrants:
            listed.append((member, warrants[member.key]))
        else:
            left.append(member)
    listed.sort(key=lambda item: (-item[0].room, item[0].key))
    kept = nsmallest(MOST_OPEN, left, key=lambda member: (-member.breadth, member.key))
    return Sifted(
        tuple((member.rule, warrant) for member, warrant in listed),
        tuple(member.rule for member in kept),
        len(left),
        replace(_record(run, tolerance, kept, len(left)), more_often=tuple(contrast.shown())),
        done=len(run.tally) > 0
        and all(member.key in confirmation.stuck for member in left)
        and all((warrant.bound or 0.0) <= epsilon for _, warrant in listed),
    )


def _passed(run: SiftRun) -> dict[Key, int]:
    """Return what the last family shows, which may have been ended before its end."""
    family = run.last
    if family is None or family.purpose != "list":
        return {}
    pairs = zip(family.members, family.drawn, family.listed(), strict=True)
    return {member.key: int(drawn) for member, drawn, passed in pairs if passed}


def _bounds(run: SiftRun) -> dict[Key, Warrant]:
    """Return the members of the last family that have a bound which is worth telling."""
    family = run.last
    if family is None or family.purpose not in ("list", "bounds"):
        return {}
    delta = family.delta if family.purpose == "bounds" else run.left
    bounds = ((f, family.bound_of(f, delta)) for f in range(len(family.members)))
    return {
        family.members[f].key: Warrant("tested", int(family.drawn[f]), bound)
        for f, bound in bounds
        if bound is not None and bound <= LOOSEST * run.options.epsilon
    }


def _record(run: SiftRun, tolerance: Tolerance, kept: Sequence[Member], count: int) -> SiftRecord:
    options, tally = run.options, run.tally
    each = ceil(log((count + 1) / options.delta) / -log1p(-options.epsilon))
    families = (
        FixedRules(
            family.at,
            family.delta,
            tuple(member.rule for member in family.members),
            tuple(
                Base(conditions=mask) if mask >= 0 else Base(-1 - mask) for _, mask in family.bases
            ),
            family.purpose,
            family.epsilon,
        )
        for family in run.families
    )
    return SiftRecord(
        options.conditions,
        options.epsilon,
        options.delta,
        options.seed,
        tally.possible,
        tally.live,
        tuple(tally.order),
        tuple(run.draws),
        tuple(families),
        run.left,
        options.varies,
        tuple(run.curve),
        tuple(min(each, member.room) for member in kept),
        tuple(_shown(run, one) for one in tolerance.listed),
    )


def _shown(run: SiftRun, one: Tolerated) -> AlmostShown:
    """Return a rule with exceptions, and all of these that are on record."""
    member, family, tally = one.member, one.family, run.tally
    inside = run.ground.holds(member.box, tally.cells)
    places = np.flatnonzero(inside & tally.broken[member.statement])
    return AlmostShown(
        member.rule,
        int(family.drawn[one.place]),
        int(family.hits[one.place]),
        family.epsilon,
        tuple(tally.order[place] for place in places),
    )
