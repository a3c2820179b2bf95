"""How runs went: times.json, run.json and review.json, held against the files beside them."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.grids import Wrong

if TYPE_CHECKING:
    from hornlens.verifying.documents import DocumentNotes

CONFIDENCE = 0.95
HALVINGS = 60


def check_times(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Check the times of a study against the run.json of each run."""
    from hornlens.verifying.ledgers.studies import TIMES_ALONE

    study_path = path.with_name("study.json")
    study = read_json(study_path) if study_path.is_file() else None
    if study is None:
        notes.missing.append("study.json")
        notes.ledger = TIMES_ALONE
        return notes
    if content["study"] != study["study"]["name"]:
        raise Wrong("study: the study beside it has another name")
    for line, own in zip(content["models"], study["models"], strict=True):
        if line["model"] != own["model"] or len(line["budgets"]) != len(own["budgets"]):
            raise Wrong("models: not those of the study beside it")
        if (line["exact"] is None) != (own["exact"] is None):
            raise Wrong(f"{line['model']}: whether it has an exact result is said otherwise")
        if own["exact"] is not None:
            _check_exact(line["exact"], path.parent / own["exact"]["folder"], notes)
        for part, runs in zip(line["budgets"], own["budgets"], strict=True):
            if part["budget"] != runs["budget"]:
                raise Wrong(f"{line['model']}: other budgets than the study has")
            records = [_record(path.parent / run["folder"], notes) for run in runs["runs"]]
            for key in ("seconds", "asked_the_model"):
                kept = [record[key] for record in records if record is not None]
                if len(kept) == len(records) and part[key] != kept:
                    raise Wrong(f"{line['model']}: {key} of its runs are others")
    if notes.missing:
        notes.ledger = TIMES_ALONE
    else:
        notes.checked.append("times: those of each run's run.json")
    return notes


def _check_exact(stated: Mapping[str, Any], folder: Path, notes: DocumentNotes) -> None:
    record = _record(folder, notes)
    if record is not None:
        keys = ("seconds", "asked_the_model", "answered_from_cache")
        if stated != {key: record[key] for key in keys}:
            raise Wrong(f"{folder.name}: the times of the exact result are others")


def _record(folder: Path, notes: DocumentNotes) -> Mapping[str, Any] | None:
    path = folder / "run.json"
    if not path.is_file():
        notes.missing.append(f"{folder.name}/run.json")
        return None
    record: Mapping[str, Any] = read_json(path)
    return record


def check_run(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Check a run.json against the result beside it."""
    from hornlens.verifying.ledgers.runs import RUN_ALONE

    beside = path.with_name("envelope.json")
    for key in ("asked_the_model", "answered_from_cache"):
        if type(content[key]) is not int or content[key] < 0:
            raise Wrong(f"{key}: is no count")
    if not isinstance(content["seconds"], int | float) or content["seconds"] < 0:
        raise Wrong("seconds: no time")
    result = read_json(beside) if beside.is_file() else None
    if result is None:
        notes.missing.append("envelope.json")
        notes.ledger = RUN_ALONE
        return notes
    for key in ("certificate", "model", "settings", "policy"):
        if key in result and content[key] != result[key]:
            raise Wrong(f"{key}: not that of envelope.json")
    if "probe" in result and content["probe"] != result["probe"]["name"]:
        raise Wrong("probe: not that of envelope.json")
    if "probe" not in result:
        notes.ledger = RUN_ALONE
    notes.checked.append("run: certificate, model, settings and policy are those of envelope.json")
    return notes


def check_bias_run(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Check the run.json of bias scores against these."""
    from hornlens.verifying.ledgers.runs import BIAS_RUN_ALONE

    beside = path.with_name("bias.json")
    if not beside.is_file():
        notes.missing.append("bias.json")
        notes.ledger = BIAS_RUN_ALONE
        return notes
    bias = read_json(beside)
    if [line["name"] for line in content["models"]] != [line["name"] for line in bias["models"]]:
        raise Wrong("models: not those of bias.json")
    for line in content["models"]:
        counts = line["asked_the_model"], line["answered_from_cache"]
        if any(type(count) is not int or count < 0 for count in counts):
            raise Wrong(f"{line['name']}: no counts of prompts")
    notes.checked.append("run: its models are those of bias.json")
    return notes


def check_review(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Count a person's verdicts again; the replies have to be those of the result beside it."""
    from hornlens.verifying.ledgers.runs import REVIEW_ALONE

    replies = content["replies"]
    verdicts = [reply["agrees"] for reply in replies if reply["agrees"] is not None]
    if any(type(verdict) is not bool for verdict in verdicts):
        raise Wrong("replies: a verdict that is neither yes nor no")
    agree, of = sum(verdicts), len(verdicts)
    low, high = _interval(agree, of)
    counted = {
        "agree": agree,
        "of": of,
        "sampled": len(replies),
        "share": agree / of if of else None,
        "low": low,
        "high": high,
        "confidence": CONFIDENCE,
    }
    stated = content["agreement"]
    if set(stated) != set(counted):
        raise Wrong("agreement: other fields than it has")
    for key, value in counted.items():
        if value is None or isinstance(value, int):
            fits = stated[key] == value and type(stated[key]) is type(value)
        else:
            number = stated[key]
            fits = isinstance(number, int | float) and isclose(number, value, abs_tol=1e-6)
        if not fits:
            raise Wrong(f"agreement: {key} is {value}, not {stated[key]}")
    if type(content["recorded"]) is not int or content["recorded"] < len(replies):
        raise Wrong("recorded: fewer replies than are listed")
    notes.checked.append(f"agreement: {agree} of {of} verdicts, and their interval")
    beside = path.with_name("envelope.json")
    if not beside.is_file():
        notes.missing.append("envelope.json")
        notes.ledger = REVIEW_ALONE
        return notes
    kept = _replies_of(read_json(beside))
    if content["recorded"] != sum(kept.values()):
        raise Wrong(f"recorded: the result has {sum(kept.values()):,} replies")
    for number, reply in enumerate(replies, 1):
        own = (reply["world"], reply["prompt"], reply["text"])
        if kept.get(own, 0) <= 0:
            raise Wrong(f"reply {number}: is not among those of the result")
        kept[own] -= 1
    notes.checked.append("replies: each is one of the result beside it")
    return notes


def _replies_of(result: Mapping[str, Any]) -> dict[tuple[str, str, str], int]:
    """Return how often each reply stands in a result, by way of asking, prompt and text."""
    counts: dict[tuple[str, str, str], int] = {}
    seen: set[tuple[str, str]] = set()
    for answer in result["answers"]:
        world, prompts = answer.get("variant", ""), answer["prompts"]
        parts = [answer] if len(prompts) == 1 else answer.get("phrasings", [])
        for prompt, part in zip(prompts, parts, strict=False):
            if (world, prompt) in seen:
                continue
            seen.add((world, prompt))
            for reply in part.get("replies", ()):
                key = (world, prompt, reply["text"])
                counts[key] = counts.get(key, 0) + 1
    return counts


def _interval(hits: int, draws: int) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share."""
    tail = (1 - CONFIDENCE) / 2
    if not draws:
        return 0.0, 1.0
    return _least(hits, draws, tail), 1 - _least(draws - hits, draws, tail)


def _least(hits: int, draws: int, tail: float) -> float:
    """Return the share at which so many hits, or more, have the chance `tail`."""
    if not hits:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = range(hits, draws + 1)
        chance = sum(comb(draws, k) * middle**k * (1 - middle) ** (draws - k) for k in more)
        low, high = (middle, high) if chance < tail else (low, middle)
    return low
