"""A classifier's rules, what they rest on, and what may be claimed of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import OUTSIDE, GridCells, Levels, ListedCells, rows_in
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.frames import data_frame
from hornlens.logic.certificates import Certificate
from hornlens.logic.rule import in_signs
from hornlens.logic.scopes import Agreement
from hornlens.logic.warrants import PROVED, Warrant
from hornlens.results.documents.flips import Flips
from hornlens.targets.classifiers.points import Binned

if TYPE_CHECKING:
    from hornlens.targets.classifiers.voting import Vote


class NotKept(HornlensError):
    """What only the model itself could answer, of an explanation that was read from a file."""


@dataclass(frozen=True)
class ClassRule:
    """Conditions that imply a class.

    `support` is how many rows of X meet them; `confidence` the share of these of which the
    classifier itself says the class (1 unless bins or samples make the rule approximate); None
    where there are none. `cells` is how many cells that were asked lie in its box. `warrant` is
    what stands behind the rule: a proof, or a test with a bound.
    """

    conditions: tuple[str, ...]
    label: str
    support: int
    confidence: float | None
    cells: int
    box: Box = field(repr=False)
    place: int = field(repr=False)
    warrant: Warrant = PROVED

    def __str__(self) -> str:
        """Return the rule as people write it."""
        return in_signs(list(self.conditions), [self.label])


class ClassRules(Sequence[ClassRule]):
    """The rules as a table, those first that speak of most rows."""

    COLUMNS = ("rule", "class", "support", "confidence", "cells", "warrant", "bound")

    def __init__(self, rows: Sequence[ClassRule]):
        """Take the rows in their order."""
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, at: int) -> ClassRule: ...
    @overload
    def __getitem__(self, at: slice) -> ClassRules: ...
    def __getitem__(self, at: int | slice) -> ClassRule | ClassRules:
        """Return a rule, or some of them as a table."""
        return ClassRules(self._rows[at]) if isinstance(at, slice) else self._rows[at]

    def __len__(self) -> int:
        """Return how many rules there are."""
        return len(self._rows)

    def __iter__(self) -> Iterator[ClassRule]:
        """Iterate over the rules."""
        return iter(self._rows)

    def __str__(self) -> str:
        """Return the rules as people write them, one a line."""
        return "\n".join(map(str, self._rows))

    def __repr__(self) -> str:
        """Say what it is in a line."""
        return f"<ClassRules: {len(self)}>"

    def of(self, label: Any) -> ClassRules:
        """Return the rules of one class."""
        return ClassRules([row for row in self._rows if row.label == str(label)])

    def _lines(self) -> list[list[Any]]:
        return [
            [
                *(str(row), row.label, row.support, row.confidence, row.cells),
                *(row.warrant.kind, row.warrant.bound),
            ]
            for row in self._rows
        ]

    def to_frame(self) -> Any:
        """Return the rules as a pandas DataFrame; pandas is needed."""
        return data_frame(self.COLUMNS, self._lines())

    def csv(self) -> str:
        """Return rules.csv."""
        lines = [["" if value is None else value for value in line] for line in self._lines()]
        return csv_text(self.COLUMNS, lines)

    def _repr_html_(self) -> str:
        """Return the rules as a table, for notebooks."""
        from html import escape

        head = "".join(f"<th>{name}</th>" for name in ("rule", "rows of X", "confidence"))
        lines = "".join(
            f"<tr><td>{escape(str(row))}</td><td>{row.support}</td>"
            f"<td>{'' if row.confidence is None else f'{row.confidence:.4g}'}</td></tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """The rules of a classifier, with the cells that they were found by."""

    binned: Binned
    found: tuple[BoxRule, ...]
    labelled: GridCells | ListedCells
    """The cells that were asked, with the class of each."""
    certificate: Certificate
    agreement: Agreement
    rows: Levels
    """The cell of each row of X."""
    said: NDArray[np.intp]
    """What the classifier says of each row of X."""
    exact_bins: bool
    """Whether all inputs of a cell get its class: so it was read, and no measurement differs."""
    how: str
    background: tuple[str, ...] = ()
    target: str = "class"
    notes: tuple[str, ...] = ()
    """What to know of the columns: constant ones, and others of which nothing is said."""
    vote: Vote | None = None
    recorded: tuple[Flips, ...] | None = None
    """What was found of each feature when the explanation was saved, in one that was loaded."""

    @property
    def name(self) -> str:
        """What the classifier is called."""
        return self.binned.classifier.name

    @property
    def classes(self) -> tuple[Any, ...]:
        """All classes that it can say."""
        return self.binned.classifier.classes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns."""
        return self.binned.classifier.table.names

    @property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """For each column of numbers its exact cuts: a number lies above one from its value on."""
        every = self.binned.every
        return {each.name: each.cuts.values for each in every if each.cuts is not None}

    @cached_property
    def rules(self) -> ClassRules:
        """The rules, those first that speak of most rows of X."""
        features, labels = self.binned.features, self.binned.classifier.labels
        made, trial = [], self.certificate.trial
        for box, place in self.found:
            inside = rows_in(self.rows, box, self.binned.axes)
            support = int(np.count_nonzero(inside))
            right = int(np.count_nonzero(self.said[inside] == place))
            conditions = tuple(
                feature.say(said)
                for feature, said in zip(features, box, strict=True)
                if said != feature.whole
            )
            cells = self.labelled.count_in(box)
            made.append(
                ClassRule(
                    conditions,
                    labels[place],
                    support,
                    right / support if support else None,
                    cells,
                    box,
                    place,
                    PROVED if trial is None else trial.warrant(cells),
                )
            )
        return ClassRules(
            sorted(made, key=lambda r: (-r.support, len(r.conditions), -r.cells, r.place, r.box))
        )

    def predict(self, rows: Any, otherwise: Any = None) -> NDArray[Any]:
        """Return the class that the rules give to each row; `otherwise` where they give none."""
        table = self.binned.classifier.table.like(rows)
        places = self.decided(self.binned.places(table))
        classes = np.array([*self.classes, otherwise], dtype=object)
        found = classes[places]
        if (places != OUTSIDE).all():
            return np.array(found.tolist())
        return found

    def decided(self, cells: Levels) -> Levels:
        """Return the place of the class that the rules give to each cell; -1 where none."""
        said = np.full(len(cells), OUTSIDE, dtype=np.intp)
        for box, place in reversed(self.found):
            said[rows_in(cells, box, self.binned.axes)] = place
        return said

    def describe_cell(self, cell: Sequence[int]) -> dict[str, Any]:
        """Return the point of a cell: a value for each column."""
        columns = self.binned.columns(np.asarray(cell, dtype=np.intp)[None, :])
        return {
            name: column[0].item() if isinstance(column[0], np.generic) else column[0]
            for name, column in zip(self.feature_names, columns, strict=True)
        }

    def __repr__(self) -> str:
        """Say what it is in a line."""
        found = f"{plural(len(self.found), 'rule')}, {self.certificate.kind}"
        return f"<{type(self).__name__}: {self.name}, {found}>"

    def _repr_html_(self) -> str:
        """Return the rules under what may be claimed of them, for notebooks."""
        from html import escape

        about = f"{self.name}: {plural(len(self.found), 'rule')}"
        claim = escape(f"{self.certificate.title}: {self.certificate.sentence}")
        return f"<p><b>{escape(about)}</b><br>{claim}</p>{self.rules[:50]._repr_html_()}"
