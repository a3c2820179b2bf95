"""How a target was asked, as people are told of it: a name, templates, the label's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Question:
    """What a result says of how its target was asked.

    `templates` are the sentences put to a language model; a target without prompts has none.
    `words` has for each label value the word that stands for it, `phrases` for each value how it
    is put into sentences ("the person is a nurse"), where that was given. `averaged`: the
    templates were asked together, and one decision made of all.
    """

    name: str
    description: str = ""
    templates: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    averaged: bool = False
    language: str = ""

    @property
    def subject(self) -> str:
        """Who answers, at the start of a sentence."""
        return "The model" if self.templates else "The target"

    @property
    def unit(self) -> str:
        """What is counted: a prompt, where each decision is about one."""
        return "prompt" if self.templates and not self.averaged else "cell"

    @property
    def verb(self) -> str:
        """What it does with a label."""
        return "fills in" if self.templates else "says"
