"""The options that several commands share."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Optional, TypeVar

import typer

from hornlens.deprecation import deprecated
from hornlens.errors import HornlensError
from hornlens.logic.repeats import ALPHA, MOST, Repeats
from hornlens.models.registry import MODELS

T = TypeVar("T")

Cache = Annotated[
    Optional[str],
    typer.Option(
        metavar="FILE|postgresql://…",
        help="The answer cache. (default: HORNLENS_CACHE or the user's cache)",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no answers.")]
Margin = Annotated[
    Optional[float],
    typer.Option(min=0, help="Overrides the probe: less of a lead is an abstention."),
]
TopK = Annotated[
    Optional[int],
    typer.Option(min=1, help="Overrides the probe: the winner must be among the first k."),
]
MaxConditions = Annotated[
    Optional[int],
    typer.Option(
        min=0, help="Only rules with at most so many conditions: all of them, and much sooner."
    ),
]
MinSupport = Annotated[
    Optional[int],
    typer.Option(min=1, help="Only rules that speak of at least so many prompts, cells or rows."),
]
MinConfidence = Annotated[
    Optional[float],
    typer.Option(
        help="Beside the rules, almost-rules: they hold in such a share (0.95) of what they speak "
        "of. All exceptions are listed."
    ),
]
Detail = Annotated[
    Optional[str],
    typer.Option(
        metavar="LEVEL",
        help="Show a summary: so many rules (5), as many as explain a share of the rejections "
        "(90%), the best choice of so many (best:5); or exact.",
    ),
]
ExceptionCost = Annotated[
    float,
    typer.Option(help="For --detail: how many explained rejections an exception outweighs."),
]
Rank = Annotated[
    Literal["support", "margin", "surprise"],
    typer.Option(
        help="Which rules come first: with the most cases, the widest margins, or the most that "
        "no other rule says."
    ),
]
TimeLimit = Annotated[
    Optional[float],
    typer.Option(help="End after so many seconds, with what is proved by then."),
]
MaxRules = Annotated[
    Optional[int],
    typer.Option(help="End when there are more than so many rules, and keep the first of them."),
]
MaxQuestions = Annotated[
    Optional[int],
    typer.Option(
        min=1,
        help="End after so many questions, asked now or in an earlier run, with what they prove.",
    ),
]
RepeatsOption = Annotated[
    Optional[str],
    typer.Option(
        "--repeats",
        help="Answers vary: ask each prompt until a test decides, at most so often (auto: 100).",
        metavar="auto|N",
    ),
]
Alpha = Annotated[
    Optional[float],
    typer.Option(
        help="With --repeats: the risk that any of its claims is wrong. (default: 0.05)",
        show_default=False,
    ),
]
Settle = Annotated[
    Optional[int],
    typer.Option(
        min=1,
        help="With --repeats: ask prompts that would settle a rule so often more.",
        metavar="N",
    ),
]
Scales = Annotated[
    Optional[list[str]],
    typer.Option(
        help="COLUMN=KIND, how a column is read: nominal, ordinal[:low<high], interval:30,60, "
        "quantiles[:4], uniform[:4], binary[:yes], drop. May be given several times."
    ),
]
Label = Annotated[
    Optional[str],
    typer.Option(help="The column of a table that is the label (the class)."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and ask nothing.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show the whole traceback.")]


def model_help(begin: str = "") -> str:
    """Return what `--model` takes: our own kinds, for looking for others' takes time."""
    forms = ", ".join(kind.form for kind in MODELS.builtin.values())
    return f"{begin}{forms}, or of an installed package (hornlens model list)."


def renamed_option(value: T | None, old: T | None, was: str, now: str) -> T | None:
    """Return the value of an option that may have been given by its old name, which warns."""
    if old is None:
        return value
    if value is not None:
        raise HornlensError(f"{was} is the old name of {now}: give {now} only")
    deprecated(was, now, since="0.3", removal="0.5")
    return old


def repeats_of(repeats: str | None, alpha: float | None, settle: int | None) -> Repeats | None:
    """Return how answers that vary are repeated; None: they are not."""
    if repeats is None:
        if alpha is not None or settle is not None:
            raise HornlensError("--alpha and --settle go with --repeats")
        return None
    if repeats != "auto" and not re.fullmatch("[0-9]{1,6}", repeats, re.ASCII):
        raise HornlensError(f"--repeats must be auto or a number from 2 on, not {repeats!r}")
    most = MOST if repeats == "auto" else int(repeats)
    return Repeats(most, ALPHA if alpha is None else alpha, settle or 0)
