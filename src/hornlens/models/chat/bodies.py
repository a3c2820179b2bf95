"""The body of a call: the JSON that is sent, made in one place for sending and for showing."""

from __future__ import annotations

from typing import Any, NamedTuple

from hornlens.models.chat.calls import Call, Manner

TOOL = "answer"
"""The tool that an Anthropic model is made to use where its reply must be one of a few."""


class Body(NamedTuple):
    """What is sent for a call, and to which path under the endpoint's address."""

    path: str
    content: dict[str, Any]


def body_of(dialect: str, model: str, call: Call, manner: Manner) -> Body:
    """Return what is sent for a call in a dialect, to an endpoint with such a manner."""
    make = _anthropic if dialect == "anthropic" else _openai
    return make(model, call, manner)


def _openai(model: str, call: Call, manner: Manner) -> Body:
    if call.echo:
        content: dict[str, Any] = {"model": model, "max_tokens": 1, "temperature": 0.0}
        content |= {"prompt": call.user, "echo": True, "logprobs": 1}
        return Body("/completions", content)
    content = {"model": model, manner.room: call.room}
    if manner.temperature:
        content["temperature"] = call.temperature
    if manner.seed and call.seed is not None:
        content["seed"] = call.seed
    if call.top:
        content |= {"logprobs": True, "top_logprobs": min(call.top, manner.top)}
    if call.choices:
        schema = {"name": TOOL, "strict": True, "schema": _schema(call.choices)}
        content["response_format"] = {"type": "json_schema", "json_schema": schema}
    system = [{"role": "system", "content": call.system}] if call.system else []
    content["messages"] = [*system, {"role": "user", "content": call.user}]
    return Body("/chat/completions", content)


def _anthropic(model: str, call: Call, manner: Manner) -> Body:
    content: dict[str, Any] = {"model": model, "max_tokens": call.room}
    if manner.temperature:
        content["temperature"] = call.temperature
    if call.system:
        content["system"] = call.system
    if call.choices:
        content["tools"] = [
            {
                "name": TOOL,
                "description": "Give the answer.",
                "input_schema": _schema(call.choices),
            }
        ]
        content["tool_choice"] = {"type": "tool", "name": TOOL}
    content["messages"] = [{"role": "user", "content": call.user}]
    return Body("/v1/messages", content)


def _schema(choices: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(choices)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
