"""A classifier's rules as a result: the cells they were found by, and the rows of X."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import (
    OPEN,
    OUTSIDE,
    GridCells,
    Levels,
    ListedCells,
    cells_at,
    rows_in,
)
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.exact.boxes.spaces import (
    cells_of_levels,
    levels_of_cells,
    mask_of_box,
    short_mask_of_box,
)
from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.scopes import Agreement
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.warrants import PROVED
from hornlens.result import Result
from hornlens.results.documents.claims import Flips
from hornlens.results.documents.findings import Record
from hornlens.results.documents.question import Question
from hornlens.results.documents.rules import RuleRow, Rules
from hornlens.results.documents.settings import Settings
from hornlens.results.wording.sentences import class_rule
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.spaces import space_of

if TYPE_CHECKING:
    from hornlens.targets.classifiers.voting import Vote


class NotKept(HornlensError):
    """What only the model itself could answer, of an explanation that was read from a file."""


@dataclass(frozen=True, eq=False)
class CellDecisions(Mapping[int, Decision]):
    """The recorded classes by cell, each cell as a mask of the space, made when it is asked for."""

    space: Space
    labelled: GridCells | ListedCells

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        """Where each listed cell stands."""
        assert isinstance(self.labelled, ListedCells)
        asked = np.flatnonzero(self.labelled.labels != OPEN).tolist()
        return {tuple(self.labelled.cells[at].tolist()): at for at in asked}

    def __getitem__(self, cell: int) -> Decision:
        """Return what the classifier says of a cell; a KeyError if it was not asked."""
        (levels,) = levels_of_cells(self.space, [cell]).tolist()
        if isinstance(self.labelled, GridCells):
            place = int(self.labelled.labels[tuple(levels)])
        else:
            place = int(self.labelled.labels[self._places[tuple(levels)]])
        if place in (OUTSIDE, OPEN):
            raise KeyError(cell)
        return Decision(place)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the cells that were asked."""
        labelled = self.labelled
        if isinstance(labelled, ListedCells):
            yield from dict.fromkeys(cells_of_levels(self.space, labelled.asked))
            return
        asked = np.flatnonzero(~np.isin(labelled.labels.ravel(), (OUTSIDE, OPEN)))
        for start in range(0, len(asked), 4096):
            some = cells_at(asked[start : start + 4096], labelled.labels.shape)
            yield from cells_of_levels(self.space, some)

    def __len__(self) -> int:
        """Return how many cells were asked."""
        if isinstance(self.labelled, ListedCells):
            return len(self._places)
        return int((~np.isin(self.labelled.labels, (OUTSIDE, OPEN))).sum())


@dataclass(frozen=True, eq=False)
class ShownPoints:
    """How cells are shown: the row that stands for each."""

    space: Space
    binned: Binned

    def __call__(self, cell: int) -> tuple[str, ...]:
        """Return the row of a cell in words."""
        row = point_of(self.binned, levels_of_cells(self.space, [cell])[0])
        return (", ".join(f"{name} = {value}" for name, value in row.items()),)


def point_of(binned: Binned, cell: Sequence[int] | Levels) -> dict[str, Any]:
    """Return the point of a cell: a value for each column."""
    columns = binned.columns(np.asarray(cell, dtype=np.intp)[None, :])
    names = binned.classifier.table.names
    return {
        name: column[0].item() if isinstance(column[0], np.generic) else column[0]
        for name, column in zip(names, columns, strict=True)
    }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explained(Result):
    """The rules of a classifier, with the cells that they were found by."""

    binned: Binned
    boxes: tuple[BoxRule, ...]
    """The rules as boxes, in the order in which they were found."""
    labelled: GridCells | ListedCells
    """The cells that were asked, with the class of each."""
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
    table: Rules = field(default_factory=lambda: Rules(()))
    """The rules, those first that apply to most rows of X."""

    @classmethod
    def made(
        cls,
        binned: Binned,
        boxes: Sequence[BoxRule],
        labelled: GridCells | ListedCells,
        certificate: Certificate,
        agreement: Agreement,
        rows: Levels,
        said: NDArray[np.intp],
        exact_bins: bool,
        how: str,
        background: tuple[str, ...] = (),
        target: str = "class",
        settings: Settings | None = None,
        record: Record | None = None,
        **rest: Any,
    ) -> Any:
        """Return the result of boxes: the same rules as an envelope, and as a table."""
        classifier = binned.classifier
        assumed = Background(background, classifier.table.names).rules(binned.features)
        space = _space(binned, target, assumed)
        who = "the model" if certificate.scope.direct else "the binned model"
        table = Rules(_table(binned, space, boxes, labelled, certificate, rows, said, who))
        left = [mask_of_box(space, row.box or ()) for row in table]
        short = [short_mask_of_box(space, row.box or ()) for row in table]
        places = [row.place or 0 for row in table]
        decisions = CellDecisions(space, labelled)
        envelope = Envelope(
            space,
            Theory(
                space.width,
                tuple(Rule(x, space.with_label(x, p)) for x, p in zip(left, places, strict=True)),
            ),
            Theory(
                space.width,
                tuple(Rule(x, space.with_label(0, p)) for x, p in zip(short, places, strict=True)),
            ),
            certificate,
            support=[row.support for row in table],
            statistics={"cells": len(decisions), "rows": len(rows)},
            own_warrants=tuple(row.warrant for row in table),
        )
        label = space.label
        words = zip(() if label is None else label.variables, classifier.labels, strict=True)
        return cls(
            question=Question(classifier.name, words=dict(words)),
            name=classifier.name,
            identity=classifier.identity,
            policy=Policy(label_unset="reject"),
            settings=settings or Settings(),
            envelope=envelope,
            decisions=decisions,
            show=ShownPoints(space, binned),
            scores={},
            record=record or Record(),
            binned=binned,
            boxes=tuple(boxes),
            labelled=labelled,
            agreement=agreement,
            rows=rows,
            said=said,
            exact_bins=exact_bins,
            how=how,
            background=background,
            target=target,
            table=table,
            **rest,
        )

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
    def rules(self) -> Rules:
        """The rules, those first that apply to most rows of X."""
        return self.table

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
        for box, place in reversed(self.boxes):
            said[rows_in(cells, box, self.binned.axes)] = place
        return said

    def describe_cell(self, cell: Sequence[int]) -> dict[str, Any]:
        """Return the point of a cell: a value for each column."""
        return point_of(self.binned, cell)


def _space(binned: Binned, target: str, assumed: tuple[Rule, ...]) -> Space:
    """Return what can be said of rows and classes; names that clash get numbers."""
    features, labels = binned.features, binned.classifier.labels
    try:
        return space_of(features, target, labels, assumed)
    except InputError:
        apart = [replace(each, name=f"{each.name} [{i}]") for i, each in enumerate(features, 1)]
        return space_of(apart, f"{target} (predicted)", labels, assumed)


def _table(
    binned: Binned,
    space: Space,
    boxes: Sequence[BoxRule],
    labelled: GridCells | ListedCells,
    certificate: Certificate,
    rows: Levels,
    said: NDArray[np.intp],
    who: str,
) -> list[RuleRow]:
    """Return the rules with what they apply to, those first that apply to most rows of X."""
    trial, labels, made = certificate.trial, binned.classifier.labels, []
    for box, place in boxes:
        inside = rows_in(rows, box, binned.axes)
        support = int(np.count_nonzero(inside))
        right = int(np.count_nonzero(said[inside] == place))
        conditions = _conditions(binned, box)
        cells = labelled.count_in(box)
        short = short_mask_of_box(space, box)
        made.append(
            RuleRow(
                NamedRule(conditions, (labels[place],)),
                support,
                support,
                None,
                None,
                class_rule(conditions, labels[place], who),
                NamedRule.of(Rule(short, space.with_label(0, place)), space.vocabulary),
                warrant=PROVED if trial is None else trial.warrant(cells),
                label=labels[place],
                unit="rows",
                cells=cells,
                confidence=right / support if support else None,
                box=box,
                place=place,
            )
        )
    return sorted(
        made, key=lambda r: (-r.support, len(r.conditions), -(r.cells or 0), r.place, r.box)
    )


def _conditions(binned: Binned, box: Box) -> tuple[str, ...]:
    return tuple(
        feature.say(levels)
        for feature, levels in zip(binned.features, box, strict=True)
        if levels != feature.whole
    )
