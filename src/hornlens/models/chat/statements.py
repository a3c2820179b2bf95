"""Whether a text chooses the one candidate that stands in it, denies it, or merely mentions it.

English only, and careful: what is not known to be a choice is a mention. A candidate that is the
whole reply needs none of this, in any language.
"""

from __future__ import annotations

import re
from enum import Enum

_NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|none|nobody|without|except|hardly|cannot|rather\s+than"
    r"|instead\s+of|other\s+than|as\s+opposed\s+to|anything\s+but|all\s+but|against|avoid\w*"
    r"|reject\w*|exclud\w*|rul(?:e|es|ed|ing)\s+out|unlikely|wrong|incorrect|false|untrue|inferior"
    r"|worse|worst|least)\b|n['’]t\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:depend\w*|ambigu\w*|unsure|uncertain|unclear|unknown|undecided|dilemma|not\s+sure"
    r"|hard\s+to\s+say|on\s+second\s+thoughts?|correction|wait|actually|however|although"
    r"|equally|interchangeabl\w*)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|either|both|provided|assuming|suppos\w*|perhaps|maybe|might|could)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|as|given|which|due\s+to|based\s+on|so\s+that)\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,()–—]|\s-\s")
_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_TO = re.compile(r"\b(is|be|decided?|choose|chose|opt)\s+to\b", re.IGNORECASE)
_IN = re.compile(
    r"\b(?<=fill )in\b|\b(?<=fills )in\b|\bto\s+(?:complete|fill)\b"
    r"|\b(?:in|for)\s+(?:the\s+blank|the\s+sentence|its\s+place|this\s+sentence|this\s+case)\b",
    re.IGNORECASE,
)
"""What says where a candidate goes."""
_WORDS = """
    a an the my our this that it it's its here's here one i i'd i'll i've we we'd
    is was be would should will must has
    answer answers choice option response reply word term pronoun label candidate completion verdict
    decision conclusion result blank sentence
    final best better correct right appropriate suitable fitting natural likely likeliest most more
    probable probably definitely certainly clearly obviously surely simply just very well
    choose chose choosing pick picked select selected go going with say think believe guess prefer
    opt decide decided for vote fit fits fill fills filled suits goes complete completes completed
    yes sure okay ok of course therefore thus hence so then following as boxed text json
"""
_FRAME = frozenset(_WORDS.split())
"""The words of a statement that chooses: any others make it a text about something."""
_POLAR = frozenset(("yes", "no", "true", "false"))
"""Candidates behind which a negation denies nothing: "No, it should not"."""


class Stance(Enum):
    """What a text does with the candidate that stands in it."""

    CHOOSES = "chooses"
    DENIES = "denies"
    DOUBTS = "doubts"
    MENTIONS = "mentions"


def statement_of(text: str, mark: str, word: str) -> Stance:
    """Return what a text does with a candidate, in whose place it has a mark."""
    sentences = [sentence[0] for sentence in _SENTENCE.finditer(text)]
    own = [_without_reason(sentence, mark) for sentence in sentences if mark in sentence]
    polar = word.casefold() in _POLAR
    if any(_NEGATION.search(part.partition(mark)[0] if polar else part) for part in own):
        return Stance.DENIES
    if any(words_of(sentence) in (["no"], ["neither"], ["none"]) for sentence in sentences):
        return Stance.DENIES
    if any("?" in part or _CONDITION.search(part) for part in own) or _DOUBT.search(text):
        return Stance.DOUBTS
    clauses = [clause for part in own for clause in _CLAUSE.split(part) if mark in clause]
    if any(_is_frame(clause.replace(mark, " ")) for clause in clauses):
        return Stance.CHOOSES
    return Stance.MENTIONS


def words_of(text: str) -> list[str]:
    """Return the words of a text, without capitals and all that stands around them."""
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _without_reason(sentence: str, mark: str) -> str:
    """Return a sentence without the reason that it gives behind the candidate."""
    reason = _REASON.search(sentence, sentence.rindex(mark))
    return sentence[: reason.start()] if reason else sentence


def _is_frame(clause: str) -> bool:
    """Say whether nothing stands around a candidate but what chooses it."""
    words = words_of(_IN.sub(" ", _TO.sub(r"\1", clause)))
    return all(word in _FRAME or (len(word) == 1 and word.isdigit()) for word in words)
