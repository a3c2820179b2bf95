"""Is every short rule listed, open or broken by an answer? All of them are gone through again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hornlens.errors import InputError
from hornlens.verifying.grids import Wrong
from hornlens.verifying.record import SiftedFile, whole
from hornlens.verifying.remaining import Breaking, Conditions, Sets
from hornlens.verifying.stated import Saying, StatedRule
from hornlens.verifying.survivors import Exempt, Unbroken, Valued

MOST = 12_000_000
"""So many rules are gone through: sets of conditions, times what can be said of each."""
Key = tuple[int, ...]


@dataclass(eq=False)
class Recount:
    """All rules with few conditions, and those of them that are listed or open.

    `stated` are these, by what they are called in the file; `almost` are the rules with exceptions.
    """

    file: SiftedFile
    stated: Mapping[str, StatedRule]
    almost: Sequence[StatedRule] = ()
    kept: int = field(init=False, default=0)
    """How many rules have to be listed or open."""
    missing: str | None = field(init=False, default=None)
    """One that is neither."""

    @cached_property
    def conditions(self) -> Conditions:
        """What rules may ask for."""
        layout, most = self.file.layout, whole(self.file.line, "conditions")
        conditions = Conditions(layout, most)
        if conditions.count() * len(self.file.sayings) > MOST:
            raise InputError(
                f"is sifted for more than {MOST:,} rules, too many to be gone through again"
            )
        return conditions

    @cached_property
    def survivors(self) -> Unbroken:
        """What no answer breaks."""
        space, file = self.file.layout.space, self.file
        most = min(self.conditions.most, self.conditions.longest)
        concluding = -1 if space.ends is not None else self.conditions.most - bool(space.labels)
        exempt = [Exempt(rule.saying, self._numbers(rule)) for rule in self.almost]
        return Unbroken(file.asked, self.conditions, file.sayings, min(concluding, most), exempt)

    @cached_property
    def _known(self) -> list[dict[bytes, int]]:
        """For each attribute the number of each condition, by the levels that meet it."""
        conditions = self.conditions
        return [
            {row.tobytes(): start + k for k, row in enumerate(rows)}
            for start, rows in zip(conditions.starts, self.file.layout.conditions, strict=False)
        ]

    def _numbers(self, rule: StatedRule) -> Key:
        """Return the conditions of a rule by their numbers, one on each attribute."""
        space, numbers = self.file.layout.space, []
        for known, part in zip(self._known, self.file.layout.box(rule.conditions), strict=True):
            if part is not None:
                number = known.get(part.tobytes())
                if number is None:
                    shown = space.show_rule(rule.rule)
                    raise Wrong(f"{shown} has a condition that every cell meets, or none")
                numbers.append(number)
        return tuple(numbers)

    # --- counting ---

    def count(self) -> None:
        """Go through all rules, and through those that are stated."""
        named: dict[Saying, dict[str, StatedRule]] = {saying: {} for saying in self.file.sayings}
        for name, rule in self.stated.items():
            named[rule.saying][name] = rule
        for saying, own in named.items():
            evidence = self.survivors.evidence(saying.breaks)
            sets, values = self.survivors.of(saying, evidence)
            self.kept += len(sets) + len(values)
            plain = {name: rule for name, rule in own.items() if rule.attribute < 0}
            valued = {name: rule for name, rule in own.items() if rule.attribute >= 0}
            stated = self._check_plain(saying, plain, evidence)
            concluded = self._check_values(saying, valued, evidence)
            if self.missing is None:
                self.missing = self._missing(saying, sets, values, stated, concluded)

    def _padded(self, numbers: Sequence[Key]) -> Sets:
        rows = np.repeat(self.conditions.empty, len(numbers), axis=0)
        for row, own in zip(rows, numbers, strict=True):
            row[: len(own)] = own
        return rows

    def _short(self, name: str, rule: StatedRule, most: int) -> Key:
        numbers = self._numbers(rule)
        if len(numbers) > most:
            raise Wrong(f"{name}: has more than {most} conditions on attributes")
        return numbers

    def _check_plain(
        self, saying: Saying, rules: Mapping[str, StatedRule], evidence: Breaking
    ) -> set[Key]:
        """Check that rules are among the most general ones that no answer breaks."""
        most = self.conditions.most
        numbers = [self._short(name, rule, most) for name, rule in rules.items()]
        sets = self._padded(numbers)
        broken, minimal = evidence.signs.first(sets), evidence.is_minimal(sets)
        kept = {row.tobytes() for row in self.survivors.kept(saying, sets, evidence)}
        seen: set[Key] = set()
        for number, (name, own) in enumerate(zip(rules, numbers, strict=True)):
            if broken[number] >= 0:
                raise self._broken(name, int(evidence.places[broken[number]]))
            if not minimal[number]:
                raise Wrong(f"{name}: no answer breaks a more general rule, from which it follows")
            if sets[number].tobytes() not in kept:
                raise Wrong(f"{name}: cannot apply, or follows from another rule")
            if own in seen:
                raise Wrong(f"{name}: stands there twice")
            seen.add(own)
        return seen

    def _broken(self, name: str, at: int) -> Wrong:
        answer = self.file.order[at]
        shown = self.file.layout.space.show(answer.cell)
        return Wrong(f"{name}: answer {answer.place}, {shown}, breaks it")

    def _check_values(
        self, saying: Saying, rules: Mapping[str, StatedRule], evidence: Breaking
    ) -> set[tuple[Key, int]]:
        """The same of rules that conclude a value."""
        seen: set[tuple[Key, int]] = set()
        asked, most = self.file.asked, self.survivors.concluding
        for name, rule in rules.items():
            numbers = self._short(name, rule, most)
            inside = evidence.places
            for i, part in enumerate(rule.box):
                if part is not None:
                    inside = inside[part[asked.cells[inside, i]]]
            if len(inside):
                raise self._broken(name, int(inside[0]))
            row = self._padded([numbers])
            if not evidence.signs.meets(row)[0]:
                raise Wrong(f"{name}: no answer breaks a more general rule, from which it follows")
            heads = self._heads(saying, row, rule.attribute, evidence)
            if not heads or any(not rule.value >> v & 1 for v in heads):
                raise Wrong(f"{name}: not what follows from its conditions, or from more general")
            more = [v for v in self._variables(rule) if v not in heads]
            if self.survivors.can_lack(np.repeat(row, len(more), axis=0), np.array(more)).any():
                raise Wrong(f"{name}: says what follows from another rule as well")
            if (numbers, rule.attribute) in seen:
                raise Wrong(f"{name}: stands there twice")
            seen.add((numbers, rule.attribute))
        return seen

    def _variables(self, rule: StatedRule) -> list[int]:
        own = self.file.layout.variables_of(rule.attribute)
        return [v for v in own if rule.value >> v & 1]

    def _heads(
        self, saying: Saying, row: Sets, attribute: int, evidence: Breaking
    ) -> tuple[int, ...]:
        values = self.survivors.values(saying, row, evidence)
        return next((each.heads for each in values if each.attribute == attribute), ())

    def _missing(
        self,
        saying: Saying,
        sets: Sets,
        values: Sequence[Valued],
        stated: set[Key],
        concluded: set[tuple[Key, int]],
    ) -> str | None:
        """Return a rule that has to be stated and is not, in words."""
        space, conditions = self.file.layout.space, self.conditions
        given = space.label_masks[saying.breaks[0]] if space.labels and saying.breaks else 0
        for row in sets:
            if tuple(row[row < conditions.anything].tolist()) not in stated:
                left = self.survivors.mask(row)
                if saying.never:
                    return space.show_rule((left | given, None))
                (place,) = {*range(len(space.labels))} - {*saying.breaks}
                return space.show_rule((left, left | space.label_masks[place]))
        for each in values:
            if (each.conditions, each.attribute) not in concluded:
                left = given | self.survivors.mask(np.array(each.conditions, dtype=np.int32))
                return space.show_rule((left, left | sum(1 << v for v in each.heads)))
        return None

    # --- figures ---

    @cached_property
    def broken(self) -> int:
        """How many rules an answer breaks."""
        return int(self.survivors.broken_at.sum())

    @cached_property
    def possible(self) -> tuple[int, int]:
        """How many rules there can be, at least and at most.

        That is one number, unless nobody can list what the background allows: then no more is
        known than that there are those that an answer breaks.
        """
        sayings = len(self.file.sayings)
        if self.file.layout.counted:
            exactly = self.survivors.possible.count() * sayings
            return exactly, exactly
        return self.broken, self.conditions.count() * sayings

    def check_figures(self) -> None:
        """Compare the counts, and how they fell."""
        line = self.file.line
        candidates, live = whole(line, "candidates"), whole(line, "live")
        least, most = self.possible
        if not least <= candidates <= most:
            raise Wrong(f"sift: there are {most:,} rules to sift, not {candidates:,}")
        if candidates - live != self.broken:
            raise Wrong(f"sift: {candidates - self.broken:,} rules are live, not {live:,}")
        after = np.append(0, np.cumsum(self.survivors.broken_at))
        last = -1
        for point in line["curve"]:
            asked, alive = point
            named = {"question": asked, "rules": alive}
            whole(named, "rules")
            if whole(named, "question", len(self.file.order)) <= last:
                raise Wrong("sift: the curve does not go forward")
            last, gone = asked, int(after[asked])
            if not candidates - gone <= alive <= most - gone:
                raise Wrong(
                    f"sift: after {asked:,} questions {candidates - gone:,} rules were live, "
                    f"not {alive:,}"
                )
