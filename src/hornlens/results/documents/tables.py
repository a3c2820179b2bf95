"""What is known of a table beside its rules: its concepts, and their lattice if that is small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornlens.exact.columns import Columns
from hornlens.exact.concepts import concepts
from hornlens.exact.lattice import all_concepts, lattice, names_of_rows
from hornlens.limits import Limits
from hornlens.logic.table import Table
from hornlens.results.documents.codec import Codec

DRAWN = 100
"""So many concepts are drawn at most: more cannot be read."""
COUNTED = 100_000
"""So many are counted for a page."""


@dataclass(frozen=True)
class LatticeConcept:
    """A concept: what all its rows have, how many there are, and what stands at it in a drawing."""

    variables: tuple[str, ...]
    rows: int
    above: tuple[int, ...] = ()
    """The places of the concepts right above it."""
    own_variables: tuple[str, ...] = ()
    own_rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableDocument:
    """The section `table` of an envelope.json: the rows, and their concepts.

    `concepts` is None where there are more than were counted.
    """

    rows: int
    concepts: int | None = None
    at_least: int = 0
    lattice: tuple[LatticeConcept, ...] = ()
    columns: tuple[str, ...] = ()
    """What became of the columns of the file, in words."""


@dataclass(frozen=True)
class TableResult:
    """What table.json held, as versions up to 0.2 wrote it."""

    name: str
    rows: int
    envelope: Mapping[str, Any]
    concepts: int | None = None
    at_least: int = 0
    lattice: tuple[LatticeConcept, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def document(self) -> TableDocument:
        """What is known of the table beside its rules."""
        return TableDocument(self.rows, self.concepts, self.at_least, self.lattice, self.columns)


TABLE = Codec(TableResult, "table.json")
SECTION = Codec(TableDocument, "envelope.json")


def is_table(content: Mapping[str, Any]) -> bool:
    """Return whether JSON is a table.json of 0.2: an envelope, and what is known of its rows."""
    return "envelope" in content and "rows" in content


def table_document(table: Table, columns: tuple[str, ...] = ()) -> TableDocument:
    """Return what is known of a table; its lattice if it has at most DRAWN concepts."""
    drawn = lattice_of(table)
    count, at_least = (len(drawn), 0) if drawn else count_concepts(table, COUNTED)
    return TableDocument(len(table.rows), count, at_least, drawn, columns)


def lattice_of(table: Table, most: int = DRAWN) -> tuple[LatticeConcept, ...]:
    """Return the concepts of a table with what lies above each; none if there are more."""
    turned = Columns(table.rows, len(table.vocabulary))
    found = all_concepts(turned, most)
    names_of = table.vocabulary.names_of
    return tuple(
        LatticeConcept(
            names_of(node.concept.variables),
            node.concept.rows.bit_count(),
            node.above,
            names_of(node.variables),
            names_of_rows(node.rows, table.objects),
        )
        for node in (lattice(found, turned) if found else ())
    )


def count_concepts(
    table: Table, most: int | None = None, limits: Limits | None = None
) -> tuple[int | None, int]:
    """Return how many concepts there are, that of all variables among them.

    If there are more than `most`, or a limit is reached: None, and how many were seen.
    """
    columns = Columns(table.rows, len(table.vocabulary))
    full, count, bottom = (1 << columns.width) - 1, 0, False
    for concept in concepts(columns):
        count += 1
        bottom = bottom or concept.variables == full
        if (most is not None and count >= most) or (limits is not None and limits.reached()):
            return None, count
    return count + (not bottom), 0


def concept_rows(
    table: Table, limits: Limits | None = None
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the variables and the number of rows of each concept, that of all variables last."""
    columns = Columns(table.rows, len(table.vocabulary))
    full, bottom = (1 << columns.width) - 1, False
    for concept in concepts(columns):
        bottom = bottom or concept.variables == full
        yield table.vocabulary.names_of(concept.variables), concept.rows.bit_count()
        if limits is not None and limits.reached():
            return
    if not bottom:
        yield table.vocabulary.names, 0
