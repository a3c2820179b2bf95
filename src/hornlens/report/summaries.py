"""Almost-rules and levels of detail for the terminal: never among the exact rules."""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.counts import plural
from hornlens.logic.envelope import Envelope
from hornlens.logic.levels import Levels
from hornlens.report.rates import percent
from hornlens.report.terminal import Terminal, show_claim, show_set

EXCEPTIONS = 5
"""How many exceptions of a rule are shown; the files have all."""
RULES = 25


def level_in_words(levels: Levels, level: int) -> str:
    """Return what a level explains, and what it gets wrong, in a sentence."""
    explained, wrong = levels.explained(level), levels.exceptions(level)
    share = f" ({percent(explained / levels.rejections)})" if levels.rejections else ""
    return (
        f"{plural(level, 'rule')} explain{'s' if level == 1 else ''} {explained:,} of "
        f"{plural(levels.rejections, 'rejection')}{share}, with {plural(wrong, 'exception')}"
    )


def left_out_in_words(levels: Levels, level: int) -> str:
    """Return what a level leaves out."""
    rest = levels.rejections - levels.explained(level)
    none = levels.rejections - levels.by_exact
    said = f"It leaves out {plural(rest, 'rejection')}. "
    if levels.exact_rules:
        verb = "explains" if levels.exact_rules == 1 else "explain"
        rules = plural(levels.exact_rules, "exact rule")
        said += f"The {rules} of the result {verb} {levels.by_exact:,}, without exceptions"
        return f"{said}; the other {none:,} are explained by none." if none else f"{said}."
    return f"{said}There is no exact rule."


def show_level(terminal: Terminal, envelope: Envelope) -> None:
    """Print the level that was chosen, of an envelope without prompts."""
    levels, names = envelope.levels, envelope.vocabulary
    if levels is None or levels.chosen is None:
        return
    say_level(terminal, levels)
    steps = levels.steps[: levels.chosen]
    rows = [
        [
            str(number),
            envelope.space.show(step.rule),
            f"{step.explained:,}",
            f"{len(step.exceptions):,}",
        ]
        for number, step in enumerate(steps, 1)
    ]
    if rows:
        terminal.table(["#", "rule", "explained so far", "new exceptions"], rows)
    for number, step in enumerate(steps, 1):
        if step.exceptions:
            shown = [show_set(names.names_of(x)) for x in step.exceptions]
            terminal.say(f"Exceptions of {number}: {_some(shown, '--format json lists all')}")


def say_level(terminal: Terminal, levels: Levels) -> None:
    """Print what the chosen level explains, leaves out, and how it was chosen."""
    level = levels.chosen or 0
    terminal.say()
    terminal.say(f"In short: {level_in_words(levels, level)}.", "bold")
    terminal.say(left_out_in_words(levels, level))
    if levels.guarantee:
        terminal.say(levels.guarantee)


def show_almost(terminal: Terminal, envelope: Envelope) -> None:
    """Print the almost-rules of an envelope without prompts, with their exceptions."""
    almost, names = envelope.almost, envelope.vocabulary
    if almost is None:
        return
    terminal.say()
    terminal.say(f"{plural(len(almost.rules), 'almost-rule')}: {almost.sentence}", "bold")
    for each in almost.rules[:RULES]:
        what = "rows" if each.lines else "interpretations"
        shown = [show_set(names.names_of(x)) for x in each.exceptions]
        if each.lines:
            shown = [f"line {n} {x}" for n, x in zip(each.lines, shown, strict=True)]
        terminal.say(
            f"  • {envelope.space.show(each.rule)}, but for {each.broken:,} of {each.of:,} {what}: "
            f"{_some(shown, '--format json lists all')}"
        )
    if len(almost.rules) > RULES:
        terminal.say(f"… and {len(almost.rules) - RULES:,} more: --format json lists all.")


def show_sentences(
    terminal: Terminal,
    rules: Sequence[tuple[str, Sequence[str]]],
    file: str,
) -> None:
    """Print sentences, each with what breaks it; `file` has what is not shown."""
    for sentence, exceptions in rules[:RULES]:
        terminal.say(f"  • {sentence}")
        for text in exceptions[:EXCEPTIONS]:
            terminal.say(f"      not: {text}")
        if len(exceptions) > EXCEPTIONS:
            terminal.say(f"      … and {len(exceptions) - EXCEPTIONS:,} more: {file}")
    if len(rules) > RULES:
        terminal.say(f"… and {len(rules) - RULES:,} more: {file}")


def _some(texts: Sequence[str], rest: str) -> str:
    shown = ", ".join(texts[:EXCEPTIONS])
    return shown if len(texts) <= EXCEPTIONS else f"{shown}, … ({len(texts):,} in all; {rest})"


def show_claim_only(terminal: Terminal, envelope: Envelope) -> None:
    """Print how many exact rules there are and what is claimed of them, and no more."""
    rules = plural(len(envelope.basis), "exact rule")
    terminal.say(f"{rules}; {show_claim(envelope.certificate)}")
