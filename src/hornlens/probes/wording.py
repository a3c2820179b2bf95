"""A sentence with slots, put into words and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hornlens.logic.space import Space
    from hornlens.probes.probe import Label, ProbeAttribute

LABEL = "label"
"""The slot of a template where the model fills in a candidate word."""
MASK = "[MASK]"
"""What stands there in a prompt."""
SLOT = re.compile(r"\{\{|\}\}|\{(a:)?([^{}:]+)\}")


class Slot(NamedTuple):
    """A place in a template: the attribute (or the label) that fills it, and all it can say."""

    name: str
    texts: list[str]


class ProbeElicitation(NamedTuple):
    """How a probe wants chat models to be asked; empty: as they are by default.

    `user` has {sentence} once, and may have {options}.
    """

    method: str = ""
    system: str = ""
    user: str = ""


AS_USUAL = ProbeElicitation()


@dataclass(frozen=True)
class Wording:
    """How the points of a space are said: a template, and the words of the attributes' values."""

    space: Space
    template: str
    attributes: tuple[ProbeAttribute, ...]
    label: Label
    elicitation: ProbeElicitation = AS_USUAL

    def render(self, x: int) -> str:
        """Return the prompt of an interpretation; it never contains the label."""
        form, slots = self._form
        return form % tuple(
            [texts[((x & group) >> first).bit_length()] for group, first, texts in slots]
        )

    @cached_property
    def _form(self) -> tuple[str, list[tuple[int, int, list[str]]]]:
        """The template with %s for its slots, and for each slot: a group, its first bit, texts."""
        groups = dict(zip([a.name for a in self.attributes], self.space.groups, strict=False))
        form, slots = "", []
        for part in self._parts():
            if isinstance(part, str):
                form += part.replace("%", "%%")
            elif part.name == LABEL:
                form += MASK
            else:
                group = groups[part.name]
                slots.append((group, max((group & -group).bit_length() - 1, 0), part.texts))
                form += "%s"
        return form, slots

    def _parts(self) -> Iterator[str | Slot]:
        """Yield what the template is made of: text, and slots with all they can say."""
        choices = {attribute.name: attribute.choices for attribute in self.attributes}
        at = 0
        for match in SLOT.finditer(self.template):
            yield self.template[at : match.start()]
            at = match.end()
            if match[0] in ("{{", "}}"):
                yield match[0][0]
            elif match[2] == LABEL:
                yield Slot(LABEL, [MASK, *self.label.words])
            else:
                texts = [v.with_article() if match[1] else v.text for v in choices[match[2]]]
                yield Slot(match[2], texts)
        yield self.template[at:]

    @cached_property
    def slots(self) -> dict[str, tuple[str, ...]]:
        """What each slot of the template can say, as it stands there: unset first, then values."""
        parts = (part for part in self._parts() if isinstance(part, Slot))
        slots = (match for match in SLOT.finditer(self.template) if match[2] is not None)
        return {
            slot[0]: tuple(part.texts)
            for slot, part in zip(slots, parts, strict=True)
            if part.name != LABEL
        }

    def read(self, sentence: str) -> int | None:
        """Return the interpretation that a sentence says: the way back from `render`.

        The label's place may hold the mask (label unset) or a candidate word. None: it is not said
        like this.
        """
        match = self._pattern.fullmatch(sentence)
        if not match:
            return None
        x, parts = 0, match.groupdict()
        for i, (attribute, group) in enumerate(
            zip(self.attributes, self.space.groups, strict=False)
        ):
            text = parts.get(f"a{i}")
            texts = [v.text if v.text == text else v.with_article() for v in attribute.choices]
            if text is not None and (at := texts.index(text)):
                first = (group & -group).bit_length() - 1
                x |= self.space.background.closure(1 << first + at - 1)
        word = parts[LABEL]
        return x if word == MASK else self.space.with_label(x, self.label.words.index(word))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        index = {attribute.name: f"a{i}" for i, attribute in enumerate(self.attributes)}
        pattern = ""
        for part in self._parts():
            if isinstance(part, str):
                pattern += re.escape(part)
                continue
            name = index.get(part.name, LABEL)
            if f"(?P<{name}>" in pattern:
                pattern += f"(?P={name})"
            else:
                longest_first = sorted(part.texts, key=len, reverse=True)
                pattern += f"(?P<{name}>{'|'.join(map(re.escape, longest_first))})"
        return re.compile(pattern)
