"""Almost-rules and levels as they stand in envelope.json, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.logic.almost import AlmostRule, AlmostRules
from hornlens.logic.bits import BOTTOM
from hornlens.logic.levels import Levels, Step
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.vocabulary import Vocabulary


def almost_as_json(almost: AlmostRules, names: Vocabulary) -> dict[str, Any]:
    """Return the keys of envelope.json that hold the almost-rules."""
    claim = {"min_confidence": almost.min_confidence, "max_conditions": almost.max_conditions}
    if almost.min_support is not None:
        claim["min_support"] = almost.min_support
    return {
        "almost_claim": {**claim, "sentence": almost.sentence},
        "almost": [
            {
                **NamedRule.of(each.rule, names).as_json(),
                "confidence": each.confidence,
                "broken": each.broken,
                "of": each.of,
                "exceptions": [list(names.names_of(x)) for x in each.exceptions],
                **({"lines": list(each.lines)} if each.lines else {}),
            }
            for each in almost.rules
        ],
    }


def almost_from_json(content: Mapping[str, Any], names: Vocabulary) -> AlmostRules | None:
    """Return the almost-rules of an envelope.json; None if they were not asked for."""
    if "almost" not in content:
        return None
    claim = content["almost_claim"]
    return AlmostRules(
        _number(claim["min_confidence"]),
        _count(claim["max_conditions"]),
        _count(claim["min_support"]) if "min_support" in claim else None,
        tuple(
            AlmostRule(
                _rule(line, names),
                _count(line["of"]),
                _count(line["broken"]),
                tuple(names.mask(x) for x in line["exceptions"]),
                tuple(_count(n) for n in line.get("lines", ())),
            )
            for line in content["almost"]
        ),
    )


def levels_as_json(levels: Levels, names: Vocabulary) -> dict[str, Any]:
    """Return the curve as envelope.json has it."""
    return {
        "min_confidence": levels.min_confidence,
        "max_conditions": levels.max_conditions,
        "exception_cost": levels.exception_cost,
        "candidates": levels.candidates,
        "rejections": levels.rejections,
        "exact_rules": levels.exact_rules,
        "by_exact": levels.by_exact,
        "chosen": levels.chosen,
        "optimal": levels.optimal,
        "guarantee": levels.guarantee,
        "steps": [
            {
                **NamedRule.of(step.rule, names).as_json(),
                "explained": step.explained,
                "at_most": step.at_most,
                "new_exceptions": [list(names.names_of(x)) for x in step.exceptions],
            }
            for step in levels.steps
        ],
    }


def levels_from_json(content: Mapping[str, Any], names: Vocabulary) -> Levels | None:
    """Return the curve of an envelope.json; None if there is none, as in older files."""
    if (found := content.get("levels")) is None:
        return None
    steps = tuple(
        Step(
            _rule(line, names),
            _count(line["explained"]),
            tuple(names.mask(x) for x in line["new_exceptions"]),
            _count(line["at_most"]),
        )
        for line in found["steps"]
    )
    chosen = found["chosen"]
    if chosen is not None and not 0 <= _count(chosen) <= len(steps):
        raise ValueError("a level that there is not")
    return Levels(
        _number(found["min_confidence"]),
        _count(found["max_conditions"]),
        _number(found["exception_cost"]),
        _count(found["candidates"]),
        _count(found["rejections"]),
        _count(found["exact_rules"]),
        _count(found["by_exact"]),
        steps,
        chosen,
        bool(found["optimal"]),
    )


def _rule(line: Mapping[str, Any], names: Vocabulary) -> Rule:
    left, then = names.mask(line["if"]), line["then"]
    return Rule(left, BOTTOM if then is None else left | names.mask(then))


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise ValueError("something else where a number should stand")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < float("inf"):
        raise ValueError("something else where a number should stand")
    return float(value)
