"""A step that gives some columns: how wrappers hand rows to the estimators in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Picked:
    """A step that gives some columns as they are, as an array without names."""

    columns: tuple[int, ...]

    def transform(self, rows: Any) -> NDArray[Any]:
        """Return the columns."""
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.asarray(np.asarray(rows)[:, list(self.columns)])
