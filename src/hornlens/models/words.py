"""Tokens as words: those a model would say first, and those of a text that it cannot read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hornlens.models.protocol import FirstWords

FIRST = 5
"""How many of a model's own first words are kept, as the paper's experiment did."""
MASKED = (
    "The sentence is read once, with the model’s own mask in the blank. A candidate’s score is its "
    "log-probability there, over the whole vocabulary; the answer is the candidate with the "
    "highest score."
)
"""How a masked model's scores become an answer."""


def first_words(logits: Any, tokenizer: Any) -> list[FirstWords]:
    """Return, for each row of logits over the vocabulary, the first words and probabilities."""
    values, tokens = logits.topk(min(FIRST, logits.shape[-1]), dim=-1)
    shares = (values - logits.logsumexp(-1, keepdim=True)).exp().clamp(max=1.0).tolist()
    rows: list[list[int]] = tokens.tolist()
    words = {token: _word_of(tokenizer, token) for token in {t for row in rows for t in row}}
    return [
        tuple((words[token], share) for token, share in zip(row, line, strict=True))
        for row, line in zip(rows, shares, strict=True)
    ]


def _word_of(tokenizer: Any, token: int) -> str:
    text = str(tokenizer.decode([token]))
    word = text.strip() or text
    if not word:  # a place of the vocabulary that no word has
        return f"token {token}"
    return word if word.isprintable() else word.encode("unicode_escape").decode()


def unknown_in(text: str, tokens: Sequence[int], tokenizer: Any) -> tuple[str, ...]:
    """Return the words of a text that a tokenizer reads as unknown, given what it makes of it."""
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown not in tokens:
        return ()
    if tokenizer.is_fast:
        code = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
        pairs = zip(code["input_ids"], code["offset_mapping"], strict=True)
        words = [text[start:end].strip() for token, (start, end) in pairs if token == unknown]
    else:
        words = [
            word
            for word in text.split()
            if unknown in tokenizer(word, add_special_tokens=False)["input_ids"]
        ]
    return tuple(dict.fromkeys(word for word in words if word))
