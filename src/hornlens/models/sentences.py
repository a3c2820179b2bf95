"""A prompt as a causal model reads it, a sentence for each candidate, and what it then answers.

The words that the model itself would put first are the next tokens at the label's place, and the
candidates' share is the probability that the next tokens are those of one of them. Neither is known
where the tokens before that place are not the same for all candidates, or there are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hornlens.models.checkpoint import Checkpoint
from hornlens.models.checks import check_length
from hornlens.models.protocol import MASK, Answer, FirstWords
from hornlens.models.words import unknown_in


@dataclass(frozen=True)
class Sentences:
    """A prompt with each candidate in the mask's place, as the model reads it."""

    tokens: list[list[int]]
    ends: list[int]
    """Where each candidate's own tokens end; nothing if it is not known."""
    place: int
    """Where they begin, the same for all; 0 if that is not so."""
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Likelihood:
    """The log-probabilities of a sentence's tokens from the second on, and first words if asked."""

    tokens: list[float]
    first: FirstWords = ()


READING = (
    "Each candidate is put in its place, and the log-probabilities of the sentence’s tokens are "
    "added up, each given the tokens before it. A candidate’s score is its share of these "
    "likelihoods; the answer is the candidate with the highest score."
)
"""How the likelihoods of sentences become an answer."""


def texts_of(prompt: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return a prompt with each candidate in the mask's place: what is scored."""
    return tuple(prompt.replace(MASK, word) for word in candidates)


def read_sentences(
    name: str, loaded: Checkpoint, prompts: Sequence[str], candidates: Sequence[str]
) -> list[Sentences]:
    """Return each prompt with each candidate in the mask's place; ModelError for too long ones."""
    if not prompts:
        return []
    tokenizer = loaded.tokenizer
    first = tokenizer.bos_token_id
    if first is None:
        first = tokenizer.eos_token_id
    start = [] if first is None else [first]
    texts = [text for prompt in prompts for text in texts_of(prompt, candidates)]
    fast = tokenizer.is_fast  # only such a tokenizer tells where its tokens are in the text
    code = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=fast)
    longest, width = loaded.longest, len(candidates)
    sentences = []
    for index, prompt in enumerate(prompts):
        these = slice(index * width, (index + 1) * width)
        read: list[list[int]] = code["input_ids"][these]
        row = [start + tokens for tokens in read]
        check_length(name, prompt, max(map(len, row)), longest)
        place, ends = 0, []
        if fast:
            at = prompt.index(MASK)
            # a space before a word is part of its first token, or a token of its own
            since = len(prompt[:at].rstrip())
            spans = [
                _overlap(offsets, since, at + len(word))
                for offsets, word in zip(code["offset_mapping"][these], candidates, strict=True)
            ]
            ends = [len(start) + end for _, end in spans]
            begin = len(start) + spans[0][0]
            if all(
                len(start) + b == begin and r[:begin] == row[0][:begin]
                for (b, _), r in zip(spans, row, strict=True)
            ):
                place = begin
        unknown = unknown_in(texts[these.start], read[0], tokenizer)
        sentences.append(Sentences(row, ends, place, unknown))
    return sentences


def _overlap(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the first token, and the one after the last, that has some of a stretch of text."""
    inside = [i for i, (begins, ends) in enumerate(offsets) if ends > start and begins < end]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def answer_of(sentences: Sentences, likelihoods: Sequence[Likelihood]) -> Answer:
    """Return the answer to a prompt, given the likelihood of each of its sentences."""
    scores = log_softmax([math.fsum(each.tokens) for each in likelihoods])
    begin = sentences.place
    if not begin:
        return Answer(scores, unknown=sentences.unknown)
    rows = zip(sentences.tokens, sentences.ends, strict=True)
    words = [tuple(tokens[begin:end]) for tokens, end in rows]
    # Log-probabilities of tokens start with the second. A word that begins with another candidate
    # ("he's" with "he") adds nothing to its share.
    shares = [
        math.exp(math.fsum(each.tokens[begin - 1 : end - 1]))
        for each, end, word in zip(likelihoods, sentences.ends, words, strict=True)
        if not any(word[:length] in words for length in range(1, len(word)))
    ]
    share = min(math.fsum(shares), 1.0)
    return Answer(scores, None, likelihoods[0].first, share, sentences.unknown)


def log_softmax(values: Sequence[float]) -> tuple[float, ...]:
    """Return the log-probabilities that are proportional to some, and add up to 1."""
    top = max(values)
    total = top + math.log(math.fsum(math.exp(value - top) for value in values))
    return tuple(min(value - total, 0.0) for value in values)
