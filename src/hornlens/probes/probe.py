"""A probe: a question space over attributes, and how each point of it is said in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.decisions import Policy
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from hornlens.probes.articles import with_article

LABEL = "label"
"""The slot of a template where the model fills in a candidate word."""
MASK = "[MASK]"
"""What stands there in a prompt."""
SLOT = re.compile(r"\{\{|\}\}|\{(a:)?([^{}:]+)\}")


class Value(NamedTuple):
    """One value of an attribute: the name of its variable, and how it is said."""

    name: str
    text: str
    article: str | None = None
    under: str | None = None
    """The value of the same attribute that this one is a special case of."""

    def with_article(self) -> str:
        """Return the wording with its indefinite article."""
        return f"{self.article} {self.text}" if self.article else with_article(self.text)


class ProbeAttribute(NamedTuple):
    """An attribute of the question: its values, and how "not set" is said."""

    name: str
    values: tuple[Value, ...]
    unset: Value

    @property
    def choices(self) -> tuple[Value, ...]:
        """Unset first, then the values: the order of an axis of the domain."""
        return (self.unset, *self.values)

    def in_space(self) -> Attribute:
        """Return the attribute without its words."""
        if any(value.under for value in self.values):
            from hornlens.logic.taxonomy import Taxonomy

            return Taxonomy.of(self.name, [(value.name, value.under) for value in self.values])
        return Nominal(self.name, tuple(value.name for value in self.values))


class LabelValue(NamedTuple):
    """One answer that the model can give: the name of its variable, and its candidate word."""

    name: str
    word: str


class Label(NamedTuple):
    """What the model is asked to fill in."""

    name: str
    values: tuple[LabelValue, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The candidate words."""
        return tuple(value.word for value in self.values)


class Slot(NamedTuple):
    """A place in a template: the attribute (or the label) that fills it, and all it can say."""

    name: str
    texts: list[str]


@dataclass(frozen=True)
class Probe:
    """A question about a model. Variables: the attributes' values in order, then the label's.

    A *cell* is a choice of one value (or unset) for each attribute: an interpretation without its
    label. Every cell has one prompt for each template; prompts never contain the label.
    """

    name: str
    attributes: tuple[ProbeAttribute, ...]
    label: Label
    templates: tuple[str, ...]
    policy: Policy = field(default_factory=Policy)
    sample_label: str = "always"
    description: str = ""

    @cached_property
    def space(self) -> Space:
        """What can be said in the probe's words: its attributes and its label."""
        label = Nominal(self.label.name, tuple(v.name for v in self.label.values))
        attributes = tuple(attribute.in_space() for attribute in self.attributes)
        return Space(attributes, label, label_always=self.sample_label == "always")

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the space's variables."""
        return self.space.vocabulary

    @property
    def prompt_count(self) -> int:
        """The number of prompts, if all are distinct (`hornlens probe validate` looks)."""
        return self.space.cell_count * len(self.templates)

    def render(self, x: int) -> tuple[str, ...]:
        """Return the prompts of an interpretation, one for each template."""
        return tuple(
            form
            % tuple([said[((x & group) >> first).bit_length()] for group, first, said in slots])
            for form, slots in self._wording
        )

    @cached_property
    def _wording(self) -> list[tuple[str, list[tuple[int, int, list[str]]]]]:
        """Each template with %s for its slots, and for each slot: a group, its first bit, texts."""
        groups = dict(zip([a.name for a in self.attributes], self.space.groups, strict=False))
        wording = []
        for template in self.templates:
            form, slots = "", []
            for part in self._parts(template):
                if isinstance(part, str):
                    form += part.replace("%", "%%")
                elif part.name == LABEL:
                    form += MASK
                else:
                    group = groups[part.name]
                    slots.append((group, max((group & -group).bit_length() - 1, 0), part.texts))
                    form += "%s"
            wording.append((form, slots))
        return wording

    def _parts(self, template: str) -> Iterator[str | Slot]:
        """Yield what a template is made of: text, and slots with all they can say."""
        choices = {attribute.name: attribute.choices for attribute in self.attributes}
        at = 0
        for match in SLOT.finditer(template):
            yield template[at : match.start()]
            at = match.end()
            if match[0] in ("{{", "}}"):
                yield match[0][0]
            elif match[2] == LABEL:
                yield Slot(LABEL, [MASK, *self.label.words])
            else:
                texts = [v.with_article() if match[1] else v.text for v in choices[match[2]]]
                yield Slot(match[2], texts)
        yield template[at:]

    def read(self, sentence: str) -> int:
        """Return the interpretation that a sentence says: the way back from `render`.

        The label's place may hold the mask (label unset) or a candidate word.
        """
        for template in self.templates:
            found = self._pattern(template).fullmatch(sentence)
            if not found:
                continue
            x = 0
            parts = found.groupdict()
            for i, (attribute, group) in enumerate(
                zip(self.attributes, self.space.groups, strict=False)
            ):
                text = parts.get(f"a{i}")
                said = [v.text if v.text == text else v.with_article() for v in attribute.choices]
                if text is not None and (at := said.index(text)):
                    first = (group & -group).bit_length() - 1
                    x |= self.space.background.closure(1 << first + at - 1)
            word = parts[LABEL]
            return x if word == MASK else self.space.with_label(x, self.label.words.index(word))
        raise InputError(f"no template of the probe gives the sentence {sentence!r}")

    def _pattern(self, template: str) -> re.Pattern[str]:
        index = {attribute.name: f"a{i}" for i, attribute in enumerate(self.attributes)}
        pattern = ""
        for part in self._parts(template):
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
