"""What was measured, in words: how answers came about, and how many could have broken a rule."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import TYPE_CHECKING

from hornlens.counts import plural
from hornlens.results.wording.odds import odds_of_lead

if TYPE_CHECKING:
    from hornlens.results.analysis.evidence import Evidence
    from hornlens.results.documents.findings import Findings

TOY = "demo:"
"""What the identities of the built-in models begin with."""


def toy_words(result: Findings) -> str:
    """Return that a result is one of a toy, which its name alone does not say; "" if it is not."""
    whole = [(each.name, each.identity or "") for each in (result, *result.worlds)]
    return toys_words(dict(whole[:1] if whole[0][1].startswith(TOY) else whole[1:]))


def toys_words(models: Mapping[str, str]) -> str:
    """Return which of some models, by their identities, are toys; "" if none is.

    >>> toys_words({"demo": "demo:demo:1", "bert": "hf:bert"})[:15]
    'demo is a toy: '
    """
    toys = [name for name, identity in models.items() if identity.startswith(TOY)]
    if not toys:
        return ""
    if len(toys) == 1:
        what, whose = f"{toys[0]} is a toy: a tiny model that comes", "Its rules and rates"
    else:
        what = f"{', '.join(toys[:-1])} and {toys[-1]} are toys: tiny models that come"
        whose = "Their rules and rates"
    return (
        f"{what} with Hornlens, for trying it out. {whose} say nothing about people, nor about any "
        "model that is in use."
    )


def decided_words(result: Findings) -> str:
    """Return how a score, or a reply, becomes an answer; "" where answers are compared."""
    question, policy, unit = result.question, result.policy, result.question.unit
    if question.compared is not None or result.space.label is None or not result.asked:
        return ""
    if not result.scored:
        return _replied_words(result)
    scores = "score"
    if policy.calibration != "none":
        scores += ", less its baseline"
    if question.averaged:
        scores += f", on average over {len(question.templates)} phrasings"
    text = f"The answer to each {unit} is the candidate with the highest {scores}"
    if policy.margin:
        odds = f" ({odds_of_lead(policy.margin)})" if result.in_odds else ""
        text += f", if it leads by {policy.margin:g} or more{odds}"
    else:
        text += ", however small its lead"
    if policy.top_k:
        text += f", and is among the model’s first {policy.top_k} words"
    if policy.margin or policy.top_k:
        text += "; otherwise there is no answer"
    text += "."
    if result.in_odds:
        text += (
            " Odds of 59 : 41 say that the model gives one candidate 59% and the other 41% of "
            "what it gives to both: drawing by chance, it would say the other in 41 of 100 cases."
        )
    return text


def _replied_words(result: Findings) -> str:
    """Return how replies become answers."""
    question, unit = result.question, result.question.unit
    if not question.templates:
        return "The answer for each cell is the label that the target returned for it."
    if result.envelope.certificate.noise is not None:
        return (
            f"The answer to each {unit} is what the model’s replies to it name most often, where a "
            "test tells that from chance; otherwise it is undecided."
        )
    if result.telling.repeated:
        return (
            f"The answer to each {unit} is the candidate that more than half of the model’s "
            "replies to it name; otherwise there is no answer."
        )
    return (
        f"The answer to each {unit} is the candidate that the model’s reply names; a reply that "
        "names none, or does not settle on one, is no answer."
    )


def could_break_words(result: Findings, evidence: Evidence) -> str:
    """Return how many answers could have broken a rule, and how many do.

    "60 prompts could break it, none does": a share would be taken for how often it holds.
    """
    could, unit = result.could_break(evidence), result.question.unit
    if not could:
        return f"no {unit} that was asked could break it"
    broken = sum(exhibit.breaks for exhibit in could)
    silent = sum(not e.decision.answered for e in could)
    asked = "" if result.asked_all else " that was asked" if len(could) == 1 else " that were asked"
    text = f"{plural(len(could), unit)}{asked} could break it, "
    if broken:
        text += f"{broken:,} {'does' if broken == 1 else 'do'}"
    else:
        text += "and does not" if len(could) == 1 else "none does"
    if silent:
        text += f"; {silent:,} of them got no answer"
    return text


def lead_words(result: Findings, evidence: Evidence) -> str:
    """Return by how much a rule holds, where its sentence has no odds; "" if nothing is known."""
    margins = evidence.margins
    if not margins or not result.scored or result.odds_of(evidence) is not None:
        return ""
    least, mean = min(margins), sum(margins) / len(margins)
    if result.policy.calibration != "none":
        return f"{_times(least)} times the baseline’s odds, or more"
    if result.in_odds:
        return f"where it is answered, by {odds_of_lead(least)} or more"
    average = f", {mean:.3g} on average" if result.has_rates else ""
    return f"ahead by a score of at least {least:.3g}{average}"


def _times(lead: float) -> str:
    """Return what a lead is as a factor, never rounded up."""
    factor = exp(min(lead, 20.0))
    return f"{int(factor * 100) / 100:g}" if factor < 10 else f"{int(factor):,}"
