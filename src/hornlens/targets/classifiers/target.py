"""A classifier as a target of `extract`: its cells are complete, as its rows are.

A cell has a level of every column, and is asked by the point that stands for it, as in `explain`.

Algorithm 1 asks about less: a column may be unset, or a range. With ``partial="typical"`` such a
cell is asked by a row that is *typical* of it: in each column the level of the median row of X
among those that the cell allows (of categories the commonest). Such a row lies in a complete cell
which says all that the cell says. So "where A, never this class" is a rule of the target if and
only if it holds of all complete cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from hornlens.deprecation import deprecated, renamed_argument
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels
from hornlens.exact.grid import MOST_POINTS
from hornlens.logic.decisions import Decision
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning, Bins, bin_columns
from hornlens.targets.classifiers.deciding import Bands, label_of, with_decision
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.spaces import space_of

if TYPE_CHECKING:
    from hornlens.results.documents.settings import Settings
    from hornlens.targets.classifiers.metering import Meter
    from hornlens.targets.classifiers.search import Search
    from hornlens.targets.protocol import RuleEngine

Partial: TypeAlias = Literal["typical"]


@renamed_argument("target", "label", since="0.3", removal="0.5")
@dataclass(frozen=True, eq=False)
class ClassifierTarget:
    """A classifier over the levels of its columns, for `extract`, own learners, and `Worlds`.

    `given_identity` is a hash of all that its answers depend on, if there is one. `partial`: how
    cells are asked that leave something open; by default there are none.

    >>> import numpy as np
    >>> from hornlens import extract
    >>> rows = np.array([[age, income] for age in (20, 40) for income in (1, 2, 3)])
    >>> def bank(rows):
    ...     return np.where((rows[:, 0] >= 30) & (rows[:, 1] > 1), "yes", "no")
    >>> target = ClassifierTarget.of(bank, rows, bins={"x0": [30], "x1": [2]}, label="loan")
    >>> print(extract(target).rules)
    loan = yes → x0 ≥ 30 ∧ x1 ≥ 2
    x0 < 30 → loan = no
    x1 < 2 → loan = no
    x0 ≥ 30 ∧ x1 ≥ 2 → loan = yes
    x0 ≥ 30 ∧ loan = no → x1 < 2
    x1 ≥ 2 ∧ loan = no → x0 < 30
    """

    binned: Binned
    rows: Levels
    """The cell of each row of X."""
    label: str = "class"
    """What the class is called."""
    given_identity: str | None = None
    partial: Partial | None = None
    assumed: tuple[Rule, ...] = ()
    """The background, as rules of the space: what breaks one of them does not occur."""
    binning: Binning | None = None
    """How its columns were cut, with the trees that were looked into, if any."""
    background: tuple[str, ...] = ()
    """The background as it was given."""
    sifts: ClassVar[bool] = True
    """Its engine sifts by itself: rows are asked, and how well the bins agree is measured."""

    def __post_init__(self) -> None:
        """Refuse an unknown way to ask cells that leave something open."""
        if self.partial not in (None, "typical"):
            raise InputError(f"partial must be typical or None, not {self.partial!r}")
        if self.partial is not None and self.assumed:
            raise InputError("a typical row may not occur: a background needs partial=None")

    @classmethod
    @renamed_argument("target", "label", since="0.3", removal="0.5")
    def of(
        cls,
        clf: Any,
        X: Any,  # noqa: N803 - as all of scikit-learn calls it
        *,
        bins: Bins = "auto",
        n_bins: int = 4,
        label: str = "class",
        identity: str | None = None,
        partial: Partial | None = None,
        background: Sequence[str] = (),
        threshold: float | None = None,
        bands: Bands | None = None,
        seed: int | None = None,
    ) -> ClassifierTarget:
        """Return a classifier over bins of its columns, all as `explain` takes them.

        With a threshold of its scores, or bands of its predictions, these say the classes. With a
        seed, a model without trees is asked about a few thousand rows at once, before any limit,
        and its numbers are cut where it changes; else they are cut by quantiles.
        """
        clf = with_decision(clf, threshold, bands, label)
        label = label if bands is None else label_of(label)
        classifier = read_classifier(clf, X)
        given = (background,) if isinstance(background, str) else background
        assumed = Background(given, classifier.table.names)
        more = assumed.cuts(classifier.table)
        binning = bin_columns(clf, classifier, bins, n_bins, more, seed=seed)
        binned = Binned(classifier, binning.features)
        if not binned.features:
            raise InputError("there is nothing to ask: every column has one level")
        rows, rules = binned.places(classifier.table), assumed.rules(binned.every)
        return cls(binned, rows, label, identity, partial, rules, binning, tuple(given))

    @property
    def target(self) -> str:
        """The label, by its old name."""
        deprecated("ClassifierTarget.target", "ClassifierTarget.label", since="0.3", removal="0.5")
        return self.label

    @property
    def name(self) -> str:
        """What the classifier is called."""
        return self.binned.classifier.name

    @cached_property
    def space(self) -> Space:
        """The columns that have several levels, and the class."""
        labels = self.binned.classifier.labels
        whole = self.partial is None
        return space_of(self.binned.features, self.label, labels, self.assumed, whole)

    def identity(self) -> str | None:
        """Return the given identity with the points that are asked; None if none was given."""
        if self.given_identity is None:
            return None
        points = repr([(each.name, each.points) for each in self.binned.every])
        asked = sha256(f"{points} {self.space!r}".encode()).hexdigest()
        return f"classifier:{self.given_identity}:{asked}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Ask about the point of each cell, all at once; with `partial`, about a typical row."""
        if not cells:
            return []
        rows = np.array([self._levels(cell) for cell in cells], dtype=np.intp)
        asked, where = np.unique(rows, axis=0, return_inverse=True)
        said = self.binned.ask(asked)[where.reshape(-1)]
        return [Decision(place) for place in said.tolist()]

    def engine(self, settings: Settings) -> RuleEngine | None:
        """Return what finds its rules of classes, where a basis of all rules is out of reach.

        None where that can be had by asking every cell, unless they are to be sifted.
        """
        wanted = (settings.min_support, settings.min_confidence, settings.detail)
        if self.binning is None or self.partial is not None or any(wanted):
            return None
        sifts = settings.equivalence == "sift"
        if (
            not sifts
            and self.space.count <= MOST_POINTS
            and self.space.cell_count <= settings.limit
        ):
            return None
        from hornlens.targets.classifiers.engine import box_engine

        return box_engine(partial(self.search, settings))

    def search(self, settings: Settings, meter: Meter | None = None) -> Search:
        """Return the search for the rules of classes that settings want."""
        from hornlens.targets.classifiers.options import Options
        from hornlens.targets.classifiers.search import Search

        if self.binning is None:
            raise InputError("nothing is known of the bins: make the target by ClassifierTarget.of")
        options = Options(
            background=self.background,
            max_conditions=settings.max_conditions,
            limit=settings.limit,
            budget=settings.limit,
            sift=settings.equivalence == "sift",
            cover=0,
            counts_class=True,
            epsilon=settings.epsilon,
            delta=settings.delta,
            seed=settings.seed,
            label=self.label,
        )
        identity = self.binned.classifier.identity or self.given_identity
        classifier = replace(self.binned.classifier, identity=identity)
        background = Background(self.background, classifier.table.names)
        before = classifier.predictions.count
        return Search.of(classifier, self.binning, background, options, meter, before)

    def _levels(self, cell: int) -> list[int]:
        """Return the levels of a cell; with `partial`, those that stand for it."""
        found = []
        for axis, (group, known) in enumerate(zip(self.space.groups, self._known, strict=False)):
            said = cell & group
            if said not in known:
                known[said] = self._level(axis, said)
            found.append(known[said])
        return found

    @cached_property
    def _known(self) -> list[dict[int, int]]:
        """For each feature, the level that stands for what is said of it."""
        return [{} for _ in self.binned.features]

    def _level(self, axis: int, said: int) -> int:
        """Return the typical level of all that fit what is said of a feature."""
        leaves = self.space.leaves[axis]
        if said in leaves:
            return leaves.index(said)
        if self.partial is None:
            raise InputError(f"{self.name} is asked about complete cells: each column has a level")
        fitting = [level for level, own in enumerate(leaves) if not said & ~own]
        levels = self.rows[:, axis]
        here = np.sort(levels[np.isin(levels, fitting)])
        if not len(here):
            return fitting[(len(fitting) - 1) // 2]
        if self.binned.features[axis].is_ranged:
            return int(here[(len(here) - 1) // 2])
        return int(np.bincount(here).argmax())

    def show(self, cell: int) -> tuple[str, ...]:
        """Return what a cell says, and the row that is asked."""
        columns = self.binned.columns(np.array([self._levels(cell)], dtype=np.intp))
        names = self.binned.classifier.table.names
        pairs = [f"{name} = {_text(c[0])}" for name, c in zip(names, columns, strict=True)]
        said = ", ".join(self.space.conditions(cell)) or "nothing set"
        return (f"{said}: {', '.join(pairs)}",)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def open_files(spec: str) -> ClassifierTarget:
    """Return the classifier of MODEL,DATA or MODEL,DATA,COLUMN: its identity is the file's hash.

    `partial=typical` may stand behind them.
    """
    from hornlens.targets.classifiers.files import identity_of, open_classifier

    parts = [part.strip() for part in spec.split(",")]
    partial: Partial | None = "typical" if parts[-1] == "partial=typical" else None
    if partial is not None:
        parts.pop()
    if len(parts) not in (2, 3) or not all(parts):
        raise InputError(
            f"classifier/{spec} must name a model, a table and perhaps the column of its classes: "
            "classifier/model.skops,data.csv,approved"
        )
    path, label = Path(parts[0]), parts[2] if len(parts) == 3 else None
    model, table = open_classifier(path, Path(parts[1]), label)
    return ClassifierTarget.of(
        model, table, label=label or "class", identity=identity_of(path), partial=partial
    )
