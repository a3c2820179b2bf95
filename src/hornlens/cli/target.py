"""`hornlens target`: which kinds of targets there are, installed packages included."""

from __future__ import annotations

import typer

from hornlens.cli.model import show_kinds
from hornlens.targets.registry import TARGETS

app = typer.Typer(no_args_is_help=True, help="List the kinds of targets there are.")


@app.command("list")
def list_targets() -> None:
    """List what --target takes, installed packages included."""
    show_kinds("--target", TARGETS)
