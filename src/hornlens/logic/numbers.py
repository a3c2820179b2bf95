"""Numbers as they are: floats, and whole numbers beyond those that floats hold one by one."""

from __future__ import annotations

import numpy as np

LARGEST_EXACT = 1 << 53
"""Up to here, every whole number is a float."""


def exact_number(value: float) -> float:
    """Return a number as a float; a whole one beyond those that floats hold stays as it is.

    >>> exact_number(30), exact_number(2**53 + 1)
    (30.0, 9007199254740993)
    """
    if isinstance(value, int | np.integer) and abs(int(value)) > LARGEST_EXACT:
        return int(value)
    return float(value) + 0.0
