"""A classifier's rules as a result: the cells they were found by, and the rows of X."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.cells import CellDecisions, ShownPoints, point_of
from hornlens.exact.boxes.cells import OUTSIDE, GridCells, Levels, ListedCells
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.exact.boxes.rulesets import BoxRule, decided_by
from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope
from hornlens.logic.scopes import Agreement
from hornlens.logic.space import Space
from hornlens.result import Result
from hornlens.results.analysis.headline import MOST, Headline, headline_of
from hornlens.results.documents.findings import Record
from hornlens.results.documents.flips import Flips
from hornlens.results.documents.question import Question
from hornlens.results.documents.rules import Rules
from hornlens.results.documents.settings import Settings
from hornlens.results.wording.classifiers import beside_class_rules
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.plausible import Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.ruletables import RuleTable, SiftedBoxes
from hornlens.targets.classifiers.spaces import space_apart

if TYPE_CHECKING:
    from hornlens.targets.classifiers.measured import Measured
    from hornlens.targets.classifiers.voting import Vote


class RecordedFlips(NamedTuple):
    """What changing each feature does, and what the model said of the changed rows.

    `answers` has for each feature a row for each row of X, and a column for each level: the class
    that the row gets with it, OUTSIDE where it has that level or does not occur. It is empty where
    these are too many to be kept.
    """

    flips: tuple[Flips, ...]
    answers: tuple[NDArray[np.int8], ...] = ()


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
    plausible: Plausible | None = None
    """What is plausible, if nothing else is meant."""
    target: str = "class"
    fallback: str = ""
    """Why the trees that the model has could not be read; empty if they were, or it has none."""
    notes: tuple[str, ...] = ()
    """What to know of the columns: constant ones, and others of which nothing is said."""
    vote: Vote | None = None
    measured: Measured | None = None
    """What the agreement was measured by; None in files of older versions."""
    recorded: RecordedFlips | None = None
    """What was found of each feature when the explanation was saved, in one that was loaded."""
    claim: Certificate
    """What may be claimed of the rules."""
    sifted: SiftedBoxes | None = None
    """What a sift has shown, if the rules were sifted."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """What was counted beside cells and rows: the questions of a sift, and all predictions."""

    def __post_init__(self) -> None:
        """Leave the envelope, which has thousands of rules at times, to be made when it is used."""
        if self.envelope is None:
            del self.__dict__["envelope"]  # so that `envelope` below comes to its turn

    @classmethod
    def of_boxes(
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
        assumed = Background(background, classifier.table.names).rules(binned.every)
        space = space_apart(binned.features, target, classifier.labels, assumed)
        decisions = CellDecisions(space, labelled)
        label = space.label
        words = zip(() if label is None else label.variables, classifier.labels, strict=True)
        return cls(
            question=Question(classifier.name, words=dict(words)),
            name=classifier.name,
            identity=classifier.identity,
            policy=Policy(label_unset="reject"),
            settings=settings or Settings(),
            envelope=cast(Any, None),
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
            claim=replace(certificate, rules=len(boxes)),
            **rest,
        )

    @cached_property
    def forbidden(self) -> Forbidden:
        """Which cells do not occur."""
        names = self.binned.classifier.table.names
        return Background(self.background, names, self.plausible).over(self.binned.every)

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

    @property
    def space(self) -> Space:
        """What can be said of a row and of its class."""
        assert isinstance(self.decisions, CellDecisions)
        return self.decisions.space

    @property
    def certificate(self) -> Certificate:
        """What may be claimed of the rules."""
        return self.envelope.certificate if "envelope" in self.__dict__ else self.claim

    @cached_property
    def _table(self) -> RuleTable:
        return RuleTable(self.binned, self.space, self.rows, self.said)

    @cached_property
    def rules(self) -> Rules:
        """The rules, those first that apply to most rows of X."""
        return self._table.rows(self.boxes, self.labelled, self.certificate, self.sifted)

    def headline(self, most: int = MOST) -> Headline:
        """Return a short ordered list of rules, and the class of all rows that none decides.

        Args:
            most: How many rules the list has at most.

        Each next rule is the one that decides most rows that those before it leave open. The first
        rule of the list that applies to a row decides it.

        >>> import numpy as np
        >>> from hornlens import explain
        >>> X = np.array([[20.0], [30.0], [50.0]])
        >>> print(explain(lambda rows: rows[:, 0] >= 40, X, bins={"x0": [40]}).headline(most=1))
         66.67%  +2  x0 < 40 → False
        otherwise True (1 row)
        """
        labels = self.binned.classifier.labels
        return headline_of(self.rules, self.rows, self.said, self.binned.axes, labels, most)

    @cached_property
    def open(self) -> Rules:
        """The rules that no answer breaks and that were tried too little: they are no findings."""
        if self.sifted is None:
            return Rules([])
        return self._table.open_rules(self.sifted, self.labelled, self.certificate)

    @property
    def beside_rules(self) -> list[str]:
        """What a sift shows beside rules: those with exceptions, and where a rare class is said."""
        if self.sifted is None:
            return []
        who = "the model" if self.certificate.scope.direct else "the binned model"
        record, names = self.sifted.record, self.space.vocabulary
        return beside_class_rules(record, names, self.question.words, who)

    @cached_property  # type: ignore[misc]
    def envelope(self) -> Envelope:
        """The same rules in variables."""
        cells = len(self.decisions)
        return self._table.envelope(self.rules, self.claim, cells, self.sifted, self.counted)

    def predict(self, rows: Any, otherwise: Any = None) -> NDArray[Any]:
        """Return the class that the rules give to each row; `otherwise` where they give none.

        Where rules contradict each other (in cells that were not asked, or do not occur), the first
        one decides, as in `rules`.
        """
        table = self.binned.classifier.table.like(rows)
        places = self.decided(self.binned.places(table))
        classes = np.array([*self.classes, otherwise], dtype=object)
        found = classes[places]
        if (places != OUTSIDE).all():
            return np.array(found.tolist())
        return found

    def decided(self, cells: Levels) -> Levels:
        """Return the place of the class that the rules give to each cell; -1 where none."""
        # The last one that applies decides: so the strongest comes last.
        boxes = [BoxRule(row.box or (), row.place or 0) for row in reversed(self.rules)]
        return decided_by(boxes, cells, self.binned.axes)

    def describe_cell(self, cell: Sequence[int]) -> dict[str, Any]:
        """Return the point of a cell: a value for each column."""
        return point_of(self.binned, cell)
