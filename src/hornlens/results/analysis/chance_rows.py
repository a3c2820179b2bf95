"""More than chance, of the rules of a table: its label is shuffled, or every column."""

from __future__ import annotations

from hornlens.errors import InputError
from hornlens.exact.permuted_rows import PermutedRows
from hornlens.logic.envelope import Envelope
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.results.analysis.chance import summed_up
from hornlens.results.documents.chance import Chance


def chance_of_table(
    table: Table,
    space: Space,
    labelled: bool,
    envelope: Envelope,
    permutations: int,
    seed: int = 0,
) -> Chance:
    """Return what shuffled columns give, of rules with at most two conditions.

    Args:
        table: The rows.
        space: What the columns say; the label, if there is one, is the last attribute.
        labelled: Whether there is a label: then only its column is shuffled.
        envelope: The rules, of each of which the p-value is wanted.
        permutations: How often to shuffle.
        seed: The same seed gives the same permutations.
    """
    if permutations < 1:
        raise InputError(f"--chance must be 1 or more, not {permutations}")
    rows = PermutedRows(table, space, labelled)
    if len(table.rows) < 2 or not rows.choices:
        raise InputError("has no column whose values differ: --chance has nothing to shuffle")
    permuted = rows.permute(permutations, seed)
    chances = [rows.chance_of(rule) for rule in envelope.readable]
    return summed_up(permuted, chances, seed, "label" if labelled else "columns")
