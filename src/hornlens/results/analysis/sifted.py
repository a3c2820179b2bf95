"""What a sift shows beside its listed rules: rules with exceptions, rare labels, what was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from hornlens.formats.csvfiles import csv_text, named_cells
from hornlens.logic.grounds import Sieve
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.warrants import PROVED
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.sentences import Part, plain
from hornlens.results.wording.sifting import (
    almost_scope,
    almost_words,
    often_words,
    purpose_words,
    tried_words,
)


@dataclass(frozen=True)
class WithExceptions:
    """A rule with exceptions, in parts of a sentence; `behind` says what stands behind it."""

    rule: Rule
    parts: Sequence[Part]
    behind: str
    cells: tuple[int, ...]
    """The exceptions that are on record."""

    @property
    def sentence(self) -> str:
        """The same in plain text."""
        return plain(self.parts)


@dataclass(frozen=True)
class Contrasted:
    """Where a rare label is given more often, in parts of a sentence, and what stands behind it."""

    parts: Sequence[Part]
    behind: str

    @property
    def sentence(self) -> str:
        """The same in plain text."""
        return plain(self.parts)


@dataclass(frozen=True)
class DrawnFamily:
    """A family of rules: when it was fixed, what for, and how many cells were drawn for it."""

    number: int
    at: int
    rules: int
    drawn: int
    purpose: str
    delta: float


@dataclass(frozen=True)
class SiftSummary:
    """What a sifted result says beside its rules; only such a result has one."""

    extraction: Findings
    record: SiftRecord
    sieve: Sieve

    @classmethod
    def of(cls, extraction: Findings) -> SiftSummary | None:
        """Return the summary of a sifted result; None of any other."""
        record, sieve = extraction.envelope.sifted, extraction.envelope.certificate.sift
        return None if record is None or sieve is None else cls(extraction, record, sieve)

    @cached_property
    def drawn(self) -> frozenset[int]:
        """The cells that were drawn at random; all others were chosen."""
        order = self.record.order
        return frozenset(order[draw.at] for draw in self.record.draws if draw.at < len(order))

    @cached_property
    def almost(self) -> tuple[WithExceptions, ...]:
        """The rules with exceptions that stand for narrower ones."""
        telling = self.extraction.telling
        return tuple(
            WithExceptions(
                one.rule,
                telling.parts(one.rule, warrant=PROVED, but=almost_scope(one)),
                almost_words(one, self.sieve),
                one.exceptions,
            )
            for one in self.record.almost
        )

    @cached_property
    def more_often(self) -> tuple[Contrasted, ...]:
        """Where labels that are rare everywhere are given more often."""
        telling = self.extraction.telling
        return tuple(
            Contrasted(
                telling.more_often(one.conditions, one.label, often_words(one)),
                tried_words(one, self.sieve),
            )
            for one in self.record.more_often
        )

    @property
    def is_rare(self) -> bool:
        """Whether a label is shown to be rare: then no rules say where it is never given."""
        labels = self.extraction.space.label_mask
        return any(one.rule.antecedent & ~labels == 0 for one in self.record.almost)

    @cached_property
    def families(self) -> tuple[DrawnFamily, ...]:
        """The families of rules that cells were drawn for."""
        counts = Counter(draw.family for draw in self.record.draws)
        return tuple(
            DrawnFamily(
                number + 1,
                family.at,
                len(family.rules),
                counts[number],
                purpose_words(family.purpose),
                family.delta,
            )
            for number, family in enumerate(self.record.families)
        )

    def shown(self, cell: int) -> str:
        """Return how an exception was shown to the target, in each way of asking."""
        return " / ".join(self.extraction.show(cell))

    # --- files ---

    def almost_csv(self) -> str:
        """Return almost.csv: a line for each exception of each rule with exceptions."""
        columns = ["if", "then", "bound", "tested", "broken", "sentence", "exception", "shown"]
        return csv_text(columns, self._lines())

    def _lines(self) -> Iterator[list[object]]:
        names = self.extraction.space.vocabulary
        for one, line in zip(self.record.almost, self.almost, strict=True):
            start = [
                *named_cells(NamedRule.of(one.rule, names)),
                *(f"{one.bound:.6g}", one.tested, one.broken, line.sentence),
            ]
            for cell in one.exceptions or (None,):
                seen = ["", ""] if cell is None else self._exception(cell)
                yield [*start, *seen]

    def _exception(self, cell: int) -> list[object]:
        names = self.extraction.space.vocabulary
        return ["; ".join(names.names_of(cell)), self.shown(cell)]
