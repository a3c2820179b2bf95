"""A space without some of its attributes: which of their values can occur beside what else is said.

A *choice* sets these attributes. A cell of the rest is *fixed* if fewer than two choices can occur
beside it. That no cell is fixed is written as rules, as far as rules can say it: where the sex is
changed, "pregnant → female" makes cells fixed that say pregnant. Of several choices that are each
forbidden for want of something else, rules can say it in a complete space only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from hornlens.logic.attributes import Attribute
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

MOST_RULES = 5_000
"""If more rules than this are needed to say that no cell is fixed, it is not said."""


@dataclass(frozen=True)
class Reduced:
    """A space, the places of the attributes that are left out, and the choices that set these."""

    space: Space
    left_out: tuple[int, ...]
    choices: tuple[int, ...]

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that stay."""
        return tuple(a for i, a in enumerate(self.space.attributes) if i not in self.left_out)

    @cached_property
    def free(self) -> int:
        """The variables that are left out."""
        return sum(self.space.groups[i] for i in self.left_out)

    # --- masks ---

    @cached_property
    def _moves(self) -> list[tuple[int, int, int]]:
        """For each attribute that stays its mask and its first bit in the space; its new one."""
        moves, at = [], 0
        for i, attribute in enumerate(self.space.attributes):
            if i not in self.left_out:
                moves.append((self.space.groups[i], self.space.offsets[i], at))
                at += len(attribute.variables)
        return moves

    def less(self, mask: int) -> int:
        """Return what a mask of the space says of the attributes that stay."""
        return sum((mask & group) >> first << at for group, first, at in self._moves)

    def whole(self, cell: int) -> int:
        """Return a cell of the attributes that stay as a mask of the space."""
        return sum((cell >> at << first) & group for group, first, at in self._moves)

    def possible(self, cell: int) -> list[int]:
        """Return the places of the choices that can occur beside a cell."""
        rest = self.whole(cell)
        if not self.space.assumed:
            return list(range(len(self.choices)))
        background = self.space.background
        return [k for k, c in enumerate(self.choices) if background.satisfied_by(rest | c)]

    # --- the background ---

    @cached_property
    def assumed(self) -> tuple[Rule, ...]:
        """The background of the attributes that stay, and that no cell is fixed."""
        own = [rule for rule in self.space.assumed if not self._said(rule) & self.free]
        rules = [*own, *self._never_fixed()]
        return tuple(
            dict.fromkeys(
                Rule(
                    self.less(rule.antecedent),
                    BOTTOM if rule.is_negative else self.less(rule.consequent),
                )
                for rule in rules
            )
        )

    def _said(self, rule: Rule) -> int:
        return rule.antecedent | max(rule.consequent, 0)

    def _needs(self, choice: int) -> Iterator[Rule]:
        """Yield the rules that the rest must obey where a choice occurs, one attribute a time."""
        for rule in self.space.assumed:
            if not self._said(rule) & self.free or rule.antecedent & self.free & ~choice:
                continue
            left = rule.antecedent & ~self.free
            if rule.is_negative or rule.consequent & self.free & ~choice:
                yield Rule(left, BOTTOM)
                continue
            for group in self.space.groups:
                if (right := rule.consequent & ~self.free & group) & ~left:
                    yield Rule(left, left | right)

    def _never_fixed(self) -> list[Rule]:
        groups: dict[tuple[Rule, ...], int] = {}
        for choice in self.choices:
            needs = tuple(dict.fromkeys(self._needs(choice)))
            groups[needs] = groups.get(needs, 0) + 1
        spare = groups.pop((), 0)
        if spare > 1:
            return []
        blocked = list(groups)
        sets = (
            [blocked]
            if spare
            else [
                blocked,
                *(
                    [needs for needs in blocked if needs is not alone]
                    for alone in blocked
                    if groups[alone] == 1
                ),
            ]
        )
        rules: list[Rule] = []
        for some in sets:
            if prod(map(len, some)) > MOST_RULES:
                return []
            for each in product(*some):
                rules += self._not_all_broken(each)
                if len(rules) > MOST_RULES:
                    return []
        return rules

    def _not_all_broken(self, rules: Sequence[Rule]) -> list[Rule]:
        """Return, as far as rules can say it, that one of these rules holds."""
        left = 0
        for rule in rules:
            left |= rule.antecedent
        rights = {rule.consequent & ~rule.antecedent for rule in rules if not rule.is_negative}
        if any(not right & ~left for right in rights):
            return []
        if len(rights) < 2:
            return [Rule(left, left | rights.pop() if rights else BOTTOM)]
        if not self.space.complete:
            return []
        lacking = []
        for group, leaves in zip(self.space.groups, self.space.leaves, strict=False):
            own = [right for right in rights if right & group]
            if own:
                lacking.append([x for x in leaves if all(right & ~x for right in own)])
        if prod(map(len, lacking)) > MOST_RULES:
            return []
        return [Rule(left | sum(each), BOTTOM) for each in product(*lacking)]
