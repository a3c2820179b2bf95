"""Recorded scores as a model, so that an audit can be repeated without the model itself.

A CSV file with a column `prompt` and one column for each candidate word, holding log-probabilities.
`hornlens extract` writes one beside its results.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from hornlens.models.protocol import Answer, ModelError


class TableModel:
    """Looks prompts up in a file."""

    def __init__(self, path: Path):
        """Keep the path; nothing is read yet."""
        self.path, self.name = path, f"table/{path}"
        self._rows: dict[str, dict[str, float]] | None = None

    def check(self, candidates: Sequence[str]) -> None:
        """Read the file; every candidate must have a column."""
        rows, columns = self._read()
        known = set(columns)
        for word in candidates:
            if word not in known:
                raise ModelError(
                    f"{self.path}:1: no column for the candidate {word!r} "
                    f"(there are: {', '.join(c for c in columns if c != 'prompt')})"
                )
        self._rows = rows

    def identity(self) -> str:
        """Return the hash of the file's contents."""
        return f"table:{hashlib.sha256(self._bytes()).hexdigest()}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Look every prompt up."""
        if self._rows is None:
            self.check(candidates)
        assert self._rows is not None
        answers = []
        for index, prompt in enumerate(prompts):
            row = self._rows.get(prompt)
            if row is None:
                raise ModelError(f"{self.path}: has no scores for the prompt {prompt!r}")
            if missing := next((word for word in candidates if word not in row), None):
                raise ModelError(f"{self.path}: has no score of {missing!r} for {prompt!r}")
            answers.append((index, Answer(tuple(row[word] for word in candidates))))
        yield answers

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise ModelError(f"{self.path}: {(error.strerror or str(error)).lower()}") from None

    def _read(self) -> tuple[dict[str, dict[str, float]], list[str]]:
        try:
            text = self._bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ModelError(f"{self.path}: is not UTF-8 text") from None
        reader = csv.DictReader(text.splitlines())
        columns = list(reader.fieldnames or [])
        if "prompt" not in columns:
            raise ModelError(f"{self.path}:1: needs a column 'prompt' and one for each candidate")
        rows: dict[str, dict[str, float]] = {}
        for row in reader:
            try:
                scores = {c: float(row[c]) for c in columns if c != "prompt" and row[c] != ""}
            except (TypeError, ValueError):
                raise ModelError(f"{self.path}:{reader.line_num}: scores must be numbers") from None
            if any(math.isnan(score) for score in scores.values()):
                raise ModelError(f"{self.path}:{reader.line_num}: a score is not a number (NaN)")
            if rows.setdefault(row["prompt"], scores) != scores:
                raise ModelError(f"{self.path}:{reader.line_num}: a second row for this prompt")
        return rows, columns
