"""`hornlens compare`: two or more results, rule by rule."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.logic.named import NamedRule
from hornlens.logic.theory import Theory
from hornlens.report.page import page
from hornlens.report.terminal import Terminal, plural, show_set
from hornlens.results.comparison import (
    Comparison,
    Fate,
    Result,
    common_consequences,
    compare,
    load_result,
)


def compare_command(paths: list[Path], fail_on_new: bool, out: Path | None, form: str) -> int:
    """Compare the first result with each of the others; return the exit code."""
    if len(paths) < 2:
        raise HornlensError("compare needs two results or more")
    results = [load_result(path) for path in paths]
    comparisons = [compare(results[0], other) for other in results[1:]]
    common = common_consequences(results)
    content = _as_json(results, comparisons, common)
    if out is not None:
        write_file(out / "comparison.json", json_text(content))
        write_file(out / "report.html", page("comparison.json", content))
    if form == "json":
        sys.stdout.write(json_text(content))
    else:
        terminal = Terminal()
        _show(terminal, results, comparisons, common)
        if out is not None:
            terminal.say()
            terminal.say(f"Report: {out / 'report.html'} (beside it comparison.json)")
    return int(fail_on_new and any(comparison.new for comparison in comparisons))


def _as_json(
    results: list[Result], comparisons: list[Comparison], common: Theory | None
) -> dict[str, Any]:
    """Return the contents of comparison.json."""
    names = results[0].vocabulary

    def fate(item: Fate) -> dict[str, Any]:
        line = {**NamedRule.of(item.rule, names).as_json(), "fate": item.kind}
        if item.witness is not None:
            line["witness"] = {
                "accepted": list(names.names_of(item.witness.x)),
                "prompts": list(item.witness.prompts),
                **({"abstained": True} if item.witness.abstained else {}),
            }
        return line

    return {
        "hornlens": __version__,
        "results": [{"name": r.name, "certificate": r.certificate} for r in results],
        "comparisons": [
            {
                "left": comparison.left.name,
                "right": comparison.right.name,
                "rules_of_left_in_right": [fate(item) for item in comparison.lost],
                "rules_of_right_in_left": [fate(item) for item in comparison.gained],
            }
            for comparison in comparisons
        ],
        "common": None
        if common is None
        else [NamedRule.of(rule, names).as_json() for rule in common],
    }


def _show(
    terminal: Terminal,
    results: list[Result],
    comparisons: list[Comparison],
    common: Theory | None,
) -> None:
    names = results[0].vocabulary
    for comparison in comparisons:
        left, right = comparison.left, comparison.right
        terminal.say(f"A: {left.name} ({left.certificate})", "bold")
        terminal.say(f"B: {right.name} ({right.certificate})", "bold")
        for owner, other, fates in (("A", "B", comparison.lost), ("B", "A", comparison.gained)):
            kept = sum(fate.kind == "entailed" for fate in fates)
            terminal.say()
            terminal.say(f"Of {plural(len(fates), 'rule')} of {owner}, {kept} hold in {other} too.")
            rest = [fate for fate in fates if fate.kind != "entailed"]
            if rest:
                rows = [[f.rule.show(names), f.kind, _shown(f, names.names_of)] for f in rest]
                terminal.table([f"rule of {owner}", f"in {other}", f"what {other} says"], rows)
        terminal.say()
    if common is None:
        terminal.say("The common consequences were not worked out: too many interpretations.")
    else:
        terminal.say(f"{plural(len(common), 'rule')} in common, all consequences considered:")
        for rule in common:
            terminal.say(f"  {rule.show(names)}")


def _shown(fate: Fate, names_of: Any) -> str:
    if fate.witness is None:
        return ""
    how = " (it abstains)" if fate.witness.abstained else ""
    return f"{show_set(names_of(fate.witness.x))}{how}: {fate.witness.prompts[0]}"
