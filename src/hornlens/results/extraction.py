"""An extraction on disk: what is written under --out, each file whole or not at all."""

from __future__ import annotations

import csv
import platform
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.extraction.extract import Extraction
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.writers import rule_cells
from hornlens.results.envelope import envelope_as_json
from hornlens.results.evidence import Evidence, in_words

RULE_COLUMNS = (
    *("if", "then", "support", "prompts", "mean_margin", "smallest_margin", "sentence"),
    *("canonical_if", "canonical_then"),
)


def summary_as_json(extraction: Extraction) -> dict[str, Any]:
    """Return the envelope and where it comes from, without the answers it rests on.

    Nothing here depends on when, or in how many attempts, the run was made.
    """
    content = envelope_as_json(extraction.envelope)
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        line.update(_support(evidence, extraction))
    probe = extraction.probe
    content["probe"] = {
        "name": probe.name,
        "description": probe.description,
        "templates": list(probe.templates),
        "attributes": {a.name: [v.name for v in a.values] for a in probe.attributes},
        "label": {v.name: v.word for v in probe.label.values},
        "label_attribute": probe.label.name,
    }
    content["model"] = {"name": extraction.model, "identity": extraction.identity}
    content["policy"] = asdict(extraction.policy)
    content["settings"] = asdict(extraction.settings)
    return content


def extraction_as_json(extraction: Extraction) -> dict[str, Any]:
    """Return the contents of envelope.json: the envelope, the answers, and the evidence.

    `answers` lists every cell that the model was asked about; a rule's `evidence` are positions in
    that list.
    """
    content = summary_as_json(extraction)
    cells = sorted(extraction.decisions)
    position = {cell: i for i, cell in enumerate(cells)}
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        closest = evidence.closest
        if closest is not None:
            line["closest"] = {"answer": position[closest.cell], "margin": closest.margin}
        line["evidence"] = [position[exhibit.cell] for exhibit in evidence.exhibits]
    content["abstentions"] = [position[cell] for cell, _ in extraction.abstentions]
    content["answers"] = [_answer(extraction, cell) for cell in cells]
    return content


def _answer(extraction: Extraction, cell: int) -> dict[str, Any]:
    probe, decision = extraction.probe, extraction.decisions[cell]
    winner = decision.winner
    return {
        "set": list(probe.vocabulary.names_of(cell)),
        "prompts": list(probe.render(cell)),
        "scores": list(decision.scores),
        "winner": None if winner is None else probe.label.values[winner].name,
        "margin": decision.margin,
        **({"abstained": decision.abstained} if decision.abstained else {}),
    }


def _support(evidence: Evidence, extraction: Extraction) -> dict[str, Any]:
    return {
        "support": evidence.support,
        "prompts": evidence.prompts,
        "mean_margin": evidence.mean_margin,
        "closest": None,
        "sentence": in_words(evidence.rule, extraction.probe),
    }


def rules_csv(extraction: Extraction) -> str:
    """Return rules.csv: a line for each rule, strongest first."""
    names = extraction.probe.vocabulary
    canonical = dict(zip(extraction.envelope.readable, extraction.envelope.basis, strict=True))
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(RULE_COLUMNS)
    for evidence in extraction.strongest_first():
        margins = evidence.margins
        writer.writerow(
            [
                *rule_cells(evidence.rule, names),
                evidence.support,
                evidence.prompts,
                *([f"{evidence.mean_margin:.6g}", f"{min(margins):.6g}"] if margins else ["", ""]),
                in_words(evidence.rule, extraction.probe),
                *rule_cells(canonical[evidence.rule], names),
            ]
        )
    return out.getvalue()


def scores_csv(extraction: Extraction) -> str:
    """Return scores.csv: every prompt with its raw scores, as `--model table/FILE.csv` reads it."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["prompt", *extraction.probe.label.words])
    for prompt, scores in sorted(extraction.scores.items()):
        writer.writerow([prompt, *map(repr, scores)])
    return out.getvalue()


def run_record(extraction: Extraction, seconds: float, started: str) -> dict[str, Any]:
    """Return the contents of run.json: how this run went, and what may differ in the next."""
    return {
        "hornlens": __version__,
        "python": platform.python_version(),
        "started": started,
        "seconds": round(seconds, 3),
        "asked_the_model": extraction.asked,
        "answered_from_cache": extraction.reused,
        "probe": extraction.probe.name,
        "model": {"name": extraction.model, "identity": extraction.identity},
        "settings": asdict(extraction.settings),
        "policy": asdict(extraction.policy),
        "certificate": extraction.envelope.certificate.as_json(),
    }


def write_extraction(
    folder: Path, extraction: Extraction, record: dict[str, Any]
) -> dict[str, Any]:
    """Write an extraction's files under a folder; return the contents of envelope.json."""
    content = extraction_as_json(extraction)
    for name, text in (
        ("envelope.json", json_text(content)),
        ("rules.csv", rules_csv(extraction)),
        ("scores.csv", scores_csv(extraction)),
        ("run.json", json_text(record)),
    ):
        write_file(folder / name, text)
    return content
