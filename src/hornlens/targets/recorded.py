"""Replies that are on record, read again by a probe's patterns: nothing is asked."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from hornlens.errors import HornlensError, InputError
from hornlens.formats.files import read_text
from hornlens.formats.replies import Reply
from hornlens.models.chat.elicitation import Asking
from hornlens.models.protocol import Elicitation
from hornlens.probes.probe import Probe
from hornlens.probes.wording import Wording
from hornlens.results.documents.saving import read_result
from hornlens.store.protocol import ManagedStore
from hornlens.targets.answers import from_kept

MOST_PROMPTS = 100_000
"""So many prompts are looked up in a store."""
MOST_REPEATS = 10_000
_ASKED = re.compile(r":(choose|constrained|say|likelihood):(?:rotate|once|only-[0-9]+):wording-")
"""How a chat model was asked, in its identity."""
_TEXTS = ("text", "reply")
"""The column of a CSV file that has the replies."""


class RecordedReply(NamedTuple):
    """A reply that is on record, and what it replies to."""

    reply: Reply
    prompt: str = ""
    """Empty: not known."""
    method: str = "say"
    """How the model was made to name a candidate."""


@dataclass(frozen=True)
class Rereading:
    """How a reply is read now, and how it was."""

    prompt: str
    text: str
    label: str
    """The label that it names; empty: none."""
    outcome: str
    """Why it names none; empty: it names one."""
    reading: str
    """Why it is read so."""
    label_before: str = ""
    """The label that it was read as; empty: none, or not known."""
    reading_before: str = ""

    @property
    def answer(self) -> str:
        """The label, or why there is none."""
        return self.label or self.outcome

    def as_json(self) -> dict[str, Any]:
        """Return it as the command prints it."""
        return {
            "prompt": self.prompt,
            "text": self.text,
            "label": self.label or None,
            "outcome": self.outcome or None,
            "reading": self.reading,
            "before": {
                "label": self.label_before or None,
                "reading": self.reading_before or None,
            },
        }


@dataclass(frozen=True)
class Rereadings:
    """All replies on record, as a probe reads them now."""

    probe: str
    replies: tuple[Rereading, ...]

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """How many replies name each label, the most frequent first."""
        return dict(Counter(r.label for r in self.replies if r.label).most_common())

    @cached_property
    def outcomes(self) -> Mapping[str, int]:
        """How many replies name none, for each reason."""
        return dict(Counter(r.outcome for r in self.replies if r.outcome).most_common())

    @property
    def changed(self) -> int:
        """How many replies are read as another label than before, or as none, or as one at last."""
        return sum(r.label != r.label_before for r in self.replies)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command prints it."""
        return {
            "probe": self.probe,
            "replies": [reply.as_json() for reply in self.replies],
            "labels": dict(self.labels),
            "no_answer": dict(self.outcomes),
            "changed": self.changed,
        }


def reread(probe: Probe, recorded: Iterable[RecordedReply]) -> Rereadings:
    """Read replies by a probe's words and patterns, those of the phrasing that they reply to."""
    lines = []
    names = [value.name for value in probe.label.values]
    for reply, prompt, method in recorded:
        if method == "likelihood":
            continue  # it has no reply: its sentences were scored
        wording = _wording_of(probe, prompt)
        patterns = tuple((v.word, v.patterns) for v in wording.label.values if v.patterns)
        asking = Asking(method, Elicitation(patterns=patterns))
        reading = asking.reading(reply, wording.label.words, prompt)
        label = names[reading.named] if reading.named >= 0 else ""
        before = names[reply.named] if 0 <= reply.named < len(names) else ""
        lines.append(
            Rereading(
                prompt, reply.text, label, reading.outcome, reading.reason, before, reply.reading
            )
        )
    return Rereadings(probe.name, tuple(lines))


def replies_in_file(path: Path) -> list[RecordedReply]:
    """Return the replies of a result, of a CSV file with a column `text`, or of lines of text.

    Raises:
        InputError: if there are none.
    """
    if path.suffix == ".csv":
        replies = list(_of_table(path))
    elif path.suffix == ".txt":
        lines = read_text(path).splitlines()
        replies = [RecordedReply(Reply(line)) for line in lines if line.strip()]
    else:
        replies = list(_of_result(path))
    if not replies:
        raise InputError("has no replies of a chat model", path)
    return replies


def replies_in_store(
    store: ManagedStore, probe: Probe, model: str | None = None
) -> list[RecordedReply]:
    """Return the replies to a probe's prompts that a store has, of one model or of all.

    Raises:
        HornlensError: if there are none, or too many prompts to look them all up.
    """
    if probe.prompt_count > MOST_PROMPTS:
        raise HornlensError(
            f"{probe.name} has {probe.prompt_count:,} prompts, too many to look up in a cache: "
            "give a result, by --replies"
        )
    replies: list[RecordedReply] = []
    for kept in store.models():
        asked = _ASKED.search(kept.identity)
        if asked is None or model not in (None, kept.name):
            continue
        for wording in probe.wordings:
            prompts = [wording.render(cell) for cell in probe.space.cells()]
            replies += _of_store(store, kept.identity, asked[1], prompts, wording.label.words)
    if not replies:
        of = f" of {model}" if model else ""
        raise HornlensError(f"{store.shown}: has no replies{of} to the prompts of {probe.name}")
    return replies


def _of_store(
    store: ManagedStore, identity: str, method: str, prompts: list[str], words: tuple[str, ...]
) -> Iterator[RecordedReply]:
    for repeat in range(MOST_REPEATS):
        answers = store.get(identity, prompts, words, repeat)
        if not answers:
            return
        for prompt in prompts:
            if prompt in answers:
                for reply in from_kept(answers[prompt]).replies:
                    yield RecordedReply(reply, prompt, method)


def _of_result(path: Path) -> Iterator[RecordedReply]:
    findings = read_result(path)
    for world in findings.each:
        asked = _ASKED.search(world.identity or "")
        for prompt, details in world.details.items():
            for reply in details.replies:
                yield RecordedReply(reply, prompt, asked[1] if asked else "say")


def _of_table(path: Path) -> Iterator[RecordedReply]:
    rows = csv.DictReader(StringIO(read_text(path)))
    names = rows.fieldnames or ()
    column = next((name for name in _TEXTS if name in names), None)
    if column is None:
        raise InputError("has no column `text` with the replies", path, 1)
    for row in rows:
        known = row.get("reading") or ""
        yield RecordedReply(
            Reply(row[column] or "", reading=known, finish=row.get("finish") or ""),
            row.get("prompt") or "",
        )


def _wording_of(probe: Probe, prompt: str) -> Wording:
    """Return the phrasing that a prompt is in; the first, where it is none of them."""
    wordings = probe.wordings
    if len(wordings) == 1 or not prompt:
        return wordings[0]
    return next((w for w in wordings if w.read(prompt) is not None), wordings[0])
