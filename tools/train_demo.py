"""Train the demo models: tiny masked language models that mirror Wikidata's counts of people.

    python -m tools.train_demo                      # all of them, into src/hornlens/models/data
    python -m tools.train_demo --variant demo --steps 200 --out try
    python -m tools.train_demo --report-only        # measure the files that are there

Needs torch, onnx, onnxscript, onnxruntime and tokenizers; using the models needs the last two.
What they learn, and how far to trust them, is in docs/demo-model.md.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hornlens.models.demo import TOKENIZERS
from tools.demo_report import report
from tools.demo_sentences import Sentence, descriptions, read_counts, sentences

ROOT = Path(__file__).parents[1]
STEPS = {"demo": 2000, "demo-balanced": 2000, "demo-polyglot": 3000}
PRONOUN_ONLY = 0.7  # of the sentences have just the label masked, the others words at random
WORD_MASKED = 0.15
WORD_UNKNOWN = 0.02  # words made [UNK], so that unknown words are not a surprise

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
HIDDEN, LAYERS, HEADS, FEED_FORWARD, POSITIONS = 64, 2, 2, 256, 64


# The tokenizer and the model


def make_tokenizer(told: Iterable[Sentence]) -> Any:
    """Return a word-level tokenizer, cased, that knows the words of the sentences."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    splitter = pre_tokenizers.Whitespace()
    words = {piece for sentence in told for piece, _ in splitter.pre_tokenize_str(sentence.text)}
    vocabulary = {token: i for i, token in enumerate((*SPECIAL, *sorted(words)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = splitter
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


def make_network(words: int) -> Any:
    """Return BERT's architecture, small: it gives the logits of the words at one position."""
    import torch
    from torch import nn

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query_key_value = nn.Linear(HIDDEN, 3 * HIDDEN)
            self.mix = nn.Linear(HIDDEN, HIDDEN)
            self.wide = nn.Linear(HIDDEN, FEED_FORWARD)
            self.narrow = nn.Linear(FEED_FORWARD, HIDDEN)
            self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in range(2))

        def forward(self, x: Any, bias: Any) -> Any:
            batch, length, _ = x.shape
            q, k, v = (
                part.reshape(batch, length, HEADS, HIDDEN // HEADS).transpose(1, 2)
                for part in self.query_key_value(x).chunk(3, dim=-1)
            )
            attention = (q @ k.transpose(2, 3) / math.sqrt(HIDDEN // HEADS) + bias).softmax(-1)
            mixed = (attention @ v).transpose(1, 2).reshape(batch, length, HIDDEN)
            x = self.norms[0](x + self.mix(mixed))
            return self.norms[1](x + self.narrow(nn.functional.gelu(self.wide(x))))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(words, HIDDEN)
            self.positions = nn.Embedding(POSITIONS, HIDDEN)
            self.norm = nn.LayerNorm(HIDDEN)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
            self.head = nn.Linear(HIDDEN, HIDDEN)
            self.head_norm = nn.LayerNorm(HIDDEN)
            self.head_bias = nn.Parameter(torch.zeros(words))
            for part in self.modules():
                if isinstance(part, nn.Linear | nn.Embedding):
                    nn.init.normal_(part.weight, std=0.05)
                if isinstance(part, nn.Linear):
                    nn.init.zeros_(part.bias)

        def encode(self, input_ids: Any, attention_mask: Any) -> Any:
            places = torch.arange(input_ids.shape[1], device=input_ids.device)
            x = self.norm(self.words(input_ids) + self.positions(places))
            bias = (1.0 - attention_mask.to(x.dtype))[:, None, None, :] * -1e9
            for layer in self.layers:
                x = layer(x, bias)
            return x

        def logits(self, x: Any) -> Any:
            x = self.head_norm(nn.functional.gelu(self.head(x)))
            return x @ self.words.weight.T + self.head_bias

        def forward(self, input_ids: Any, attention_mask: Any, mask_position: Any) -> Any:
            x = self.encode(input_ids, attention_mask)
            # Only the mask's row goes through the head.
            rows = mask_position[:, None, None].expand(-1, 1, HIDDEN)
            return self.logits(x.gather(1, rows)[:, 0])

    return Network()


# Training


def train(
    name: str, told: Sequence[Sentence], tokenizer: Any, steps: int, batch: int, seed: int
) -> Any:
    """Return a trained network; the same arguments give the same one on the same machine.

    Where just the label is masked, the target is the ratio of the genders among the people so
    described rather than one of them drawn by it: the same expectation, without the noise.
    """
    import torch

    torch.manual_seed(seed)
    coded = tokenizer.encode_batch([sentence.text for sentence in told])
    assert not any(UNK in code.ids for code in coded), "the tokenizer lacks words of the sentences"
    length = max(len(code.ids) for code in coded)
    ids = torch.full((len(coded), length), PAD)
    label_at = torch.zeros(len(coded), dtype=torch.long)
    for i, (code, sentence) in enumerate(zip(coded, told, strict=True)):
        ids[i, : len(code.ids)] = torch.tensor(code.ids)
        label_at[i] = code.ids.index(tokenizer.token_to_id(sentence.label))
    others = torch.tensor([tokenizer.token_to_id(sentence.other) for sentence in told])
    ratios = torch.tensor([sentence.ratio for sentence in told])
    weights = torch.tensor([sentence.weight for sentence in told], dtype=torch.double)

    network = make_network(tokenizer.get_vocab_size())
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.01)
    warm_up = max(1, steps // 20)

    def pace(step: int) -> float:
        if step < warm_up:
            return (step + 1) / warm_up
        return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, pace)
    begun, running = time.monotonic(), 0.0
    for step in range(steps):
        drawn = torch.multinomial(weights, batch, replacement=True)
        whole, labels = ids[drawn], label_at[drawn]
        is_label = torch.arange(length) == labels[:, None]
        is_word = whole >= len(SPECIAL)
        at_random = torch.rand(whole.shape) < WORD_MASKED
        only_label = (torch.rand(batch) < PRONOUN_ONLY)[:, None]
        masked = torch.where(only_label, is_label, at_random & is_word)
        unknown = (torch.rand(whole.shape) < WORD_UNKNOWN) & is_word & ~is_label & ~masked
        shown = whole.masked_fill(unknown, UNK).masked_fill(masked, MASK)
        x = network.encode(shown, (whole != PAD).long())
        scores = network.logits(x[masked]).log_softmax(-1)
        sentence, place = masked.nonzero(as_tuple=True)
        soft = only_label[sentence, 0]
        ratio = torch.where(soft, ratios[drawn][sentence], 1.0)
        own = scores.gather(1, whole[sentence, place][:, None])[:, 0]
        other = scores.gather(1, others[drawn][sentence][:, None])[:, 0]
        loss = -(ratio * own + (1 - ratio) * other).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if (step + 1) % 500 == 0:
            took = time.monotonic() - begun
            print(f"{name}: step {step + 1} of {steps}, loss {running / 500:.4f}, {took:.0f} s")
            running = 0.0
    return network.eval()


def export(network: Any, path: Path) -> None:
    """Write the network as one ONNX file, without anything about the machine it was made on."""
    import numpy as np
    import onnx
    import onnxruntime
    import torch

    ids = torch.tensor([[CLS, MASK, 5, 6, SEP], [CLS, 7, MASK, SEP, PAD], [CLS, 8, 9, MASK, SEP]])
    inputs = (ids, (ids != PAD).long(), torch.tensor([1, 2, 3]))
    names = ["input_ids", "attention_mask", "mask_position"]
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", max=POSITIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network,
            inputs,
            input_names=names,
            output_names=["logits"],
            dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}, {0: batch}),
            opset_version=18,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    # The exporter notes source files and stack traces.
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for part in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    del model.graph.value_info[:]
    del model.functions[:]
    onnx.checker.check_model(model)

    data = model.SerializeToString(deterministic=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    generator = torch.Generator().manual_seed(1)
    for size, width in ((1, 4), (7, 20), (64, POSITIONS)):
        ids = torch.randint(5, network.words.num_embeddings, (size, width), generator=generator)
        mask = torch.ones_like(ids)
        mask[:, 3:] = torch.randint(0, 2, mask[:, 3:].shape, generator=generator)
        places = torch.randint(0, 3, (size,), generator=generator)
        with torch.no_grad():
            wanted = network(ids, mask, places).numpy()
        given = dict(zip(names, (ids.numpy(), mask.numpy(), places.numpy()), strict=True))
        got = session.run(["logits"], given)[0]
        worst = float(np.abs(got - wanted).max())
        if worst > 2e-5:
            raise SystemExit(f"the ONNX file does not compute what was trained: off by {worst}")
    write(path, data)


def write(path: Path, data: bytes) -> None:
    """Write a file at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(data)
    temporary.replace(path)


def main() -> None:
    """Train, write and measure what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variant", choices=(*TOKENIZERS, "all"), default="all")
    parser.add_argument("--steps", type=int, help=f"default: {STEPS}")
    parser.add_argument("--batch", type=int, default=256, help="sentences a step")
    parser.add_argument("--seed", type=int, default=1875)
    parser.add_argument("--threads", type=int, default=1, help="more: faster, other low digits")
    folder = ROOT / "src" / "hornlens" / "models" / "data"
    parser.add_argument("--out", type=Path, default=folder, help="default: where the package is")
    counts = Path(__file__).parent / "data" / "people_counts.csv"
    parser.add_argument("--counts", type=Path, default=counts, help="default: tools/data/")
    parser.add_argument("--report-only", action="store_true", help="train nothing")
    arguments = parser.parse_args()

    if not arguments.report_only:
        import torch

        torch.set_num_threads(arguments.threads)
        torch.use_deterministic_algorithms(True)
    for variant in TOKENIZERS if arguments.variant == "all" else (arguments.variant,):
        if not arguments.report_only:
            told = sentences(descriptions(*read_counts(arguments.counts)), variant)
            tokenizer = make_tokenizer(told)
            words = tokenizer.to_str(pretty=True).encode()
            write(arguments.out / TOKENIZERS[variant], words)
            steps = arguments.steps or STEPS[variant]
            network = train(variant, told, tokenizer, steps, arguments.batch, arguments.seed)
            export(network, arguments.out / f"{variant}.onnx")
        report(arguments.out, variant, arguments.counts)


if __name__ == "__main__":
    main()
