"""A result's files under a folder: each whole or not at all, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hornlens.formats.files import read_text, write_files
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.scorefiles import parse_scores, scores_text
from hornlens.formats.writers import write_csv
from hornlens.results.analysis.almost import Summary
from hornlens.results.documents.envelope import envelope_as_json, envelope_from_json, read_envelope
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.rate_files import flips_csv
from hornlens.results.documents.reading import extraction_from_json
from hornlens.results.documents.record import RUN, run_record
from hornlens.results.documents.writing import extraction_as_json


def extraction_files(extraction: Findings, key: str = "") -> tuple[dict[str, str], dict[str, Any]]:
    """Return an extraction's files by name, all but its page; `key` goes into run.json.

    Beside them, the contents of envelope.json. Where nobody was asked, there are only the rules.
    """
    if not extraction.asked:
        content = envelope_as_json(extraction.envelope)
        return {
            "envelope.json": json_text(content),
            "rules.csv": write_csv(extraction.envelope),
        }, content
    content = extraction_as_json(extraction)
    files = {
        "envelope.json": json_text(content),
        "rules.csv": extraction.rules.csv(),
        "scores.csv": scores_csv(extraction),
        "rates.csv": extraction.rates.csv(),
        "flips.csv": flips_csv(extraction),
        "run.json": RUN.text(run_record(extraction, key)),
    }
    summary = Summary(extraction)
    if extraction.envelope.almost is not None:
        files["almost.csv"] = summary.almost_csv()
    if summary.levels is not None:
        files["levels.csv"] = summary.levels_csv()
    return files, content


def write_extraction(folder: Path, extraction: Findings, key: str = "") -> None:
    """Write an extraction's files under a folder, all or none; all but its page."""
    files, _ = extraction_files(extraction, key)
    write_files({folder / name: text for name, text in files.items()})


def read_result(path: Path) -> Findings:
    """Read a result: its folder, or the file in it.

    The rules of a formula, a table or an exploration come as an extraction that asked nobody.
    """
    content, file = read_envelope(path)
    if not isinstance(content, dict) or "probe" not in content:
        return Findings.of_envelope(envelope_from_json(content, file), str(path))
    run, scores = file.with_name("run.json"), file.with_name("scores.csv")
    return extraction_from_json(
        content,
        file,
        RUN.read(run).record if run.is_file() else None,
        parse_scores(read_text(scores), scores).scored if scores.is_file() else None,
    )


def scores_csv(extraction: Findings) -> str:
    """Return scores.csv: every prompt with its raw scores, as `--model table/FILE.csv` reads it.

    Where a model named a word and gave no scores, it has the word that was decided on.
    """
    scored: dict[str, dict[str, float]] = {}
    words: dict[str, None] = {}
    named: dict[str, str] = {}
    for world in extraction.each:
        for prompt, scores in world.scores.items():
            scored.setdefault(prompt, {}).update(scores)
            # Phrasings may differ in their candidate words; a prompt has scores for its own.
            words.update(dict.fromkeys(scores))
        if all(world.scores.values()):
            continue
        candidates = [*world.question.words.values()]
        words.update(dict.fromkeys(candidates))
        for cell, decision in world.decisions.items():
            prompt, *others = world.show(cell)
            if decision.winner is not None and not others and world.scores.get(prompt) == {}:
                named[prompt] = candidates[decision.winner]
    columns = [*words] or [*extraction.question.words.values()]
    # What has scores in one way of asking, and a name in another, has a line of scores.
    alone = {prompt: word for prompt, word in named.items() if not scored[prompt]}
    return scores_text(columns, scored, None if all(scored.values()) else alone)
