"""Recorded scores as a model, so that an audit can be repeated without the model itself.

A CSV file with a column `prompt` and one column for each candidate word, holding log-probabilities.
`hornlens extract` writes one beside its results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import UNENCODABLE
from hornlens.formats.scorefiles import Scored, parse_scores
from hornlens.models.protocol import Answer, ModelError


class TableModel:
    """Looks prompts up in a file."""

    def __init__(self, path: Path):
        """Keep the path; nothing is read yet."""
        self.path = path
        # A path may hold what no text can, and the name goes into stores and files.
        self.name = f"table/{path}".encode("utf-8", UNENCODABLE).decode("utf-8")
        self._rows: Scored | None = None

    def check(self, candidates: Sequence[str]) -> None:
        """Read the file; every candidate must have a column."""
        rows, words = self._read()
        known = set(words)
        for word in candidates:
            if word not in known:
                raise ModelError(
                    f"{self.path}:1: no column for the candidate {word!r} "
                    f"(there are: {', '.join(words)})"
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

    def _read(self) -> tuple[Scored, list[str]]:
        try:
            words, rows = parse_scores(self._bytes().decode("utf-8-sig"), self.path)
        except UnicodeDecodeError:
            raise ModelError(f"{self.path}: is not UTF-8 text") from None
        except InputError as error:
            raise ModelError(str(error)) from None
        return rows, words
