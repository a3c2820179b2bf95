"""Where does a column matter? The inputs for which changing it changes the decision, as rules.

Over a grid, a cell of the other columns either has one class whatever the column is, or several: a
cover of these two is exact. Of trees beyond the grid, boxes of the other columns are proved to be
one or the other, and split where they are neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells, distinct_cells
from hornlens.exact.boxes.covers import cover_of_grid
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.limits import Stopped
from hornlens.targets.classifiers.answering import NotKept
from hornlens.targets.classifiers.columns import column_of
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.moving import flags_of, within
from hornlens.targets.classifiers.voting import Vote

PATIENCE = 5_000
"""After so many pairs of boxes, it is not known whether the column matters in a box."""


@dataclass(frozen=True)
class MatterRule:
    """Where the conditions hold, changing the column always changes the decision, or never does."""

    conditions: tuple[str, ...]
    matters: bool
    support: int
    """To how many rows of X it applies."""

    def __str__(self) -> str:
        """Return it as people read it."""
        where = " ∧ ".join(self.conditions) or "⊤"
        return f"{where} → {'matters' if self.matters else 'never matters'}"


@dataclass(frozen=True)
class WhereItMatters:
    """The rules of where a column matters, and what they decide.

    "Matters" means that the model says different classes for some two values of the column, with
    all else as it is.

    >>> import numpy as np
    >>> from hornlens import explain
    >>> X = np.array([[a, b] for a in "xy" for b in "mn"], dtype=object)
    >>> result = explain(lambda rows: (rows[:, 0] == "x") & (rows[:, 1] == "m"), X)
    >>> print(*result.where_it_matters("x0"), sep=", ")
    x1 = m → matters, x1 = n → never matters
    """

    column: str
    rules: tuple[MatterRule, ...]
    share: float
    """The share of the cells of the other columns in which it matters, as far as is known."""
    open: float
    """The share of these cells that no rule decides."""
    rows: int
    """For how many rows of X it matters, as far as is known."""
    of_rows: int
    inputs: str
    """What the rules are about."""

    @property
    def complete(self) -> bool:
        """Whether the rules decide every cell."""
        return self.open == 0

    def __iter__(self) -> Iterator[MatterRule]:
        """Iterate over the rules."""
        return iter(self.rules)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        where = [" ∧ ".join(rule.conditions) or "everywhere" for rule in self.rules if rule.matters]
        rows = f"for {self.rows:,} of {self.of_rows:,} rows of X"
        if self.complete and not where:
            return f"Changing only {self.column} never changes the decision, {self.inputs}."
        shown = "; or ".join(where[:3]) + ("; or …" if len(where) > 3 else "")
        if self.complete and self.share == 1:
            return f"Changing only {self.column} can change every decision, {self.inputs}."
        if self.complete:
            return (
                f"Changing only {self.column} can change the decision where {shown}, and nowhere "
                f"else ({rows}), {self.inputs}."
            )
        known = f"where {shown} ({rows})" if where else "nowhere that is known"
        return (
            f"Changing only {self.column} can change the decision {known}; "
            f"{self.open:.1%} of the inputs are open, {self.inputs}."
        )

    def __str__(self) -> str:
        """Return the sentence and the rules."""
        return "\n".join([self.sentence, *map(str, self.rules)])


def where_it_matters(result: Explained, attribute: str, most: int = 100) -> WhereItMatters:
    """Return where changing a column changes the decision; see `Explanation.where_it_matters`."""
    binned = result.binned
    place = column_of(binned.classifier.table, attribute)
    inputs = (
        f"for {result.certificate.scope.inputs}" if result.exact_bins else "for the binned model"
    )
    if place not in binned.telling:
        if not result.exact_bins:
            raise HornlensError(f"column {attribute!r} has one level: nothing was asked about it")
        rule = MatterRule((), False, len(result.rows))
        return WhereItMatters(attribute, (rule,), 0.0, 0.0, 0, len(result.rows), inputs)
    axis = binned.telling.index(place)
    if isinstance(result.labelled, GridCells):
        return _of_grid(result, result.labelled, axis, inputs)
    if result.vote is None:
        raise HornlensError(
            f"there are {binned.cell_count:,} cells, and no trees that can be looked into: "
            "raise the limit, or take fewer bins"
        )
    return _Boxes(result, result.vote, axis).split(most, inputs)


def _of_grid(result: Explained, cells: GridCells, axis: int, inputs: str) -> WhereItMatters:
    """Return a cover of the cells of the other columns."""
    along = np.moveaxis(cells.labels, axis, -1)
    known = along >= 0
    high = np.where(known, along, -1).max(axis=-1)
    low = np.where(known, along, np.iinfo(np.int8).max).min(axis=-1)
    matters = (high > low) & known.any(axis=-1)
    labels = np.array(matters, dtype=np.int8)
    labels[~known.any(axis=-1)] = OUTSIDE
    labels[~matters & (along == OPEN).any(axis=-1)] = OPEN
    others = [at for at in range(cells.labels.ndim) if at != axis]
    rows = result.rows[:, others]
    grid = GridCells(tuple(result.binned.axes[at] for at in others), labels)
    if others:
        first, _, counts = distinct_cells(rows, labels.shape)
        cover = cover_of_grid(grid, first[np.argsort(-counts, kind="stable")])
    else:  # the only cell is that of no column
        cover = [] if labels < 0 else [BoxRule((), int(labels))]
    features = [result.binned.features[at] for at in others]
    rules = []
    for rule in cover:
        inside = np.ones(len(rows), dtype=np.bool_)
        for at, (lowest, highest) in enumerate(rule.box):
            inside &= (rows[:, at] >= lowest) & (rows[:, at] <= highest)
        pairs = zip(features, rule.box, strict=True)
        texts = tuple(feature.say(part) for feature, part in pairs if part != feature.whole)
        rules.append(MatterRule(texts, bool(rule.place), int(inside.sum())))
    rules.sort(key=lambda rule: (not rule.matters, -rule.support, len(rule.conditions)))
    occur = int(np.count_nonzero(labels != OUTSIDE))
    own = labels[tuple(rows.T)] if others else np.full(len(rows), labels)
    return WhereItMatters(
        result.binned.features[axis].name,
        tuple(rules),
        float(np.count_nonzero(matters)) / max(1, occur),
        float(np.count_nonzero(labels == OPEN)) / max(1, occur),
        int(np.count_nonzero(own == 1)),
        len(rows),
        inputs,
    )


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes of the other columns of an ensemble, beyond the grid."""

    result: Explained
    vote: Vote
    axis: int

    def split(self, most: int, inputs: str) -> WhereItMatters:
        """Decide boxes, those with most rows first; split what is not decided."""
        features = self.vote.features
        whole = tuple((1 << feature.size) - 1 for feature in features)
        waiting: list[tuple[int, float, int, tuple[int, ...]]] = []
        heappush(waiting, (-len(self.result.rows), -1.0, 0, whole))
        decided: list[tuple[tuple[int, ...], bool]] = []
        count = 0
        try:
            while waiting and count < most:
                _, _, _, box = heappop(waiting)
                count += 1
                matters = self._decided(box)
                if matters is not None:
                    decided.append((box, matters))
                    continue
                for part in self._halves(box):
                    rows = int(self._inside(part).sum())
                    heappush(waiting, (-rows, -float(self._volume(part)), count, part))
        except (NotKept, Stopped):
            pass
        return self._told(decided, inputs)

    def _told(self, decided: Sequence[tuple[tuple[int, ...], bool]], inputs: str) -> WhereItMatters:
        rules, rows, share, total = [], 0, Fraction(0), Fraction(0)
        for box, matters in decided:
            support = int(self._inside(box).sum())
            rules.append(MatterRule(self._say(box), matters, support))
            total += self._volume(box)
            if matters:
                rows, share = rows + support, share + self._volume(box)
        rules.sort(key=lambda rule: (not rule.matters, -rule.support, len(rule.conditions)))
        name = self.vote.features[self.axis].name
        count = len(self.result.rows)
        return WhereItMatters(
            name, tuple(rules), float(share), float(1 - total), rows, count, inputs
        )

    def _decided(self, box: tuple[int, ...]) -> bool | None:
        """Return whether the column matters in all of a box, or nowhere in it; None if neither."""
        classes = self.vote.leaves[1].shape[1]
        every = (1 << classes) - 1
        status, part = 0, within(self.vote, box)
        for place in range(classes):
            first, then = 1 << place, every & ~(1 << place)
            status, _ = part.moved(self.axis, first, then, None, PATIENCE)
            if status:
                break
        if status == 0:
            return False
        if status == -1 or self.vote.forbidden:  # where cells do not occur, pairs may be missing
            return None
        return True if self._always(box) else None

    def _always(self, box: tuple[int, ...]) -> bool:
        """Return whether two levels of the column have one class each, and not the same."""
        feature = self.vote.features[self.axis]
        line = np.array([(bits & -bits).bit_length() - 1 for bits in box], dtype=np.intp)
        cells = np.tile(line, (feature.size, 1))
        cells[:, self.axis] = np.arange(feature.size)
        said = self.vote.binned.ask(cells)
        proved: dict[int, int] = {}
        for level, place in enumerate(said.tolist()):
            if place in proved:
                continue
            own = [*box]
            own[self.axis] = 1 << level
            _, status = self.vote.others_among([own], [place], PATIENCE)
            if status[0] == 0:
                proved[place] = level
            if len(proved) > 1:
                return True
        return False

    def _halves(self, box: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Split a box where most leaves end that ask for the column, as evenly as can be."""
        leaves, words = self.vote.leaves[0], self.vote.words
        whole = self.vote.packed([[(1 << f.size) - 1 for f in self.vote.features]])[0]
        own = slice(self.axis * words, (self.axis + 1) * words)
        here = self.vote.packed([list(box)])[0]
        asks = (leaves[:, own] != whole[own]).any(axis=1)
        meets = ((leaves & here) != 0).reshape(len(leaves), len(box), words).any(axis=2).all(axis=1)
        some = leaves[asks & meets]
        cuts = ((here & ~some) != 0).reshape(len(some), len(box), words).any(axis=2)
        cuts[:, self.axis] = False
        if not cuts.any():  # leaves that do not ask for it decide whether it matters
            some = leaves[meets]
            cuts = ((here & ~some) != 0).reshape(len(some), len(box), words).any(axis=2)
            cuts[:, self.axis] = False
        if not cuts.any():
            return []
        axis = int(cuts.sum(axis=0).argmax())
        rows = self.result.rows[self._inside(box), axis]
        feature = self.vote.features[axis]
        best: tuple[float, int] | None = None
        for leaf in np.unique(some[cuts[:, axis]][:, axis * words : (axis + 1) * words], axis=0):
            inside = sum(int(word) << 64 * at for at, word in enumerate(leaf.tolist())) & box[axis]
            flags = flags_of(inside, feature.size)
            share = float(flags[rows].mean()) if len(rows) else 0.5
            worse = abs(share - 0.5)
            if best is None or worse < best[0]:
                best = worse, inside
        assert best is not None
        parts = (best[1], box[axis] & ~best[1])
        return [(*box[:axis], part, *box[axis + 1 :]) for part in parts]

    def _inside(self, box: tuple[int, ...]) -> NDArray[np.bool_]:
        """Say of each row whether it lies in a box, whatever the column is."""
        rows = self.result.rows
        inside = np.ones(len(rows), dtype=np.bool_)
        for at, (feature, bits) in enumerate(zip(self.vote.features, box, strict=True)):
            if at != self.axis:
                inside &= flags_of(bits, feature.size)[rows[:, at]]
        return inside

    def _volume(self, box: tuple[int, ...]) -> Fraction:
        """Return the share of the cells of the other columns that a box has."""
        sizes = (feature.size for feature in self.vote.features)
        return prod(
            (Fraction(bits.bit_count(), size) for bits, size in zip(box, sizes, strict=True)),
            start=Fraction(1),
        )

    def _say(self, box: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(
            _said(feature, bits)
            for feature, bits in zip(self.vote.features, box, strict=True)
            if bits != (1 << feature.size) - 1
        )


def _said(feature: Feature, bits: int) -> str:
    """Return a set of levels as a condition that can be read back."""
    levels = [level for level in range(feature.size) if bits >> level & 1]
    runs: list[list[int]] = []
    for level in levels:
        follows = runs and runs[-1][-1] == level - 1 and feature.is_ranged and level < feature.known
        if follows:
            runs[-1].append(level)
        else:
            runs.append([level])
    texts = [feature.say((run[0], run[-1])) for run in runs]
    return texts[0] if len(texts) == 1 else f"({' or '.join(texts)})"
