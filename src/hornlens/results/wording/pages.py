"""Sentences about a result as a whole: what its certificate allows to be said, and no more.

Terminal, pages and notebooks take them from here: templates hold no sentence that depends on what
was claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from hornlens.counts import plural
from hornlens.logic.certificates import Certificate
from hornlens.logic.envelope import Envelope
from hornlens.logic.warrants import Warrant
from hornlens.results.documents.question import Question
from hornlens.results.wording.sifting import no_listed, shown_by

OPEN_BELOW = "The rules that are listed below are open: nothing proves them."
OTHERS_POSSIBLE = "Not every {unit} was asked: other rules are possible."
RESUMES = "If its answers are kept in a cache, the same command resumes from them."


VACUOUS = {
    "label": "a label was never, or always, chosen",
    "silence": "no {unit} that could break {them} got an answer",
}
"""Why rules hold vacuously."""


def vacuous_because(reasons: Iterable[str | None], unit: str) -> str:
    """Return how many rules hold vacuously, and why; "" if none does.

    >>> vacuous_because(["label", None, "silence", "silence"], "prompt")
    '1 because a label was never, or always, chosen; 2 because no prompt that could break them \
got an answer'
    """
    counts = Counter(reason for reason in reasons if reason is not None)
    return "; ".join(
        f"{count:,} because {vacuous_words(reason, unit, 'it' if count == 1 else 'them')}"
        for reason, count in counts.items()
    )


def vacuous_words(reason: str, unit: str, them: str = "it") -> str:
    """Return why a rule holds vacuously."""
    return VACUOUS[reason].format(unit=unit, them=them)


class Absence(NamedTuple):
    """What is said where no rule is listed: a sentence, and what to make of it."""

    sentence: str
    note: str


def no_rules(certificate: Certificate, question: Question, scored: bool = False) -> Absence:
    """Return what may be said of a result without rules."""
    unit, who = question.unit, question.subject
    if certificate.unanswered:
        return Absence(_silence(certificate, who), "So nothing is known of what it obeys.")
    if certificate.sift is not None:
        sentence, note = no_listed(certificate.sift, certificate.open)
        ended = f"The run was ended early. {RESUMES} " if certificate.stopped else ""
        return Absence(sentence, f"{ended}{note}".strip())
    if certificate.noise is not None and not (certificate.ended or certificate.unasked):
        why = f"{who.lower()}’s answers vary too much, or obey none"
        if certificate.noise.copied is not None:
            why = "repeated replies are copies, and decide nothing"
        return Absence(
            f"No rule is certain: {why}.",
            "What is possible is listed below.",
        )
    if certificate.ended is not None or not certificate.complete:
        notes = []
        if certificate.stopped:
            notes.append(f"The run was ended early. {RESUMES}")
        if certificate.open:
            notes.append("Rules that no recorded answer breaks are listed below as open.")
        return Absence("No rule is proved yet.", " ".join(notes))
    which = certificate.complete.which.removeprefix("rule").rstrip(",")
    look = ": look at the scores" if scored else ""
    return Absence(
        f"{who} obeys no Horn rule over these attributes{which}.",
        f"A rule needs every {unit} that it speaks of to agree. Where the answers lean, but not "
        f"always, there is none{look}.",
    )


def _silence(certificate: Certificate, who: str) -> str:
    """Return why nothing is known: nothing was asked, or nothing answered."""
    if certificate.answered is not None and certificate.answered[1]:
        return f"{who} gave no answer."
    return f"{who} was not asked anything."


def all_decided(unit: str, asked_all: bool) -> str:
    """Return what may be said of answers that vary, where none is undecided."""
    if asked_all:
        return f"Every {unit} is decided: no other rule is possible."
    return f"Every {unit} that was asked is decided. {OTHERS_POSSIBLE.format(unit=unit)}"


def possible_beside(
    undecided: int, listed: bool, rules: bool, unit: str, asked_all: bool, copied: bool = False
) -> str:
    """Return what may be said of possible rules, some of which may be `listed`.

    `copied`: repeated replies were copies of each other.
    """
    if not undecided:
        return all_decided(unit, asked_all)
    text = (
        f"{plural(undecided, unit)} could not be decided, for the "
        f"{'repeated replies are copies' if copied else 'answers vary'}. The rules "
        f"{'below ' if rules else ''}are certain: they hold whatever those answers are."
    )
    if listed:
        text += (
            f" These are possible beside them: they hold if none of the undecided {unit}s named "
            "with them breaks them."
        )
    elif asked_all:
        text += " No other rule is possible."
    return text if asked_all else f"{text} {OTHERS_POSSIBLE.format(unit=unit)}"


def about_rules(certificate: Certificate, question: Question, all_asked: bool) -> str:
    """Return what stands behind a certificate's own sentence: what the rules are a fact about."""
    if certificate.unanswered or not certificate.proved:
        return ""
    if not certificate.rules and not certificate.complete:
        return RESUMES if certificate.stopped else ""
    fact = "model, this probe" if question.templates else "target"
    about = f"The rules are a fact about this {fact} and this policy"
    if not certificate.single:
        resumes = f" {RESUMES}" if certificate.stopped else ""
        return f"The rules are a fact about these replies, not about one unchanged model.{resumes}"
    if certificate.all_rules:
        asked = ""
        if all_asked:
            whole = "probe" if question.templates else "space"
            asked = f"Every {question.unit} of the {whole} was asked. "
        obeys = f"every Horn rule that {question.subject.lower()} obeys follows from them"
        return f"{asked}{about}, and {obeys}."
    if certificate.stopped:
        return f"{about}. {RESUMES}"
    if certificate.settled:
        return f"{about}. Longer or rarer rules may hold as well."
    return f"{about}."


def no_rules_worked_out(certificate: Certificate) -> Absence:
    """Return what may be said of a result without rules for which no target was asked."""
    note = "Rules that are not settled are listed below as open." if certificate.open else ""
    if certificate.word is not None and certificate.has_all:
        return Absence("According to the answers, no rule holds.", note)
    if certificate.settled and not certificate.open:
        which = certificate.complete.which.rstrip(",")
        return Absence(f"No {which} holds beyond what is taken for granted.", note)
    return Absence("No rule is proved yet.", note)


def behind(
    warrant: Warrant,
    certificate: Certificate,
    broken: int = 0,
    asked: bool = True,
    cases: int | None = None,
    room: int | None = None,
) -> tuple[str, str]:
    """Return what stands behind a rule, in a few words and in a sentence.

    Of `room` cases that could break it, so many `cases` were asked.

    No more than the certificate claims of all of them: a rule that experts call true is true on
    their word, and where nothing was answered nothing stands behind a rule. Files of format 1 list
    rules that `broken` recorded answers break.
    """
    if broken:
        return "none", "None: recorded answers break it."
    if certificate.unanswered:
        return "none", "None: nothing was answered."
    if certificate.word is not None and warrant.proved:
        return "by word", "It holds if what the experts answered is true."
    if not warrant.known and not asked:
        return warrant.words, "Open: nothing proves it."
    if certificate.sift is not None:
        return warrant.words, shown_by(warrant, certificate.sift, cases, room)
    return warrant.words, warrant.sentence


def about_open(certificate: Certificate, question: Question, asked: bool = True) -> str:
    """Return what may be said of the open rules of a result."""
    if certificate.word is not None:
        return "Nobody could say whether these hold."
    if not asked:
        return "Nothing that is known breaks one of these, and nothing proves them."
    return (
        f"No recorded answer breaks one of these, but not every {question.unit} that they speak of "
        "was asked: another answer may break them."
    )


def left_out_words(envelope: Envelope) -> list[str]:
    """Return what a search within bounds left out, a sentence each."""
    statistics, sentences = envelope.statistics, []
    left_out = statistics.get("rules_left_out")
    if left_out is not None:
        least = envelope.certificate.complete.min_support
        sentences.append(f"{plural(left_out, 'rule')} with less support than {least} left out.")
    if longer := statistics.get("rejected_by_longer_rules"):
        which = "Longer rules" if left_out is None else "Rules that are left out"
        amount = plural(longer, "interpretation")
        sentences.append(f"{which} reject {amount} more; they are not among these.")
    if rare := statistics.get("rare_conditions_left_out"):
        amount = plural(rare, "set")
        sentences.append(f"{amount} of conditions, which too few rows have, were not looked at.")
    return sentences


def is_horn(envelope: Envelope) -> bool:
    """Return whether the rules are known to say all there is to say."""
    certificate, longer = envelope.certificate, envelope.statistics.get("rejected_by_longer_rules")
    whole = certificate.all_rules or (longer == 0 and certificate.settled)
    return envelope.non_horn.count == 0 and whole


def residue_words(envelope: Envelope) -> str:
    """Return how many non-Horn negatives there are, where no target was asked."""
    residue = envelope.non_horn
    if is_horn(envelope):
        return "Nothing: the rules say all there is to say."
    if residue.count:
        return f"{plural(residue.count, 'interpretation')}."
    if residue.at_least:
        return f"At least {plural(residue.at_least, 'interpretation')}; there may be more."
    return "Not known."


def meant_by(certificate: Certificate, listed: bool) -> str:
    """Return of what a rule of a classifier speaks; `listed`: not every cell was asked."""
    if certificate.scope.of in ("every input", "plausible"):
        return f"{certificate.scope.inputs}{' and' if certificate.scope.assumed else ''} that meets"
    drawn = certificate.trial or certificate.sift  # from all cells, which are meant
    return (
        "every cell that was asked and meets" if listed and not drawn else "every cell that meets"
    )


def as_general(certificate: Certificate) -> str:
    """Return how general the rules of a classifier are."""
    if certificate.sift is not None:
        return "Each is as general as it can be: whatever is wider has an exception on record."
    hard = 0 if certificate.coverage is None else certificate.coverage.hard
    if certificate.ended is None and hard:
        return (
            f"No condition can be left out and no interval made wider, but for {hard:,} of them: "
            "there, more general rules may hold, which were too hard to settle."
        )
    if certificate.ended is None:
        return (
            "Each is as general as it can be: no condition can be left out and no interval made "
            "wider."
        )
    return "The run was ended early: more general rules may hold than those that are proved here."


def no_class_rules(certificate: Certificate) -> str:
    """Return what may be said of a classifier of which no rule is listed."""
    if certificate.sift is not None and certificate.open:
        return "No rule is shown yet: too few cells were asked."
    if certificate.sift is not None:
        return "There is no rule this short."
    if certificate.ended is not None:
        return "No rule is proved yet: the run was ended early."
    return "There is no rule." if certificate.complete.decides else "There is no rule this short."


def non_horn_words(envelope: Envelope, question: Question) -> str:
    """Return how many non-Horn negatives there are, in a sentence."""
    residue, certificate, who = envelope.non_horn, envelope.certificate, question.subject.lower()
    if certificate.unanswered:
        silence = _silence(certificate, who)
        return f"Not known: {silence[0].lower()}{silence[1:]}"
    if certificate.sift is not None and residue.count is None:
        return f"Not known: only rules with {certificate.sift.short} were looked for."
    if residue.count == 0:
        if certificate.noise is not None:
            return "Nothing, where what is undecided counts as accepted."
        if not certificate.all_rules:
            return f"Nothing: {who}’s answers are Horn. Longer rules may say more than these do."
        return f"Nothing: {who}’s answers are Horn, so the rules say all there is to say."
    if residue.count is None:
        seen = plural(residue.at_least, "interpretation")
        return (
            f"{seen} that were met. There may be more: not every {question.unit} was asked."
            if residue.at_least
            else f"None were met. There may be some: not every {question.unit} was asked."
        )
    share = ""
    if negatives := envelope.statistics.get("negatives"):
        share = f", {residue.count / negatives:.1%} of the {negatives:,} that {who} rejects"
    return f"{plural(residue.count, 'interpretation')}{share}."
