"""What is claimed of a classifier: of its bins, of its rules, of single features; in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Agreement:
    """How often the binned classifier says what the classifier itself says.

    `rows`: of the rows of X; `uniform`: of `drawn` random inputs, each column uniform between its
    least and largest value. Of `cells` cells that these lie in, `mixed` have points with other
    classes than the point that stands for the cell.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("sentence",)
    rows: float
    uniform: float
    drawn: int
    cells: int
    mixed: int

    @property
    def sentence(self) -> str:
        """What was found."""
        return (
            f"It agrees with yours on {percent(self.rows)} of the rows and "
            f"{percent(self.uniform)} of {self.drawn:,} uniform inputs; "
            f"{self.mixed:,} of {self.cells:,} cells that were looked at have points of several "
            "classes."
        )


@dataclass(frozen=True)
class Claim:
    """What is claimed: `kind` is exact, bounded or pac, as certificates have it."""

    kind: str
    title: str
    sentence: str
    proved: bool
    """Whether every rule holds of every cell that it speaks of."""
    complete: bool
    """Whether the rules say all that was to be said: every cell, or every rule so short."""
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return it as explanation.json has it."""
        found = asdict(self)
        return {**found.pop("details"), **found}

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Claim:
        """Return what `as_json` wrote; a ValueError if it is none."""
        own = ("kind", "title", "sentence", "proved", "complete")
        kinds = (str, str, str, bool, bool)
        for name, kind in zip(own, kinds, strict=True):
            if not isinstance(line.get(name), kind):
                raise ValueError(f"has a certificate without {name}")
        if line["kind"] not in ("exact", "bounded", "pac"):
            raise ValueError(f"has a certificate of an unknown kind: {line['kind']!r}")
        details = {name: value for name, value in line.items() if name not in own}
        kind, title, sentence, proved, complete = (line[name] for name in own)
        return cls(kind, title, sentence, proved, complete, details)

    def __str__(self) -> str:
        """Return it as people read it."""
        return f"{self.title}: {self.sentence}"


@dataclass(frozen=True)
class FlipPair:
    """Two inputs that differ in one feature only, and what is said of each."""

    first: Mapping[str, Any]
    said_first: str
    second: Mapping[str, Any]
    said_second: str


@dataclass(frozen=True)
class Flips:
    """What changing one feature does; false if it never changes the decision.

    `rows` of `of_rows` rows of X get another class if only this feature is changed. `pairs` of
    `of_pairs` pairs of cells that differ only in it have different classes; None where not all
    cells could be asked. `proved`: whether this is so of all inputs, and not of some.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("ever", "sentence")
    feature: str
    rows: int
    of_rows: int
    pairs: int | None
    of_pairs: int | None
    proved: bool
    every_input: bool
    examples: tuple[FlipPair, ...]

    @property
    def ever(self) -> bool:
        """Whether the decision changes somewhere."""
        return bool(self.examples)

    def __bool__(self) -> bool:
        """Say whether the decision changes somewhere."""
        return self.ever

    @property
    def sentence(self) -> str:
        """What was found."""
        name = self.feature
        about = "for every input" if self.every_input else "for the binned model"
        if not self.ever:
            if self.proved:
                return f"Changing only {name} never changes the decision: proved, {about}."
            return (
                f"Changing only {name} changed the decision for none of {self.of_rows:,} rows; "
                "that it never does is not proved."
            )
        text = (
            f"Changing only {name} changes the decision for {self.rows:,} of {self.of_rows:,} rows "
            f"({percent(self.rows / max(1, self.of_rows))})"
        )
        if self.pairs is not None and self.of_pairs:
            text += f", and in {self.pairs:,} of {self.of_pairs:,} pairs of cells that differ in it"
        return f"{text}."

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence


def percent(share: float) -> str:
    """Return a share that is said to be 100% only if it is."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(100 * share, 0.01), 99.99):.2f}%"
