"""CatBoost's trees: single precision, "greater than", and categories one by one.

They are read from the JSON that CatBoost itself writes. Categories whose counts over the training
data are features (CTRs) are not read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.targets.classifiers.columns import is_missing
from hornlens.targets.classifiers.ensembles.links import (
    CHANCES,
    UNKNOWN,
    exponential,
    of_numbers,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.rows import frame_columns, frame_numbers, frame_values
from hornlens.targets.classifiers.ensembles.trees import (
    NotExact,
    Scores,
    Split,
    Tree,
    Trees,
    just_above,
)

OBJECTIVES = ("Logloss", "CrossEntropy", "Focal", "MultiClass", "MultiClassOneVsAll")
EXPONENTIAL = ("Poisson", "Tweedie")
"""The objectives whose numbers CatBoostRegressor predicts by their logarithms."""
OTHERS = {
    "OnlineCtr": "its categories are replaced by counts (CTRs): fit it with one_hot_max_size=255",
    "text_features": "it has columns of texts",
    "embedding_features": "it has columns of embeddings",
}


def read_catboost(clf: Any, numbers: bool = False) -> Trees:
    """Return the trees of an estimator or a CatBoost; NotExact if they cannot be read.

    `numbers`: as those of a regressor, with one sum; else as those of a classifier.
    """
    model = written(clf)
    objective = objective_of(clf)
    if objective not in OBJECTIVES and not numbers:
        raise NotExact(f"the objective {objective} of CatBoost has no classes that can be read")
    info = model["features_info"]
    for kind in ("text_features", "embedding_features"):
        if info.get(kind):
            raise NotExact(f"CatBoost: {OTHERS[kind]}")
    scale, bias = model["scale_and_bias"]
    columns = _Columns.of(info)
    several = len(bias) > 1
    if several and numbers:
        raise NotExact(f"CatBoost predicts {len(bias)} numbers of each row, with {objective}")
    classes = 1 if numbers else len(bias) if several else 2
    made = [
        _symmetric(tree, columns, scale, classes)
        if "splits" in tree
        else _branching(tree, columns, scale, classes)
        for tree in model.get("oblivious_trees") or model.get("trees") or ()
    ]
    start = np.asarray(bias, dtype=np.float64)
    if numbers:
        of_logarithms = objective in EXPONENTIAL and type(clf).__name__ == "CatBoostRegressor"
        link = of_numbers(exponential if of_logarithms else sum_itself)
        return Trees((*made, Tree.constant(start)), single=True, link=link)
    if not several:
        share = float(model["model_info"].get("binclass_probability_threshold", 0.5))
        start = np.array([np.log(share / (1 - share)) if share != 0.5 else 0.0, float(bias[0])])
    link = CHANCES if objective in ("Logloss", "CrossEntropy") else UNKNOWN
    return Trees((*made, Tree.constant(start)), single=True, link=link)


def objective_of(clf: Any) -> str:
    """Return what a fitted model was fitted for, without its options."""
    return str(clf.get_all_params()["loss_function"]).split(":")[0]


def written(clf: Any, rows: Any = None) -> dict[str, Any]:
    """Return what CatBoost writes of a model, with the hashes of the categories in rows."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        clf.save_model(str(path), format="json", pool=rows)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content


@dataclass(frozen=True, eq=False)
class HashedRows:
    """Makes numbers of rows: of categories, the place of their hash among those that trees ask for.

    CatBoost compares hashes of names. A name that no tree asks for becomes -1.
    """

    hashes: tuple[int, ...]
    encoded: tuple[int, ...]
    """The columns that are categories, whatever they look like."""
    known: dict[str, int] = field(default_factory=dict)
    """What names became so far."""

    def transform(self, rows: Any) -> NDArray[np.float64]:
        """Return the numbers that the trees compare."""
        is_frame = hasattr(rows, "columns")
        columns = frame_columns(rows) if is_frame else list(np.asarray(rows).T)
        made = np.empty((len(rows), len(columns)))
        for place, column in enumerate(columns):
            if place in self.encoded:
                values = frame_values(column) if is_frame else column
                made[:, place] = self._codes(values)
            else:
                made[:, place] = frame_numbers(column) if is_frame else column.astype(np.float64)
        return made

    def _codes(self, values: NDArray[Any]) -> list[int]:
        if is_missing(values).any():
            raise InputError("CatBoost does not accept missing values in a column of categories")
        texts = list(map(_text, values.tolist()))
        new = sorted(set(texts) - set(self.known))
        if new:
            codes = {hashed: code for code, hashed in enumerate(self.hashes)}
            for text, hashed in _hashes_of(new).items():
                self.known[text] = codes.get(hashed, -1)
        return [self.known[text] for text in texts]


def _text(value: Any) -> str:
    """Return what CatBoost makes of a category before it hashes it: truth is 1."""
    return str(int(value) if isinstance(value, bool | np.bool_) else value)


def _hashes_of(texts: Sequence[str]) -> dict[str, int]:
    """Return CatBoost's hash of each text: a small model writes them, with the rows that it had."""
    from catboost import CatBoostClassifier, Pool

    rows = [[text] for text in (*texts, *texts, "", "")]
    pool = Pool(rows, [place % 2 for place in range(len(rows))], cat_features=[0])
    small = CatBoostClassifier(
        iterations=1, depth=1, verbose=0, one_hot_max_size=255, allow_writing_files=False
    ).fit(pool)
    hashes = written(small, pool)["features_info"]["cat_features_hash"]
    return {line["value"]: line["hash"] % 2**32 for line in hashes}


def rows_of_catboost(clf: Any) -> HashedRows:
    """Return what makes numbers of rows: categories by their hashes."""
    return HashedRows(
        _hashes_in(written(clf)["features_info"]), tuple(clf.get_cat_feature_indices())
    )


def _hashes_in(info: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the hashes that trees ask for, in order."""
    columns = info.get("categorical_features") or ()
    return tuple(
        sorted({value % 2**32 for column in columns for value in column.get("values", ())})
    )


@dataclass(frozen=True)
class _Columns:
    """The columns of X that features of CatBoost come from, and which of them take NaN for true."""

    numbers: Mapping[int, int]
    true_if_missing: frozenset[int]
    categories: Mapping[int, int]
    hashes: tuple[int, ...]

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> _Columns:
        """Return them as a model names them."""
        numbers, names = info.get("float_features") or (), info.get("categorical_features") or ()
        return cls(
            {one["feature_index"]: one["flat_feature_index"] for one in numbers},
            frozenset(
                one["feature_index"] for one in numbers if one["nan_value_treatment"] == "AsTrue"
            ),
            {one["feature_index"]: one["flat_feature_index"] for one in names},
            _hashes_in(info),
        )

    def split(self, asked: Mapping[str, Any]) -> tuple[int, Split]:
        """Return the column that a node asks for, and how: to the left if it is not true."""
        kind = asked["split_type"]
        if kind == "FloatFeature":
            feature = asked["float_feature_index"]
            border = just_above(np.array([asked["border"]]), True)
            return self.numbers[feature], Split(
                tuple(border.tolist()), feature not in self.true_if_missing
            )
        if kind == "OneHotFeature":
            code = self.hashes.index(int(asked["value"]) % 2**32)
            return self.categories[asked["cat_feature_index"]], Split.of_codes([code], False, True)
        raise NotExact(f"CatBoost: {OTHERS.get(kind, f'it has splits of the kind {kind}')}")


def _symmetric(tree: Mapping[str, Any], columns: _Columns, scale: float, classes: int) -> Tree:
    """Return a tree whose levels ask one thing each: the last one first, as leaves are numbered."""
    asked = [columns.split(split) for split in reversed(tree["splits"] or ())]
    inner = 2 ** len(asked) - 1
    values = np.asarray(tree["leaf_values"], dtype=np.float64).reshape(inner + 1, -1) * scale
    column, splits = np.zeros(2 * inner + 1, dtype=np.intp), []
    for depth, (place, split) in enumerate(asked):
        column[2**depth - 1 : 2 ** (depth + 1) - 1] = place
        splits += [split] * 2**depth
    left = np.concatenate([2 * np.arange(inner) + 1, np.full(inner + 1, -1)]).astype(np.intp)
    right = np.where(left < 0, -1, left + 1)
    scores = np.concatenate([np.zeros((inner, classes)), _by_class(values, classes)])
    return Tree(column, left, right, (*splits, *[None] * (inner + 1)), scores)


def _branching(tree: Mapping[str, Any], columns: _Columns, scale: float, classes: int) -> Tree:
    """Return a tree of which each node asks something of its own."""
    column: list[int] = []
    left: list[int] = []
    right: list[int] = []
    splits: list[Split | None] = []
    scores: list[Scores] = []
    waiting: list[tuple[Mapping[str, Any], int, list[int]]] = [(tree, -1, left)]
    while waiting:
        node, parent, side = waiting.pop()
        own = len(left)
        if parent >= 0:
            side[parent] = own
        is_leaf = "split" not in node
        place, split = (0, None) if is_leaf else columns.split(node["split"])
        value = np.ravel(np.asarray(node["value"] if is_leaf else 0.0, dtype=np.float64)) * scale
        column.append(place)
        splits.append(split)
        left.append(-1)
        right.append(-1)
        made = _by_class(value[None, :], classes) if is_leaf else np.zeros((1, classes))
        scores.append(made[0])
        if not is_leaf:
            waiting += [(node["left"], own, left), (node["right"], own, right)]
    kinds = np.intp
    return Tree(
        np.array(column, kinds),
        np.array(left, kinds),
        np.array(right, kinds),
        tuple(splits),
        np.array(scores),
    )


def _by_class(values: Scores, classes: int) -> Scores:
    """Return what leaves add to the classes; of two classes, to the second."""
    if values.shape[1] > 1:
        return values
    return np.concatenate([np.zeros((len(values), classes - 1)), values], axis=1)
