"""Cases of files: the examples, and public contexts in a folder of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tools.golden.case import Case
from tools.golden.doors import Parts, envelope_of, read_formula, read_table

EXAMPLES = Path(__file__).parents[2] / "examples"
SLOW = ("chess",)
"""Contexts that take more than 20 seconds."""
ENDINGS = (".cxt", ".csv", ".cnf")
FORMULA: tuple[dict[str, Any], ...] = (
    {},
    {"max_conditions": 1},
    {"max_conditions": 2},
    {"max_rules": 2},
)
TABLE: tuple[dict[str, Any], ...] = (
    *FORMULA,
    {"min_support": 2},
    {"max_conditions": 2, "min_support": 3},
)
LARGE: tuple[dict[str, Any], ...] = (
    {},
    {"max_conditions": 1},
    {"max_conditions": 2, "min_support": 20},
    {"max_rules": 20},
)
"""What is asked of formulas, of small tables, and of public contexts."""


def examples() -> Iterator[Case]:
    """Yield every example, with several settings."""
    for path in sorted(EXAMPLES.glob("*.cnf")):
        for options in FORMULA:
            yield Case(_key("examples", path, options), partial(_of_formula, path, options))
        yield Case(f"examples/{path.stem}/unit", partial(_of_formula, path, {"bases": ["unit"]}))
    for path in sorted(EXAMPLES.glob("*.csv")):
        for options in (*TABLE, {"min_confidence": 0.7}):
            yield Case(_key("examples", path, options), partial(_of_table, path, options))
        bases = {"bases": ["canonical", "unit", "direct"]}
        yield Case(f"examples/{path.stem}/bases", partial(_of_table, path, bases))


def contexts(folder: Path, slow: bool) -> Iterator[Case]:
    """Yield every context or table in a folder."""
    for path in sorted(folder.iterdir()):
        if path.suffix not in ENDINGS or (path.stem in SLOW and not slow):
            continue
        of = _of_formula if path.suffix == ".cnf" else _of_table
        for options in LARGE if path.stem not in SLOW else LARGE[1:3]:
            yield Case(_key("contexts", path, options), partial(of, path, options))


def _key(group: str, path: Path, options: dict[str, Any]) -> str:
    asked = ",".join(f"{name}={value}" for name, value in options.items())
    return f"{group}/{path.stem}/{asked or 'exact'}"


def _of_formula(path: Path, options: dict[str, Any]) -> Parts:
    return envelope_of(read_formula(path), **options)


def _of_table(path: Path, options: dict[str, Any]) -> Parts:
    table, space = read_table(path)
    return envelope_of(table, space, **options)
