"""The page of a comparison: which rules of one result hold in another, and what breaks the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornlens.report.page.assemble import assemble
from hornlens.report.terminal import plural
from hornlens.results.comparison import COMPARISON, ComparedPair, Comparison, RuleOutcome

SCRIPTS = ("dom.js", "table.js", "comparison.js")


@dataclass(frozen=True)
class Row:
    """A rule in a comparison: whose it is, and what becomes of it in the other result."""

    line: RuleOutcome
    owner: str
    group: str

    @property
    def outcome(self) -> str:
        """What became of the rule, in a word or two."""
        return "shared" if self.group == "shared" else f"{self.group}, {self.line.outcome}"


def comparison_page(comparison: Comparison) -> str:
    """Return the page of a comparison."""
    names = [result.name for result in comparison.results]
    return assemble(
        "comparison.html",
        SCRIPTS,
        COMPARISON.as_json(comparison),
        title=f"{names[0]} compared with {', '.join(names[1:])}",
        content=comparison,
        letters=[_letter(i) for i in range(len(names))],
        pairs=[_pair(pair) for pair in comparison.comparisons],
        common=comparison.common,
        plural=plural,
    )


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else f"R{index + 1}"


def _pair(pair: ComparedPair) -> dict[str, Any]:
    """Return the rows of two results: rules shared, lost (in the left only), new (in the right)."""
    left = pair.rules_of_left_in_right
    lost = [Row(line, "left", "lost") for line in left if line.outcome != "entailed"]
    rows = lost + [Row(line, "right", "new") for line in pair.new]
    rows.sort(key=lambda row: row.line.outcome != "contradicted")
    contradicted = sum(row.line.outcome == "contradicted" for row in rows)
    said = set()
    for owner, lines in (("left", left), ("right", pair.rules_of_right_in_left)):
        for line in lines:
            if line.outcome == "entailed" and line.rule not in said:
                said.add(line.rule)
                rows.append(Row(line, owner, "shared"))
    return {
        "left": pair.left,
        "right": pair.right,
        "rows": rows,
        "counts": {
            "shared": len(left) - len(lost),
            "of": len(left),
            "lost": len(lost),
            "new": len(pair.new),
            "contradicted": contradicted,
        },
    }
