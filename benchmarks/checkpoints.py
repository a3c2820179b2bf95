"""Make checkpoints of real size, with random weights: what they cost is real, what they say is not.

    python -m benchmarks.checkpoints {bert-base,bert-large,roberta-base,roberta-large,…} FOLDER

Configuration, parameters and size of the vocabulary are those of the published models. The
vocabulary has the words of the built-in probe whole, as a real one has, and fillers for the rest.
"""

import argparse
import os
import re
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from hornlens.models.protocol import MASK
from hornlens.probes.loading import DEFAULT, load_probe

BERT_VOCABULARY = 28_996
ROBERTA_VOCABULARY = 50_265
LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
TINY = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 512,
}
SPREAD = 0.1
"""The weights' standard deviation: at the usual 0.02, every prompt would get the same answer."""


def bert(folder: Path, seed: int = 0, **size: int) -> None:
    """Write a cased BERT; without `size`, of the base size."""
    tokenizer = wordpiece(probe_words())
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), initializer_range=SPREAD, pad_token_id=0, **size
    )
    save(folder, transformers.BertForMaskedLM(config), tokenizer)


def roberta(folder: Path, seed: int = 0, **size: int) -> None:
    """Write a RoBERTa; without `size`, of the base size."""
    tokenizer = byte_level(probe_words())
    torch.manual_seed(seed)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=514,
        type_vocab_size=1,
        initializer_range=SPREAD,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **size,
    )
    save(folder, transformers.RobertaForMaskedLM(config), tokenizer)


KINDS: dict[str, tuple[Any, dict[str, int]]] = {
    "bert-tiny": (bert, TINY),
    "bert-base": (bert, {}),
    "bert-large": (bert, LARGE),
    "roberta-base": (roberta, {}),
    "roberta-large": (roberta, LARGE),
}


def make(kind: str, folder: Path, seed: int = 0) -> None:
    """Write a checkpoint of one of KINDS."""
    writer, size = KINDS[kind]
    writer(folder, seed, **size)


def save(folder: Path, model: Any, tokenizer: Any) -> None:
    balance(model.eval(), tokenizer)
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def balance(model: Any, tokenizer: Any) -> None:
    """Shift the candidates' biases so that each wins now and then: one alone is no work to learn.

    The shift is measured on a few prompts.
    """
    probe = load_probe(DEFAULT)
    prompts = [probe.render(cell)[0] for cell in list(probe.space.cells())[::37]]
    texts = [prompt.replace(MASK, tokenizer.mask_token) for prompt in prompts]
    batch = tokenizer(texts, padding=True, return_tensors="pt", return_token_type_ids=False)
    words = tokenizer.convert_tokens_to_ids(list(probe.label.words))
    with torch.inference_mode():
        at_mask = batch["input_ids"] == tokenizer.mask_token_id
        logits = model(**batch).logits[at_mask][:, words]
        model.get_output_embeddings().bias[words] -= logits.median(0).values


def probe_words() -> list[str]:
    """Return the words and signs of the built-in probe, candidates included, sorted."""
    probe = load_probe(DEFAULT)
    found = set(probe.label.words)
    for cell in probe.space.cells():
        for prompt in probe.render(cell):
            found |= set(re.findall(r"\w+|[^\w\s]", prompt.replace(MASK, " ")))
    return sorted(found)


def wordpiece(words: list[str]) -> Any:
    """Return a cased BERT's tokenizer."""
    characters = [chr(code) for code in range(33, 127)]
    real = [*characters, *(f"##{c}" for c in characters), *words]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK]
    entries = dict.fromkeys([*special, *real])
    entries |= dict.fromkeys(f"filler{i}" for i in range(BERT_VOCABULARY - len(entries)))
    vocabulary = {token: i for i, token in enumerate(entries)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token=MASK,
    )


def byte_level(words: list[str]) -> Any:
    """Return a RoBERTa's tokenizer: each word is one token, at the start and after a space."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    entries = dict.fromkeys([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])
    entries |= dict.fromkeys(form for word in words for form in (word, f"Ġ{word}"))
    left = ROBERTA_VOCABULARY - len(entries) - 1
    entries |= dict.fromkeys([*(f"filler{i}" for i in range(left)), "<mask>"])
    vocabulary = {token: i for i, token in enumerate(entries)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], ignore_merges=True))  # a word, or its bytes
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    ends = [(token, vocabulary[token]) for token in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=512,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkpoints",
        description="Make a masked language model of real size, with random weights.",
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path, help="where it is written")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    make(options.kind, options.folder, options.seed)


if __name__ == "__main__":
    main()
