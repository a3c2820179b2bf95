"""`hornlens verify`: print what was checked, or the first thing that is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.formats.jsonfiles import json_text
from hornlens.report.terminal import Terminal
from hornlens.verifying.verify import verify


def verify_command(path: Path, against: Path | None, background: Path | None, form: str) -> int:
    """Verify a result; return the exit code."""
    done = verify(path, against, background)
    if form == "json":
        sys.stdout.write(json_text(done.as_json()))
        return int(not done.ok)
    terminal = Terminal()
    if done.wrong is not None:
        terminal.say(f"Wrong: {path}: {done.wrong}")
        return 1
    terminal.say(f"{path}: nothing wrong was found.")
    for title, lines in (("Checked", done.checked), ("Not checked", done.not_checked)):
        terminal.say(f"{title}:" if lines else f"{title}: nothing.")
        for line in lines:
            terminal.say(f"- {line}")
    return 0
