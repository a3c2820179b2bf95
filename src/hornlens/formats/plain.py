"""Text of others made safe for people: nothing stays in it that a terminal or an editor obeys."""

from __future__ import annotations

import re
from collections.abc import Callable

_CONTROLS = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
_NO_CHARACTERS = "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff"
BEYOND_ASCII = _CONTROLS + _NO_CHARACTERS
"""DEL and the C1 controls, marks of direction, ends of lines, halves of characters, what is none: a
class of regular expressions. Letters of all scripts, and what joins them, are not among them."""
_OBEYED = re.compile(f"[\\x00-\\x1f{BEYOND_ASCII}]")


def visible(text: str) -> str:
    r"""Return text as one line, with what a terminal would obey shown as \x1b, \n or \u202e.

    All text for people goes through here: names, prompts, paths and messages come from files of
    others, and could clear the screen, forge lines or reverse what follows.
    """
    return escaped(text, lambda character: character.encode("unicode_escape").decode("ascii"))


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """Return text with all that a terminal would obey escaped, in a format's own way."""
    return _OBEYED.sub(lambda match: escape(match[0]), text)


def one_line(text: str) -> str:
    """Return text as one line that is safe to show; whatever white space it has is one space."""
    return visible(" ".join(text.split()))
