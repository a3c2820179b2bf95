"""The concept lattice of a small table: its concepts in layers, and which lie right above which."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hornlens.exact.columns import Columns
from hornlens.exact.concepts import Concept, concepts
from hornlens.logic.bits import bits


class Node(NamedTuple):
    """A concept: its rows and variables, the places of those right above it, and its own labels.

    A variable stands at the concept of all rows that have it, the highest with this variable; a row
    at the concept of all its variables, the lowest with this row.
    """

    concept: Concept
    above: tuple[int, ...]
    variables: int
    rows: int


def all_concepts(columns: Columns, most: int) -> list[Concept] | None:
    """Return the concepts from the largest down; None if there are more than `most`.

    As concept analysis has it, the last one has every variable, also where no row has all of them.
    """
    concept_list = list(islice(concepts(columns), most + 1))
    full = (1 << columns.width) - 1
    if not any(concept.variables == full for concept in concept_list):
        concept_list.append(Concept(0, full))
    if len(concept_list) > most:
        return None
    return sorted(
        concept_list, key=lambda c: (-c.rows.bit_count(), c.variables.bit_count(), c.variables)
    )


def lattice(concept_list: list[Concept], columns: Columns) -> list[Node]:
    """Return the nodes of all concepts, in the order given: larger ones before smaller ones."""
    place = {concept.variables: i for i, concept in enumerate(concept_list)}
    full = (1 << columns.width) - 1
    own_variables = [0] * len(concept_list)
    for v in range(columns.width):
        closed = columns.common(columns.having[v])
        own_variables[place[full if closed < 0 else closed]] |= 1 << v
    own_rows = [0] * len(concept_list)
    for row in range(columns.count):
        own_rows[place[columns.common(1 << row)]] |= 1 << row
    nodes = []
    for i, concept in enumerate(concept_list):
        larger = [j for j in range(i) if concept_list[j].variables & ~concept.variables == 0]
        right_above = [
            j
            for j in larger
            if not any(
                k != j and concept_list[j].variables & ~concept_list[k].variables == 0
                for k in larger
            )
        ]
        nodes.append(Node(concept, tuple(right_above), own_variables[i], own_rows[i]))
    return nodes


def names_of_rows(rows: int, objects: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of rows; without names, their numbers from 1 on."""
    return tuple(objects[i] if objects else str(i + 1) for i in bits(rows))
