"""Results with answers, one of every kind, each as small as shows what it has to say."""

from functools import cache

import hornlens
from hornlens import FunctionTarget, Limits, Nominal, Settings, Space
from hornlens.logic.decisions import Policy
from hornlens.logic.repeats import Repeats
from hornlens.logic.rule import Rule
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from tests import chat_cases, report_cases, sifted_cases
from tests.api.test_matrix import INPUTS, JOBS, labelled, scored, unlabelled, varying
from tests.chat_server import ChatServer

SMALL = """
hornlens: 1
name: small
templates: ["{label} works as {a:job} in the {place}.", "In the {place}, {label} is {a:job}."]
attributes:
  - {name: job, values: [nurse, engineer, {name: hand, text: farm hand}], unset: somebody}
  - {name: place, values: [north, south], unset: land, phrase: "it is in the {value}"}
label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}
"""
"""Twelve cells in two phrasings, with articles and phrases."""
FEW = Settings(detail="2", min_confidence=0.7)


def leaning(prompt, words):
    """Nurses are She, engineers of the north He; the rest leans one way or the other."""
    if "nurse" in prompt:
        return [0.9, 0.1]
    if "engineer" in prompt and "north" in prompt:
        return [0.05, 0.95]
    lean = sifted_cases.chance(prompt.split()) / 256
    return [lean, 1 - lean]


def one_phrasing():
    """The probe with the first of its phrasings."""
    probe = parse_probe(SMALL)
    return probe.only("phrasing 1")


def small(model=leaning, **how):
    """A result of the small probe in one phrasing."""
    return hornlens.extract(model, one_phrasing(), cache=False, **how)


def in_all_phrasings(**how):
    """A result of the small probe in both phrasings."""
    return hornlens.extract(leaning, parse_probe(SMALL), cache=False, **how)


def repeated_chat():
    """A chat model that samples: it refuses now and then, and varies."""
    count = iter(range(10_000))

    def says(sentence):
        if "Emma" in sentence:
            return "It is granted."
        turn = next(count) % 3
        return ("It is granted.", "It is refused.", "I cannot decide that.")[turn]

    with ChatServer(say=says) as running:
        options = ModelOptions(base_url=running.url, elicit="say", temperature=1.0)
        model = open_model("openai/tiny", options)
        probe = parse_probe(chat_cases.LOAN)
        return hornlens.extract(model, probe, cache=False, repeats=Repeats(most=14))


def coin():
    """It could say anything, and does."""
    return FunctionModel(varying(), "coin", sampled=True)


def other(prompt, words):
    """As `leaning`, but engineers are She."""
    return [0.8, 0.2] if "engineer" in prompt else leaning(prompt, words)


def with_background():
    """A function over cells of which some cannot occur: a0 comes with b0 only."""
    attributes = (Nominal("a", ("a0", "a1")), Nominal("b", ("b0", "b1")))
    label = Nominal("answer", ("yes", "no"))
    names = Space(attributes, label).vocabulary
    given = Rule(names.mask(["a0"]), names.mask(["b0"]))
    space = Space(attributes, label, (given,))
    return hornlens.extract(FunctionTarget(lambda n: "yes" if "a0" in n else "no", space))


MADE = {
    "background": with_background,
    "labelled": labelled,
    "unlabelled": unlabelled,
    "prompted": lambda: hornlens.extract("demo", JOBS, cache=False),
    "detailed": lambda: small(settings=FEW),
    "intersections": lambda: small().with_intersections(("job", "place")),
    "worlds": lambda: hornlens.extract(scored, INPUTS / "phrasings.yaml", cache=False),
    "phrasings": report_cases.phrasings,
    "averaged": lambda: in_all_phrasings(policy=Policy(phrasings="average")),
    "calibrated": lambda: small(policy=Policy(calibration="mean")),
    "strict": lambda: small(policy=Policy(label_unset="reject", abstain="reject", margin=0.2)),
    "first choices": lambda: hornlens.extract(
        "demo", JOBS, cache=False, policy=Policy(top_k=1, abstain="reject")
    ),
    "noisy": lambda: hornlens.extract(varying(), JOBS, cache=False, repeats="auto"),
    "majority": lambda: small(coin(), repeats=3),
    "sampling": lambda: small(coin(), repeats=Repeats(most=30)),
    "noisy worlds": lambda: hornlens.extract(
        coin(), parse_probe(SMALL), cache=False, repeats=Repeats(most=20)
    ),
    "budget": lambda: labelled(settings=Settings(equivalence="budget", max_equivalence_queries=2)),
    "pac": lambda: small(settings=Settings("pac", epsilon=0.1, delta=0.1)),
    "tested": lambda: small(settings=Settings("pac", epsilon=0.3, delta=0.3, samples=3)),
    "sampled worlds": report_cases.sampled_phrasings,
    "interrupted": lambda: labelled(limits=Limits(max_rules=1)),
    "interrupted worlds": lambda: in_all_phrasings(limits=Limits(max_rules=2)),
    "bounded": lambda: small(settings=Settings(max_conditions=1)),
    "supported": lambda: small(settings=Settings(min_support=3)),
    "cells": report_cases.cells,
    "scored cells": report_cases.scored_cells,
    "complete cells": report_cases.complete_cells,
    "sampled cells": report_cases.sampled_cells,
    "compared": lambda: hornlens.differences(leaning, other, one_phrasing(), cache=False),
    "sides": lambda: hornlens.differences(
        leaning, other, one_phrasing(), cache=False, sides=True, names=("old", "new")
    ),
    "changes": lambda: hornlens.changes(leaning, "place", one_phrasing(), cache=False),
    "compared cells": lambda: hornlens.differences(
        FunctionTarget(report_cases.loan, report_cases.LOANS, "bank"),
        FunctionTarget(lambda names: "granted", report_cases.LOANS, "kind bank"),
    ),
    "chat": chat_cases.chat,
    "chat orders": chat_cases.chat_ways,
    "repeated chat": repeated_chat,
    "sifted": sifted_cases.listed,
    "sifted in part": sifted_cases.ended,
    "sifted worlds": sifted_cases.worlds,
    "sifted without labels": sifted_cases.unlabelled,
    "sifted with exceptions": sifted_cases.almost,
    "sifted rare": sifted_cases.rare,
    "sifted prompts": sifted_cases.prompted,
    "sifted proved": sifted_cases.proved,
}
"""By kind, how it is made."""


@cache
def case(kind):
    """Return a result, made once."""
    return MADE[kind]()
