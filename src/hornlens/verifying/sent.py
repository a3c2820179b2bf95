"""What was sent, held against the answers: the example, its messages, its orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hornlens.verifying.answers import Answer
from hornlens.verifying.grids import Wrong

MASK, BLANK = "[MASK]", "____"
"""Where a candidate goes, in prompts as they are recorded and as chat models read them."""
KEYS, MORE_KEYS = "123456789", "ABCDEFGHIJKLMNOPQRST"
"""What options are called, up to nine of them and beyond."""
SECRETS = {"api_key", "api-key", "x-api-key", "authorization", "key", "token"}
"""What no body may have among its fields."""
NOT_CHECKED = "that what was sent arrived so: only who received it could say"


def check_sent(
    content: Mapping[str, Any], worlds: Mapping[str | None, Sequence[Answer]]
) -> str | None:
    """Check what a result says was sent; return what was checked, None if it does not say."""
    lines = content.get("sent")
    if lines is None:
        return None
    compared = "compared" in content["probe"]
    for number, line in enumerate(lines):
        variant = line.get("variant")
        if variant not in worlds:
            raise Wrong(f"sent {number}: of no variant, {variant!r}")
        answer = _recorded(line["prompt"], worlds[variant], compared)
        if answer is None:
            raise Wrong(f"sent {number}: the example is no prompt that was answered")
        if not compared:
            _check_candidates(number, line, content, variant)
        _check_line(number, line, None if compared else answer)
    return (
        f"sent: {len(lines):,} of the recorded prompts, each in the messages or texts that are "
        "shown, with the candidates in the orders of its replies"
    )


def _recorded(prompt: str, answers: Sequence[Answer], compared: bool) -> Answer | None:
    """Return the answer to a prompt; those that are compared say more than the prompt."""
    for answer in answers:
        for text in answer.line["prompts"]:
            if text == prompt or (compared and text.endswith(f": {prompt}")):
                return answer
    return None


def _check_candidates(
    number: int, line: Mapping[str, Any], content: Mapping[str, Any], variant: str | None
) -> None:
    """Check that the candidates are the words of the labels, in their order."""
    own = [each for each in content.get("variants", ()) if each["name"] == variant]
    words = (own[0] if own else content["probe"])["label"].values()
    given = line["candidates"]
    # Where phrasings are averaged, each may have words of its own.
    fits = len(given) == len(words) and all(
        word == text or word in text.split(" / ") for word, text in zip(given, words, strict=True)
    )
    if not fits:
        raise Wrong(f"sent {number}: the candidates are not the words of the labels")


def _check_line(number: int, line: Mapping[str, Any], answer: Answer | None) -> None:
    prompt, words = line["prompt"], line["candidates"]
    calls, texts = line.get("calls", ()), line.get("texts", ())
    if not calls and not texts:
        raise Wrong(f"sent {number}: nothing")
    begin, mask, end = prompt.partition(MASK)
    for text in texts:
        there = text.startswith(begin) and text.endswith(end) and len(text) > len(begin + end)
        if not mask or not there:
            raise Wrong(f"sent {number}: a text that is not the example’s")
    for call in calls:
        body, order = call["body"], call.get("order", [])
        if SECRETS & {name.lower() for name in body}:
            raise Wrong(f"sent {number}: a body with a key in it")
        offered = [words[place] for place in order]
        if "prompt" in body:
            if [body["prompt"]] != [prompt.replace(MASK, word) for word in offered]:
                raise Wrong(f"sent {number}: a text that is not the example’s")
            continue
        if _messages(body) != _expected(line, prompt, offered):
            raise Wrong(f"sent {number}: messages that are not the example in the template")
        if order and offered not in line.get("orders", []):
            raise Wrong(f"sent {number}: an order that is none of those listed")
    if answer is not None and len(answer.line["prompts"]) == 1 and calls:
        orders = [call.get("order", []) for call in calls]
        replies = answer.line.get("replies", [])
        if any(reply.get("order", []) not in orders for reply in replies) and not line.get("drawn"):
            raise Wrong(f"sent {number}: a reply to the example has another order")


def _messages(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return role and content of each message; one dialect has the system message apart."""
    system = [("system", body["system"])] if "system" in body else []
    return [*system, *((each["role"], each["content"]) for each in body["messages"])]


def _expected(
    line: Mapping[str, Any], prompt: str, offered: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the messages that a prompt gives in the template that is shown."""
    keys = KEYS if len(offered) <= len(KEYS) else MORE_KEYS
    if line["method"] == "choose":
        named = [f"{key}. {word}" for key, word in zip(keys, offered, strict=False)]
    else:
        named = [f"- {word}" for word in offered]
    # What a template has before and behind the sentence: a prompt with braces stays as it is.
    parts = [
        p.replace("{options}", "\n".join(named)) for p in line["template"].split("{sentence}", 1)
    ]
    user = prompt.replace(MASK, BLANK).join(parts)
    system = line.get("system", "")
    return [*([("system", system)] if system else []), ("user", user)]
