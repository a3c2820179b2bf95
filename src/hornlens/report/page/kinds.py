"""The kinds of results that have a page, and where on disk they are found.

A new kind is a line in KINDS, a module with a function from the file's JSON to its page, and a
template.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.jsonfiles import read_json

KINDS = {
    "envelope.json": "extraction",
    "comparison.json": "comparison",
    "study.json": "study",
    "bias.json": "bias",
}
"""By file, the module here whose function KIND_page makes the page; imported when it is wanted."""
TIMES = {"study.json": "times.json"}
"""Where a kind of result says how its run went, if not in run.json."""


def page(name: str, content: dict[str, Any], run: Mapping[str, Any] | None = None) -> str:
    """Return the page of a result: `name` is its file's, `content` the file's, `run` run.json's."""
    kind = KINDS[name]
    module = importlib.import_module(f"hornlens.report.page.{kind}")
    text: str = getattr(module, f"{kind}_page")(content, run or {})
    return text


def read_page(path: Path) -> tuple[Path, str]:
    """Return the folder of a result on disk and its page; `path` is the folder or the file."""
    from jinja2 import UndefinedError

    file = _find(path)
    content = _read(file)
    run = file.with_name(TIMES.get(file.name, "run.json"))
    about = _read(run) if run.is_file() else {}
    try:
        return file.parent, page(file.name, content, about)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UndefinedError):
        raise InputError(f"is no {file.name} of hornlens, or of another version", file) from None
    except InputError as error:
        raise InputError(error.message, file, error.line) from None


def _find(path: Path) -> Path:
    known = ", ".join(KINDS)
    if not path.is_dir():
        if path.exists() and path.name not in KINDS:
            raise InputError(f"has no page: give a folder, or a file named {known}", path)
        return path
    found = [path / name for name in KINDS if (path / name).is_file()]
    if not found:
        raise InputError(f"has no results to report on (there would be: {known})", path)
    if len(found) > 1:
        both = " and ".join(file.name for file in found)
        raise InputError(f"has {both}: name the file that is meant", path)
    return found[0]


def _read(file: Path) -> dict[str, Any]:
    content = read_json(file)
    if not isinstance(content, dict):
        raise InputError("is not a result of hornlens", file)
    return content
