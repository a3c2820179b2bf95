"""Names that look alike and are not the same: composed differently, wide, with hidden characters.

Two names look alike if they are equal once compatible forms are united (NFKC), characters that are
not shown are left out, and Cyrillic and Greek letters that look Latin are read as Latin. Upper and
lower case look different.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LETTERS = str.maketrans(
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧονϲϳ",
    "aeopcyxijshdqwABEKMHOPCTYXIJSGABEZHIKMNOPTYXovcj",
)
_HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
MOST = 5
"""How many pairs are named."""


def skeleton(name: str) -> str:
    """Return what a name looks like: the same for names that look alike.

    >>> skeleton("ｎurse") == skeleton("nur\\u200bse") == skeleton("nursе") == "nurse"
    True
    """
    if name.isascii():
        return name
    text = unicodedata.normalize("NFKC", name).translate(_LETTERS)
    shown = (
        character
        for character in text
        if unicodedata.category(character) != "Cf"
        and character not in _HIDDEN
        and not "\ufe00" <= character <= "\ufe0f"
    )
    return unicodedata.normalize("NFKC", "".join(shown))


def look_alikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of different names that look alike: each with the first that looks so.

    >>> look_alikes(["nurse", "Nurse", "ｎurse"])
    [('nurse', 'ｎurse')]
    """
    names = list(dict.fromkeys(names))
    if all(name.isascii() for name in names):
        return []
    first: dict[str, str] = {}
    pairs = ((first.setdefault(skeleton(name), name), name) for name in names)
    return [(one, other) for one, other in pairs if one != other]


def look_alike_sentence(one: str, other: str) -> str:
    """Return that two names look alike, and where they differ, by code points.

    >>> look_alike_sentence("nurse", "ｎurse")
    '“nurse” and “ｎurse” look alike and are not the same: U+006E, U+FF4E'
    """
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    parts = (_points(name[start : len(name) - end]) for name in (one, other))
    return f"“{one}” and “{other}” look alike and are not the same: {', '.join(parts)}"


def look_alike_sentences(names: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each of the first pairs of names that look alike."""
    return tuple(look_alike_sentence(*pair) for pair in look_alikes(names)[:MOST])


def alike(name: str, names: Iterable[str]) -> str:
    """Return which of some names looks like one that is not among them, as the end of an error."""
    for one, other in look_alikes((*names, name)):
        if other == name:
            return f"; {look_alike_sentence(one, other)}"
    return ""


def _points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text) or "nothing"
