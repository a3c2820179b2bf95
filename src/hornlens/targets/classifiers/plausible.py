"""What can exist: an input that breaks no more of the rules of X than 99% of other rows do.

Half of the rows of X at most show the rules, the others are held out. As a fresh row is one more of
these, at most 1% of fresh rows break more than the (m + 1) · 99%th smallest of their m counts
(split conformal prediction); that holds for rows that are drawn like those of X, on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Range
from hornlens.exact.boxes.cells import Levels
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.exact.boxes.mining import Empty, empty_boxes
from hornlens.formats.documents import parse_yaml
from hornlens.formats.files import read_text, write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.shapes import Part
from hornlens.logic.cuts import Cuts, quantile_cuts
from hornlens.logic.scopes import plausible_words
from hornlens.targets.classifiers.background import Background, Sides, broken_box, sides_of
from hornlens.targets.classifiers.columns import Table, read_table
from hornlens.targets.classifiers.features import Feature, number_feature, value_feature

KEPT = 0.99
"""The share of fresh rows that are plausible, at least."""
HELD_OUT = 99
"""With fewer rows held out, no count is large enough for 1%."""
LEAST = 150
"""So few rows can show what is plausible."""
BINS = 48
"""How many bins a column of numbers gets at most: fine ones follow a curve that columns lie on."""
MOST_CONDITIONS = 1_000
"""Where columns have more levels than that in all, they get fewer bins."""
MOST_MINED = 5_000
"""So many rows show the rules at most; all others are held out."""


class PlausibleFile(Part):
    """A file that says what is plausible."""

    rules: list[str]
    most_broken: Annotated[int, Field(ge=0)]
    rows: Annotated[int, Field(ge=0)] = 0
    held_out: Annotated[int, Field(ge=0)] = 0
    kept: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True)
class Plausible:
    """Rules of the rows of X, and how many of them an input may break that can exist.

    `rows` showed the rules; of `held_out` others, `kept` break `most_broken` at most.

    >>> import numpy as np
    >>> up = np.arange(400.0) % 100
    >>> plausible = Plausible.of(np.column_stack([up, up]))
    >>> plausible.allows([[90.0, 90.0], [10.0, 90.0]]).tolist()
    [True, False]
    """

    rules: tuple[str, ...]
    most_broken: int = 0
    rows: int = 0
    held_out: int = 0
    kept: int = 0
    measured: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    """Which rows of X were held out; None if nothing but the counts is known of them."""
    source: str | None = field(default=None, compare=False, repr=False)
    """The hash of X."""

    def __post_init__(self) -> None:
        """Refuse counts that cannot be."""
        if self.kept > self.held_out:
            raise InputError("plausible: more rows are kept than were held out")

    @classmethod
    def of(cls, X: Any, seed: int = 0, bins: int = BINS) -> Plausible:  # noqa: N803
        """Find the rules that rows obey, and how many of them a row breaks.

        Args:
            X: Rows as a classifier takes them: an array, or a pandas or polars frame.
            seed: Which rows are held out, and by which cells rules are chosen.
            bins: How many bins a column of numbers gets at most, whose ends are those of rules.
                There are fewer where there are many columns.

        Returns:
            The rules, those first that shut out most.

        Raises:
            InputError: if X has too few rows.
        """
        table = read_table(X)
        if len(table) < LEAST:
            raise InputError(
                f"what is plausible takes {LEAST} rows of X, and there are {len(table):,}: give "
                "more rows, or the rules of a larger table (plausible=)"
            )
        order = np.random.default_rng(seed).permutation(len(table))
        half = min(len(table) // 2, len(table) - HELD_OUT, MOST_MINED)
        shown = np.sort(order[:half])
        features = _features(table, _cuts(table, shown, bins))
        rows = _levels(features, table)
        boxes = empty_boxes(rows[shown], [one.axis for one in features], seed)
        rules = _in_words(boxes, features)
        held_out = tuple(np.sort(order[half:]).tolist())
        usual = cls(tuple(rules), 0, half, len(held_out), 0, held_out, _hash(table))
        return usual.over(features, table)

    @classmethod
    def load(cls, path: Path | str) -> Plausible:
        """Read what was saved: YAML or JSON."""
        path = Path(path)
        document = parse_yaml(read_text(path), path, PlausibleFile)
        content = document.content
        if content.kept > content.held_out:
            raise document.refuse("more rows than were held out", "kept")
        numbers = (content.most_broken, content.rows, content.held_out, content.kept)
        return cls(tuple(dict.fromkeys(content.rules)), *numbers)

    def save(self, path: Path | str) -> None:
        """Write it to a file, .yaml or .json, which `load` reads."""
        path = Path(path)
        is_json = path.suffix.lower() == ".json"
        write_file(path, json_text(self._content) if is_json else self.as_yaml())

    def as_yaml(self) -> str:
        """Return the text of a file that `load` reads."""
        text: str = yaml.safe_dump(self._content, sort_keys=False, allow_unicode=True, width=1000)
        return text

    @property
    def _content(self) -> dict[str, Any]:
        return {
            "most_broken": self.most_broken,
            "rows": self.rows,
            "held_out": self.held_out,
            "kept": self.kept,
            "rules": list(self.rules),
        }

    def without(self, *rules: str) -> Plausible:
        """Return the same but for some rules: no input that was plausible ceases to be so."""
        for rule in rules:
            if rule not in self.rules:
                raise InputError(f"plausible: there is no rule {rule!r}")
        return replace(self, rules=tuple(rule for rule in self.rules if rule not in rules))

    @property
    def share(self) -> float | None:
        """The share of the rows that were held out that it keeps; None if there were none."""
        return self.kept / self.held_out if self.held_out else None

    @property
    def sentence(self) -> str:
        """What is plausible, and of how many rows that was tested."""
        counts = (self.kept, self.held_out)
        return plausible_words(len(self.rules), self.most_broken, self.rows, counts)

    def broken(self, X: Any) -> NDArray[np.intp]:  # noqa: N803
        """Return how many of the rules each row breaks."""
        table = read_table(X)
        cuts = Background((), table.names, self).cuts(table)
        features = _features(table, [cuts.get(name, Cuts.at([])) for name in table.names])
        return self.forbidden(features).broken(_levels(_telling(features), table))

    def allows(self, X: Any) -> NDArray[np.bool_]:  # noqa: N803
        """Say of each row whether it is plausible."""
        return self.broken(X) <= self.most_broken

    # --- over features ---

    def sides(self, names: Sequence[str]) -> tuple[Sides, ...]:
        """Return the sides of each rule; one about several columns on its right is an error."""
        every = []
        for text in self.rules:
            try:
                left, right = sides_of(text, names)
            except InputError as error:
                raise InputError(f"plausible: {error.message}") from None
            if len({one.name for one in right or ()}) > 1:
                raise InputError(f"plausible: {text!r} has several columns on its right side")
            every.append((left, right))
        return tuple(every)

    def forbidden(self, features: Sequence[Feature]) -> Forbidden:
        """Return the cells of features that are not plausible."""
        names = [feature.name for feature in features]
        return Background((), names, self).over(features)

    def over(self, features: Sequence[Feature], table: Table) -> Plausible:
        """Return the same in the words of features, with counts of the cells that rows lie in.

        A threshold may be one of the model's that is shown alike. Rules that nothing breaks are
        left out, and rows that another table had are not counted again.
        """
        telling, boxes = _telling(features), self.forbidden(features).counted
        rules = dict.fromkeys(rule_of_box(box, telling) for box in boxes)
        same = replace(self, rules=tuple(rules))
        if self.measured is None or self.source != _hash(table):
            return same
        rows = _levels(telling, table)[list(self.measured)]
        counts = same.forbidden(features).broken(rows)
        most = most_broken(counts)
        return replace(same, most_broken=most, kept=int(np.count_nonzero(counts <= most)))


def most_broken(counts: NDArray[np.intp]) -> int:
    """Return how many rules 99% of fresh rows break at most, given the counts of other rows.

    >>> most_broken(np.arange(99)), most_broken(np.arange(999))
    (98, 989)
    """
    rank = ceil((len(counts) + 1) * KEPT)
    if rank > len(counts):
        raise ValueError("too few rows")
    return int(np.sort(counts)[rank - 1])


def _cuts(table: Table, shown: NDArray[np.intp], most: int) -> list[Cuts]:
    """Return the cuts of each column of numbers by which some of its rows show rules.

    Rows that are held out have no part in them: otherwise they would be kept more often than
    others.
    """
    numbers = [kind in ("number", "whole") for kind in table.kinds]
    bins = max(2, min(most, MOST_CONDITIONS // (2 * max(1, sum(numbers))) + 1))
    columns = zip(table.columns, numbers, strict=True)
    return [quantile_cuts(column[shown], bins) if is_ else Cuts.at([]) for column, is_ in columns]


def _features(table: Table, cuts: Sequence[Cuts]) -> tuple[Feature, ...]:
    features = []
    for place, name in enumerate(table.names):
        kind, column = table.kinds[place], table.columns[place]
        if kind in ("number", "whole"):
            features.append(number_feature(name, kind, column, cuts[place]))
        else:
            features.append(value_feature(name, kind, column, table.levels[place]))
    return tuple(features)


def _telling(features: Sequence[Feature]) -> list[Feature]:
    return [feature for feature in features if feature.size > 1]


def _levels(features: Sequence[Feature], table: Table) -> Levels:
    """Return the level of each row in each feature."""
    columns = dict(zip(table.names, table.columns, strict=True))
    levels = [feature.places(columns[feature.name]) for feature in features]
    return np.column_stack(levels) if levels else np.zeros((len(table), 0), dtype=np.intp)


def _in_words(boxes: Sequence[Empty], features: Sequence[Feature]) -> list[str]:
    """Return boxes as rules; none whose words mean something else to whoever reads them."""
    telling = _telling(features)
    axes = {feature.name: axis for axis, feature in enumerate(telling)}
    names, rules = [feature.name for feature in features], []
    for box in boxes:
        masks = [(1 << feature.size) - 1 for feature in telling]
        for place, (low, high) in box:
            masks[axes[names[place]]] = ((1 << high - low + 1) - 1) << low
        text = rule_of_box(masks, telling)
        try:
            if broken_box(sides_of(text, names), features) == tuple(masks):
                rules.append(text)
        except InputError:  # a value with signs of our own in it
            continue
    return rules


def rule_of_box(box: Sequence[int], features: Sequence[Feature]) -> str:
    """Return the rule that is broken in a box of sets of levels, each as bits.

    On its right side stands the last column whose other levels are one condition.
    """
    asked = [axis for axis, mask in enumerate(box) if mask != (1 << features[axis].size) - 1]
    ranges = {axis: _range(box[axis], features[axis]) for axis in asked}
    for right in [axis for axis in asked if ranges[axis] is None] or reversed(asked):
        other = _range((1 << features[right].size) - 1 & ~box[right], features[right])
        if other is not None:
            left = _said(ranges, features, right)
            return f"{' and '.join(left)} → {features[right].say(other)}"
    return f"{' and '.join(_said(ranges, features))} → false"


def _said(
    ranges: Mapping[int, Range | None], features: Sequence[Feature], but: int = -1
) -> list[str]:
    return [features[a].say(own) for a, own in ranges.items() if own is not None and a != but]


def _range(mask: int, feature: Feature) -> Range | None:
    """Return a set of levels as a range that is one condition; None if it is none."""
    span = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    is_whole = mask == ((1 << span[1] - span[0] + 1) - 1) << span[0]
    return span if is_whole and span in feature.axis.ranges else None


def _hash(table: Table) -> str:
    """Return what tells tables apart."""
    digest = sha256(repr(table.names).encode())
    for column in table.columns:
        is_plain = column.dtype.kind in "biuf"
        digest.update(column.tobytes() if is_plain else repr(column.tolist()).encode())
    return digest.hexdigest()
