"""A learner's events as a text that a student can follow with the algorithm beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hornlens.counts import plural
from hornlens.learning.events import (
    Asked,
    Conjectured,
    CounterexampleTaken,
    Ended,
    Event,
    NegativeSet,
    RuleAdded,
    RuleChanged,
    RuleRetired,
)
from hornlens.logic.certificates import Certificate
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.terminal import show_set

QUESTION = "Is the hypothesis equivalent to the target?"


def trace_lines(events: Iterable[Event], vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the trace of a run, line by line."""
    number = 0

    def name(x: int) -> str:
        return show_set(vocabulary.names_of(x))

    yield "E⁺: positive examples, E⁻: negative, E^nh: non-Horn. H is empty and accepts everything."
    for event in events:
        match event:
            case Conjectured(number, theory):
                if number > 1:
                    yield f"      H: {plural(len(theory), 'rule')}."
            case CounterexampleTaken(taken, x, positive):
                kind = "positive" if positive else "negative"
                yield f"{taken:>4}  {QUESTION}  No: {name(x)}, {kind}."
                if positive:
                    yield f"      {name(x)} joins E⁺: rules that it breaks are weakened."
            case Asked(batch, answers, needed):
                for question, answer in zip(batch[:needed], answers, strict=False):
                    yield f"      Is {name(question)} accepted?  {'Yes' if answer else 'No'}."
            case NegativeSet(position, None, after):
                yield f"      {name(after)} is appended to E⁻ as e{position + 1}."
            case NegativeSet(position, int(before), after):
                yield f"      e{position + 1} = {name(before)} is refined to {name(after)}."
            case RuleAdded(_, rule) | RuleChanged(_, _, rule):
                yield f"      H has now {rule.show(vocabulary)}"
            case RuleRetired(_, e):
                yield (
                    f"      {name(e)} is an intersection of positives: it moves to E^nh, "
                    "Q rejects it."
                )
            case Ended(certificate):
                yield f"{number:>4}  {QUESTION}  {_last_answer(certificate)}"


def _last_answer(certificate: Certificate) -> str:
    if certificate.all_rules:
        return "Yes."
    if certificate.refused:
        return "The budget is used up; the run ends here."
    if certificate.stopped is not None:
        return "There was no answer any more: the run was ended."
    return f"No counterexample in {plural(certificate.samples, 'sample')}."
