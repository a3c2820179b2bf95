"""How many rounds an attack has."""

import os


def rounds(short: int, long: int) -> int:
    """Return `short`; or `long` where HORNLENS_FAULTS says so, as `make test-faults` does."""
    return long if os.environ.get("HORNLENS_FAULTS") == "long" else short
