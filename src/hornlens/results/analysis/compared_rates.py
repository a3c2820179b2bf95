"""Rates of several results side by side: where one gives an answer more often than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornlens.results.analysis.rates import NO_ANSWER, Rates, ValueRate


@dataclass(frozen=True)
class ComparedRate:
    """How often an answer is given with one value, in each of the results that are compared.

    `answer` is a label, or "no answer"; in `given` of `asked` cells with the value it was given,
    result by result.
    """

    attribute: str
    value: str
    answer: str
    given: tuple[int, ...]
    asked: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse more answers than questions."""
        pairs = zip(self.given, self.asked, strict=True)
        if any(not 0 <= given <= asked or not asked for given, asked in pairs):
            raise ValueError(f"has rates of {self.value!r} that cannot be")

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the cells asked, in each result."""
        return tuple(given / asked for given, asked in zip(self.given, self.asked, strict=True))

    @property
    def difference(self) -> float:
        """The highest share minus the lowest."""
        return max(self.shares) - min(self.shares)

    def in_words(self, names: Sequence[str]) -> str:
        """Return it in words, given the names of the results.

        >>> ComparedRate("job", "nurse", "she", (60, 41), (60, 60)).in_words(["old", "new"])
        '“she” with nurse (job): 60 of 60 in old, 41 of 60 in new'
        """
        counts = zip(self.given, self.asked, names, strict=True)
        each = ", ".join(f"{given:,} of {asked:,} in {name}" for given, asked, name in counts)
        what = self.answer if self.answer == NO_ANSWER else f"“{self.answer}”"
        return f"{what} with {self.value} ({self.attribute}): {each}"


def compare_rates(results: Sequence[Rates | None]) -> tuple[ComparedRate, ...] | None:
    """Return the rates that differ, the largest difference first; None: there are none to compare.

    No answer is an answer like the others. Of two labels, one says it all.
    """
    known = [rates for rates in results if rates is not None]
    if len(known) < len(results) or len({rates.labels for rates in known}) > 1:
        return None
    by_value = [
        {(each.attribute, rate.value): rate for each in rates.attributes for rate in each.values}
        for rates in known
    ]
    shared = [key for key in by_value[0] if all(key in other for other in by_value[1:])]
    if not shared:
        return None
    lines = [
        ComparedRate(
            *key,
            answer,
            tuple(_given(values[key], place) for values in by_value),
            tuple(values[key].asked for values in by_value),
        )
        for key in shared
        for place, answer in _answers(known, [values[key] for values in by_value])
    ]
    differing = [line for line in lines if line.difference]
    return tuple(sorted(differing, key=lambda line: -line.difference))


def _answers(known: Sequence[Rates], rates: Sequence[ValueRate]) -> list[tuple[int, str]]:
    """Return the answers whose shares are compared, with their places; no answer is at -1."""
    labels = list(enumerate(known[0].labels))
    silent = any(rate.abstained for rate in rates)
    if len(labels) == 2 and not silent:
        labels = labels[:1]
    return [*labels, *([(-1, NO_ANSWER)] if silent else [])]


def _given(rate: ValueRate, place: int) -> int:
    return rate.abstained if place < 0 else rate.counts[place]
