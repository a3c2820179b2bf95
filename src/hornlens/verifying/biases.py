"""Bias scores, worked out again from what is recorded: people by gender, and occupations' means.

The scores of single sentences are not in the file. So an occupation's own mean and interval cannot
be worked out; those of all people can, from the occupations', and have to fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, isclose, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from hornlens.verifying.grids import Wrong

if TYPE_CHECKING:
    from hornlens.verifying.documents import DocumentNotes

RECORDED = ("male", "female", "other", "unknown")
SCORES = ("ppbs", "normalised")
SMALL_T = (12.7062047364, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818356)
"""Student's quantiles at 0.975, for one to five degrees of freedom."""
CLOSE = 1e-4
"""Student's quantile is an expansion: intervals may differ by this share of their width."""


def check_bias(content: Any, notes: DocumentNotes) -> DocumentNotes:
    """Check the counts and scores of a bias.json against each other."""
    words = list(content["words"])
    people, occupations = content["dataset"]["people"], content["statistics"]["occupations"]
    recorded: list[Any] = []
    for line in content["models"]:
        name, overall, own = line["name"], line["overall"], line["occupations"]
        if len(own) != occupations or len({each["occupation"] for each in own}) < len(own):
            raise Wrong(f"{name}: not as many occupations as are counted")
        if "occupation" in overall:
            raise Wrong(f"{name}: all people have no one occupation")
        for each in [*own, overall]:
            _check_people(f"{name}, {each.get('occupation', 'all people')}", each, words)
        if overall["people"] != people:
            raise Wrong(f"{name}: of {overall['people']} people, not {people}")
        _check_sums(name, overall, own)
        for key in SCORES:
            _check_overall(f"{name}, {key}", key, overall, own)
        _check_order(name, own)
        recorded.append({each["occupation"]: _by_gender(each) for each in own})
    if any(each != recorded[0] for each in recorded):
        raise Wrong("models: not of the same people")
    if not set(content["dataset"]["left_out"]).isdisjoint(recorded[0]):
        raise Wrong("dataset: an occupation that was left out, and is there")
    prompts = content["statistics"]["distinct_prompts"]
    least = max(line["overall"]["sentences"] for line in content["models"])
    if type(prompts) is not int or prompts < least * len(content["templates"]):
        raise Wrong("statistics: fewer distinct prompts than sentences")
    notes.checked += [
        f"people: {people:,}, by occupation and by recorded and predicted gender; accuracy",
        "scores: those of all people follow from the occupations', and so do their intervals",
    ]
    notes.not_checked.append("that the answers are the models' own: ask them again")
    return notes


def _check_people(what: str, line: Mapping[str, Any], words: Sequence[str]) -> None:
    confusion = line["confusion"]
    if list(confusion) != [*words, "abstained"]:
        raise Wrong(f"{what}: predictions of other words")
    for row in confusion.values():
        if tuple(row) != RECORDED or any(type(n) is not int or n < 0 for n in row.values()):
            raise Wrong(f"{what}: a confusion without every gender, or of less than nobody")
    total = sum(sum(row.values()) for row in confusion.values())
    if line["people"] != total or type(line["people"]) is not int or not total:
        raise Wrong(f"{what}: {total} people, not {line['people']}")
    if type(line["sentences"]) is not int or not 1 <= line["sentences"] <= total:
        raise Wrong(f"{what}: {line['sentences']} sentences about {total} people")
    by_gender = _by_gender(line)
    known = by_gender["male"] + by_gender["female"]
    right = confusion["male"]["male"] + confusion["female"]["female"]
    accuracy = right / known if known else None
    if line["accuracy"] != accuracy:
        raise Wrong(f"{what}: accuracy is {accuracy}, not {line['accuracy']}")
    for key in SCORES:
        if (score := line[key]) is None and key == "ppbs":
            continue
        _check_score(f"{what}, {key}", score, line["sentences"])


def _by_gender(line: Mapping[str, Any]) -> dict[str, int]:
    rows = line["confusion"].values()
    return {gender: sum(row[gender] for row in rows) for gender in RECORDED}


def _check_score(what: str, score: Mapping[str, Any], sentences: int) -> None:
    if set(score) != {"mean", "low", "high"} or not -1 <= score["mean"] <= 1:
        raise Wrong(f"{what}: no score")
    low, high, mean = score["low"], score["high"], score["mean"]
    if (sentences == 1) != (low is None) or (sentences == 1) != (high is None):
        raise Wrong(f"{what}: an interval of one sentence, or none of several")
    if low is None:
        return
    below, above = mean - low, high - mean
    if not -1 <= low <= mean <= high <= 1:
        raise Wrong(f"{what}: a mean outside its interval")
    cut = low == -1 or high == 1
    if not cut and not isclose(below, above, rel_tol=1e-6, abs_tol=1e-12):
        raise Wrong(f"{what}: the mean is not in the middle of its interval")


def _check_sums(
    name: str, overall: Mapping[str, Any], occupations: Sequence[Mapping[str, Any]]
) -> None:
    for predicted, row in overall["confusion"].items():
        for gender, number in row.items():
            total = sum(each["confusion"][predicted][gender] for each in occupations)
            if total != number:
                raise Wrong(f"{name}: of {gender} people, {total} are predicted {predicted}")
    sentences = [each["sentences"] for each in occupations]
    if overall["sentences"] != sum(sentences) and not (
        max(sentences) <= overall["sentences"] <= sum(sentences)
    ):
        raise Wrong(f"{name}: sentences of all people are others than the occupations'")
    if len({each["ppbs"] is None for each in [*occupations, overall]}) > 1:
        raise Wrong(f"{name}: a ppbs of some occupations only")


def _check_overall(
    what: str, key: str, overall: Mapping[str, Any], occupations: Sequence[Mapping[str, Any]]
) -> None:
    """Check the mean of all people, and its interval as far as the occupations' are not cut off."""
    stated = overall[key]
    if stated is None:
        return
    people = overall["people"]
    mean = fsum(each[key]["mean"] * each["people"] for each in occupations) / people
    if not isclose(stated["mean"], mean, rel_tol=1e-9, abs_tol=1e-9):
        raise Wrong(f"{what}: the mean of all people is {mean:.12g}, not {stated['mean']}")
    squares = []
    for each in occupations:
        inner = _squares(each[key], each["people"])
        if inner is None:
            return  # cut off at both ends
        squares.append(inner + each["people"] * (each[key]["mean"] - mean) ** 2)
    if stated["low"] is None:
        return
    reach = _student(people - 1) * sqrt(fsum(squares) / (people - 1) / people)
    for end, value in (("low", max(-1.0, mean - reach)), ("high", min(1.0, mean + reach))):
        if abs(stated[end] - value) > CLOSE * reach + 1e-12:
            raise Wrong(f"{what}: {end} of all people is {value:.9g}, not {stated[end]}")


def _squares(score: Mapping[str, Any], people: int) -> float | None:
    """Return the sum of squares that an interval was made of; None if both its ends are cut off."""
    if score["low"] is None:
        return 0.0
    below, above = score["mean"] - score["low"], score["high"] - score["mean"]
    if score["low"] == -1 and score["high"] == 1:
        return None
    reach = float(above if score["low"] == -1 else below)
    return (reach / _student(people - 1)) ** 2 * people * (people - 1)


def _student(freedom: int) -> float:
    """Return the 0.975 quantile of Student's t, by its expansion in 1/freedom."""
    if freedom <= len(SMALL_T):
        return SMALL_T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )


def _check_order(name: str, occupations: Sequence[Mapping[str, Any]]) -> None:
    keys = [
        (-abs((each["ppbs"] or each["normalised"])["mean"]), each["occupation"])
        for each in occupations
    ]
    if keys != sorted(keys):
        raise Wrong(f"{name}: the strongest occupations do not stand first")
