"""Models of XGBoost, LightGBM and CatBoost from their own files, and rows as they take them.

These files hold numbers and names, no code. The library itself loads them and answers; its trees
must be trees, or its native code could read what is not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.targets.classifiers.columns import Column, Kind, Table, is_missing
from hornlens.targets.classifiers.ensembles import lightgbm, xgboost
from hornlens.targets.classifiers.ensembles.boosters import Boosted, as_estimator
from hornlens.targets.classifiers.ensembles.readers import read_trees
from hornlens.targets.classifiers.ensembles.trees import NotExact

SUFFIXES = (".json", ".ubj", ".txt", ".cbm")
NAMES = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost"}


def read_booster(path: Path) -> Boosted:
    """Return the model in a file: a classifier, or a regressor where its objective says so.

    What cannot be read exactly is an InputError.
    """
    raw = path.read_bytes()
    library = _library_of(path, raw)
    try:
        module = import_module(library)
    except ImportError:
        raise HornlensError(
            f"{NAMES[library]} models need {library}: pip install 'hornlens[{library}]'"
        ) from None
    try:
        booster = _loaded(module, library, path, raw)
    except Exception as error:  # theirs may be any
        reason = " ".join(str(error).split("Stack trace")[0].split())[:200]
        raise InputError(f"is no model of {NAMES[library]}: {reason}", path) from None
    try:
        made: Boosted = as_estimator(booster, path.name)
        trees = read_trees(made)
    except NotExact as error:
        raise InputError(f"cannot be read exactly: {error}", path) from None
    assert trees is not None
    for number, tree in enumerate(trees.trees, 1):
        if not tree.is_whole(made.n_features_in_):
            raise InputError(f"tree {number} is no tree over the model's columns", path)
    return made


def _library_of(path: Path, raw: bytes) -> str:
    kind = path.suffix.lower()
    if kind in (".ubj", ".cbm"):
        return "xgboost" if kind == ".ubj" else "catboost"
    if kind == ".txt":
        if not raw.startswith(b"tree"):
            raise InputError("is no model of LightGBM: it must begin with the line 'tree'", path)
        return "lightgbm"
    try:
        content = json.loads(raw)
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", path) from None
    if isinstance(content, dict) and "learner" in content:
        return "xgboost"
    if isinstance(content, dict) and "features_info" in content:
        return "catboost"
    raise InputError("is a model of neither XGBoost nor CatBoost", path)


def _loaded(module: Any, library: str, path: Path, raw: bytes) -> Any:
    if library == "xgboost":
        booster = module.Booster()
        booster.load_model(bytearray(raw))
        return booster
    if library == "lightgbm":
        text = raw.decode("utf-8")
        return module.Booster(model_str=text)
    kind = "json" if path.suffix.lower() == ".json" else "cbm"
    model = module.CatBoost().load_model(str(path), format=kind)
    if len(model.classes_):
        return model
    return module.CatBoostRegressor().load_model(str(path), format=kind)


def booster_table(
    model: Boosted,
    names: Sequence[str],
    columns: Sequence[Column],
    kinds: Sequence[Kind],
) -> Table:
    """Return rows as a model takes them; its categories are those it was fitted with."""
    places = _categories(model.booster)
    own, read = list(kinds), list(columns)
    levels: list[tuple[Any, ...]] = [()] * len(names)
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if place not in places:
            if kind == "category":
                raise InputError(f"column {name!r} has texts, and the model takes numbers there")
            continue
        own[place] = "category"
        read[place] = _as_known(name, columns[place], places[place])
        levels[place] = tuple(places[place] or ())
    rebuild: Callable[[Sequence[Column]], Any] = NumberRows()
    if places:
        shown = tuple(names if model.names is None else model.names)
        rebuild = MixedRows(shown, {at: tuple(known or ()) for at, known in places.items()})
    return Table(tuple(names), tuple(read), tuple(own), tuple(levels), rebuild)


def _categories(booster: Any) -> dict[int, Sequence[Any] | None]:
    """Return the columns that are categories, and which these are; None: whatever comes."""
    if hasattr(booster, "calc_leaf_indexes"):
        return dict.fromkeys(booster.get_cat_feature_indices())
    if hasattr(booster, "pandas_categorical"):
        return {**lightgbm.categories_by_column(booster)}
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    return {place: known for place, known in enumerate(xgboost.category_names(learner)) if known}


def _as_known(name: str, column: Column, known: Sequence[Any] | None) -> Column:
    """Return a column's values as the model knows them: by their texts."""
    made = np.empty(len(column), dtype=object)
    by_text = None if known is None else {str(value): value for value in known}
    for row, (value, absent) in enumerate(
        zip(column.tolist(), is_missing(column).tolist(), strict=True)
    ):
        if absent:
            made[row] = None
        elif by_text is None:
            made[row] = value
        elif str(value) in by_text:
            made[row] = by_text[str(value)]
        else:
            raise InputError(f"column {name!r} has {value!r}, which the model does not know")
    return made


@dataclass(frozen=True)
class NumberRows:
    """Makes arrays of numbers of columns."""

    def __call__(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        """Return columns side by side."""
        return np.column_stack([column.astype(np.float64) for column in columns])


@dataclass(frozen=True)
class MixedRows:
    """Makes frames of columns, some of which are categories: those known, or whatever comes."""

    names: tuple[str, ...]
    categories: dict[int, tuple[Any, ...]]

    def __call__(self, columns: Sequence[Column]) -> Any:
        """Return columns as a frame of pandas."""
        try:
            import pandas
        except ImportError:
            raise HornlensError(
                "a model with categories needs pandas: pip install pandas"
            ) from None
        made = {}
        for place, (name, column) in enumerate(zip(self.names, columns, strict=True)):
            known = self.categories.get(place)
            if known:
                made[name] = pandas.Categorical(column, categories=list(known))
            else:
                made[name] = column if known is not None else column.astype(np.float64)
        return pandas.DataFrame(made, columns=list(self.names))
