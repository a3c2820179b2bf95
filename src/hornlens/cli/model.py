"""`hornlens model`: which kinds of models there are, installed packages included."""

from __future__ import annotations

from typing import Any

import typer

from hornlens.models.registry import MODELS
from hornlens.registry import Registry
from hornlens.report.terminal import Terminal

app = typer.Typer(no_args_is_help=True, help="List the kinds of models there are.")


@app.command("list")
def list_models() -> None:
    """List what --model takes, installed packages included."""
    show_kinds("--model", MODELS)


def show_kinds(option: str, registry: Registry[Any]) -> None:
    """Print every kind of a registry, whose it is, and what is wrong with broken ones."""
    rows = [
        [
            entry.kind.form if entry.kind else entry.name,
            entry.kind.help if entry.kind else f"broken: {entry.problem}",
            entry.package or "hornlens",
        ]
        for entry in registry.all()
    ]
    Terminal().table([option, "what it is", "package"], rows)
