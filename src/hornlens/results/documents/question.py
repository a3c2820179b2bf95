"""How a target was asked, as people are told of it: a name, templates, the label's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ComparedAnswers:
    """How the labels of a comparison are put into sentences.

    `who` is the subject of all ("old and new"). `acts` has for each label what is done where it is
    given ("give the same answer"), `opposites` what is not done there, where one phrase says it:
    where old and new give the same answer, they never "give different answers". `proper`: `who`
    begins with a name, which keeps its letters at the start of a sentence.
    """

    who: str
    acts: Mapping[str, str]
    opposites: Mapping[str, str] = field(default_factory=dict)
    proper: bool = False

    @property
    def start(self) -> str:
        """The subject at the start of a sentence."""
        return self.who if self.proper else self.who[:1].upper() + self.who[1:]

    def act(self, label: str) -> str:
        """Return what is done where a label is given."""
        return self.acts.get(label, f"say “{label}”")


@dataclass(frozen=True)
class Question:
    """What a result says of how its target was asked.

    `templates` are the sentences put to a language model; a target without prompts has none.
    `words` has for each label value the word that stands for it, `phrases` for each value how it
    is put into sentences ("the person is a nurse"), where that was given. `averaged`: the
    templates were asked together, and one decision made of all. `compared`: an answer says whether
    other answers are the same. `slots` has for each template what its slots say: unset first, then
    the values in order.
    """

    name: str
    description: str = ""
    templates: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    averaged: bool = False
    language: str = ""
    compared: ComparedAnswers | None = None
    slots: tuple[Mapping[str, tuple[str, ...]], ...] = ()

    @property
    def subject(self) -> str:
        """Who answers, at the start of a sentence."""
        if self.compared is not None:
            return "The comparison"
        return "The model" if self.templates else "The target"

    @property
    def unit(self) -> str:
        """What is counted: a prompt, where each decision is about one."""
        alone = self.templates and not self.averaged and self.compared is None
        return "prompt" if alone else "cell"

    @property
    def asked_unit(self) -> str:
        """What is counted of what was put to models or targets."""
        if self.compared is None:
            return self.unit
        return "prompt" if self.templates else "question"

    @property
    def verb(self) -> str:
        """What it does, or did, with a label: a model replies to a prompt."""
        return "answered" if self.templates and self.compared is None else "says"
