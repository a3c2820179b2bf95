"""The indefinite article: "a nurse", "an actor", "an hour", "a university"."""

from __future__ import annotations

import re

_SOUNDS_LIKE_A_CONSONANT = re.compile(
    r"(?:eu|ew|uni(?!n|m)|use|usu|uti|uto|ubi|ura|uk|one\b|once\b|one-)", re.IGNORECASE
)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)


def with_article(words: str) -> str:
    """Return the words with "a" or "an" before them, by how the first one sounds.

    >>> [with_article(w) for w in ("nurse", "actor", "hourly worker", "university", "uncle")]
    ['a nurse', 'an actor', 'an hourly worker', 'a university', 'an uncle']
    """
    first = words.lstrip()
    vowel = first[:1].lower() in "aeiou" and first[:1] != ""
    if (vowel and not _SOUNDS_LIKE_A_CONSONANT.match(first)) or _SILENT_H.match(first):
        return f"an {words}"
    return f"a {words}"
