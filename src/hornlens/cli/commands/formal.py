"""Commands about formulas, tables and domains: what needs no model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.asking import CacheGroup, ModelGroup
from hornlens.cli.options import (
    CommandOptions,
    Debug,
    Detail,
    ExceptionCost,
    Label,
    MaxConditions,
    MaxRules,
    MinConfidence,
    MinSupport,
    Quiet,
    Scales,
    TimeLimit,
    model_help,
)


class EnvelopeOptions(CommandOptions):
    """The options of `envelope`."""

    file: Annotated[
        Path,
        typer.Argument(
            help="DIMACS .cnf, or positive examples: .csv with a header, .parquet, .xlsx, or a "
            "context (.cxt, .ctx, FIMI .dat, .json)."
        ),
    ]
    format: Annotated[
        Literal["text", "json", "dimacs", "csv", "latex", "prolog", "conexp", "fcar"],
        typer.Option(help="How to print the rules."),
    ] = "text"
    scale: Scales = None
    label: Label = None
    basis: Annotated[
        Literal["readable", "canonical", "unit", "direct"],
        typer.Option(
            help="Which rules: as short as can be said, the DG basis, one conclusion "
            "each, or (tables) all minimal premises."
        ),
    ] = "readable"
    closed_top: Annotated[
        bool,
        typer.Option(
            "--closed-top",
            help="Take the set of all variables as closed, as concept analysis does: "
            "what never occurs implies all of them, instead of ⊥.",
        ),
    ] = False
    background: Annotated[
        Optional[Path],
        typer.Option(
            help="Rules taken for granted: a Horn .cnf or an envelope.json; matched by name."
        ),
    ] = None
    max_conditions: MaxConditions = None
    min_support: MinSupport = None
    min_confidence: MinConfidence = None
    detail: Detail = None
    exception_cost: ExceptionCost = 1.0
    rank: Annotated[
        Optional[Literal["support", "surprise"]],
        typer.Option(
            help="Tables: the rules that speak of the most rows first, or those that chance would "
            "break in the most rows. Without it, small antecedents first."
        ),
    ] = None
    chance: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            metavar="N",
            help="Tables: shuffle the label, or without one every column, so many times (999, "
            "say), and mark rules that are more than chance.",
        ),
    ] = None
    time_limit: TimeLimit = None
    max_rules: MaxRules = None
    out: Annotated[
        Optional[Path],
        typer.Option(
            help="Write the result there, with a page; of a table, with its concept lattice."
        ),
    ] = None
    quiet: Quiet = False
    debug: Debug = False


def envelope(options: EnvelopeOptions) -> None:
    """Compute the exact Horn envelope of a formula or a table, or its short rules.

    Ended early, by a limit or Ctrl-C, it prints the rules that are proved by then.
    """
    from hornlens.cli.envelope import envelope_command

    raise typer.Exit(envelope_command(options))


class ConceptsOptions(CommandOptions):
    """The options of `concepts`."""

    file: Annotated[Path, typer.Argument(help="A table or a context, as `envelope` takes it.")]
    count: Annotated[bool, typer.Option("--count", help="Only say how many there are.")] = False
    format: Annotated[
        Literal["text", "json", "csv", "svg"],
        typer.Option(help="How to print them; svg draws the lattice of up to 100."),
    ] = "text"
    scale: Scales = None
    label: Label = None
    time_limit: TimeLimit = None
    debug: Debug = False


def concepts(options: ConceptsOptions) -> None:
    """List the concepts of a table: rows, and all that they have in common."""
    from hornlens.cli.concepts import concepts_command

    raise typer.Exit(concepts_command(options))


def convert(
    file: Annotated[Path, typer.Argument(help="A table or a context, as `envelope` takes it.")],
    out: Annotated[Path, typer.Argument(help="The context: .cxt, .ctx, .dat, .json or 0/1 .csv.")],
    scale: Scales = None,
    label: Label = None,
    debug: Debug = False,
) -> None:
    """Write a table as a formal context, its columns scaled to variables."""
    from hornlens.counts import plural
    from hornlens.formats.anytables import open_table
    from hornlens.formats.contexts import write_table
    from hornlens.report.terminal import Terminal

    table = open_table(file, scale or (), label).table
    write_table(table, out)
    size = f"{plural(len(table.rows), 'row')}, {plural(len(table.vocabulary), 'variable')}"
    Terminal().say(f"{out}: {size}. Its rules: hornlens envelope {out}")


class LearnOptions(CommandOptions):
    """The options of `learn`."""

    file: Annotated[
        Path, typer.Argument(help="The target, a DIMACS .cnf; for related algorithms also a table.")
    ]
    algorithm: Annotated[
        Literal["envelope", "horn", "horn1", "pac-basis", "closure", "characteristic"],
        typer.Option(
            help="The paper's Algorithm 1; the classics for Horn targets; or related ones: by "
            "entailment queries and samples, of positives closed first, from positives alone."
        ),
    ] = "envelope"
    goal: Annotated[
        Optional[Literal["envelope", "cnf"]],
        typer.Option(
            help="What the equivalence oracle wants: the envelope (H ≡ env φ), or the formula "
            "itself (H ∪ Q ≡ φ). (default: envelope; cnf for horn and horn1)"
        ),
    ] = None
    via_encoding: Annotated[
        bool,
        typer.Option(
            "--via-encoding", help="Learn the CNF as the envelope of its encoding (Section 4.2)."
        ),
    ] = False
    equivalence: Annotated[
        Literal["exact", "exhaustive", "pac", "budget"],
        typer.Option(help="By SAT (either word), by sampling, or by SAT with a limit on queries."),
    ] = "exact"
    epsilon: Annotated[float, typer.Option(help="PAC: the error that is tolerated.")] = 0.05
    delta: Annotated[float, typer.Option(help="PAC: the chance of more error than that.")] = 0.05
    max_equivalence_queries: Annotated[
        int, typer.Option(min=0, help="Budget: how many equivalence queries.")
    ] = 100
    seed: Annotated[
        Optional[int],
        typer.Option(help="Choose counterexamples and samples at random, from this seed."),
    ] = None
    speculate: Annotated[
        bool, typer.Option("--speculate", help="Ask membership queries in batches.")
    ] = False
    time_limit: TimeLimit = None
    max_rules: MaxRules = None
    trace: Annotated[bool, typer.Option("--trace", help="Show every step.")] = False
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print the result.")] = (
        "text"
    )
    quiet: Quiet = False
    debug: Debug = False
    target: Annotated[Optional[Literal["envelope", "cnf"]], typer.Option(hidden=True)] = None


def learn(options: LearnOptions) -> None:
    """Watch a learner at work on a formula, query by query.

    It shows how many queries it asked beside the proved bounds, and with --trace every step.
    """
    from hornlens.cli.learn import learn_command

    raise typer.Exit(learn_command(options))


class ExploreOptions(CommandOptions):
    """The options of `explore`."""

    file: Annotated[
        str, typer.Argument(help="Variables, a YAML file; or a probe, together with --model.")
    ]
    table: Annotated[
        Optional[Path],
        typer.Option(help="Examples that are known already: a table or a context."),
    ] = None
    expert: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Who is asked: person (default), or a target (hornlens target list), "
            "such as rows/FILE.csv. May be given several times.",
            metavar="person|TARGET",
        ),
    ] = None
    model: Annotated[
        Optional[list[str]],
        typer.Option(help=model_help("A language model as an expert: ")),
    ] = None
    ask: Annotated[
        Literal["first", "all"],
        typer.Option(
            help="Of several experts: the first who knows decides, or all are asked, and one "
            "example is enough for a no."
        ),
    ] = "first"
    background: Annotated[
        Optional[Path],
        typer.Option(help="Rules taken for granted: a Horn .cnf or an envelope.json."),
    ] = None
    samples: Annotated[
        int, typer.Option(min=1, help="Targets too large to ask all: so many samples a question.")
    ] = 1_000
    session: Annotated[
        Optional[Path],
        typer.Option(help="Where answers are kept. (default: NAME.exploration.json)"),
    ] = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, whatever is in the session's file.")
    ] = False
    time_limit: TimeLimit = None
    store: CacheGroup
    how: ModelGroup
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print what is known at the end.")
    ] = "text"
    debug: Debug = False


def explore(options: ExploreOptions) -> None:
    """Find all rules of a domain by asking experts: does this always imply that?

    Every answer is kept at once; the same command goes on where you left.
    """
    from hornlens.cli.explore import explore_command

    raise typer.Exit(explore_command(options))
