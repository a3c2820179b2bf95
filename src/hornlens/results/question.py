"""How a target was asked, as people are told of it: a name, templates, the label's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Question:
    """What a result says of how its target was asked.

    `templates` are the sentences put to a language model; a target without prompts has none.
    `words` has for each label value the word that stands for it.
    """

    name: str
    description: str = ""
    templates: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """Who answers, at the start of a sentence."""
        return "The model" if self.templates else "The target"

    @property
    def unit(self) -> str:
        """What is counted: a prompt, where there are prompts."""
        return "prompt" if self.templates else "cell"

    @property
    def verb(self) -> str:
        """What it does with a label."""
        return "fills in" if self.templates else "says"
