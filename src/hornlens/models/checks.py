"""What is refused of words, prompts and answers, whichever model it is: each in one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real

from hornlens.models.protocol import MASK, Answer, ModelError
from hornlens.redaction import whole_text


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


def checked_scores(scores: object, name: str) -> tuple[float, ...]:
    """Return scores as numbers; raise ModelError unless they are numbers in an order.

    A list, a tuple, an array or a series will do. A set has no order, a text is no row of scores,
    and neither a text nor a truth value is a number.
    """
    kind = type(scores).__name__
    ordered = isinstance(scores, Sequence) or (
        hasattr(scores, "__len__") and hasattr(scores, "__array__")
    )
    if not ordered or isinstance(scores, str | bytes | bytearray | memoryview):
        raise ModelError(
            f"model {name} gave a {kind} as scores: give a list with a number for each candidate, "
            "in their order, or a dict of numbers by candidate"
        )
    try:
        values: list[object] = list(scores)  # type: ignore[call-overload]
    except TypeError:  # an array without dimensions
        raise ModelError(f"model {name} gave one number as scores: one for each word") from None
    for value in values:
        if not _is_number(value):
            raise ModelError(
                f"model {name} gave {_shortly(value)} as a score, which is no real number"
            )
    return tuple(float(value) for value in values)  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    """Say whether a value is one real number, also as an array of another library holds it."""
    if isinstance(value, Real):
        return not isinstance(value, bool)
    if isinstance(value, str | bytes | complex) or not hasattr(value, "__float__"):
        return False
    dtype = str(getattr(value, "dtype", ""))  # of numpy, of torch: "float32", "torch.float32"
    return "float" in dtype or ("int" in dtype and getattr(value, "ndim", 1) == 0)


def _shortly(value: object) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 60 else f"{text[:59]}…"


def with_whole_characters(answer: Answer) -> Answer:
    """Return an answer without half characters (lone surrogates): no file can hold them."""
    replies = tuple(
        replace(
            reply,
            text=whole_text(reply.text),
            finish=whole_text(reply.finish),
            fingerprint=whole_text(reply.fingerprint),
            how=whole_text(reply.how),
            reading=whole_text(reply.reading),
        )
        for reply in answer.replies
    )
    return answer._replace(
        replies=replies,
        first=tuple((whole_text(word), share) for word, share in answer.first),
        unknown=tuple(map(whole_text, answer.unknown)),
    )


def check_answer(answer: Answer, prompt: str, candidates: Sequence[str], name: str) -> None:
    """Raise ModelError for what is no answer: the wrong length, no numbers, no such candidate.

    Whoever asks a model calls this, so models need not. A score of -inf is a probability of 0.
    """
    named = answer.named
    if named is not None:
        if answer.scores != () or answer.outcome:
            raise ModelError(f"model {name} named a candidate and gave scores or an outcome, too")
        if type(named) is bool or not isinstance(named, int) or not 0 <= named < len(candidates):
            raise ModelError(
                f"model {name} must name a candidate by its place, an int from 0 to "
                f"{len(candidates) - 1}, not {named!r}, in the prompt {prompt!r}"
            )
        return
    if isinstance(answer.outcome, str) and answer.outcome and answer.scores == ():
        return
    checked_scores(answer.scores, name)
    if len(answer.scores) != len(candidates):
        raise ModelError(
            f"model {name} gave {len(answer.scores)} scores for {len(candidates)} candidates"
        )
    for word, score in zip(candidates, answer.scores, strict=True):
        if math.isnan(score) or score == math.inf:
            raise ModelError(
                f"model {name} scored {word!r} as {score} in the prompt {prompt!r}: not finite"
            )
