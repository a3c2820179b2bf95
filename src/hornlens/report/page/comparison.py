"""The page of a comparison: which rules of one result hold in another, and what breaks the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornlens.report.page.assemble import assemble
from hornlens.results.analysis.comparison import (
    COMPARISON,
    VACUOUSLY,
    ComparedPair,
    Comparison,
    RuleOutcome,
)

SCRIPTS = ("dom.js", "table.js", "comparison.js")
RATES = 25
"""How many rates that differ the page shows; comparison.json has all of them."""
ORDER = ("contradicted", "unknown", "vacuous", "entailed")
"""What comes first in a table of rules."""


@dataclass(frozen=True)
class Row:
    """A rule in a comparison: whose it is, and what becomes of it in the other result."""

    line: RuleOutcome
    owner: str
    other: str
    group: str

    @property
    def outcome(self) -> str:
        """What became of the rule, in a word or two."""
        if self.group in ("shared", "vacuous"):
            return self.group
        return f"{self.group}, {self.line.outcome}"


def comparison_page(comparison: Comparison) -> str:
    """Return the page of a comparison."""
    names = [result.name for result in comparison.results]
    return assemble(
        "comparison.html",
        SCRIPTS,
        COMPARISON.as_json(comparison),
        title=f"{names[0]} compared with {', '.join(names[1:])}",
        content=comparison,
        pairs=[_pair(pair) for pair in comparison.comparisons],
        common=comparison.common,
        vacuously=VACUOUSLY,
        rates=(comparison.rates or ())[:RATES],
    )


def _pair(pair: ComparedPair) -> dict[str, Any]:
    """Return the rows of two results.

    Of the left result's rules, some are shared, some vacuous in the right one, the others are lost;
    those of the right one that do not hold in the left, or only vacuously, are new.
    """
    rows: list[Row] = []
    groups = {"entailed": "shared", "vacuous": "vacuous"}
    said = set()
    for line in pair.rules_of_left_in_right:
        rows.append(Row(line, pair.left, pair.right, groups.get(line.outcome, "lost")))
        said.add(line.rule)
    for line in pair.rules_of_right_in_left:
        if line.outcome != "entailed":
            rows.append(Row(line, pair.right, pair.left, "new"))
        elif line.rule not in said:
            rows.append(Row(line, pair.right, pair.left, "shared"))
    rows.sort(key=lambda row: ORDER.index(row.line.outcome))
    left = [line.outcome for line in pair.rules_of_left_in_right]
    return {
        "left": pair.left,
        "right": pair.right,
        "sentences": pair.sentences,
        "rows": rows,
        "counts": {
            "shared": left.count("entailed"),
            "vacuous": left.count("vacuous"),
            "of": len(left),
            "lost": len(left) - left.count("entailed") - left.count("vacuous"),
            "new": len(pair.new),
            "contradicted": sum(row.line.outcome == "contradicted" for row in rows),
        },
    }
