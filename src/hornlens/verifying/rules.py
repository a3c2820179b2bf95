"""What the rules of a result have to be: sound, complete, minimal, saturated; readable alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any

from hornlens.counts import plural
from hornlens.verifying.attributes import Rule
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Grid, Space, Wrong, breaks, chain

MOST_LABELS = 10
"""Where a target has more labels, a sampled run does not look at those that lost."""
TRIES = 300
"""How many random sets have their consequences compared where not all can be."""


@dataclass(frozen=True)
class Envelope:
    """The rules of a result, or of one of its variants, and what is said of them."""

    space: Space
    background: list[Rule]
    rules: list[Rule]
    readable: list[Rule]
    non_horn: Mapping[str, Any]
    claim: Claim
    warrants: list[Mapping[str, Any]]

    @classmethod
    def of(cls, content: Mapping[str, Any], space: Space, background: list[Rule]) -> Envelope:
        """Return what stands in an envelope.json, or in a line of its variants.

        Each rule has to say something of an antecedent of its own, and to have a short form.
        """
        rules, readable = space.rules(content["rules"]), space.rules(content["readable"])
        claim = Claim.of(content["certificate"])
        weakest = {"kind": claim.weakest}
        warrants = [line.get("warrant", weakest) for line in content["rules"]]
        found = cls(space, background, rules, readable, content["non_horn"], claim, warrants)
        found.check_warrants(content["readable"])
        if len(readable) != len(rules) or len({left for left, _ in rules}) < len(rules):
            raise Wrong("rules: two of one antecedent, or not as many as readable ones")
        for number, ((left, both), (short, new)) in enumerate(zip(rules, readable, strict=True), 1):
            if left == both:
                raise found.wrong(number, "says nothing")
            if short & ~left or (both is None) != (new is None) or (new or 0) & ~(both or 0):
                raise found.wrong(number, "the readable rule is not the same said shortly")
        return found

    def check_warrants(self, readable: Sequence[Mapping[str, Any]]) -> None:
        """Check that both forms of a rule have one warrant, and the weakest is the claim's."""
        order = ("proved", "tested", "open")
        for number, (warrant, line) in enumerate(zip(self.warrants, readable, strict=False), 1):
            if "warrant" in line and line["warrant"] != warrant:
                raise self.wrong(number, "its two forms have different warrants")
            if order.index(warrant["kind"]) > order.index(self.claim.weakest):
                raise self.wrong(number, f"is {warrant['kind']}, and so is the weakest of all")
        if self.claim.rules is not None and self.claim.rules != len(self.rules):
            raise Wrong(
                f"certificate: it is {plural(len(self.rules), 'rule')}, not {self.claim.rules}"
            )

    def wrong(self, number: int, what: str) -> Wrong:
        """Return what is wrong with a rule, counted from 1."""
        return Wrong(f"rule {number}, {self.space.show_rule(self.rules[number - 1])}: {what}")

    def check_examples(self, is_one: Callable[[int], bool], count: int | None) -> None:
        """Check the non-Horn negatives that are listed, and their number where it is known."""
        said, shown = self.non_horn["count"], self.space.show
        least = self.non_horn["at_least"] if said is None else said
        if count is not None and (least > count if said is None else said != count):
            raise Wrong(f"non_horn: there are {count}, not {least}")
        examples = [self.space.mask(names) for names in self.non_horn["examples"]]
        if len(examples) > least or len(set(examples)) < len(examples):
            raise Wrong("non_horn: more examples than there are, or one twice")
        for x in examples:
            if not is_one(x):
                raise Wrong(f"non_horn: {shown(x)} is no rejected intersection of accepted ones")


def check_exact(envelope: Envelope, grid: Grid, allowed: int, positive: int) -> str:
    """Hold an exact envelope against every point of the space; return what was found.

    `allowed` are the points that the background allows, `positive` those that the target accepts.
    """
    space, rules = envelope.space, envelope.rules
    for number, (left, _) in enumerate(rules, 1):
        if not grid.has(allowed, left):
            raise envelope.wrong(number, "not saturated: its antecedent breaks the background")
    antecedents = grid.set_of(grid.index(left) for left, _ in rules)
    rejected = 0
    for number, rule in enumerate(rules, 1):
        breaking = grid.breaking(rule)
        if (breaking & antecedents).bit_count() != 1:
            raise envelope.wrong(number, "not saturated: it rejects the antecedent of another")
        if breaking & positive:
            shown = space.show(grid.first(breaking & positive))
            raise envelope.wrong(number, f"not sound: {shown} is accepted")
        if rule[1] is not None and rule[1] != grid.common(grid.having(rule[0]) & positive):
            raise envelope.wrong(number, "not saturated: more follows")
        rejected |= breaking
    left_over = allowed & ~positive & ~rejected
    if missing := left_over & ~grid.intersections(positive):
        raise missing_rule(space, grid.first(missing))
    if (grid.breaking_any(envelope.readable) ^ rejected) & allowed:
        raise Wrong("readable: does not say the same as rules")
    inside = allowed & space.occurring(grid)
    left_over &= inside
    count = left_over.bit_count()
    envelope.check_examples(lambda x: grid.has(left_over, x), count)
    points, accepted = inside.bit_count(), positive.bit_count()
    return (
        f"sound and complete ({plural(len(rules), 'rule')}, {points:,} interpretations): "
        f"{accepted:,} accepted, which obey all rules; {points - accepted - count:,} rejected "
        f"by a rule; {count:,} rejected, but intersections of accepted ones: non-Horn"
    )


def missing_rule(space: Space, x: int) -> Wrong:
    """Return what is wrong where no rule rejects what has to be rejected."""
    return Wrong(
        f"a rule is missing: {space.show(x)} is rejected, but by no rule, and it is no "
        "intersection of accepted ones"
    )


def check_by_chaining(envelope: Envelope) -> None:
    """Check without the target: rules are saturated and needed, and the readable ones agree."""
    known, short = envelope.rules + envelope.background, envelope.readable + envelope.background
    for number, (rule, own) in enumerate(zip(envelope.rules, envelope.readable, strict=True), 1):
        if any(other is not rule and breaks(rule[0], other) for other in known):
            raise envelope.wrong(number, "not saturated: its antecedent breaks another rule")
        if chain(rule[0], known) != rule[1]:
            raise envelope.wrong(number, "not saturated: more follows")
        closure = chain(own[0], known)
        follows = closure is None or (own[1] is not None and own[1] & ~closure == 0)
        if chain(rule[0], [own, *short]) != rule[1] or not follows:
            raise envelope.wrong(number, "the readable rules say something else")


@dataclass(frozen=True)
class Asked:
    """What a sampled run asked about.

    `said` are the interpretations that the answers name, `accepted` all that count as accepted, and
    `rejected` those with a label, or of a target without labels, that do not. A run that is `bound`
    to its answers rejects what they reject; `unbroken` rules are those that none of them breaks.
    """

    said: Collection[int]
    accepted: Collection[int]
    rejected: Collection[int]
    rejects: Callable[[int], bool]
    bound: bool
    unbroken: bool = True

    def is_intersection(self, x: int) -> bool:
        """Say whether `x` is an intersection of accepted ones."""
        above = [y for y in self.accepted if x & ~y == 0]
        return bool(above) and reduce(int.__and__, above) == x


def check_sampled(envelope: Envelope, asked: Asked) -> str:
    """Hold a sampled envelope against what was asked; return what was found."""
    check_by_chaining(envelope)
    space, rules, claim = envelope.space, envelope.rules, envelope.claim
    envelope.check_examples(lambda x: asked.rejects(x) and asked.is_intersection(x), None)
    broken = [i for i, r in enumerate(rules, 1) if any(breaks(x, r) for x in asked.said)]
    left_over = [x for x in asked.rejected if not any(breaks(x, rule) for rule in rules)]
    if broken and (asked.unbroken or (asked.bound and claim.joint is not None)):
        raise envelope.wrong(broken[0], "not sound: a recorded answer breaks it")
    if claim.joint is not None and asked.bound and len(space.labels) <= MOST_LABELS:
        for x in left_over:
            if not asked.is_intersection(x):
                raise missing_rule(space, x)
    return (
        f"sampled: {len(asked.said):,} recorded answers break {len(broken):,} of {len(rules):,} "
        f"rules; of {len(asked.rejected):,} interpretations that they reject, no rule rejects "
        f"{len(left_over):,}"
    )


def check_wide(
    envelope: Envelope, closure: Callable[[int], int | None], rejects: Callable[[int], bool]
) -> str:
    """Hold an exact envelope against a target too wide to go through; return what was found."""
    check_by_chaining(envelope)
    space, rules, rng = envelope.space, envelope.rules, Random(0)
    for number, (left, both) in enumerate(rules, 1):
        if closure(left) != both:
            raise envelope.wrong(number, "not what the target says")
    envelope.check_examples(lambda x: rejects(x) and closure(x) == x, None)
    for _ in range(TRIES):
        x = space.mask(rng.sample(space.names, rng.randint(0, min(len(space.names), 6))))
        if chain(x, rules + envelope.background) != closure(x):
            raise Wrong(f"a rule is missing: the rules do not say all that {space.show(x)} implies")
    return (
        f"exact: each of {plural(len(rules), 'rule')} says what the target says, and "
        f"{TRIES} random sets of variables have just the consequences that the rules give them"
    )
