"""Tables as pandas data frames, for those who have pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hornlens.errors import HornlensError


def data_frame(columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> Any:
    """Return a table as a pandas DataFrame; without pandas, it is an error that says so."""
    try:
        import pandas
    except ImportError:
        raise HornlensError("to_frame() needs pandas: pip install pandas") from None
    return pandas.DataFrame(lines, columns=columns)
