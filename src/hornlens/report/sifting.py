"""A sifted result on the terminal: what is listed, what is open, what is refuted, in that order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hornlens.counts import plural
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.sifted import SiftSummary
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.odds import odds, share_of_lead
from hornlens.results.wording.pages import vacuous_because
from hornlens.results.wording.sifting import RARE, asked_words, needed

SENTENCES, LINES, OPEN, EXCEPTIONS = 8, 25, 8, 3
"""How many rules are printed as sentences and as lines, how many open ones, how many exceptions."""


def show_sift_title(terminal: Terminal, result: Findings, summary: SiftSummary) -> None:
    """Print how many rules are listed, open and refuted."""
    certificate, sieve = result.envelope.certificate, summary.sieve
    terminal.say(
        f"{result.title}: {plural(len(result.rules), 'rule')} listed, {certificate.open:,} open, "
        f"{sieve.refuted:,} refuted; sifted: every {sieve.which}",
        "bold",
    )
    if certificate.ended is not None:
        terminal.say(f"The run was ended {certificate.ended.words}.")


def show_sifted(terminal: Terminal, result: Findings, summary: SiftSummary, out: Path) -> None:
    """Print the rules of a sifted result, and what became of all others."""
    _show_listed(terminal, result, summary, out)
    _show_beside(terminal, summary, out)
    _show_open(terminal, result, out)
    certificate = result.envelope.certificate
    terminal.say(f"Refuted: {summary.sieve.refutes(certificate.rules, certificate.open)}.")
    if result.worlds:
        terminal.say(f"Rules that hold in one {result.noun} alone were not looked for.")
    terminal.say(asked_words(summary.record, "cell"))


def _show_listed(terminal: Terminal, result: Findings, summary: SiftSummary, out: Path) -> None:
    if not len(result.rules):
        terminal.say()
        terminal.say("Listed: none.")
        return
    terminal.say()
    tested = not all(row.warrant.proved for row in result.rules)
    terminal.say(f"Listed: {summary.sieve.listed(len(result.rules), tested)}.")
    for row in result.rules[:SENTENCES]:
        terminal.say(f"  • {row.sentence}{' (vacuous)' if row.vacuous else ''}")
    terminal.say()
    terminal.table(*_listed_table(result))
    if len(result.rules) > LINES:
        terminal.say(f"… and {len(result.rules) - LINES:,} more: {out / 'rules.csv'}")
    if vacuous := sum(result.vacuous):
        why = vacuous_because(result.vacuity, result.question.unit)
        terminal.say(f"{plural(vacuous, 'rule')} of these hold vacuously: {why}.")
    terminal.say()


def _listed_table(result: Findings) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the columns and the lines of the listed rules."""
    rows = result.rules[:LINES]
    scored = any(row.smallest_margin is not None for row in rows)
    columns = ["rule", "warrant", "random cases", "cases asked"]
    lines = [
        [
            str(row),
            row.warrant.words,
            f"{row.warrant.tested:,}" if row.warrant.tested else "",
            f"{row.cells:,}",
            *([_closest(result, row.smallest_margin)] if scored else []),
        ]
        for row in rows
    ]
    closest = "odds, at least" if result.in_odds else "closest call"
    return [*columns, closest] if scored else columns, lines


def _closest(result: Findings, margin: float | None) -> str:
    """Return the smallest lead: as odds, where scores are log-probabilities."""
    if margin is None:
        return ""
    return odds(share_of_lead(margin), "down") if result.in_odds else f"{margin:.2f}"


def _show_beside(terminal: Terminal, summary: SiftSummary, out: Path) -> None:
    """Print the rules with exceptions, and where rare labels are given more often."""
    if summary.almost:
        terminal.say(
            f"With exceptions: {plural(len(summary.almost), 'rule')}, each in place of narrower "
            "ones"
        )
        for one in summary.almost[:SENTENCES]:
            terminal.say(f"  ~ {one.sentence} {one.behind}")
            for cell in one.cells[:EXCEPTIONS]:
                terminal.say(f"      except {summary.shown(cell)}")
            if len(one.cells) > EXCEPTIONS:
                terminal.say(f"      … and {len(one.cells) - EXCEPTIONS:,} more")
        if len(summary.almost) > SENTENCES:
            rest = len(summary.almost) - SENTENCES
            terminal.say(f"  … and {rest:,} more: {out / 'almost.csv'}")
        terminal.say()
    if summary.is_rare:
        nowhere = "" if summary.more_often else " Nowhere was that shown."
        terminal.say(f"More often: {RARE}{nowhere}")
        for contrast in summary.more_often[:SENTENCES]:
            terminal.say(f"  ↑ {contrast.sentence} {contrast.behind}")
        terminal.say()


def _show_open(terminal: Terminal, result: Findings, out: Path) -> None:
    count = result.envelope.certificate.open
    if not count:
        return
    each = {row.needs for row in result.open} - {None}
    alike = needed(next(iter(each))) if len(each) == 1 else ""
    takes = f", to list one takes {alike}" if alike else ""
    terminal.say(f"Open: {plural(count, 'rule')}, broken by no recorded answer{takes}; no findings")
    for row in result.open[:OPEN]:
        terminal.say(f"  ? {row}{f' ({needed(row.needs)})' if row.needs and not alike else ''}")
    if count > OPEN:
        kept = len(result.open)
        broadest = f", the broadest {kept:,} of them in" if kept < count else ":"
        terminal.say(f"  … and {count - OPEN:,} more{broadest} {out / 'open.csv'}")
    terminal.say()
