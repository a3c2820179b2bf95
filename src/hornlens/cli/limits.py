"""What the command line says of a run that was ended early."""

from __future__ import annotations

from hornlens.limits import Limits

DONE, INTERRUPTED = 0, 130


def exit_code(limits: Limits) -> int:
    """Return 130 if somebody ended the run; a limit that was asked for is no failure."""
    return INTERRUPTED if limits.reason == "interrupt" else DONE
