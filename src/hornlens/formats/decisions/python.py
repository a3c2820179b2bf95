"""A decision list as a function of Python that needs nothing else."""

from __future__ import annotations

from hornlens.formats.decisions.lists import DecisionList, ListColumn, ListCondition
from hornlens.formats.plain import visible

BEGINNING = '''
def classify(row=None, /, **columns):
    """Return the class of a row: a mapping from names of columns to values, or these by name.

    A value that is None, NaN or NA is missing. Where no rule decides, it is {other}.
    """
    values = {{**({{}} if row is None else row), **columns}}
'''
NUMBER = '''

def _whole(value):
    """Return a whole number as it is, and NaN where it is missing; others in double precision."""
    return value.__index__() if hasattr(value, "__index__") else _number(value)


def _number(value):
    """Return a number in double precision, and NaN where it is missing."""
    return float("nan") if _missing(value) else float(value)
'''
MISSING = '''

def _missing(value):
    """Return whether a value is missing: None, NaN, or NA of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value)
'''
CATEGORY = '''

def _category(value):
    """Return a value, and None where it is missing."""
    return None if _missing(value) else value
'''


def write_python(rules: DecisionList) -> str:
    """Return a module with a function `classify`, which takes a row as a mapping, or its columns.

    A bound is written with all its digits. Numbers are compared in double precision, whatever type
    they come in; in columns of whole numbers, as whole numbers.
    """
    lines = [
        f"# {visible(rules.model)}: {visible(rules.target)}, by rules. {visible(rules.claim)}",
        "",
        BEGINNING.format(other=_as_text(repr(rules.otherwise))).rstrip("\n"),
    ]
    for place, column in enumerate(rules.columns):
        reader = {"number": "_number", "whole": "_whole"}.get(column.kind, "_category")
        lines.append(f"    v{place} = {reader}(values[{column.name!r}])")
    for place in rules.guarded:
        lines.append(f"    if {_unknown(rules.columns[place], f'v{place}')}:")
        lines.append(f"        return {rules.otherwise!r}")
    for rule in rules.rules:
        tests = [_test(rules.columns[one.column], one) for one in rule.conditions]
        lines.append(f"    # {visible(rule.text)}")
        lines.append(f"    if {' and '.join(tests) or 'True'}:")
        lines.append(f"        return {rule.label!r}")
    lines.append(f"    return {rules.otherwise!r}")
    return "\n".join(lines) + "\n" + NUMBER + CATEGORY + MISSING


def _as_text(code: str) -> str:
    """Return code as it may stand in a docstring."""
    return code.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _unknown(column: ListColumn, name: str) -> str:
    """Return the test for a value of which the rules do not know."""
    if column.is_number:
        return f"{name} != {name}"
    known = (*column.values, None) if column.missing else column.values
    return f"{name} not in {known!r}"


def _test(column: ListColumn, condition: ListCondition) -> str:
    name = f"v{condition.column}"
    if not column.is_number:
        if condition.missing:
            return f"{name} is None"
        return f"{name} in {condition.values!r}" if condition.values else f"{name} is not None"
    if condition.missing:
        return f"{name} != {name}"
    low, high = condition.at_least, condition.below
    if low is not None and high is not None:
        return f"{low!r} <= {name} < {high!r}"
    if low is not None:
        return f"{name} >= {low!r}"
    return f"{name} == {name}" if high is None else f"{name} < {high!r}"
