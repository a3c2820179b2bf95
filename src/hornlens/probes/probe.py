"""A probe: a question space over attributes, and how each point of it is said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.decisions import Policy
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from hornlens.probes.articles import with_article
from hornlens.probes.wording import AS_USUAL, ProbeElicitation, Wording


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
    """An attribute of the question: its values, and how "not set" is said.

    `phrase` is a clause that says one of its values where people are told of a rule ("the person
    is {a:value}"); default: "NAME is VALUE".
    """

    name: str
    values: tuple[Value, ...]
    unset: Value
    phrase: str = ""

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
    patterns: tuple[str, ...] = ()
    """Regular expressions that find it in free text; none: the word itself."""


class Label(NamedTuple):
    """What the model is asked to fill in."""

    name: str
    values: tuple[LabelValue, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The candidate words."""
        return tuple(value.word for value in self.values)


@dataclass(frozen=True)
class Variant:
    """One phrasing of a probe's question: a sentence, and its own words where it has them.

    `attributes` and `label` say the probe's values in other words; None: as the probe does.
    """

    name: str
    template: str
    language: str = "en"
    attributes: tuple[ProbeAttribute, ...] | None = None
    label: Label | None = None
    elicitation: ProbeElicitation | None = None


def numbered(templates: Sequence[str]) -> tuple[Variant, ...]:
    """Return variants that differ in their sentence only."""
    return tuple(Variant(f"phrasing {i}", text) for i, text in enumerate(templates, start=1))


@dataclass(frozen=True)
class Probe:
    """A question about a model. Variables: the attributes' values in order, then the label's.

    A *cell* is a choice of one value (or unset) for each attribute: an interpretation without its
    label. Every cell has one prompt for each variant; prompts never contain the label.

    >>> from hornlens import load_probe
    >>> probe = load_probe("gender-occupation")
    >>> nurse = probe.vocabulary.mask(["nurse"])
    >>> probe.render(nurse)
    ('[MASK] was born in an unknown time period in an unknown place and is a nurse.',)
    """

    name: str
    attributes: tuple[ProbeAttribute, ...]
    label: Label
    variants: tuple[Variant, ...]
    policy: Policy = field(default_factory=Policy)
    sample_label: str = "always"
    description: str = ""
    elicitation: ProbeElicitation = AS_USUAL
    """How chat models are asked."""

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

    @cached_property
    def wordings(self) -> tuple[Wording, ...]:
        """How the space is said, for each variant."""
        return tuple(
            Wording(
                self.space,
                v.template,
                v.attributes or self.attributes,
                v.label or self.label,
                v.elicitation or self.elicitation,
            )
            for v in self.variants
        )

    @property
    def templates(self) -> tuple[str, ...]:
        """The sentences of the variants."""
        return tuple(variant.template for variant in self.variants)

    def only(self, name: str) -> Probe:
        """Return the probe with one of its variants."""
        variants = tuple(variant for variant in self.variants if variant.name == name)
        if not variants:
            known = ", ".join(variant.name for variant in self.variants)
            raise InputError(f"probe {self.name} has no variant {name!r} (there are: {known})")
        return replace(self, variants=variants)

    @property
    def prompt_count(self) -> int:
        """The number of prompts, if all are distinct (`hornlens probe validate` looks)."""
        return self.space.cell_count * len(self.variants)

    def render(self, x: int) -> tuple[str, ...]:
        """Return the prompts of an interpretation, one for each variant."""
        return tuple(wording.render(x) for wording in self.wordings)

    def read(self, sentence: str) -> int:
        """Return the interpretation that a sentence says: the way back from `render`.

        The label's place may hold the mask (label unset) or a candidate word.
        """
        readings = (wording.read(sentence) for wording in self.wordings)
        interpretation = next((x for x in readings if x is not None), None)
        if interpretation is None:
            raise InputError(f"no template of the probe gives the sentence {sentence!r}")
        return interpretation

    @cached_property
    def phrases(self) -> dict[str, str]:
        """How values are put into sentences about rules, where attributes say so."""
        return {
            value.name: attribute.phrase.replace("{a:value}", value.with_article()).replace(
                "{value}", value.text
            )
            for attribute in self.attributes
            if attribute.phrase
            for value in attribute.values
        }
