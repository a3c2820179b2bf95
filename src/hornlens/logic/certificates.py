"""Certificates: what may be claimed of all rules of a result together.

One class. It holds what is known (the weakest warrant, what is complete, of what it speaks, what
was left open and why), and whatever is shown, gated or checked asks its properties. `kind` is a
name for JSON that follows from them: nobody else decides anything by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.limits import Reason
from hornlens.logic.coverage import Coverage
from hornlens.logic.grounds import (
    EVERYTHING,
    NOTHING,
    Complete,
    Ending,
    Joint,
    Noise,
    Sieve,
    Trial,
    Word,
)
from hornlens.logic.scopes import CELLS, WORD, Scope, percent
from hornlens.logic.sources import Sources
from hornlens.logic.warrants import WARRANTS, WarrantKind, check_count

SMALLEST = 1e-9
"""The smallest ε and δ that are accepted: less would take more samples than anyone can draw."""
Level: TypeAlias = Literal["exact", "bounded", "tested"]
LEVELS: tuple[Level, ...] = ("exact", "bounded", "tested")
"""What a gate may ask for, the strongest first."""
TITLES = {
    "exact": "Exact",
    "bounded": "Bounded",
    "interrupted": "Interrupted",
    "noisy": "Certain despite noise",
    "pac": "Probably approximately correct",
    "budget_exhausted": "Budget exhausted",
    "explored": "Explored",
    "sifted": "Sifted",
    "tested": "Tested",
    "open": "Open",
    "surrogate": "Rules of a stand-in",
    "partial": "Partial",
    "unanswered": "Unanswered",
    "copied": "Repeats are copies",
    "mixed": "Proved of these replies only",
}
"""For each kind, what people call it."""


@dataclass(frozen=True)
class Certificate:
    """What may be claimed of all rules together: derived from what is known, never chosen.

    `weakest` is the weakest warrant of a listed rule, `complete` what no rule is missing of, and
    `scope` of what all this speaks. `rules` are listed and `open` more are neither proved nor
    broken. `answered` counts the questions that got an answer, and all that were asked (None where
    nobody was asked). `ended` says why the run ended early; of `cells`, `unasked` were not asked.
    `noise`, `joint`, `trial` and `word` say where a claim rests on repeated answers, on samples or
    on what experts said, and `sources` whether one model gave all replies. `coverage` counts what
    the rules decide, where they were looked for until they decide enough.

    >>> EXACT.sentence, EXACT.meets("exact")
    ('Every interpretation was settled, none was left to sampling.', True)
    >>> bounded(2, rules=7).sentence
    'Every rule with at most 2 conditions follows from these.'
    >>> ended_early("time_limit", rules=3).sentence
    'The run was ended by its time limit: these rules hold; there may be more.'
    """

    weakest: WarrantKind = "proved"
    complete: Complete = NOTHING
    scope: Scope = CELLS
    rules: int = field(default=0, compare=False)
    open: int = 0
    answered: tuple[int, int] | None = field(default=None, compare=False)
    ended: Ending | None = None
    cells: int | None = None
    unasked: int = 0
    noise: Noise | None = None
    joint: Joint | None = None
    trial: Trial | None = None
    word: Word | None = None
    sift: Sieve | None = None
    sources: Sources | None = None
    coverage: Coverage | None = None

    def __post_init__(self) -> None:
        """Reject a claim that contradicts what it rests on."""
        if self.weakest not in WARRANTS:
            raise ValueError(f"weakest is {', '.join(WARRANTS)}, not {self.weakest!r}")
        for name in ("rules", "open", "unasked"):
            check_count(name, getattr(self, name))
        if self.cells is not None:
            check_count("cells", self.cells)
        if self.answered is not None:
            answers, questions = self.answered
            check_count("answered", answers)
            check_count("answered", questions)
            if answers > questions:
                raise ValueError("more answers than questions")
        rests_on_chance = self.joint is not None or self.trial is not None
        if self.complete and (self.weakest == "open" or rests_on_chance):
            raise ValueError("what is not proved is not complete")
        if self.complete.decides and self.weakest != "proved":
            raise ValueError("rules that are not proved decide nothing")
        whole = self.complete.every or self.complete.decides
        if whole and (self.ended or self.unasked or self.undecided):
            raise ValueError("a run that left something open is not complete")

    # --- what is asked of it ---

    @property
    def unanswered(self) -> bool:
        """Whether no question got an answer: then nothing is known of the target."""
        return self.answered is not None and not self.answered[0]

    @property
    def proved(self) -> bool:
        """Whether every listed rule holds of all that the scope names."""
        return self.weakest == "proved" and not self.unanswered

    @property
    def undecided(self) -> int:
        """How many prompts have an answer that is not known."""
        return 0 if self.noise is None else self.noise.undecided

    @property
    def stopped(self) -> Reason | None:
        """Which limit ended the run; None where it, or its oracle's budget, came to its end."""
        return None if self.ended is None or self.ended.after is not None else self.ended.reason

    @property
    def refused(self) -> bool:
        """Whether the last equivalence query was not asked, because there was no budget for it."""
        return self.ended is not None and self.ended.after is not None and not self.ended.samples

    @property
    def samples(self) -> int:
        """How many samples the last equivalence query drew."""
        drawn = self.joint or self.ended
        return 0 if drawn is None else drawn.samples or 0

    @property
    def certain(self) -> bool:
        """Whether nothing rests on chance, on repeated answers or on somebody's word."""
        return not (self.noise or self.joint or self.trial or self.word or self.sift)

    @property
    def single(self) -> bool:
        """Whether nothing shows that several models, or states of one, gave the answers."""
        return self.sources is None or self.sources.one

    @property
    def settled(self) -> bool:
        """Whether all of it was looked at and decided: then what no answer breaks, holds."""
        looked = self.proved and self.certain and not (self.ended or self.unasked)
        return looked and bool(self.complete)

    @property
    def all_rules(self) -> bool:
        """Whether every Horn rule that holds follows from the rules."""
        return self.settled and self.complete.every

    @property
    def has_all(self) -> bool:
        """Whether no rule of what it speaks of is missing, on whatever the claim rests."""
        return self.complete.every and not (self.unanswered or self.ended or self.open)

    def meets(self, level: Level) -> bool:
        """Return whether the claim is as strong as a level that a gate may ask for.

        *exact*: proved of all of the target itself, every rule there or every cell decided, and
        nothing shows that several models gave the answers.
        *bounded*: proved, and every rule within bounds. *tested*: each rule is proved or has a
        bound, or all err together on little, and the run came to its end.
        """
        if level not in LEVELS:
            raise ValueError(f"a level is {', '.join(LEVELS)}, not {level!r}")
        if self.unanswered or not self.scope.direct:
            return False
        proved = self.proved and self.certain and self.scope.whole and not self.ended
        if level == "exact":
            whole = self.complete.every or self.complete.decides
            return proved and not self.unasked and whole and self.single
        if level == "bounded":
            return proved and bool(self.complete)
        if self.noise is not None and self.noise.alpha is None:
            return False
        shown = self.trial or self.joint or self.sift
        bounded = self.weakest == "proved" or shown is not None
        return bounded and not self.ended and not self.complete.unsettled

    @property
    def about_itself(self) -> Certificate:
        """The same claim, of whatever it is made of: a stand-in counts as what is meant."""
        return self if self.scope.direct else replace(self, scope=CELLS)

    @property
    def strength(self) -> int:
        """How many of the levels it meets: for the weakest of several."""
        return sum(map(self.meets, LEVELS))

    # --- what it is called ---

    @property
    def kind(self) -> str:
        """The name in JSON. Where several fit, the weakest."""
        if self.unanswered:
            return "unanswered"
        if self.sift is not None:
            return "sifted"
        if self.joint is not None:
            return "pac"
        if self.ended is not None:
            return "budget_exhausted" if self.ended.after is not None else "interrupted"
        if self.word is not None:
            return "explored"
        if self.noise is not None:
            return "noisy" if self.noise.copied is None else "copied"
        if self.weakest != "proved":
            return self.weakest
        if not self.complete:
            return "partial"
        if not self.scope.direct:
            return "surrogate"
        if not self.scope.whole:
            return "partial"
        if not self.single:
            return "mixed"
        return "exact" if self.complete.every or self.complete.decides else "bounded"

    @property
    def title(self) -> str:
        """The name for people."""
        return TITLES.get(self.kind) or self.kind.replace("_", " ").capitalize()

    # --- what it says ---

    @property
    def sentence(self) -> str:
        """What is claimed, in words that claim no more."""
        parts = [self._claim]
        if self.sources is not None and not self.unanswered:
            parts.append(self.sources.sentence)
        if self.coverage is not None:
            parts.append(self.coverage.sentence)
        return " ".join(filter(None, parts))

    @property
    def _claim(self) -> str:
        """What is claimed of the answers, whoever gave them."""
        if self.unanswered:
            questions = (self.answered or (0, 0))[1]
            if not questions and self.ended is not None:
                return (
                    f"The run was ended {self.ended.words}, before any question was answered: "
                    "nothing is known of the target."
                )
            if not questions:
                return "Nothing was asked: nothing is known of the target."
            only = ", and the rules only say what no answer counts as" if self.rules else ""
            return (
                f"None of {plural(questions, 'question')} was answered: nothing is known of the "
                f"target{only}."
            )
        if self.sift is not None:
            early = f"The run was ended {self.ended.words}. " if self.ended else ""
            tested = self.weakest != "proved" or self.sift.almost > 0
            return self._about(early + self.sift.sentence(self.rules, self.open, tested))
        if self.joint is not None:
            return self.joint.sentence(self.open)
        if self.word is not None and self.ended is None:
            return self.word.sentence(self.open)
        if self.noise is not None:
            return self.noise.sentence(self.complete.which.rstrip(","), self._left_out)
        if self.trial is not None:
            early = f"The run was ended {self.ended.words}. " if self.ended else ""
            return self._about(f"{early}{self.trial.sentence}")
        if self.ended is not None:
            return self._about(self._ended(self.ended))
        if self.weakest == "open":
            return "No recorded answer breaks these rules, and nothing proves them."
        if self.weakest == "tested":
            return "Each of these rules is proved, or was tested; others may be missing."
        return self._about(self._settled())

    @property
    def together(self) -> str:
        """What the rules say together, for a page that lists them: nothing more than is claimed."""
        if self.unanswered or self.weakest == "open":
            return "They are not proved, and others may be missing."
        if self.sift is not None:
            return self.sift.together(self.open)
        if self.weakest != "proved":
            return "They are tested, not proved, and others may be missing."
        if self.all_rules:
            return "Together they are complete: every other Horn rule that holds follows from them."
        if self.settled and self.complete.decides:
            return "Together they decide every cell."
        if self.word is not None:
            also = "; then every other rule that holds follows from them" if self.has_all else ""
            return f"They hold if what was answered is true{also}."
        if self.noise is not None:
            return "They are certain; what else is possible is listed apart."
        if self.complete and not self.ended:
            which = self.complete.which.rstrip(",")
            return f"Every {which} follows from them; longer or rarer rules may hold as well."
        return "Each of them holds; others may be missing."

    def _settled(self) -> str:
        """What is claimed where nothing was left to chance and nobody ended the run."""
        complete = self.complete
        if complete.unsettled:
            sets = f"{complete.unsettled:,} sets of {complete.short or 'conditions'}"
            return (
                f"Every one of these rules is proved{self._of()}; {sets} were too hard to settle, "
                "so that rules may be missing."
            )
        if complete.decides and self.cells is not None:
            cells = f"{self.cells:,} {'cell was' if self.cells == 1 else 'cells were'} asked"
            return f"{cells}, {self.scope.words}." if self.scope.words else f"{cells}."
        if complete.decides:
            return "The rules decide every cell."
        if complete.every:
            return "Every interpretation was settled, none was left to sampling."
        if not complete:
            return "Each of these rules holds; others may be missing."
        if not self.rules:
            return f"There is no {complete.which.rstrip(',')}{self._of(': proved')}."
        if self.scope.words:
            here = f"Every {complete.which} is here, or follows from one that is"
            return f"{here}{self._of(': proved')}."
        return f"Every {complete.which} follows from these."

    def _of(self, lead: str = "") -> str:
        words = self.scope.words
        if not words or words.startswith("of "):
            return f"{lead}, {words}" if words else ""
        return f"{lead} over the cells, {words}"

    def _about(self, claim: str) -> str:
        """Return a claim, and of what it is true."""
        scope, agreement = self.scope, self.scope.agreement
        if scope.of in ("every input", "plausible") and self.complete.decides:
            return (
                f"{claim[:-1]}; with {scope.how}, that is {scope.inputs}: the rules decide all as "
                "the model does."
            )
        if scope.of == "cells" and scope.assumed:
            return f"{claim} That is of the cells that the background allows."
        if scope.direct and agreement is not None and agreement.ruled is not None:
            inputs = plural(agreement.drawn, "uniform input")
            return f"{claim} Of {inputs}, the rules are right on {percent(agreement.ruled)}."
        if scope.direct:
            return claim
        bins = f" ({scope.how})" if scope.how else ""
        sentence = f"{claim} That is of the binned model{bins}, not of yours"
        if agreement is None:
            return f"{sentence}."
        sentence = f"{sentence}: it {agreement.shares}."
        return f"{sentence} {agreement.varying}" if agreement.varied else sentence

    @property
    def _left_out(self) -> str:
        """What was not asked, and why, in a clause; "" if everything was."""
        cells = f"{self.unasked:,} of {self.cells:,} cells were" if self.unasked else ""
        if self.ended is None:
            return f"{cells} not asked" if cells else ""
        ended = f"The run was ended {self.ended.words}"
        return f"{ended}, before {cells} asked" if cells else ended

    def _ended(self, ended: Ending) -> str:
        if self.weakest == "open" and ended.samples is not None:
            return (
                f"There was no counterexample in the last {ended.samples:,} samples, which are too "
                f"few to claim anything after {ended.queries}."
            )
        if self.weakest == "open":
            return (
                f"The run was {'cut off' if ended.after is not None else 'ended'} {ended.words}: "
                "rules may be missing or too strong."
            )
        text = self._left_out
        more = "there are more" if ended.reason == "max_rules" else "there may be more"
        whatever = " whatever the answers would be" if self.unasked else ""
        hold = f"these rules hold{whatever}"
        if self.word is not None:
            on = f"according to {plural(self.word.answers, 'answer')}"
            hold = f"{on}, these rules hold{self.word.sampling}"
        text += f": {hold}; {more}" if self.rules else ": no rule is proved yet"
        if self.complete.short:
            short = self.complete.short
            text += f", but none with {short}" if self.rules else f", and none has {short}"
        if self.open:
            text += "; the open rules are not proved"
        return f"{text}."

    def __str__(self) -> str:
        """Return the name and the sentence."""
        return f"{self.title}: {self.sentence}"

    # --- JSON ---

    def as_json(self) -> dict[str, Any]:
        """Return the certificate as results have it: its kind, and all that it follows from."""
        content: dict[str, Any] = {"kind": self.kind, "weakest": self.weakest}
        content["complete"] = _known(self.complete)
        content["scope"] = self.scope.as_json()
        content["rules"] = self.rules
        if self.open:
            content["open"] = self.open
        if self.answered is not None:
            content["answered"] = list(self.answered)
        if self.cells is not None:
            content["cells"] = self.cells
        if self.unasked:
            content["unasked"] = self.unasked
        for name in PARTS:
            part = getattr(self, name)
            if part is not None:
                content[name] = _known(part)
        return content


def _known(value: Any) -> dict[str, Any]:
    """Return the fields of a value that are not as by default."""
    values = ((each.name, getattr(value, each.name), each.default) for each in fields(value))
    return {name: given for name, given, default in values if given != default}


PARTS: dict[str, type[Any]] = {
    "ended": Ending,
    "noise": Noise,
    "joint": Joint,
    "trial": Trial,
    "sift": Sieve,
    "word": Word,
    "sources": Sources,
    "coverage": Coverage,
}
"""What a certificate may rest on, by its name in JSON."""
EXACT = Certificate(complete=EVERYTHING)


# --- those that engines, oracles and runs make ---


def bounded(
    max_conditions: int | None = None,
    rules: int = 0,
    min_support: int | None = None,
    unit: str = "",
) -> Certificate:
    """Return the certificate of rules that are proved, and complete within bounds."""
    if max_conditions is None and min_support is None:
        raise ValueError("max_conditions or min_support must be there")
    complete = Complete(max_conditions=max_conditions, min_support=min_support, unit=unit)
    return Certificate(complete=complete, rules=rules)


def ended_early(
    reason: Reason,
    rules: int,
    open: int = 0,
    cells: int | None = None,
    unasked: int = 0,
    max_conditions: int | None = None,
) -> Certificate:
    """Return the certificate of a run that was ended early: its rules are proved, not complete.

    With `max_conditions`, every rule with at most so many follows already.
    """
    return Certificate(
        complete=Complete(max_conditions=max_conditions),
        rules=rules,
        open=open,
        ended=Ending(reason),
        cells=cells,
        unasked=unasked,
    )


def pac(
    epsilon: float,
    delta: float,
    samples: int,
    measures: str | None = None,
    accepted: int | None = None,
    queries: int | None = None,
) -> Certificate:
    """Return the certificate of a hypothesis that samples have found no fault with.

    `queries` counts the equivalence queries that drew samples, among which δ was divided.

    >>> print(pac(epsilon=0.1, delta=0.05, samples=52).sentence)
    With probability 0.95, the rules and the non-Horn negatives beside them err together on at most
    10% of random interpretations.
    """
    joint = Joint(epsilon, delta, samples, measures, accepted, queries=queries)
    return Certificate("open", joint=joint)


def cut_off(equivalence_queries: int, samples: int | None = None) -> Certificate:
    """Return the certificate that claims nothing: the equivalence queries were used up.

    >>> cut_off(20).sentence
    'The run was cut off after 20 equivalence queries: rules may be missing or too strong.'
    """
    reason: Reason = "max_equivalence_queries" if samples is None else "samples"
    return Certificate("open", ended=Ending(reason, equivalence_queries, samples))


def despite_noise(
    prompts: int,
    undecided: int,
    answers: int,
    alpha: float | None = None,
    most: int | None = None,
    drift: float | None = None,
    reasked: int | None = None,
) -> Certificate:
    """Return the certificate of rules that are certain although answers vary; see `Noise`."""
    return Certificate(noise=Noise(prompts, undecided, answers, alpha, most, drift, reasked))


def explored(answers: int, open: int = 0, sampled: int = 0) -> Certificate:
    """Return the certificate of what experts said.

    >>> print(explored(7).sentence)
    According to 7 answers, these rules hold, and every rule that holds follows from these.
    """
    weakest: WarrantKind = "tested" if sampled else "proved"
    return Certificate(weakest, EVERYTHING, scope=WORD, open=open, word=Word(answers, sampled))


def names_cut_off(kind: str) -> bool:
    """Return whether a kind, as summaries of runs keep it, names a run whose budget was used up."""
    return kind == cut_off(0).kind


def check_tolerances(epsilon: float, delta: float) -> None:
    """Refuse an ε or δ for which no schedule can be kept."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not SMALLEST <= value < 1:
            raise HornlensError(
                f"--{name} must lie between {SMALLEST:g} and 1 (exclusive), not {value:g}"
            )
