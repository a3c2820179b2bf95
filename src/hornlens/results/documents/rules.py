"""The rules of a result as a table: for reading, for CSV files, for data frames and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

from hornlens.formats.csvfiles import csv_text, named_cells
from hornlens.formats.frames import data_frame
from hornlens.logic.named import NamedRule
from hornlens.logic.warrants import PROVED, Warrant


@dataclass(frozen=True)
class RuleRow:
    """One rule: its readable form, what it says, on what it rests, and its canonical form."""

    rule: NamedRule
    support: int
    prompts: int
    mean_margin: float | None
    smallest_margin: float | None
    sentence: str
    canonical: NamedRule
    vacuous: bool = False
    """Whether it holds only because a label was never, or always, chosen."""
    share: float | None = None
    """How much of the model's probability the candidates hold where it speaks, on average."""
    warrant: Warrant = PROVED
    """What stands behind it: a proof, a test with a bound, or nothing yet."""


class Rules(Sequence[RuleRow]):
    """The rules of a result, the strongest first: by support, then by mean margin.

    >>> from hornlens import extract
    >>> def black_box(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> rules = extract(black_box, cache=False).rules
    >>> print(rules[:1])
    female → nurse
    >>> rules[0].sentence
    'The model fills in “She” only if the person is a nurse.'
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
        return "\n".join(str(row.rule) for row in self._rows)

    def __repr__(self) -> str:
        """Say what it is in a line."""
        return f"<Rules: {len(self)}>"

    def csv(self) -> str:
        """Return rules.csv: names joined by "; ", and FALSE for ⊥."""
        shown = ["support", "prompts", "mean_margin", "smallest_margin", "sentence"]
        last = ["canonical_if", "canonical_then", "vacuous", "share", "warrant", "bound"]
        return csv_text(
            ["if", "then", *shown, *last],
            (
                [
                    *named_cells(row.rule),
                    *(row.support, row.prompts),
                    *(_short(row.mean_margin), _short(row.smallest_margin)),
                    row.sentence,
                    *named_cells(row.canonical),
                    *("yes" if row.vacuous else "no", _short(row.share)),
                    *(row.warrant.kind, _short(row.warrant.bound)),
                ]
                for row in self._rows
            ),
        )

    def to_frame(self) -> Any:
        """Return the rules as a pandas DataFrame, a column for each field; pandas is needed."""
        columns = [f.name for f in fields(RuleRow)]
        lines = [
            [
                str(value) if isinstance(value, NamedRule) else value
                for value in (*list(vars(row).values())[:-1], row.warrant.kind)
            ]
            for row in self._rows
        ]
        return data_frame(columns, lines)

    def _repr_html_(self) -> str:
        """Return the rules as a table, for notebooks."""
        from html import escape

        columns = ("rule", "in words", "warrant", "support", "mean margin")
        head = "".join(f"<th>{name}</th>" for name in columns)
        lines = [
            f"<tr><td>{escape(str(row.rule))}</td><td>{escape(row.sentence)}</td>"
            f"<td>{escape(row.warrant.words)}</td>"
            f"<td>{row.support} of {row.prompts}</td><td>{_short(row.mean_margin)}</td></tr>"
            for row in self._rows
        ]
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
