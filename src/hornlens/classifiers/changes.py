"""What would have to change in a row, as it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Status = Literal["already", "proved", "found", "impossible", "not found"]


@dataclass(frozen=True)
class Recourse:
    """The change of a row that makes the classifier say what is wanted; true if there is one.

    `status` is "proved" if no smaller change does, "found" if that is not known, "impossible" if no
    change does (proved), "not found", or "already" if nothing need be changed.

    >>> import numpy as np
    >>> from hornlens import recourse
    >>> X = np.array([["a"], ["b"]], dtype=object)
    >>> answer = recourse(lambda rows: rows[:, 0] == "b", ["a"], "True", X)
    >>> answer.status, answer.changes
    ('proved', {'x0': 'b'})
    """

    row: Mapping[str, Any]
    said: str
    to: str
    status: Status
    sentence: str
    changes: Mapping[str, Any]
    """The new values of the columns that are changed."""
    changed: Mapping[str, Any] | None
    """The whole row with these values; None if there is none."""
    distance: float | None
    """The sum of the changes: of numbers in interquartile ranges of X, of other values 1 each."""

    @property
    def proved(self) -> bool:
        """Whether it is proved that nothing smaller will do."""
        return self.status in ("already", "proved", "impossible")

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "status": self.status,
            "proved": self.proved,
            "said": self.said,
            "to": self.to,
            "changes": dict(self.changes),
            "changed": None if self.changed is None else dict(self.changed),
            "distance": self.distance,
            "sentence": self.sentence,
        }

    def __bool__(self) -> bool:
        """Return whether there is a change, or none is needed."""
        return self.changed is not None

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence


def answer(
    row: Mapping[str, Any],
    said: str,
    to: str,
    status: Status,
    sentence: str,
    changed: Mapping[str, Any] | None = None,
    distance: float | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Recourse:
    """Return what was found, with the row as it would be."""
    return Recourse(row, said, to, status, sentence, changes or {}, changed, distance)


def python_value(value: Any) -> Any:
    """Return a value as Python itself has it."""
    return value.item() if isinstance(value, np.generic) else value


def text_of(value: Any) -> str:
    """Return a value in few digits, if they are all that it has."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def comma_list(texts: Sequence[str]) -> str:
    """Return texts with commas, and an "and" before the last."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
