"""The log of the library: what happens inside a run that is neither a result nor an error.

Retries of calls, damaged answers that are asked again, limits that are reached, workers that are
replaced, models that are loaded. Nothing is shown unless somebody asks for it, as with any library:
by `set_verbosity`, or by handlers of one's own on the logger "hornlens" of Python's `logging`.

No prompt is ever logged, and every line is cleared of keys and passwords.

>>> from hornlens.logging import get_verbosity, set_verbosity
>>> set_verbosity("info")  # retries, model loads, limits: on standard error
>>> get_verbosity()
'info'
>>> set_verbosity("off")
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Literal, TypeAlias, get_args

from hornlens.redaction import without_known

__all__ = ["Verbosity", "get_verbosity", "set_verbosity"]

Verbosity: TypeAlias = Literal["debug", "info", "warning", "error", "off"]
"""From which level on the log is shown."""
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_KEYS = re.compile(r"\b(?:sk|key|pk|xai|gsk|hf_|AIza)[-_A-Za-z0-9*]{8,}")
"""What looks like somebody's key, or most of one."""
_PASSWORDS = re.compile(r"(?<=://)[^/\s@]+@")
"""The user and the password in an address."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def set_verbosity(level: Verbosity) -> None:
    """Show the log on standard error, from a level on.

    Args:
        level: "debug", "info", "warning" or "error"; "off" shows nothing, as at the start.

    Raises:
        ValueError: if there is no such level.

    >>> set_verbosity("loud")
    Traceback (most recent call last):
    ValueError: the level must be one of debug, info, warning, error, off, not 'loud'
    """
    if level not in get_args(Verbosity):
        raise ValueError(
            f"the level must be one of {', '.join(get_args(Verbosity))}, not {level!r}"
        )
    _ROOT.removeHandler(_SHOWN)
    _ROOT.setLevel(_LEVELS.get(level, logging.NOTSET))
    _ROOT.propagate = level == "off"  # else handlers of the root would show it once more
    if level != "off":
        _ROOT.addHandler(_SHOWN)


def get_verbosity() -> Verbosity:
    """Return from which level on the log is shown."""
    if _SHOWN not in _ROOT.handlers:
        return "off"
    names: dict[int, Verbosity] = {number: name for name, number in _LEVELS.items()}  # type: ignore[misc]
    return names.get(_ROOT.level, "debug")


def get_logger(name: str) -> logging.Logger:
    """Return the logger of one of our modules; all that it is given is cleared of secrets.

    Args:
        name: The module, as its `__name__` says.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_cleared)
    return logger


def without_secrets(text: str, *secrets: str) -> str:
    """Return text without these secrets and those of the environment, and what looks like one."""
    return _PASSWORDS.sub("…@", _KEYS.sub("…", without_known(text, *secrets)))


def _cleared(record: logging.LogRecord) -> bool:
    """Make a record one line without secrets.

    Here and not in a handler: those of others get it, too. A traceback is left out: its lines hold
    whatever the libraries below were given.
    """
    record.msg = _CONTROLS.sub(" ", without_secrets(record.getMessage()))
    record.args, record.exc_info, record.exc_text, record.stack_info = None, None, None, None
    return True


class _StandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is standard error at the time: notebooks and tests replace it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter("hornlens: %(levelname)s: %(message)s"))

    @property
    def stream(self) -> object:
        return sys.stderr


_ROOT = logging.getLogger("hornlens")
_ROOT.addHandler(logging.NullHandler())
_SHOWN = _StandardError()
