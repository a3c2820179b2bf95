"""The record of a sift as JSON, and back: what was drawn for which rules, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import AlmostShown, Base, Draw, FixedRules, MoreOften, SiftRecord
from hornlens.logic.vocabulary import Vocabulary
from hornlens.logic.warrants import check_count

COUNTS = ("conditions", "candidates", "live")
PURPOSES = ("list", "bounds", "almost", "rates")


def sift_as_json(record: SiftRecord, names: Vocabulary) -> dict[str, Any]:
    """Return the record without the order of asking, which points to the answers of a result."""
    return {
        "conditions": record.conditions,
        "epsilon": record.epsilon,
        "delta": record.delta,
        "seed": record.seed,
        "candidates": record.candidates,
        "live": record.live,
        "spare": record.spare,
        **({"varies": True} if record.varies else {}),
        **({"classes": True} if record.classes else {}),
        "families": [
            {
                "at": family.at,
                "delta": family.delta,
                "purpose": family.purpose,
                "epsilon": family.epsilon,
                "rules": [NamedRule.of(rule, names).as_json() for rule in family.rules],
                "bases": [_base(base, names) for base in family.bases],
            }
            for family in record.families
        ],
        **({"almost": [_almost(one, names) for one in record.almost]} if record.almost else {}),
        **(
            {"more_often": [_more_often(one, names) for one in record.more_often]}
            if record.more_often
            else {}
        ),
        "draws": [list(draw) for draw in record.draws],
        "curve": [list(point) for point in record.curve],
    }


def _almost(shown: AlmostShown, names: Vocabulary) -> dict[str, Any]:
    """Return a rule with exceptions; where these stand among the answers is told later."""
    return {
        **NamedRule.of(shown.rule, names).as_json(),
        "tested": shown.tested,
        "broken": shown.broken,
        "bound": shown.bound,
    }


def _more_often(one: MoreOften, names: Vocabulary) -> dict[str, Any]:
    return {
        "if": list(names.names_of(one.conditions)),
        "label": names.names_of(one.label)[0],
        "tested": one.tested,
        "given": one.given,
        "at_least": one.at_least,
        "overall": one.overall,
    }


def point_to_answers(
    content: dict[str, Any], record: SiftRecord, position: Callable[[int], int]
) -> None:
    """Say where the cells stand among the answers: in the order of asking, and the exceptions."""
    content["order"] = [position(cell) for cell in record.order]
    for line, shown in zip(content.get("almost", ()), record.almost, strict=True):
        line["exceptions"] = [position(cell) for cell in shown.exceptions]


def _base(base: Base, names: Vocabulary) -> dict[str, Any]:
    if base.member >= 0:
        return {"rule": base.member}
    return {"if": list(names.names_of(base.conditions))}


def sift_from_json(
    content: Mapping[str, Any], names: Vocabulary, needs: tuple[int, ...] = ()
) -> SiftRecord:
    """Return the record of a result's JSON; what cannot be is an InputError."""
    try:
        for name in COUNTS:
            check_count(name, content[name])
        if not all(isfinite(content[name]) for name in ("epsilon", "delta", "spare")):
            raise ValueError("epsilon, delta and spare must be numbers")
        return SiftRecord(
            content["conditions"],
            content["epsilon"],
            content["delta"],
            content["seed"],
            content["candidates"],
            content["live"],
            draws=tuple(Draw(*map(_count, line)) for line in content["draws"]),
            families=tuple(_family(line, names) for line in content["families"]),
            spare=content["spare"],
            varies=bool(content.get("varies", False)),
            curve=tuple((_count(asked), _count(live)) for asked, live in content["curve"]),
            needs=needs,
            almost=tuple(
                AlmostShown(
                    _rule(line, names),
                    _count(line["tested"]),
                    _count(line["broken"]),
                    float(line["bound"]),
                    tuple(map(_count, line.get("exceptions", ()))),
                )
                for line in content.get("almost", ())
            ),
            more_often=tuple(
                MoreOften(
                    names.mask(line["if"]),
                    names.mask([line["label"]]),
                    _count(line["tested"]),
                    _count(line["given"]),
                    float(line["at_least"]),
                    float(line["overall"]),
                )
                for line in content.get("more_often", ())
            ),
            classes=bool(content.get("classes", False)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"has a record of a sift that cannot be: {error}") from None


def with_order(record: SiftRecord, order: Any, cells: list[int]) -> SiftRecord:
    """Return a record with its cells, which JSON gives by their places among the answers.

    Until then, the exceptions of a rule are such places, too.
    """
    try:
        almost = tuple(
            replace(shown, exceptions=tuple(cells[place] for place in shown.exceptions))
            for shown in record.almost
        )
        return replace(record, order=tuple(cells[_count(place)] for place in order), almost=almost)
    except (TypeError, ValueError, IndexError):
        raise InputError("has a record of a sift that points to no answer") from None


def _family(line: Mapping[str, Any], names: Vocabulary) -> FixedRules:
    if line["purpose"] not in PURPOSES:
        raise ValueError(f"purpose must be one of {', '.join(PURPOSES)}")
    rules = tuple(_rule(each, names) for each in line["rules"])
    bases = tuple(
        Base(_count(each["rule"])) if "rule" in each else Base(conditions=names.mask(each["if"]))
        for each in line["bases"]
    )
    at, delta, epsilon = _count(line["at"]), float(line["delta"]), float(line["epsilon"])
    return FixedRules(at, delta, rules, bases, line["purpose"], epsilon)


def _rule(line: Mapping[str, Any], names: Vocabulary) -> Rule:
    left = names.mask(line["if"])
    return Rule(left, BOTTOM if line["then"] is None else left | names.mask(line["then"]))


def _count(value: Any) -> int:
    check_count("a place", value)
    return int(value)
