"""Rules of tables with shuffled columns: which hold, and how many chance would give.

Rules have at most two conditions. With a label, its column is shuffled, and the rules that speak of
it are counted; without one, every column is shuffled by itself. What rules are compared by depends
on the columns' own counts only, so that the test is exact: with a label, the chance that shuffling
leaves a rule without an exception; else, exp(−e) with e the exceptions that are expected if columns
have nothing to do with one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.permuted import DIGITS, Permuted
from hornlens.logic.bits import bits
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table

MOST_STEPS = 1 << 36
"""Shuffling that would look at more words than this is refused."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PermutedRows:
    """A table whose columns are shuffled: that of its label, the last attribute, or all."""

    table: Table
    space: Space
    labelled: bool

    @cached_property
    def choices(self) -> list[tuple[int, int]]:
        """What can be a condition, as (attribute, mask): all that some row has and some has not."""
        rows = self.table.rows
        conditions = []
        for axis, (attribute, at) in enumerate(
            zip(self.space.attributes, self.space.offsets, strict=False)
        ):
            for choice in attribute.choices[1:]:
                mask = choice << at
                having = sum(mask & ~row == 0 for row in rows)
                if 0 < having < len(rows):
                    conditions.append((axis, mask))
        return conditions

    @cached_property
    def variables(self) -> list[tuple[int, int]]:
        """What can follow, as (attribute, mask)."""
        groups = self.space.groups[: len(self.space.attributes)]
        return [(axis, 1 << bit) for axis, group in enumerate(groups) for bit in bits(group)]

    def _columns(self, masks: list[tuple[int, int]]) -> Flags:
        rows = self.table.rows
        lines = [[mask & ~row == 0 for row in rows] for _, mask in masks]
        return np.array(lines, np.bool_).reshape(len(masks), len(rows))

    @cached_property
    def _data(self) -> tuple[Flags, Flags]:
        return self._columns(self.choices), self._columns(self.variables)

    @cached_property
    def _axes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return tuple(  # type: ignore[return-value]
            np.array([axis for axis, _ in each], np.intp) for each in (self.choices, self.variables)
        )

    @cached_property
    def counted(self) -> tuple[Flags, Flags]:
        """Which rules count, with one condition and with two: last for each right side, ⊥ last.

        The sides speak of different attributes and, where there is a label, of the label.
        """
        left, right = self._axes
        label = len(self.space.attributes) - 1 if self.labelled else -1
        last = np.append(right, -2)  # of ⊥
        one = left[:, None] != last[None, :]
        two = (
            (left[:, None] != left[None, :])[..., None]
            & (left[:, None, None] != last)
            & (left[None, :, None] != last)
        )
        if self.labelled:
            about, then = left == label, last == label
            one &= about[:, None] | then[None, :]
            two &= (about[:, None] | about[None, :])[..., None] | then
        one[:, -1] = False  # every choice occurs
        return one, two

    @cached_property
    def chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The logarithm of what each rule, with one condition and with two, is compared by."""
        x, y = self._data
        rows = x.shape[1]
        lacking = np.vstack([~y, np.ones((1, rows), np.bool_)])
        n, m = x.sum(axis=1, dtype=np.float64), lacking.sum(axis=1, dtype=np.float64)
        if not self.labelled:
            first: NDArray[np.float64] = -n[:, None] * m / rows
            second: NDArray[np.float64] = first[:, None, :] * n[None, :, None] / rows
            return np.round(first, DIGITS), np.round(second, DIGITS)
        logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, rows + 1)))])

        def chance(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
            f, s = np.broadcast_arrays(first.astype(np.intp), second.astype(np.intp))
            rest = rows - f - s
            line = logs[rows - f] + logs[rows - s] - logs[np.maximum(rest, 0)] - logs[rows]
            return np.where(rest >= 0, line, -np.inf)

        left, right = self._axes
        label = len(self.space.attributes) - 1
        then = np.append(right, -2) == label
        flat = x.astype(np.float32)
        both = flat @ flat.T
        apart = flat @ lacking.T.astype(np.float32)  # rows with a choice that lack a variable
        one: NDArray[np.float64] = np.where(
            then, chance(n[:, None], m), chance(m[None, :], n[:, None])
        )
        about = left == label
        inner = chance(both[..., None], m[None, None, :])
        by_first = chance(apart[None, :, :], n[:, None, None])
        by_second = chance(apart[:, None, :], n[None, :, None])
        two = np.where(about[:, None, None], by_first, by_second)
        both_sides: NDArray[np.float64] = np.where(then, inner, two)
        return np.round(one, DIGITS), np.round(both_sides, DIGITS)

    def permute(self, permutations: int, seed: int) -> Permuted:
        """Count the rules of the table as it is, and of so many shuffled ones."""
        x, y = self._data
        words = -(-x.shape[1] // 64)
        steps = (permutations + 1) * len(x) ** 2 * (len(y) + 1) * words
        if steps > MOST_STEPS:
            raise InputError(
                "has too many values and rows to shuffle so often: ask for fewer permutations, "
                "or leave columns out (--scale NAME=drop)"
            )
        source = np.random.PCG64(seed)
        left, right = self._axes
        attributes = len(self.space.attributes)
        shuffled = [attributes - 1] if self.labelled else list(range(attributes))
        one, two = self.counted
        levels = self.chances
        counts, smallest = [], []
        for number in range(permutations + 1):
            a, b = x.copy(), y.copy()
            for axis in shuffled if number else ():
                order = np.argsort(source.random_raw(x.shape[1]), kind="stable")
                a[left == axis] = x[left == axis][:, order]
                b[right == axis] = y[right == axis][:, order]
            first, second = self._holding(a, b)
            first &= one
            second &= two
            held = [
                each[holds].min(initial=0.0)
                for each, holds in zip(levels, (first, second), strict=True)
            ]
            smallest.append(min(held))
            counts.append(self._count(first, second))
        return Permuted(np.array(counts, np.int64), np.array(smallest))

    def _holding(self, x: Flags, y: Flags) -> tuple[Flags, Flags]:
        """Return which rules hold: by condition, or by two of them, and right side."""
        having, then = _words(x), ~_words(y)
        rights = len(then) + 1
        one = np.ones((len(x), rights), np.bool_)
        two = np.ones((len(x), len(x), rights), np.bool_)
        for i, own in enumerate(having):
            one[i, :-1] = ~(own & then).any(axis=1)
            both = own & having[i + 1 :]
            two[i, i + 1 :, -1] = ~both.any(axis=1)
            two[i, i + 1 :, :-1] = ~(both[:, None] & then).any(axis=2)
            two[i + 1 :, i] = two[i, i + 1 :]
        one[:, -1] = False
        return one, two

    @cached_property
    def _broader(self) -> Flags:
        """For each choice, those of the same attribute that say less."""
        masks = [mask for _, mask in self.choices]
        left, _ = self._axes
        less = [[a != b and b & ~a == 0 for b in masks] for a in masks]
        broader: Flags = np.array(less, np.bool_).reshape(len(masks), len(masks))
        broader &= left[:, None] == left
        return broader

    @cached_property
    def _excluded(self) -> Flags:
        """For each choice, the variables of the same attribute that no row has beside it."""
        x, y = self._data
        left, right = self._axes
        apart: Flags = (x.astype(np.float32) @ y.T.astype(np.float32)) == 0
        apart &= left[:, None] == right
        return apart

    def _count(self, one: Flags, two: Flags) -> list[int]:
        """Count left sides from which something follows that follows from no part of them."""
        broader = self._broader
        new_one = one.any(axis=1)
        part = one[:, None] | one[None, :]
        if broader.any():
            wider_one = (broader.astype(np.float32) @ one.astype(np.float32)) > 0
            new_one = (one & ~wider_one).any(axis=1)
            wider = np.einsum("ik,kjv->ijv", broader.astype(np.float32), two.astype(np.float32)) > 0
            part = part | wider | wider.transpose(1, 0, 2)
        never = two[..., -1]
        says = (one[:, :-1].astype(np.float32) @ self._excluded.T.astype(np.float32)) > 0
        derived = says | says.T | part[..., -1]
        new_two = (two & ~part)[..., :-1].any(axis=2) & ~never
        new_two |= never & ~derived
        return [0, int(new_one.sum()), int(np.triu(new_two, 1).sum())]

    def chance_of(self, rule: Rule) -> float | None:
        """Return what a rule is compared by; None if it is not counted, or has more conditions."""
        left = self.space.background.closure(rule.antecedent)
        place = {mask: i for i, (_, mask) in enumerate(self.choices)}
        groups = self.space.groups[: len(self.space.attributes)]
        at = [place.get(left & group) for group in groups if left > 0 and left & group]
        if not 1 <= len(at) <= 2 or None in at:
            return None
        rights = [mask for _, mask in self.variables]
        new = [len(rights)] if rule.is_negative else [rights.index(1 << b) for b in bits(rule.new)]
        which = (*at, new)
        counted, chances = (each[len(at) - 1] for each in (self.counted, self.chances))
        if not new or not counted[which].all():
            return None
        return float(chances[which].max())


def _words(flags: Flags) -> NDArray[np.uint64]:
    """Return rows of flags as words; what is past the end is not set."""
    octets = np.packbits(flags, axis=1)
    padded = np.zeros((len(octets), -(-octets.shape[1] // 8) * 8), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)
