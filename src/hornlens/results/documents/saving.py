"""A result's files under a folder: each whole or not at all, and read back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.digests import digest_of, with_digest
from hornlens.formats.files import read_text, write_files
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.formats.scorefiles import parse_scores, scores_text
from hornlens.results.analysis.almost import Summary
from hornlens.results.analysis.disparities import disparities_csv
from hornlens.results.analysis.sifted import SiftSummary
from hornlens.results.documents.chance import CHANCE
from hornlens.results.documents.codec import as_plain
from hornlens.results.documents.envelope import (
    envelope_as_json,
    envelope_from_json,
    read_envelope,
    reading_envelope,
)
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.question import Question
from hornlens.results.documents.rate_files import flips_csv
from hornlens.results.documents.reading import extraction_from_json
from hornlens.results.documents.record import RUN, run_record
from hornlens.results.documents.replies import has_replies, replies_csv
from hornlens.results.documents.tables import SECTION, TABLE, is_table
from hornlens.results.documents.writing import extraction_as_json


def result_as_json(extraction: Findings) -> dict[str, Any]:
    """Return the contents of envelope.json; where nobody was asked, there are no answers in it."""
    if extraction.asked:
        return extraction_as_json(extraction)
    tabled = extraction.tabled
    content = {
        **envelope_as_json(extraction.envelope),
        **(
            {"model": {"name": extraction.name, "identity": extraction.identity}}
            if extraction.name
            else {}
        ),
        **({} if tabled is None else {"table": as_plain(tabled)}),
        **({} if (chance := extraction.table_chance) is None else {"chance": chance.as_json()}),
    }
    return with_digest(content)


def extraction_files(extraction: Findings, key: str = "") -> tuple[dict[str, str], dict[str, Any]]:
    """Return an extraction's files by name, all but its page; `key` goes into run.json.

    Beside them, the contents of envelope.json. Where nobody was asked, there are only the rules,
    and the lattice of a table.
    """
    content = result_as_json(extraction)
    files = {"envelope.json": json_text(content), "rules.csv": extraction.rules.csv()}
    if len(extraction.open):
        files["open.csv"] = extraction.open.csv()
    if extraction.asked or extraction.record.started:
        files["run.json"] = RUN.text(run_record(extraction, key))
    if not extraction.asked:
        return files, content
    files["scores.csv"] = scores_csv(extraction)
    if has_replies(extraction):
        files["replies.csv"] = replies_csv(extraction)
    if extraction.has_rates:
        files |= {"rates.csv": extraction.rates.csv(), "flips.csv": flips_csv(extraction)}
        files["disparities.csv"] = disparities_csv(extraction.all_disparities)
    summary, sift = Summary(extraction), SiftSummary.of(extraction)
    if sift is not None and sift.almost:
        files["almost.csv"] = sift.almost_csv()
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
    run, scores = file.with_name(RUN.file_name), file.with_name("scores.csv")
    record = RUN.read(run).record if run.is_file() and file.name == "envelope.json" else None
    if not isinstance(content, dict) or "probe" not in content:
        findings = worked_out(content, file, path.absolute().name)
        return replace(findings, record=record or findings.record)
    return extraction_from_json(
        content,
        file,
        record,
        parse_scores(read_text(scores), scores).scored if scores.is_file() else None,
    )


def worked_out(content: Any, file: Path, name: str = "") -> Findings:
    """Return a result for which nobody was asked, from its JSON; `file` is for errors.

    `name` is what to call it, where it does not say so itself.
    """
    envelope = envelope_from_json(content, file)
    with reading_envelope(content, file):
        named = content.get("model") or {"name": "", "identity": None}
        own, identity = named["name"], named["identity"]
        if not isinstance(own, str) or not isinstance(identity, str | None):
            raise ValueError("has a name that is no text")
    findings = Findings.of_envelope(envelope, own, identity)
    if not own:
        findings = replace(findings, question=Question(name))
    if "chance" in content:
        chance = CHANCE.parse(content["chance"], file)
        if len(chance.p_values) != len(envelope.readable):
            raise InputError("has p-values of other rules under chance", file)
        findings = replace(findings, table_chance=chance)
    if "table" in content:
        return replace(findings, table=SECTION.parse(content["table"], file))
    if file.name == TABLE.file_name and is_table(kept := read_json(file)):
        old = TABLE.parse(kept, file)
        return replace(Findings.of_envelope(envelope, old.name), table=old.document)
    return findings


def digest_at(path: Path) -> str:
    """Return the digest of a saved result, worked out from its file."""
    there = [path / name for name in ("envelope.json", "table.json", "explanation.json")]
    content = read_json(next((each for each in there if each.is_file()), path))
    return digest_of(content) if isinstance(content, dict) else ""


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
