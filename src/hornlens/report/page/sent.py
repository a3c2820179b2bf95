"""What was sent, as the page shows it: an example for each way of asking, word for word."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.formats.jsonfiles import encoded
from hornlens.formats.sent import Sent
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.replies import has_replies

STYLES = ("sent.css",)


@dataclass(frozen=True)
class SentExample:
    """What was sent in one way of asking; `name` is empty where there is only one."""

    name: str
    sent: Sent

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """What is sent beside the messages, each as JSON has it; a text without its quotes."""
        sent, calls = self.sent, self.sent.calls
        if not calls:
            return []
        given = calls[0].parameters
        return [
            (name, value if isinstance(value, str) else encoded(value))
            for name, value in given.items()
            if name != "seed" or not sent.seed
        ]

    @property
    def seeds(self) -> str:
        """The seeds of the calls that are shown."""
        return ", ".join(str(call.body["seed"]) for call in self.sent.calls if "seed" in call.body)


def sent_examples(extraction: Findings) -> list[SentExample]:
    """Return what was sent in each way of asking, and each phrasing; none if it is not known."""
    examples = []
    for world in extraction.each:
        several = len(world.sent) > 1
        for number, sent in enumerate(world.sent, start=1):
            numbered = sent.model if extraction.question.compared else f"phrasing {number}"
            parts = (world.world, numbered if several else "")
            examples.append(SentExample(", ".join(part for part in parts if part), sent))
    return examples


def is_chat(extraction: Findings) -> bool:
    """Say whether a model was sent messages and replied; others score sentences.

    Files of older versions do not say what was sent: those with replies are of chat models.
    """
    sent = [each for world in extraction.each for each in world.sent]
    if not sent:
        return has_replies(extraction)
    return any(each.calls and each.method != "likelihood" for each in sent)
