"""The ledger: what becomes of each field of a document when it is verified.

A field is *recomputed* by the independent code of this package; *rewritten*: it follows from other
fields, and the code that writes results wrote it again; *intact*: only the digest covers it, which
stops accidents and no forger, so it is listed by name under what is not checked; or *harmless*: it
claims nothing. A field that no ledger knows counts as intact, under its own name.

Fields are named by patterns: `answers[].scores[]` are all scores, `probe.label.*` all entries of a
mapping whose keys are data, `sift.**` everything below. A test changes every field of every kind of
result and holds the ledger to its word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["recomputed", "rewritten", "intact", "harmless"]


@dataclass(frozen=True)
class Fate:
    """What becomes of a field; `words` names it for people, or says why it is harmless."""

    kind: Kind
    words: str = ""


RECOMPUTED, REWRITTEN = Fate("recomputed"), Fate("rewritten")


def intact(words: str) -> Fate:
    """Return the fate of what nothing but the digest covers; `words` names it for people."""
    return Fate("intact", words)


def harmless(why: str) -> Fate:
    """Return the fate of what claims nothing, with the reason."""
    return Fate("harmless", why)


@dataclass(frozen=True)
class Ledger:
    """The fates of the fields of one kind of document, by patterns.

    >>> ledger = Ledger({"rules[].if[]": RECOMPUTED, "model.**": intact("the model's name")})
    >>> ledger.fate("model.name").words, ledger.fate("size").kind
    ("the model's name", 'intact')
    >>> ledger.intact_in({"rules": [{"if": ["a"]}], "model": {"name": "x"}, "size": 3})
    {"the model's name": ('model.name',), 'size (unknown to this version)': ('size',)}
    """

    fates: Mapping[str, Fate]

    @cached_property
    def _mappings(self) -> frozenset[str]:
        """The patterns of mappings whose keys are data."""
        parts = (pattern.split(".*") for pattern in self.fates if "**" not in pattern)
        return frozenset(".*".join(part[:count]) for part in parts for count in range(1, len(part)))

    def fate(self, pattern: str) -> Fate:
        """Return what becomes of a field."""
        for own in (pattern, f"{pattern}[]", f"{pattern}.*"):  # an empty list is one of its items
            if own in self.fates:
                return self.fates[own]
        whole = pattern.replace("[]", ".[]").split(".")
        for count in range(len(whole), 0, -1):
            above = ".".join(whole[:count]).replace(".[]", "[]")
            if (fate := self.fates.get(f"{above}.**")) is not None:
                return fate
        below = (f"{pattern}[]", f"{pattern}.")  # of an empty list or object
        kinds = {fate.kind: fate for own, fate in self.fates.items() if own.startswith(below)}
        for kind in ("recomputed", "rewritten", "intact", "harmless"):
            if kind in kinds:
                return kinds[kind]
        return intact(f"{pattern} (unknown to this version)")

    def patterns(self, content: Any) -> dict[str, None]:
        """Return the patterns of all fields of a document, in their order."""
        return dict.fromkeys(self._patterns(content, ""))

    def _patterns(self, content: Any, above: str) -> Iterator[str]:
        if isinstance(content, Mapping):
            if above in self._mappings:
                inner = {f"{above}.*": list(content.values())}
            else:
                dot = "." if above else ""
                inner = {f"{above}{dot}{key}": [value] for key, value in content.items()}
            if not inner or not content:
                yield above
        elif isinstance(content, list):
            inner = {f"{above}[]": content}
            if not content:
                yield above
        else:
            yield above
            return
        for pattern, values in inner.items():
            nested = [value for value in values if isinstance(value, dict | list)]
            if len(nested) < len(values):
                yield pattern
            seen: dict[str, None] = {}
            for value in nested:
                seen.update(dict.fromkeys(self._patterns(value, pattern)))
            yield from seen

    def rewritten_in(self, content: Any) -> tuple[str, ...]:
        """Return the fields of a document that only writing it again can check."""
        return tuple(p for p in self.patterns(content) if self.fate(p).kind == "rewritten")

    def intact_in(self, content: Any) -> dict[str, tuple[str, ...]]:
        """Return what nothing but the digest covers in a document: its name, and the fields."""
        fields: dict[str, list[str]] = {}
        for pattern in self.patterns(content):
            fate = self.fate(pattern)
            if fate.kind == "intact":
                fields.setdefault(fate.words, []).append(pattern)
        return {words: tuple(patterns) for words, patterns in fields.items()}
