"""Recorded replies as a probe reads them now, for the terminal."""

from __future__ import annotations

from collections import Counter

from hornlens.counts import plural
from hornlens.formats.plain import one_line
from hornlens.logic.decisions import reason_in_words
from hornlens.report.terminal import Terminal
from hornlens.targets.recorded import Rereadings

WIDTH = 60
"""So much of a reply is shown in the table."""


def show_readings(terminal: Terminal, readings: Rereadings, rows: int) -> None:
    """Print each different reply with how it is read and was read, and how many there are."""
    lines = Counter(
        (_short(r.text), r.answer, r.reading, r.label_before or "–") for r in readings.replies
    )
    shown = lines.most_common(rows)
    if shown:
        terminal.table(
            ["replies", "text", "read as", "why", "before"],
            [[str(count), *line] for line, count in shown],
        )
    if len(lines) > len(shown):
        terminal.say(f"{len(lines) - len(shown):,} more different replies: --rows shows them.")
    terminal.say()
    count = len(readings.replies)
    terminal.say(f"{readings.probe}: {plural(count, 'reply')} read.", "bold")
    for label, many in readings.labels.items():
        terminal.say(f"  {label}: {many:,}")
    for outcome, many in readings.outcomes.items():
        terminal.say(f"  no answer, because {reason_in_words(outcome)} ({outcome}): {many:,}")
    terminal.say(f"Read otherwise than before: {readings.changed:,}.")


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
