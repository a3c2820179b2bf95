"""The shape of a probe file, checked by pydantic; its JSON Schema is published in the docs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hornlens.formats.shapes import Part, Text, Worded


class ValueFile(Worded):
    """A value of an attribute. A plain string stands for both the name and the text."""

    name: Text = Field(description="the variable's name, as it appears in rules")
    text: Text = Field(description="how the value is said in the sentence; default: the name")
    article: Text | None = Field(None, description="overrides the article of {a:…}")
    under: Text | None = Field(
        None, description="the value before it that this one is a special case of"
    )


class AttributeFile(Part):
    """An attribute: at most one of its values is set."""

    name: Text
    values: list[ValueFile] = Field(min_length=1)
    unset: Text = Field(description="how an attribute that is not set is said")
    unset_article: Text | None = None
    phrase: Text | None = Field(
        None,
        description="a clause with {value} or {a:value}, as sentences about rules say it: "
        "'the person is {a:value}'; default: NAME is VALUE",
    )


class LabelValueFile(Part):
    """An answer that the model can give."""

    name: Text = Field(description="the variable's name, as it appears in rules")
    word: Text = Field(description="the candidate word that the model scores")
    patterns: list[Text] = Field(
        default_factory=list,
        description="regular expressions that find this answer in a chat model's free text, "
        "in capitals or not; default: the word",
    )


class LabelFile(Part):
    """What the model is asked to fill in."""

    name: Text
    values: list[LabelValueFile] = Field(min_length=2)


class PolicyFile(Part):
    """How scores become labels; all of it can be overridden on the command line."""

    label_unset: Literal["accept", "reject"] = "accept"
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    top_k: Annotated[int, Field(ge=1, strict=True)] | None = None
    abstain: Literal["accept", "reject"] = "accept"
    calibration: Literal["none", "neutral", "mean"] = "none"
    phrasings: Annotated[
        Literal["each", "average"],
        Field(description="of several: each decided by itself, or their log-scores averaged"),
    ] = "each"


class ElicitationFile(Part):
    """How chat models are asked."""

    method: Literal["choose", "constrained", "say", "likelihood"] | None = Field(
        None, description="default: the first that the endpoint can do"
    )
    system: Text | None = Field(None, description="the instruction; default: the built-in one")
    user: Text | None = Field(
        None,
        description="the question, with {sentence} once and perhaps {options}; "
        "default: the built-in one",
    )


class WordingFile(Part):
    """How a variant says a value. A plain string is its text."""

    text: Text
    article: Text | None = Field(None, description="the article of {a:…}")

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, data: Any) -> Any:
        return {"text": data} if isinstance(data, str) else data


class VariantAttributeFile(Part):
    """How a variant says an attribute: every value by its name, and that it is not set."""

    unset: WordingFile
    values: dict[str, WordingFile]


class VariantFile(Part):
    """A phrasing: a sentence, and its own words where it has them."""

    name: Text
    template: Text
    language: Text = Field("en", description="such as en, de, nb")
    attributes: dict[str, VariantAttributeFile] = Field(
        default_factory=dict, description="by the attribute's name; those left out are the probe's"
    )
    label: dict[str, Text] | None = Field(
        None, description="candidate words by the label value's name; default: the probe's"
    )
    elicitation: ElicitationFile | None = Field(
        None, description="how chat models are asked in this phrasing; default: the probe's"
    )


class ProbeFile(Part):
    """A probe: a question about a model."""

    hornlens: Literal[1] = Field(description="the version of this format")
    name: Text
    description: str = ""
    templates: list[Text] | None = Field(
        None,
        min_length=1,
        description="sentences with {label} once, and {attribute} or {a:attribute} for each slot",
    )
    variants: list[VariantFile] | None = Field(
        None, min_length=1, description="instead of templates: phrasings with names of their own"
    )
    attributes: list[AttributeFile]
    label: LabelFile
    policy: PolicyFile = Field(default_factory=PolicyFile)
    elicitation: ElicitationFile | None = Field(None, description="how chat models are asked")
    sample_label: Literal["always", "optional"] = Field(
        "always", description="whether random samples always set the label"
    )
