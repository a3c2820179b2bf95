"""Commands about the installation itself."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hornlens.cli.options import Debug


def doctor(
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: tables, or JSON.")
    ] = "text",
    debug: Debug = False,
) -> None:
    """Say what is installed, what works, where caches are, and what to install for what."""
    from hornlens.cli.doctor import doctor_command

    doctor_command(format)


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        typer.Argument(help="For which shell: its script is printed."),
    ],
) -> None:
    """Print the script that completes commands, options and values in a shell.

    bash: put  eval "$(hornlens completion bash)"  into ~/.bashrc; zsh: the same with zsh into
    ~/.zshrc, after compinit; fish: hornlens completion fish >
    ~/.config/fish/completions/hornlens.fish
    """
    from hornlens.cli.completion import SCRIPTS

    print(SCRIPTS[shell], end="")
