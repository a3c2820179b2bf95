"""How a chat model is asked: the sentence with a blank, the candidates in an order, the task."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hornlens.models.protocol import MASK, Elicitation

WORDING_VERSION = 1
"""Part of the identity: raised whenever the built-in words change."""
BLANK = "____"
ONLY = "only-"
"""Before the number of the one order in which candidates are offered."""
DIGITS, LETTERS = "123456789", "ABCDEFGHIJKLMNOPQRST"
"""What candidates are called where one token has to name them, up to nine of them and beyond. A
digit is one token everywhere, and unlike A and I no word that a reply could begin with."""
SYSTEM = (
    "You complete sentences. Reply with what is asked for and nothing else: "
    "no explanation, no punctuation."
)
USER = {
    "choose": (
        f"Which option completes the sentence best, in place of {BLANK}?\n\n"
        "Sentence: {sentence}\n\n{options}\n\nReply with the number or letter of the option only."
    ),
    "constrained": (
        f"Which option completes the sentence best, in place of {BLANK}?\n\n"
        "Sentence: {sentence}\n\nOptions:\n{options}"
    ),
    "say": (
        f"Complete the sentence: what stands best in place of {BLANK}? Reply with that only.\n\n"
        "Sentence: {sentence}"
    ),
    "likelihood": "{sentence}",
}


def keys(count: int) -> str:
    """Return what so many candidates are called; too few if there is none for each."""
    return DIGITS[:count] if count <= len(DIGITS) else LETTERS[:count]


def system_of(elicitation: Elicitation) -> str:
    """Return the probe's instruction, or the built-in one."""
    return elicitation.system or SYSTEM


def user_of(method: str, elicitation: Elicitation) -> str:
    """Return the probe's wording, or the built-in one. A sentence's likelihood has none."""
    return USER[method] if method == "likelihood" else elicitation.user or USER[method]


def orders(words: Sequence[str], how: str, offered: bool = True) -> list[tuple[int, ...]]:
    """Return the orders in which candidates are offered, the same whatever theirs is.

    Up to three candidates are rotated: each stands in each place once. More are offered forwards
    and backwards: on average, each stands in the middle.
    """
    if not offered:
        return [()]
    base = tuple(sorted(range(len(words)), key=lambda place: words[place]))
    if how == "once":
        return [base]
    if len(base) <= 3:
        every = [base[start:] + base[:start] for start in range(len(base))]
    else:
        every = [base, base[::-1]]
    number = how.removeprefix(ONLY)
    return [every[int(number)]] if number.isdigit() else every


def longest_of(words: Sequence[str]) -> int:
    """Return how many bytes the longest candidate has, as JSON: no token has less than one."""
    return max((len(json.dumps({"answer": word})) for word in words), default=0)


def question(wording: str, method: str, prompt: str, offered: Sequence[str]) -> str:
    """Return what the model is asked, with the candidates as they are offered."""
    if method == "choose":
        named = zip(keys(len(offered)), offered, strict=True)
        options = "\n".join(f"{key}. {word}" for key, word in named)
    else:
        options = "\n".join(f"- {word}" for word in offered)
    # One after the other, so that a prompt with braces in it stays as it is.
    before, slot, after = wording.partition("{sentence}")
    parts = [part.replace("{options}", options) for part in (before, after)]
    return (prompt.replace(MASK, BLANK) if slot else "").join(parts)
