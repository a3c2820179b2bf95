"""Secrets of this process are cut out of whatever comes in from outside, and out of messages.

An endpoint may repeat the key that it was sent: as it is, encoded, reversed, in pieces. Its reply
goes into caches, results and pages, so it is cleared where it comes in, before anything else
sees it. Letters and digits alone are compared, whatever stands between them and whatever their
case. A run of RUN of them that a longer secret has, too, is enough.
"""

from __future__ import annotations

import base64
import html
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

REMOVED = "[key removed]"
"""Stands where a secret stood."""
RUN = 12
"""So many letters and digits of a secret, one after the other, are cut out wherever they stand."""
SHORT, LONG = 8, 20
"""Characters: a shorter secret may be an ordinary word; a longer one is cut out in parts, too."""
SHORTEST = 4
"""Characters: what is shorter hides nothing."""
_PROBED = 6
"""Any run of RUN has one of that length at a multiple of that length: only these are looked at."""
_NAMES = re.compile(r"(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$|^PGPASSWORD$", re.I)
"""The variables of the environment that hold a secret."""
_PROXIES = re.compile(r"^(?:https?|all|ftp)_proxy$", re.I)
_HEADERS = re.compile(r"_CUSTOM_HEADERS$")
_WORDS = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*")
_MIXED = re.compile(r"(?=.*\d)(?=.*[^\W\d_])")
_BETWEEN = re.compile(r"[\W_]+")
_ESCAPES = re.compile(r"\\(?:u\{?([0-9a-fA-F]{1,6})\}?|x([0-9a-fA-F]{2})|([0-7]{3}))")
_HALVES = re.compile("[\ud800-\udfff]")


def environment_secrets() -> tuple[str, ...]:
    """Return the keys, tokens and passwords that the environment holds, also those of proxies."""
    values: list[str] = []
    for name, value in os.environ.items():
        if _NAMES.search(name):
            values.append(value.strip())
        elif _PROXIES.match(name):
            values += _passwords(value)
        elif _HEADERS.search(name):
            values += [line.partition(":")[2].strip() for line in value.splitlines()]
    return tuple(dict.fromkeys(value for value in values if value))


def without_known(text: str, *secrets: str) -> str:
    """Return a message without these secrets and those of the environment.

    The latter also where they are ordinary words: a message loses little by that.
    """
    own = environment_secrets()
    for secret in own:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, REMOVED)
    cleaned: str = redactor((*secrets, *own)).cleared(text)
    return cleaned


@lru_cache(maxsize=8)
def redactor(secrets: tuple[str, ...]) -> Redactor:
    """Return what cuts out these secrets; it is made once."""
    return Redactor(tuple(dict.fromkeys(secrets)))


@dataclass(frozen=True)
class Redactor:
    """Cuts secrets out of texts.

    A secret that could be an ordinary word (fewer than SHORT characters, or fewer than LONG and
    only words) is cut out only behind "Bearer" and the like; with letters and digits in it, also
    where it stands by itself.
    """

    secrets: tuple[str, ...]

    @cached_property
    def _plain(self) -> re.Pattern[str] | None:
        """What finds those that could be words."""
        parts = []
        for secret in filter(could_be_word, self.secrets):
            own = re.escape(secret)
            parts.append(rf"(?i:\b(?:bearer|basic|api[-_ ]?key)\b)\W{{1,4}}{own}(?!\w)")
            if (
                len(secret) >= SHORTEST
                and re.search(r"\d", secret)
                and re.search(r"[^\W\d]", secret)
            ):
                parts.append(rf"(?<!\w){own}(?!\w)")
            encoded = base64.b64encode(f"Bearer {secret}".encode()).decode().rstrip("=")
            parts.append(re.escape(encoded))
        return re.compile("|".join(parts)) if parts else None

    @cached_property
    def _forms(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Those that are cut out whole; runs of the others; and the parts of these to look for."""
        whole, runs = set[str](), set[str]()
        for secret in self.secrets:
            if could_be_word(secret):
                continue
            for form in spellings_of(secret):
                if len(secret) < LONG:
                    whole.add(form)
                else:
                    runs |= {form[k : k + RUN] for k in range(max(1, len(form) - RUN + 1))}
        probes = {run[k : k + _PROBED] for run in runs for k in range(len(run) - _PROBED + 1)}
        return frozenset(whole), frozenset(runs), frozenset(probes)

    def cleared(self, content: Any) -> Any:
        """Return JSON, or a text, without secrets, and without half characters.

        All its texts are looked at together: a secret may be split over several of them. Half
        characters (lone surrogates) can be written to no file.
        """
        names, values = list[str](), list[str]()
        _collect(content, names, values)
        cut = [self._cut(texts) for texts in (names, values)]
        if cut == [names, values]:
            return content
        return _replaced(content, iter(cut[0]), iter(cut[1]))

    def _cut(self, texts: list[str]) -> list[str]:
        """Return texts as they should be; most often as they are, which is found out quickly."""
        joined = "\0".join(texts)
        if not joined.isascii() and _HALVES.search(joined):
            texts = [whole_text(text) for text in texts]
        if any(mark in joined for mark in "&%\\"):
            texts = [self._without_escapes(text) for text in texts]
        if (pattern := self._plain) is not None and pattern.search(joined):
            texts = [pattern.sub(REMOVED, text) for text in texts]
        return self._without_spans(texts) if self._suspicious(letters_of(joined)) else texts

    def _suspicious(self, letters: str) -> bool:
        whole, _, probes = self._forms
        if any(form in letters for form in whole):
            return True
        parts = (letters[k : k + _PROBED] for k in range(0, len(letters), _PROBED))
        return not probes.isdisjoint(parts)

    def _without_spans(self, texts: list[str]) -> list[str]:
        """Cut out what is there, also what begins in one text and ends in the next."""
        letters: list[str] = []
        origins: list[tuple[int, int]] = []
        for row, text in enumerate(texts):
            for column, character in enumerate(text):
                for letter in letters_of(character):
                    letters.append(letter)
                    origins.append((row, column))
        marked: dict[int, set[int]] = {}
        for place in self._hits("".join(letters)):
            row, column = origins[place]
            marked.setdefault(row, set()).add(column)
        return [
            _without(text, marked[row]) if row in marked else text for row, text in enumerate(texts)
        ]

    def _hits(self, letters: str) -> set[int]:
        """Return the places of all letters that belong to a secret."""
        whole, runs, _ = self._forms
        hits: set[int] = set()
        for form in whole:
            start = letters.find(form)
            while start >= 0:
                hits.update(range(start, start + len(form)))
                start = letters.find(form, start + 1)
        for size in {len(run) for run in runs}:
            for start in range(len(letters) - size + 1):
                if letters[start : start + size] in runs:
                    hits.update(range(start, start + size))
        return hits

    def _without_escapes(self, text: str) -> str:
        """Return nothing of a text that has more of a secret in it than can be seen."""
        unescaped = _ESCAPES.sub(_character, unquote(html.unescape(text)))
        if unescaped == text:
            return text
        hidden = self._hits(letters_of(unescaped))
        return REMOVED if hidden and len(hidden) > len(self._hits(letters_of(text))) else text


def could_be_word(secret: str) -> bool:
    """Say whether a secret might stand in ordinary text by chance."""
    return len(letters_of(secret)) < SHORT or (
        len(secret) < LONG and _WORDS.fullmatch(secret) is not None
    )


def spellings_of(secret: str) -> set[str]:
    """Return the letters and digits of a secret as it may be written, forwards and backwards.

    As it is; in base64 and base32, whatever stands before and after it; in hexadecimal, which is
    also what is left of %XX and \\xXX; as numbers of characters, decimal and octal; escaped.
    """
    codes = secret.encode()
    written = {
        secret,
        codes.hex(),
        "".join(f"x{code:02x}" for code in codes),
        "".join(f"u{ord(character):04x}" for character in secret),
        "".join(str(code) for code in codes),
        "".join(f"{code:03o}" for code in codes),
    }
    for text in (codes, codes[::-1]):
        written |= {*_aligned(text, base64.b64encode, 6), *_aligned(text, base64.b32encode, 5)}
    letters = {letters_of(form) for form in written}
    both = letters | {form[::-1] for form in letters}
    return {form for form in both if len(form) >= SHORT}


def whole_text(text: str) -> str:
    """Return text with U+FFFD in the place of half characters, which no file can hold."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, in small letters and without accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return _BETWEEN.sub("", text.casefold())


def _aligned(codes: bytes, encode: Any, bits: int) -> Iterator[str]:
    """Yield what an encoding makes of bytes wherever they begin in it: what others do not touch."""
    for before in range({6: 3, 5: 5}[bits]):
        encoded = encode(b"\0" * before + codes).decode()
        first = -(-before * 8 // bits)
        yield encoded[first : (before + len(codes)) * 8 // bits]


def _passwords(address: str) -> list[str]:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        password = parts.password or ""
    except ValueError:
        return []
    return [password, unquote(password)]


def _collect(content: Any, names: list[str], values: list[str]) -> None:
    """Put all texts of JSON, in order, on two lists: the names of fields, and the rest."""
    if isinstance(content, str):
        values.append(content)
    elif isinstance(content, dict):
        for name, value in content.items():
            names.append(name)
            _collect(value, names, values)
    elif isinstance(content, list):
        for value in content:
            _collect(value, names, values)


def _replaced(content: Any, names: Iterator[str], values: Iterator[str]) -> Any:
    """Return JSON with other texts in place of its own, in the order of `_collect`."""
    if isinstance(content, str):
        return next(values)
    if isinstance(content, dict):
        return {next(names): _replaced(value, names, values) for value in content.values()}
    if isinstance(content, list):
        return [_replaced(value, names, values) for value in content]
    return content


def _without(text: str, columns: Iterable[int]) -> str:
    """Return a text without the characters at these places, and the marks between them."""
    parts, end = [], 0
    for start, stop in _spans(text, sorted(columns)):
        parts.append(text[end:start])
        end = stop
    return REMOVED.join([*parts, text[end:]])


def _spans(text: str, columns: list[int]) -> Iterator[tuple[int, int]]:
    """Yield where places follow one another with nothing but marks and spaces between them."""
    start = last = columns[0]
    for column in columns[1:]:
        if letters_of(text[last + 1 : column]):
            yield start, last + 1
            start = column
        last = column
    yield start, last + 1


def _character(match: re.Match[str]) -> str:
    unicode, byte, octal = match.groups()
    code = int(unicode or byte, 16) if not octal else int(octal, 8)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
