"""`hornlens report`: make report.html again from the results on disk."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from hornlens.formats.files import write_file
from hornlens.report.page import read_page
from hornlens.report.terminal import Terminal


def report_command(path: Path, show: bool) -> None:
    """Write the page of a result beside it, and open it if asked to."""
    terminal = Terminal()
    folder, text = read_page(path)
    page = folder / "report.html"
    write_file(page, text)
    terminal.written(page)
    if show and not webbrowser.open(page.resolve().as_uri()):
        terminal.warn("no browser could be opened; open the file yourself")
