"""Rules without what they are of: what can be verified of a result all the same.

A result of a formula, a table or an exploration holds no answers. Without its file, its rules can
be checked to be a canonical basis that fits its certificate; not, that they are those of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Space, Wrong, breaks, chain
from hornlens.verifying.notes import SHAPE
from hornlens.verifying.outcomes import Verification
from hornlens.verifying.rules import Envelope, check_by_chaining
from hornlens.verifying.tables import check_counted
from hornlens.verifying.verify import BEYOND

NOT_SHOWN = "that the rules are those of the file: verify --against FILE shows it"


def verify_shape(content: Any, path: Path) -> Verification:
    """Check a result that has no answers, without the file that it is of.

    Args:
        content: What its envelope.json holds.
        path: Where it stands, for errors.
    """
    checked: list[str] = []
    try:
        checked += _check(content)
    except Wrong as wrong:
        return Verification(tuple(checked), (NOT_SHOWN,), str(wrong))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, *BEYOND):
        raise InputError("is no envelope.json of hornlens, or of another version", path) from None
    return Verification(tuple(checked), (NOT_SHOWN,))


def _check(content: Any) -> list[str]:
    claim = Claim.of(content["certificate"])
    space = Space.of(content)
    background = space.rules(content["background"])
    for rule in sorted(space.own - set(background), key=str):
        raise Wrong(f"background: lacks {space.show_rule(rule)}")
    envelope = Envelope.of(content, space, background)
    check_by_chaining(envelope)
    known = envelope.rules + background
    envelope.check_examples(lambda x: chain(x, known) == x, None)
    possible = space.rules(content.get("open", content.get("hypotheses", [])))
    for rule in possible:
        closed = chain(rule[0], known)
        if closed is None or (rule[1] is not None and rule[1] & ~closed == 0):
            raise Wrong(f"open: {space.show_rule(rule)} follows from the rules")
    if claim.open != len(possible):
        raise Wrong(f"certificate: {plural(len(possible), 'rule')} are open, not {claim.open}")
    if claim.every and possible and claim.word is None:
        raise Wrong("certificate: complete, though rules are open")
    if claim.word is None:
        check_counted(content, envelope)
    almost = space.rules(content.get("almost", []))
    for number, (rule, line) in enumerate(zip(almost, content.get("almost", []), strict=True), 1):
        for names in line["exceptions"]:
            x = space.mask(names)
            if not breaks(x, rule) or any(breaks(x, other) for other in known):
                raise Wrong(f"almost-rule {number}: {space.show(x)} is no exception")
    return [
        SHAPE,
        "certificate: its properties fit together, and it counts the rules that are there",
    ]
