"""What is said of a classifier beside its rules: what it was asked, sifted rules, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hornlens.counts import plural
from hornlens.logic.grounds import Sieve
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.vocabulary import Vocabulary
from hornlens.results.wording.sifting import almost_scope, almost_words, often_words, tried_words


def asked_of_model(statistics: Mapping[str, int]) -> str:
    """Return what a classifier was asked, and what for: every row that it was given counts.

    >>> print(asked_of_model(
    ...     {"questions": 1372, "drawn": 202, "rows": 500, "measured": 700, "predicted": 2572}
    ... ))
    The model was asked about 2,572 rows: 1,372 cells (202 of them drawn inside rules), 500 rows of
    X, and 700 inputs to measure how well the bins agree.
    """
    cells = plural(statistics["questions"], "cell")
    if "drawn" in statistics:
        cells += f" ({statistics['drawn']:,} of them drawn inside rules)"
    rows, inputs = plural(statistics["rows"], "row"), plural(statistics["measured"], "input")
    parts = [cells, f"{rows} of X", f"{inputs} to measure how well the bins agree"]
    if statistics.get("flipped"):
        parts.append(f"{plural(statistics['flipped'], 'row')} with a column changed")
    return (
        f"The model was asked about {plural(statistics['predicted'], 'row')}: "
        f"{', '.join(parts[:-1])}, and {parts[-1]}."
    )


def beside_class_rules(
    record: SiftRecord, names: Vocabulary, words: Mapping[str, str], who: str
) -> list[str]:
    """Return what a sift shows beside the rules of classes, a sentence or two each.

    Rules that have exceptions and stand for narrower ones, and where a class that is rare
    everywhere is given more often. `words` are the classes by their variables.
    """
    sieve, lines = Sieve.of(record), []
    for almost in record.almost:
        (label,) = names.names_of(almost.rule.new)
        where = _where(almost.rule.antecedent, names)
        claim = f"{where}{who} says {words[label]}, {almost_scope(almost)}."
        lines.append(f"{claim} {almost_words(almost, sieve)}")
    for often in record.more_often:
        (label,) = names.names_of(often.label)
        where = _where(often.conditions, names)
        claim = f"{where}{who} says {words[label]} {often_words(often)}."
        lines.append(f"{claim} {tried_words(often, sieve)}")
    return [line[0].upper() + line[1:] for line in lines]


def _where(mask: int, names: Vocabulary) -> str:
    conditions = names.names_of(mask)
    return f"where {' and '.join(conditions)}, " if conditions else ""


def never_asked(model: str, names: Sequence[str]) -> str:
    """Return that a model never asks for some columns.

    >>> print(never_asked("the model", ["age"]))
    the model never asks for column 'age'
    >>> print(never_asked("the model", ["a", "b", "c", "d", "e"]))
    the model never asks for 5 columns: a, b, c and 2 more
    """
    if len(names) == 1:
        return f"{model} never asks for column {names[0]!r}"
    return f"{model} never asks for {len(names):,} columns: {_few(names)}"


def in_one_bin(names: Sequence[str]) -> str:
    """Return that some columns have one bin each."""
    if len(names) == 1:
        return f"column {names[0]!r} has one bin: rules are silent on it"
    return f"{len(names):,} columns have one bin, and rules are silent on them: {_few(names)}"


def _few(names: Sequence[str]) -> str:
    """Return names: all of four, else the first three and how many more there are."""
    if len(names) < 5:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3:,} more"
