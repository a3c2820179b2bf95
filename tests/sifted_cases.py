"""Sifted results of every shape that people are shown: listed, proved, open, with exceptions."""

from dataclasses import replace
from functools import cache
from hashlib import sha256

from hornlens.api import extract
from hornlens.logic.attributes import Nominal
from hornlens.logic.space import Space
from hornlens.models.functions import FunctionModel
from hornlens.probes.probe import Label, LabelValue, Probe, ProbeAttribute, Value, numbered
from hornlens.results.documents.settings import Settings
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds

SIFT = Settings(equivalence="sift")


def space(many=7, values=5, labels=("yes", "no"), complete=False):
    """Attributes a, b, c, … with values a0, a1, …; without labels, if there are none."""
    names = "abcdefghijklmnop"[:many]
    attributes = tuple(Nominal(a, tuple(f"{a}{i}" for i in range(values))) for a in names)
    return Space(attributes, Nominal("loan", labels) if labels else None, complete=complete)


def chance(names, salt=""):
    """Return a number from 0 to 255 that depends on nothing but these."""
    return sha256("|".join((salt, *sorted(names))).encode()).digest()[0]


def granted(names, salt=""):
    """Never yes with a1; the rest keeps to nothing."""
    return "yes" if "a1" not in names and chance(names, salt) % 2 else "no"


def excepted(names):
    """Hardly ever yes with a1: only where b1, c1 and d1 are there, too."""
    if "a1" in names:
        return "yes" if {"b1", "c1", "d1"} <= {*names} else "no"
    return granted(names)


def accepted(names):
    """Nothing with both a1 and b1; the rest keeps to nothing."""
    return not {"a1", "b1"} <= {*names} and chance(names) % 2 == 0


def sifted(decide, over, **how):
    """Return what a sift of a function comes to."""
    return extract(FunctionTarget(decide, over), settings=replace(SIFT, **how))


def listed():
    """One rule, tested."""
    return sifted(granted, space())


def ended():
    """A budget that is too small: most is open."""
    return sifted(granted, space(), max_questions=150)


def proved():
    """So few cells that every rule had all of its own asked; one is only tested."""
    return sifted(granted, space(4, 3, complete=True))


def almost():
    """A rule with an exception stands for narrower ones."""
    return sifted(excepted, space(5, 4, complete=True))


def rare():
    """Yes is rare, and given more often with both a1 and b1."""

    def says(names):
        often = {"a1", "b1"} <= {*names}
        return "yes" if chance(names) < (255 if often else 1) else "no"

    return sifted(says, space(8, 5, complete=True))


def unlabelled():
    """It accepts or rejects."""
    return sifted(accepted, space(5, 3, ()))


def unlabelled_ended():
    """The same, within a budget."""
    return sifted(accepted, space(6, 4, ()), max_questions=120)


def worlds():
    """Two ways of asking, which have one rule in common; one has a rule of its own."""

    def second(names):
        return "no" if "b2" in names else granted(names, "again")

    each = {"one": FunctionTarget(granted, space()), "two": FunctionTarget(second, space())}
    return extract(Worlds("both", each, noun="way"), settings=SIFT)


def question(many=6, values=4):
    """A probe with as many attributes, each of as many values."""
    names = "abcdefghij"[:many]
    return Probe(
        name="colours",
        attributes=tuple(
            ProbeAttribute(
                a, tuple(Value(f"{a}{i}", f"{a}{i}") for i in range(values)), Value("", "-")
            )
            for a in names
        ),
        label=Label("label", (LabelValue("good", "good"), LabelValue("bad", "bad"))),
        variants=numbered([f"With {' '.join(f'{{{a}}}' for a in names)} it is {{label}}."]),
    )


def scores(prompt, words):
    """Bad wherever a1 stands; the rest keeps to nothing."""
    lead = (chance(prompt.split(), "lead") + 1) / 100
    good = "a1" not in prompt and chance(prompt.split()) % 2
    return [lead, 0.0] if good else [0.0, lead]


def prompted():
    """A model with scores, asked in prompts."""
    return extract(FunctionModel(scores, "colourful"), question(), settings=SIFT, cache=False)


def nothing():
    """It keeps to nothing: no rule is left."""
    return sifted(lambda names: "yes" if chance(names) % 2 else "no", space(6, 4, complete=True))


MADE = {
    "listed": listed,
    "ended": ended,
    "proved": proved,
    "almost": almost,
    "rare": rare,
    "unlabelled": unlabelled,
    "unlabelled_ended": unlabelled_ended,
    "worlds": worlds,
    "prompted": prompted,
    "nothing": nothing,
}


@cache
def case(name):
    """Return a result, made once."""
    return MADE[name]()
