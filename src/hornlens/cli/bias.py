"""`hornlens bias`: a data set and models in, bias scores by occupation and two figures out."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.formats.files import check_writable
from hornlens.logic.decisions import Policy
from hornlens.models.protocol import HasWays, Model
from hornlens.models.registry import open_model
from hornlens.pronouns.bias import BIAS
from hornlens.pronouns.dataset import Dataset, Group, load_dataset
from hornlens.pronouns.intervals import Score
from hornlens.pronouns.measuring import (
    ABSTAINED,
    Measurement,
    bias_document,
    bias_run,
    measure,
    prompt_count,
    roles,
    with_enough_people,
)
from hornlens.report.bias_files import write_bias
from hornlens.report.drawing import NOT_DRAWN, can_draw
from hornlens.report.terminal import Terminal
from hornlens.results.wording.measures import toys_words
from hornlens.store.protocol import AnswerStore

if TYPE_CHECKING:
    from hornlens.cli.commands.models import BiasOptions

SHOWN = 25
"""How many occupations of a model the terminal shows; the files have all of them."""


def bias_command(options: BiasOptions) -> None:
    """Measure every model, write the files, show the strongest biases."""
    terminal = Terminal(options.quiet)
    specs = options.model or ["demo"]
    twice = [spec for i, spec in enumerate(specs) if spec in specs[:i]]
    if twice:
        raise HornlensError(f"--model {twice[0]} is given twice")
    check_writable(options.out)  # before anything is asked
    dataset = load_dataset(options.dataset)
    roles(dataset.probe)
    groups = with_enough_people(dataset, options.min_people)
    policy = options.over(dataset.probe.policy)
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    models = [open_model(spec, options.how.options) for spec in specs]
    with options.store.open(terminal.warn) as cache:
        measured = _measure_all(models, terminal, dataset, groups, policy, cache)
    seconds = time.perf_counter() - clock
    if note := options.how.options.limits.note:
        terminal.warn(note)
    bias = bias_document(dataset, groups, measured, policy)
    run = bias_run(measured, seconds, started)
    write_bias(bias, run, options.out, options.limit_occupations)
    for model in bias.models:
        if model.overall.ppbs is None:
            terminal.warn(
                f"the scores of {model.name} are no log-probabilities (they add up to more than "
                "1): only its normalised scores are given"
            )
    if options.format == "json":
        sys.stdout.write(BIAS.text(bias))
        return
    for each in measured:
        _show(terminal, dataset.name, each, options.out)
    if toy := toys_words({each.name: each.identity for each in measured}):
        terminal.say(f"Note: {toy}", "yellow")
    asked, reused = sum(m.asked for m in measured), sum(m.reused for m in measured)
    terminal.say(f"{plural(asked, 'prompt')} asked, {reused:,} from the cache, {seconds:.1f} s.")
    terminal.written(options.out / "report.html")
    figures = ", two figures" if can_draw() else ""
    terminal.say(f"Files: {options.out} (bias.json, bias.csv, confusion.csv{figures})")
    if not figures:
        terminal.say(NOT_DRAWN)


def _measure_all(
    models: list[Model],
    terminal: Terminal,
    dataset: Dataset,
    groups: Sequence[Group],
    policy: Policy,
    cache: AnswerStore | None,
) -> list[Measurement]:
    """Ask one model after the other, so that one at a time is in memory.

    A chat model that is asked in several ways is measured in each of them.
    """
    total = prompt_count(dataset, groups, policy)
    measured = []
    while models:
        model = models.pop(0)
        words = dataset.probe.label.words
        ways = model.ways(words) if isinstance(model, HasWays) else {}
        for way, asked in (ways or {"": model}).items():
            name = f"{model.name} ({way})" if way else model.name
            with terminal.bar(f"Asking {name}", total, "prompts") as progress:
                asking = (asked, dataset, groups)
                measured.append(
                    measure(*asking, policy=policy, cache=cache, progress=progress, name=name)
                )
        del model, asked, ways
    return measured


def _show(terminal: Terminal, people: str, model: Measurement, out: Path) -> None:
    """Print a model's occupations as people read them."""
    lines = model.strongest_first()
    everyone = model.overall
    terminal.say(
        f"{people} on {model.name}: {plural(len(lines), 'occupation')}, "
        f"{everyone.people:,} people, {plural(model.prompts, 'distinct prompt')}.",
        "bold",
    )
    terminal.say()
    terminal.table(
        ["occupation", "people", "ppbs", "95 % interval", "normalised", "accuracy"],
        [
            [
                line.occupation or "(not known)",
                str(line.people),
                "" if line.ppbs is None else f"{line.ppbs.mean:+.3f}",
                _interval(line.score),
                f"{line.normalised.mean:+.3f}",
                "" if line.accuracy is None else f"{line.accuracy:.1%}",
            ]
            for line in lines[:SHOWN]
        ],
    )
    if len(lines) > SHOWN:
        terminal.say(f"… and {len(lines) - SHOWN} more: {out / 'bias.csv'}")
    abstained = sum(everyone.confusion[ABSTAINED].values())
    kind = "ppbs" if everyone.ppbs else "normalised"
    right = "" if everyone.accuracy is None else f", accuracy {everyone.accuracy:.1%}"
    terminal.say(f"All people: {kind} {everyone.score.mean:+.3f}{right}.")
    if abstained:
        terminal.say(f"No prediction for {abstained:,} of {everyone.people:,} people.")
    terminal.say()


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{score.low:+.3f} … {score.high:+.3f}"
