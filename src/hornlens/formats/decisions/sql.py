"""A decision list as a CASE expression of ANSI SQL.

Names are quoted identifiers, NULL is what is missing, and a row that no rule decides is NULL, or
what is given. Databases read decimal numbers differently in the last bit, some as decimals and some
with rounding on the way. So a bound is written as a decimal only where none of them can go wrong;
any other is a whole number divided by a power of two, which is exact in double precision.
"""

from __future__ import annotations

from decimal import Decimal

from hornlens.errors import HornlensError
from hornlens.formats.decisions.lists import DecisionList, ListColumn, ListCondition, Scalar
from hornlens.formats.plain import visible

WHOLE = 2**53
"""Up to here every whole number has a place in double precision."""
DIGITS, DECIMALS = 15, 22
"""Decimals of so many digits, and so many of these behind the point, are read alike everywhere."""
STEP = 62
"""The largest power of two that is a whole number of SQL."""


def write_sql(rules: DecisionList) -> str:
    """Return a CASE expression that gives the class of a row, to be put into a SELECT."""
    other = _literal(rules.otherwise)
    lines = [
        f"-- {visible(rules.model)}: {visible(rules.target)}, by rules. {visible(rules.claim)}",
        "-- ANSI SQL: names in double quotes; no escapes by a backslash in text.",
        "CASE",
    ]
    for place in rules.guarded:
        lines.append(f"  WHEN {_unknown(rules.columns[place])} THEN {other}")
    for rule in rules.rules:
        tests = [_test(rules.columns[one.column], one) for one in rule.conditions]
        lines.append(f"  -- {visible(rule.text)}")
        lines.append(f"  WHEN {' AND '.join(tests) or '1 = 1'} THEN {_literal(rule.label)}")
    return "\n".join([*lines, f"  ELSE {other}", "END"]) + "\n"


def _unknown(column: ListColumn) -> str:
    """Return the test for a value of which the rules do not know."""
    name = _name(column.name)
    if column.is_number:
        return f"{name} IS NULL"
    strange = f"{name} NOT IN ({', '.join(map(_literal, column.values))})"
    if not column.values:
        return f"{name} IS NOT NULL"
    return strange if column.missing else f"{name} IS NULL OR {strange}"


def _test(column: ListColumn, condition: ListCondition) -> str:
    name, tests = _name(column.name), []
    if condition.missing:
        return f"{name} IS NULL"
    if condition.at_least is not None:
        tests.append(f"{name} >= {_bound(column, condition.at_least)}")
    if condition.below is not None:
        tests.append(f"{name} < {_bound(column, condition.below)}")
    if len(condition.values) == 1:
        tests.append(f"{name} = {_literal(condition.values[0])}")
    elif condition.values:
        tests.append(f"{name} IN ({', '.join(map(_literal, condition.values))})")
    return " AND ".join(tests) or f"{name} IS NOT NULL"


def _name(name: str) -> str:
    return '"' + _sound(name).replace('"', '""') + '"'


def _literal(value: Scalar | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + _sound(value).replace("'", "''") + "'"
    return str(value) if isinstance(value, int) else _number(value)


def _sound(text: str) -> str:
    if "\0" in text:
        raise HornlensError(f"SQL has no character of number 0, as there is in {text!r}")
    return text


def _bound(column: ListColumn, value: float) -> str:
    """Return a bound; one of whole numbers is a whole number, however large, if it is one."""
    is_whole = column.kind == "whole" and value == int(value)
    return str(int(value)) if is_whole else _number(value)


def _number(value: float) -> str:
    """Return a number of double precision that every database reads to the last bit.

    >>> _number(30.0), _number(0.8), _number(0.1 + 0.2)
    ('30', '0.8', '(CAST(1351079888211149 AS DOUBLE PRECISION) / 4503599627370496)')
    """
    if value == int(value) and abs(value) <= WHOLE:
        return str(int(value))
    short = Decimal(repr(value)).normalize()
    places = -int(short.as_tuple().exponent)
    if 0 < places <= DECIMALS and len(short.as_tuple().digits) <= DIGITS:
        return f"{short:f}"
    above, below = value.as_integer_ratio()
    power = below.bit_length() - 1
    while above % 2 == 0:
        above, power = above // 2, power - 1
    sign, parts = ("/", []) if power >= 0 else ("*", [])
    for start in range(0, abs(power), STEP):
        parts.append(f"{sign} {2 ** min(STEP, abs(power) - start)}")
    return f"(CAST({above} AS DOUBLE PRECISION) {' '.join(parts)})"
