"""What is explored: a YAML file of variables, what is taken for granted, and their wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hornlens.errors import InputError
from hornlens.formats.documents import Document, parse_yaml
from hornlens.formats.files import read_text
from hornlens.formats.shapes import Part, Text, Worded
from hornlens.logic.attributes import Nominal
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.protocol import MASK


class VariableFile(Worded):
    """A variable, or a value of an attribute. A plain text is both its name and its wording."""

    name: Text = Field(description="as it appears in rules")
    text: Text = Field(description="as questions in words say it; default: the name")


class AttributeFile(Part):
    """An attribute: at most one of its values at a time."""

    name: Text
    values: list[VariableFile] = Field(min_length=2)


class AskingFile(Part):
    """How a language model is asked, and what its answers are."""

    implies: Text = f"Question: if it is {{if}}, is it always {{then}}? Answer: {MASK}."
    everything: Text = f"Question: is it always {{then}}? Answer: {MASK}."
    something: Text = f"Question: can it be {{if}}? Answer: {MASK}."
    yes: Text = "yes"
    no: Text = "no"
    margin: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False, description="less of a lead is: don't know"),
    ] = 0.0


class VariablesFile(Part):
    """Variables to explore the rules of."""

    hornlens: Literal[1] = Field(description="the version of this format")
    name: Text | None = None
    description: Text | None = None
    variables: list[VariableFile] = Field(default_factory=list)
    attributes: list[AttributeFile] = Field(default_factory=list)
    background: list[Text] = Field(
        default_factory=list, description="rules taken for granted, such as: penguin -> bird"
    )
    asking: AskingFile = AskingFile()


class Variables:
    """A space to explore, the words of its variables, and how a language model is asked."""

    def __init__(
        self, space: Space, texts: dict[str, str] | None = None, asking: AskingFile | None = None
    ):
        """Take the names for words where none are given."""
        self.space, self.asking = space, asking or AskingFile()
        self.texts = texts or {}

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the variables."""
        return self.space.vocabulary

    def text(self, name: str) -> str:
        """Return a variable in words."""
        return self.texts.get(name, name)


def read_variables(path: Path) -> Variables:
    """Read a file of variables; every mistake is an InputError with its line."""
    return parse_variables(read_text(path), path)


def parse_variables(text: str, path: Path | str = "<text>") -> Variables:
    """Return the variables that YAML text describes."""
    document = parse_yaml(text, path, VariablesFile)
    content = document.content
    if not content.variables and not content.attributes:
        raise document.refuse("there is nothing to explore", "variables")
    attributes = [Nominal(v.name, (v.name,)) for v in content.variables]
    attributes += [Nominal(a.name, tuple(v.name for v in a.values)) for a in content.attributes]
    try:
        plain = Space(tuple(attributes))
    except InputError as error:
        raise InputError(error.message, path) from None
    assumed = tuple(_rule(document, i, plain.vocabulary) for i in range(len(content.background)))
    for field in ("implies", "everything", "something"):
        if getattr(content.asking, field).count(MASK) != 1:
            raise document.refuse(f"must have {MASK} once, where the answer goes", "asking", field)
    every = [*content.variables, *(v for a in content.attributes for v in a.values)]
    space = Space(tuple(attributes), assumed=assumed)
    return Variables(space, {v.name: v.text for v in every}, content.asking)


def _rule(document: Document[VariablesFile], place: int, vocabulary: Vocabulary) -> Rule:
    try:
        return NamedRule.parse(document.content.background[place]).rule(vocabulary)
    except InputError as error:
        raise document.refuse(error.message, "background", place) from None
