"""What can be looked into, opened as a target: files of formulas and tables, or what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from hornlens.errors import HornlensError, InputError
from hornlens.formats.anytables import ENDINGS, Opened, open_table, open_values
from hornlens.formats.backgrounds import read_background
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.scaling import parse_scales
from hornlens.formats.values import is_frame, values_of_frame
from hornlens.logic.cnf import Cnf
from hornlens.logic.named import NamedRule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.targets.formulas import FormulaTarget, TableTarget

FORMULAS = (".cnf", ".dimacs")
Background: TypeAlias = "str | Path | Theory | Iterable[str] | None"
"""Rules that are taken for granted: a file, a theory, or rules as text."""


def open_source(
    source: Any,
    background: Background = None,
    scales: Sequence[str] = (),
    label: str | None = None,
) -> FormulaTarget | TableTarget:
    """Return a formula or a table as a target.

    Args:
        source: The path of a file, a `Cnf`, a `Table`, a data frame, or such a target.
        background: Rules that are taken for granted.
        scales: How columns of values are read, as `--scale` takes it.
        label: The column of the class.

    Raises:
        InputError: if a file is wrong, or does not exist.
    """
    if isinstance(source, str | Path):
        return _open_path(Path(source), background, scales, label)
    if is_frame(source):
        opened = open_values(values_of_frame(source), parse_scales(scales), label)
        return _table(opened, "data frame", background)
    if scales or label is not None:
        raise HornlensError("scales and label are for columns of values, and here are none")
    if isinstance(source, Cnf):
        return FormulaTarget(source, background=_theory(background, source.vocabulary))
    if isinstance(source, Table):
        return _table(Opened(source), "table", background)
    if isinstance(source, FormulaTarget | TableTarget):
        names = source.space.vocabulary
        return (
            source if background is None else replace(source, background=_theory(background, names))
        )
    raise HornlensError(
        f"a {type(source).__name__} cannot be looked into: give the path of a formula or a table, "
        "a Cnf, a Table, or a data frame"
    )


def _open_path(
    path: Path, background: Background, scales: Sequence[str], label: str | None
) -> FormulaTarget | TableTarget:
    suffix = path.suffix.lower()
    if suffix in FORMULAS:
        formula = read_dimacs(path)
        theory = _theory(background, formula.vocabulary)
        if scales or label is not None:
            raise InputError("a formula has no columns: --scale and --label are for tables", path)
        return FormulaTarget(formula, path.name, theory)
    if suffix in ENDINGS:
        return _table(open_table(path, scales, label), path.name, background)
    # Say first what is wrong with a file that does not exist at all.
    if not path.is_file():
        raise InputError("is a directory, not a file" if path.is_dir() else "no such file", path)
    raise InputError("unknown kind of file; expected .cnf, " + ", ".join(ENDINGS), path)


def _table(opened: Opened, name: str, background: Background) -> TableTarget:
    theory = _theory(background, opened.table.vocabulary)
    return TableTarget(opened.table, name, theory, opened.space, opened.said)


def _theory(background: Background, names: Vocabulary) -> Theory | None:
    """Return a background over the variables of what it is for."""
    if background is None:
        return None
    if isinstance(background, str | Path):
        return read_background(Path(background), names)
    if isinstance(background, Theory):
        if background.width != len(names):
            raise InputError(
                f"the background is about {background.width} variables, and there are {len(names)}"
            )
        return background
    return Theory(len(names), tuple(NamedRule.parse(text).rule(names) for text in background))


@contextmanager
def errors_about(path: Path | None) -> Iterator[None]:
    """Name the file in errors about what it holds; where it is known."""
    try:
        yield
    except InputError as error:
        if path is None or error.path is not None:
            raise
        raise InputError(error.message, path, error.line) from None
