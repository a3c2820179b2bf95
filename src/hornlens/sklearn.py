"""An estimator of scikit-learn that predicts by proved rules: `EnvelopeClassifier`."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.utils import check_consistent_length, column_or_1d, get_tags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_is_fitted,
        has_fit_parameter,
        validate_data,
    )
except ImportError as error:
    from hornlens.errors import HornlensError

    raise HornlensError(
        "hornlens.sklearn needs scikit-learn 1.6 or newer: pip install 'hornlens[sklearn]'"
    ) from error

import numpy as np

from hornlens.classifiers.explain import explain
from hornlens.limits import Limits
from hornlens.targets.classifiers.columns import Table, read_table

__all__ = ["EnvelopeClassifier"]


def _gives_probabilities(model: EnvelopeClassifier) -> bool:
    inner = getattr(model, "estimator_", model.estimator)
    return inner is None or hasattr(inner, "predict_proba")


class EnvelopeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a black box, takes out its rules, and predicts by them: always as the black box does.

    A rule decides a row only if it was proved for the black box: its trees were read, or all of its
    inputs were asked. The black box itself decides the other rows, so that nothing is lost; and
    `decided` says which rows a rule decides. Where the black box cannot be looked into, its rules
    are those of a binned model: they are shown, and decide only with ``otherwise="prior"``.

    After `fit` it has `explanation_`, `rules_`, `estimator_` and `classes_`.

    Args:
        estimator: The black box; it is cloned and fitted. Default: histogram boosting of 30 small
            trees, which takes missing values; words in the columns of a frame are encoded.
        bins: How numbers are cut into levels, as in `explain`.
        n_bins: How many bins a column gets at most.
        domain: Which cells are asked, as in `explain`. With "data", a rule decides only rows whose
            cells were asked.
        max_conditions: Only rules with at most this many conditions.
        limit: Up to this many cells, all are asked.
        otherwise: Who decides where no rule does: "model", the black box, or "prior", the
            commonest class.
        time_limit: After so many seconds, no more rules are looked for. None: no limit.
        random_state: The seed of the default black box.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[20.0], [30.0], [50.0], [60.0]], [0, 0, 1, 1]
    >>> model = EnvelopeClassifier(DecisionTreeClassifier()).fit(X, y)
    >>> model.predict([[70.0]]).tolist(), model.decided([[70.0]]).tolist()
    ([1], [True])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        bins: Any = "auto",
        n_bins: int = 4,
        domain: str = "grid",
        max_conditions: int | None = None,
        limit: int = 50_000,
        otherwise: str = "model",
        time_limit: float | None = 10.0,
        random_state: int | None = 0,
    ):
        """Keep the parameters; nothing is done before `fit`."""
        self.estimator = estimator
        self.bins = bins
        self.n_bins = n_bins
        self.domain = domain
        self.max_conditions = max_conditions
        self.limit = limit
        self.otherwise = otherwise
        self.time_limit = time_limit
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks: values may be missing where the black box takes that."""
        tags = super().__sklearn_tags__()
        inner = HistGradientBoostingClassifier() if self.estimator is None else self.estimator
        if isinstance(inner, BaseEstimator):
            tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> EnvelopeClassifier:  # noqa: N803
        """Fit the black box to rows and classes, and find its rules.

        Args:
            X: Rows as the black box takes them: numbers, or a frame, which is passed on as it is.
            y: The class of each row.
            sample_weight: The weight of each row, if the black box takes weights. Rows of weight 0
                are left out.
        """
        if self.otherwise not in ("model", "prior"):
            raise ValueError(f"otherwise must be model or prior, not {self.otherwise!r}")
        rows, y = self._read_new(X, y)
        check_classification_targets(y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.zeros(len(y)))
            rows, y, weights = _with_weight(rows, y, weights)
        self.classes_, places = np.unique(y, return_inverse=True)
        counts = np.bincount(places, weights)
        self.shares_ = counts / counts.sum()
        self.prior_ = self.classes_[int(np.argmax(counts))]
        names = getattr(self, "feature_names_in_", None)
        table = read_table(rows, None if names is None else [str(name) for name in names])
        inner = self.estimator
        inner = _boosting(table, len(counts), self.random_state) if inner is None else clone(inner)
        self.estimator_ = inner.fit(rows, y, **_weights_for(inner, weights))
        self.explanation_ = explain(
            self.estimator_,
            rows,
            bins=self.bins,
            n_bins=self.n_bins,
            domain=self.domain,  # type: ignore[arg-type]
            changes=0,
            max_conditions=self.max_conditions,
            limit=self.limit,
            limits=Limits(time_limit=self.time_limit),
        )
        self.rules_ = self.explanation_.rules
        return self

    def decided(self, X: Any) -> Any:  # noqa: N803
        """Say of each row whether a rule decides it."""
        check_is_fitted(self)
        return self._places(self._read(X)) >= 0

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the class of each row: by the rules, else as `otherwise` says."""
        check_is_fitted(self)
        rows = self._read(X)
        places = self._places(rows)
        labels = self._classes[np.maximum(places, 0)]
        open_ = places < 0
        if open_.any():
            labels[open_] = (
                self.estimator_.predict(_some(rows, open_))
                if self.otherwise == "model"
                else self.prior_
            )
        return labels

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """Return the probability of each class: those of the black box, whoever decides a row.

        With ``otherwise="prior"``, a row that no rule decides has the shares of the classes in `y`;
        and where the rules of a binned model give another class than the black box, that class has
        probability 1: nothing else is known of it.
        """
        check_is_fitted(self)
        rows = self._read(X)
        shares = np.asarray(self.estimator_.predict_proba(rows), dtype=np.float64)
        if self.otherwise == "prior":
            places = self._places(rows)
            shares[places < 0] = self.shares_
            if not self.explanation_.exact_bins:
                own = np.searchsorted(self.classes_, self._classes)[places]
                other = (places >= 0) & (shares.argmax(axis=1) != own)
                shares[other] = np.eye(len(self.classes_))[own[other]]
        return shares

    @property
    def _classes(self) -> Any:
        """The classes in the order in which the explanation has them."""
        return np.asarray(self.explanation_.classes, dtype=self.classes_.dtype)

    def _read_new(self, X: Any, y: Any) -> Any:  # noqa: N803
        """Return the rows and classes that are fitted, checked.

        Numbers are in double precision, so that all rows are compared alike, of whatever type they
        come; a frame stays one.
        """
        if not _is_frame(X) or y is None:
            return validate_data(self, X, y, **self._numbers)
        validate_data(self, X, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        self._frame = type(X)
        return _widened(X), y

    def _read(self, X: Any) -> Any:  # noqa: N803
        """Return rows as the black box takes them: a frame, if it was fitted with one."""
        named = hasattr(self, "feature_names_in_")
        if named and _is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return _widened(X)
        rows = validate_data(self, X, reset=False, **self._numbers)
        if not named:
            return rows
        return self._frame(dict(zip(self.feature_names_in_, rows.T, strict=True)))

    @property
    def _numbers(self) -> dict[str, Any]:
        """How rows without names are checked."""
        allows_nan = get_tags(self).input_tags.allow_nan
        return {"dtype": np.float64, "ensure_all_finite": "allow-nan" if allows_nan else True}

    def _places(self, rows: Any) -> Any:
        """Return the place of the class that a rule gives to each row; -1 where none decides."""
        explanation = self.explanation_
        table = explanation.binned.classifier.table.like(rows)
        places = np.full(len(table), -1, dtype=np.intp)
        if not explanation.exact_bins and self.otherwise == "model":
            return places
        known = explanation.binned.knows(table)
        cells = explanation.binned.places(table.where(known))
        own = explanation.decided(cells)
        if self.domain == "data":
            own[explanation.labelled.at(cells) < 0] = -1
        places[known] = own
        return places


def _is_frame(rows: Any) -> bool:
    """Return whether rows are a frame whose columns have names."""
    return hasattr(rows, "dtypes") and all(isinstance(name, str) for name in rows.columns)


def _widened(frame: Any) -> Any:
    """Return a frame of pandas with whole numbers of 64 bits, and others in double precision."""
    if not hasattr(frame, "astype"):
        return frame
    wide = {"f": np.float64, "i": np.int64}
    kinds = {name: getattr(kind, "kind", "O") for name, kind in frame.dtypes.items()}
    plain = [name for name, kind in frame.dtypes.items() if isinstance(kind, np.dtype)]
    return frame.astype({name: wide[kinds[name]] for name in plain if kinds[name] in wide})


def _some(rows: Any, chosen: Any) -> Any:
    """Return some of the rows of an array or a frame."""
    return rows.filter(chosen) if hasattr(rows, "lazy") else rows[chosen]


def _with_weight(rows: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return the rows whose weight is not 0."""
    chosen = weights != 0
    return _some(rows, chosen), y[chosen], weights[chosen]


def _weights_for(inner: Any, weights: Any) -> dict[str, Any]:
    """Return weights as `fit` of an estimator takes them; of a Pipeline, as its last step does."""
    if weights is None:
        return {}
    last = inner.steps[-1][1] if hasattr(inner, "steps") else inner
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(f"{type(last).__name__} takes no sample_weight")
    before = f"{inner.steps[-1][0]}__" if last is not inner else ""
    return {f"{before}sample_weight": weights}


def _boosting(table: Table, classes: int, seed: int | None) -> Any:
    """Return the default black box for rows; if there are words, an encoder comes first.

    Among histogram boosting with 30 to 100 trees of 4 to 31 leaves, and forests, it is within 2
    points of the most accurate on each of five data sets, by cross-validation, and its leaves are
    few. Words as categories of its own, or one column each, were no more accurate than their codes.
    """
    trees: Any = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, learning_rate=0.2, early_stopping=False, random_state=seed
    )
    if classes == 1:  # which boosting does not take
        trees = DecisionTreeClassifier(random_state=seed)
    words = [at for at, column in enumerate(table.columns) if column.dtype.kind == "O"]
    if not words:
        return trees
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    columns = ColumnTransformer(
        [("words", encoder, [table.names[at] for at in words])], remainder="passthrough"
    )
    return Pipeline([("columns", columns), ("trees", trees)])
