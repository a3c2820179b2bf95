"""What is refused of words, prompts and answers, whichever model it is: each in one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hornlens.models.protocol import MASK, Answer, ModelError


def check_prompts(name: str, prompts: Iterable[str]) -> None:
    """Raise ModelError unless every prompt has the mask once."""
    for prompt in prompts:
        if (times := prompt.count(MASK)) != 1:
            raise ModelError(f"{name}: a prompt must contain {MASK} once, not {times}x: {prompt!r}")


def check_words(name: str, candidates: Sequence[str]) -> None:
    """Raise ModelError for words that no model can score: none, empty, twice, or with the mask."""
    if not candidates:
        raise ModelError(f"{name}: no candidate words")
    for index, word in enumerate(candidates):
        if not word.strip() or word != word.strip():
            raise ModelError(f"{name}: the candidate {word!r} is empty or has space around it")
        if MASK in word:
            raise ModelError(f"{name}: the candidate {word!r} contains {MASK}")
        if word in candidates[:index]:
            raise ModelError(f"{name}: the candidate {word!r} is there twice")


def check_length(name: str, prompt: str, tokens: int, longest: int) -> None:
    """Raise ModelError for a prompt that the model would have to cut."""
    if tokens > longest:
        begin = prompt if len(prompt) <= 80 else f"{prompt[:77]}..."
        raise ModelError(f"{name}: takes {longest} tokens at most, not {tokens}: {begin!r}")


def check_answer(answer: Answer, prompt: str, candidates: Sequence[str], name: str) -> None:
    """Raise ModelError for what is no answer: the wrong length, no numbers, no such candidate.

    Whoever asks a model calls this, so models need not. A score of -inf is a probability of 0.
    """
    named = answer.named
    if named is not None:
        if answer.scores or answer.outcome:
            raise ModelError(f"model {name} named a candidate and gave scores or an outcome, too")
        if not isinstance(named, int) or not 0 <= named < len(candidates):
            raise ModelError(
                f"model {name} must name a candidate by its place, an int from 0 to "
                f"{len(candidates) - 1}, not {named!r}, in the prompt {prompt!r}"
            )
        return
    if answer.outcome and not answer.scores:
        return
    if len(answer.scores) != len(candidates):
        raise ModelError(
            f"model {name} gave {len(answer.scores)} scores for {len(candidates)} candidates"
        )
    for word, score in zip(candidates, answer.scores, strict=True):
        if math.isnan(score) or score == math.inf:
            raise ModelError(
                f"model {name} scored {word!r} as {score} in the prompt {prompt!r}: not finite"
            )
