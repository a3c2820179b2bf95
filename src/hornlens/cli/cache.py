"""`hornlens cache`: what is in the answer cache, and how to clear it."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import Annotated, Optional

import typer

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.report.terminal import Terminal
from hornlens.store.opening import open_store
from hornlens.store.protocol import ManagedStore

app = typer.Typer(no_args_is_help=True, help="List, prune or clear the cache of model answers.")
CachePath = Annotated[
    Optional[str],
    typer.Option(
        "--cache",
        metavar="FILE|postgresql://…",
        help="The cache. (default: HORNLENS_CACHE or the user's cache)",
    ),
]


def _open(place: str | None) -> ManagedStore:
    return open_store(place, Terminal().warn)


@app.command("list")
def list_models(cache: CachePath = None) -> None:
    """List the models whose answers are kept."""
    terminal = Terminal()
    opened = _open(cache)
    rows = [
        [
            model.name,
            str(model.answers),
            datetime.fromtimestamp(model.last_written).strftime("%Y-%m-%d %H:%M"),
            model.identity,
        ]
        for model in opened.models()
    ]
    terminal.say(f"{opened.shown}: {plural(len(rows), 'model')}")
    if rows:
        terminal.table(["model", "answers", "last written", "identity"], rows)
    opened.close()


@app.command()
def prune(
    cache: CachePath = None,
    older_than: Annotated[
        Optional[float],
        typer.Option("--older-than", min=0, help="Remove answers older than so many days."),
    ] = None,
    model: Annotated[
        Optional[str],
        typer.Option("--model", help="Remove answers of this model only."),
    ] = None,
) -> None:
    """Remove answers by age or by model."""
    if older_than is None and model is None:
        raise HornlensError("say what to remove: --older-than DAYS or --model NAME")
    opened = _open(cache)
    before = None if older_than is None else time.time() - older_than * 86_400
    gone = opened.prune(before, model)
    Terminal().say(f"{plural(gone, 'answer')} removed from {opened.shown}")
    opened.close()


@app.command()
def clear(
    cache: CachePath = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove all answers."""
    if not yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise HornlensError(
            "there is no terminal to ask on, and nothing was removed: "
            "to remove all answers without being asked, give --yes"
        )
    opened = _open(cache)
    count = sum(model.answers for model in opened.models())
    if not yes and not typer.confirm(f"Remove {plural(count, 'answer')} from {opened.shown}?"):
        opened.close()
        Terminal().say("Nothing was removed.")
        raise typer.Exit(1)
    Terminal().say(f"{plural(opened.prune(), 'answer')} removed from {opened.shown}")
    opened.close()
