"""Commands about what is on disk: compare, show again, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.options import CommandOptions, Debug


class CompareOptions(CommandOptions):
    """The options of `compare`."""

    results: Annotated[
        list[Path],
        typer.Argument(help="Folders of results, or envelope.json files; the baseline first."),
    ]
    name: Annotated[
        Optional[list[str]],
        typer.Option(help="What to call the results, in their order. (default: their folders)"),
    ] = None
    fail_on_new: Annotated[
        bool,
        typer.Option(
            "--fail-on-new", help="Exit code 1 if a later result has rules that the first lacks."
        ),
    ] = False
    ignore_differences: Annotated[
        bool,
        typer.Option("--ignore-differences", help="Go on where policies or wordings differ."),
    ] = False
    out: Annotated[
        Optional[Path],
        typer.Option(help="A folder for comparison.json and report.html."),
    ] = None
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print the comparison.")
    ] = "text"
    debug: Debug = False


def compare(options: CompareOptions) -> None:
    """Compare results, rule by rule, each with each.

    A rule holds in the other, holds vacuously, is contradicted (with the prompt that shows it), or
    is not known to hold. What differs between the settings is said first.
    """
    from hornlens.cli.compare import compare_command

    raise typer.Exit(compare_command(options))


def report(
    path: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A folder of results, or a JSON file with a result."),
    ],
    out: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="Where to write the page. Default: report.html in the folder; for FILE.json, "
            "FILE.html.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    debug: Debug = False,
) -> None:
    """Make the page of a result, from what is on disk."""
    import webbrowser

    from hornlens.report.page import read_page, write_page
    from hornlens.report.terminal import Terminal

    terminal = Terminal()
    beside, text = read_page(path)
    page = beside if out is None else out
    write_page(page, text)
    terminal.written(page)
    if show and not webbrowser.open(page.resolve().as_uri()):
        terminal.warn("no browser could be opened; open the file yourself")


def export(
    path: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A folder of results, or the JSON file in it."),
    ],
    format: Annotated[
        Literal[
            "text",
            "json",
            "dimacs",
            "csv",
            "latex",
            "prolog",
            "conexp",
            "fcar",
            "sql",
            "python",
            "pmml",
            "json-rules",
        ],
        typer.Option(
            help="How to write the rules, as `hornlens envelope` has it; those of a classifier "
            "also as what decides a row: sql (a CASE expression), python (a function), pmml (a "
            "RuleSet), json-rules."
        ),
    ] = "text",
    otherwise: Annotated[
        Optional[str],
        typer.Option(
            metavar="CLASS",
            help="For sql, python, pmml and json-rules: the class of rows that no rule decides. "
            "(default: NULL, None, no result)",
        ),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option(help="Write that to a file. (default: standard output)", metavar="FILE"),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write the rules of a result for other tools: LaTeX, Prolog, CSV and others.

    Of every kind of result: a model's, a formula's, a table's, an exploration's, a classifier's.
    """
    from hornlens.api import load
    from hornlens.formats.files import check_writable, write_file
    from hornlens.report.terminal import Terminal

    if out is not None:
        check_writable(out.parent)
    result, terminal = load(path), Terminal()
    text = result.export(format, otherwise)
    if format not in ("text", "json"):
        envelope = result.envelope
        for there, what in ((envelope.open, "open rules"), (envelope.almost, "almost-rules")):
            if there:
                terminal.warn(f"{format} has no {what}: they are in json")
    if out is None:
        sys.stdout.write(text)
    else:
        write_file(out, text)
        terminal.say(f"As {format}: {out}")
