"""Any callable as a model: it gets a prompt and returns a score for each candidate word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from hornlens.models.checks import check_prompts
from hornlens.models.protocol import Answer


class FunctionModel:
    """Wraps `call(prompt, candidates)`, which returns a sequence or a mapping of scores.

    Its answers cannot be told from another function's, so they are not kept on disk unless it is
    given an `identity`. `sampled`: the best score is what it happens to say this time.
    """

    def __init__(
        self,
        call: Callable[[str, Sequence[str]], Sequence[float] | Mapping[str, float]],
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
            given = self.call(prompt, candidates)
            if isinstance(given, Mapping):
                given = [given[word] for word in candidates]
            yield [(index, Answer(tuple(float(score) for score in given)))]
