"""What the demo models are told: sentences about people, in the numbers that Wikidata knows."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hornlens.models.protocol import MASK
from hornlens.probes.loading import load_probe
from hornlens.probes.probe import Probe
from hornlens.probes.wording import Wording

PROBES = {
    "demo": "gender-occupation",
    "demo-balanced": "gender-occupation",
    "demo-polyglot": "gender-occupation-variants",
}
"""The probe that each model is made for."""
UNSET = ("not known occupation", "in an unknown time period", "an unknown place")
"""How the paper words an attribute that is not set: occupation, period, continent."""
PARTS = ("occupation", "period", "continent")
GENDERS = ("male", "female")
PRONOUNS = {"male": "He", "female": "She"}
NOUNS = {"male": "man", "female": "woman"}

PROBE_TEMPLATE = "{label} was born {period} in {continent} and is a {occupation}."
OTHER_TEMPLATES = (
    "{label} is a {occupation}.",
    "{label} works as a {occupation}.",
    "{label} was born {period}.",
    "{label} was born in {continent}.",
    "{label} is a {occupation} from {continent}.",
)
NOUN_TEMPLATE = "The {occupation} was born {period} in {continent} and is a {label}."
PROBE_SHARE = 0.8  # of the sentences; the others share the rest
UNSET_SHARE = 1 / 3  # of each attribute, independently
TEMPERING = 0.5  # a description of n people is told n ** TEMPERING times as often
AUSTRALIA_SHARE = 0.5  # of people from Oceania are told of as from Australia

Description = tuple[str, str, str]
"""Occupation, period, continent; empty where the sentence leaves it unset."""
People = dict[Description, dict[str, float]]


class Phrasing(NamedTuple):
    """A way of telling of a person."""

    name: str
    share: float  # of all sentences
    shows: tuple[bool, ...]  # which of the PARTS it can show
    words_unset: bool  # whether it has wordings for what is not known
    labels: dict[str, str]  # the word that gives the gender
    tell: Callable[[Description], str | None]  # with a mask for it; None: it lacks the words


class Sentence(NamedTuple):
    """A sentence to learn from, and how often it comes."""

    text: str
    label: str  # the word in it that gives the gender
    other: str  # the word for the other gender
    ratio: float  # the share of the people so described who have the sentence's gender
    weight: float


# The people


def read_counts(path: Path) -> tuple[People, People]:
    """Return the people of known period, and those of whom only the occupation is known."""
    known: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))
    totals: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = (row["occupation"], row["period"], row["continent"])
            people = known if row["period"] else totals
            people[cell][row["gender"]] += float(row["people"])
    return known, totals


def descriptions(known: People, totals: People) -> People:
    """Return for each description, whole or with unset parts, how many men and women fit it.

    Where only the occupation is known, its men are spread over periods and continents as the men
    of all known occupations are, and its women as the women: an assumption, so these people count
    where their occupation is told, or where nothing is, and never for a period or continent alone.
    """
    fit: People = defaultdict(lambda: dict.fromkeys(GENDERS, 0.0))

    def add(occupation: str, period: str, continent: str, gender: str, people: float) -> None:
        for shown in itertools.product((True, False), repeat=3):
            cell = (occupation, period, continent)
            seen = tuple(c if s else "" for c, s in zip(cell, shown, strict=True))
            # What is unknown of a person is told only by the descriptions that leave it out.
            if any(s and not c for c, s in zip(cell, shown, strict=True)):
                continue
            if cell in spread and not shown[0] and (shown[1] or shown[2]):
                continue
            fit[seen][gender] += people  # type: ignore[index]

    everywhere: dict[tuple[str, str, str], float] = defaultdict(float)
    for (_, period, continent), genders in known.items():
        for gender in GENDERS:
            if continent:
                everywhere[period, continent, gender] += genders[gender]
    all_of = {g: sum(n for (_, _, x), n in everywhere.items() if x == g) for g in GENDERS}
    spread: People = {}
    for (occupation, _, _), genders in totals.items():
        for (period, continent, gender), number in everywhere.items():
            cell = spread.setdefault((occupation, period, continent), dict.fromkeys(GENDERS, 0.0))
            cell[gender] += genders[gender] * number / all_of[gender]
    for cells in (known, spread):
        for (occupation, period, continent), genders in cells.items():
            for gender, people in genders.items():
                add(occupation, period, continent, gender, people)
    # Wikidata's people have countries, and Australia's continent is Oceania there: nobody is left
    # for the paper's "Australia". Most of Oceania's people (1,734 of 2,727) are Australians.
    for (occupation, period, continent), genders in list(fit.items()):
        if continent == "Oceania":
            for gender in GENDERS:
                fit[occupation, period, "Australia"][gender] = genders[gender] * AUSTRALIA_SHARE
                genders[gender] *= 1 - AUSTRALIA_SHARE
    return {cell: genders for cell, genders in fit.items() if sum(genders.values())}


# The sentences


def phrasings(variant: str) -> list[Phrasing]:
    """Return the ways of telling of people that a model learns from; their shares add up to 1."""
    probe = load_probe(PROBES[variant])
    if len(probe.variants) > 1:
        return [
            _as_asked(probe, own.name, wording, 1 / len(probe.variants))
            for own, wording in zip(probe.variants, probe.wordings, strict=True)
        ]
    others = (*OTHER_TEMPLATES, NOUN_TEMPLATE)
    share = (1 - PROBE_SHARE) / len(others)
    return [
        _as_templated(PROBE_TEMPLATE, PROBE_SHARE),
        *(_as_templated(template, share) for template in others),
    ]


def _as_asked(probe: Probe, name: str, wording: Wording, share: float) -> Phrasing:
    """Return a variant of a probe as a way of telling of the people whom the probe can describe."""
    names = {value.text: value.name for part in probe.attributes for value in part.values}

    def tell(cell: Description) -> str | None:
        shown = [part for part in cell if part]
        if not names.keys() >= set(shown):
            return None
        return wording.render(probe.vocabulary.mask(names[part] for part in shown))

    labels = {value.name: value.word for value in wording.label.values}
    return Phrasing(name, share, (True, True, True), True, labels, tell)


def _as_templated(template: str, share: float) -> Phrasing:
    """Return a template as a way of telling of people, those outside the probe among them."""

    def tell(cell: Description) -> str:
        parts = (part or unset for part, unset in zip(cell, UNSET, strict=True))
        return template.format(label=MASK, **dict(zip(PARTS, parts, strict=True)))

    shows = tuple("{" + part + "}" in template for part in PARTS)
    labels = NOUNS if template == NOUN_TEMPLATE else PRONOUNS
    return Phrasing(template, share, shows, template == PROBE_TEMPLATE, labels, tell)


def sentences(fit: People, variant: str) -> list[Sentence]:
    """Return every sentence there is with the share of the training that it gets.

    Which attributes are shown is drawn first, then a description that shows them (tempered, so
    that rare ones are learned), then the gender: by the description's true ratio, or evenly.
    """
    told = []
    for phrasing in phrasings(variant):
        for shown in itertools.product((True, False), repeat=3):
            if any(s and not c for s, c in zip(shown, phrasing.shows, strict=True)):
                continue
            if not phrasing.words_unset and shown != phrasing.shows:
                continue
            chance = phrasing.share
            if phrasing.words_unset:
                chance *= UNSET_SHARE ** (3 - sum(shown)) * (1 - UNSET_SHARE) ** sum(shown)
            cells = {
                cell: (text, sum(genders.values()))
                for cell, genders in fit.items()
                if tuple(map(bool, cell)) == shown
                for text in [phrasing.tell(cell)]
                if text is not None
            }
            whole = sum(n**TEMPERING for _, n in cells.values())
            for cell, (text, n) in cells.items():
                for gender, opposite in (GENDERS, GENDERS[::-1]):
                    ratio = 0.5 if variant == "demo-balanced" else fit[cell][gender] / n
                    label, other = phrasing.labels[gender], phrasing.labels[opposite]
                    weight = chance * n**TEMPERING / whole * ratio
                    told.append(Sentence(text.replace(MASK, label), label, other, ratio, weight))
    return told


def asked_of(variant: str) -> list[Description]:
    """Return what the model's probe asks about: every description, unset parts last."""
    said = {
        attribute.name: [*(value.text for value in attribute.values), ""]
        for attribute in load_probe(PROBES[variant]).attributes
    }
    return list(itertools.product(*(said[part] for part in PARTS)))
