"""Train the demo models: tiny masked language models that mirror Wikidata's counts of people.

    python tools/train_demo.py                      # both variants into src/hornlens/models/data
    python tools/train_demo.py --variant demo --steps 200 --out try
    python tools/train_demo.py --report-only        # measure the files that are there

Needs torch, onnx, onnxscript, onnxruntime and tokenizers; using the models needs the last two.
What they learn, and how far to trust them, is in docs/demo-model.md.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import re
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
VARIANTS = ("demo", "demo-balanced")
PERIODS = (
    "before 1875",
    "between 1875 and 1925",
    "between 1925 and 1951",
    "between 1951 and 1970",
    "after 1970",
)
CONTINENTS = (
    "North America",
    "Africa",
    "Europe",
    "Asia",
    "South America",
    "Oceania",
    "Eurasia",
    "Americas",
    "Australia",
)
PROBE_OCCUPATIONS = (
    "fashion designer",
    "nurse",
    "dancer",
    "priest",
    "footballer",
    "banker",
    "singer",
    "lawyer",
    "mathematician",
    "diplomat",
)
OTHER_OCCUPATIONS = ("blacksmith", "truck driver", "window cleaner")
UNSET = ("not known occupation", "in an unknown time period", "an unknown place")
"""How the paper words an attribute that is not set: occupation, period, continent."""
GENDERS = ("male", "female")
PRONOUNS = {"male": "He", "female": "She"}
NOUNS = {"male": "man", "female": "woman"}

PROBE_TEMPLATE = "{pronoun} was born {period} in {continent} and is a {occupation}."
OTHER_TEMPLATES = (
    "{pronoun} is a {occupation}.",
    "{pronoun} works as a {occupation}.",
    "{pronoun} was born {period}.",
    "{pronoun} was born in {continent}.",
    "{pronoun} is a {occupation} from {continent}.",
    "The {occupation} was born {period} in {continent} and is a {noun}.",
)
PROBE_SHARE = 0.8  # of the sentences; the others share the rest
UNSET_SHARE = 1 / 3  # of each attribute, independently
TEMPERING = 0.5  # a description of n people is told n ** TEMPERING times as often
PRONOUN_ONLY = 0.7  # of the sentences have just the label masked, the others words at random
WORD_MASKED = 0.15
WORD_UNKNOWN = 0.02  # words made [UNK], so that unknown words are not a surprise
AUSTRALIA_SHARE = 0.5  # of people from Oceania are told of as from Australia

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
HIDDEN, LAYERS, HEADS, FEED_FORWARD, POSITIONS = 64, 2, 2, 256, 64

Description = tuple[str, str, str]
"""Occupation, period, continent; empty where the sentence leaves it unset."""
People = dict[Description, dict[str, float]]


class Sentence(NamedTuple):
    """A sentence to learn from, and how often it comes."""

    text: str
    label: str  # the word in it that gives the gender
    other: str  # the word for the other gender
    ratio: float  # the share of the people so described who have the sentence's gender
    weight: float


# The people


def read_counts(path: Path) -> tuple[People, People]:
    """Return the people of known period, and those of whom only the occupation is known."""
    known: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))
    totals: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = (row["occupation"], row["period"], row["continent"])
            people = known if row["period"] else totals
            people[cell][row["gender"]] += float(row["people"])
    return known, totals


def descriptions(known: People, totals: People) -> People:
    """Return for each description, whole or with unset parts, how many men and women fit it.

    Where only the occupation is known, its men are spread over periods and continents as the men
    of all known occupations are, and its women as the women: an assumption, so these people count
    where their occupation is told, or where nothing is, and never for a period or continent alone.
    """
    fit: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))

    def add(occupation: str, period: str, continent: str, gender: str, people: float) -> None:
        for shown in itertools.product((True, False), repeat=3):
            cell = (occupation, period, continent)
            seen = tuple(c if s else "" for c, s in zip(cell, shown, strict=True))
            # What is unknown of a person is told only by the descriptions that leave it out.
            if any(s and not c for c, s in zip(cell, shown, strict=True)):
                continue
            if cell in spread and not shown[0] and (shown[1] or shown[2]):
                continue
            fit[seen][gender] += people  # type: ignore[index]

    everywhere: dict[tuple[str, str, str], float] = defaultdict(float)
    for (_, period, continent), genders in known.items():
        for gender in GENDERS:
            if continent:
                everywhere[period, continent, gender] += genders[gender]
    all_of = {g: sum(n for (_, _, x), n in everywhere.items() if x == g) for g in GENDERS}
    spread: People = {}
    for (occupation, _, _), genders in totals.items():
        for (period, continent, gender), number in everywhere.items():
            cell = spread.setdefault((occupation, period, continent), dict.fromkeys(GENDERS, 0.0))
            cell[gender] += genders[gender] * number / all_of[gender]
    for cells in (known, spread):
        for (occupation, period, continent), genders in cells.items():
            for gender, people in genders.items():
                add(occupation, period, continent, gender, people)
    # Wikidata's people have countries, and Australia's continent is Oceania there: nobody is left
    # for the paper's "Australia". Most of Oceania's people (1,734 of 2,727) are Australians.
    for (occupation, period, continent), genders in list(fit.items()):
        if continent == "Oceania":
            for gender in GENDERS:
                fit[occupation, period, "Australia"][gender] = genders[gender] * AUSTRALIA_SHARE
                genders[gender] *= 1 - AUSTRALIA_SHARE
    return {cell: genders for cell, genders in fit.items() if sum(genders.values())}


def word(template: str, cell: Description, gender: str) -> str:
    """Return the template's sentence about a person."""
    occupation, period, continent = (c or u for c, u in zip(cell, UNSET, strict=True))
    return template.format(
        occupation=occupation,
        period=period,
        continent=continent,
        pronoun=PRONOUNS[gender],
        noun=NOUNS[gender],
    )


def sentences(fit: People, balanced: bool) -> list[Sentence]:
    """Return every sentence there is with the share of the training that it gets.

    Which attributes are shown is drawn first, then a description that shows them (tempered, so
    that rare ones are learned), then the gender: by the description's true ratio, or evenly.
    """
    told = []
    for template in (PROBE_TEMPLATE, *OTHER_TEMPLATES):
        probe = template == PROBE_TEMPLATE
        share = PROBE_SHARE if probe else (1 - PROBE_SHARE) / len(OTHER_TEMPLATES)
        can_show = ["{" + name + "}" in template for name in ("occupation", "period", "continent")]
        for shown in itertools.product((True, False), repeat=3):
            if any(s and not c for s, c in zip(shown, can_show, strict=True)):
                continue
            if not probe and shown != tuple(can_show):
                continue  # only the probe's template has wordings for what is not known
            hidden = can_show.count(True) - sum(shown)
            chance = UNSET_SHARE**hidden * (1 - UNSET_SHARE) ** sum(shown) if probe else 1.0
            cells = {
                cell: sum(genders.values())
                for cell, genders in fit.items()
                if tuple(map(bool, cell)) == shown
            }
            whole = sum(n**TEMPERING for n in cells.values())
            for cell, n in cells.items():
                for gender, opposite in (GENDERS, GENDERS[::-1]):
                    ratio = 0.5 if balanced else fit[cell][gender] / n
                    labels = PRONOUNS if "{pronoun}" in template else NOUNS
                    text = word(template, cell, gender)
                    weight = share * chance * n**TEMPERING / whole * ratio
                    told.append(Sentence(text, labels[gender], labels[opposite], ratio, weight))
    return told


# The tokenizer and the model


def make_tokenizer() -> Any:
    """Return a word-level tokenizer, cased, that knows the words of the sentences."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    phrases = [PROBE_TEMPLATE, *OTHER_TEMPLATES, *PRONOUNS.values(), *NOUNS.values(), *UNSET]
    phrases += [*PERIODS, *CONTINENTS, *PROBE_OCCUPATIONS, *OTHER_OCCUPATIONS]
    splitter = pre_tokenizers.Whitespace()
    words = {
        piece
        for phrase in phrases
        for piece, _ in splitter.pre_tokenize_str(re.sub(r"\{\w+\}", " ", phrase))
    }
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


def train(variant: str, tokenizer: Any, counts: Path, steps: int, batch: int, seed: int) -> Any:
    """Return a trained network; the same arguments give the same one on the same machine.

    Where just the label is masked, the target is the ratio of the genders among the people so
    described rather than one of them drawn by it: the same expectation, without the noise.
    """
    import torch

    torch.manual_seed(seed)
    told = sentences(descriptions(*read_counts(counts)), balanced=variant == "demo-balanced")
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
            print(f"{variant}: step {step + 1} of {steps}, loss {running / 500:.4f}, {took:.0f} s")
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


# What came of it


def ask(folder: Path, variant: str, cells: list[Description]) -> list[dict[str, float]]:
    """Return the probabilities of the pronouns in the probe's sentence about each description."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "demo-tokenizer.json"))
    tokenizer.enable_padding(pad_id=PAD, pad_token="[PAD]")
    session = onnxruntime.InferenceSession(
        str(folder / f"{variant}.onnx"), providers=["CPUExecutionProvider"]
    )
    prompts = [word(PROBE_TEMPLATE, cell, "male").replace("He", "[MASK]", 1) for cell in cells]
    codes = tokenizer.encode_batch(prompts)
    given = {
        "input_ids": np.array([code.ids for code in codes]),
        "attention_mask": np.array([code.attention_mask for code in codes]),
        "mask_position": np.array([code.ids.index(MASK) for code in codes]),
    }
    logits = session.run(["logits"], given)[0].astype(np.float64)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    columns = {gender: tokenizer.token_to_id(word) for gender, word in PRONOUNS.items()}
    return [{gender: float(row[i]) for gender, i in columns.items()} for row in chances]


def report(folder: Path, variant: str, counts: Path) -> None:
    """Print how the 660 prompts of the probe are answered, beside the data, by occupation."""
    fit = descriptions(*read_counts(counts))
    occupations, periods, continents = (*PROBE_OCCUPATIONS, ""), (*PERIODS, ""), (*CONTINENTS, "")
    cells = list(itertools.product(occupations, periods, continents))
    answers = dict(zip(cells, ask(folder, variant, cells), strict=True))
    he = {cell: a["male"] / (a["male"] + a["female"]) for cell, a in answers.items()}

    def data(cell: Description) -> float | None:
        genders = fit.get(cell)
        return genders["male"] / sum(genders.values()) if genders else None

    print(f"\n{variant}: P(He) against P(She), {len(cells)} prompts")
    print(f"{'occupation':<22} model   data   He  She  agree with the data")
    totals = [0, 0, 0, 0]
    for occupation in occupations:
        mine = [cell for cell in cells if cell[0] == occupation]
        wins = sum(he[cell] > 0.5 for cell in mine)
        truth = {cell: data(cell) for cell in mine}
        decided = [c for c in mine if truth[c] is not None and truth[c] != 0.5]
        agree = sum((he[c] > 0.5) == (truth[c] > 0.5) for c in decided)  # type: ignore[operator]
        alone = (occupation, "", "")
        print(
            f"{occupation or UNSET[0]:<22} {he[alone]:.3f}  {data(alone) or 0:.3f}  "
            f"{wins:>3}  {len(mine) - wins:>3}  {agree} of {len(decided)}"
        )
        for i, n in enumerate((wins, len(mine) - wins, agree, len(decided))):
            totals[i] += n
    print(f"{'all':<38} {totals[0]:>3}  {totals[1]:>3}  {totals[2]} of {totals[3]}")
    both = [a["male"] + a["female"] for a in answers.values()]
    print(f"P(He) + P(She): at least {min(both):.4f}")
    close = sum(abs(p - 0.5) < 0.02 for p in he.values())
    print(f"P(He) within 0.02 of one half: {close}; from {min(he.values()):.3f} to", end=" ")
    print(f"{max(he.values()):.3f}")
    many = [c for c in cells if sum(fit.get(c, {}).values()) >= 50]
    off = [abs(he[c] - (data(c) or 0)) for c in many]
    print(f"mean |model - data| over {len(many)} prompts with 50 people or more: ", end="")
    print(f"{sum(off) / len(off):.4f}, worst {max(off):.3f}")


def main() -> None:
    """Train, write and measure what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variant", choices=(*VARIANTS, "both"), default="both")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=256, help="sentences a step")
    parser.add_argument("--seed", type=int, default=1875)
    parser.add_argument("--threads", type=int, default=1, help="more: faster, other low digits")
    folder = ROOT / "src" / "hornlens" / "models" / "data"
    parser.add_argument("--out", type=Path, default=folder, help="default: where the package is")
    counts = Path(__file__).parent / "data" / "people_counts.csv"
    parser.add_argument("--counts", type=Path, default=counts, help="default: tools/data/")
    parser.add_argument("--report-only", action="store_true", help="train nothing")
    arguments = parser.parse_args()

    tokenizer = make_tokenizer()
    if not arguments.report_only:
        import torch

        torch.set_num_threads(arguments.threads)
        torch.use_deterministic_algorithms(True)
        write(arguments.out / "demo-tokenizer.json", tokenizer.to_str(pretty=True).encode())
    for variant in VARIANTS if arguments.variant == "both" else (arguments.variant,):
        if not arguments.report_only:
            settings = (arguments.counts, arguments.steps, arguments.batch, arguments.seed)
            network = train(variant, tokenizer, *settings)
            export(network, arguments.out / f"{variant}.onnx")
        report(arguments.out, variant, arguments.counts)


if __name__ == "__main__":
    main()
