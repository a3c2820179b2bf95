"""Cases of prompted models: the built-in ones, SmolLM2, and random probes with random models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

from tests.varied import SeededModel, random_policy, random_probe
from tools.golden.case import COUNT, Case
from tools.golden.doors import SMOLLM2_PACKAGE, FunctionModel, Parts, Repeats, extracted

PLAIN = "gender-occupation"
PHRASED = "gender-occupation-variants"
RECORDED = Path(__file__).parents[2] / "tests" / "golden" / "smollm2-scores.csv"
"""What `hornlens extract --model smollm2` writes as scores.csv."""
ASKED: dict[str, dict[str, Any]] = {
    "exact": {},
    "max_conditions=0": {"max_conditions": 0},
    "max_conditions=1": {"max_conditions": 1},
    "max_conditions=2": {"max_conditions": 2},
    "min_support=20": {"min_support": 20},
    "max_conditions=2,min_support=10": {"max_conditions": 2, "min_support": 10},
    "min_confidence=0.9": {"min_confidence": 0.9},
    "min_confidence=0.8,max_conditions=1": {"min_confidence": 0.8, "max_conditions": 1},
    "detail=5": {"detail": "5"},
    "detail=80%": {"detail": "80%", "exception_cost": 0.5},
    "rank=margin": {"rank": "margin"},
    "rank=surprise": {"rank": "surprise"},
    "max_rules=5": {"max_rules": 5},
    "label_unset=reject": {"policy": {"label_unset": "reject"}},
    "margin=1": {"policy": {"margin": 1.0}},
    "margin=1,abstain=reject": {"policy": {"margin": 1.0, "abstain": "reject"}},
    "top_k=1": {"policy": {"top_k": 1}},
    "top_k=1,abstain=reject": {"policy": {"top_k": 1, "abstain": "reject"}},
    "calibration=mean": {"policy": {"calibration": "mean"}},
    "calibration=neutral": {"policy": {"calibration": "neutral"}},
    "pac": {"equivalence": "pac", "epsilon": 0.1, "delta": 0.1},
    "pac,seed=1": {"equivalence": "pac", "epsilon": 0.2, "delta": 0.1, "seed": 1},
    "budget=20": {"equivalence": "budget", "max_equivalence_queries": 20},
    "budget=8,samples=50": {"equivalence": "budget", "max_equivalence_queries": 8, "samples": 50},
}
IN_WORDS: dict[str, dict[str, Any]] = {
    "each": {},
    "each,max_conditions=1": {"max_conditions": 1},
    "average": {"policy": {"phrasings": "average"}},
    "average,max_conditions=2": {"policy": {"phrasings": "average"}, "max_conditions": 2},
}
FEW = ("exact", "max_conditions=1", "min_confidence=0.9", "label_unset=reject", "margin=1")


def builtin() -> Iterator[Case]:
    """Yield the built-in probes on the built-in models, with many settings."""
    for name, options in ASKED.items():
        yield Case(f"builtin/{PLAIN}/{name}", partial(extracted, "demo", PLAIN, **options))
    for name in FEW:
        run = partial(extracted, "demo-balanced", PLAIN, **ASKED[name])
        yield Case(f"builtin/balanced/{name}", run)
    for name, options in IN_WORDS.items():
        yield Case(f"builtin/{PHRASED}/{name}", partial(extracted, None, PHRASED, **options))
    for lean in (0.5, 0.9):
        model = SeededModel("sentiment", lean)
        yield Case(f"builtin/sentiment/lean={lean}", partial(extracted, model, "sentiment"))


def smollm2() -> Iterator[Case]:
    """Yield the built-in probe on SmolLM2, by scores that were recorded once."""
    for name, options in ASKED.items():
        if "top_k" not in name:  # a file of scores knows no ranks
            run = partial(extracted, f"table/{RECORDED}", PLAIN, **options)
            yield Case(f"smollm2/{name}", run)


def live() -> Iterator[Case]:
    """Yield SmolLM2 itself, if it is installed: that takes minutes."""
    with suppress(metadata.PackageNotFoundError):
        metadata.version(SMOLLM2_PACKAGE)
        yield Case("live/smollm2", partial(extracted, "smollm2", PLAIN))


def prompted() -> Iterator[Case]:
    """Yield random probes: several phrasings, ties, abstentions, every policy."""
    for seed in range(COUNT):
        yield Case(f"prompted/{seed:03}", partial(_prompted, seed))


def _prompted(seed: int) -> Parts:
    rng = Random(f"prompted {seed}")
    probe = random_probe(rng)
    policy = asdict(random_policy(rng))
    model = SeededModel(f"prompted {seed}", rng.choice([0.0, 0.5, 0.8, 0.95]))
    options: dict[str, Any] = rng.choice(
        [{}, {}, {}, {"max_conditions": 1}, {"max_conditions": 2}, {"min_support": 2}]
    )
    return extracted(model, probe, policy, **options)


def noisy() -> Iterator[Case]:
    """Yield models whose answers vary: samples that a test decides, and scores that drift."""
    for seed in range(COUNT):
        yield Case(f"noisy/{seed:03}", partial(_noisy, seed))


def _noisy(seed: int) -> Parts:
    rng = Random(f"noisy {seed}")
    probe = random_probe(rng)
    sampled = seed % 3 > 0
    certain = rng.choice([0.7, 0.9, 0.98])
    call = samples(seed, certain) if sampled else drifting(seed, rng.choice([0.0, 0.1, 1.0]))
    settle = rng.choice([0, 0, 30]) if sampled else 0
    repeats: Any = Repeats(rng.choice([20, 40]), rng.choice([0.05, 0.2]), settle)
    if seed % 10 == 0:  # what most of a few answers say, and no test
        repeats = rng.choice([2, 3, 5])
    policy = {"label_unset": rng.choice(["accept", "reject"])}
    return extracted(FunctionModel(call, sampled=sampled), probe, policy, repeats=repeats)


Call = Callable[[str, Any], list[float]]


def samples(seed: int, certain: float) -> Call:
    """Return a model that names a word: of each prompt mostly the same, and each time anew.

    What it says the n-th time depends on the prompt and n alone, whatever else is asked.
    """
    counts: dict[str, int] = {}

    def call(prompt: str, words: Any) -> list[float]:
        counts[prompt] = counts.get(prompt, 0) + 1
        usual = Random(f"{seed} {prompt}").randrange(len(words))
        rng = Random(f"{seed} {prompt} {counts[prompt]}")
        place = usual if rng.random() < certain else rng.randrange(len(words))
        return [float(place == i) for i in range(len(words))]

    return call


def drifting(seed: int, drift: float) -> Call:
    """Return a model whose scores move a little from one time to the next."""
    counts: dict[str, int] = {}

    def call(prompt: str, words: Any) -> list[float]:
        counts[prompt] = counts.get(prompt, 0) + 1
        usual, now = Random(f"{seed} {prompt}"), Random(f"{seed} {prompt} {counts[prompt]}")
        return [-3 * usual.random() - drift * now.random() for _ in words]

    return call
