"""Recorded answers as a model, so that an audit can be repeated without the model itself.

A CSV file with a column `prompt` and one column for each candidate word, holding log-probabilities;
or, where a model named a word instead, with its number in a column `[MASK]`.
`hornlens extract` writes one beside its results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import UNENCODABLE
from hornlens.formats.scorefiles import Recorded, parse_scores
from hornlens.models.protocol import Answer, ModelError


class TableModel:
    """Looks prompts up in a file."""

    def __init__(self, path: Path):
        """Keep the path; nothing is read yet."""
        self.path = path
        # A path may hold what no text can, and the name goes into stores and files.
        self.name = f"table/{path}".encode("utf-8", UNENCODABLE).decode("utf-8")
        self._recorded: Recorded | None = None

    def check(self, candidates: Sequence[str]) -> None:
        """Read the file; every candidate must have a column."""
        recorded = self._read()
        known = set(recorded.words)
        for word in candidates:
            if word not in known:
                raise ModelError(
                    f"{self.path}:1: no column for the candidate {word!r} "
                    f"(there are: {', '.join(recorded.words)})"
                )
        self._recorded = recorded

    def identity(self) -> str:
        """Return the hash of the file's contents."""
        return f"table:{hashlib.sha256(self._bytes()).hexdigest()}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Look every prompt up."""
        if self._recorded is None:
            self.check(candidates)
        yield [(index, self._answer(prompt, candidates)) for index, prompt in enumerate(prompts)]

    def _answer(self, prompt: str, candidates: Sequence[str]) -> Answer:
        assert self._recorded is not None
        named, scores = self._recorded.named, self._recorded.scored.get(prompt)
        if scores is None:
            raise ModelError(f"{self.path}: has no scores for the prompt {prompt!r}")
        if named is not None and not scores:
            if prompt not in named:
                return Answer(outcome="none")
            if named[prompt] not in candidates:
                return Answer(outcome="other")
            return Answer(named=candidates.index(named[prompt]))
        if missing := next((word for word in candidates if word not in scores), None):
            raise ModelError(f"{self.path}: has no score of {missing!r} for {prompt!r}")
        return Answer(tuple(scores[word] for word in candidates))

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise ModelError(f"{self.path}: {(error.strerror or str(error)).lower()}") from None

    def _read(self) -> Recorded:
        try:
            return parse_scores(self._bytes().decode("utf-8-sig"), self.path)
        except UnicodeDecodeError:
            raise ModelError(f"{self.path}: is not UTF-8 text") from None
        except InputError as error:
            raise ModelError(str(error)) from None
