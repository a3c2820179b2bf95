"""The `hornlens` command. Heavy imports happen inside the commands, so that --help is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn, Optional

import typer

from hornlens import __version__
from hornlens.errors import HornlensError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show the whole traceback.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hornlens {__version__}")
        raise typer.Exit


@app.callback()
def hornlens(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
    ] = False,
) -> None:
    """Ask a black box questions; get back the Horn rules it obeys, and how sure they are."""


@app.command()
def envelope(
    file: Annotated[
        Path,
        typer.Argument(
            help="DIMACS .cnf, or positive examples as 0/1 .csv with a header or Burmeister .cxt."
        ),
    ],
    format: Annotated[
        Literal["text", "json", "dimacs", "csv", "latex", "prolog"],
        typer.Option(help="How to print the rules."),
    ] = "text",
    background: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it at run time
        typer.Option(
            help="Rules taken for granted: a Horn .cnf or an envelope.json; matched by name."
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute the exact Horn envelope of a formula or a table."""
    from hornlens.cli.envelope import envelope_command

    envelope_command(file, format, background, quiet)


@app.command()
def learn(
    file: Annotated[Path, typer.Argument(help="The target, a DIMACS .cnf.")],
    algorithm: Annotated[
        Literal["envelope", "horn", "horn1"],
        typer.Option(help="The paper's Algorithm 1, or the classics for Horn targets."),
    ] = "envelope",
    target: Annotated[
        Optional[Literal["envelope", "cnf"]],  # noqa: UP045
        typer.Option(
            help="What the equivalence oracle wants: the envelope (H ≡ env φ), or the formula "
            "itself (H ∪ Q ≡ φ).  [default: envelope; cnf for horn and horn1]"
        ),
    ] = None,
    via_encoding: Annotated[
        bool,
        typer.Option(
            "--via-encoding", help="Learn the CNF as the envelope of its encoding (Section 4.2)."
        ),
    ] = False,
    equivalence: Annotated[
        Literal["exact", "pac", "budget"],
        typer.Option(help="By SAT, by sampling, or by SAT with a limit on queries."),
    ] = "exact",
    epsilon: Annotated[float, typer.Option(help="PAC: the error that is tolerated.")] = 0.05,
    delta: Annotated[float, typer.Option(help="PAC: the chance of more error than that.")] = 0.05,
    max_equivalence_queries: Annotated[
        int, typer.Option(min=0, help="Budget: how many equivalence queries.")
    ] = 100,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Choose counterexamples and samples at random, from this seed."),
    ] = None,
    speculate: Annotated[
        bool, typer.Option("--speculate", help="Ask membership queries in batches.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show every step.")] = False,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print the result.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Watch a learner at work on a formula: its queries, the proved bounds, its trace."""
    from hornlens.cli.learn import LearnSettings, learn_command

    settings = LearnSettings(
        algorithm=algorithm,
        target=target or ("envelope" if algorithm == "envelope" and not via_encoding else "cnf"),
        via_encoding=via_encoding,
        equivalence=equivalence,
        epsilon=epsilon,
        delta=delta,
        max_equivalence_queries=max_equivalence_queries,
        seed=seed,
        speculate=speculate,
    )
    raise typer.Exit(learn_command(file, settings, trace, format, quiet))


def main() -> NoReturn:
    """Run the command line; turn errors into one line and an exit code."""
    debug = "--debug" in sys.argv[1:]
    try:
        code = app(standalone_mode=False)
    except HornlensError as error:
        if debug:
            raise
        _fail(str(error), 2)
    except BrokenPipeError:  # someone piped us into head
        sys.stderr.close()
        sys.exit(0)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", 130)
    except Exception as error:
        # Usage errors: typer's own, or click's under older versions of typer.
        if debug or not hasattr(error, "format_message"):
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "hornlens")
        _fail(f"{error.format_message()} (see '{command} --help')", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    print("hornlens:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
