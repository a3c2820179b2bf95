"""An estimator of scikit-learn that predicts by proved rules: `EnvelopeClassifier`."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    from hornlens.errors import HornlensError

    raise HornlensError(
        "hornlens.sklearn needs scikit-learn 1.6 or newer: pip install 'hornlens[sklearn]'"
    ) from error

import numpy as np

from hornlens.classifiers.explain import explain
from hornlens.targets.classifiers.columns import read_table

__all__ = ["EnvelopeClassifier"]


class EnvelopeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a black box, takes out its rules, and predicts by them.

    After `fit` it has `explanation_`, `rules_`, `estimator_` and `classes_`.

    Args:
        estimator: The black box; it is cloned and fitted. Default: a small random forest.
        bins: How numbers are cut into levels, as in `explain`.
        n_bins: How many bins a column gets at most.
        domain: Which cells are asked, as in `explain`.
        max_conditions: Only rules with at most this many conditions.
        limit: Up to this many cells, all are asked.
        otherwise: Who decides where no rule does: "model", the black box, or "prior", the
            commonest class.
        random_state: The seed of the default forest.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[20.0], [30.0], [50.0], [60.0]], [0, 0, 1, 1]
    >>> model = EnvelopeClassifier(DecisionTreeClassifier()).fit(X, y)
    >>> model.predict([[70.0]]).tolist()
    [1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        bins: Any = "auto",
        n_bins: int = 4,
        domain: str = "data",
        max_conditions: int | None = None,
        limit: int = 200_000,
        otherwise: str = "model",
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
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> EnvelopeClassifier:  # noqa: N803
        """Fit the black box to rows and classes, and find its rules."""
        if self.otherwise not in ("model", "prior"):
            raise ValueError(f"otherwise must be model or prior, not {self.otherwise!r}")
        rows, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = self.classes_[int(np.argmax(counts))]
        inner = self.estimator
        if inner is None:
            inner = RandomForestClassifier(5, max_depth=3, random_state=self.random_state)
        self.estimator_ = clone(inner).fit(rows, y)
        names = getattr(self, "feature_names_in_", None)
        self.explanation_ = explain(
            self.estimator_,
            read_table(rows, None if names is None else [str(name) for name in names]),
            bins=self.bins,
            n_bins=self.n_bins,
            domain=self.domain,  # type: ignore[arg-type]
            changes=0,
            max_conditions=self.max_conditions,
            limit=self.limit,
        )
        self.rules_ = self.explanation_.rules
        return self

    def decided(self, X: Any) -> Any:  # noqa: N803
        """Say of each row whether a rule decides it."""
        check_is_fitted(self)
        return self._places(validate_data(self, X, reset=False)) >= 0

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the class of each row: by the rules, else as `otherwise` says."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False)
        places = self._places(rows)
        classes = np.asarray(self.explanation_.classes, dtype=self.classes_.dtype)
        labels = classes[np.maximum(places, 0)]
        open_ = places < 0
        if open_.any():
            other = (
                self.estimator_.predict(rows[open_]) if self.otherwise == "model" else self.prior_
            )
            labels[open_] = other
        return labels

    def _places(self, rows: Any) -> Any:
        binned = self.explanation_.binned
        table = binned.classifier.table.like(np.asarray(rows, dtype=np.float64))
        return self.explanation_.decided(binned.places(table))
