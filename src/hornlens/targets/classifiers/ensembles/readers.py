"""Which library an ensemble is from, and who reads it."""

from __future__ import annotations

from typing import Any

from hornlens.targets.classifiers.ensembles.scikit import read_scikit
from hornlens.targets.classifiers.ensembles.trees import Trees


def read_trees(clf: Any) -> Trees | None:
    """Return the trees of a fitted classifier; None if it is no ensemble that can be read."""
    if type(clf).__module__.startswith("sklearn."):
        return read_scikit(clf)
    return None
