"""Any callable as a model: it gets a prompt and returns a score for each candidate word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from hornlens.models.protocol import Answer, ModelError


class FunctionModel:
    """Wraps `call(prompt, candidates)`, which returns a sequence or a mapping of scores.

    Its answers cannot be told from another function's, so they are not kept on disk unless it is
    given an `identity`.
    """

    def __init__(
        self,
        call: Callable[[str, Sequence[str]], Sequence[float] | Mapping[str, float]],
        name: str = "function",
        identity: str | None = None,
    ):
        """Keep the function; nothing is called yet."""
        self.call, self.name = call, name
        self._identity = identity

    def check(self, candidates: Sequence[str]) -> None:
        """Accept any words: a function knows no vocabulary."""

    @property
    def may_be_cached(self) -> bool:
        """Whether its answers may be kept on disk."""
        return self._identity is not None

    def identity(self) -> str:
        """Return the given identity."""
        return f"function:{self._identity or self.name}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Call the function, prompt by prompt."""
        for index, prompt in enumerate(prompts):
            given = self.call(prompt, candidates)
            if isinstance(given, Mapping):
                given = [given[word] for word in candidates]
            scores = tuple(float(score) for score in given)
            if len(scores) != len(candidates):
                raise ModelError(
                    f"the function gave {len(scores)} scores for {len(candidates)} candidates"
                )
            yield [(index, Answer(scores))]


def check_answer(answer: Answer, prompt: str, candidates: Sequence[str], name: str) -> None:
    """Refuse an answer that cannot be compared: the wrong length, or not a number."""
    if len(answer.scores) != len(candidates):
        raise ModelError(
            f"model {name} gave {len(answer.scores)} scores for {len(candidates)} candidates"
        )
    for word, score in zip(candidates, answer.scores, strict=True):
        if math.isnan(score) or score == math.inf:
            raise ModelError(f"model {name} scored {word!r} as {score} in the prompt {prompt!r}")
