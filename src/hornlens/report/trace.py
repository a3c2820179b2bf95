"""A learner's trace as a text that a student can follow with the algorithm beside it."""

from __future__ import annotations

from collections.abc import Iterator

from hornlens.learning.protocol import Learned, Step
from hornlens.logic.envelope import Certificate
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.terminal import plural, show_set

QUESTION = "Is the hypothesis equivalent to the target?"


def trace_lines(
    learned: Learned, certificate: Certificate, vocabulary: Vocabulary
) -> Iterator[str]:
    """Yield the trace, line by line."""
    yield "E⁺: positive examples, E⁻: negative, E^nh: non-Horn. H is empty and accepts everything."
    for step in learned.trace:
        yield from _step_lines(step, vocabulary)
    match certificate.kind:
        case "exact":
            answer = "Yes."
        case "pac":
            answer = f"No counterexample in {plural(certificate.details['samples'], 'sample')}."
        case _:
            answer = "The budget is used up; the run ends here."
    yield f"{len(learned.trace) + 1:>4}  {QUESTION}  {answer}"


def _step_lines(step: Step, vocabulary: Vocabulary) -> Iterator[str]:
    def name(x: int) -> str:
        return show_set(vocabulary.names_of(x))

    x = name(step.counterexample)
    kind = "positive" if step.positive else "negative"
    yield f"{step.number:>4}  {QUESTION}  No: {x}, {kind}."
    if step.positive:
        yield f"      {x} joins E⁺: rules that it breaks are weakened."
    for question, answer in step.asked:
        yield f"      Is {name(question)} accepted?  {'Yes' if answer else 'No'}."
    if step.position is not None:
        place = f"e{step.position + 1}"
        if step.before is None:
            yield f"      {x} is appended to E⁻ as {place}."
        else:
            assert step.after is not None
            yield f"      {place} = {name(step.before)} is refined to {name(step.after)}."
    for rule in step.changed:
        yield f"      H has now {rule.show(vocabulary)}"
    for e in step.retired:
        yield f"      {name(e)} is an intersection of positives: it moves to E^nh, Q rejects it."
    yield f"      H: {plural(step.size, 'rule')}."
