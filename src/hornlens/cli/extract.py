"""`hornlens extract`: a black box in, rules and evidence out."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hornlens.cli.asking import Doing
from hornlens.cli.comparing import show_compared
from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.formats.files import check_writable
from hornlens.limits import ended_by_ctrl_c
from hornlens.logic.almost import AlmostRules
from hornlens.logic.decisions import Policy, reason_in_words
from hornlens.logic.levels import Levels
from hornlens.logic.rule import Rule
from hornlens.models.protocol import HasWays
from hornlens.probes.loading import DEFAULT, default_model, load_probe
from hornlens.probes.probe import Probe
from hornlens.report.chance import show_chance
from hornlens.report.disparities import show_disparities
from hornlens.report.possible import show_possible
from hornlens.report.progress import Live
from hornlens.report.rates import show_rates
from hornlens.report.sifting import show_sift_title, show_sifted
from hornlens.report.summaries import say_level, show_almost, show_level, show_sentences
from hornlens.report.terminal import (
    Terminal,
    show_claim,
    show_envelope,
    show_non_horn,
    show_open,
)
from hornlens.result import Result
from hornlens.results.analysis.almost import Nearly, Summary
from hornlens.results.analysis.evidence import Evidence
from hornlens.results.analysis.sifted import SiftSummary
from hornlens.results.documents.settings import Settings, paper_protocol
from hornlens.results.wording.measures import (
    could_break_words,
    decided_words,
    lead_words,
    toy_words,
)
from hornlens.results.wording.odds import Odds, odds
from hornlens.results.wording.pages import vacuous_because

if TYPE_CHECKING:
    from hornlens.cli.commands.models import ExtractOptions

WARNINGS = 8
"""How many warnings the terminal shows."""
SHOWN = 25
"""How many rules the terminal shows; the files have all of them."""


def extract_command(options: ExtractOptions) -> int:
    """Extract, write the files, show the findings; return the exit code."""
    is_target = options.target is not None
    if is_target and (options.probe is not None or options.model is not None):
        raise HornlensError("--target asks its own questions: give neither a probe nor --model")
    # A limit on questions is one of the run, as all limits are: the result tells it as such.
    settings = options.passed_to(Settings, max_questions=None)
    terminal = Terminal(options.quiet)
    if options.pilot is not None and not options.dry_run:
        raise HornlensError("--pilot goes with --dry-run")
    options.versus.check_alone(dry_run=options.dry_run, repeats=options.noise.repeats)
    if options.dry_run:
        _show_costs(options, settings, terminal)
        return 0
    check_writable(options.out)  # before anything is asked
    clock = time.perf_counter()
    with ended_by_ctrl_c(options.limits):
        if is_target:
            result = _ask_target(options, settings, terminal)
        else:
            result = _ask_model(options, settings, terminal)
    seconds = time.perf_counter() - clock
    if note := options.how.options.limits.note:
        terminal.warn(note)
    if options.intersections and result.has_rates and result.asked:
        result = result.with_intersections(*_intersections(options))
    result.save(options.out)
    if options.format == "json":
        for warning in result.warnings:
            terminal.warn(warning.sentence)
        sys.stdout.write((options.out / "envelope.json").read_text(encoding="utf-8"))
    else:
        show(terminal, result, options.out, seconds)
    return options.exit_code


def _ask_model(options: ExtractOptions, settings: Settings, terminal: Terminal) -> Result:
    """Put the probe's questions to the model."""
    repeats, probe = options.noise.options, _probe(options)
    _check_intersections(options, [attribute.name for attribute in probe.attributes])
    settings, policy = _protocol(options, settings, probe.policy)
    everything = not options.versus.compares and settings.is_exhaustive(probe.prompt_count)
    store = options.store.open(terminal.warn)
    with closing(options.where.open(None, terminal.warn)) as executor:
        opened = partial(executor.model, options=options.noise.applied_to(options.how.options))
        model = opened(options.model or default_model(probe.name))
        ways = model.ways(probe.label.words) if isinstance(model, HasWays) else {}
        prompts = probe.prompt_count * max(1, len(ways))
        ask = options.versus.asking(opened, model)
        live = Live(Doing(f"Asking {model.name}", executor))
        total = prompts if everything and repeats is None else None
        with store as cache, terminal.bar(live, total, "prompts") as progress:
            result: Result = ask(
                probe=probe,
                settings=settings,
                policy=policy,
                cache=False if cache is None else cache,
                progress=progress,
                limits=options.limits,
                repeats=repeats or 1,
                watch=live.watch,
            )
            return result


def _intersections(options: ExtractOptions) -> list[tuple[str, ...]]:
    """Return the attributes whose combinations have rates: names with commas between them."""
    given = options.intersections or []
    return [tuple(name.strip() for name in text.split(",")) for text in given]


def _check_intersections(options: ExtractOptions, names: Sequence[str]) -> None:
    """Reject what names no two attributes, before anything is asked."""
    for group in _intersections(options):
        if len(set(group)) < 2 or len(set(group)) < len(group):
            raise HornlensError("--intersections needs two attributes or more: race,gender")
        for name in group:
            if name not in names:
                raise HornlensError(
                    f"--intersections: there is no attribute {name!r} ({', '.join(names)})"
                )


def _probe(options: ExtractOptions) -> Probe:
    probe = load_probe(options.probe or DEFAULT)
    return probe if options.variant is None else probe.only(options.variant)


def _protocol(
    options: ExtractOptions, settings: Settings, policy: Policy
) -> tuple[Settings, Policy]:
    """Return settings and policy by the protocol, and by what overrides it."""
    if options.protocol == "paper":
        settings, policy = paper_protocol(settings, policy)
    return settings, options.over(policy)


def _show_costs(options: ExtractOptions, settings: Settings, terminal: Terminal) -> None:
    """Print what the run will take; nothing is asked, but by a pilot."""
    from hornlens.cli.dry_run import dry_run_of_model, dry_run_of_target

    if options.target is not None:
        _check_target_options(options)
        settings, _ = _protocol(options, settings, Policy())
        dry_run_of_target(options, settings, terminal)
        return
    probe = _probe(options)
    settings, policy = _protocol(options, settings, probe.policy)
    dry_run_of_model(options, settings, policy, probe, terminal)


def _check_target_options(options: ExtractOptions) -> None:
    if options.where.executor != "local":
        raise HornlensError("--executor ray is for models: a target is asked here")
    if options.noise.repeats is not None:
        raise HornlensError("--repeats is for models: a target says how often it asks")


def _ask_target(options: ExtractOptions, settings: Settings, terminal: Terminal) -> Result:
    """Ask a target, which has its own questions."""
    from hornlens.targets.registry import open_target

    _check_target_options(options)
    target = open_target(options.target or "")
    _check_intersections(options, [attribute.name for attribute in target.space.attributes])
    ask = options.versus.asking(open_target, target)
    settings, policy = _protocol(options, settings, Policy())
    live = Live(f"Asking {target.name}")
    with terminal.bar(live, None, "cells") as progress:
        result: Result = ask(
            settings=settings,
            policy=policy,
            limits=options.limits,
            progress=progress,
            watch=live.watch,
        )
    return result


def _show_worked_out(terminal: Terminal, result: Result, out: Path, seconds: float) -> None:
    """Print the rules of a target that can be looked into."""
    size = plural(result.space.width, "variable")
    terminal.say(f"{result.title}: {size}; its rules were worked out, and nothing was asked.")
    show_envelope(terminal, result.envelope)
    show_level(terminal, result.envelope)
    show_almost(terminal, result.envelope)
    terminal.say(f"{seconds:.1f} s. Files: {out} (report.html, envelope.json, rules.csv)")


def show(terminal: Terminal, result: Result, out: Path, seconds: float) -> None:
    """Print the findings as people read them."""
    if not result.asked:
        _show_worked_out(terminal, result, out, seconds)
        return
    sift = SiftSummary.of(result)
    if sift is None:
        _show_findings(terminal, result, out)
    else:
        show_sift_title(terminal, result, sift)
        _show_measure(terminal, result)
        _show_warnings(terminal, result, out)
        show_sifted(terminal, result, sift, out)
    _show_abstentions(terminal, result)
    show_rates(terminal, result)
    show_disparities(terminal, result)
    policy = result.policy
    terminal.say(
        f"Policy: label unset {policy.label_unset}ed, calibration {policy.calibration}, "
        f"margin {policy.margin:g}"
        + (f", top {policy.top_k}" if policy.top_k else "")
        + (f", no answer {policy.abstain}ed" if result.abstentions else "")
        + "."
    )
    terminal.say(
        f"{plural(result.record.asked, result.question.asked_unit)} asked, "
        f"{result.record.reused:,} from the cache, {seconds:.1f} s."
    )
    beside = ["rules.csv", *(["open.csv"] if len(result.open) else [])]
    if result.has_rates:
        beside.append("rates.csv")
    terminal.written(out / "report.html", "envelope.json", *beside, "…")


def _show_findings(terminal: Terminal, result: Result, out: Path) -> None:
    """Print the rules of a result that was not sifted, and what they cannot say."""
    envelope, question = result.envelope, result.question
    evidence, vacuous = result.findings(), sum(result.vacuous)
    terminal.say(
        f"{result.title}: {plural(len(evidence), 'rule')}"
        + (f" and {plural(vacuous, 'vacuous one')}" if vacuous else "")
        + f"; {show_claim(envelope.certificate)}",
        "bold",
    )
    _show_measure(terminal, result)
    _show_warnings(terminal, result, out)
    show_compared(terminal, result)
    levels, summary = envelope.levels, Summary(result)
    if levels is not None and levels.chosen is not None:
        _show_level(terminal, summary, levels, out)
    elif evidence:
        terminal.say()
        for item in evidence[:8]:
            lead = lead_words(result, item)
            terminal.say(f"  • {result.sentence(item)}")
            terminal.say(f"    {could_break_words(result, item)}{f'; {lead}' if lead else ''}")
        terminal.say()
        terminal.table(*_rules_table(result, evidence[:SHOWN]))
        if len(evidence) > SHOWN:
            terminal.say(f"… and {len(evidence) - SHOWN} more: {out / 'rules.csv'}")
    if envelope.almost is not None:
        _show_almost(terminal, summary, envelope.almost, out)
    if question.compared is None and not envelope.certificate.unanswered:
        show_chance(terminal, result)
    if vacuous and not envelope.certificate.unanswered:
        terminal.say()
        why = vacuous_because(result.vacuity, question.unit)
        terminal.say(f"{plural(vacuous, 'rule')} more, in {out / 'rules.csv'}, no findings: {why}.")
    terminal.say()
    show_open(terminal, envelope)
    show_possible(terminal, result)
    if result.worlds:
        _show_survival(terminal, result)
    negatives = envelope.statistics.get("negatives")
    if question.compared is None:
        show_non_horn(terminal, envelope)
    if negatives and envelope.non_horn.count and question.compared is None:
        share = envelope.non_horn.count / negatives
        terminal.say(
            f"That is {share:.1%} of the {negatives:,} that {question.subject.lower()} rejects."
        )


def _p_values(result: Result) -> dict[Rule, str]:
    """Return beside each rule how likely chance gives one as unlikely; a star marks more."""
    if result.why_no_chance:
        return {}
    chance = result.chance()
    return {
        rule: "" if p is None else f"{p:.3f}{' *' if chance.is_marked(place) else ''}"
        for place, (rule, p) in enumerate(
            zip(result.envelope.readable, chance.p_values, strict=True)
        )
    }


def _rules_table(
    result: Result, evidence: Sequence[Evidence]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the columns and the lines of the table of rules."""
    envelope, question = result.envelope, result.question
    warrants = dict(zip(envelope.readable, envelope.warrants, strict=True))
    unproved = any(not warrant.proved for warrant in warrants.values())
    p_values = _p_values(result)
    columns = ["rule", *(["warrant"] if unproved else []), f"{question.unit}s that could break it"]
    columns += ["odds, at least", "on average"] if result.in_odds else []
    columns += ["by chance"] if p_values else []
    lines = []
    for item in evidence:
        line = [result.space.show(item.rule), *([warrants[item.rule].words] if unproved else [])]
        line.append(f"{len(result.could_break(item)):,}")
        if result.in_odds:
            known = Odds.of(item.margins) if item.margins else None
            line += (
                ["", ""] if known is None else [odds(known.least, "down"), odds(known.mean or 0)]
            )
        line += [p_values[item.rule]] if p_values else []
        lines.append(line)
    return columns, lines


def _show_level(terminal: Terminal, summary: Summary, levels: Levels, out: Path) -> None:
    """Print the level of detail that was asked for: its rules, and all that it gets wrong."""
    say_level(terminal, levels)
    chosen = summary.steps[: levels.chosen]
    show_sentences(terminal, _with_exceptions(summary, chosen), str(out / "envelope.json"))
    terminal.say(f"The whole curve: {out / 'levels.csv'}; all exact rules: {out / 'rules.csv'}")


def _show_almost(terminal: Terminal, summary: Summary, almost: AlmostRules, out: Path) -> None:
    """Print the almost-rules, apart from the others, each with its exceptions."""
    terminal.say()
    terminal.say(f"{plural(len(almost.rules), 'almost-rule')}: {almost.sentence}", "bold")
    held = [nearly for _, nearly in summary.almost]
    show_sentences(terminal, _with_exceptions(summary, held), str(out / "almost.csv"))


def _with_exceptions(summary: Summary, rules: Sequence[Nearly]) -> list[tuple[str, list[str]]]:
    """Return rules as sentences, each with the prompts that break it."""
    each = summary.extraction.each
    found = []
    for nearly in rules:
        shown = [" / ".join(each[e.world].show(e.cell)) for e in nearly.exhibits]
        found.append((summary.sentence(nearly), shown))
    return found


def _show_measure(terminal: Terminal, result: Result) -> None:
    """Print how a score becomes an answer, and whether the model is a toy."""
    if toy := toy_words(result):
        terminal.say(f"Note: {toy}", "yellow")
    if decided := decided_words(result):
        terminal.say(decided)


def _show_warnings(terminal: Terminal, result: Result, out: Path) -> None:
    """Print what to know before the rules."""
    for warning in result.warnings[:WARNINGS]:
        terminal.say(f"Warning: {warning.sentence}", "yellow")
    if len(result.warnings) > WARNINGS:
        more = plural(len(result.warnings) - WARNINGS, "warning")
        terminal.say(f"… and {more} more: {out / 'envelope.json'}", "yellow")


def _show_survival(terminal: Terminal, result: Result) -> None:
    """Print how many rules each way of asking has, and in how many of them rules hold."""
    from hornlens.results.analysis.worlds import survival

    many, noun = len(result.worlds), result.noun
    own = ", ".join(f"{each.world} {len(each.envelope.basis)}" for each in result.worlds)
    terminal.say(f"Rules of each {noun} by itself: {own}.")
    lines = survival(result)
    counts = sorted(Counter(line.kept for line in lines).items(), reverse=True)
    parts = [f"{count} hold in {'all ' if kept == many else ''}{kept}" for kept, count in counts]
    if parts:
        terminal.say(f"Of {plural(len(lines), 'rule')} of any {noun}, {', '.join(parts)}.")


def _show_abstentions(terminal: Terminal, result: Result) -> None:
    """Print how often there was no answer, for each reason with the first cell."""
    counts = Counter(decision.abstained for _, decision in result.abstentions)
    for reason, count in sorted(counts.items()):
        first = next(c for c, decision in result.abstentions if decision.abstained == reason)
        why = reason_in_words(reason)
        shown = next(iter(result.show(first)), "")
        cells = plural(count, result.question.unit)
        terminal.say(f"No answer in {cells}, because {why}; the first: {shown}")
