"""Runs that were ended early: which rules are proved by then, and what stays a hypothesis.

A rule is proved if no answer that is missing could break it: what was not asked counts as accepted.
The hypotheses are what a learner held for true, as far as no answer breaks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from hornlens.exact.engine import run
from hornlens.exact.grid import GridEngine, LabelledSpace
from hornlens.extraction.questions import Questions, UnitedQuestions
from hornlens.limits import Limits, Reason
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, intersection
from hornlens.logic.certificates import Interrupted
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets
from hornlens.logic.theory import Theory

GRID_LIMIT = 1 << 20
"""Up to so many interpretations, all rules that are proved are found."""
UNKNOWN = NonHorn(None)
"""Nobody knows what the target would have accepted."""
FINISHING = 10.0
"""Seconds that may still be spent on the rules, when a run has been ended."""


def all_that_is_proved(
    questions: Questions | UnitedQuestions, ended: Reason, limits: Limits, most: int | None
) -> Envelope:
    """Return the rules that hold whatever the target would say of what it was not asked.

    Each such rule follows from them: with `most`, each with at most so many conditions.
    """
    space, possible = questions.space, questions.possible()
    cells = sum(1 for _ in space.cells()) if space.granted else space.cell_count
    if most is None:
        basis, antecedents = _basis(possible, limits), None
    else:
        from hornlens.exact.bounded import bounded_envelope_of_grid

        short = bounded_envelope_of_grid(possible, most, limits=_last(limits))
        basis, antecedents = short.basis, [rule.antecedent for rule in short.readable]
    claim = Interrupted(ended, len(basis), cells=cells, unasked=cells - questions.asked)
    labels = 0 if space.label is None else len(space.label.variables)
    statistics = {"equivalence_queries": 0, "membership_queries": questions.asked * (labels + 1)}
    return Envelope.of(
        space, basis, antecedents, certificate=claim, non_horn=UNKNOWN, statistics=statistics
    )


def what_was_learned(
    questions: Questions | UnitedQuestions,
    theory: Theory,
    ended: Reason,
    limits: Limits,
    labelled: LabelledSpace | None,
    statistics: Mapping[str, Any],
) -> Envelope:
    """Return what is proved when a learner holds a theory for true, and the rest as hypotheses.

    `labelled` is the whole space, if all of it was asked: then all that is left is proved.
    """
    space = questions.space
    held = dg_basis(_unbroken(theory, questions), space.background)
    if labelled is not None:
        proved = held
    elif space.count <= GRID_LIMIT:
        proved = _basis(questions.possible(), limits)
    else:
        settled = tuple(rule for rule in held if _is_settled(rule, questions))
        proved = dg_basis(Theory(space.width, settled), space.background)
    if limits.max_rules is not None:
        proved = Theory(space.width, proved.rules[: limits.max_rules])
    known = proved + space.background
    hypotheses = tuple(r for r in readable(held, space.background) if not known.entails(r))
    claim = Interrupted(ended, len(proved), len(hypotheses) or None)
    return Envelope.of(
        space,
        proved,
        certificate=claim,
        non_horn=UNKNOWN,
        statistics=statistics,
        hypotheses=hypotheses,
    )


def _last(limits: Limits) -> Limits:
    """Return what limits the work that is left, when a run has been ended."""
    return Limits(FINISHING, limits.max_rules)


def _basis(possible: LabelledSpace, limits: Limits) -> Theory:
    return run(GridEngine(possible), _last(limits)).basis


def _unbroken(theory: Theory, questions: Questions | UnitedQuestions) -> Theory:
    """Return what no answer breaks of a theory's rules: with less on the right, or left out."""
    space = questions.space
    accepted = Supersets(list(dict.fromkeys(questions.accepted())), space.width)
    unset = any(policy.label_unset == "accept" for policy in questions.policies)
    found = []
    for rule in theory:
        x = rule.antecedent
        if space.label is not None and unset and not x & space.label_mask:
            continue  # whatever has no label is accepted: so is its own left side
        left = rule.consequent & intersection(accepted.having(x))
        if left == BOTTOM or left & ~x:
            found.append(Rule(x, left))
    return Theory(space.width, tuple(found))


def _is_settled(rule: Rule, questions: Questions | UnitedQuestions) -> bool:
    """Say of a rule that no answer breaks whether all cells were asked that it speaks of."""
    space = questions.space
    if space.granted:
        return False  # how many cells there are is not known without going through them
    cell = rule.antecedent & ~space.label_mask
    asked = sum(1 for each in questions.cells() if cell & ~each == 0)
    return asked == _count_above(space, cell)


def _count_above(space: Space, cell: int) -> int:
    """Return how many cells have all that a cell has."""
    places = zip(space.attributes, space.places(cell), strict=False)
    above = (attribute.above(place) for attribute, place in places)
    counts = zip(space.attributes, above, strict=True)
    return prod(
        len(range(attribute.count)[part]) if isinstance(part, slice) else len(part)
        for attribute, part in counts
    )
