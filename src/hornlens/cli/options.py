"""Options of commands: each is declared once, as an annotated field of a class.

`spread` makes a command's options of the fields; the command gets them back as one value, and hands
them to the library by their names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Optional, TypeVar, dataclass_transform, get_type_hints

import typer

from hornlens.deprecation import deprecated
from hornlens.errors import HornlensError
from hornlens.limits import Limits

T = TypeVar("T")
DONE, INTERRUPTED = 0, 130


@dataclass_transform(kw_only_default=True, frozen_default=True)
class CommandOptions:
    """The options of a command, or some that belong together.

    A field is an option, annotated as typer takes it, and its value is the default. A field that is
    of such a class itself stands for all options of that. Options are named as fields are, so no
    two of a command may have the same name. This is no dataclass, which takes long to make.
    """

    def __init__(self, **values: Any) -> None:
        """Set what was given; the rest has its default."""
        vars(self).update(values)

    @classmethod
    @cache
    def fields(cls) -> dict[str, Any]:
        """Return the annotation of each field, in their order."""
        return get_type_hints(cls, include_extras=True)

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """Yield the options as arguments of a function, those of inner classes among them."""
        for name, kind in cls.fields().items():
            if _is_group(kind):
                yield from kind.parameters()
            else:
                default = getattr(cls, name, inspect.Parameter.empty)
                way = inspect.Parameter.POSITIONAL_OR_KEYWORD
                yield inspect.Parameter(name, way, default=default, annotation=kind)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> CommandOptions:
        """Return the options that have these values, among them those of inner classes."""
        kinds = cls.fields().items()
        made = cls(**{n: kind.of(values) if _is_group(kind) else values[n] for n, kind in kinds})
        made.check()
        return made

    def check(self) -> None:
        """Reject values that make no sense, before the command opens or asks anything."""
        _ = self.limits

    def passed_to(self, kind: Callable[..., T], **others: Any) -> T:
        """Return what the library makes of the options that it has arguments for, and of others."""
        return kind(**{**self._arguments_of(kind), **others})

    def over(self, value: T) -> T:
        """Return a dataclass of the library with what was said; None leaves a field as it is."""
        from dataclasses import replace

        arguments = self._arguments_of(type(value)).items()
        return replace(value, **{n: v for n, v in arguments if v is not None})  # type: ignore[type-var]

    def _arguments_of(self, kind: Callable[..., Any]) -> dict[str, Any]:
        names = inspect.signature(kind).parameters.keys() & self.fields().keys()
        return {name: getattr(self, name) for name in names}

    @cached_property
    def limits(self) -> Limits:
        """What may end the run early, and whether it did: made once."""
        return self.passed_to(Limits)

    @property
    def exit_code(self) -> int:
        """130 if somebody ended the run; a limit that was asked for is no failure."""
        return INTERRUPTED if self.limits.reason == "interrupt" else DONE


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, CommandOptions)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of what it takes as CommandOptions.

    Its other arguments stay as they are, and all keep their order.
    """
    kinds = get_type_hints(command, include_extras=True)
    arguments = inspect.signature(command).parameters
    options: list[inspect.Parameter] = []
    for name, argument in arguments.items():
        kind = kinds[name]
        options += kind.parameters() if _is_group(kind) else [argument.replace(annotation=kind)]

    def run(**values: Any) -> None:
        groups = {name: kinds[name] for name in arguments}
        command(**{n: k.of(values) if _is_group(k) else values[n] for n, k in groups.items()})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


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
TimeLimit = Annotated[
    Optional[float],
    typer.Option(help="End after so many seconds, with what is proved by then."),
]
MaxRules = Annotated[
    Optional[int],
    typer.Option(help="End when there are more than so many rules, and keep the first of them."),
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
    from hornlens.models.registry import MODELS  # for this command only

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
