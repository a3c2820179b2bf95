"""A result's files under a folder: each whole or not at all, and read back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornlens.formats.files import read_text, write_files
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.formats.scorefiles import parse_scores, scores_text
from hornlens.results.analysis.almost import Summary
from hornlens.results.documents.envelope import envelope_as_json, envelope_from_json, read_envelope
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.rate_files import flips_csv
from hornlens.results.documents.reading import extraction_from_json
from hornlens.results.documents.record import RUN, run_record
from hornlens.results.documents.tables import TABLE, TableResult, is_table, is_table_of
from hornlens.results.documents.writing import extraction_as_json


def result_as_json(extraction: Findings) -> dict[str, Any]:
    """Return the contents of envelope.json; where nobody was asked, there are no answers in it."""
    if extraction.asked:
        return extraction_as_json(extraction)
    return envelope_as_json(extraction.envelope)


def extraction_files(extraction: Findings, key: str = "") -> tuple[dict[str, str], dict[str, Any]]:
    """Return an extraction's files by name, all but its page; `key` goes into run.json.

    Beside them, the contents of envelope.json. Where nobody was asked, there are only the rules,
    and the lattice of a table.
    """
    content = result_as_json(extraction)
    if not extraction.asked:
        files = {"envelope.json": json_text(content), "rules.csv": extraction.rules.csv()}
        if extraction.table is not None:
            files["table.json"] = TABLE.text(extraction.table)
        return files, content
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
        return worked_out(content, file, _table_of(content, file), str(path))
    run, scores = file.with_name("run.json"), file.with_name("scores.csv")
    return extraction_from_json(
        content,
        file,
        RUN.read(run).record if run.is_file() else None,
        parse_scores(read_text(scores), scores).scored if scores.is_file() else None,
    )


def worked_out(
    content: Any, file: Path, table: TableResult | None = None, name: str = ""
) -> Findings:
    """Return a result for which nobody was asked, from its JSON; `file` is for errors.

    `table` is what is known of its rows, where it is that of a table.
    """
    return replace(Findings.of_envelope(envelope_from_json(content, file), name), table=table)


def _table_of(content: Any, file: Path) -> TableResult | None:
    """Return what table.json has beside the rules: of the file itself, or of the one beside it."""
    place = file if file.name != "envelope.json" else file.with_name(TABLE.file_name)
    if not place.is_file() or not isinstance(kept := read_json(place), dict):
        return None
    if not is_table(kept) or not is_table_of(kept, content):
        return None
    return TABLE.parse(kept, place)


def written_by(path: Path) -> str:
    """Return the version that wrote a result, which stands at the head of its file; "" if none."""
    there = [path / name for name in ("envelope.json", "table.json", "explanation.json")]
    file = next((each for each in there if each.is_file()), path)
    with file.open(encoding="utf-8", errors="replace") as opened:
        head = re.match(r'\s*\{\s*"hornlens":\s*"([^"\\]{1,40})"', opened.read(200))
    return "" if head is None else head[1]


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
