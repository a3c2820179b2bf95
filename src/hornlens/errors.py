"""The errors that are meant for people: one line, saying what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class HornlensError(Exception):
    """Base of every error that the command line shows as one line (exit code 2).

    >>> from hornlens import Policy
    >>> Policy(margin=-1)
    Traceback (most recent call last):
    hornlens.errors.HornlensError: margin must be 0 or more, not -1
    """


class InputError(HornlensError):
    """Bad input, with the place where it was found.

    >>> InputError("a second value 'nurse'", "mine.yaml", 12)
    InputError("mine.yaml:12: a second value 'nurse'")
    """

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None):
        """Say what is wrong; `path` and `line` are put in front, as compilers do."""
        self.message, self.path, self.line = message, path, line
        place = "" if path is None else f"{path}:" if line is None else f"{path}:{line}:"
        super().__init__(f"{place} {message}" if place else message)
