"""Tables and text for the terminal: rich where someone looks on, plain where a file does.

Whatever is printed here is made visible first: it may hold text of others.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from hornlens.counts import plural
from hornlens.formats.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console
    from rich.progress import Task
    from rich.text import Text

    from hornlens.logic.certificates import Certificate
    from hornlens.logic.envelope import Envelope
    from hornlens.logic.rule import Rule
    from hornlens.report.progress import NoteRules

OPEN = 25
"""How many open rules are shown; the files have all of them."""


def notebook() -> Any:
    """Return IPython's `display` where this is a notebook, else None."""
    if "ipykernel" not in sys.modules:  # what a notebook runs in has imported it
        return None
    from IPython import get_ipython
    from IPython.display import display

    return display if getattr(get_ipython(), "kernel", None) is not None else None


class Terminal:
    """Standard output for results, standard error for progress."""

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.monotonic):
        """`quiet` leaves out progress, which is otherwise a bar, or lines where nobody looks on."""
        self._console = watched()
        self.quiet, self._clock = quiet, clock

    def say(self, text: str = "", style: str | None = None) -> None:
        """Print a line."""
        if self._console is None:
            print(visible(text))
            return
        from rich.text import Text

        self._console.print(Text(visible(text), style=style or ""))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table: bordered on a terminal, aligned columns elsewhere."""
        columns, *rows = [[visible(cell) for cell in line] for line in (columns, *rows)]
        if self._console is None:
            widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
            for line in (columns, ["-" * width for width in widths], *rows):
                cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
                print("  ".join(cells).rstrip())
            return
        from rich.markup import escape
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold", row_styles=["", "dim"] if len(rows) > 12 else None)
        for column in columns:
            numeric = all(row[columns.index(column)].isdigit() for row in rows)
            table.add_column(
                escape(column), justify="right" if numeric else "left", overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))  # Text: names are not markup
        self._console.print(table)

    def written(self, page: Path, *beside: str) -> None:
        """Say where a page was written, how to look at it, and which files are beside it."""
        more = f"; beside it {', '.join(beside)}" if beside else ""
        self.say(f"Report: {page} (open it in a browser{more})")

    def warn(self, text: str) -> None:
        """Say something on standard error that does not stop the work."""
        self.complain(f"warning: {text}")

    def complain(self, text: str) -> None:
        """Say in a line on standard error what is wrong."""
        print("hornlens:", visible(text), file=sys.stderr)

    @contextmanager
    def bar(self, doing: object, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        """Show a progress bar with rate and time left; where nobody looks on, a line at times.

        `doing` is shown as its text is at the time.
        """
        with self.bars((doing, total, unit)) as (advance,):
            yield advance

    @contextmanager
    def bars(self, *tasks: tuple[object, int | None, str]) -> Iterator[list[Callable[[int], None]]]:
        """Show a progress bar for each (doing, total, unit); yield what moves each of them on."""
        if self.quiet:
            yield [lambda done: None for _ in tasks]
            return
        if display := notebook():
            from hornlens.report.notebooks import bars

            yield bars(display, tasks, self._clock)
            return
        errors = watched(stderr=True)
        if errors is None:
            from hornlens.report.progress import ProgressLines

            lines = [ProgressLines(*task, self._clock) for task in tasks]
            yield [each.advance for each in lines]
            for each in lines:
                each.finish()
            return
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        from hornlens.report.progress import standing_of

        class Doing(TextColumn):
            def render(self, task: Task) -> Text:
                name = task.fields["doing"]
                standing = standing_of(name)
                return Text(visible(f"{name}: {standing}" if standing else str(name)))

        class Rate(TextColumn):
            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                return Text("" if speed is None else f"{speed:.0f} {task.fields['unit']}/s")

        with Progress(
            Doing(""),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(""),
            TimeRemainingColumn(),
            console=errors,
            transient=True,
        ) as bar:
            shown = [bar.add_task("", total=n, unit=unit, doing=doing) for doing, n, unit in tasks]
            yield [partial(bar.advance, task) for task in shown]

    @contextmanager
    def progress(self, doing: str) -> Iterator[Callable[[str], None]]:
        """Show a spinner with a changing note, if someone is there to see it."""
        errors = None if self.quiet else watched(stderr=True)
        if errors is None:
            yield lambda note: None
            return
        from rich.text import Text

        with errors.status(Text(visible(doing))) as status:
            yield lambda note: status.update(Text(visible(f"{doing} {note}")))

    @contextmanager
    def searching(self, doing: str) -> Iterator[NoteRules]:
        """Show how many rules there are, how fast they come, and what share is settled."""
        from hornlens.report.progress import RuleLines

        errors = None if self.quiet else watched(stderr=True)
        if errors is not None:
            with self.progress(f"{doing}:") as note:
                yield RuleLines("", self._clock, note, pause=0.2).note
        elif self.quiet:
            yield lambda rules, settled, also="": None
        else:
            lines = RuleLines(f"{doing}: ", self._clock)
            yield lines.note


def watched(stderr: bool = False) -> Console | None:
    """Return the console of a stream that someone looks at, or None: a file needs no rich.

    Colours can be forced upon results, but not progress upon a file.
    """
    forced = os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE")
    if not (sys.stderr.isatty() if stderr else sys.stdout.isatty() or forced):
        return None
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else None


def show_set(names: Sequence[str]) -> str:
    """Return an interpretation as people write it: {a, b}."""
    return "{" + ", ".join(names) + "}"


def show_claim(certificate: Certificate) -> str:
    """Return what may be claimed, with the name of that kind of claim before it."""
    sentence = certificate.sentence
    return f"{certificate.title.lower()}: {sentence[0].lower()}{sentence[1:]}"


def show_envelope(
    terminal: Terminal, envelope: Envelope, by_chance: Mapping[Rule, str] | None = None
) -> None:
    """Print an envelope: its rules, what it cannot say, and what is claimed of it.

    `by_chance`, if anything, stands beside the rules.
    """
    names = envelope.vocabulary
    rules = plural(len(envelope.basis), "rule")
    terminal.say(f"{rules}; {show_claim(envelope.certificate)}", "bold")
    if len(envelope.background):
        terminal.say(
            f"Relative to {plural(len(envelope.background), 'background rule')}, not listed here."
        )
    if envelope.basis.rules:
        terminal.say()
        columns = ["#", "rule"]
        unproved = any(not warrant.proved for warrant in envelope.warrants)
        if unproved:
            columns.append("warrant")
        support = envelope.support
        if support is not None:
            columns.append("support")
        if by_chance:
            columns.append("by chance")
        canonical = [
            "" if short.show(names) == full.show(names) else full.show(names)
            for short, full in zip(envelope.readable, envelope.basis, strict=True)
        ]
        if any(canonical):
            columns.append("canonical form")
        rows = []
        for i, rule in enumerate(envelope.readable):
            row = [str(i + 1), rule.show(names)]
            if unproved:
                row.append(envelope.warrants[i].words)
            if support is not None:
                row.append(str(support[i]))
            if by_chance:
                row.append(by_chance.get(rule, ""))
            if any(canonical):
                row.append(canonical[i])
            rows.append(row)
        terminal.table(columns, rows)
        terminal.say()
    show_open(terminal, envelope)
    show_non_horn(terminal, envelope)


def show_open(terminal: Terminal, envelope: Envelope) -> None:
    """Print the rules that no answer breaks and nothing proves."""
    rules = envelope.open
    if not rules:
        return
    terminal.say(f"{plural(len(rules), 'open rule')}: not proved, and broken by no recorded answer")
    for rule in rules[:OPEN]:
        terminal.say(f"  ? {envelope.space.show(rule)}")
    if len(rules) > OPEN:
        terminal.say(f"  … and {len(rules) - OPEN:,} more")
    terminal.say()


def show_non_horn(terminal: Terminal, envelope: Envelope) -> None:
    """Print what no Horn rule can reject."""
    from hornlens.results.wording.pages import is_horn, left_out_words

    non_horn = envelope.non_horn
    for sentence in left_out_words(envelope):
        terminal.say(sentence)
    if non_horn.count == 0:
        if is_horn(envelope):
            terminal.say("The target is Horn: the rules say all there is to say.")
        return
    if not non_horn.examples:
        return
    counted = non_horn.count is not None
    amount = plural(non_horn.at_least, "interpretation")
    examples = ", ".join(show_set(envelope.vocabulary.names_of(x)) for x in non_horn.examples[:3])
    verb = "is" if counted and non_horn.count == 1 else "are"
    terminal.say(
        f"{amount if counted else 'At least ' + amount} {verb} rejected by the target but by no "
        f"Horn rule: {examples}{'' if non_horn.count and non_horn.count <= 3 else ', …'}"
    )
