"""`hornlens verify`: print what was checked, or the first thing that is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.formats.jsonfiles import json_text
from hornlens.verifying.verify import verify


def verify_command(path: Path, against: Path | None, background: Path | None, form: str) -> int:
    """Verify a result; return the exit code."""
    done = verify(path, against, background)
    if form == "json":
        sys.stdout.write(json_text(done.as_json()))
        return int(not done.ok)
    if done.wrong is not None:
        print(f"Wrong: {path}: {done.wrong}")
        return 1
    print(f"{path}: nothing wrong was found.")
    for title, lines in (("Checked", done.checked), ("Not checked", done.not_checked)):
        print(f"{title}:" if lines else f"{title}: nothing.")
        for line in lines:
            print(f"- {line}")
    return 0
