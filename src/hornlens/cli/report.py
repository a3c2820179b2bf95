"""`hornlens report`: make the page of a result again, from what is on disk."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from hornlens.report.page import read_page, write_page
from hornlens.report.terminal import Terminal


def report_command(path: Path, show: bool, out: Path | None = None) -> None:
    """Write the page of a result beside it, or to `out`, and open it if asked to."""
    terminal = Terminal()
    beside, text = read_page(path)
    page = beside if out is None else out
    write_page(page, text)
    terminal.written(page)
    if show and not webbrowser.open(page.resolve().as_uri()):
        terminal.warn("no browser could be opened; open the file yourself")
