"""`hornlens export`: a result on disk as text for other tools."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.api import load
from hornlens.formats.files import check_writable, write_file
from hornlens.report.terminal import Terminal


def export_command(path: Path, form: str, out: Path | None) -> None:
    """Write a result in a format: to a file, or to standard output."""
    if out is not None:
        check_writable(out.parent)
    result, terminal = load(path), Terminal()
    text = result.export(form)
    if form not in ("text", "json"):
        envelope = result.envelope
        for there, what in ((envelope.open, "open rules"), (envelope.almost, "almost-rules")):
            if there:
                terminal.warn(f"{form} has no {what}: they are in json")
    if out is None:
        sys.stdout.write(text)
    else:
        write_file(out, text)
        terminal.say(f"As {form}: {out}")
