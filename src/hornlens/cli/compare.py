"""`hornlens compare`: two or more results, rule by rule."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.formats.files import write_file
from hornlens.report.tables import rule_text
from hornlens.report.terminal import Terminal, plural, show_set
from hornlens.results.comparison import COMPARISON, Comparison, RuleOutcome, compare, load_result


def compare_command(paths: list[Path], fail_on_new: bool, out: Path | None, form: str) -> int:
    """Compare the first result with each of the others; return the exit code."""
    comparison = compare([load_result(path) for path in paths])
    if out is not None:
        from hornlens.report.page.comparison import comparison_page

        write_file(out / "comparison.json", COMPARISON.text(comparison))
        write_file(out / "report.html", comparison_page(comparison))
    if form == "json":
        sys.stdout.write(COMPARISON.text(comparison))
    else:
        terminal = Terminal()
        _show(terminal, comparison)
        if out is not None:
            terminal.say()
            terminal.say(f"Report: {out / 'report.html'} (beside it comparison.json)")
    return int(fail_on_new and any(pair.new for pair in comparison.comparisons))


def _show(terminal: Terminal, comparison: Comparison) -> None:
    left, *others = comparison.results
    for right, pair in zip(others, comparison.comparisons, strict=True):
        terminal.say(f"A: {left.name} ({left.certificate})", "bold")
        terminal.say(f"B: {right.name} ({right.certificate})", "bold")
        for owner, other, lines in (
            ("A", "B", pair.rules_of_left_in_right),
            ("B", "A", pair.rules_of_right_in_left),
        ):
            rest = [line for line in lines if line.outcome != "entailed"]
            held = len(lines) - len(rest)
            terminal.say()
            terminal.say(f"Of {plural(len(lines), 'rule')} of {owner}, {held} hold in {other} too.")
            if rest:
                rows = [[rule_text(line.rule), line.outcome, _witness(line)] for line in rest]
                terminal.table([f"rule of {owner}", f"in {other}", f"what {other} says"], rows)
        terminal.say()
    if comparison.common is None:
        terminal.say("The common consequences were not worked out: too many interpretations.")
        return
    common = comparison.common
    terminal.say(f"{plural(len(common), 'rule')} in common, all consequences considered:")
    for rule in common:
        terminal.say(f"  {rule_text(rule)}")


def _witness(line: RuleOutcome) -> str:
    if line.witness is None:
        return ""
    how = " (it abstains)" if line.witness.abstained else ""
    return f"{show_set(line.witness.accepted)}{how}: {line.witness.prompts[0]}"
