"""The built-in models: tiny masked language models that come with the package, for trying it out.

What they learned, and from what, is in docs/demo-model.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from hornlens.formats.sent import Sent
from hornlens.logging import get_logger
from hornlens.models.checks import check_prompts
from hornlens.models.privacy import keep_private
from hornlens.models.protocol import MASK, Answer, ModelError, ModelOptions
from hornlens.models.words import FIRST, MASKED

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZERS = {
    "demo": "demo-tokenizer.json",
    "demo-balanced": "demo-tokenizer.json",
    "demo-polyglot": "demo-polyglot-tokenizer.json",
}
"""The tokenizer's file of each model: of Wikidata's people as they are; of the same people with
genders balanced; and of the people as they are, told in eight phrasings and three languages."""
VARIANTS = tuple(TOKENIZERS)
SCORER_VERSION = 1
"""Goes up when the same files would give other scores."""
BATCH_SIZE = 128
LONGEST = 64
"""Tokens, with the two that frame a prompt: the positions that the models have."""
_log = get_logger(__name__)


class DemoModel:
    """A built-in model. It runs on the CPU, whatever the options' device."""

    def __init__(self, variant: str = "demo", options: ModelOptions | None = None):
        """Take the variant's name, one of VARIANTS; nothing is loaded yet."""
        if variant not in VARIANTS:
            raise ModelError(
                f"there is no built-in model {variant!r}; there are: {', '.join(VARIANTS)}"
            )
        self.name, self.options = variant, options or ModelOptions()
        self._loaded: tuple[Tokenizer, Any] | None = None

    def check(self, candidates: Sequence[str]) -> None:
        """Load the model; raise ModelError unless each candidate is one word of its vocabulary."""
        tokenizer, _ = self._load()
        for word in candidates:
            _token_id(self.name, tokenizer, word)

    def identity(self) -> str:
        """Return the variant, the hashes of its two files and the version of the scoring."""
        hashes = ":".join(hashlib.sha256(data).hexdigest() for data in self._files())
        return f"demo:{self.name}:{hashes}:{SCORER_VERSION}"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer the prompts, those of like length together.

        Words that the model does not know are read as unknown words, and the answer says which.
        Raises ModelError before the first answer if a prompt lacks its one mask or is too long.
        """
        tokenizer, session = self._load()
        import numpy as np

        columns = [_token_id(self.name, tokenizer, word) for word in candidates]
        words = {token: word for word, token in tokenizer.get_vocab().items()}
        mask_id, unknown_id = (tokenizer.get_vocab()[sign] for sign in (MASK, "[UNK]"))
        rows: list[tuple[int, list[int]]] = []
        unknown: list[tuple[str, ...]] = []
        check_prompts(self.name, prompts)
        for index, prompt in enumerate(prompts):
            code = tokenizer.encode(prompt)
            ids = code.ids
            if len(ids) > LONGEST:
                raise ModelError(
                    f"{self.name} reads prompts of up to {LONGEST - 2} words and signs, "
                    f"and this one has {len(ids) - 2}: {prompt!r}"
                )
            rows.append((index, ids))
            spans = (at for at, token in zip(code.offsets, ids, strict=True) if token == unknown_id)
            unknown.append(tuple(dict.fromkeys(prompt[start:end] for start, end in spans)))
        rows.sort(key=lambda row: len(row[1]))
        size = self.options.batch_size or BATCH_SIZE
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            shape = (len(batch), len(batch[-1][1]))
            input_ids = np.zeros(shape, dtype=np.int64)
            attention = np.zeros(shape, dtype=np.int64)
            for line, (_, ids) in enumerate(batch):
                input_ids[line, : len(ids)] = ids
                attention[line, : len(ids)] = 1
            places = np.array([ids.index(mask_id) for _, ids in batch], dtype=np.int64)
            given = {"input_ids": input_ids, "attention_mask": attention, "mask_position": places}
            logits = session.run(["logits"], given)[0].astype(np.float64)
            logits -= logits.max(axis=1, keepdims=True)
            scores = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
            shares = np.exp(scores)
            ranks = [(scores > scores[:, [column]]).sum(axis=1) for column in columns]
            first = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST].tolist()
            yield [
                (
                    index,
                    Answer(
                        tuple(float(scores[line, column]) for column in columns),
                        tuple(int(rank[line]) for rank in ranks),
                        tuple((words[at], float(shares[line, at])) for at in first[line]),
                        float(shares[line, columns].sum().clip(max=1.0)),
                        unknown[index],
                    ),
                )
                for line, (index, _) in enumerate(batch)
            ]

    def sent(self, prompt: str, candidates: Sequence[str], answer: Answer) -> Sent:
        """Return the sentence that is scored: the prompt, in which the mask is the model's own."""
        return Sent(self.name, prompt, tuple(candidates), MASKED, texts=(prompt,))

    def _load(self) -> tuple[Tokenizer, Any]:
        if self._loaded is not None:
            return self._loaded
        keep_private()
        try:
            import numpy  # noqa: F401
            import onnxruntime  # type: ignore[import-untyped, import-not-found, unused-ignore]
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ModelError(
                f"the built-in model needs {error.name or error}: pip install 'hornlens[demo]'"
            ) from error
        weights, words = self._files()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.options.threads or 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        tokenizer = Tokenizer.from_buffer(words)
        session = onnxruntime.InferenceSession(
            weights, sess_options=options, providers=["CPUExecutionProvider"]
        )
        _log.info("%s: loaded", self.name)
        self._loaded = tokenizer, session
        return self._loaded

    def _files(self) -> tuple[bytes, bytes]:
        """Return the weights and the tokenizer."""
        if self.options.dtype not in ("auto", "float32"):
            raise ModelError(f"{self.name} has float32 weights only, not {self.options.dtype}")
        return self._read(f"{self.name}.onnx"), self._read(TOKENIZERS[self.name])

    def _read(self, name: str) -> bytes:
        file = resources.files("hornlens.models") / "data" / name
        try:
            return file.read_bytes()
        except OSError as error:
            raise ModelError(
                f"{file}: the built-in model's file cannot be read "
                f"({(error.strerror or str(error)).lower()}); install hornlens again"
            ) from None


def _token_id(name: str, tokenizer: Tokenizer, word: str) -> int:
    """Return the token of a candidate, or say why it has none."""
    code = tokenizer.encode(word, add_special_tokens=False)
    tokens, vocabulary = code.tokens, tokenizer.get_vocab()
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    if tokens == [word] and word not in special:
        return vocabulary[word]
    if len(tokens) > 1:
        why = f"it is split into {' + '.join(word[start:end] for start, end in code.offsets)}"
    elif not tokens:
        why = "it is empty"
    elif word in special:
        why = "it is a sign of the tokenizer, not a word"
    elif tokens == [word.strip()]:
        why = "it has spaces around it"
    else:
        why = "it is not in the vocabulary"
    known = sorted(w for w in vocabulary if w not in special and w.isalpha())
    other = [w for w in known if w.casefold() == word.strip().casefold() and w != word]
    hint = f"write {other[0]!r}" if other else f"it knows {', '.join(known)}"
    raise ModelError(f"{name} cannot score {word!r}: {why} ({hint})")
