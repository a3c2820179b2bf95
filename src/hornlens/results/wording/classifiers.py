"""What is said of the sifted rules of a classifier, beside the rules that are listed."""

from __future__ import annotations

from collections.abc import Mapping

from hornlens.counts import plural
from hornlens.logic.scopes import percent
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.vocabulary import Vocabulary
from hornlens.logic.warrants import percentage


def asked_of_model(statistics: Mapping[str, int]) -> str:
    """Return what a classifier was asked, and what for: every row that it was given counts.

    >>> print(asked_of_model(
    ...     {"questions": 1372, "drawn": 202, "rows": 500, "measured": 700, "predicted": 2572}
    ... ))
    The model was asked about 2,572 rows: 1,372 cells (202 of them drawn inside rules), 500 rows of
    X, and 700 inputs to measure how the bins agree.
    """
    cells, drawn = plural(statistics["questions"], "cell"), statistics["drawn"]
    rows, inputs = plural(statistics["rows"], "row"), plural(statistics["measured"], "input")
    return (
        f"The model was asked about {plural(statistics['predicted'], 'row')}: {cells} ({drawn:,} "
        f"of them drawn inside rules), {rows} of X, and {inputs} to measure how the bins agree."
    )


def with_exceptions(
    record: SiftRecord, names: Vocabulary, words: Mapping[str, str], who: str
) -> list[str]:
    """Return the rules that have exceptions and stand for narrower ones, a sentence each.

    `words` are the classes by their variables.
    """
    sentences = []
    for one in record.almost:
        (label,) = names.names_of(one.rule.new)
        where = _where(one.rule.antecedent, names)
        sentences.append(
            f"{where}{who} says {words[label]}, but for at most {percentage(one.bound)} of the "
            f"cells: {one.broken:,} of {one.tested:,} drawn there are exceptions, "
            f"{len(one.exceptions):,} are known in all. It stands for narrower rules."
        )
    return [sentence[0].upper() + sentence[1:] for sentence in sentences]


def given_more_often(
    record: SiftRecord, names: Vocabulary, words: Mapping[str, str], who: str
) -> list[str]:
    """Return where a class that is rare everywhere is given more often, a sentence each."""
    sentences = []
    for one in record.more_often:
        (label,) = names.names_of(one.label)
        sentences.append(
            f"{_where(one.conditions, names)}{who} says {words[label]} in at least "
            f"{percent(one.at_least)} of the cells ({one.given:,} of {one.tested:,} drawn there); "
            f"of all cells in at most {percentage(one.overall)}."
        )
    return [sentence[0].upper() + sentence[1:] for sentence in sentences]


def _where(mask: int, names: Vocabulary) -> str:
    conditions = names.names_of(mask)
    return f"where {' and '.join(conditions)}, " if conditions else ""
