"""Names that fit into a figure: shortened only as far as they stay apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from hornlens.formats.plain import visible

LONGEST, WIDEST = 38, 44
"""Characters of a name: what is longer loses its middle; more are shown to tell names apart."""
CONTEXT = 12
"""Characters that names share, shown beside those in which they differ."""


def short_labels(names: Sequence[str]) -> list[str]:
    """Return the names, short enough for a figure, no two of them alike.

    Those that lose their difference with their middle show a little more of it. If that is not
    enough, they lose what they begin with in common; or else every part that they share.
    """
    labels = [short(name) for name in names]
    alike = [i for i, label in enumerate(labels) if labels.count(label) > 1]
    whole = [names[i] for i in alike]
    for way in (whole, _without_prefix(whole), _without_shared_parts(whole)):
        for longest in range(LONGEST, WIDEST + 1):
            for i, name in zip(alike, way, strict=True):
                labels[i] = short(name, longest)
            if len(set(labels)) == len(labels):
                return labels
    return [f"{i}: {short(name)}" for i, name in enumerate(names, 1)]


def _without_prefix(names: Sequence[str]) -> list[str]:
    """Return the names without what all begin with, but for some characters of context."""
    columns = zip(*names, strict=False)
    prefix = "".join(column[0] for column in takewhile(lambda c: len(set(c)) == 1, columns))
    start = len(prefix) - len(prefix[-CONTEXT:].rpartition("/")[2].lstrip("-_. "))
    return [f"…{name[start:]}" if start else name for name in names]


def _without_shared_parts(names: Sequence[str]) -> list[str]:
    """Return the names with the parts in which they differ, each after the part before it."""
    parts = [re.split(r"(?<=[-/_. ])", name) for name in names]
    if len({len(each) for each in parts}) != 1:
        return list(names)
    differs = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    shown = [here or after for here, after in zip(differs, [*differs[1:], False], strict=True)]
    return [
        re.sub("…+", "…", "".join(p if s else "…" for p, s in zip(each, shown, strict=True)))
        for each in parts
    ]


def short(name: str, longest: int = LONGEST) -> str:
    """Return a name without its middle, if it is too long for a figure."""
    name = visible(name)
    if len(name) <= longest:
        return name or "(not known)"
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"
