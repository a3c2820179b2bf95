"""Draw the README's picture: a terminal with the findings about the built-in model, as SVG.

Run from the project's root: python tools/terminal_picture.py
"""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from hornlens.cli import extract as command
from hornlens.report.terminal import Terminal
from hornlens.study.extraction import extract

command.SHOWN = 7
terminal = Terminal(quiet=True)
terminal.console = Console(
    record=True, width=100, force_terminal=True, highlight=False, file=StringIO()
)
terminal.console.print("$ hornlens extract\n", style="dim")
command.show(terminal, extract("demo", cache=False), Path("hornlens-out"), 0.5)
svg = terminal.console.export_svg(title="hornlens")
# The picture stands alone: no fonts from the network.
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
svg = svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")
Path("docs/extract.svg").write_text(svg + "\n")
