"""`hornlens replies`: a person checks how the replies of a chat model were read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hornlens.counts import plural
from hornlens.formats.files import check_writable
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.review import (
    FILE,
    SAMPLE,
    ReviewedReply,
    begin_review,
    check_same,
    read_review,
)
from hornlens.results.documents.saving import read_result

app = typer.Typer(no_args_is_help=True, help="Check how replies of chat models were read.")


@app.callback()
def _group() -> None:
    """Make it a group, though it has only one command."""


@app.command()
def review(
    path: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A folder of results, or an envelope.json.")
    ],
    sample: Annotated[int, typer.Option(min=1, help="How many replies to look at.")] = SAMPLE,
    seed: Annotated[int, typer.Option(help="Which ones.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Begin anew.")] = False,
) -> None:
    """Answer yes or no: was each of these replies read as you would read it?

    Every answer is kept at once in review.json beside the result; q ends, and the same command
    resumes. The agreement is shown with its 95 % interval, here and in the report.
    """
    terminal = Terminal()
    folder = path if path.is_dir() else path.parent
    check_writable(folder)
    findings = read_result(path)
    current = None if again else read_review(folder)
    if current is None:
        current = begin_review(findings, sample, seed)
    else:
        check_same(current, findings, folder / FILE)
    count = len(current.replies)
    for place, reply in enumerate(current.replies):
        if reply.agrees is not None:
            continue
        _show(terminal, reply, place, count)
        verdict = _asked(terminal)
        if verdict is None:
            break
        current = current.with_verdict(place, verdict)
        current.save(folder)
    terminal.say()
    terminal.say(current.agreement.sentence, "bold")
    for reply in current.replies:
        if reply.agrees is False:
            terminal.say(f"  read otherwise: {reply.text!r} as {_read_as(reply)}")
    if current.agreement.of:
        terminal.say(f"{folder / FILE}: {plural(current.agreement.of, 'answer')} kept.")


def _show(terminal: Terminal, reply: ReviewedReply, place: int, count: int) -> None:
    terminal.say()
    world = f" ({reply.world})" if reply.world else ""
    terminal.say(f"{place + 1} of {count}{world}", "bold")
    terminal.say(f"  asked:   {reply.prompt}")
    terminal.say(f"  replied: {reply.text}")
    terminal.say(f"  read as: {_read_as(reply)}")


def _read_as(reply: ReviewedReply) -> str:
    why = f" ({reply.reading})" if reply.reading else ""
    return f"{reply.label or 'no answer'}{why}"


def _asked(terminal: Terminal) -> bool | None:
    """Return yes or no; None: it is to end, or nobody answers any more."""
    while True:
        print("Right? [y/n/q] ", end="", flush=True)
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line or word in ("q", "quit"):
            return None
        if word in ("y", "yes"):
            return True
        if word in ("n", "no"):
            return False
        terminal.say("y: yes, n: no, q: end; what was answered is kept")
