"""The options that make `extract` compare: two models, or one with an attribute changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from hornlens.cli.options import CommandOptions
from hornlens.counts import plural
from hornlens.errors import HornlensError

if TYPE_CHECKING:
    from hornlens.report.terminal import Terminal
    from hornlens.result import Result
    from hornlens.results.documents.findings import Findings


def show_compared(terminal: Terminal, result: Result) -> None:
    """Print how many answers differ, with the first that do."""
    compared, label = result.question.compared, result.space.label
    if compared is None or label is None:
        return
    same = label.variables.index(next(iter(compared.acts)))
    for world in result.each:
        decided = [(cell, d) for cell, d in world.decisions.items() if d.winner is not None]
        others = [cell for cell, decision in decided if decision.winner != same]
        where = f"{world.world}: " if world.world else ""
        differ = compared.opposites.get(label.variables[same], "differ")
        count = f"{len(others):,} of {plural(len(decided), 'cell')} that were compared"
        terminal.say(f"{where}{compared.start} {differ} in {count}.")
        if others:
            terminal.say("For example:")
            for text in _example(world, others[0]):
                terminal.say(f"  {text}")


def _example(world: Findings, cell: int) -> list[str]:
    """Return the first form of a cell, and the first that was answered otherwise."""
    shown = world.show(cell)
    replies = [world.details[text].reply if text in world.details else "" for text in shown]
    other = next((k for k, reply in enumerate(replies) if reply != replies[0]), None)
    return list(shown[:1]) if other is None else [shown[0], shown[other]]


class ComparisonGroup(CommandOptions):
    """What `extract` compares; without any of them, it extracts the rules of a model."""

    compare_with: Annotated[
        Optional[str],
        typer.Option(
            help="Another model (with --target, another target): the rules say where the two give "
            "the same answer, and where they differ.",
            metavar="SPEC",
        ),
    ] = None
    flip: Annotated[
        Optional[list[str]],
        typer.Option(
            help="The rules say where changing only this attribute changes the answer. With "
            "values, only these are tried. Repeated: changed at once.",
            metavar="ATTRIBUTE[=VALUE,…]",
        ),
    ] = None
    sides: Annotated[
        bool,
        typer.Option("--sides", help="With --compare-with: say who gives which answer, too."),
    ] = False
    silence: Annotated[
        Literal["apart", "answer"],
        typer.Option(
            help="Comparing: no answer is nothing to compare, or an answer like the others."
        ),
    ] = "apart"

    def check(self) -> None:
        """Reject what does not go together."""
        if self.compare_with is not None and self.flip:
            raise HornlensError("--compare-with and --flip are two questions: ask one at a time")
        if self.sides and self.compare_with is None:
            raise HornlensError("--sides goes with --compare-with")
        if self.silence != "apart" and not self.compares:
            raise HornlensError("--silence goes with --compare-with or --flip")

    @property
    def compares(self) -> bool:
        """Whether anything is compared."""
        return self.compare_with is not None or bool(self.flip)

    def check_alone(self, **others: object) -> None:
        """Reject options that nothing can be compared with, by the names of those given."""
        given = [name for name, value in others.items() if value]
        if self.compares and given:
            is_pair = self.compare_with is not None
            own = "--compare-with" if is_pair else "--flip"
            message = f"--{given[0].replace('_', '-')} cannot be used with {own}"
            if "dry_run" in given:
                times = "both models" if is_pair else "each value of the attribute"
                message += f": plan without it, and count every question for {times}"
            raise HornlensError(message)

    def asking(self, opened: Callable[[str], Any], asked: Any) -> Callable[..., Any]:
        """Return the function of the library that asks; `opened` opens what it is compared with."""
        from hornlens.api import extract
        from hornlens.differing import changes, differences

        if self.compare_with is not None:
            other = opened(self.compare_with)
            return partial(differences, asked, other, sides=self.sides, silence=self.silence)
        if self.flip:
            names, values = self._flipped()
            return partial(changes, asked, names, values=values, silence=self.silence)
        return partial(extract, asked)

    def _flipped(self) -> tuple[Sequence[str], Sequence[str] | None]:
        """Return the attributes that are changed, and the values that are tried."""
        names = list(self.flip or ())
        parted = [name.split("=", 1) for name in names]
        if all(len(parts) == 1 for parts in parted):
            return names, None
        if len(parted) > 1:
            raise HornlensError("--flip: values can be chosen for one attribute only")
        name, values = parted[0]
        return [name], [value.strip() for value in values.split(",") if value.strip()]
