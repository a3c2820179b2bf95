"""Draw the README's picture: a terminal with the envelope of the example formula, as SVG.

Run from the project's root: python tools/terminal_picture.py
"""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from hornlens.logic.dimacs import read_dimacs
from hornlens.oracles.whitebox import envelope_of_formula
from hornlens.report.terminal import Terminal, show_envelope

terminal = Terminal(quiet=True)
terminal.console = Console(
    record=True, width=78, force_terminal=True, highlight=False, file=StringIO()
)
terminal.console.print("$ hornlens envelope examples/pronouns.cnf\n", style="dim")
show_envelope(terminal, envelope_of_formula(read_dimacs(Path("examples/pronouns.cnf"))))
svg = terminal.console.export_svg(title="hornlens")
# The picture stands alone: no fonts from the network.
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
svg = svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")
Path("docs/envelope.svg").write_text(svg + "\n")
