"""`hornlens extract`: a probe and a model in, rules and evidence out."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hornlens.extraction.extract import Extraction, Settings, extract, paper_protocol
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import load_probe
from hornlens.probes.probe import Probe
from hornlens.report.page import page
from hornlens.report.terminal import (
    Terminal,
    certificate_in_words,
    plural,
    show_non_horn,
)
from hornlens.results.evidence import in_words
from hornlens.results.extraction import run_record, write_extraction
from hornlens.store.sqlite import AnswerCache, default_path

SHOWN = 25
"""How many rules the terminal shows; the files have all of them."""


@dataclass(frozen=True)
class ExtractOptions:
    """What the options of `hornlens extract` say; None: as the probe has it."""

    probe: str
    model: str
    out: Path
    cache: Path | None
    no_cache: bool
    settings: Settings
    protocol: str
    policy: dict[str, Any]
    model_options: ModelOptions
    form: str
    quiet: bool


def extract_command(options: ExtractOptions) -> None:
    """Extract, write the files, show the findings."""
    terminal = Terminal(options.quiet)
    probe = load_probe(options.probe)
    settings, policy = options.settings, probe.policy
    if options.protocol == "paper":
        settings, policy = paper_protocol(settings, policy)
    policy = replace(policy, **{k: v for k, v in options.policy.items() if v is not None})
    settings.check(probe)
    model = open_model(options.model, options.model_options)
    cache: AnswerCache | None = None
    if not options.no_cache:
        cache = AnswerCache(options.cache or default_path(), terminal.warn)
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    try:
        total = _expected_prompts(probe, settings)
        with terminal.bar(f"Asking {model.name}", total, "prompts") as progress:
            result = extract(
                model,
                probe,
                settings=settings,
                policy=policy,
                cache=cache or False,
                progress=progress,
            )
    finally:
        if cache is not None:
            cache.close()
    seconds = time.perf_counter() - clock
    record = run_record(result, seconds, started)
    content = write_extraction(options.out, result, record)
    write_file(options.out / "report.html", page("envelope.json", content, record))
    if options.form == "json":
        sys.stdout.write(json_text(content))
    else:
        show(terminal, result, options.out, seconds)


def _expected_prompts(probe: Probe, settings: Settings) -> int | None:
    """Return how many prompts there will be, where that is known beforehand."""
    exhaustive = settings.equivalence in ("auto", "exhaustive")
    return probe.prompt_count if exhaustive and probe.prompt_count <= settings.limit else None


def show(terminal: Terminal, result: Extraction, out: Path, seconds: float) -> None:
    """Print the findings as people read them."""
    envelope, probe = result.envelope, result.probe
    terminal.say(
        f"{probe.name} on {result.model}: {plural(len(envelope.basis), 'rule')}; "
        f"{certificate_in_words(envelope)}.",
        "bold",
    )
    evidence = result.strongest_first()
    if evidence:
        terminal.say()
        for item in evidence[:8]:
            terminal.say(
                f"  • {in_words(item.rule, probe)} ({item.support} of {item.prompts} prompts)"
            )
        terminal.say()
        terminal.table(
            ["rule", "support", "prompts", "mean margin", "closest call"],
            [
                [
                    item.rule.show(probe.vocabulary),
                    str(item.support),
                    str(item.prompts),
                    "" if item.mean_margin is None else f"{item.mean_margin:.2f}",
                    f"{min(item.margins):.2f}" if item.margins else "",
                ]
                for item in evidence[:SHOWN]
            ],
        )
        if len(evidence) > SHOWN:
            terminal.say(f"… and {len(evidence) - SHOWN} more: {out / 'rules.csv'}")
    terminal.say()
    negatives = envelope.statistics.get("negatives")
    show_non_horn(terminal, envelope)
    if negatives and envelope.non_horn.count:
        share = envelope.non_horn.count / negatives
        terminal.say(f"That is {share:.1%} of the {negatives:,} that the model rejects.")
    for reason in ("tie", "margin", "top_k"):
        cells = [cell for cell, decision in result.abstentions if decision.abstained == reason]
        if cells:
            why = {
                "tie": "the candidates tied",
                "margin": "the margin was too small",
                "top_k": "no candidate was among the model's first choices",
            }[reason]
            terminal.say(
                f"{plural(len(cells), 'abstention')}, because {why}; "
                f"the first: {probe.render(cells[0])[0]}"
            )
    policy = result.policy
    terminal.say(
        f"Policy: label unset {policy.label_unset}ed, calibration {policy.calibration}, "
        f"margin {policy.margin:g}"
        + (f", top {policy.top_k}" if policy.top_k else "")
        + (f", abstentions {policy.abstain}ed" if result.abstentions else "")
        + "."
    )
    terminal.say(
        f"{plural(result.asked, 'prompt')} asked, {result.reused:,} from the cache, "
        f"{seconds:.1f} s."
    )
    terminal.say(f"Report: {out / 'report.html'} (beside it envelope.json, rules.csv, scores.csv)")
