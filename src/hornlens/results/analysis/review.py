"""A person's check of how replies were read: a sample, yes or no to each, and the agreement.

The sample has every reading at least once, as far as it goes, and more of frequent ones. Within a
reading replies are drawn by chance. So agreement is that of replies weighted as they were sampled:
rare readings, where mistakes are likely, count for more than their share. The interval is Clopper
and Pearson's. Draws from several groups vary less than as many from one, so it is not too narrow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from hornlens import __version__
from hornlens.errors import InputError
from hornlens.formats.digests import with_digest
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.logic.shares import share_interval
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.replies import has_replies

FILE = "review.json"
"""Beside the result."""
FORMAT = 1
SAMPLE = 30
CONFIDENCE = 0.95
_VARIABLE = re.compile(r"'[^']*'|[0-9]+")
"""What differs between readings of one kind: figures, and what is quoted."""


@dataclass(frozen=True)
class ReviewedReply:
    """A reply as a person sees it, and whether they read it in the same way."""

    prompt: str
    text: str
    label: str
    """The label that it was read as; empty: none."""
    reading: str
    world: str = ""
    agrees: bool | None = None
    """None: not answered yet."""

    @property
    def kind(self) -> str:
        """What it has in common with others that were read in the same way."""
        return f"{self.label}: {_VARIABLE.sub('', self.reading)}"

    def as_json(self) -> dict[str, Any]:
        """Return it as the file has it."""
        return {
            "world": self.world,
            "prompt": self.prompt,
            "text": self.text,
            "label": self.label or None,
            "reading": self.reading,
            "agrees": self.agrees,
        }


@dataclass(frozen=True)
class ReadingAgreement:
    """How many of the replies that a person has looked at were read as that person reads them."""

    agree: int
    of: int
    sampled: int
    """How many are to be looked at."""

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of agreement lies, with a confidence of 95 %."""
        return share_interval(self.agree, self.of, CONFIDENCE)

    @property
    def sentence(self) -> str:
        """The agreement in words."""
        if not self.of:
            return "No reply was checked by a person yet."
        low, high = self.interval
        rest = "" if self.of == self.sampled else f"; {self.sampled - self.of:,} are still to check"
        return (
            f"A person checked {self.of:,} sampled replies and agreed with the reading of "
            f"{self.agree:,} ({self.agree / self.of:.0%}; 95 % interval {low:.0%} to {high:.0%})"
            f"{rest}."
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as the file has it."""
        low, high = self.interval
        return {
            "agree": self.agree,
            "of": self.of,
            "sampled": self.sampled,
            "share": self.agree / self.of if self.of else None,
            "low": low,
            "high": high,
            "confidence": CONFIDENCE,
        }


@dataclass(frozen=True)
class Review:
    """A sample of a result's replies, and what a person has said of them so far."""

    replies: tuple[ReviewedReply, ...]
    recorded: int
    """How many replies there are in all."""
    seed: int = 0

    @property
    def agreement(self) -> ReadingAgreement:
        """What the answers so far amount to."""
        given = [reply.agrees for reply in self.replies if reply.agrees is not None]
        return ReadingAgreement(sum(given), len(given), len(self.replies))

    def with_verdict(self, place: int, agrees: bool) -> Review:
        """Return it with one more answer."""
        answered = replace(self.replies[place], agrees=agrees)
        return replace(self, replies=(*self.replies[:place], answered, *self.replies[place + 1 :]))

    @property
    def text(self) -> str:
        """What stands in the file."""
        content = {
            "hornlens": __version__,
            "format": FORMAT,
            "seed": self.seed,
            "recorded": self.recorded,
            "agreement": self.agreement.as_json(),
            "replies": [reply.as_json() for reply in self.replies],
        }
        return json_text(with_digest(content))

    def save(self, folder: Path) -> None:
        """Write it beside the result."""
        write_file(folder / FILE, self.text)


def replies_of(findings: Findings) -> list[ReviewedReply]:
    """Return all replies of a result, in the order of the file."""
    names = findings.space.label.variables if findings.space.label is not None else ()
    return [
        ReviewedReply(
            prompt,
            reply.text,
            names[reply.named] if 0 <= reply.named < len(names) else "",
            reply.reading,
            world.world,
        )
        for world in findings.each
        for prompt, details in world.details.items()
        for reply in details.replies
    ]


def begin_review(findings: Findings, sample: int = SAMPLE, seed: int = 0) -> Review:
    """Draw replies to check: every reading once, as far as they go, and more of frequent ones.

    Raises:
        InputError: if the result has no replies.
    """
    replies = replies_of(findings)
    if not replies:
        raise InputError("the result has no replies of a chat model")
    groups: dict[str, list[ReviewedReply]] = defaultdict(list)
    for reply in replies:
        groups[reply.kind].append(reply)
    sizes = {kind: len(group) for kind, group in groups.items()}
    rng = Random(seed)
    chosen = [
        reply
        for kind, many in _shares(sizes, sample).items()
        for reply in rng.sample(groups[kind], many)
    ]
    rng.shuffle(chosen)
    return Review(tuple(chosen), len(replies), seed)


def read_review(folder: Path) -> Review | None:
    """Return the review beside a result; None: there is none.

    Raises:
        InputError: if the file is none of ours.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    content = read_json(path)
    try:
        if content["format"] != FORMAT:
            raise InputError(f"is of format {content['format']!r}, which this version lacks", path)
        replies = tuple(_reply(line) for line in content["replies"])
        return Review(replies, int(content["recorded"]), int(content["seed"]))
    except (KeyError, TypeError, ValueError):
        raise InputError("is no review of replies", path) from None


def agreement_beside(folder: Path, findings: Findings) -> str:
    """Return what a person's check of a result has found, in words; empty: there is none of it."""
    review = read_review(folder)
    if review is None or not review.agreement.of or not _is_same(review, findings):
        return ""
    return review.agreement.sentence


def _is_same(review: Review, findings: Findings) -> bool:
    known = {replace(reply, agrees=None) for reply in replies_of(findings)}
    return all(replace(reply, agrees=None) in known for reply in review.replies)


def check_same(review: Review, findings: Findings, path: Path) -> None:
    """Raise InputError unless a review is of this result, as its replies are read in it."""
    if not _is_same(review, findings):
        raise InputError(
            "is of other replies, or of other readings of them; --again begins anew", path
        )


def check_drawn(review: Review, findings: Findings, path: Path) -> None:
    """Raise InputError unless a review's seed draws its replies from this result."""
    if not has_replies(findings):
        raise InputError("is of other replies: this result has none", path)
    drawn = begin_review(findings, len(review.replies), review.seed)
    replies = tuple(replace(reply, agrees=None) for reply in review.replies)
    if (drawn.replies, drawn.recorded) != (replies, review.recorded):
        raise InputError("is not of the replies that its seed draws from this result", path)


def _reply(line: Mapping[str, Any]) -> ReviewedReply:
    texts = [line["prompt"], line["text"], line["label"] or "", line["reading"], line["world"]]
    agrees = line["agrees"]
    if not all(isinstance(text, str) for text in texts) or agrees not in (True, False, None):
        raise ValueError("no reply")
    prompt, text, label, reading, world = texts
    return ReviewedReply(prompt, text, label, reading, world, agrees)


def _shares(sizes: Mapping[str, int], sample: int) -> dict[str, int]:
    """Return how many of each group are drawn: one at least, the rest by size."""
    ordered: Sequence[str] = sorted(sizes, key=lambda kind: (-sizes[kind], kind))
    shares = {kind: int(place < sample) for place, kind in enumerate(ordered)}
    total = min(sample, sum(sizes.values()))
    whole = sum(sizes.values())
    while sum(shares.values()) < total:
        # The one that is furthest below its due.
        most = max(
            (kind for kind in ordered if shares[kind] < sizes[kind]),
            key=lambda kind: sizes[kind] * total / whole - shares[kind],
        )
        shares[most] += 1
    return {kind: many for kind, many in shares.items() if many}
