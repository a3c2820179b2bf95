"""A decision list as a RuleSetModel of PMML 4.4, in which the first rule that applies decides.

An input that the rules do not know (a category, or a missing value that never was) makes the result
invalid, which is no class; where there is a class for what no rule decides, a rule in front of all
others gives it that. A set of values is written as one comparison for each: how arrays escape what
is in them is read in several ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from hornlens.errors import HornlensError
from hornlens.formats.decisions.lists import (
    DecisionList,
    ListColumn,
    ListCondition,
    ListRule,
    Scalar,
)
from hornlens.formats.plain import visible

NAMESPACE = "http://www.dmg.org/PMML-4_4"
LARGEST = 2**53
"""Up to here, every whole number has a place in double precision."""
_NO_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]")


def write_pmml(rules: DecisionList) -> str:
    """Return a document with one model, whose rules are in the order in which they decide."""
    target = rules.target
    while target in {column.name for column in rules.columns}:
        target += "_"
    types = [_type_of(rules, place) for place in range(len(rules.columns))]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<PMML version="4.4" xmlns="{NAMESPACE}">',
            f"  <Header description={_quoted(visible(f'{rules.model}: {rules.claim}'))}>",
            '    <Application name="Hornlens"/>',
            "  </Header>",
            f'  <DataDictionary numberOfFields="{len(rules.columns) + 1}">',
            *(
                line
                for column, kind in zip(rules.columns, types, strict=True)
                for line in _field(column.name, kind, column.values)
            ),
            *_field(target, _type(rules.classes, "the class"), rules.classes),
            "  </DataDictionary>",
            '  <RuleSetModel functionName="classification" algorithmName="Hornlens">',
            "    <MiningSchema>",
            *(_mining_field(column, rules.otherwise) for column in rules.columns),
            f'      <MiningField name={_quoted(target)} usageType="target"/>',
            "    </MiningSchema>",
            *_rule_set(rules),
            "  </RuleSetModel>",
            "</PMML>",
            "",
        ]
    )


def _quoted(text: str) -> str:
    if strange := _NO_XML.search(text):
        raise HornlensError(f"PMML has no character {strange[0]!r}, as there is in {text!r}")
    return quoteattr(text)


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _type(values: Sequence[Scalar], where: str) -> str:
    """Return the type of PMML that all values have."""
    if all(isinstance(value, str) for value in values):
        return "string"
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if not any(isinstance(value, bool | str) for value in values):
        return "integer" if all(isinstance(value, int) for value in values) else "double"
    raise HornlensError(f"PMML has one type for all values of {where}, which has several")


def _type_of(rules: DecisionList, place: int) -> str:
    """Return the type of a column; whole numbers are "double" where that loses none of them.

    (Some evaluators take "integer" for what fits into 32 bits.)
    """
    column = rules.columns[place]
    if not column.is_number:
        return _type(column.values, f"column {column.name!r}")
    own = (one for rule in rules.rules for one in rule.conditions if one.column == place)
    bounds = [bound for one in own for bound in (one.at_least, one.below) if bound is not None]
    is_large = any(isinstance(bound, int) and abs(bound) > LARGEST for bound in bounds)
    return "integer" if is_large else "double"


def _field(name: str, kind: str, values: Sequence[Scalar]) -> list[str]:
    begin = f"    <DataField name={_quoted(name)} dataType={_quoted(kind)}"
    if not values:
        return [f'{begin} optype="continuous"/>']
    named = [f"      <Value value={_quoted(_text(value))}/>" for value in values]
    return [f'{begin} optype="categorical">', *named, "    </DataField>"]


def _mining_field(column: ListColumn, otherwise: Scalar | None) -> str:
    treatment = "returnInvalid" if otherwise is None else "asIs"
    line = f'      <MiningField name={_quoted(column.name)} invalidValueTreatment="{treatment}"'
    if not column.missing and otherwise is None:
        line += ' missingValueTreatment="returnInvalid"'
    return line + "/>"


def _rule_set(rules: DecisionList) -> list[str]:
    other = "" if rules.otherwise is None else f" defaultScore={_quoted(_text(rules.otherwise))}"
    lines = [f"    <RuleSet{other}>", '      <RuleSelectionMethod criterion="firstHit"/>']
    if rules.otherwise is not None:
        for place in rules.guarded:
            score = _quoted(_text(rules.otherwise))
            lines += [
                f'      <SimpleRule id="unknown {place + 1}" score={score}>',
                *_indented(_unknown(rules.columns[place])),
                "      </SimpleRule>",
            ]
    for number, rule in enumerate(rules.rules, start=1):
        lines += [f"      {_begin(number, rule)}"]
        parts = [test for one in rule.conditions for test in _tests(rules.columns[one.column], one)]
        lines += [*_indented(_joined("and", parts)), "      </SimpleRule>"]
    return [*lines, "    </RuleSet>"]


def _begin(number: int, rule: ListRule) -> str:
    counts = f'recordCount="{rule.support}" nbCorrect="{rule.right}"'
    sure = f' confidence="{rule.right / rule.support!r}"' if rule.support else ""
    text = escape(visible(rule.text).replace("--", "- -"))
    return (
        f"<!-- {text} -->\n"
        f'      <SimpleRule id="{number}" score={_quoted(_text(rule.label))} {counts}{sure}>'
    )


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"        {line}" for line in lines]


def _joined(operator: str, tests: Sequence[Sequence[str]]) -> list[str]:
    """Return tests as one: all of them, or any."""
    if not tests:
        return ["<True/>"]
    if len(tests) == 1:
        return list(tests[0])
    inner = [f"  {line}" for test in tests for line in test]
    return [f'<CompoundPredicate booleanOperator="{operator}">', *inner, "</CompoundPredicate>"]


def _simple(name: str, operator: str, value: str | None = None) -> list[str]:
    given = "" if value is None else f" value={_quoted(value)}"
    return [f'<SimplePredicate field={_quoted(name)} operator="{operator}"{given}/>']


def _unknown(column: ListColumn) -> list[str]:
    """Return the predicate for a value of which the rules do not know."""
    is_missing = _simple(column.name, "isMissing")
    if column.is_number:
        return is_missing
    others = [_simple(column.name, "notEqual", _text(value)) for value in column.values]
    strange = _joined("and", others or [_simple(column.name, "isNotMissing")])
    return strange if column.missing else _joined("or", [is_missing, strange])


def _tests(column: ListColumn, condition: ListCondition) -> list[list[str]]:
    name, tests = column.name, []
    if condition.missing:
        return [_simple(name, "isMissing")]
    for bound, operator in (
        (condition.at_least, "greaterOrEqual"),
        (condition.below, "lessThan"),
    ):
        if bound is not None:
            tests.append(_simple(name, operator, repr(bound)))
    if condition.values:
        equal = [_simple(name, "equal", _text(value)) for value in condition.values]
        tests.append(_joined("or", equal))
    return tests or [_simple(name, "isNotMissing")]
