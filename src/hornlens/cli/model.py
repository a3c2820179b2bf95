"""`hornlens model`: which kinds of models there are, installed packages included."""

from __future__ import annotations

import typer

from hornlens.models.registry import MODELS
from hornlens.report.terminal import Terminal

app = typer.Typer(no_args_is_help=True, help="List the kinds of models there are.")


@app.command("list")
def list_models() -> None:
    """List what --model takes, installed packages included."""
    rows = [
        [
            entry.kind.form if entry.kind else entry.name,
            entry.kind.help if entry.kind else f"broken: {entry.problem}",
            entry.package or "hornlens",
        ]
        for entry in MODELS.all()
    ]
    Terminal().table(["--model", "what it is", "of"], rows)
