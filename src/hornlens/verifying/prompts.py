"""Prompts, made again: the template, with what each slot says of the cell in its place.

A template has slots like {job} or {a:job}; `slots` lists what each says, unset first and then each
value. A prompt is the template with the text of the cell's own value in each slot and the mask in
the place of the label. Two braces stand for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hornlens.verifying.answers import Answer
from hornlens.verifying.grids import Space, Wrong
from hornlens.verifying.sent import MASK

PART = re.compile(r"\{\{|\}\}|\{[^{}]+\}|[^{}]+")
LABEL = "{label}"
NO_SLOTS = "that prompts are the templates with the values of cells: the slots are not listed"

Worlds = Mapping[str | None, Sequence[Answer]]


class Template:
    """A sentence with slots, and what each of them says by the variables of its attribute."""

    def __init__(self, text: str, slots: Mapping[str, Sequence[str]], first: Mapping[str, Any]):
        """Take the sentence apart; `first` has for each attribute its first bit and its size."""
        self.parts: list[str | tuple[int, int, Sequence[str]]] = []
        used = set()
        for part in PART.findall(text):
            if part in ("{{", "}}"):
                self.parts.append(part[0])
            elif part == LABEL or not part.startswith("{"):
                self.parts.append(MASK if part == LABEL else part)
            else:
                used.add(part)
                at, size = first[part[1:-1].removeprefix("a:")]
                if len(slots[part]) != size + 1:
                    raise Wrong(f"slots: {part} does not say each value once")
                self.parts.append((at, size, slots[part]))
        if used != set(slots):
            raise Wrong("slots: not those of the template")

    def prompt(self, cell: int) -> str:
        """Return the prompt of a cell: a slot says the last of the values that the cell has."""
        return "".join(
            part
            if isinstance(part, str)
            else part[2][(cell >> part[0] & (1 << part[1]) - 1).bit_length()]
            for part in self.parts
        )


def check_sentences(content: Mapping[str, Any], space: Space, worlds: Worlds) -> str:
    """Make every recorded prompt again; return what was checked, or "" if the file has no slots."""
    first, at = {}, 0
    for line in content["space"]["attributes"]:
        first[line["name"]] = at, len(line["values"]) if "values" in line else 0
        at += first[line["name"]][1]
    made = 0
    for name, sentences, slots in _sentences(content):
        templates = [Template(*pair, first) for pair in zip(sentences, slots, strict=True)]
        for answer in worlds[name]:
            made += len(templates)
            if answer.line["prompts"] != [template.prompt(answer.cell) for template in templates]:
                raise Wrong(f"answer {answer.place}: its prompts are not those of the template")
    return f"prompts: {made:,} are the templates with the values of their cells" if made else ""


def _sentences(
    content: Mapping[str, Any],
) -> Iterator[tuple[str | None, Sequence[str], Sequence[Mapping[str, Sequence[str]]]]]:
    """Yield the templates of each way of asking, with what their slots say."""
    probe, variants = content["probe"], content.get("variants", [])
    if not variants and "slots" in probe:
        yield None, probe["templates"], probe["slots"]
    for line in variants:
        if "slots" in line and len(line["slots"]) == 1:
            yield line["name"], [line["template"]], line["slots"]
        elif "slots" in line:  # the phrasings of a way of asking that averages them
            yield line["name"], probe["templates"][: len(line["slots"])], line["slots"]


def has_slots(content: Mapping[str, Any]) -> bool:
    """Say whether prompts can be made again."""
    lines = content.get("variants") or [content["probe"]]
    return all("slots" in line for line in lines)
