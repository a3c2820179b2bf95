"""The `hornlens` command: its commands and groups, each made when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from hornlens import __version__
from hornlens.cli.commands import COMMANDS
from hornlens.cli.options import spread

GROUPS = {
    "probe": "Show, check or begin a probe; read replies by it.",
    "replies": "Check how replies of chat models were read.",
    "model": "List the kinds of models there are.",
    "target": "List the kinds of targets there are.",
    "cache": "List, prune or clear the cache of model answers.",
    "dataset": "Get people from a table or Wikidata; look at them.",
}
"""Each is the `app` of a module beside this one."""


class LazyGroup(TyperGroup):
    """Makes a command when it is asked for: its options, and a group's imports, take time."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        return [*COMMANDS, *GROUPS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or None if there is none of this name."""
        there = self.list_commands(ctx)
        if cmd_name not in there:
            self.commands = dict.fromkeys(there, self)  # the names alone, to suggest one of them
            return None
        if cmd_name not in self.commands:
            self.add_command(_made(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write names and what they do, for which no command needs to be made."""
        does = {name: (command.__doc__ or "").split("\n")[0] for name, command in COMMANDS.items()}
        with formatter.section("Commands"):
            formatter.write_dl([*(does | GROUPS).items()])


def _made(name: str) -> Any:
    maker = typer.Typer(add_completion=False, rich_markup_mode=None)
    if name in COMMANDS:
        maker.command(name)(spread(COMMANDS[name]))
    else:
        maker.add_typer(import_module(f"hornlens.cli.{name}").app, name=name)
    return get_group(maker).commands[name]


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it comes in half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hornlens {__version__}")
        raise typer.Exit


@app.callback()
def hornlens(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="On an error, show the whole traceback: of every command."),
    ] = False,
) -> None:
    """Ask a black box questions; get back the Horn rules it obeys, and how sure they are."""
