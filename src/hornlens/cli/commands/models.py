"""Commands that ask models: language models, chat models, classifiers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.asking import CacheGroup, CachePlace, ExecutorGroup, ModelGroup, RepeatsGroup
from hornlens.cli.comparing import ComparisonGroup
from hornlens.cli.options import (
    CommandOptions,
    Debug,
    Detail,
    DryRun,
    ExceptionCost,
    Margin,
    MaxConditions,
    MaxRules,
    MinConfidence,
    MinSupport,
    Quiet,
    TimeLimit,
    TopK,
    model_help,
)
from hornlens.limits import Limits


class ExtractOptions(CommandOptions):
    """The options of `extract`; of those that override the probe, None leaves it as it is."""

    probe: Annotated[
        Optional[str],
        typer.Argument(
            help="A probe: a YAML file or a built-in one (hornlens probe list).",
            show_default="gender-occupation",
        ),
    ] = None
    model: Annotated[
        Optional[str],
        typer.Option(help=model_help(), show_default="demo, or what a built-in probe needs"),
    ] = None
    target: Annotated[
        Optional[str],
        typer.Option(help="Not a model: a target that needs no probe (hornlens target list)."),
    ] = None
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-out")
    equivalence: Annotated[
        Literal["auto", "exhaustive", "exact", "sift", "pac", "budget"],
        typer.Option(
            help="auto: all prompts are asked if they fit --limit, else sift: all short rules from "
            "few questions. pac, budget: the paper's learner."
        ),
    ] = "auto"
    epsilon: Annotated[
        float,
        typer.Option(help="Sift: the share of its cases that may break a rule. PAC: the error."),
    ] = 0.05
    delta: Annotated[float, typer.Option(help="The chance of more than that.")] = 0.05
    max_equivalence_queries: Annotated[
        int, typer.Option(min=0, help="Budget: how many equivalence queries.")
    ] = 200
    limit: Annotated[
        int, typer.Option(min=1, help="auto, exhaustive, sift, pac: ask at most so many prompts.")
    ] = 200_000
    seed: Annotated[int, typer.Option(help="For the samples of sift, pac and budget.")] = 0
    max_conditions: MaxConditions = None
    time_limit: TimeLimit = None
    max_rules: MaxRules = None
    max_questions: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            help="End after so many questions, asked now or in an earlier run, with what they "
            "show.",
        ),
    ] = None
    min_support: MinSupport = None
    min_confidence: MinConfidence = None
    detail: Detail = None
    exception_cost: ExceptionCost = 1.0
    rank: Annotated[
        Literal["support", "margin", "surprise"],
        typer.Option(
            help="Which rules come first: with the most cases, the widest margins, or the most "
            "that no other rule says."
        ),
    ] = "support"
    intersections: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Rates of all combinations of values of these attributes, such as race,gender. "
            "May be given several times.",
            metavar="NAME,NAME",
        ),
    ] = None
    protocol: Annotated[
        Literal["default", "paper"],
        typer.Option(help="paper: everything as the paper's experiment had it."),
    ] = "default"
    label_unset: Annotated[
        Optional[Literal["accept", "reject"]],
        typer.Option(help="Overrides the probe: interpretations without a label."),
    ] = None
    margin: Margin = None
    top_k: TopK = None
    abstain: Annotated[
        Optional[Literal["accept", "reject"]],
        typer.Option(help="Overrides the probe: what an abstention counts as."),
    ] = None
    calibration: Annotated[
        Optional[Literal["none", "neutral", "mean"]],
        typer.Option(
            help="Overrides the probe: subtract the all-unset prompt's scores, or the mean."
        ),
    ] = None
    phrasings: Annotated[
        Optional[Literal["each", "average"]],
        typer.Option(help="Overrides the probe: each phrasing by itself, or their average."),
    ] = None
    variant: Annotated[
        Optional[str],
        typer.Option(help="Ask in this one of the probe's phrasings only.", metavar="NAME"),
    ] = None
    versus: ComparisonGroup
    store: CacheGroup
    where: ExecutorGroup
    how: ModelGroup
    noise: RepeatsGroup
    dry_run: DryRun = False
    pilot: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            help="With --dry-run: ask so many random cells, to know how often each label is "
            "answered.",
            metavar="N",
        ),
    ] = None
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: findings, or envelope.json.")
    ] = "text"
    quiet: Quiet = False
    debug: Debug = False

    @cached_property
    def limits(self) -> Limits:
        """What may end the run early; what a language model may spend is its own limit."""
        calls = None if self.target is None else self.how.max_calls
        return self.passed_to(Limits, max_calls=calls)


def extract(options: ExtractOptions) -> None:
    """Find the rules that a model obeys, with their evidence.

    It is asked a probe's questions: all of them if they are not too many, and then the rules are
    exact.
    """
    from hornlens.cli.extract import extract_command

    raise typer.Exit(extract_command(options))


class StudyOptions(CommandOptions):
    """The options of `study`."""

    study: Annotated[
        str, typer.Argument(help="A study: a YAML file, or a built-in one (demo, paper).")
    ]
    model: Annotated[
        Optional[list[str]],
        typer.Option(
            help=model_help("Other models than the study's; may be given several times: ")
        ),
    ] = None
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-study")
    jobs: Annotated[
        Optional[int],
        typer.Option(min=1, help="Processes that learn at the same time. (default: the cores)"),
    ] = None
    cache: CachePlace = None
    where: ExecutorGroup
    how: ModelGroup
    dry_run: DryRun = False
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a summary, or study.json.")
    ] = "text"
    quiet: Quiet = False
    debug: Debug = False


def study(options: StudyOptions) -> None:
    """Repeat extractions: which rules are stable, which are true?

    Over models, budgets of equivalence queries and seeds. Killed, it goes on where it was.
    """
    from hornlens.cli.study import study_command

    study_command(options)


class BiasOptions(CommandOptions):
    """The options of `bias`; None leaves the probe of the data set as it is."""

    dataset: Annotated[
        str, typer.Argument(help="A data set: a folder, or the built-in one (people).")
    ] = "people"
    model: Annotated[
        Optional[list[str]],
        typer.Option(help=model_help("Repeat it to compare several (default: demo): ")),
    ] = None
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("hornlens-bias")
    margin: Margin = None
    top_k: TopK = None
    limit_occupations: Annotated[
        int, typer.Option(min=1, help="How many occupations the figures show, at most.")
    ] = 60
    min_people: Annotated[
        int, typer.Option(min=1, help="Leave out occupations with fewer people.")
    ] = 1
    store: CacheGroup
    how: ModelGroup
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a table, or bias.json.")
    ] = "text"
    quiet: Quiet = False
    debug: Debug = False


def bias(options: BiasOptions) -> None:
    """Score which pronouns models expect of a data set's people.

    Occupation by occupation, with intervals, figures, and what is recorded beside the prediction.
    """
    from hornlens.cli.bias import bias_command

    bias_command(options)


Threshold = Annotated[
    Optional[float],
    typer.Option(help="Of two classes, the second is said where its score is this or more."),
]
Bands = Annotated[
    Optional[str],
    typer.Option(
        help="Of a model that predicts numbers: where one band ends and the next begins, such as "
        "100,300, or with names: low:100,middle:300,high.",
        metavar="NUMBERS",
    ),
]


class ExplainOptions(CommandOptions):
    """The options of `explain`."""

    model: Annotated[
        Path,
        typer.Argument(
            help="A classifier: .onnx, .skops, or a file of XGBoost (.json, .ubj), LightGBM (.txt) "
            "or CatBoost (.cbm, .json). Never a pickle."
        ),
    ]
    data: Annotated[Path, typer.Argument(help="A .csv table of rows as it takes them.")]
    label: Annotated[
        Optional[str],
        typer.Option(
            help="The column that the classifier predicts; it is no feature.", metavar="COLUMN"
        ),
    ] = None
    threshold: Threshold = None
    bands: Bands = None
    bins: Annotated[
        Literal["auto", "model", "quantile", "uniform"],
        typer.Option(help="How numbers are cut: at the thresholds of trees, or into bins."),
    ] = "auto"
    n_bins: Annotated[int, typer.Option(min=2, help="How many bins a column gets at most.")] = 4
    domain: Annotated[
        Literal["grid", "data", "plausible"],
        typer.Option(
            help="Every combination of levels, those near the rows, or those that break no more of "
            "the rows' own rules than 99% of other rows do."
        ),
    ] = "grid"
    plausible: Annotated[
        Optional[Path],
        typer.Option(
            help="A .yaml or .json file of rules that say what is plausible, as --out writes it.",
            metavar="FILE",
        ),
    ] = None
    changes: Annotated[
        int, typer.Option(min=0, help="Data: how many features may differ from a row.")
    ] = 1
    background: Annotated[
        Optional[list[str]],
        typer.Option(help='What is taken for granted: "pregnant -> sex = f"; may be repeated.'),
    ] = None
    all_rules: Annotated[
        bool, typer.Option("--all-rules", help="Every rule, not enough of them to decide all.")
    ] = False
    max_conditions: MaxConditions = None
    limit: Annotated[
        int,
        typer.Option(min=1, help="Ask all cells if so few; else look into trees, or sift."),
    ] = 200_000
    cover: Annotated[
        float,
        typer.Option(min=0, max=1, help="Trees beyond the limit: the share of rows to decide."),
    ] = 0.99
    epsilon: Annotated[
        float, typer.Option(help="Sift: the share of its cells that may break a rule.")
    ] = 0.05
    delta: Annotated[float, typer.Option(help="Sift: the chance that one is broken more.")] = 0.05
    time_limit: TimeLimit = None
    max_questions: Annotated[
        Optional[int],
        typer.Option(min=1, help="End after so many cells were asked, with what they show."),
    ] = None
    max_calls: Annotated[
        Optional[int],
        typer.Option(min=1, help="End before the model is given more rows than that, in all."),
    ] = None
    max_rules: MaxRules = None
    seed: Annotated[int, typer.Option(help="For what is drawn at random.")] = 0
    trust: Annotated[
        Optional[list[str]],
        typer.Option(help="Skops: a type that may be loaded; may be repeated."),
    ] = None
    basis: Annotated[bool, typer.Option("--basis", help="Print the full basis, too.")] = False
    out: Annotated[Optional[Path], typer.Option(help="Write the result there.")] = None
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: a table, or envelope.json.")
    ] = "text"
    quiet: Quiet = False
    debug: Debug = False
    target: Annotated[Optional[str], typer.Option(hidden=True)] = None


def explain(options: ExplainOptions) -> None:
    """Explain a classifier: all cells asked, the rules it obeys, proved.

    Where there are more cells than --limit, trees are looked into: rules are proved until they
    decide a share of the rows (--cover), beside every rule with at most 2 conditions. Other models
    are sifted, which takes a few thousand rows. With --max-conditions, only such rules are listed.
    Ended early, by a limit or Ctrl-C, it gives the rules that hold whatever the other cells are.
    """
    from hornlens.cli.explain import explain_command

    raise typer.Exit(explain_command(options))


class RecourseOptions(CommandOptions):
    """The options of `recourse`."""

    model: Annotated[Path, typer.Argument(help="A classifier: .onnx or .skops, never a pickle.")]
    data: Annotated[Path, typer.Argument(help="A .csv table of rows as it takes them.")]
    to: Annotated[str, typer.Option(help='The class that is wanted, or several: "yes or maybe".')]
    row: Annotated[
        list[int],
        typer.Option(min=1, help="The number of a row of DATA, from 1; may be repeated."),
    ]
    label: Annotated[
        Optional[str],
        typer.Option(
            help="The column that the classifier predicts; it is no feature.", metavar="COLUMN"
        ),
    ] = None
    fixed: Annotated[
        Optional[list[str]],
        typer.Option(help="A column that may not be changed; may be repeated.", metavar="COLUMN"),
    ] = None
    only_up: Annotated[
        Optional[list[str]],
        typer.Option(help="A column that may only grow; may be repeated.", metavar="COLUMN"),
    ] = None
    only_down: Annotated[
        Optional[list[str]],
        typer.Option(help="A column that may only fall; may be repeated.", metavar="COLUMN"),
    ] = None
    most: Annotated[
        int, typer.Option(min=1, help="How many columns may be changed at once, at most.")
    ] = 3
    background: Annotated[
        Optional[list[str]],
        typer.Option(help='What a changed row obeys: "pregnant -> sex = f"; may be repeated.'),
    ] = None
    threshold: Threshold = None
    bands: Bands = None
    limit: Annotated[
        int, typer.Option(min=1, help="Try so many changes of each set of columns, at most.")
    ] = 200_000
    time_limit: TimeLimit = None
    trust: Annotated[
        Optional[list[str]],
        typer.Option(help="Skops: a type that may be loaded; may be repeated."),
    ] = None
    format: Annotated[
        Literal["text", "json"], typer.Option(help="What to print: sentences, or JSON.")
    ] = "text"
    quiet: Quiet = False
    debug: Debug = False


def recourse(options: RecourseOptions) -> None:
    """Find the smallest change of a row that makes a classifier say something else.

    The fewest columns, then the smallest total change: proved for trees that can be read.
    """
    from hornlens.cli.recourse import recourse_command

    raise typer.Exit(recourse_command(options))
