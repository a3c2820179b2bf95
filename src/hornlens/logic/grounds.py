"""What a certificate rests on: what is complete, why a run ended, noise, samples, experts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from hornlens.counts import plural
from hornlens.limits import ENDED, Reason
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.warrants import OPEN, Warrant, check_count, percentage


def _probability(failure: float) -> str:
    """Return how sure a claim is that fails with such a probability, in all its digits."""
    return f"{Decimal(1) - Decimal(repr(failure)):f}"


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1 (exclusive), not {value:g}")


@dataclass(frozen=True)
class Complete:
    """Of what no rule is missing; false if nothing is promised.

    `every`: all Horn rules that hold follow from the rules. `decides`: the rules decide every cell.
    With `max_conditions` and `min_support`, every rule within those bounds follows; support is
    counted in `unit`s ("" for positive examples). `unsettled` many sets of conditions were given
    up: then nothing is promised.
    """

    every: bool = False
    decides: bool = False
    max_conditions: int | None = None
    min_support: int | None = None
    unit: str = ""
    unsettled: int = 0

    def __post_init__(self) -> None:
        """Reject a promise that cannot be."""
        for name in ("max_conditions", "min_support"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_count("unsettled", self.unsettled)
        if not isinstance(self.every, bool) or not isinstance(self.decides, bool):
            raise ValueError("every and decides must be true or false")
        if self.unit not in ("", "prompts", "cells", "rows"):
            raise ValueError(f"unit must be prompts, cells or rows, not {self.unit!r}")
        if self.unsettled and (self.every or self.decides):
            raise ValueError("what was given up cannot be complete")

    def __bool__(self) -> bool:
        """Return whether anything is promised."""
        bounded = self.max_conditions is not None or self.min_support is not None
        return not self.unsettled and (self.every or self.decides or bounded)

    @property
    def short(self) -> str:
        """The bound on conditions in words: "at most 2 conditions"."""
        return (
            ""
            if self.max_conditions is None
            else f"at most {plural(self.max_conditions, 'condition')}"
        )

    @property
    def which(self) -> str:
        """The rules that are promised, in the singular: "rule with at most 2 conditions"."""
        rule = f"rule with {self.short}" if self.short else "rule"
        if self.min_support and self.unit:
            return f"{rule} that speaks of at least {self.min_support:,} {self.unit}"
        if self.min_support:
            examples = "example has" if self.min_support == 1 else "examples have"
            subject = "which" if self.short else "the conditions of which"
            return f"{rule}, {subject} at least {self.min_support:,} positive {examples},"
        return rule


NOTHING = Complete()
EVERYTHING = Complete(every=True)


@dataclass(frozen=True)
class Ending:
    """Why a run was ended early: a reason, and `after` how many equivalence queries.

    With `samples`, the last query found no counterexample in so many, which are too few to support
    any ε below 1.
    """

    reason: Reason
    after: int | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        """Reject an unknown reason."""
        if self.reason not in ENDED:
            raise ValueError(f"reason must be one of {', '.join(ENDED)}, not {self.reason!r}")
        for name in ("after", "samples"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))

    @property
    def queries(self) -> str:
        """The equivalence queries that were asked, in words."""
        return plural(self.after or 0, "equivalence query")

    @property
    def words(self) -> str:
        """Why, as the end of "the run was ended …"."""
        return ENDED[self.reason] if self.after is None else f"after {self.queries}"


@dataclass(frozen=True)
class Noise:
    """Answers vary: of `prompts`, `undecided` have an answer that is not known.

    With `alpha`, the others were decided by a test of repeated answers, `answers` in all and at
    most `most` of one prompt. With `drift`, one answer with log-probabilities decided each:
    `reasked` of them were asked again, and no lead moved further than that. With `copied`, repeats
    decide nothing: so many replies look like copies of earlier ones.
    """

    prompts: int
    undecided: int
    answers: int
    alpha: float | None = None
    most: int | None = None
    drift: float | None = None
    reasked: int | None = None
    copied: int | None = None

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        some = (self.most or 0, self.reasked or 0, self.copied or 0)
        counts = (self.prompts, self.undecided, self.answers, *some)
        if not all(isinstance(n, int) and n >= 0 for n in counts) or self.undecided > self.prompts:
            raise ValueError("numbers of prompts and answers that cannot be")
        if sum(known is not None for known in (self.alpha, self.drift, self.copied)) != 1:
            raise ValueError("either alpha, drift or copied must be known")
        if self.alpha is not None:
            _check_share("alpha", self.alpha)
        if self.drift is not None and not self.drift >= 0:
            raise ValueError(f"drift must be 0 or more, not {self.drift}")

    def sentence(self, which: str = "rule", left_out: str = "") -> str:
        """What is claimed, on what condition; `which` rules follow from the possible ones.

        That is not claimed where something was left out, which is said first.
        """
        left = f"{self.undecided:,} of {self.prompts:,} prompts"
        covers = "It covers this wording, this snapshot of the model, and this way of asking it."
        early = f"{left_out}: others may be possible. " if left_out else ""
        if self.alpha is not None:
            follows = f", and every {which} that does follows from the possible ones"
            return (
                f"{early}With probability {_probability(self.alpha)} or more, if repeated answers "
                "are independent, each of these rules holds of what is answered most often"
                f"{'' if left_out else follows}; {left} are undecided after {self.most:,} answers "
                f"at most. {covers}"
            )
        if self.copied is not None:
            return (
                f"{early}Repeated replies look like copies of each other ({self.copied:,} of "
                f"{self.answers:,}), so that they decide nothing: {left} are undecided. No "
                f"probability is claimed. {covers}"
            )
        return (
            f"{early}One answer decided each prompt; when {self.reasked:,} were asked again, no "
            f"lead moved by more than {self.drift:.3g}, and {left}, which lead by no more or "
            f"changed, are undecided. No probability is claimed. {covers}"
        )


@dataclass(frozen=True)
class Joint:
    """Rules, open ones among them, and non-Horn negatives err together on at most ε, but for δ.

    `samples` were drawn for the last equivalence query, of which the target accepted `accepted`.
    `measures` says of what ε is a fraction: "interpretations drawn with …". If they are not
    `whole`, only some of the rules that were sampled are here: then the others may be missing, and
    only what breaks a rule is bounded. `queries` equivalence queries drew samples, the last one
    among them: the i-th had the share δ/(i(i+1)) of δ. None: δ was divided in another way.
    """

    epsilon: float
    delta: float
    samples: int
    measures: str | None = None
    accepted: int | None = None
    whole: bool = True
    queries: int | None = None

    def __post_init__(self) -> None:
        """Refuse to claim what is no claim."""
        _check_share("epsilon", self.epsilon)
        _check_share("delta", self.delta)
        if self.queries is not None:
            check_count("queries", self.queries)

    def warrant(self, chance: float | None) -> Warrant:
        """Return what is known of one rule whose left side a sample has with such a chance.

        Whatever breaks it is an error, and has a chance of at most ε. So at most ε by the chance of
        its left side of its own cases break it; from 1 on, that says nothing.
        """
        if chance is None or chance <= self.epsilon:
            return OPEN
        return Warrant("tested", bound=self.epsilon / chance)

    def sentence(self, open: int = 0) -> str:
        """What is claimed, in figures that claim no more; `open` rules are part of it."""
        sure, share = f"With probability {_probability(self.delta)}", percentage(self.epsilon)
        random = f"random {self.measures or 'interpretations'}"
        if not self.whole:
            return (
                f"{sure}, at most {share} of {random} are accepted by the target and break one of "
                "these rules; other rules may be missing."
            )
        rules = "the rules, the open ones" if open else "the rules"
        claim = (
            f"{sure}, {rules} and the non-Horn negatives beside them err together on at most "
            f"{share} of {random}"
        )
        if self.accepted is None:
            return f"{claim}."
        if self.accepted > self.epsilon * self.samples:
            return f"{claim}; the target accepted {self.accepted:,} of the last {self.samples:,}."
        return (
            f"{claim}; but the target accepted only {self.accepted:,} of the last "
            f"{self.samples:,}, so a theory that rejects everything would err on no more of them."
        )


@dataclass(frozen=True)
class Trial:
    """Random cells were asked: each tested rule has at least `least` of them and none against it.

    Over all `candidates` that there can be at once, but for probability `delta`, no listed rule is
    broken by more than `epsilon` of its own cells.
    """

    epsilon: float
    delta: float
    samples: int
    least: int
    max_conditions: int
    candidates: int = 0

    def __post_init__(self) -> None:
        """Refuse to claim what is no claim."""
        _check_share("epsilon", self.epsilon)
        _check_share("delta", self.delta)
        for name in ("samples", "least", "max_conditions", "candidates"):
            check_count(name, getattr(self, name))

    def warrant(self, clean: int) -> Warrant:
        """Return what so many clean cases of a listed rule show of it.

        A rule that more than b of its cells break would have come through with probability
        (1 - b)^n at most; over all candidates, that must not exceed δ.
        """
        bound = self.epsilon
        if self.candidates and clean:
            bound = min(bound, 1 - (self.delta / self.candidates) ** (1 / clean))
        return Warrant("tested", clean, bound)

    @property
    def sentence(self) -> str:
        """What is claimed of each rule by itself."""
        return (
            f"Not proved: {self.samples:,} random cells were asked, each feature uniform over its "
            f"levels. Listed are the rules with at most {plural(self.max_conditions, 'condition')} "
            f"that {self.least:,} or more of them speak for, and none against. With probability "
            f"{_probability(self.delta)}, at most {percentage(self.epsilon)} of the cells that a "
            "rule speaks of break it, and that is so of all rules at once."
        )


@dataclass(frozen=True)
class Sieve:
    """All rules with at most `conditions` conditions on attributes were sifted.

    Of `candidates`, each but the listed and the open ones, and what follows from these, has an
    exception on record: `live` are left. Listed rules are proved, or were tried on cells drawn
    inside them: but for probability `delta`, none is broken by more of its cells than its bound,
    `epsilon` unless it says another. `varies`: asked again, the target may answer something else.
    `almost` many rules with exceptions stand for narrower ones, each with a bound as well.
    `classes`: only rules that say which class (label) is always given were candidates. `alone`:
    this is one of several ways of asking, which were sifted together: then an exception may be on
    record in another one, and only the listed rules are claimed.
    """

    conditions: int
    epsilon: float
    delta: float
    candidates: int
    live: int
    questions: int
    varies: bool = False
    almost: int = 0
    classes: bool = False
    alone: bool = False

    @classmethod
    def of(cls, record: SiftRecord) -> Sieve:
        """Return what a sift with such a record may claim."""
        return cls(
            record.conditions,
            record.epsilon,
            record.delta,
            record.candidates,
            record.live,
            len(record.order),
            record.varies,
            len(record.almost),
            record.classes,
        )

    def __post_init__(self) -> None:
        """Refuse to claim what is no claim."""
        _check_share("epsilon", self.epsilon)
        _check_share("delta", self.delta)
        for name in ("conditions", "candidates", "live", "questions", "almost"):
            check_count(name, getattr(self, name))
        if self.live > self.candidates:
            raise ValueError("more rules are left than there can be")

    @property
    def refuted(self) -> int:
        """How many of the candidates have an exception on record."""
        return self.candidates - self.live

    @property
    def short(self) -> str:
        """Which rules were sifted: "at most 2 conditions on attributes"."""
        return f"at most {plural(self.conditions, 'condition')} on attributes"

    @property
    def which(self) -> str:
        """The rules that were sifted, in the singular: "rule with at most 2 conditions …"."""
        if self.classes:
            return f"rule for a class with at most {plural(self.conditions, 'condition')}"
        return f"rule with {self.short}"

    def sentence(self, rules: int, open: int, tested: bool) -> str:
        """What is claimed of the rules that are listed, those that are open, and all others."""
        parts = []
        if listed := self.listed(rules, tested):
            parts.append(listed)
        if open:
            are = "1 rule is" if open == 1 else f"{open:,} rules are"
            parts.append(f"{are} open: no recorded answer breaks them, and too few were asked")
        parts.append(self.refutes(rules, open))
        return f"{'. '.join(parts)}."

    def listed(self, rules: int, tested: bool) -> str:
        """What is claimed of the listed rules; "" if there are none."""
        if tested:
            cases = "answers in its cases" if self.varies else "cases"
            return (
                f"With probability {_probability(self.delta)}, no listed rule is broken by more of "
                f"its {cases} than its bound says"
            )
        return "Every listed rule is proved: all of its cases were asked" if rules else ""

    def together(self, open: int) -> str:
        """What the listed rules say together."""
        if self.alone:
            return "They hold in every way of asking; others may hold in this one alone."
        from_them = "follows from them and the open ones" if open else "follows from them"
        special = ", or is a special case of a rule with exceptions" if self.almost else ""
        return (
            f"Every {self.which} that holds without exception {from_them}{special}; "
            "longer ones were not looked for."
        )

    def refutes(self, rules: int, open: int) -> str:
        """What became of all candidates but the listed and the open ones: no probability in it."""
        if self.alone:
            return "Rules that hold in this way of asking alone were not looked for"
        if not self.refuted:
            return f"No {self.which} is refuted yet"
        other = "other " if rules or open else ""
        special = "special case of a listed rule with exceptions"
        but = ["what follows from these"] if other else []
        if self.almost:
            but.append(f"what is a {special}" if other else f"every {special}")
        claim = f"No {other}{self.which} holds without exception"
        if but:
            claim += f", but for {' or '.join(but)}"
        return f"{claim}: for each of the {other}{self.refuted:,} an exception is on record"


@dataclass(frozen=True)
class Word:
    """What experts were asked: `answers` in all; `sampled` times yes rests on samples only."""

    answers: int
    sampled: int = 0

    def __post_init__(self) -> None:
        """Reject numbers that cannot be."""
        check_count("answers", self.answers)
        check_count("sampled", self.sampled)

    def sentence(self, open: int = 0) -> str:
        """What is claimed, and on whose word; `open` rules nobody knew."""
        from_these = "these and the open rules" if open else "these"
        return (
            f"According to {plural(self.answers, 'answer')}, these rules hold, and every rule that "
            f"holds follows from {from_these}{self.sampling}."
        )

    @property
    def sampling(self) -> str:
        """How often yes rests on samples, as the end of a sentence; nothing if it never does."""
        if not self.sampled:
            return ""
        many = "1 yes rests" if self.sampled == 1 else f"{self.sampled:,} times yes rest"
        return f"; {many} on samples only"
