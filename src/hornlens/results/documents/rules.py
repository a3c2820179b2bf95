"""The rules of a result as a table: for reading, for CSV files, for data frames and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from hornlens.exact.boxes.axes import Box
from hornlens.formats.csvfiles import csv_text, named_cells
from hornlens.formats.frames import data_frame
from hornlens.formats.plain import visible
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import in_signs
from hornlens.logic.warrants import PROVED, Warrant


@dataclass(frozen=True)
class RuleRow:
    """One rule: its readable form, its meaning, what it rests on, and its canonical form.

    `support` counts in `unit`s (prompts, cells, or rows of a table) what speaks for the rule, and
    `prompts` what it covers. `cells` is the number of asked cells that it covers. `label` is the
    label, or class, that it implies, if it implies one. `confidence` is the share of the covered
    rows for which a classifier itself gives that class; None without rows.
    """

    rule: NamedRule
    support: int
    prompts: int
    mean_margin: float | None
    smallest_margin: float | None
    sentence: str
    canonical: NamedRule
    vacuous: bool = False
    """Whether it holds only because a label was never, or always, chosen, or nothing answered."""
    share: float | None = None
    """How much of the model's probability the candidates hold in its cells, on average."""
    warrant: Warrant = PROVED
    """What stands behind it: a proof, a test with a bound, or nothing yet."""
    label: str = ""
    unit: str = "cells"
    cells: int | None = None
    confidence: float | None = None
    box: Box | None = field(default=None, repr=False)
    """For a rule of a classifier: the range of levels of each column."""
    place: int | None = field(default=None, repr=False)
    """For a rule of a classifier: the place of its class."""
    could_break: int | None = None
    """How many recorded answers could have broken it; None where none was recorded."""
    needs: int | None = None
    """For an open rule of a sift: about how many clean random cases would list it."""
    by_chance: Callable[[], float | None] | None = field(default=None, repr=False, compare=False)
    """Works out `p_value`, which takes longer than the rest."""

    @property
    def p_value(self) -> float | None:
        """How likely chance gives any rule as unlikely as this one; None where it is not known."""
        return None if self.by_chance is None else self.by_chance()

    @property
    def conditions(self) -> tuple[str, ...]:
        """The left side of the rule."""
        return self.rule.antecedent

    def __str__(self) -> str:
        """Return the rule as people write it; conditions on columns are never quoted."""
        if self.box is None:
            return str(self.rule)
        return in_signs(list(self.conditions), [self.label])


COLUMNS = (
    *("if", "then", "support", "prompts", "mean_margin", "smallest_margin", "sentence"),
    *("canonical_if", "canonical_then", "vacuous", "share", "warrant", "bound"),
    *("rule", "class", "unit", "cells", "confidence", "tested", "needs", "p_value"),
)
"""The columns of rules.csv and open.csv, whatever the result is of."""
FRAME = (
    *("rule", "support", "prompts", "mean_margin", "smallest_margin", "sentence", "canonical"),
    *("vacuous", "share", "warrant", "bound", "class", "unit", "cells", "confidence"),
    *("tested", "needs", "p_value"),
)
"""The columns of a data frame."""


class Rules(Sequence[RuleRow]):
    """The rules of a result, the strongest first: by support, then by mean margin.

    >>> from hornlens import extract
    >>> def black_box(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> rules = extract(black_box, cache=False).rules
    >>> print(rules[:1])
    female → nurse
    >>> rules[0].sentence
    'The model scores “She” higher than “He” only if the person is a nurse.'
    """

    def __init__(self, rows: Sequence[RuleRow]):
        """Take the rows in their order."""
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, at: int) -> RuleRow: ...
    @overload
    def __getitem__(self, at: slice) -> Rules: ...
    def __getitem__(self, at: int | slice) -> RuleRow | Rules:
        """Return a row, or some of them as a table."""
        return Rules(self._rows[at]) if isinstance(at, slice) else self._rows[at]

    def __len__(self) -> int:
        """Return how many rules there are."""
        return len(self._rows)

    def __iter__(self) -> Iterator[RuleRow]:
        """Iterate over the rows."""
        return iter(self._rows)

    def __str__(self) -> str:
        """Return the rules as people write them, one a line."""
        return "\n".join(map(str, self._rows))

    def __repr__(self) -> str:
        """Say what it is in a line."""
        return f"<Rules: {len(self)}>"

    def of(self, label: Any) -> Rules:
        """Return the rules that imply one label, or class."""
        return Rules([row for row in self._rows if row.label == str(label)])

    def csv(self) -> str:
        """Return rules.csv: names joined by "; ", and FALSE for ⊥."""
        return csv_text(COLUMNS, self.lines)

    @property
    def lines(self) -> list[list[Any]]:
        """The lines of rules.csv under COLUMNS."""
        return [_csv_line(row) for row in self._rows]

    def to_frame(self) -> Any:
        """Return the rules as a pandas DataFrame; pandas is needed."""
        return data_frame(FRAME, [_frame_line(row) for row in self._rows])

    def _repr_html_(self) -> str:
        """Return the rules as a table, for notebooks."""
        from html import escape

        columns = ("rule", "in words", "warrant", "could break it")
        head = "".join(f"<th>{name}</th>" for name in columns)
        lines = [
            f"<tr><td>{escape(str(row))}</td><td>{escape(row.sentence)}</td>"
            f"<td>{escape(row.warrant.words)}</td>"
            f"<td>{_cases(row)}</td></tr>"
            for row in self._rows
        ]
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _csv_line(row: RuleRow) -> list[Any]:
    return [
        *named_cells(row.rule),
        *(row.support, row.prompts),
        *(_short(row.mean_margin), _short(row.smallest_margin)),
        row.sentence,
        *named_cells(row.canonical),
        *("yes" if row.vacuous else "no", _short(row.share)),
        *(row.warrant.kind, _short(row.warrant.bound)),
        *(visible(str(row)), visible(row.label), row.unit),
        *("" if row.cells is None else row.cells, _short(row.confidence)),
        *(row.warrant.tested or "", "" if row.needs is None else row.needs),
        _short(row.p_value),
    ]


def _frame_line(row: RuleRow) -> list[Any]:
    return [
        *(str(row), row.support, row.prompts, row.mean_margin, row.smallest_margin),
        *(row.sentence, str(row.canonical), row.vacuous, row.share),
        *(row.warrant.kind, row.warrant.bound),
        *(row.label, row.unit, row.cells, row.confidence),
        *(row.warrant.tested or None, row.needs, row.p_value),
    ]


def _cases(row: RuleRow) -> str:
    """Return how many cases could have broken a rule: at random, where it was tried so."""
    if row.warrant.tested:
        return f"{row.warrant.tested:,} random cases"
    count = row.support if row.could_break is None else row.could_break
    return f"{count:,} {row.unit.removesuffix('s') if count == 1 else row.unit}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
