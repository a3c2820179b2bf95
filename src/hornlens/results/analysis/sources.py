"""Who gave the replies of a result: fingerprints, names and dates, counted and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from hornlens.formats.replies import Reply
from hornlens.logic.sources import SURE, Sources
from hornlens.redaction import REMOVED
from hornlens.results.documents.details import Details

NAMED = 8
"""How many fingerprints a sentence lists at most."""


class Note(NamedTuple):
    """What is to be known of who gave the replies, in a sentence, and the fingerprints."""

    kind: Literal["models", "fingerprints", "changed", "key"]
    sentence: str
    names: tuple[str, ...] = ()


class Speaker(NamedTuple):
    """Who the endpoint says has answered, and how often; the dates of its replies, where known."""

    fingerprint: str
    replies: int
    first: int = 0
    last: int = 0

    @property
    def words(self) -> str:
        """Return it for people: with how many replies, and from when to when."""
        many = f"{self.replies:,} {'reply' if self.replies == 1 else 'replies'}"
        if not self.first:
            return f"{self.fingerprint} ({many})"
        first, last = (
            datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
            for at in (self.first, self.last)
        )
        when = first if first == last else f"{first} to {last}"
        return f"{self.fingerprint} ({many}, {when} UTC)"


def speakers_of(worlds: Iterable[Mapping[str, Details]]) -> list[Speaker]:
    """Return who answered in several ways of asking, given their details: most replies first.

    Replies of which the endpoint does not say who gave them are not counted.
    """
    counts: dict[str, int] = {}
    dates: dict[str, list[int]] = {}
    for reply in _replies(worlds):
        counts[reply.fingerprint] = counts.get(reply.fingerprint, 0) + 1
        if reply.created:
            dates.setdefault(reply.fingerprint, []).append(reply.created)
    speakers = (
        Speaker(name, count, min(dates.get(name, [0])), max(dates.get(name, [0])))
        for name, count in counts.items()
    )
    return sorted(speakers, key=lambda speaker: (-speaker.replies, speaker.fingerprint))


def models_of(worlds: Iterable[Mapping[str, Details]]) -> list[str]:
    """Return the names of the models that answered, as the endpoint gives them."""
    return list(dict.fromkeys(reply.model for reply in _replies(worlds)))


def sources_of(
    worlds: Iterable[tuple[str, Mapping[str, Details]]], reasked: int = 0, changed: int = 0
) -> Sources | None:
    """Return what a certificate has to know of who answered; None if there is nothing to say.

    Each world has the name of the model that was asked: several may be meant to differ.
    """
    replies, models = list[int](), 1
    for _, details in by_model(worlds):
        own = [speaker.replies for speaker in speakers_of(details)]
        if len(own) > 1:
            replies += own
            models = max(models, len(models_of(details)))
    if not replies and not reasked:
        return None
    return Sources(tuple(sorted(replies, reverse=True)), models, reasked, changed)


def by_model(
    worlds: Iterable[tuple[str, Mapping[str, Details]]],
) -> list[tuple[str, list[Mapping[str, Details]]]]:
    """Return the ways of asking of each model, by its name."""
    groups: dict[str, list[Mapping[str, Details]]] = {}
    for name, details in worlds:
        groups.setdefault(name, []).append(details)
    return list(groups.items())


def repeated_keys(worlds: Iterable[tuple[str, Mapping[str, Details]]]) -> Iterator[Note]:
    """Yield, for each model, in how many replies a key was that had to be removed."""
    for name, details in by_model(worlds):
        count = sum(
            any(REMOVED in text for text in (reply.text, reply.fingerprint, reply.finish))
            for reply in _replies(details)
        )
        words = (word for each in details for own in each.values() for word, _ in own.first_words)
        if not count and not any(REMOVED in word for word in words):
            continue
        where = f"{count:,} {'reply' if count == 1 else 'replies'}" if count else "First words"
        yield Note(
            "key",
            f"{where} of {name} had a key or password of yours, or part of one, which was removed: "
            f"“{REMOVED}” stands in its place. The endpoint returns what it should keep to itself: "
            "replace the key, and find out why.",
        )


def notes_of(
    worlds: Iterable[tuple[str, Mapping[str, Details]]], sources: Sources | None
) -> Iterator[Note]:
    """Yield what readers should know of who gave the replies."""
    for name, details in by_model(worlds):
        speakers, models = speakers_of(details), models_of(details)
        if len(speakers) < 2:
            continue
        listed = "; ".join(speaker.words for speaker in speakers[:NAMED])
        if len(speakers) > NAMED:
            listed += f"; and {len(speakers) - NAMED:,} more"
        names = tuple(speaker.fingerprint for speaker in speakers)
        if len(models) > 1:
            yield Note(
                "models",
                f"{len(models):,} models answered in the name of {name}: {listed}. The rules mix "
                "them, and say nothing about either.",
                names,
            )
        else:
            yield Note(
                "fingerprints",
                f"The replies of {name} have {len(speakers):,} fingerprints: {listed}. The "
                "provider runs several backends, or changed the model during the run; the rules "
                "are about these replies, not about one unchanged model.",
                names,
            )
    if sources is not None and sources.changed:
        yield Note(
            "changed",
            f"{sources.changed:,} of {sources.reasked:,} prompts got another answer when they were "
            f"asked again at the end of the run: up to {sources.bound:.1%} of all answers would "
            f"change (with probability {SURE:g}).",
        )


def _replies(worlds: Iterable[Mapping[str, Details]]) -> Iterator[Reply]:
    for details in worlds:
        for known in details.values():
            yield from (reply for reply in known.replies if reply.fingerprint)
