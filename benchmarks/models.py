"""Extractions with real-sized language models, against the bare model."""

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import torch

from benchmarks import checkpoints
from hornlens.cli.app import app
from hornlens.executors.local import LocalExecutor
from hornlens.models.hf import HfMaskedModel
from hornlens.models.protocol import MASK, Answer, Model, ModelOptions
from hornlens.models.smollm2 import smollm2
from hornlens.probes.loading import DEFAULT, load_probe

THREADS = int(os.environ.get("HORNLENS_BENCH_THREADS", os.cpu_count() or 1))
"""One is steadier where other programs run beside."""


def probe_prompts() -> tuple[list[str], tuple[str, ...]]:
    """Return the built-in probe's prompts and candidates."""
    probe = load_probe(DEFAULT)
    return [p for cell in probe.space.cells() for p in probe.render(cell)], probe.label.words


@dataclass
class Clock:
    """Wall and processor seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    def measure(self, work: Callable[[], Any]) -> Any:
        """Add what some work takes."""
        wall, cpu = perf_counter(), process_time()
        try:
            return work()
        finally:
            self.wall += perf_counter() - wall
            self.cpu += process_time() - cpu


class Timed:
    """A model, and the time that is spent in it."""

    def __init__(self, model: Model):
        """Take a model that is loaded."""
        self.model, self.name, self.clock = model, model.name, Clock()

    def check(self, candidates: Sequence[str]) -> None:
        """Check the words."""
        self.model.check(candidates)

    def identity(self) -> str:
        """Return the model's."""
        return self.model.identity()

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer by the clock."""
        batches = self.clock.measure(lambda: self.model.score(prompts, candidates))
        while batch := self.clock.measure(lambda: list(islice(batches, 1))):
            yield batch[0]


def command(model: Model, folder: Path) -> Clock:
    """Time `hornlens extract` with a model that is loaded already, files and report included."""
    clock = Clock()
    arguments = ["extract", "--out", str(folder), "--cache", str(folder / "c.sqlite"), "--quiet"]
    with (
        patch.object(LocalExecutor, "model", lambda self, spec, options: model),
        redirect_stdout(io.StringIO()),
    ):
        clock.measure(lambda: app(arguments, standalone_mode=False))
    return clock


def bare_loop(loaded: Any, prompts: Sequence[str], size: int) -> Clock:
    """Time nothing but the model: tokens, sorted by length, in batches, the head at the mask."""
    model, tokenizer = loaded.model, loaded.tokenizer

    def run() -> None:
        texts = [prompt.replace(MASK, tokenizer.mask_token) for prompt in prompts]
        rows = sorted(tokenizer(texts)["input_ids"], key=len)
        for start in range(0, len(rows), size):
            batch = tokenizer.pad({"input_ids": rows[start : start + size]}, return_tensors="pt")
            hidden = model.base_model(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            ).last_hidden_state
            head = model.cls if hasattr(model, "cls") else model.lm_head
            head(hidden[batch["input_ids"] == tokenizer.mask_token_id]).log_softmax(-1)

    clock = Clock()
    with torch.inference_mode():
        clock.measure(run)
    return clock


def one_at_a_time(loaded: Any, prompts: Sequence[str]) -> Clock:
    """Time the fill-mask pipeline, called prompt by prompt."""
    import transformers

    fill = transformers.pipeline(
        "fill-mask", model=loaded.model, tokenizer=loaded.tokenizer, device="cpu"
    )
    texts = [prompt.replace(MASK, loaded.tokenizer.mask_token) for prompt in prompts]
    fill(texts[0])
    clock = Clock()
    clock.measure(lambda: [fill(text) for text in texts])
    return clock


def masked(kind: str, every: int, rounds: int) -> dict[str, Any]:
    """An exact extraction of the built-in probe with a checkpoint of real size.

    The bare loop, the command and the pipeline (which is given every so many-th prompt only) take
    turns, since machines change their pace; of each, the fastest round counts.
    """
    torch.set_num_threads(THREADS)
    prompts, words = probe_prompts()
    some = prompts[::every]
    bare, total, single = [], [], []
    with tempfile.TemporaryDirectory() as place:
        checkpoints.make(kind, Path(place) / "model")
        model = HfMaskedModel(str(Path(place) / "model"))
        load = Clock()
        load.measure(lambda: model.check(words))
        loaded = model._checkpoint()
        bare_loop(loaded, prompts[:64], 64)  # the first pass allocates
        beside = []
        for number in range(rounds):
            bare.append(bare_loop(loaded, prompts, 64))
            timed = Timed(model)
            total.append(command(timed, Path(place) / str(number)))
            beside.append(total[-1].wall - timed.clock.wall)
            single.append(one_at_a_time(loaded, some))
        for _ in range(2):  # the first run with this cache hashes the files, the next need not
            fresh = HfMaskedModel(model.name_or_path)
            full = command(fresh, Path(place) / "0")
            assert fresh._loaded is None, "with a full cache, no weights are loaded"
    share = len(some) / len(prompts)
    best = {
        (what, unit): min(getattr(clock, unit) for clock in clocks)
        for what, clocks in (("bare", bare), ("total", total), ("single", single))
        for unit in ("wall", "cpu")
    }
    return {
        "prompts": len(prompts),
        "load_seconds": load.wall,
        "bare_seconds": best["bare", "wall"],
        "total_seconds": best["total", "wall"],
        "total_over_bare": best["total", "wall"] / best["bare", "wall"],
        "total_over_bare_cpu": best["total", "cpu"] / best["bare", "cpu"],
        "beside_the_model_seconds": min(beside),
        "beside_the_model_share": min(beside) / best["total", "wall"],
        "pipeline_over_total": best["single", "wall"] / share / best["total", "wall"],
        "pipeline_over_total_cpu": best["single", "cpu"] / share / best["total", "cpu"],
        "full_cache_seconds": full.wall,
        "full_cache_seconds_cpu": full.cpu,
    }


def causal(every: int) -> dict[str, Any]:
    """The built-in probe on SmolLM2: shared prefixes, against every so many-th prompt plain."""
    torch.set_num_threads(THREADS)
    prompts, words = probe_prompts()
    model = smollm2(ModelOptions(threads=THREADS))
    model.check(words)
    assert model.share_prefixes
    some = range(0, len(prompts), every)

    def ask(which: Sequence[int]) -> dict[int, Answer]:
        batches = model.score([prompts[i] for i in which], words)
        return {which[i]: answer for batch in batches for i, answer in batch}

    shared, plain = Clock(), Clock()
    answers = shared.measure(lambda: ask(range(len(prompts))))
    work = model.work
    computed_over_tree, plain_over_tree = work.computed / work.nodes, work.plain / work.nodes
    model.share_prefixes = False
    expected = plain.measure(lambda: ask(some))
    furthest = max(
        abs(a - b) for i in some for a, b in zip(answers[i].scores, expected[i].scores, strict=True)
    )
    share = len(some) / len(prompts)
    return {
        "prompts": len(prompts),
        "seconds": shared.wall,
        "tokens_over_tree": computed_over_tree,
        "plain_tokens_over_tree": plain_over_tree,
        "plain_over_shared": plain.wall / share / shared.wall,
        "plain_over_shared_cpu": plain.cpu / share / shared.cpu,
        "largest_difference": furthest,
    }
