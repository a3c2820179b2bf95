"""What chance would give, in sentences: the same words for the terminal and for pages."""

from __future__ import annotations

from hornlens.counts import plural
from hornlens.results.documents.chance import Chance, ChanceCount
from hornlens.results.documents.findings import Findings

MARK = "more than chance"
UNMARKED = "chance could give it"
SHORT = 3
"""Rules with more conditions than this are counted together in the terminal."""


def chance_sentences(result: Findings, chance: Chance) -> list[str]:
    """Return what chance would give: how many rules, and which of these it would hardly give."""
    where = f" in every one of {len(result.worlds)} {result.noun}s" if result.worlds else ""
    return sentences_of(chance, where)


def sentences_of(chance: Chance, where: str = "") -> list[str]:
    """Return the sentences; `where` says in what rules hold, if that is to be said."""
    who = {
        "answers": "a target that answers at random, with the same share of each answer,",
        "label": "a table with the same rows and the labels shuffled",
        "columns": "a table with every column shuffled by itself",
    }[chance.permuted]
    total = chance.total
    short = "" if chance.permuted == "answers" else " with at most two conditions"
    if chance.permuted == "label":
        short += " that speak of the label"
    sentences = [
        f"Rules{short}{where}, counted by left sides: {total.rules:,}; {who} would have "
        f"{mean_in_words(total.mean)} on average, and at most {total.high:,} in 95% of "
        f"{chance.permutations:,} permutations."
    ]
    rules = sum(p_value is not None for p_value in chance.p_values)
    marked, others = len(chance.marked), len(chance.p_values) - rules
    if rules:
        kind = "rule" if rules == 1 else "rules"
        are = "is" if marked == 1 else "are"
        beyond = (
            f"{marked:,} of {rules:,} {kind} {are} {MARK}: if nothing but chance were at work, any "
            f"rule would be marked in at most {chance.level:.0%} of cases."
        )
        none = (
            f"None of {plural(rules, 'rule')} is {MARK} (level {chance.level:.0%}, over all rules)."
        )
        left_out = f" {plural(others, 'other rule')} cannot be judged so." if others else ""
        sentences.append((beyond if marked else none) + left_out)
    return sentences


def by_conditions(chance: Chance) -> str:
    """Return how many rules there are by the number of conditions, beside what chance gives."""
    parts = [
        f"{plural(line.conditions or 0, 'condition')} {line.rules:,} "
        f"(by chance {mean_in_words(line.mean)}, 95%: {line.high:,})"
        for line in chance.counts
        if line.conditions is not None and line.conditions <= SHORT
    ]
    return f"By length: {', '.join(parts)}." if parts else ""


def mean_in_words(mean: float) -> str:
    """Return a mean as people write it; what is not nothing is not said to be."""
    if 0 < mean < 0.05:
        return "fewer than 0.1"
    return f"{mean:,.1f}" if mean % 1 else f"{mean:,.0f}"


def conditions_of(line: ChanceCount) -> str:
    """Return the number of conditions of a line, in words."""
    return "all" if line.conditions is None else f"{line.conditions:,}"
