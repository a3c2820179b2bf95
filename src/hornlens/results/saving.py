"""A result's files under a folder: each whole or not at all, and read back."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.files import read_text, write_file
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.results.documents import extraction_as_json, extraction_from_json
from hornlens.results.extraction import Extraction
from hornlens.results.rate_files import flips_csv
from hornlens.results.record import RUN, run_record


def write_extraction(folder: Path, extraction: Extraction, key: str = "") -> dict[str, Any]:
    """Write an extraction's files under a folder, all but its page; `key` goes into run.json.

    Return the contents of envelope.json.
    """
    content = extraction_as_json(extraction)
    for name, text in (
        ("envelope.json", json_text(content)),
        ("rules.csv", extraction.rules.csv()),
        ("scores.csv", scores_csv(extraction)),
        ("rates.csv", extraction.rates.csv()),
        ("flips.csv", flips_csv(extraction)),
        ("run.json", RUN.text(run_record(extraction, key))),
    ):
        write_file(folder / name, text)
    return content


def read_extraction(path: Path) -> Extraction:
    """Read an extraction: its folder, or the envelope.json in it."""
    file = path / "envelope.json" if path.is_dir() else path
    run, scores = file.with_name("run.json"), file.with_name("scores.csv")
    return extraction_from_json(
        read_json(file),
        file,
        RUN.read(run).record if run.is_file() else None,
        _read_scores(scores) if scores.is_file() else None,
    )


def scores_csv(extraction: Extraction) -> str:
    """Return scores.csv: every prompt with its raw scores, as `--model table/FILE.csv` reads it."""
    lines = sorted(extraction.scores.items())
    return csv_text(
        ["prompt", *extraction.question.words.values()],
        ([prompt, *map(repr, scores)] for prompt, scores in lines),
    )


def _read_scores(path: Path) -> dict[str, tuple[float, ...]]:
    rows = csv.reader(StringIO(read_text(path), newline=""))
    try:
        next(rows)
        return {prompt: tuple(map(float, scores)) for prompt, *scores in rows}
    except (ValueError, csv.Error):
        raise InputError("is no scores.csv of hornlens", path, rows.line_num) from None
