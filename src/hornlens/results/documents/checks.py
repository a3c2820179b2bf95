"""What became of requirements: outcomes that say themselves in plain lines, as one document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hornlens.formats.plain import one_line
from hornlens.results.documents.codec import Codec
from hornlens.results.documents.flips import FlipPair
from hornlens.results.wording.odds import odds_of_lead

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

Kind = Literal["forbid", "require", "invariant", "at_least", "rules", "answered"]
Status = Literal["holds", "vacuous", "almost", "tested", "broken", "unknown"]


@dataclass(frozen=True)
class ShownAnswer:
    """An answer that an outcome rests on: what was asked, and what was said.

    `margin` is by how much a rule held there, and `odds` the same as odds, where scores are
    log-probabilities; `variant` the way of asking, if there are several.
    """

    prompts: tuple[str, ...]
    said: str
    margin: float | None = None
    variant: str = ""
    odds: str = ""

    @classmethod
    def of(cls, world: Findings, cell: int, margin: float | None = None) -> ShownAnswer:
        """Return the answer that one way of asking gave about a cell."""
        odds = "" if margin is None or not world.in_odds else odds_of_lead(margin)
        return cls(world.show(cell), world.reply_to(cell), margin, world.world, odds)

    @classmethod
    def of_row(cls, row: Mapping[str, Any], said: str) -> ShownAnswer:
        """Return what was said of a row: a value for each column."""
        return cls((", ".join(f"{name} = {value}" for name, value in row.items()),), said)

    def __str__(self) -> str:
        """Return the answer in a line."""
        asked = " / ".join(map(one_line, self.prompts))
        lead = "" if self.margin is None else f", by {self.odds or f'{self.margin:.3g}'}"
        variant = f" [{one_line(self.variant)}]" if self.variant else ""
        return f"“{asked}” → {one_line(self.said)}{lead}{variant}"


@dataclass(frozen=True)
class Flip:
    """Two cells that should be answered alike, and are not."""

    first: ShownAnswer
    second: ShownAnswer

    @classmethod
    def of(cls, pair: FlipPair) -> Flip:
        """Return a pair as answers: its prompts or, where there are none, its values."""
        if not pair.shown:
            return cls(
                ShownAnswer.of_row(pair.first, pair.said_first),
                ShownAnswer.of_row(pair.second, pair.said_second),
            )
        first, second = pair.shown
        return cls(
            ShownAnswer(first, pair.said_first, None, pair.variant),
            ShownAnswer(second, pair.said_second, None, pair.variant),
        )

    def __str__(self) -> str:
        """Return both answers in a line."""
        return f"{self.first}, but {self.second}"


@dataclass(frozen=True)
class CheckOutcome:
    """What became of one requirement.

    `status` is that of what was required or forbidden: it holds, holds only because what it speaks
    of never occurs, holds almost (where that was asked for), is tested with a bound, is broken by
    an answer, or is unknown. `finding`
    says what was found. Of `count` answers, or flips, that show it among `of`, the first and the
    closest call are listed; of what almost holds, all exceptions.

    >>> from hornlens import extract
    >>> result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> [outcome] = result.check({"forbid": ["male -> false"]}).outcomes
    >>> outcome.status, outcome.passed
    ('holds', False)
    """

    kind: Kind
    what: str
    passed: bool
    status: Status
    finding: str
    because: str = ""
    line: int | None = None
    count: int = 0
    of: int = 0
    answers: tuple[ShownAnswer, ...] = ()
    flips: tuple[Flip, ...] = ()

    @property
    def title(self) -> str:
        """The requirement in a line: "forbid nurse ∧ male → ⊥"."""
        return one_line(f"{self.kind} {self.what}")

    @property
    def details(self) -> list[str]:
        """What was found; of a violation also why it was required, and the evidence: as lines."""
        lines = [one_line(self.finding)]
        if self.passed:
            return lines
        if self.because:
            lines.append(f"because: {one_line(self.because)}")
        shown: tuple[object, ...] = self.answers or self.flips
        return lines + [f"- {each}" for each in shown]


@dataclass(frozen=True, repr=False)
class Checked:
    """A result held against requirements; true if it obeys them all.

    `assert result.check("rules.yaml")` names in pytest what was violated;
    `raise_if_violated()` shows the evidence too.

    >>> from hornlens import extract
    >>> result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> checked = result.check({"require": ["male -> false"], "at_least": "exact"})
    >>> bool(checked), checked.summary
    (True, 'none of 2 requirements violated')
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("passed",)
    name: str
    outcomes: tuple[CheckOutcome, ...]
    path: str = ""
    """The file that has the requirements; "" where there is none."""
    verified: str = ""
    """How far the result was verified before: the status of `verify`; "" where nobody did."""
    digest: str = ""
    """That of the result, where it was read from a file: `name` is its path then."""

    @property
    def passed(self) -> bool:
        """Whether no requirement is violated."""
        return not self.violations

    @property
    def violations(self) -> tuple[CheckOutcome, ...]:
        """The outcomes of the requirements that are violated."""
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)

    @property
    def summary(self) -> str:
        """How many requirements there are, and how many are violated."""
        of = f"{len(self.outcomes)} requirement{'' if len(self.outcomes) == 1 else 's'}"
        return f"{len(self.violations) or 'none'} of {of} violated"

    @property
    def caveat(self) -> str:
        """What was not verified of the result, in a sentence; "" if it was recomputed."""
        words = CAVEATS.get(self.verified)
        return f"{words}: --against FILE recomputes it." if words else ""

    def raise_if_violated(self) -> None:
        """Raise an AssertionError with all violations and their evidence, if there are any."""
        if not self.passed:
            raise AssertionError(f"{one_line(self.name)}: {self.summary}\n{self._text(False)}")

    def _text(self, passed_too: bool = True) -> str:
        return "\n".join(self._lines(passed_too))

    def _lines(self, passed_too: bool) -> Iterator[str]:
        for outcome in self.outcomes:
            if outcome.passed and not passed_too:
                continue
            place = f":{outcome.line}" if outcome.line else ""
            where = f" ({one_line(self.path)}{place})" if self.path else ""
            yield f"{'ok      ' if outcome.passed else 'VIOLATED'} {outcome.title}{where}"
            yield from (f"         {line}" for line in outcome.details)

    def __bool__(self) -> bool:
        """Say whether no requirement is violated."""
        return self.passed

    def __str__(self) -> str:
        """Return every outcome with its evidence, as lines."""
        caveat = f"{self.caveat}\n" if self.caveat else ""
        return f"{one_line(self.name)}: {self.summary}.\n{caveat}{self._text()}"

    def __repr__(self) -> str:
        """Say in a line what is violated."""
        names = "; ".join(outcome.title for outcome in self.violations)
        return f"<Checked: {self.summary}{': ' if names else ''}{names}>"


CAVEATS = {
    "intact": "Only the shape and the digest of this result were verified",
    "unchecked": "Only the shape of this result was verified; it has no digest",
}
"""By the status of a result that was not recomputed."""


@dataclass(frozen=True)
class Checks:
    """Several results held against the same requirements: what `hornlens check` writes as JSON."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("passed",)
    requirements: str
    results: tuple[Checked, ...]
    requirements_digest: str = ""
    """The SHA-256 of the file that has the requirements."""

    @property
    def passed(self) -> bool:
        """Whether no result violates a requirement."""
        return all(checked.passed for checked in self.results)


CHECKS = Codec(Checks, "check.json")
