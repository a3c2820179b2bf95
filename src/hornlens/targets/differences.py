"""Two targets as one: its label says whether they answer alike.

So the rules of this target say where two models, or two versions of one, never give different
answers, and where they always do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hornlens.errors import HornlensError, InputError
from hornlens.logic.space import Space
from hornlens.results.analysis.flips import labels_of
from hornlens.results.documents.question import ComparedAnswers
from hornlens.targets.classifiers.merging import on_one_grid
from hornlens.targets.classifiers.target import ClassifierTarget
from hornlens.targets.comparing import Comparing, Form, PromptedComparing, Silence, with_label
from hornlens.targets.protocol import PromptTarget, Target
from hornlens.targets.worlds import Worlds

SAME, DIFFER = "same", "differ"
MOST_SIDES = 4
"""With more labels than this, who says what makes too many kinds of differences."""


@dataclass(eq=False)
class DifferencesTarget(Comparing):
    """Asks two targets over the same cells; its label "answers" is *same* or *differ*.

    With `sides`, a difference also says who gives which answer: *same*, or *old yes, new no*, and
    so on. Where only one of the two gives an answer, there is nothing to compare; with
    `silence="answer"`, no answer is an answer like others, and that is a difference.

    >>> from hornlens import FunctionTarget, Nominal, Space, extract
    >>> space = Space((Nominal("job", ("nurse", "pilot")),), Nominal("answer", ("yes", "no")))
    >>> def asks(*jobs):
    ...     return FunctionTarget(lambda names: "yes" if set(names) & set(jobs) else "no", space)
    >>> both = DifferencesTarget(asks("nurse"), asks("nurse", "pilot"), ("old", "new"))
    >>> for rule in extract(both).rules:
    ...     print(rule.sentence)
    old and new give different answers only if job is pilot.
    old and new never give different answers where job is nurse.
    old and new always give different answers where job is pilot.
    """

    first: Target
    second: Target
    names: tuple[str, str] | None = None
    """What the two are called; by default, their own names."""
    sides: bool = False
    silence: Silence = "apart"

    def __post_init__(self) -> None:
        """Refuse two targets that answer different questions."""
        _check_alike(self.first, self.second)
        if self.sides and len(self._labels) > MOST_SIDES:
            raise HornlensError(
                f"sides: {len(self._labels)} labels make too many kinds of differences, "
                f"{MOST_SIDES} labels at most"
            )
        self._prepare()

    @property
    def parts(self) -> tuple[Target, ...]:  # type: ignore[override]
        """The two targets."""
        return self.first, self.second

    @cached_property
    def called(self) -> tuple[str, str]:
        """The names of the two, which are not the same."""
        first, second = self.names or (self.first.name, self.second.name)
        return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.called[0]} and {self.called[1]}"

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return labels_of(self.first.space)

    @cached_property
    def _sides(self) -> list[tuple[int, int]]:
        """The pairs of different answers, by place; -1 for none, where that is an answer."""
        places = [*range(len(self._labels)), *([-1] if self.silence == "answer" else [])]
        return [(a, b) for a in places for b in places if a != b]

    @cached_property
    def space(self) -> Space:
        """The cells of both, with the label that says whether they differ."""
        own, (first, second) = self.first.space, self.called
        values = [SAME, DIFFER]
        if self.sides:
            pairs = [(self._say(a), self._say(b)) for a, b in self._sides]
            values = [SAME, *(f"{first} {a}, {second} {b}" for a, b in pairs)]
        return with_label(own.attributes, "answers", values, own.assumed, own.complete)

    def _say(self, place: int) -> str:
        return "no answer" if place < 0 else self._labels[place]

    def _quoted(self, place: int) -> str:
        """Return an answer in its own words, for sentences."""
        if place < 0:
            return "nothing"
        question, name = getattr(self.first, "question", None), self._labels[place]
        return f"“{name if question is None else question.words.get(name, name)}”"

    @cached_property
    def compared(self) -> ComparedAnswers:
        """That they give the same answer, or different ones."""
        assert self.space.label is not None
        same, *others = self.space.label.variables
        acts, differ = {same: "give the same answer"}, "give different answers"
        if self.sides:
            for name, pair in zip(others, self._sides, strict=True):
                one, two = (self._quoted(place) for place in pair)
                acts[name] = f"say {one} ({self.called[0]}) and {two} ({self.called[1]})"
        else:
            acts[others[0]] = differ
        return ComparedAnswers(self.name, acts, {same: differ}, proper=True)

    @property
    def form_count(self) -> int:
        """The two."""
        return 2

    def forms(self, cell: int) -> Sequence[Form]:
        """Return the two questions: the cell, put to each."""
        return Form(0, cell, self.called[0]), Form(1, cell, self.called[1])

    def label(self, places: Sequence[int]) -> int:
        """Return the label of two different answers."""
        return 1 + self._sides.index((places[0], places[1])) if self.sides else 1

    @cached_property
    def _in_first(self) -> list[int]:
        """For each label of the second target, its place in the first."""
        return [self._labels.index(name) for name in labels_of(self.second.space)]

    def _place_in_first(self, part: int, winner: int) -> int:
        return self._in_first[winner] if part else winner


class PromptedDifferences(DifferencesTarget, PromptedComparing):
    """The same, where one of the two at least is asked in prompts."""


def differences_of(first: Target, second: Target, **options: Any) -> Target:
    """Return two targets as one; of targets with several ways of asking, one for each way.

    Two classifiers are compared over the thresholds of both.

    `options` are those of `DifferencesTarget`.
    """
    if isinstance(first, Worlds) or isinstance(second, Worlds):
        return _in_each_world(first, second, options)
    if isinstance(first, ClassifierTarget) and isinstance(second, ClassifierTarget):
        first, second = on_one_grid(first, second)
    prompted = isinstance(first, PromptTarget) or isinstance(second, PromptTarget)
    return (PromptedDifferences if prompted else DifferencesTarget)(first, second, **options)


def _in_each_world(first: Target, second: Target, options: dict[str, Any]) -> Worlds:
    if not (isinstance(first, Worlds) and isinstance(second, Worlds)) or list(
        first.targets
    ) != list(second.targets):
        raise HornlensError(f"{first.name} and {second.name} are not asked in the same ways")
    options.setdefault("names", (first.name, second.name))
    pairs = {
        name: differences_of(one, second.targets[name], **options)
        for name, one in first.targets.items()
    }
    return Worlds(next(iter(pairs.values())).name, pairs, first.noun)


def _check_alike(first: Target, second: Target) -> None:
    """Refuse targets of other cells or labels."""
    one, two = first.space, second.space
    if (one.attributes, one.complete) != (two.attributes, two.complete):
        raise InputError(f"{first.name} and {second.name} have different attributes")
    if set(one.assumed) != set(two.assumed):
        raise InputError(f"{first.name} and {second.name} have a different background")
    if (one.label is None) != (two.label is None) or set(labels_of(one)) != set(labels_of(two)):
        raise InputError(f"{first.name} and {second.name} have different labels")
