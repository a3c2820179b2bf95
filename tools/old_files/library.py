"""What the library saves of targets that no command has, and of classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import Any

import numpy as np

import hornlens
from hornlens import FunctionTarget, Limits, Nominal, Ordered, Settings, Space, Taxonomy, Worlds
from hornlens.logic.repeats import Repeats
from hornlens.logic.rule import Rule
from hornlens.models.functions import FunctionModel
from tests.chat_server import ChatServer
from tests.explanation_cases import CASES

PORT = 18_727
"""Where the chat model listens: its address is part of its identity."""
SPACE = Space(
    (
        Nominal("job", ("nurse", "pilot")),
        Ordered("size", ("small", "medium", "large")),
        Taxonomy("place", ("Europe", "Norway", "Asia"), (None, 0, None)),
    ),
    Nominal("answer", ("yes", "no")),
)
PLAIN = Space(tuple(Nominal(name, (name,)) for name in ("bird", "flies", "feathers", "swims")))


def _answer(names: Sequence[str]) -> str | None:
    if "Asia" in names and "pilot" in names:
        return None
    return "yes" if "nurse" in names or "size ≥ large" in names else "no"


def spaces() -> Any:
    """Ask a function over values, an order and a taxonomy; it gives no answer at times."""
    return hornlens.extract(FunctionTarget(_answer, SPACE))


def assumed() -> Any:
    """Ask a function that says yes or no, over what a background allows."""
    names = PLAIN.vocabulary
    rule = Rule(names.mask(["bird"]), names.mask(["feathers"]))
    space = Space(PLAIN.attributes, None, (rule,))
    return hornlens.extract(FunctionTarget(lambda n: "swims" not in n or "flies" not in n, space))


def worlds() -> Any:
    """Ask two functions as two worlds."""
    job = Nominal("job", ("nurse", "pilot", "cook"))
    space = Space((job, Nominal("young", ("young",))), Nominal("answer", ("yes", "no")))

    def asks(*yes: str) -> FunctionTarget:
        return FunctionTarget(lambda names: "yes" if set(names) & set(yes) else "no", space)

    both = {"old": asks("nurse"), "new": asks("nurse", "pilot")}
    return hornlens.extract(Worlds("two models", both, "model"))


def _ticking(limit: int) -> Limits:
    """Return a limit of time whose clock ticks when it is looked at."""
    ticks = count()
    return Limits(time_limit=limit, clock=lambda: float(next(ticks)))


def ended() -> Any:
    """Ask a function until its time is over, before all is asked."""
    return hornlens.extract(FunctionTarget(_answer, SPACE), limits=_ticking(8))


def ended_learner() -> Any:
    """Let a learner ask until its time is over: some rules are proved, others are hypotheses."""
    settings = Settings("pac", epsilon=0.3, delta=0.3)
    target = FunctionTarget(_answer, SPACE)
    return hornlens.extract(target, settings=settings, limits=_ticking(40))


def _sampled(certain: float) -> FunctionModel:
    rng = Random(0)

    def call(prompt: str, words: Sequence[str]) -> list[float]:
        usual = "nurse" in prompt
        said = usual if rng.random() < certain else not usual
        return [1.0, 0.0] if said else [0.0, 1.0]

    return FunctionModel(call, "sampled", sampled=True)


def noisy_alpha() -> Any:
    """Ask a model that samples, until a test decides each answer."""
    repeats = Repeats(30, 0.2)
    return hornlens.extract(_sampled(0.9), "inputs/jobs.yaml", cache=False, repeats=repeats)


def noisy_worlds() -> Any:
    """The same in two phrasings, with answers that would settle a rule asked again."""
    repeats = Repeats(20, 0.2, settle=20)
    return hornlens.extract(_sampled(0.8), "inputs/phrasings.yaml", cache=False, repeats=repeats)


def noisy_drift() -> Any:
    """Ask a model whose log-probabilities move a little from one time to the next."""
    rng = Random(1)

    def call(prompt: str, words: Sequence[str]) -> list[float]:
        lead = 1.0 if "nurse" in prompt else -0.2 if "Asia" in prompt else -1.0
        return [lead + rng.random() / 4, 0.0]

    model = FunctionModel(call, "drifting")
    return hornlens.extract(model, "inputs/jobs.yaml", cache=False, repeats="auto")


def repeated() -> Any:
    """Ask a model that samples three times, and take what most answers say."""
    return hornlens.extract(_sampled(0.8), "inputs/jobs.yaml", cache=False, repeats=3)


def silent() -> Any:
    """Ask a function that never answers."""
    return hornlens.extract(FunctionTarget(lambda names: None, SPACE))


def _classifier(rows: Any) -> Any:
    return np.where((rows[:, 0] >= 30) & (rows[:, 1] > 1), "yes", "no")


def classifier() -> Any:
    """Extract the rules of a classifier as a target: rows that are typical of a cell are asked."""
    rows = np.array([[age, income] for age in (20, 40) for income in (1, 2, 3)])
    bins = {"x0": [30], "x1": [2]}
    return hornlens.extract(hornlens.ClassifierTarget.of(_classifier, rows, bins=bins))


def every_rule() -> Any:
    """Explain a function: every rule."""
    rows = np.array([[age, income] for age in (20, 40) for income in (1, 2, 3)])
    return hornlens.explain(_classifier, rows, bins={"x0": [30], "x1": [2]}, rules="all")


def short_rules() -> Any:
    """Explain a function: every rule with one condition."""
    rows = np.array([[age, income] for age in (20, 40) for income in (1, 2, 3)])
    bins = {"x0": [30], "x1": [2]}
    return hornlens.explain(_classifier, rows, bins=bins, max_conditions=1)


def _chat(say: Callable[[str], str] | None, **options: Any) -> Any:
    from hornlens.models.protocol import ModelOptions
    from hornlens.models.registry import open_model

    with ChatServer(port=PORT, logprobs=say is None, schema=False, say=say) as server:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, **options))
        return hornlens.extract(model, "inputs/jobs.yaml", cache="answers.sqlite")


def chat() -> Any:
    """Ask a chat model that gives log-probabilities to choose, in both orders."""
    return _chat(None, elicit="choose")


def chat_says() -> Any:
    """Ask a chat model for a word; at times it refuses, or says something else."""

    def say(sentence: str) -> str:
        if "soldier" in sentence:
            return "I'm sorry, but I can't help with that."
        return "She" if "nurse" in sentence else "He" if "Asia" in sentence else "They"

    return _chat(say, elicit="say")


RESULTS: tuple[Callable[[], Any], ...] = (
    *(spaces, assumed, worlds, ended, ended_learner, silent),
    *(noisy_alpha, noisy_worlds, noisy_drift, repeated, chat, chat_says),
    *(classifier, every_rule, short_rules),
)
EXPLAINED = ("forest", "beyond", "binned", "people", "near", "drawn", "constant", "nasty")
"""Shapes of explanations, of which the tests have models and rows."""


def results() -> Iterator[tuple[str, str, Any]]:
    """Yield the name of each result, how it is made, and itself."""
    for make in RESULTS:
        name = make.__name__.replace("_", "-")
        yield name, f"tools.old_files.library.{make.__name__}: {make.__doc__}", make()
    for name in EXPLAINED:
        model, rows, options = CASES[name]()
        how = f"tests.explanation_cases.{name}: {CASES[name].__doc__}"
        yield f"explain-{name}", how, hornlens.explain(model, rows, **options)
