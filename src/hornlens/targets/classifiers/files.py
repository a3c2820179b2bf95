"""Classifiers and tables from files: ONNX, skops, boosters' own; CSV tables. Never pickle.

A pickle runs whatever its author wrote, so it is refused. ONNX holds arithmetic only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from hornlens.errors import HornlensError, InputError
from hornlens.formats.csvfiles import check_points, csv_rows
from hornlens.formats.files import read_text
from hornlens.targets.classifiers.boosterfiles import SUFFIXES, booster_table, read_booster
from hornlens.targets.classifiers.columns import Column, Kind, Table
from hornlens.targets.classifiers.onnxfiles import OnnxModel
from hornlens.targets.classifiers.skopsfiles import read_skops

MISSING = ("", "NA", "NaN", "nan", "null", "None", "?")
PICKLES = (".pkl", ".pickle", ".joblib", ".sav")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def identity_of(path: Path, threshold: float | None = None, bands: Any = None) -> str:
    """Return what the answers of the model in a file depend on: a hash of all that is in it.

    A threshold of its scores, or bands of its predictions, are part of it.
    """
    content = path.read_bytes()
    if threshold is not None or bands is not None:
        content = sha256(content).digest() + repr((threshold, bands)).encode()
    return f"sha256:{sha256(content).hexdigest()}"


def open_classifier(
    path: Path, data: Path, target: str | None, trusted: Sequence[str] = ()
) -> tuple[Any, Table]:
    """Return a model from a file, and the rows of a CSV file as it takes them."""
    names, columns, kinds, labels = read_rows(data, target)
    kind = path.suffix.lower()
    if kind in PICKLES:
        raise InputError("is a pickle, which can run any code: save the model as skops", path)
    if kind == ".onnx":
        model = OnnxModel(path, names, labels)
        made = _table(names, columns, kinds, model.rebuild)
        return model, made
    if kind in SUFFIXES:
        booster = read_booster(path)
        return booster, booster_table(booster, names, columns, kinds)
    if kind != ".skops":
        known = ", ".join((".onnx", *SUFFIXES))
        raise InputError(f"unknown kind of model; expected {known} or .skops", path)
    model = read_skops(path, trusted)
    return model, _table(names, columns, kinds, _rows_for(model, names))


def _table(
    names: Sequence[str],
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    rebuild: Callable[[Sequence[Column]], Any],
) -> Table:
    return Table(tuple(names), tuple(columns), tuple(kinds), ((),) * len(names), rebuild)


def _rows_for(model: Any, names: Sequence[str]) -> Callable[[Sequence[Column]], Any]:
    """Return what makes rows of columns: with names where the model was fitted with them."""
    named = hasattr(model, "feature_names_in_")

    def rebuild(columns: Sequence[Column]) -> Any:
        if not named:
            return np.column_stack(columns)
        try:
            import pandas
        except ImportError:
            raise HornlensError(
                "the model was fitted with named columns: pip install pandas"
            ) from None
        return pandas.DataFrame(dict(zip(names, columns, strict=True)), columns=list(names))

    return rebuild


def read_rows(
    path: Path, target: str | None
) -> tuple[list[str], list[Column], list[Kind], list[str] | None]:
    """Return a CSV file's columns: names, values and kinds, and the texts of the target's."""
    names: list[str] = []
    lines: list[list[str]] = []
    for line, cells in csv_rows(read_text(path), path):
        if not names:
            names = [cell.strip() for cell in cells]
            if len(set(names)) < len(names) or not all(names):
                raise InputError("every column needs a name of its own", path, line)
            continue
        if len(cells) != len(names):
            raise InputError(f"{len(cells)} cells, but {len(names)} columns", path, line)
        lines.append([cell.strip() for cell in cells])
    if not lines:
        raise InputError("has no rows", path)
    if target is not None and target not in names:
        raise InputError(f"there is no column {target!r} (there are: {', '.join(names)})", path)
    texts = {name: [line[at] for line in lines] for at, name in enumerate(names)}
    labels = None if target is None else sorted(set(texts.pop(target)))
    for name, values in texts.items():
        check_points(name, (value for value in values if value not in MISSING), path)
    read = {name: _column(values) for name, values in texts.items()}
    return list(read), [c for c, _ in read.values()], [k for _, k in read.values()], labels


def _column(values: Sequence[str]) -> tuple[Column, Kind]:
    known = [value for value in values if value not in MISSING]
    gaps = len(known) < len(values)
    if known and {value.lower() for value in known} <= {"true", "false"} and not gaps:
        return np.array([value.lower() == "true" for value in values]), "boolean"
    try:
        if known and not gaps:
            return np.array([int(value) for value in values], dtype=np.int64), "whole"
    except (ValueError, OverflowError):
        pass
    try:
        numbers = np.array([np.nan if value in MISSING else float(value) for value in values])
        if known and not np.isinf(numbers).any():
            return numbers, "number"
    except ValueError:
        pass
    return np.array([None if v in MISSING else v for v in values], dtype=object), "category"
