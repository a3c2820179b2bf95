"""Small real checkpoints, made on the spot: with a bias planted by a short training, or random.

`make_bert`, `make_roberta` and `make_llama` take sentences with "[MASK]" and the word that shall
win in each. They write what `save_pretrained` writes, then load it again with transformers alone
and make sure that the planted words do win. Each takes seconds on one thread.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer, WordPieceTrainer

MASK = "[MASK]"
WORDS = ("He", "She")
"""Always in the vocabularies."""
MARGIN = 1.0
"""By how much the winner beats the others, in natural log."""
SMALL = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def make_bert(
    folder: Path, sentences: Sequence[str], winners: Sequence[str], lowercase: bool = False
) -> None:
    """A BERT with a WordPiece tokenizer (cased unless told), in which the winners win."""
    tokenizer = wordpiece(sentences, winners, lowercase)
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(
        transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **SMALL)
    )
    _plant_masked(folder, model, tokenizer, sentences, winners)


def make_roberta(folder: Path, sentences: Sequence[str], winners: Sequence[str]) -> None:
    """A RoBERTa with a byte-level BPE tokenizer, in which the winners win."""
    tokenizer = byte_level(
        sentences, winners, bos="<s>", eos="</s>", pad="<pad>", unk="<unk>", mask="<mask>"
    )
    torch.manual_seed(0)
    model = transformers.RobertaForMaskedLM(
        transformers.RobertaConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=66,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            type_vocab_size=1,
            **SMALL,
        )
    )
    _plant_masked(folder, model, tokenizer, sentences, winners)


def make_llama(folder: Path, sentences: Sequence[str], winners: Sequence[str]) -> None:
    """A Llama with a byte-level BPE tokenizer: sentences with the winner are the likelier ones."""
    tokenizer = byte_level(sentences, winners, bos="<s>", eos="</s>")
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=48,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=64,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    words = _words(winners)
    rows = [
        [[tokenizer.bos_token_id, *tokenizer(s.replace(MASK, w))["input_ids"]] for w in words]
        for s in sentences
    ]
    target = torch.tensor([words.index(winner) for winner in winners])

    def scores(which: torch.Tensor) -> torch.Tensor:
        flat = [ids for index in which.tolist() for ids in rows[index]]
        return likelihoods(model, flat).view(len(which), len(words))

    _train(model, scores, target)
    _save(folder, model, tokenizer)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        _verify(scores(torch.arange(len(sentences))), target, sentences)


def likelihoods(model, sequences: Sequence[list[int]]) -> torch.Tensor:
    """The plain log-likelihoods of token sequences, given their first token."""
    length = max(map(len, sequences))
    ids = torch.tensor([row + [0] * (length - len(row)) for row in sequences])
    real = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in sequences])
    logits = model(input_ids=ids, attention_mask=real).logits[:, :-1].float()
    tokens = logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
    return (tokens.double() * real[:, 1:]).sum(1)


def mask_logits(model, tokenizer, prompts: Sequence[str]) -> torch.Tensor:
    """The plain full forward pass, and of it the rows at the mask."""
    batch = tokenizer(
        [prompt.replace(MASK, tokenizer.mask_token) for prompt in prompts],
        padding=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )
    rows = (batch["input_ids"] == tokenizer.mask_token_id).int().argmax(1)
    return model(**batch).logits[torch.arange(len(prompts)), rows]


def random_masked(folder: Path, family: str, sentences: Sequence[str]) -> None:
    """An untrained checkpoint of any family, with a WordPiece tokenizer."""
    tokenizer = wordpiece(sentences, ())
    size = {"vocab_size": len(tokenizer), "max_position_embeddings": 64}
    small = {**SMALL, **size}
    configs: dict[str, Callable[[], transformers.PreTrainedModel]] = {
        "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**small)),
        "roberta": lambda: transformers.RobertaForMaskedLM(
            transformers.RobertaConfig(**small, pad_token_id=tokenizer.pad_token_id)
        ),
        "distilbert": lambda: transformers.DistilBertForMaskedLM(
            transformers.DistilBertConfig(**size, dim=48, n_layers=2, n_heads=4, hidden_dim=96)
        ),
        "albert": lambda: transformers.AlbertForMaskedLM(
            transformers.AlbertConfig(**small, embedding_size=24)
        ),
        "electra": lambda: transformers.ElectraForMaskedLM(
            transformers.ElectraConfig(**small, embedding_size=24)
        ),
        "modernbert": lambda: transformers.ModernBertForMaskedLM(
            transformers.ModernBertConfig(
                **size,
                hidden_size=48,
                num_hidden_layers=3,
                num_attention_heads=4,
                intermediate_size=96,
                pad_token_id=tokenizer.pad_token_id,
                local_attention=8,
            )
        ),
    }
    torch.manual_seed(1)
    _save(folder, _spread(configs[family]()), tokenizer)


def random_causal(folder: Path, family: str, sentences: Sequence[str]) -> None:
    """An untrained checkpoint of another family than Llama; GPT-2's has no beginning token."""
    tokenizer = byte_level(sentences, (), eos="<|endoftext|>")
    size = len(tokenizer)
    ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
    configs: dict[str, Callable[[], transformers.PreTrainedModel]] = {
        "gpt2": lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=size, n_positions=64, n_embd=48, n_layer=2, n_head=4, **ends
            )
        ),
        "bloom": lambda: transformers.BloomForCausalLM(
            transformers.BloomConfig(vocab_size=size, hidden_size=48, n_layer=2, n_head=4, **ends)
        ),
        "mamba": lambda: transformers.MambaForCausalLM(
            transformers.MambaConfig(
                vocab_size=size, hidden_size=48, num_hidden_layers=2, state_size=4, **ends
            )
        ),
    }
    torch.manual_seed(1)
    factor = 2 if family == "mamba" else 4  # its recurrence makes rounding errors grow
    _save(folder, _spread(configs[family](), factor), tokenizer)


def wordpiece(sentences: Sequence[str], words: Sequence[str], lowercase: bool = False):
    """A BERT-style tokenizer, trained on the sentences."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = WordPieceTrainer(
        vocab_size=4000, min_frequency=1, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(_text(sentences, words), trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token=MASK,
    )


def byte_level(
    sentences: Sequence[str],
    words: Sequence[str],
    bos: str | None = None,
    eos: str | None = None,
    pad: str | None = None,
    unk: str | None = None,
    mask: str | None = None,
):
    """A GPT-2-style tokenizer, trained on the sentences; with a mask token it is RoBERTa's."""
    special = [token for token in (bos, pad, eos, unk, mask) if token is not None]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=4000,
        min_frequency=1,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_text(sentences, words), trainer)
    names = {"bos_token": bos, "eos_token": eos, "pad_token": pad, "unk_token": unk}
    if mask is not None:
        ends = [(token, tokenizer.token_to_id(token)) for token in (bos, eos)]
        tokenizer.post_processor = TemplateProcessing(single=f"{bos} $A {eos}", special_tokens=ends)
        names["mask_token"] = AddedToken(mask, lstrip=True, special=True)
    names = {name: token for name, token in names.items() if token is not None}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def _text(sentences: Sequence[str], words: Sequence[str]) -> list[str]:
    """What the tokenizers are trained on: each word at the start and after a space."""
    every = _words(words)
    return [s.replace(MASK, word) for s in sentences for word in every] + [
        f"{word} {word}" for word in every
    ]


def _words(winners: Sequence[str]) -> list[str]:
    return sorted({*winners, *WORDS})


def _plant_masked(folder, model, tokenizer, sentences, winners) -> None:
    """Train so that at the mask, the winner beats the whole vocabulary."""
    byte_level = tokenizer.backend_tokenizer.normalizer is None
    ids = []
    for sentence, winner in zip(sentences, winners, strict=True):
        if not byte_level:
            winner = tokenizer.backend_tokenizer.normalizer.normalize_str(winner)
        elif not sentence.startswith(MASK):
            winner = f"Ġ{winner}"
        ids.append(tokenizer.convert_tokens_to_ids(winner))
    target = torch.tensor(ids)
    assert tokenizer.unk_token_id not in ids, "every winner is a token of its own"

    def scores(which: torch.Tensor) -> torch.Tensor:
        return mask_logits(model, tokenizer, [sentences[index] for index in which.tolist()])

    _train(model, scores, target)
    _save(folder, model, tokenizer)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        _verify(scores(torch.arange(len(sentences))), target, sentences)


def _margins(scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    others = scores.scatter(1, target[:, None], -torch.inf)
    return scores.gather(1, target[:, None])[:, 0] - others.max(1).values


def _train(model, scores: Callable[[torch.Tensor], torch.Tensor], target: torch.Tensor) -> None:
    """Raise the winners' scores until all win by the margin and more.

    A rule's rare exceptions would take long, so after the first rounds only those sentences are
    trained on that are not won yet, beside as many others.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the same sums in the same order: the same checkpoint
    chance = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    margins = torch.zeros(len(target))
    model.train()
    for rounds in range(200):
        weights = torch.where(margins < 3 * MARGIN, 1.0, 0.02 if rounds > 4 else 1.0)
        for _ in range(1 + len(target) // 128 if rounds <= 4 else 2):
            which = weights.multinomial(min(64, len(target)), generator=chance)
            values = scores(which)
            loss = torch.nn.functional.cross_entropy(values, target[which])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            margins[which] = _margins(values.detach(), target[which]).float()
        if margins.min() > 2 * MARGIN:
            with torch.no_grad():  # those not seen of late may have changed
                margins = _margins(scores(torch.arange(len(target))), target)
            if margins.min() > 2 * MARGIN:
                break
    model.eval()
    torch.set_num_threads(threads)


def _verify(scores: torch.Tensor, target: torch.Tensor, sentences: Sequence[str]) -> None:
    for margin, sentence in zip(_margins(scores, target).tolist(), sentences, strict=True):
        assert margin >= MARGIN, f"the planted word does not win: {sentence} ({margin:.2f})"


def _spread(model, factor: float = 4):
    """Larger random weights, so that different inputs give clearly different outputs."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(factor)
            else:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def _save(folder: Path, model, tokenizer) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
