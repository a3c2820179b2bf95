"""The commands' arguments. Heavy imports happen inside the commands, so that --help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.asking import AS_IT_IS, ModelGroup
from hornlens.cli.executors import HERE, ExecutorGroup
from hornlens.cli.options import (
    Alpha,
    Cache,
    Debug,
    Detail,
    DryRun,
    ExceptionCost,
    Label,
    Margin,
    MaxConditions,
    MaxRules,
    MinConfidence,
    MinSupport,
    NoCache,
    Quiet,
    Rank,
    RepeatsOption,
    Scales,
    Settle,
    TimeLimit,
    TopK,
    model_help,
    repeats_of,
)
from hornlens.errors import HornlensError
from hornlens.limits import Limits


def envelope(
    file: Annotated[
        Path,
        typer.Argument(
            help="DIMACS .cnf, or positive examples: .csv with a header, .parquet, .xlsx, or a "
            "context (.cxt, .ctx, FIMI .dat, .json)."
        ),
    ],
    format: Annotated[
        Literal["text", "json", "dimacs", "csv", "latex", "prolog", "conexp", "fcar"],
        typer.Option(help="How to print the rules."),
    ] = "text",
    scale: Scales = None,
    label: Label = None,
    basis: Annotated[
        Literal["readable", "canonical", "unit", "direct"],
        typer.Option(
            help="Which rules: as short as can be said, the DG basis, one conclusion "
            "each, or (tables) all minimal premises."
        ),
    ] = "readable",
    closed_top: Annotated[
        bool,
        typer.Option(
            "--closed-top",
            help="Take the set of all variables as closed, as concept analysis does: "
            "what never occurs implies all of them, instead of ⊥.",
        ),
    ] = False,
    background: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it at run time
        typer.Option(
            help="Rules taken for granted: a Horn .cnf or an envelope.json; matched by name."
        ),
    ] = None,
    max_conditions: MaxConditions = None,
    min_support: MinSupport = None,
    min_confidence: MinConfidence = None,
    detail: Detail = None,
    exception_cost: ExceptionCost = 1.0,
    rank: Annotated[
        Optional[Literal["support", "surprise"]],  # noqa: UP045
        typer.Option(
            help="Tables: the rules that speak of the most rows first, or those that chance would "
            "break in the most rows. Without it, small antecedents first."
        ),
    ] = None,
    time_limit: TimeLimit = None,
    max_rules: MaxRules = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Tables: write table.json there, and a page with the concept lattice."),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute the exact Horn envelope of a formula or a table, or its short rules.

    Ended early, by a limit or Ctrl-C, it prints the rules that are proved by then.
    """
    from hornlens.cli.envelope import TableOptions, envelope_command
    from hornlens.results.settings import Settings

    wanted = Settings(
        max_conditions=max_conditions,
        min_support=min_support,
        min_confidence=min_confidence,
        detail=detail,
        exception_cost=exception_cost,
    )
    limits = Limits(time_limit, max_rules)
    asked = file, format, background, wanted, quiet
    tables = TableOptions(scale or (), label, basis, closed_top, out, rank)
    raise typer.Exit(envelope_command(*asked, limits=limits, tables=tables))


def concepts(
    file: Annotated[Path, typer.Argument(help="A table or a context, as `envelope` takes it.")],
    count: Annotated[bool, typer.Option("--count", help="Only say how many there are.")] = False,
    format: Annotated[
        Literal["text", "json", "csv", "svg"],
        typer.Option(help="How to print them; svg draws the lattice of up to 100."),
    ] = "text",
    scale: Scales = None,
    label: Label = None,
    time_limit: TimeLimit = None,
    debug: Debug = False,
) -> None:
    """List the concepts of a table: rows, and all that they have in common."""
    from hornlens.cli.concepts import concepts_command

    limits = Limits(time_limit)
    raise typer.Exit(concepts_command(file, count, format, scale or (), label, limits))


def convert(
    file: Annotated[Path, typer.Argument(help="A table or a context, as `envelope` takes it.")],
    out: Annotated[Path, typer.Argument(help="The context: .cxt, .ctx, .dat, .json or 0/1 .csv.")],
    scale: Scales = None,
    label: Label = None,
    debug: Debug = False,
) -> None:
    """Write a table as a formal context, its columns scaled to variables."""
    from hornlens.cli.envelope import convert_command

    convert_command(file, out, scale or (), label)


def learn(
    file: Annotated[
        Path, typer.Argument(help="The target, a DIMACS .cnf; for related algorithms also a table.")
    ],
    algorithm: Annotated[
        Literal["envelope", "horn", "horn1", "pac-basis", "closure", "characteristic"],
        typer.Option(
            help="The paper's Algorithm 1; the classics for Horn targets; or related ones: by "
            "entailment queries and samples, of positives closed first, from positives alone."
        ),
    ] = "envelope",
    target: Annotated[
        Optional[Literal["envelope", "cnf"]],  # noqa: UP045
        typer.Option(
            help="What the equivalence oracle wants: the envelope (H ≡ env φ), or the formula "
            "itself (H ∪ Q ≡ φ). (default: envelope; cnf for horn and horn1)"
        ),
    ] = None,
    via_encoding: Annotated[
        bool,
        typer.Option(
            "--via-encoding", help="Learn the CNF as the envelope of its encoding (Section 4.2)."
        ),
    ] = False,
    equivalence: Annotated[
        Literal["exact", "exhaustive", "pac", "budget"],
        typer.Option(help="By SAT (either word), by sampling, or by SAT with a limit on queries."),
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
    time_limit: TimeLimit = None,
    max_rules: MaxRules = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show every step.")] = False,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print the result.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Watch a learner at work on a formula, query by query.

    It shows how many queries it asked beside the proved bounds, and with --trace every step.
    """
    from hornlens.cli.learn import learn_command
    from hornlens.extraction.formulas import LearnSettings
    from hornlens.extraction.related import RELATED

    if algorithm in RELATED:
        from hornlens.cli.related import RelatedOptions, related_command

        if target == "cnf" or via_encoding or speculate or equivalence != "exact":
            raise HornlensError(
                f"--algorithm {algorithm} learns the envelope in its own way: leave out --target, "
                "--via-encoding, --equivalence and --speculate"
            )
        related = RelatedOptions(algorithm, epsilon, delta, seed, trace, format, quiet)
        raise typer.Exit(related_command(file, related, Limits(time_limit, max_rules)))
    settings = LearnSettings(
        algorithm=algorithm,
        target=target,
        via_encoding=via_encoding,
        equivalence=equivalence,
        epsilon=epsilon,
        delta=delta,
        max_equivalence_queries=max_equivalence_queries,
        seed=seed,
        speculate=speculate,
    )
    limits = Limits(time_limit, max_rules)
    raise typer.Exit(learn_command(file, settings, trace, format, quiet, limits))


def explore(
    file: Annotated[
        str, typer.Argument(help="Variables, a YAML file; or a probe, together with --model.")
    ],
    table: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Examples that are known already: a table or a context."),
    ] = None,
    expert: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Who is asked: person (default), or a target (hornlens target list), "
            "such as table/FILE.csv. May be given several times.",
            metavar="person|TARGET",
        ),
    ] = None,
    model: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help=model_help("A language model as an expert: ")),
    ] = None,
    ask: Annotated[
        Literal["first", "all"],
        typer.Option(
            help="Of several experts: the first who knows decides, or all are asked, and one "
            "example is enough for a no."
        ),
    ] = "first",
    background: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Rules taken for granted: a Horn .cnf or an envelope.json."),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, help="Targets too large to ask all: so many samples a question.")
    ] = 1_000,
    session: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Where answers are kept. (default: NAME.exploration.json)"),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, whatever is in the session's file.")
    ] = False,
    time_limit: TimeLimit = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    how: ModelGroup = AS_IT_IS,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print what is known at the end.")
    ] = "text",
    debug: Debug = False,
) -> None:
    """Find all rules of a domain by asking experts: does this always imply that?

    Every answer is kept at once; the same command goes on where you left.
    """
    from hornlens.cli.explore import ExploreOptions, explore_command

    options = ExploreOptions(
        file=file,
        table=table,
        background=background,
        experts=expert or (),
        models=model or (),
        how=ask,
        samples=samples,
        session=session,
        fresh=fresh,
        model_options=how.options,
        cache=cache,
        no_cache=no_cache,
        form=format,
        limits=Limits(time_limit),
    )
    raise typer.Exit(explore_command(options))


def extract(
    probe: Annotated[
        Optional[str],  # noqa: UP045 - typer reads it at run time
        typer.Argument(
            help="A probe: a YAML file or a built-in one (hornlens probe list).",
            show_default="gender-occupation",
        ),
    ] = None,
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help=model_help(), show_default="demo, or what a built-in probe needs"),
    ] = None,
    target: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Not a model: a target that needs no probe (hornlens target list)."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-out"),
    equivalence: Annotated[
        Literal["auto", "exhaustive", "exact", "pac", "budget"],
        typer.Option(help="auto: exact (exhaustive) if the prompts fit --limit, else pac."),
    ] = "auto",
    epsilon: Annotated[float, typer.Option(help="PAC: the error that is tolerated.")] = 0.05,
    delta: Annotated[float, typer.Option(help="PAC: the chance of more error than that.")] = 0.05,
    max_equivalence_queries: Annotated[
        int, typer.Option(min=0, help="Budget: how many equivalence queries.")
    ] = 200,
    limit: Annotated[
        int, typer.Option(min=1, help="How many prompts an exact run may take.")
    ] = 200_000,
    seed: Annotated[int, typer.Option(help="For the samples of pac and budget.")] = 0,
    max_conditions: MaxConditions = None,
    time_limit: TimeLimit = None,
    max_rules: MaxRules = None,
    min_support: MinSupport = None,
    min_confidence: MinConfidence = None,
    detail: Detail = None,
    exception_cost: ExceptionCost = 1.0,
    rank: Rank = "support",
    protocol: Annotated[
        Literal["default", "paper"],
        typer.Option(help="paper: everything as the paper's experiment had it."),
    ] = "default",
    label_unset: Annotated[
        Optional[Literal["accept", "reject"]],  # noqa: UP045
        typer.Option(help="Overrides the probe: interpretations without a label."),
    ] = None,
    margin: Margin = None,
    top_k: TopK = None,
    abstain: Annotated[
        Optional[Literal["accept", "reject"]],  # noqa: UP045
        typer.Option(help="Overrides the probe: what an abstention counts as."),
    ] = None,
    calibration: Annotated[
        Optional[Literal["none", "neutral", "mean"]],  # noqa: UP045
        typer.Option(
            help="Overrides the probe: subtract the all-unset prompt's scores, or the mean."
        ),
    ] = None,
    phrasings: Annotated[
        Optional[Literal["each", "average"]],  # noqa: UP045
        typer.Option(help="Overrides the probe: each phrasing by itself, or their average."),
    ] = None,
    variant: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Ask in this one of the probe's phrasings only.", metavar="NAME"),
    ] = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    where: ExecutorGroup = HERE,
    how: ModelGroup = AS_IT_IS,
    repeats: RepeatsOption = None,
    alpha: Alpha = None,
    settle: Settle = None,
    dry_run: DryRun = False,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: findings, or envelope.json.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the rules that a model obeys, with their evidence.

    It is asked a probe's questions: all of them if they are not too many, and then the rules are
    exact.
    """
    from hornlens.cli.extract import ExtractOptions, extract_command
    from hornlens.results.settings import Settings

    if target is not None and (probe is not None or model is not None):
        raise HornlensError("--target asks its own questions: give neither a probe nor --model")
    code = extract_command(
        ExtractOptions(
            probe=probe or "gender-occupation",
            model=model,
            target=target,
            out=out,
            cache=cache,
            no_cache=no_cache,
            settings=Settings(
                equivalence,
                epsilon,
                delta,
                max_equivalence_queries,
                limit,
                seed,
                max_conditions=max_conditions,
                min_support=min_support,
                min_confidence=min_confidence,
                detail=detail,
                exception_cost=exception_cost,
                rank=rank,
            ),
            protocol=protocol,
            policy={
                "label_unset": label_unset,
                "margin": margin,
                "top_k": top_k,
                "abstain": abstain,
                "calibration": calibration,
                "phrasings": phrasings,
            },
            variant=variant,
            executor=where,
            model_options=how.options,
            repeats=repeats_of(repeats, alpha, settle),
            dry_run=dry_run,
            form=format,
            quiet=quiet,
            limits=Limits(time_limit, max_rules),
        )
    )
    raise typer.Exit(code)


def study(
    study: Annotated[
        str, typer.Argument(help="A study: a YAML file, or a built-in one (demo, paper).")
    ],
    model: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help=model_help("Other models than the study's; may be given several times: ")
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-study"),
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Processes that learn at the same time. (default: the cores)"),
    ] = None,
    cache: Cache = None,
    where: ExecutorGroup = HERE,
    how: ModelGroup = AS_IT_IS,
    dry_run: DryRun = False,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a summary, or study.json.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Repeat extractions: which rules are stable, which are true?

    Over models, budgets of equivalence queries and seeds. Killed, it goes on where it was.
    """
    from hornlens.cli.study import StudyOptions, study_command

    study_command(
        StudyOptions(
            study=study,
            models=model or (),
            out=out,
            cache=cache,
            jobs=jobs,
            executor=where,
            model_options=how.options,
            dry_run=dry_run,
            form=format,
            quiet=quiet,
        )
    )


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders of results, or envelope.json files; the baseline first."),
    ],
    name: Annotated[
        Optional[list[str]],  # noqa: UP045
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
        Optional[Path],  # noqa: UP045
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


def verify(
    path: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A folder of results, or an envelope.json.")
    ],
    against: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="The .cnf, .csv or .cxt of which it is the envelope; of an exploration, its "
            "X.exploration.json."
        ),
    ] = None,
    background: Annotated[
        Optional[Path],  # noqa: UP045
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
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write that to a file, and print the text for people.", metavar="FILE"),
    ] = None,
    debug: Debug = False,
) -> None:
    """Hold results against rules that are forbidden or required.

    Exit code 1 if one is violated, with the answers that show it: a gate for CI.
    """
    from hornlens.cli.check import check_command

    raise typer.Exit(check_command(results, rules, format, out))


def report(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of results, or the JSON file in it.")
    ],
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    debug: Debug = False,
) -> None:
    """Make report.html again, from the results on disk."""
    from hornlens.cli.report import report_command

    report_command(path, show)


def bias(
    dataset: Annotated[
        str, typer.Argument(help="A data set: a folder, or the built-in one (people).")
    ] = "people",
    model: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help=model_help("Repeat it to compare several (default: demo): ")),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-bias"),
    margin: Margin = None,
    top_k: TopK = None,
    limit_occupations: Annotated[
        int, typer.Option(min=1, help="How many occupations the figures show, at most.")
    ] = 60,
    min_people: Annotated[
        int, typer.Option(min=1, help="Leave out occupations with fewer people.")
    ] = 1,
    cache: Cache = None,
    no_cache: NoCache = False,
    how: ModelGroup = AS_IT_IS,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a table, or bias.json.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score which pronouns models expect of a data set's people.

    Occupation by occupation, with intervals, figures, and what is recorded beside the prediction.
    """
    from hornlens.cli.bias import BiasOptions, bias_command

    bias_command(
        BiasOptions(
            dataset=dataset,
            models=model or ["demo"],
            out=out,
            cache=cache,
            no_cache=no_cache,
            policy={"margin": margin, "top_k": top_k},
            limit_occupations=limit_occupations,
            min_people=min_people,
            model_options=how.options,
            form=format,
            quiet=quiet,
        )
    )


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


def explain(
    model: Annotated[Path, typer.Argument(help="A classifier: .onnx or .skops, never a pickle.")],
    data: Annotated[Path, typer.Argument(help="A .csv table of rows as it takes them.")],
    target: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The column that the classifier predicts; it is no feature."),
    ] = None,
    bins: Annotated[
        Literal["auto", "model", "quantile", "uniform"],
        typer.Option(help="How numbers are cut: at the thresholds of trees, or into bins."),
    ] = "auto",
    n_bins: Annotated[int, typer.Option(min=2, help="How many bins a column gets at most.")] = 4,
    domain: Annotated[
        Literal["grid", "data"],
        typer.Option(help="Every combination of levels, or those near the rows."),
    ] = "grid",
    changes: Annotated[
        int, typer.Option(min=0, help="Data: how many features may differ from a row.")
    ] = 1,
    background: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help='What is taken for granted: "pregnant -> sex = f"; may be repeated.'),
    ] = None,
    all_rules: Annotated[
        bool, typer.Option("--all-rules", help="Every rule, not enough of them to decide all.")
    ] = False,
    max_conditions: MaxConditions = None,
    limit: Annotated[int, typer.Option(min=1, help="Ask all cells if there are so few.")] = 200_000,
    seed: Annotated[int, typer.Option(help="For what is drawn at random.")] = 0,
    trust: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Skops: a type that may be loaded; may be repeated."),
    ] = None,
    basis: Annotated[bool, typer.Option("--basis", help="Print the full basis, too.")] = False,
    out: Annotated[Optional[Path], typer.Option(help="Write the result there.")] = None,  # noqa: UP045
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a table, or explanation.json.")
    ] = "text",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Explain a classifier: all cells asked, the rules it obeys, proved."""
    from hornlens.classifiers.explain import Options
    from hornlens.cli.explain import ExplainOptions, explain_command

    options = Options(
        bins=bins,
        n_bins=n_bins,
        domain=domain,
        changes=changes,
        background=tuple(background or ()),
        rules="all" if all_rules else "cover",
        max_conditions=max_conditions,
        limit=limit,
        seed=seed,
        target=target or "class",
    )
    trusted = tuple(trust or ())
    explain_command(
        ExplainOptions(model, data, target, options, out, format, basis, trusted, quiet)
    )


COMMANDS = {
    command.__name__: command
    for command in (
        envelope,
        concepts,
        convert,
        learn,
        explore,
        extract,
        study,
        compare,
        check,
        verify,
        report,
        bias,
        explain,
        doctor,
        completion,
    )
}
"""By name, in the order of the help."""
