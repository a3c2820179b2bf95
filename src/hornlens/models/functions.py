"""Any callable as a model: it gets a prompt and returns scores, or names a candidate word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from hornlens.models.checks import check_prompts, checked_scores
from hornlens.models.protocol import Answer, ModelError

Given: TypeAlias = Sequence[float] | Mapping[str, float] | str | None
"""What a function may return for a prompt."""


class FunctionModel:
    """Wraps `call(prompt, candidates)`, which returns scores or the candidate that it names.

    Scores are a sequence or a mapping. A text that is no candidate is "something else", and None
    is no answer. Its answers cannot be told from another function's, so they are not kept on disk
    unless it is given an `identity`. `sampled`: what it names, or scores highest, is a sample.

    >>> model = FunctionModel(lambda prompt, words: "He" if "pilot" in prompt else "nobody")
    >>> [[(_, answer)]] = model.score(["[MASK] is a pilot."], ["She", "He"])
    >>> answer.named, answer.scores
    (1, ())
    """

    def __init__(
        self,
        call: Callable[[str, Sequence[str]], Given],
        name: str = "function",
        identity: str | None = None,
        sampled: bool = False,
    ):
        """Keep the function; nothing is called yet."""
        self.call, self.name, self.sampled = call, name, sampled
        self._identity = identity

    def check(self, candidates: Sequence[str]) -> None:
        """Accept any words: a function knows no vocabulary."""

    def identity(self) -> str | None:
        """Return the given identity, or None if there is none."""
        return None if self._identity is None else f"function:{self._identity}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Call the function, prompt by prompt."""
        check_prompts(self.name, prompts)
        for index, prompt in enumerate(prompts):
            yield [(index, _answer(self.call(prompt, candidates), candidates, self.name))]


def _answer(given: Given, candidates: Sequence[str], name: str) -> Answer:
    if given is None:
        return Answer(outcome="none")
    if isinstance(given, str):
        known = given in candidates
        return Answer(named=candidates.index(given)) if known else Answer(outcome="other")
    if isinstance(given, Mapping):
        missing = [word for word in candidates if word not in given]
        if missing:
            raise ModelError(f"model {name} gave no score for {missing[0]!r}: one for each word")
        given = [given[word] for word in candidates]
    return Answer(checked_scores(given, name))
