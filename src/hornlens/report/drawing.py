"""Whether figures can be drawn: matplotlib is large, and an extra."""

from __future__ import annotations

from importlib.util import find_spec

NOT_DRAWN = (
    "Figures: none, they need pip install 'hornlens[figures]'; then the same command draws them, "
    "and asks no model again."
)
"""What people are told where there are none."""


def can_draw() -> bool:
    """Say whether matplotlib is installed; it is not imported for that."""
    return find_spec("matplotlib") is not None
