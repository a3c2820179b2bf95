"""Chat models by their specs: what stands before the name says where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from hornlens.models.chat.address import (
    Address,
    anthropic_address,
    ollama_address,
    openai_address,
)
from hornlens.models.chat.budget import Budget
from hornlens.models.chat.connection import AT_ONCE, Connection
from hornlens.models.chat.gguf import has_chat_template
from hornlens.models.chat.llamacpp import Server
from hornlens.models.chat.model import ChatModel
from hornlens.models.chat.pacing import Patience
from hornlens.models.protocol import ModelError, ModelOptions, Remember

ADDRESSES: dict[str, Callable[[str | None], Address]] = {
    "openai": openai_address,
    "anthropic": anthropic_address,
    "ollama": ollama_address,
}


def chat_model(kind: str, model: str, options: ModelOptions) -> ChatModel:
    """Return the model of a name at an endpoint; nothing is sent yet."""
    connection = _connection(model, lambda: ADDRESSES[kind](options.base_url), options, AT_ONCE)
    return ChatModel(f"{kind}/{model}", connection, options)


def gguf_model(file: Path, options: ModelOptions) -> ChatModel:
    """Return a GGUF file, asked through a server that is started when it is needed.

    Its identity is the file's content.
    """

    def content(remember: Remember) -> str:
        if not file.is_file():
            raise ModelError(f"gguf/{file}: no such file")
        return remember(file, _sha256)

    # One is computed while the next waits at the server's door.
    connection = _connection(file.name, Server(file, options.threads).start, options, 2)
    connection.no_chat = lambda: _without_template(file)
    connection.here = "llama.cpp on this machine, /v1"
    return ChatModel(f"gguf/{file}", connection, options, content)


def _without_template(file: Path) -> str:
    """Return why a file is no chat model; empty: it is one, or it cannot be told."""
    if has_chat_template(file) is not False:
        return ""
    return (
        f"gguf/{file}: has no chat template, so it is no chat model: use its instruct version, or "
        "the same model as causal/NAME (or --elicit likelihood, where a server can do that)"
    )


def _connection(
    model: str, open_it: Callable[[], Address], options: ModelOptions, at_once: int
) -> Connection:
    return Connection(
        model,
        open_it,
        Budget(options.limits),
        options.temperature,
        options.batch_size or at_once,
        Patience(timeout=options.timeout),
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
