"""Target specs: what stands behind `--target`, ours and installed packages'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from hornlens.errors import HornlensError
from hornlens.registry import Registry
from hornlens.targets.protocol import Target


@dataclass(frozen=True)
class TargetKind:
    """A kind of target: how its specs look, what it is, and how one is opened."""

    form: str
    help: str
    open: Callable[[str], Target]
    """Given what the spec says behind its "/", returns the target; nothing is asked of it yet."""


def _formula(rest: str) -> Target:
    from hornlens.formats.dimacs import read_dimacs
    from hornlens.targets.formulas import FormulaTarget

    return FormulaTarget(read_dimacs(Path(rest)), f"formula/{rest}")


def _rows(rest: str) -> Target:
    from hornlens.formats.anytables import open_table
    from hornlens.targets.formulas import TableTarget

    opened = open_table(Path(rest))
    return TableTarget(opened.table, f"rows/{rest}", None, opened.space, opened.said)


def _classifier(rest: str) -> Target:
    # By name, as entry points are: classifiers lie above this package.
    made: Target = import_module("hornlens.targets.classifiers.target").open_files(rest)
    return made


TARGETS = Registry(
    "target",
    "hornlens.targets",
    TargetKind,
    {
        "formula": TargetKind("formula/FILE.cnf", "what satisfies a DIMACS formula", _formula),
        "rows": TargetKind("rows/FILE", "the rows of a table, scaled, or of a context", _rows),
        "classifier": TargetKind(
            "classifier/MODEL,DATA[,COLUMN]",
            "a classifier in a file, over the columns of a .csv (COLUMN has the classes)",
            _classifier,
        ),
    },
    renamed={"table": "rows"},  # which is also a kind of model: recorded scores
)


def open_target(spec: str) -> Target:
    """Return the target of a spec; an unknown or broken kind is a HornlensError in one line."""
    target = TARGETS.open(spec, lambda kind, rest: kind.open(rest))
    if not isinstance(target, Target):
        raise HornlensError(f"{spec!r} opens no target, but a {type(target).__name__}")
    return target
