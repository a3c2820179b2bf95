"""Commands about what is on disk: compare, check, verify, show again, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.options import Debug
from hornlens.errors import HornlensError


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders of results, or envelope.json files; the baseline first."),
    ],
    name: Annotated[
        Optional[list[str]],
        typer.Option(help="What to call the results, in their order. (default: their folders)"),
    ] = None,
    fail_on_new: Annotated[
        bool,
        typer.Option(
            "--fail-on-new", help="Exit code 1 if a later result has rules that the first lacks."
        ),
    ] = False,
    ignore_differences: Annotated[
        bool,
        typer.Option("--ignore-differences", help="Go on where policies or wordings differ."),
    ] = False,
    out: Annotated[
        Optional[Path],
        typer.Option(help="A folder for comparison.json and report.html."),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print the comparison.")
    ] = "text",
    debug: Debug = False,
) -> None:
    """Compare results, rule by rule, each with each.

    A rule holds in the other, holds vacuously, is contradicted (with the prompt that shows it), or
    is not known to hold. What differs between the settings is said first.
    """
    from hornlens.cli.compare import CompareOptions, compare_command

    options = CompareOptions(
        results, name or [], fail_on_new, ignore_differences, out=out, form=format
    )
    raise typer.Exit(compare_command(options))


def check(
    results: Annotated[
        list[Path], typer.Argument(help="Folders of results, or envelope.json files.")
    ],
    rules: Annotated[
        Path, typer.Argument(metavar="RULES.yaml", help="What is required of each of them.")
    ],
    format: Annotated[
        Literal["text", "json", "junit", "github"],
        typer.Option(help="For people, machines, JUnit's readers, or GitHub (annotations)."),
    ] = "text",
    out: Annotated[
        Optional[Path],
        typer.Option(help="Write that to a file, and print the text for people.", metavar="FILE"),
    ] = None,
    debug: Debug = False,
) -> None:
    """Hold results against rules that are forbidden or required.

    Exit code 1 if one is violated, with the answers that show it: a gate for CI.
    """
    from hornlens.cli.check import check_command

    raise typer.Exit(check_command(results, rules, format, out))


def verify(
    path: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A folder of results, or an envelope.json.")
    ],
    against: Annotated[
        Optional[Path],
        typer.Option(
            help="The .cnf, .csv or .cxt of which it is the envelope; of an exploration, its "
            "X.exploration.json."
        ),
    ] = None,
    background: Annotated[
        Optional[Path],
        typer.Option(help="What was taken for granted, with --against: a Horn .cnf or a .json."),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print what was checked.")
    ] = "text",
    debug: Debug = False,
) -> None:
    """Check a result by its recorded answers, without the code that made it.

    Exit code 1 says that something is wrong, and what.
    """
    from hornlens.cli.verify import verify_command

    if background is not None and against is None:
        raise HornlensError("--background goes with --against")
    raise typer.Exit(verify_command(path, against, background, format))


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
    from hornlens.cli.report import report_command

    report_command(path, show, out)


def export(
    path: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A folder of results, or the JSON file in it."),
    ],
    format: Annotated[
        Literal["text", "json", "dimacs", "csv", "latex", "prolog", "conexp", "fcar"],
        typer.Option(help="How to write the rules, as `hornlens envelope` has it."),
    ] = "text",
    out: Annotated[
        Optional[Path],
        typer.Option(help="Write that to a file. (default: standard output)", metavar="FILE"),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write the rules of a result for other tools: LaTeX, Prolog, CSV and others.

    Of every kind of result: a model's, a formula's, a table's, an exploration's, a classifier's.
    """
    from hornlens.cli.export import export_command

    export_command(path, format, out)
