"""What scikit-learn itself calls an estimator: a regressor, or one that clusters."""

from __future__ import annotations

import sys
from typing import Any


def is_called(clf: Any, *kinds: str) -> bool:
    """Return whether an estimator is called one of some kinds, by itself or by its tags.

    >>> class Mean:
    ...     _estimator_type = "regressor"
    >>> is_called(Mean(), "regressor"), is_called(Mean(), "clusterer"), is_called(abs, "regressor")
    (True, False, False)
    """
    if getattr(clf, "_estimator_type", None) in kinds:
        return True
    base = sys.modules.get("sklearn.base")
    if base is None or not isinstance(clf, base.BaseEstimator):
        return False
    tests = [getattr(base, f"is_{kind}", None) for kind in kinds]
    try:
        return any(bool(test(clf)) for test in tests if test is not None)
    except Exception:  # an estimator of one's own may not know its tags
        return False
