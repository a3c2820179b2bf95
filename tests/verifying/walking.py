"""Changing every field of a saved result: what does `verify` make of each?

A walk changes one thing at a time: a value, an entry that goes, comes twice or changes places, a
field that is dropped. The digest is mended after each change, as a forger would. What was changed
must be refused, or stand among what is not checked, or be harmless by the ledger.
"""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornlens.errors import HornlensError
from hornlens.formats.digests import KEY, with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.verification import verify

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Change:
    """One change of a document: where, as keys and places; what was done; and what came out."""

    keys: tuple[Any, ...]
    how: str
    content: Any

    @property
    def where(self) -> str:
        """The field as a path: answers[3].scores[0]."""
        parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys]
        return "".join(parts).lstrip(".")

    def pattern_in(self, ledger) -> str:
        """The field as the ledger names it."""
        pattern = ""
        for key in self.keys:
            if isinstance(key, int):
                pattern += "[]"
            elif pattern in ledger._mappings:
                pattern += ".*"
            else:
                pattern += f".{key}" if pattern else key
        return pattern

    def __str__(self) -> str:
        return f"{self.where}: {self.how}"


def changed_values(value: Any, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield other values of the same type, and one of another."""
    if isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, int):
        for other in (value + 1, value - 1, -value, 0, value * 1000 + 7):
            if other != value:
                yield f"{other} instead of {value}", other
    elif isinstance(value, float):
        for other in (value + 0.5, value / 2, -value, 0.0):
            if other != value:
                yield f"{other} instead of {value}", other
    elif isinstance(value, str):
        yield "another text", value + rng.choice(LETTERS)
        if value[::-1] != value:
            yield "a text backwards", value[::-1]
        if value:
            yield "an empty text", ""
    elif value is None:
        yield "0 instead of null", 0
        yield "a text instead of null", "x"
    if value is not None:
        yield "null", None


def changes(content: Any, rng: random.Random, most: int | None = None) -> Iterator[Change]:
    """Yield changed documents: of every field, or of at most so many places for each pattern."""
    spots = list(_spots(content, ()))
    rng.shuffle(spots)
    seen: dict[tuple[Any, ...], int] = {}
    for keys in spots:
        if keys == (KEY,):
            continue
        shape = tuple("[]" if isinstance(key, int) else key for key in keys)
        seen[shape] = seen.get(shape, 0) + 1
        if most is not None and seen[shape] > most:
            continue
        yield from _changes_at(content, keys, rng)


def _spots(content: Any, keys: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of everything in a document: values, lists and objects."""
    if keys:
        yield keys
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _spots(value, (*keys, key))
    elif isinstance(content, list):
        for place, value in enumerate(content):
            yield from _spots(value, (*keys, place))


def _changes_at(content: Any, keys: tuple[Any, ...], rng: random.Random) -> Iterator[Change]:
    value = content
    for key in keys:
        value = value[key]

    def with_value(how: str, other: Any) -> Change:
        copy = deepcopy(content)
        _parent(copy, keys)[keys[-1]] = other
        return Change(keys, how, copy)

    if isinstance(value, dict):
        if value:
            yield with_value("emptied", {})
    elif isinstance(value, list):
        if value:
            place = rng.randrange(len(value))
            yield with_value("an entry less", value[:place] + value[place + 1 :])
            yield with_value("an entry twice", [*value, value[place]])
        if len(value) > 1 and value[::-1] != value:
            yield with_value("backwards", value[::-1])
    else:
        for how, other in changed_values(value, rng):
            yield with_value(how, other)
    copy = deepcopy(content)
    del _parent(copy, keys)[keys[-1]]
    if not isinstance(keys[-1], int):
        yield Change(keys, "dropped", copy)


def _parent(content: Any, keys: tuple[Any, ...]) -> Any:
    for key in keys[:-1]:
        content = content[key]
    return content


def judged(path: Path, change: Change, **how: Any) -> tuple[str, frozenset[str]]:
    """Write a changed document in the place of another; say what `verify` makes of it.

    "refused: …", or "accepted", and the fields that it then names as not checked. The files beside
    it stay as they are, so that a change that should show in them does: `verify` has to be given
    the document alone to try what it says itself.
    """
    path.write_text(json_text(with_digest(change.content)), encoding="utf-8")
    try:
        done = verify(path, **how)
    except HornlensError as error:
        return f"refused: {error}", frozenset()
    if not done.ok:
        return f"refused: {done.wrong}", frozenset()
    return "accepted", frozenset(field for fields in done.intact.values() for field in fields)


def outcome(path: Path, change: Change, **how: Any) -> str:
    """Say what `verify` makes of a changed document: "refused: …", or "accepted"."""
    return judged(path, change, **how)[0]


def denies(ledger, content: Any, change: Change) -> str | None:
    """Return "recomputed" or "rewritten" if the ledger says so of what was changed.

    Of a list or an object, it is denied if any field in it is: one less, or twice, claims more.
    """
    pattern, value = change.pattern_in(ledger), content
    for key in change.keys:
        value = value[key]
    if change.how == "dropped" and pattern in ledger.fates:
        kind = ledger.fates[pattern].kind  # that of the whole section, not of what it holds
        return kind if kind in ("recomputed", "rewritten") else None
    inner = ledger._patterns(value, pattern) if isinstance(value, dict | list) else ()
    fates = [ledger.fate(one).kind for one in (pattern, *inner)]
    return next((kind for kind in fates if kind in ("recomputed", "rewritten")), None)


def accepted_changes(
    path: Path, ledger, rng, most=None, count=None, **how
) -> tuple[list[str], int]:
    """Walk through a document; return the changes that `verify` takes and does not own up to.

    A change may be accepted if the ledger calls its field intact or harmless, or if that very run
    of `verify` names it as not checked. Beside them, how many changes were tried. `path` is put
    back as it was.
    """
    before = path.read_text(encoding="utf-8")
    content, wrong, tried = json.loads(before), [], 0
    each = list(changes(content, rng, most))
    if count is not None and len(each) > count:
        each = rng.sample(each, count)
    try:
        for change in each:
            tried += 1
            kind = denies(ledger, content, change)
            came_out, named = judged(path, change, **how)
            owned = kind is None or _is_named(change.pattern_in(ledger), named)
            if came_out == "accepted" and not owned:
                wrong.append(f"{change} ({kind})")
    finally:
        path.write_text(before, encoding="utf-8")
    return wrong, tried


def _is_named(pattern: str, named: frozenset[str]) -> bool:
    """Return whether a field, or something in it, is among those named."""
    inner = (f"{pattern}.", f"{pattern}[]")
    return pattern in named or any(field.startswith(inner) for field in named)
