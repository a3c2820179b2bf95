"""Survivors: the most general rules that no answer breaks. All that holds follows from these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from hornlens.learning.sifting.axes import Box, Flags
from hornlens.learning.sifting.members import CandidateMember, Member, ValueMember
from hornlens.learning.sifting.run import SiftRun
from hornlens.logic.batch import Words, pack, unpack
from hornlens.logic.rule import Rule


class Survivors:
    """What is left of the candidates of a run."""

    def __init__(self, run: SiftRun):
        """Look at a run, as it stands whenever something is asked."""
        self.run = run

    def is_dead(self, member: Member) -> bool:
        """Say whether an answer breaks a rule."""
        tally = self.run.tally
        if member.candidate >= 0:
            return bool(tally.dead[member.statement, member.candidate])
        inside = self.run.ground.holds(member.box, tally.cells)
        return bool((inside & tally.broken[member.statement]).any())

    def is_whole(self, member: Member) -> bool:
        """Say whether every cell that can break a rule was asked, and its answer is known."""
        run, tally = self.run, self.run.tally
        if run.options.varies or not run.ground.counted:
            return False
        if member.candidate >= 0 and not tally.is_whole(member.candidate):
            return False
        inside = run.ground.holds(member.box, tally.cells)
        unknown = tally.unknown[member.statement]
        return int(inside.sum()) >= member.room and not bool((inside & unknown).any())

    def all(self, almost: Sequence[Member] = ()) -> list[Member]:
        """Return all of them, but for the special cases of rules with exceptions."""
        values = [v for v in self._values() if not any(is_within(v, broad) for broad in almost)]
        plain = self._plain()
        if values:
            # A value that is concluded excludes the others, if the label is on the left.
            plain = (
                member
                for member in plain
                if not (member.rule.is_negative and any(is_within(member, v) for v in values))
            )
        return [*plain, *values]

    def _plain(self) -> Iterator[Member]:
        """Yield those that say which label is never given, or always."""
        tally, candidates = self.run.tally, self.run.tally.candidates
        for r in range(len(tally.statements)):
            minimal = candidates.minimal(tally.alive(r))
            for candidate in minimal[~self._said_by_others(r)[minimal]].tolist():
                if not self.run.ground.counted and not self._can_be(candidate):
                    tally.void[candidate] = True
                    continue
                yield CandidateMember(tally, r, candidate)

    def _said_by_others(self, r: int) -> Flags:
        """Return which candidates are alive with a statement that says more than this one.

        That a label is never given goes without saying where another one is always given.
        """
        tally = self.run.tally
        breaks = set(tally.statements[r].breaks)
        covered = np.zeros(tally.candidates.count + 1, dtype=np.bool_)
        for other, statement in enumerate(tally.statements):
            if breaks < set(statement.breaks):
                covered |= tally.alive(other)
        return covered

    def _can_be(self, candidate: int) -> bool:
        """Say whether the background leaves conditions possible, as far as its rules tell."""
        return self.run.space.background.closure(self.run.tally.candidates.mask(candidate)) >= 0

    # --- rules that conclude a value ---

    @cached_property
    def _spoken_of(self) -> Words:
        """For each set of few conditions the variables of its attributes, and the label's."""
        space, candidates = self.run.space, self.run.tally.candidates
        masks = []
        for candidate in range(self.run.tally.short):
            own = space.label_mask
            for i in candidates.blocks[int(candidates.block_of[candidate])]:
                own |= space.groups[i]
            masks.append(own)
        return pack(masks, space.width)

    def _values(self) -> Iterator[Member]:
        """Yield those that conclude a value, of an attribute that they have no condition on."""
        tally, candidates = self.run.tally, self.run.tally.candidates
        short = tally.short
        for r, statement in enumerate(tally.statements):
            if not short or statement.given is None:
                continue
            dead = tally.dead[r, :short] & ~tally.void[:short]
            extra = np.where(dead[:, None], tally.meet[r][:short] & ~self._spoken_of, 0)
            above = candidates.parents[:short].astype(np.int64)
            known = np.where(above < short, above, short)
            padded = np.concatenate([extra, np.zeros((1, extra.shape[1]), dtype=np.int64)])
            extra &= ~np.bitwise_or.reduce(padded[known], axis=1)
            places = np.flatnonzero(extra.any(axis=1))
            for candidate, mask in zip(places.tolist(), unpack(extra[places]), strict=True):
                yield from self._concluded(r, candidate, mask, statement.given)

    def _concluded(self, r: int, candidate: int, extra: int, given: int) -> Iterator[Member]:
        """Yield a rule for each attribute of which all answers that break a candidate agree."""
        run, candidates = self.run, self.run.tally.candidates
        left = candidates.mask(candidate) | given
        closed = run.space.background.closure(left)
        if closed < 0:
            return
        for i, axis in enumerate(run.ground.axes):
            value = extra & run.space.groups[i]
            if not value & ~closed:
                continue
            value |= closed & run.space.groups[i]
            box = list(candidates.box(candidate))
            box[i] = np.array([value & ~level != 0 for level in axis.levels])
            room = run.ground.room(tuple(box))
            if room:
                rule = Rule(left, left | value)
                yield ValueMember(rule, r, tuple(box), room, (r, candidate, i, value))


def lies_in(box: Box, other: Box) -> bool:
    """Say whether all cells of a box are in another."""
    for part, wider in zip(box, other, strict=True):
        if wider is not None and (part is None or bool((part & ~wider).any())):
            return False
    return True


def is_within(member: Member, other: Member) -> bool:
    """Say whether what can break a rule can break another one as well, with the same statement."""
    return member.statement == other.statement and lies_in(member.box, other.box)
