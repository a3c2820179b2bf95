"""The page of a comparison: which rules of one result hold in another, and what breaks the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hornlens.report.page.assemble import assemble
from hornlens.report.terminal import plural

SCRIPTS = ("dom.js", "table.js", "comparison.js")


@dataclass(frozen=True)
class Row:
    """A rule in a comparison: whose it is, and what becomes of it in the other result."""

    line: Mapping[str, Any]
    owner: str
    group: str

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """The answer of the other model that breaks the rule, if one is known."""
        return self.line.get("witness")

    @property
    def outcome(self) -> str:
        """What became of the rule, in a word or two."""
        if self.group == "shared":
            return "shared"
        return f"{self.group}, {self.line['fate']}"


def comparison_page(content: dict[str, Any], run: Mapping[str, Any]) -> str:
    """Return the page of a comparison.json."""
    pairs = [_pair(item) for item in content["comparisons"]]
    names = [result["name"] for result in content["results"]]
    return assemble(
        "comparison.html",
        SCRIPTS,
        content,
        title=f"{names[0]} compared with {', '.join(names[1:])}",
        content=content,
        letters=[_letter(i) for i in range(len(names))],
        pairs=pairs,
        common=content["common"],
        plural=plural,
    )


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else f"R{index + 1}"


def _pair(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of two results: rules shared, lost (in the left only), new (in the right)."""
    left, right = item["rules_of_left_in_right"], item["rules_of_right_in_left"]
    rows = [Row(line, "left", "lost") for line in left if line["fate"] != "entailed"]
    rows += [Row(line, "right", "new") for line in right if line["fate"] != "entailed"]
    rows.sort(key=lambda row: row.line["fate"] != "contradicted")
    said: set[str] = set()
    for owner, lines in (("left", left), ("right", right)):
        for line in lines:
            key = repr((line["if"], line["then"]))
            if line["fate"] == "entailed" and key not in said:
                said.add(key)
                rows.append(Row(line, owner, "shared"))
    return {
        "left": item["left"],
        "right": item["right"],
        "rows": rows,
        "counts": {
            "shared": sum(line["fate"] == "entailed" for line in left),
            "of": len(left),
            "lost": sum(line["fate"] != "entailed" for line in left),
            "new": sum(line["fate"] != "entailed" for line in right),
            "contradicted": sum(row.line["fate"] == "contradicted" for row in rows),
        },
    }
