"""Causal language models through transformers: whole sentences, scored by their likelihood.

Each candidate is put in the mask's place, and the sentence's log-likelihood is the sum of its
tokens' log-probabilities, each given the ones before it. The first is given the tokenizer's
beginning-of-sequence token; where there is none, the end-of-sequence token, after which such models
saw texts begin; where there is none either, the first token is not scored. A candidate's score is
its share: the log-softmax of the sums over the candidates.

A probe's sentences begin alike, so they are laid out as a prefix tree, packed into one sequence in
which a token sees its own ancestors only (a tree-shaped attention mask, with positions by depth).
Every shared prefix is computed once. Models for which this does not give the plain way's numbers,
compared once after loading, get plain batches.
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
from hornlens.models.checks import check_prompts, check_words
from hornlens.models.protocol import Answer, FirstWords, ModelError, ModelOptions, Remember
from hornlens.models.sentences import (
    READING,
    Likelihood,
    Sentences,
    answer_of,
    read_sentences,
    texts_of,
)
from hornlens.models.trie import trie_of
from hornlens.models.words import first_words

SCORER_VERSION = 1
"""Part of the identity: raised whenever the same weights would get other scores."""

PROMPTS_A_BATCH = 128
FIRST_BATCH = 16
"""Prompts of the first one; then more and more, so that it is soon known how long all take."""
NODES_A_PACK = 512
SENTENCES_A_BATCH = 16
"""Without shared prefixes."""


@dataclass
class Work:
    """What a model has done so far, in tokens."""

    plain: int = 0
    """What the sentences would cost one by one."""
    nodes: int = 0
    """The distinct prefixes among them, over each whole call."""
    computed: int = 0
    """What went through the model, padding included."""


class CausalModel:
    """A causal language model from a folder, a GGUF file or the Hugging Face hub."""

    def __init__(
        self,
        name_or_path: str,
        revision: str | None = None,
        options: ModelOptions | None = None,
        gguf_file: str | None = None,
    ):
        """Keep the settings; nothing is loaded yet."""
        self.name_or_path, self.revision = str(name_or_path), revision
        self.gguf_file = gguf_file
        self.options = options or ModelOptions()
        self.name = f"causal/{name_or_path}" + (f"@{revision}" if revision else "")
        self.share_prefixes = True
        """Whether to; set to False by the check after loading where it does not work."""
        self.work = Work()
        self.remember: Remember = hash_anew
        self._loaded: Checkpoint | None = None

    def check(self, candidates: Sequence[str]) -> None:
        """Load the model; any word will do whose tokens it knows."""
        check_words(self.name, candidates)
        tokenizer = self._checkpoint().tokenizer
        for word, tokens in zip(candidates, self._tokens(list(candidates)), strict=True):
            if not tokens:
                raise ModelError(f"{self.name}: {word!r} is nothing to the model's tokenizer")
            if tokenizer.unk_token_id is not None and tokenizer.unk_token_id in tokens:
                raise ModelError(f"{self.name}: {word!r} is not in the model's vocabulary")

    def identity(self) -> str:
        """Return the files' hash (or the hub's commit), the dtype and the scorer's version."""
        dtype = self._source.dtype(self.options)
        return f"hf-causal-{SCORER_VERSION}:{self._source.content}:{dtype}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer the prompts, ordered so that those which begin alike are in one batch."""
        return self._answers(self._read(prompts, candidates))

    def batches(self, prompts: Sequence[str], candidates: Sequence[str]) -> list[list[int]]:
        """Return which prompts are run together."""
        return self._cut(self._read(prompts, candidates))

    def sent(self, prompt: str, candidates: Sequence[str], answer: Answer) -> Sent:
        """Return the sentences that are scored: the prompt with each candidate in it."""
        texts = texts_of(prompt, candidates)
        return Sent(self.name, prompt, tuple(candidates), READING, texts=texts)

    def _read(self, prompts: Sequence[str], candidates: Sequence[str]) -> list[Sentences]:
        check_words(self.name, candidates)
        check_prompts(self.name, prompts)
        return read_sentences(self.name, self._checkpoint(), prompts, candidates)

    def _cut(self, sentences: list[Sentences]) -> list[list[int]]:
        """Return the batches, by index: what could be one is one, more begin with smaller ones."""
        order = sorted(range(len(sentences)), key=lambda index: sentences[index].tokens)
        most = self.options.batch_size or PROMPTS_A_BATCH
        size = most if self.options.batch_size or len(order) <= most else FIRST_BATCH
        batches, start = [], 0
        while start < len(order):
            batches.append(order[start : start + size])
            start, size = start + size, min(2 * size, most)
        return batches

    def _answers(self, sentences: list[Sentences]) -> Iterator[list[tuple[int, Answer]]]:
        every = [sentence for row in sentences for sentence in row.tokens]
        self.work.plain += sum(len(sentence) - 1 for sentence in every)
        self.work.nodes += len(trie_of([sentence[:-1] for sentence in every]).tokens)
        share = self.share_prefixes and max(map(len, every), default=0) <= self._window()
        likelihoods_of = self._shared if share else self._plain
        for batch in self._cut(sentences):
            read = [sentence for index in batch for sentence in sentences[index].tokens]
            # a prompt's first words are asked for once, with its first candidate
            places = [
                0 if candidate else sentences[index].place
                for index in batch
                for candidate in range(len(sentences[index].tokens))
            ]
            likelihoods = iter(likelihoods_of(read, places))
            answers = []
            for index in batch:
                row = [next(likelihoods) for _ in sentences[index].tokens]
                answers.append((index, answer_of(sentences[index], row)))
            yield answers

    def _shared(
        self, sentences: list[list[int]], places: Sequence[int], size: int = NODES_A_PACK
    ) -> list[Likelihood]:
        """Return the sentences' likelihoods, each distinct prefix computed (about) once.

        With the first words at each place; 0, the sentence's own first place: they are not asked.
        """
        torch = require("torch")
        model, tokenizer = self._checkpoint().model, self._checkpoint().tokenizer
        # A sentence's last token is only predicted, never read.
        trie = trie_of([sentence[:-1] for sentence in sentences])
        wanted: list[dict[int, float]] = [{} for _ in trie.tokens]
        for sentence, path in zip(sentences, trie.paths, strict=True):
            for node, token in zip(path, sentence[1:], strict=True):
                wanted[node][token] = 0.0
        asked = [path[at - 1] if at else -1 for path, at in zip(trie.paths, places, strict=True)]
        first: dict[int, FirstWords] = {}
        for pack in trie.packs(size):
            nodes = pack.nodes
            place = {node: position for position, node in enumerate(nodes)}
            sees = torch.eye(len(nodes), dtype=torch.bool)
            for position, node in enumerate(nodes):
                if (parent := trie.parents[node]) >= 0:
                    sees[position] |= sees[place[parent]]
            # Additive, for eager attention takes no Boolean mask.
            mask = torch.zeros(sees.shape, dtype=model.dtype)
            mask.masked_fill_(~sees, torch.finfo(model.dtype).min)
            edges = [(place[node], token) for node in nodes[pack.known :] for token in wanted[node]]
            with torch.inference_mode():
                logits = model(
                    input_ids=torch.tensor([[trie.tokens[n] for n in nodes]], device=model.device),
                    position_ids=torch.tensor(
                        [[trie.depths[n] for n in nodes]], device=model.device
                    ),
                    attention_mask=mask[None, None].to(model.device),
                    use_cache=False,
                ).logits[0]
                self.work.computed += len(nodes)
                values = _log_probabilities(logits, edges)
                new = [node for node in dict.fromkeys(asked) if place.get(node, -1) >= pack.known]
                if new:
                    rows = logits[[place[node] for node in new]].float()
                    first.update(zip(new, first_words(rows, tokenizer), strict=True))
            for (position, token), value in zip(edges, values, strict=True):
                wanted[nodes[position]][token] = value
        return [
            Likelihood(
                [wanted[n][token] for n, token in zip(path, sentence[1:], strict=True)],
                first.get(node, ()),
            )
            for sentence, path, node in zip(sentences, trie.paths, asked, strict=True)
        ]

    def _plain(self, sentences: list[list[int]], places: Sequence[int]) -> list[Likelihood]:
        """Return the same as `_shared`, each sentence computed by itself."""
        torch = require("torch")
        model, tokenizer = self._checkpoint().model, self._checkpoint().tokenizer
        likelihoods = [Likelihood([]) for _ in sentences]
        order = sorted(range(len(sentences)), key=lambda index: len(sentences[index]))
        for start in range(0, len(order), SENTENCES_A_BATCH):
            batch = order[start : start + SENTENCES_A_BATCH]
            read = [sentences[index][:-1] for index in batch]
            length = max(1, *map(len, read))
            tokens = torch.tensor([row + [0] * (length - len(row)) for row in read])
            real = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in read])
            with torch.inference_mode():
                logits = model(
                    input_ids=tokens.to(model.device),
                    attention_mask=real.to(model.device),
                    use_cache=False,
                ).logits
                self.work.computed += tokens.numel()
                for row, index in zip(logits, batch, strict=True):
                    edges = list(enumerate(sentences[index][1:]))
                    at = places[index]
                    first = first_words(row[at - 1 : at].float(), tokenizer)[0] if at else ()
                    likelihoods[index] = Likelihood(_log_probabilities(row, edges), first)
        return likelihoods

    @cached_property
    def _source(self) -> Source:
        return locate(self.name_or_path, self.revision, self.gguf_file, self.remember)

    def _checkpoint(self) -> Checkpoint:
        if self._loaded is None:
            self._loaded = load(
                self._source, "AutoModelForCausalLM", "causal language model", self.options
            )
            self.share_prefixes = self.share_prefixes and self._sharing_works()
            self.work = Work()
        return self._loaded

    def _sharing_works(self) -> bool:
        """Compare both ways on made-up sentences once: some architectures know no such masks."""
        assert self._loaded is not None
        vocabulary = self._loaded.model.config.get_text_config().vocab_size
        stem = [(17 * k + 5) % vocabulary for k in range(6)]
        tails = ([3, 9, 4], [3, 8], [1, 2, 6, 5, 7])
        sentences = [stem + [token % vocabulary for token in tail] for tail in tails]
        sentences.append(stem[1:4])
        places = [0] * len(sentences)
        plain = self._plain(sentences, places)
        try:
            shared = self._shared(sentences, places, size=5)
        except Exception:  # whatever an unknown architecture does with such a mask
            return False
        tolerance = 1e-3 if self._loaded.dtype == "float32" else 0.5
        return all(
            abs(math.fsum(a.tokens) - math.fsum(b.tokens)) <= tolerance
            for a, b in zip(shared, plain, strict=True)
        )

    def _window(self) -> float:
        """How far the model looks back: beyond it, the tree's mask would show it too much."""
        config = self._checkpoint().model.config.get_text_config()
        return getattr(config, "sliding_window", None) or math.inf

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        tokenizer = self._checkpoint().tokenizer
        tokens: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
        return tokens


def _log_probabilities(logits: Any, edges: Sequence[tuple[int, int]]) -> list[float]:
    """Return the log-probability of each (row, token)."""
    torch = require("torch")
    if not edges:
        return []
    rows, tokens = torch.tensor(edges, device=logits.device).T
    logits = logits.float()
    values: list[float] = finite(logits[rows, tokens] - logits.logsumexp(-1)[rows]).tolist()
    return values
