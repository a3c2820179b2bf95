"""The sessions of a page: its blocks, its commands, and whether what is printed is what it says."""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return [body for name, body in FENCE.findall(text) if name == language]


def commands(page: Path) -> list[tuple[str, str]]:
    """Return the commands of ours on a page, each with what it prints."""
    parts = (
        part.partition("\n")
        for body in blocks(page, "console")
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    )
    return [(command, said) for command, _, said in parts if command.startswith("hornlens")]


def as_told(printed: str, expected: str) -> tuple[list[str], list[str]]:
    """Return the lines that were printed and those that the page tells, to be compared.

    Where the page has a line "…", it shows the beginning and the end: the rest is left out.
    """
    got = [line.rstrip() for line in printed.splitlines()]
    wanted = [line.rstrip() for line in expected.splitlines()]
    while wanted and not wanted[-1]:
        wanted.pop()
    if "…" not in wanted:
        return got, wanted
    cut = wanted.index("…")
    tail = wanted[cut + 1 :]
    return got[:cut] + got[len(got) - len(tail) :], wanted[:cut] + tail
