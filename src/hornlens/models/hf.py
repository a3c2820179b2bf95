"""Masked language models through transformers: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA, ….

A candidate is scored by its log-probability, over the whole vocabulary, at the mask. So it must be
one token, and which one depends on where the mask stands: a RoBERTa knows "He" (at the start of
the text) and "ĠHe" (after a space; its mask token swallows that space), an uncased BERT only "he".
We leave this to the tokenizer: it is given the prompt with the word in the mask's place, and
what it makes of the word there is the word's token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hornlens.formats.sent import Sent
from hornlens.models.checkpoint import (
    Checkpoint,
    Source,
    finite,
    hash_anew,
    load,
    locate,
    require,
)
from hornlens.models.checks import check_length, check_prompts, check_words
from hornlens.models.protocol import MASK, Answer, ModelError, ModelOptions, Remember
from hornlens.models.words import MASKED, first_words, unknown_in

SCORER_VERSION = 1
"""Part of the identity: raised whenever the same weights would get other scores."""

TOKENS_A_BATCH = 2048
PROMPTS_A_BATCH = 64
FORMS = (MASK, f"a {MASK}")
"""The positions a word can be in: at the start of the text, and after a space."""


@dataclass(frozen=True)
class Encoded:
    """A prompt as the model reads it: its tokens, where the mask is, and the candidates' tokens."""

    index: int
    ids: list[int]
    row: int
    words: list[int]
    unknown: tuple[str, ...]


class HfMaskedModel:
    """A masked language model from a folder or the Hugging Face hub."""

    def __init__(
        self, name_or_path: str, revision: str | None = None, options: ModelOptions | None = None
    ):
        """Keep the settings; nothing is loaded yet."""
        self.name_or_path, self.revision = str(name_or_path), revision
        self.options = options or ModelOptions()
        self.name = f"hf/{name_or_path}" + (f"@{revision}" if revision else "")
        self.remember: Remember = hash_anew
        self._loaded: Checkpoint | None = None
        self._head_of_mask_only = False

    def check(self, candidates: Sequence[str]) -> None:
        """Load the model; every word must be one known token, in one position at least.

        Whether that is the position in which a prompt needs it, `score` checks before it asks.
        """
        check_words(self.name, candidates)
        tokenizer = self._checkpoint().tokenizer
        for word in candidates:
            troubles = []
            for form in FORMS:
                mask, filled = self._tokens([_put(form, tokenizer.mask_token), _put(form, word)])
                outcome = self._word(mask, filled, word, form)
                if isinstance(outcome, int):
                    break
                troubles.append(outcome)
            else:
                raise ModelError(troubles[0])

    def identity(self) -> str:
        """Return the files' hash (or the hub's commit), the dtype and the scorer's version."""
        dtype = self._source.dtype(self.options)
        return f"hf-masked-{SCORER_VERSION}:{self._source.content}:{dtype}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer the prompts, shortest first.

        Before the model is run once, every word is resolved in every prompt, or ModelError raised.
        """
        return self._answers(self._in_order(prompts, candidates))

    def batches(self, prompts: Sequence[str], candidates: Sequence[str]) -> list[list[int]]:
        """Return which prompts are run together."""
        cut = self._cut(self._in_order(prompts, candidates))
        return [[each.index for each in batch] for batch in cut]

    def sent(self, prompt: str, candidates: Sequence[str], answer: Answer) -> Sent:
        """Return the sentence that is scored, with the model's own mask token.

        The tokenizer need not be loaded for that; where its files do not name the token, [MASK]
        stands for it.
        """
        text = _put(prompt, self._source.mask or MASK)
        return Sent(self.name, prompt, tuple(candidates), MASKED, texts=(text,))

    def _in_order(self, prompts: Sequence[str], candidates: Sequence[str]) -> list[Encoded]:
        check_words(self.name, candidates)
        check_prompts(self.name, prompts)
        return sorted(self._encode(prompts, candidates), key=lambda e: len(e.ids))

    def _cut(self, encoded: list[Encoded]) -> list[list[Encoded]]:
        longest = max((len(e.ids) for e in encoded), default=1)
        fitting = max(1, min(PROMPTS_A_BATCH, TOKENS_A_BATCH // longest))
        size = self.options.batch_size or fitting
        return [encoded[start : start + size] for start in range(0, len(encoded), size)]

    def _answers(self, encoded: list[Encoded]) -> Iterator[list[tuple[int, Answer]]]:
        torch = require("torch")
        for batch in self._cut(encoded):
            with torch.inference_mode():
                logits = self._mask_logits([e.ids for e in batch], [e.row for e in batch]).float()
                words = torch.tensor([e.words for e in batch], device=logits.device)
                values = logits.gather(1, words)
                scores = finite(values - logits.logsumexp(1, keepdim=True)).tolist()
                ranks = [(logits > value[:, None]).sum(1).tolist() for value in values.T]
                first = first_words(logits, self._checkpoint().tokenizer)
            answers = []
            for position, each in enumerate(batch):
                # rounding can put a certain word's log-probability a hair above 0
                row = tuple(min(score, 0.0) for score in scores[position])
                ranked = tuple(rank[position] for rank in ranks)
                share = min(math.fsum(map(math.exp, row)), 1.0)
                answer = Answer(row, ranked, first[position], share, each.unknown)
                answers.append((each.index, answer))
            yield answers

    def _mask_logits(self, ids: list[list[int]], rows: list[int]) -> Any:
        """Return the logits at the mask, a row for each prompt.

        The vocabulary head is most of a small model's work, and only the mask needs it. All
        families have it behind `base_model`, so a hook there hands on the mask's row alone.
        """
        torch = require("torch")
        loaded = self._checkpoint()
        model, tokenizer = loaded.model, loaded.tokenizer
        length = max(len(row) for row in ids)
        pad = tokenizer.pad_token_id or 0
        tokens = torch.tensor([row + [pad] * (length - len(row)) for row in ids])
        real = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in ids])
        inputs = {"input_ids": tokens.to(model.device), "attention_mask": real.to(model.device)}
        which, at = torch.arange(len(ids)), torch.tensor(rows)
        if not self._head_of_mask_only:
            return model(**inputs).logits[which, at]

        def keep_mask(module: Any, args: Any, output: Any) -> Any:
            output.last_hidden_state = output.last_hidden_state[which, at].unsqueeze(1)
            return output

        hook = model.base_model.register_forward_hook(keep_mask)
        try:
            return model(**inputs).logits[:, 0]
        finally:
            hook.remove()

    @cached_property
    def _source(self) -> Source:
        return locate(self.name_or_path, self.revision, remember=self.remember)

    def _checkpoint(self) -> Checkpoint:
        if self._loaded is None:
            loaded = load(
                self._source, "AutoModelForMaskedLM", "masked language model", self.options
            )
            if loaded.tokenizer.mask_token is None:
                raise ModelError(f"{self.name}: its tokenizer has no mask token")
            self._loaded = loaded
            self._head_of_mask_only = self._hook_works()
        return self._loaded

    def _hook_works(self) -> bool:
        """Compare both ways to the logits once: an unknown family may be built otherwise."""
        torch = require("torch")
        assert self._loaded is not None
        model, mask = self._loaded.model, self._loaded.tokenizer.mask_token_id
        if model.base_model is model:
            return False
        vocabulary = model.config.get_text_config().vocab_size
        ids = [[mask, 7 % vocabulary], [11 % vocabulary, 5 % vocabulary, mask, 8 % vocabulary]]
        tolerance = 1e-4 if self._loaded.dtype == "float32" else 5e-2
        with torch.inference_mode():
            full = self._mask_logits(ids, [0, 2])
            try:
                self._head_of_mask_only = True
                short = self._mask_logits(ids, [0, 2])
            except Exception:  # whatever an unknown architecture does with a shorter output
                return False
            finally:
                self._head_of_mask_only = False
        return short.shape == full.shape and bool(
            torch.allclose(short, full, atol=tolerance, rtol=tolerance, equal_nan=True)
        )

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        tokens: list[list[int]] = self._checkpoint().tokenizer(texts)["input_ids"]
        return tokens

    def _encode(self, prompts: Sequence[str], candidates: Sequence[str]) -> Iterator[Encoded]:
        if not prompts:
            return
        tokenizer, longest = self._checkpoint().tokenizer, self._checkpoint().longest
        masked = self._tokens([_put(prompt, tokenizer.mask_token) for prompt in prompts])
        filled = [self._tokens([_put(prompt, word) for prompt in prompts]) for word in candidates]
        for index, (prompt, ids) in enumerate(zip(prompts, masked, strict=True)):
            check_length(self.name, prompt, len(ids), longest)
            words: list[int] = []
            for word, column in zip(candidates, filled, strict=True):
                outcome = self._word(ids, column[index], word, prompt)
                if isinstance(outcome, str):
                    raise ModelError(outcome)
                if outcome in words:
                    twin = candidates[words.index(outcome)]
                    raise ModelError(
                        f"{self.name}: {twin!r} and {word!r} are one and the same token"
                    )
                words.append(outcome)
            unknown = unknown_in(_put(prompt, tokenizer.mask_token), ids, tokenizer)
            yield Encoded(index, ids, ids.index(tokenizer.mask_token_id), words, unknown)

    def _word(self, masked: list[int], filled: list[int], word: str, prompt: str) -> int | str:
        """Return the token that stands for the word in the mask's place, or what is wrong with it.

        It is what is left of the filled-in text between what both texts begin and end with.
        """
        tokenizer = self._checkpoint().tokenizer
        if masked.count(tokenizer.mask_token_id) != 1:
            return f"{self.name}: the model's own {tokenizer.mask_token} stands in {prompt!r}"
        row = masked.index(tokenizer.mask_token_id)
        before = _common(masked[:row], filled)
        after = _common(masked[:row:-1], filled[: before - 1 if before else None : -1])
        tokens = filled[before : len(filled) - after]
        if tokenizer.unk_token_id is not None and tokenizer.unk_token_id in tokens:
            return f"{self.name}: {word!r} is not in the model's vocabulary"
        if len(tokens) != 1:
            where = "at the start of the text" if prompt.startswith(MASK) else "in its place"
            pieces = " + ".join(tokenizer.convert_ids_to_tokens(tokens)) or "nothing"
            return (
                f"{self.name}: {word!r} {where} is {len(tokens)} tokens ({pieces}), but a masked "
                f"model fills in exactly one: {prompt!r}"
            )
        return tokens[0]


def _put(prompt: str, word: str) -> str:
    return prompt.replace(MASK, word)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the length of the longest common prefix."""
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
