"""A sample of a run's prompts is asked again at its end: whether the model is still the same."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from hornlens.limits import Stopped
from hornlens.logging import get_logger
from hornlens.models.protocol import Answer, ModelError, OtherModel, Rechecks
from hornlens.targets.answers import Answers
from hornlens.targets.prompted import PromptedModel
from hornlens.targets.protocol import Target

AGAIN = 1_000_000
"""The repetition under which a store keeps what is asked again: no run repeats so often."""
_log = get_logger(__name__)


class Rechecked(NamedTuple):
    """How many prompts were asked again, and how many of them got another answer."""

    reasked: int = 0
    changed: int = 0
    asked: int = 0
    """How many of them the model was asked now: the others are kept from an earlier run."""


def recheck(targets: Sequence[Target]) -> list[Rechecked]:
    """Ask some prompts of a run again, in all ways of asking together; return that of each.

    Each model says how many it wants. A run whose answers were all kept begins nothing: then what
    an earlier run has asked again counts. A copy of the first reply tells nothing, and is left
    out. Limits and trouble end it early.
    """
    pool = [
        (place, source, prompt)
        for place, target in enumerate(targets)
        if isinstance(target, PromptedModel) and target.repeats == 1 and not target.drawn
        for source in target.answers[0]
        if isinstance(source.model, Rechecks)
        for prompt in sorted(source.known)
    ]
    outcomes = [Rechecked() for _ in targets]
    if not pool:
        return outcomes
    model = pool[0][1].model
    assert isinstance(model, Rechecks)
    sample = Random(0).sample(pool, model.recheck_count(len(pool)))
    fresh = any(isinstance(t, PromptedModel) and t.asked for t in targets)
    chosen: dict[int, tuple[int, Answers, list[str]]] = {}
    for place, source, prompt in sample:
        chosen.setdefault(id(source), (place, source, []))[2].append(prompt)
    for place, source, prompts in chosen.values():
        again = _again(source, prompts, fresh)
        pairs = [(source.known[prompt], new) for prompt, new in again.known.items()]
        fair = [(old, new) for old, new in pairs if not any(r.copied for r in new.replies)]
        changed = sum(_outcome(old) != _outcome(new) for old, new in fair)
        now = outcomes[place]
        outcomes[place] = Rechecked(
            now.reasked + len(fair), now.changed + changed, now.asked + again.asked
        )
    return outcomes


def _again(source: Answers, prompts: list[str], fresh: bool) -> Answers:
    """Return answers to the same calls, as far as they can be had."""
    again = source.once_more(AGAIN)
    try:
        missing = again.look_up(prompts)
        if missing and (fresh or again.known):  # a run that was killed meanwhile is resumed
            again.ask(missing)
    except OtherModel:
        raise
    except (Stopped, ModelError) as error:  # what was asked before is a result all the same
        _log.info("%s: not all prompts were asked again: %s", source.model.name, error)
    return again


def _outcome(answer: Answer) -> tuple[int | None, str]:
    choice = answer.as_choice()
    return choice.named, choice.outcome
