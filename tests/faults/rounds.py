"""How many rounds an attack has."""

import os
from itertools import product
from typing import Any


def rounds(short: int, long: int) -> int:
    """Return `short`; or `long` where HORNLENS_FAULTS says so, as `make test-faults` does."""
    return long if os.environ.get("HORNLENS_FAULTS") == "long" else short


def combined(*choices: Any) -> list[tuple[Any, ...]]:
    """Return all combinations of choices; the short version has each of the first ones once.

    The others take turns, so that each of them comes up, and the pairs of them, too.
    """
    if rounds(0, 1):
        return [*product(*choices)]
    first, *others = map(list, choices)
    turns = [*product(*others)]
    return [(one, *turns[number % len(turns)]) for number, one in enumerate(first)]
