"""What is said of a sifted result: its listed rules, the open ones, and all that was refuted.

Cells of a sift are chosen for what they are likely to break; only some are drawn at random. So no
sentence here, or anywhere else, takes shares among the answers for shares of the target's answers.
"""

from __future__ import annotations

from hornlens.counts import plural
from hornlens.logic.grounds import Sieve
from hornlens.logic.sifting import AlmostShown, MoreOften, SiftRecord
from hornlens.logic.warrants import Warrant, at_least, at_most, percentage

MOSTLY = 0.1
"""If more of a rule's cases than this were asked, their number is part of what stands behind it."""
CHOSEN = "the cells were chosen for what they might break, and are no sample"
NO_RATES = f"{CHOSEN}: there are no rates in them"
"""Why shares among the answers of a sift are not shown."""


def sure(sieve: Sieve) -> str:
    """Return how sure the bounds are: "all rules together: 95% sure"."""
    return f"all rules together: {percentage(1 - sieve.delta)} sure"


def shown_by(
    warrant: Warrant, sieve: Sieve, cases: int | None = None, room: int | None = None
) -> str:
    """Return what stands behind a rule; of its `room` cases, so many were asked.

    >>> sieve = Sieve(2, 0.05, 0.05, candidates=900, live=4, questions=300)
    >>> print(shown_by(Warrant("tested", 82, 0.05), sieve))
    Tried on 82 random cases inside it, no exception; at most 5% of its cases break it (all rules
    together: 95% sure).
    >>> shown_by(Warrant("proved"), sieve, 12, 12)
    'Proved: all of its 12 cases were asked.'
    """
    if warrant.proved:
        if not cases:
            return "Proved: all of its cases were asked."
        every = "its only case was" if cases == 1 else f"all of its {cases:,} cases were"
        return f"Proved: {every} asked."
    if not warrant.known:
        return "Open: no recorded answer breaks it, and too few random cases were tried."
    tried = f"Tried on {plural(warrant.tested, 'random case')} inside it, no exception"
    if cases and room and cases > MOSTLY * room:
        tried += f" ({cases:,} of its {room:,} cases were asked)"
    if warrant.bound is None:
        return f"{tried}; no bound is claimed."
    whose = "answers in its cases" if sieve.varies else "its cases"
    return f"{tried}; at most {at_most(warrant.bound)} of {whose} break it ({sure(sieve)})."


def needed(needs: int | None) -> str:
    """Return what it would take to list an open rule: "about 59 more clean random cases"."""
    if needs is None:
        return ""
    return f"about {plural(needs, 'more clean random case')}"


def about_open_rules(count: int, kept: int) -> str:
    """Return what may be said of the open rules of a sift, of which the broadest are kept."""
    text = (
        "No recorded answer breaks one of these, and too few random cases of them were tried: they "
        "are no findings."
    )
    if count > kept:
        text += f" These are the {kept:,} broadest of {count:,}."
    return text


def asked_words(record: SiftRecord, unit: str) -> str:
    """Return how many cells were chosen, and how many were drawn, for how many families."""
    asked, drawn = len(record.order), len({draw.at for draw in record.draws})
    text = f"{plural(asked, unit)} asked: {asked - drawn:,} chosen, {drawn:,} drawn at random"
    if record.families:
        text += f" for {plural(len(record.families), 'family')} of rules"
    return f"{text}."


DRAWN_FOR = {
    "list": "to list what is not broken",
    "bounds": "to bound each, with the questions that were left",
    "almost": "to bound rules with exceptions",
    "rates": "to see where a rare label is given more often",
}
"""What cells are drawn for, in words."""


def purpose_words(purpose: str) -> str:
    """Return what a family's cells were drawn for."""
    return DRAWN_FOR.get(purpose, purpose)


def almost_words(almost: AlmostShown, sieve: Sieve) -> str:
    """Return what stands behind a rule with exceptions."""
    broken = "no exception" if not almost.broken else plural(almost.broken, "exception")
    record = f"{plural(len(almost.exceptions), 'exception')} on record"
    return (
        f"Tried on {plural(almost.tested, 'random case')} inside it, {broken}; {record} in all "
        f"({sure(sieve)})."
    )


def almost_scope(almost: AlmostShown) -> str:
    """Return the proviso of a rule with exceptions."""
    return f"but for at most {at_most(almost.bound)} of its cases"


def often_words(one: MoreOften) -> str:
    """Return how much more often a rare label is given, by numbers that claim no more."""
    times = f"{int(10 * one.times) / 10:g}"
    return (
        f"in at least {at_least(one.at_least)} of the cases, and in at most {at_most(one.overall)} "
        f"of all: at least {times} times as often"
    )


def tried_words(one: MoreOften, sieve: Sieve) -> str:
    """Return what stands behind that."""
    tried = plural(one.tested, "random case")
    return f"Given in {one.given:,} of {tried} there ({sure(sieve)})."


RARE = (
    "A label that is hardly ever given has no rules that say where it is never given: that takes "
    "too many questions, and says little. Instead it is shown where it is given more often."
)


def no_listed(sieve: Sieve, open: int) -> tuple[str, str]:
    """Return what is said where no rule is listed: a sentence, and what to make of it."""
    if open:
        many = "1 rule is" if open == 1 else f"{open:,} rules are"
        return "No rule is shown yet.", f"{many} open: no recorded answer breaks one of them."
    if not sieve.questions:
        return "No rule is shown yet.", ""
    sentence = f"No rule with {sieve.short} holds without exception."
    if sieve.almost:
        some = "1 rule with exceptions is"
        if sieve.almost > 1:
            some = f"{sieve.almost:,} rules with exceptions are"
        return sentence, f"{some} listed below."
    return sentence, "Longer rules were not looked for."
