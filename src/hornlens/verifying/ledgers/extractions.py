"""The ledger of results with answers: extractions, whatever ended or bounded them.

Some fields can be worked out in one result and not in another: prompts, if the file lists what the
slots of its templates say; the words of labels, if it shows what was sent. So the ledger is that of
the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Fate, Ledger, harmless, intact

MAJORITIES = intact("how often each label was given, beyond what the majority needs")
FIXED = intact("when the families of rules were fixed, before what was drawn for them")
EXAMPLES = intact("which non-Horn negatives are shown as examples, and in which order")
TARGET = intact("the target's name and identity: only who asked it knows whom")
QUESTION = intact("the question's name, description, languages and phrases for people")
WORDS = intact("the words of the labels: nothing that was sent shows them")
SHOWN = intact("how cells were shown: there are no templates to make them again from")
REPLIES = intact("the texts of replies, who gave them and which candidate each was read to name")
INSIDE = intact("first words, shares and unknown words, which the model itself reported")
SENT = intact("what was sent beside the example's messages: address, parameters, ways of reading")
SETTINGS = intact("the settings, beyond what the certificate claims by them")
LEARNER = intact("how many queries a learner asked, and what it proposed")
CHOSEN = intact("that each level has the best rules for it")
REASKED = intact("how many prompts were asked again, and how far their scores drifted")
SAMPLES = intact("how many samples were accepted, and what they are drawn from")
ENDED = intact("why the run ended, and after what")
QUERIES = intact("how many membership queries a run that was ended stands for")
VERSION = intact("the version that wrote the file")
COMPARED = intact("what was asked and answered, of answers that are compared")
DROPPED = intact("what a file can leave out: it is then among what is not checked")
UNUSED = intact("what slots say of values that were never asked about")
CURVE = harmless("each point is counted again; which are shown claims nothing")
UNSCORED = harmless("with scores, answers are decided by it again; without, it decides nothing")

OWN: dict[str, Fate] = {
    "rules[].if[]": RECOMPUTED,
    "rules[].then[]": RECOMPUTED,
    "rules[].warrant.**": RECOMPUTED,
    "readable[].if[]": RECOMPUTED,
    "readable[].then[]": RECOMPUTED,
    "readable[].warrant.**": RECOMPUTED,
    "readable[].support": RECOMPUTED,
    "readable[].prompts": RECOMPUTED,
    "readable[].mean_margin": RECOMPUTED,
    "readable[].closest.**": RECOMPUTED,
    "readable[].evidence[]": RECOMPUTED,
    "readable[].sentence": REWRITTEN,
    "readable[].vacuous": REWRITTEN,
    "readable[].share": REWRITTEN,
    "open[].if[]": RECOMPUTED,
    "open[].then[]": RECOMPUTED,
    "open[].warrant.**": RECOMPUTED,
    "open[].needs": RECOMPUTED,
    "hypothesis.**": LEARNER,
    "hypothesis": LEARNER,
    "non_horn.count": RECOMPUTED,
    "sift.families[].at": FIXED,
    "statistics.negatives": LEARNER,
    "answers[].repeats": MAJORITIES,
    "non_horn.at_least": LEARNER,
    "non_horn.examples[][]": EXAMPLES,
    "certificate.kind": REWRITTEN,
    "certificate.weakest": RECOMPUTED,
    "certificate.complete.**": RECOMPUTED,
    "certificate.scope.**": RECOMPUTED,
    "certificate.rules": RECOMPUTED,
    "certificate.open": RECOMPUTED,
    "certificate.answered[]": RECOMPUTED,
    "certificate.cells": RECOMPUTED,
    "certificate.unasked": RECOMPUTED,
    "certificate.ended.**": ENDED,
    "certificate.ended": ENDED,
    "certificate.sources.replies[]": RECOMPUTED,
    "certificate.sources.models": RECOMPUTED,
    "certificate.sources.reasked": REASKED,
    "certificate.sources.changed": REASKED,
    "certificate.noise.**": RECOMPUTED,
    "certificate.noise.drift": REASKED,
    "certificate.noise.reasked": REASKED,
    "certificate.joint.epsilon": RECOMPUTED,
    "certificate.joint.delta": RECOMPUTED,
    "certificate.joint.samples": RECOMPUTED,
    "certificate.joint.queries": LEARNER,
    "certificate.joint.whole": LEARNER,
    "certificate.joint.measures": SAMPLES,
    "certificate.joint.accepted": SAMPLES,
    "certificate.sift.**": RECOMPUTED,
    "claim": REWRITTEN,
    "statistics.questions": RECOMPUTED,
    "statistics.abstentions": RECOMPUTED,
    "statistics.distinct_prompts": RECOMPUTED,
    "statistics.model_calls": RECOMPUTED,
    "statistics.membership_queries": RECOMPUTED,
    "statistics.drawn": RECOMPUTED,
    "statistics.candidates": RECOMPUTED,
    "statistics.refuted": RECOMPUTED,
    "statistics.equivalence_queries": RECOMPUTED,
    "statistics.refinement": LEARNER,
    "statistics.speculative": LEARNER,
    "statistics.equivalence_samples": LEARNER,
    "statistics.rejected_by_longer_rules": intact("how much longer or rarer rules reject"),
    "statistics.rules_left_out": intact("how much longer or rarer rules reject"),
    "statistics.single_cells": intact("how many rules only repeat one answer"),
    "possible.rules[].if[]": RECOMPUTED,
    "possible.rules[].then[]": RECOMPUTED,
    "possible.rules[].warrant.**": RECOMPUTED,
    "possible.readable[].if[]": RECOMPUTED,
    "possible.readable[].then[]": RECOMPUTED,
    "possible.readable[].certain": RECOMPUTED,
    "possible.readable[].undecided[]": RECOMPUTED,
    "possible.readable[].sentence": REWRITTEN,
    "possible.non_horn.**": RECOMPUTED,
    "possible.settling[]": RECOMPUTED,
}
"""What a result has, and each of its variants of its own."""
RATES = {
    "attributes[].attribute": RECOMPUTED,
    "attributes[].values[].value": REWRITTEN,
    "attributes[].values[].counts.*": RECOMPUTED,
    "attributes[].values[].abstained": RECOMPUTED,
    "attributes[].values[].shares.*": RECOMPUTED,
    "attributes[].spreads[].**": REWRITTEN,
    "attributes[].spreads[].high": RECOMPUTED,
    "attributes[].spreads[].low": RECOMPUTED,
    "attributes[].spreads[].difference": RECOMPUTED,
    "attributes[].spreads[].ratio": RECOMPUTED,
    "attributes[].flips.**": RECOMPUTED,
    "attributes[].flips.examples[][]": REWRITTEN,
}
FATES: dict[str, Fate] = {
    "hornlens": VERSION,
    "format": RECOMPUTED,
    "variables[]": RECOMPUTED,
    "background[].**": RECOMPUTED,
    **OWN,
    **{f"variants[].{pattern}": fate for pattern, fate in OWN.items()},
    "varied": REWRITTEN,
    "variants[].name": RECOMPUTED,
    "variants[].language": QUESTION,
    "variants[].template": RECOMPUTED,
    "variants[].slots": DROPPED,
    "variants[].slots[].*[]": RECOMPUTED,
    "variants[].label.*": WORDS,
    "variants[].model.**": TARGET,
    "variants[].model": TARGET,
    "variants[].policy.**": RECOMPUTED,
    "almost[].**": RECOMPUTED,
    "almost[].sentence": REWRITTEN,
    "almost_claim.**": RECOMPUTED,
    "almost_claim.sentence": REWRITTEN,
    "levels.min_confidence": RECOMPUTED,
    "levels.max_conditions": RECOMPUTED,
    "levels.exception_cost": RECOMPUTED,
    "levels.rejections": RECOMPUTED,
    "levels.exact_rules": RECOMPUTED,
    "levels.by_exact": RECOMPUTED,
    "levels.chosen": CHOSEN,
    "levels.candidates": CHOSEN,
    "levels.optimal": CHOSEN,
    "levels.guarantee": CHOSEN,
    "levels.steps": CHOSEN,
    "levels.steps[]": CHOSEN,
    "levels.steps[].**": RECOMPUTED,
    "levels.steps[].at_most": CHOSEN,
    "levels.steps[].sentence": REWRITTEN,
    "space.**": RECOMPUTED,
    "space.attributes[].name": REWRITTEN,
    "space.label.name": REWRITTEN,
    "probe.name": QUESTION,
    "probe.description": QUESTION,
    "probe.language": QUESTION,
    "probe.phrases.*": QUESTION,
    "probe.attributes.*[]": REWRITTEN,
    "probe.label_attribute": REWRITTEN,
    "probe.label.*": WORDS,
    "probe.templates[]": RECOMPUTED,
    "probe.slots": DROPPED,
    "probe.slots[].*[]": RECOMPUTED,
    "probe.compared.acts.*": COMPARED,
    "probe.compared.opposites.*": COMPARED,
    "probe.compared.who": COMPARED,
    "probe.compared.proper": COMPARED,
    "model.**": TARGET,
    "policy.**": RECOMPUTED,
    "policy.margin": UNSCORED,
    "settings.**": SETTINGS,
    "rates.labels[]": RECOMPUTED,
    **{f"rates.{pattern}": fate for pattern, fate in RATES.items()},
    "rates.variants[].name": RECOMPUTED,
    **{f"rates.variants[].{pattern}": fate for pattern, fate in RATES.items()},
    "disparities.**": REWRITTEN,
    "disparities.attributes[].rates[].label": RECOMPUTED,
    "disparities.attributes[].rates[].count": RECOMPUTED,
    "disparities.attributes[].rates[].answered": RECOMPUTED,
    "disparities.attributes[].rates[].share": RECOMPUTED,
    "chance.**": REWRITTEN,
    "abstentions[]": RECOMPUTED,
    "survival[].**": RECOMPUTED,
    "survival[].sentence": REWRITTEN,
    "survival[].broken_in.*": RECOMPUTED,
    "orders.**": REWRITTEN,
    "warnings[].**": REWRITTEN,
    "sift.**": RECOMPUTED,
    "sift.curve[]": CURVE,
    "sift.curve[][]": CURVE,
    "sent": DROPPED,
    "sent[].**": SENT,
    "sent[].variant": RECOMPUTED,
    "sent[].prompt": RECOMPUTED,
    "sent[].candidates[]": RECOMPUTED,
    "sent[].calls[].body.messages[].**": RECOMPUTED,
    "answers[].variant": RECOMPUTED,
    "answers[].set[]": RECOMPUTED,
    "answers[].prompts[]": RECOMPUTED,
    "answers[].scores[]": RECOMPUTED,
    "answers[].winner": RECOMPUTED,
    "answers[].margin": RECOMPUTED,
    "answers[].abstained": RECOMPUTED,
    "answers[].repeats[]": RECOMPUTED,
    "answers[].silent": RECOMPUTED,
    "answers[].first_words": INSIDE,
    "answers[].first_words[][]": INSIDE,
    "answers[].share": INSIDE,
    "answers[].unknown[]": INSIDE,
    "answers[].replies.**": REPLIES,
    "answers[].replies": REPLIES,
    "answers[].replies[].**": REPLIES,
    "answers[].reply": REPLIES,
    "answers[].phrasings[].**": REPLIES,
    "answers[].phrasings": REPLIES,
    "digest": harmless("it is worked out again, and stands for all other fields"),
}
ANSWERS = intact("the answers themselves: ask the target again")


def extraction_ledger(content: Mapping[str, Any]) -> Ledger:
    """Return the ledger of one document."""
    fates, probe = dict(FATES), content["probe"]
    compared, variants = probe.get("compared") is not None, content.get("variants", [])
    if compared:
        fates |= {"answers[].prompts[]": COMPARED, "probe.templates[]": COMPARED}
        fates |= {"probe.label.*": RECOMPUTED, "statistics.model_calls": COMPARED}
        fates |= {"statistics.distinct_prompts": COMPARED}
    elif not all("slots" in line for line in variants or [probe]):
        fates |= {"answers[].prompts[]": SHOWN, "probe.templates[]": SHOWN}
        fates |= {"variants[].template": SHOWN}
    elif content.get("sent"):
        fates |= {"probe.label.*": RECOMPUTED, "variants[].label.*": RECOMPUTED}
    if "refinement" in content["statistics"]:
        fates |= {"statistics.equivalence_queries": LEARNER}
        fates |= {"variants[].statistics.equivalence_queries": LEARNER}
    if content["certificate"].get("noise") is None:
        fates |= {"answers[].repeats[]": MAJORITIES}
    if any("ended" in line["certificate"] for line in (content, *variants)):
        fates |= {"statistics.membership_queries": QUERIES}
        fates |= {"variants[].statistics.membership_queries": QUERIES}
    if {"unasked", "sift", "joint", "ended"} & {*content["certificate"]}:
        fates |= {"probe.slots[].*[]": UNUSED, "variants[].slots[].*[]": UNUSED}
    if not any(answer["scores"] for answer in content["answers"]):
        fates |= {"answers[].winner": ANSWERS, "answers[].abstained": ANSWERS}
    return Ledger(fates)


EXTRACTION = Ledger(FATES)
