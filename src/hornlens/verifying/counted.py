"""What a result counts of its run: questions, answers, prompts, calls; and its settings.

All of it is held against the answers, and the settings against what the certificate claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from hornlens.verifying.answers import Answer
from hornlens.verifying.claims import Claim
from hornlens.verifying.decided import same
from hornlens.verifying.grids import Space, Wrong

Worlds = Mapping[str | None, Sequence[Answer]]
LEARNER = ("refinement", "speculative", "equivalence_samples")
"""Membership queries of a learner, by what they were for."""
LEVELS_ALWAYS = 1 << 16
"""Up to so many interpretations, an exact result has levels though nobody asked for them."""
LEVELS_CONDITIONS, LEVELS_CONFIDENCE = 3, 0.9
"""How long the rules of levels are, and how sure, unless the settings say otherwise."""


def check_statistics(
    content: Mapping[str, Any], line: Mapping[str, Any], answers: Sequence[Answer], new: bool
) -> None:
    """Count again what was asked, of a result or of one of its variants (`line`).

    `new`: the file is of a version that writes all of these figures.
    """
    statistics, probe = line["statistics"], content["probe"]
    compared = probe.get("compared") is not None
    prompts = {prompt for answer in answers for prompt in answer.line["prompts"]}
    counted = {
        "abstentions": sum(answer.winner is None for answer in answers),
        "questions": len({answer.cell for answer in answers}),
    }
    if content["policy"].get("calibration", "none") == "none" and not compared:
        counted["distinct_prompts"] = len(prompts)
    for key, value in counted.items():
        if (key in statistics or new) and statistics.get(key) != value:
            raise Wrong(f"statistics: {key} is {value}, not {statistics.get(key)}")
    if new:
        _check_calls(statistics, line, answers, compared)
    check_queries(statistics, new)


def check_queries(statistics: Mapping[str, Any], new: bool) -> None:
    """Check what a learner asked: its membership queries by what they were for."""
    if any(type(value) is not int or value < 0 for value in statistics.values()):
        raise Wrong("statistics: a count that is none")
    parts = [key for key in LEARNER if key in statistics]
    if parts and statistics["membership_queries"] != sum(statistics[key] for key in parts):
        raise Wrong("statistics: membership_queries is not the sum of its parts")
    if new and not parts and statistics["equivalence_queries"] != 0:
        raise Wrong("statistics: equivalence queries, though no learner asked any")


def _check_calls(
    statistics: Mapping[str, Any],
    line: Mapping[str, Any],
    answers: Sequence[Answer],
    compared: bool,
) -> None:
    """Check how often the target was asked."""
    calls, prompts = statistics["model_calls"], statistics["distinct_prompts"]
    noise = line["certificate"].get("noise")
    repeated = [a for a in answers if a.line.get("repeats")]
    if noise is not None:
        fits = calls == noise["answers"]
    elif repeated:  # how often nothing was answered is not recorded
        fits = calls >= prompts * max(sum(a.line["repeats"]) for a in repeated)
        fits = calls == prompts or (fits and calls % max(prompts, 1) == 0)
    else:
        fits = compared or (not prompts and not calls) or (prompts > 0 and calls % prompts == 0)
        one = not compared and all(a.winner is not None for a in answers)
        fits = fits and calls >= prompts and (not one or calls == prompts)
    if not fits:
        raise Wrong(f"statistics: {calls} model calls do not fit the answers")


def check_answered(line: Mapping[str, Any], space: Space, worlds: Worlds, assumed: bool) -> None:
    """Count again what a certificate says was asked, and answered."""
    certificate = line["certificate"]
    answers = [answer for own in worlds.values() for answer in own]
    given = sum(answer.winner is not None or answer.is_undecided for answer in answers)
    if certificate.get("answered") != [given, len(answers)]:
        raise Wrong(f"certificate: {given:,} of {len(answers):,} questions were answered")
    if "unasked" not in certificate and "cells" not in certificate:
        return
    cells = space.ends or space.axes[: len(space.axes) - bool(space.labels)]
    total = certificate.get("cells")
    if not assumed and total != prod(map(len, cells)):
        raise Wrong(f"certificate: there are {prod(map(len, cells)):,} cells, not {total}")
    every = [{answer.cell for answer in own} for own in worlds.values()]
    asked = len(set.intersection(*every))
    if certificate.get("unasked", 0) != (total or 0) - asked:
        raise Wrong(f"certificate: {(total or 0) - asked:,} cells were not asked")


WORDS = {
    "label_unset": ("accept", "reject"),
    "abstain": ("accept", "reject"),
    "calibration": ("none", "neutral", "mean"),
    "phrasings": ("each", "average"),
}
"""What a policy can say."""


def check_label_words(content: Mapping[str, Any]) -> None:
    """Check the words of a policy, and that the claims are about the cells that were asked."""
    for line in (content, *content.get("variants", [])):
        policy = line.get("policy", content["policy"])
        if any(policy[key] not in allowed for key, allowed in WORDS.items()):
            raise Wrong("policy: a word that none has")
        if type(policy["top_k"]) not in (int, type(None)) or (policy["top_k"] or 1) < 1:
            raise Wrong(f"policy: top_k is {policy['top_k']!r}")
        if line["certificate"]["scope"]["of"] != "cells":
            raise Wrong("certificate: is about the cells that were asked, and says otherwise")
    probe = content["probe"]
    if probe.get("compared") is not None and any(k != v for k, v in probe["label"].items()):
        raise Wrong("probe: the words of the labels are not those of a comparison")


def check_settings(content: Mapping[str, Any], space: Space) -> None:
    """Hold what was wanted against what is claimed: bounds of rules, almost-rules, levels."""
    settings, claim = content["settings"], Claim.of(content["certificate"])
    if claim.settled and not claim.decides:
        wanted = (settings["max_conditions"], settings["min_support"] or 0)
        if (claim.most, claim.least) != wanted:
            raise Wrong("certificate: not within the bounds that the settings give")
        if claim.every == claim.bounded:
            raise Wrong("certificate: all rules, though the settings bound them, or not all")
    detailed = settings["detail"] is not None or settings["min_confidence"] is not None
    if claim.settled and claim.noise is None and (claim.answered or (0, 0))[0]:
        levels = detailed or prod(map(len, space.axes)) <= LEVELS_ALWAYS
        learned = any(key in content["statistics"] for key in LEARNER)  # a learner may do without
        if levels != ("levels" in content) and not learned:
            raise Wrong("levels: missing, or nobody asked for them")
        if (settings["min_confidence"] is not None) != ("almost" in content):
            raise Wrong("almost-rules: missing, or nobody asked for them")
    if "almost" in content:
        own = content["almost_claim"]
        if not same(own["min_confidence"], settings["min_confidence"]):
            raise Wrong("almost-rules: not with the confidence of the settings")
        if settings["max_conditions"] not in (None, own["max_conditions"]):
            raise Wrong("almost-rules: not with the conditions of the settings")
    if "levels" in content:
        _check_levels(content["levels"], settings)


def _check_levels(levels: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    wanted = {
        "exception_cost": settings["exception_cost"],
        "min_confidence": settings["min_confidence"] or LEVELS_CONFIDENCE,
        "max_conditions": LEVELS_CONDITIONS
        if settings["max_conditions"] is None
        else settings["max_conditions"],
    }
    for key, value in wanted.items():
        if levels[key] != value:
            raise Wrong(f"levels: {key} is {value}, not {levels[key]}")
    chosen, count = levels["chosen"], len(levels["steps"])
    if (chosen is None) != (settings["detail"] is None):
        raise Wrong("levels: a level was chosen, and nobody asked for it, or the other way round")
    if chosen is not None and not 0 <= chosen <= count:
        raise Wrong("levels: a level that is not there was chosen")
