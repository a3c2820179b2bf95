"""Tables in whatever file: contexts as they are, values scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hornlens.errors import InputError
from hornlens.formats.contexts import READERS
from hornlens.formats.scaling import Scale, parse_scales, scaled
from hornlens.formats.values import FRAMES, Values, read_values
from hornlens.logic.lookalikes import look_alike_sentences
from hornlens.logic.space import Space
from hornlens.logic.table import Table

ENDINGS = (".csv", *FRAMES, *READERS)


class Opened(NamedTuple):
    """A table; the space of its columns, if some of them are scaled; what became of each column."""

    table: Table
    space: Space | None = None
    said: tuple[str, ...] = ()


def open_table(path: Path, scales: Sequence[str] = (), label: str | None = None) -> Opened:
    """Read a table by the ending of its file; `scales` are texts as `--scale` takes them."""
    suffix = path.suffix.lower()
    if suffix in READERS:
        if scales or label is not None:
            raise InputError("is a context, whose columns have no values to scale", path)
        return Opened(READERS[suffix](path))
    if suffix not in ENDINGS:
        raise InputError(f"unknown kind of table; expected one of {', '.join(ENDINGS)}", path)
    values = read_values(path)
    wanted = parse_scales(scales)
    try:
        return open_values(values, wanted, label)
    except InputError as error:
        raise InputError(error.message, path, error.line) from None


def open_values(
    values: Values, scales: Mapping[str, Scale] | None = None, label: str | None = None
) -> Opened:
    """Return the table that values become, each column in its scale."""
    context = scaled(values, scales, label)
    groups = (tuple(values.columns), *values.columns.values())
    alike = tuple(text for group in groups for text in look_alike_sentences(group))
    if context.space.label is None and not len(context.space.background) and not scales:
        return Opened(context.table, None, alike)
    return Opened(context.table, context.space, (*context.said, *alike))
