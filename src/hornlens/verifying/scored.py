"""scores.csv beside a document: do the scores of the answers follow from it?

The file has the raw scores of every prompt. An answer has those of its prompt; the mean, where
several phrasings are averaged; or what is left after a baseline was subtracted (calibration).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, isclose
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import read_text
from hornlens.formats.scorefiles import Recorded, parse_scores
from hornlens.verifying.grids import Wrong

FILE = "scores.csv"
TOLERANCE = 1e-12
"""By how much a mean, or a difference, may be off: versions of Python add in different ways."""
Answer = Mapping[str, Any]


def check_scores(content: Mapping[str, Any], path: Path) -> tuple[list[str], list[str]]:
    """Hold the answers of a document against its scores.csv; return what was checked, what not."""
    try:
        record = parse_scores(read_text(path), path)
    except InputError as error:
        raise Wrong(str(InputError(error.message, FILE, error.line))) from None
    words = _words(content)
    answers = list(content["answers"])
    shared = Counter(
        prompt for answer in answers if len(answer["prompts"]) == 1 for prompt in answer["prompts"]
    )
    notes = _Notes([], [])
    asked_in_words = _is_asked_in_words(content)
    raw: dict[Any, list[_Raw]] = defaultdict(list)
    unlike: dict[str, Wrong | None] = {}
    named = 0
    for number, answer in enumerate(answers if asked_in_words else ()):
        prompts, own = answer["prompts"], words[answer.get("variant")]
        for prompt in prompts:
            if prompt not in record.scored:
                raise Wrong(f"{FILE}: has no line for {prompt!r}, answer {number}")
        if answer.get("repeats"):
            continue
        lines = [[record.scored[prompt].get(word) for word in own.values()] for prompt in prompts]
        why = None
        if len(prompts) > 1 and any(score is None for line in lines for score in line):
            if OTHER_WORDS not in notes.not_checked:
                notes.not_checked.append(OTHER_WORDS)
            continue
        if not answer["scores"]:
            why = _not_named(answer, prompts, own, record)
            named += prompts[0] in (record.named or {})
        elif any(score is None for line in lines for score in line):
            why = "has no score for each of its words"
        else:
            columns = zip(*lines, strict=True)
            means = [sum(score or 0.0 for score in column) / len(lines) for column in columns]
            raw[answer.get("variant")].append(_Raw(number, answer, means))
            if content["policy"].get("calibration", "none") == "none":
                why = _unequal(answer["scores"], means, len(prompts) > 1)
        wrong = None if why is None else Wrong(f"{FILE}: {prompts[0]!r}, answer {number}: {why}")
        if wrong is not None and shared[prompts[0]] < 2:
            raise wrong
        # Several models may be asked the same prompt: the file has a line for one of them.
        if prompts[0] not in unlike or wrong is None:
            unlike[prompts[0]] = wrong
    for wrong in filter(None, unlike.values()):
        raise wrong
    if named:
        notes.checked.append(f"{FILE}: {named:,} answers have the word that it names")
    _check_calibration(content, raw, notes)
    _check_rest(content, answers if asked_in_words else [], record, shared, notes)
    return notes.checked, notes.not_checked


@dataclass(frozen=True)
class _Notes:
    checked: list[str]
    not_checked: list[str]


@dataclass(frozen=True)
class _Raw:
    """An answer, and what scores.csv gives for it before a baseline is subtracted."""

    number: int
    answer: Answer
    means: Sequence[float]

    @property
    def baseline(self) -> Iterator[float | None]:
        """Yield what was subtracted from the score of each label; None where nobody can know."""
        for mean, score in zip(self.means, self.answer["scores"], strict=True):
            known = abs(mean) != inf and isinstance(score, int | float) and abs(score) != inf
            yield mean - score if known else None


def _words(content: Mapping[str, Any]) -> dict[Any, Mapping[str, str]]:
    """Return the candidate word of each label, in each way of asking."""
    worlds = {line["name"]: line.get("label") for line in content.get("variants", [])}
    own = content["probe"]["label"]
    return {name: label or own for name, label in (worlds or {None: own}).items()}


def _is_asked_in_words(content: Mapping[str, Any]) -> bool:
    """Return whether there were prompts: a function of cells has no raw scores."""
    variants = content.get("variants", [])
    return bool(content["probe"]["templates"]) or any(line.get("template") for line in variants)


def _not_named(
    answer: Answer, prompts: Sequence[str], words: Mapping[str, str], record: Recorded
) -> str | None:
    """Return why a line without scores is not that of an answer; None if it is."""
    if len(prompts) != 1 or any(reply.get("scores") for reply in answer.get("replies", ())):
        return None
    word = (record.named or {}).get(prompts[0])
    if answer["winner"] is None:
        return None if word is None else f"names {word!r}, and there is no winner"
    if record.scored[prompts[0]]:
        return None  # a reply of a model that also gives scores, in another way of asking
    chosen = words.get(answer["winner"])
    return None if word == chosen else f"names {word!r}, not {chosen!r}"


def _unequal(scores: Sequence[Any], means: Sequence[float], rounded: bool) -> str | None:
    for score, mean in zip(scores, means, strict=True):
        if score != mean and not (rounded and _same(score, mean)):
            return f"the score is {mean}, not {score}"
    return None


def _same(one: Any, other: float) -> bool:
    return one == other or isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _check_calibration(
    content: Mapping[str, Any], raw: Mapping[Any, Sequence[_Raw]], notes: _Notes
) -> None:
    """Check that one baseline was subtracted from all, and that it is the one that is meant."""
    calibration = content["policy"].get("calibration", "none")
    count = sum(map(len, raw.values()))
    if calibration == "none":
        if count:
            notes.checked.append(f"{FILE}: {count:,} answers have the scores of their prompts")
        return
    complete = not content["certificate"].get("unasked") and "ended" not in content["certificate"]
    for lines in raw.values():
        for place in range(len(lines[0].means)):
            values = [(line, list(line.baseline)[place]) for line in lines]
            known = [(line, value) for line, value in values if value is not None]
            for line, value in known:
                if not _same(value, known[0][1] or 0.0):
                    raise Wrong(
                        f"{FILE}: answer {line.number}: {value} was subtracted from its score, and "
                        f"{known[0][1]} from that of answer {known[0][0].number}"
                    )
            meant = _meant(calibration, lines, place, complete)
            if known and meant is not None and not _same(known[0][1], meant):
                raise Wrong(f"{FILE}: the {calibration} baseline is {meant}, not {known[0][1]}")
            if meant is None and NO_BASELINE not in notes.not_checked:
                notes.not_checked.append(NO_BASELINE)
    if count:
        notes.checked.append(
            f"{FILE}: the scores of {count:,} answers are those of their prompts, less one baseline"
        )


OTHER_WORDS = f"{FILE}: means over phrasings that have words of their own, or no scores"
NO_BASELINE = f"the baseline of calibrated scores: not all of its prompts are in {FILE}"


def _meant(calibration: str, lines: Sequence[_Raw], place: int, complete: bool) -> float | None:
    """Return the baseline by its definition; None where what it is made of is not there."""
    if calibration == "neutral":
        empty = [line.means[place] for line in lines if not line.answer["set"]]
        return empty[0] if empty and abs(empty[0]) != inf else None
    column = [line.means[place] for line in lines if line.means[place] != -inf]
    return fsum(column) / len(column) if calibration == "mean" and complete and column else None


def _check_rest(
    content: Mapping[str, Any],
    answers: Sequence[Answer],
    record: Recorded,
    shared: Mapping[str, int],
    notes: _Notes,
) -> None:
    """Look at lines that belong to no answer, and name what was not compared."""
    prompts = {prompt for answer in answers for prompt in answer["prompts"]}
    others = [prompt for prompt in record.scored if prompt not in prompts]
    certificate = content["certificate"]
    calibrated = content["policy"].get("calibration", "none") != "none"
    if others and not calibrated and not certificate.get("ended"):
        raise Wrong(f"{FILE}: {others[0]!r} is no prompt of this result")
    if others:
        notes.not_checked.append(f"{len(others):,} lines of {FILE} whose prompts have no answer")
    if any(answer.get("repeats") for answer in answers):
        notes.not_checked.append(f"{FILE}: the scores of prompts that were asked several times")
    if any(count > 1 for count in shared.values()) and answers:
        notes.not_checked.append(f"{FILE}: prompts that were asked in several ways have one line")
