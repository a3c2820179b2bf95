"""What an exploration has to be: its answers fit together, and its rules say what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.attributes import Rule
from hornlens.verifying.claims import Claim
from hornlens.verifying.files import File
from hornlens.verifying.grids import Grid, Space, Wrong, bits, chain
from hornlens.verifying.interrupted import follows
from hornlens.verifying.rules import TRIES, Envelope, check_by_chaining

WIDE = 1 << 20
"""Up to so many interpretations are gone through one and all."""
STOP = 0.1
"""With so much probability a random set grows no more."""


@dataclass(frozen=True)
class Example:
    """Something that was shown: it has all of `has`, and nothing that is not in `may`."""

    what: str
    has: int
    may: int

    def refutes(self, rule: Rule) -> bool:
        """Say whether it is known to break a rule."""
        left, both = rule
        return left & ~self.has == 0 and (both is None or both & ~self.may != 0)

    def completed(self, known: list[Rule]) -> Example:
        """Return it with all that rules make of it; what cannot be is Wrong."""
        has = chain(self.has, known)
        if has is None or has & ~self.may:
            raise Wrong(f"{self.what}: breaks the background, or a rule that was accepted")
        may = has
        for v in bits(self.may & ~has):
            more = chain(has | 1 << v, known)
            if more is not None and more & ~self.may == 0:
                may |= 1 << v
        return Example(self.what, has, may)


@dataclass(frozen=True)
class Session:
    """What an exploration.json holds: rows that were known, and what was answered."""

    path: Path
    names: tuple[str, ...]
    rows: list[list[str]]
    answers: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Session:
        """Read a session; another file is an InputError."""
        content = read_json(path)
        try:
            names, answers = tuple(content["variables"]), list(content["answers"])
            rows, known = list(content.get("rows", [])), set(names)
            named = [
                *rows,
                *([*a["if"], *(a["then"] or ())] for a in answers),
                *([*a.get("has", ()), *a.get("unsure", ())] for a in answers),
            ]
            if not all(set(some) <= known for some in named):
                raise ValueError("variables that are not there")
            if not all(a["answer"] in ("yes", "no", "unknown") for a in answers):
                raise ValueError("answers that are none")
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                "is no exploration.json of hornlens, or of another version", path
            ) from None
        return cls(path, names, rows, answers)

    def count(self, kind: str) -> int:
        """Return how many answers are of a kind."""
        return sum(answer["answer"] == kind for answer in self.answers)


def check_explored(
    content: Mapping[str, Any], space: Space, listed: list[Rule], session: Session
) -> tuple[list[str], list[str]]:
    """Hold a result against its session; return what was checked, and what was not."""
    if session.names != space.names:
        raise Wrong("variables: not those of the session")
    asked = space.rules(session.answers)
    said = [answer["answer"] for answer in session.answers]
    accepted = [rule for rule, word in zip(asked, said, strict=True) if word == "yes"]
    shown = _examples(space, session, asked)
    known = listed + accepted
    examples = [example.completed(known) for example in shown]
    checked = [
        f"answers: {plural(len(asked), 'answer')} and {plural(len(session.rows), 'row')}; each "
        "example breaks what it was shown against, and none a rule that was accepted"
    ]
    envelope = Envelope.of(content, space, listed)
    check_by_chaining(envelope)
    _check_same(envelope, known, accepted)
    checked.append(f"rules: {plural(len(envelope.rules), 'rule')}, which say what was accepted")
    left = _open(asked, said, known, examples)
    stated = content.get("open", content.get("hypotheses", []))  # as format 1 calls them
    if set(space.rules(stated)) != set(left):
        raise Wrong("open: not the rules that nobody knew, and that nothing settled")
    _check_counts(content, session, len(envelope.rules), len(left))
    checked.append("counts: those of the session")
    not_checked = ["that the answers are true: ask whoever gave them"]
    if listed:
        not_checked.append("that the background was given so")
    if envelope.claim.word is not None and not envelope.claim.ended:
        checked.append(_check_complete(space, [*listed, *envelope.rules, *left], examples))
    else:
        not_checked.append("that all rules are there: the exploration was ended early")
    checked += _check_context(space, session, [e for e in shown if e.has == e.may])
    return checked, not_checked


def check_session(path: Path) -> tuple[list[str], list[str]]:
    """Check that the answers of a session fit together; return what was checked, and what not."""
    session = Session.read(path)
    space = Space.of({"variables": list(session.names)})
    asked = space.rules(session.answers)
    answered = zip(asked, session.answers, strict=True)
    accepted = [rule for rule, answer in answered if answer["answer"] == "yes"]
    shown = _examples(space, session, asked)
    for example in shown:
        example.completed(accepted)
    checked = [
        f"answers: {plural(len(asked), 'answer')} and {plural(len(session.rows), 'row')}; each "
        "example breaks what it was shown against, and none a rule that was accepted"
    ]
    checked += _check_context(space, session, [e for e in shown if e.has == e.may])
    return checked, ["that the answers are true: ask whoever gave them"]


def _examples(space: Space, session: Session, asked: Sequence[Rule]) -> list[Example]:
    """Return the rows, and what was shown against rules: each has to break its own."""
    rows = map(space.mask, session.rows)
    found = [Example(f"row {number}", row, row) for number, row in enumerate(rows, 1)]
    for number, (answer, rule) in enumerate(zip(session.answers, asked, strict=True), 1):
        if answer["answer"] == "no":
            has = space.mask(answer.get("has", ()))
            example = Example(f"answer {number}", has, has | space.mask(answer.get("unsure", ())))
            if not example.refutes(rule):
                raise Wrong(f"answer {number}: its example does not break the rule")
            found.append(example)
    return found


def _check_same(envelope: Envelope, known: list[Rule], accepted: Iterable[Rule]) -> None:
    """Check that the rules and what was accepted follow from each other."""
    for number, (left, both) in enumerate(envelope.rules, 1):
        if chain(left, known) != both:
            raise envelope.wrong(number, "does not follow from what was accepted")
    rules = envelope.rules + envelope.background
    for rule in accepted:
        if not follows(rule, lambda x: chain(x, rules)):
            raise Wrong(f"a rule is missing: {envelope.space.show_rule(rule)} was accepted")


def _open(
    asked: Sequence[Rule], said: Sequence[str], known: list[Rule], examples: Sequence[Example]
) -> list[Rule]:
    """Return the rules of one conclusion that nobody knew, and that nothing else settles."""
    return [
        (left, both)
        for (left, both), word in zip(asked, said, strict=True)
        if word == "unknown"
        and (both is None or (both & ~left).bit_count() == 1)
        and not follows((left, both), lambda x: chain(x, known))
        and not any(example.refutes((left, both)) for example in examples)
    ]


def _check_counts(content: Mapping[str, Any], session: Session, rules: int, left: int) -> None:
    """Check the numbers in the certificate and the statistics."""
    claim, counted = Claim.of(content["certificate"]), content["statistics"]
    sampled = [a for a in session.answers if a["answer"] == "yes" and a.get("samples") is not None]
    wanted: dict[str, tuple[Any, int]] = {"rules": (claim.rules, rules)}
    if claim.word is not None:
        word = claim.word
        wanted = {
            "answers": (word["answers"], len(session.answers)),
            "open": (claim.open, left),
            "sampled": (word.get("sampled", 0), len(sampled)),
        }
    for name, (stated, number) in wanted.items():
        if stated != number:
            raise Wrong(f"certificate: {name} is {number}, not {stated}")
    kinds = {kind: session.count(kind) for kind in ("yes", "no", "unknown")}
    kept = {"answers": len(session.answers), **kinds, "rows": len(session.rows)}
    for name, number in kept.items():
        if counted[name] != number:
            raise Wrong(f"statistics: {name} is {number}, not {counted[name]}")
    others = content["non_horn"]
    if others["examples"] or others["count"] is not None or others.get("at_least", 0) != 0:
        raise Wrong("non_horn: nobody looked for them")
    if claim.word is not None and not claim.ended and not claim.every:
        raise Wrong("certificate: nothing was left to ask, and it is not said to be complete")


def _check_complete(space: Space, rules: list[Rule], examples: Sequence[Example]) -> str:
    """Check that whatever obeys all rules was shown: each rule that does not follow is broken."""
    if prod(map(len, space.axes)) > WIDE:
        rng, least = Random(0), chain(0, rules)
        for _ in range(TRIES):  # from nothing up, by what can be
            x = least
            while x is not None:
                _check_settled(space, x, examples)
                x = chain(x | 1 << rng.randrange(len(space.names)), rules)
                x = None if rng.random() < STOP else x
        return (
            f"complete: of {TRIES} random sets, and all on the way to them, none has consequences "
            "beyond the rules"
        )
    grid = Grid(space.axes, len(space.names))
    points = grid.everything & ~grid.breaking_any(rules)
    places = [grid.index(example.has) for example in examples]
    left = points & ~grid.below(grid.set_of(places))
    for v, column in enumerate(grid.columns):
        without = [p for p, e in zip(places, examples, strict=True) if not e.may >> v & 1]
        left |= points & ~column & ~grid.below(grid.set_of(without))
    if left:
        _check_settled(space, grid.first(left), examples)
    return (
        f"complete: of {grid.size:,} interpretations, examples show that each of the "
        f"{points.bit_count():,} that obey all rules and open rules implies nothing more"
    )


def _check_settled(space: Space, x: int, examples: Iterable[Example]) -> None:
    """Check that some example has `x`, and that of each other variable one lacks it."""
    possible = [example.may for example in examples if x & ~example.has == 0]
    if not possible:
        raise Wrong(f"a rule is missing: no example has {space.show(x)}")
    for v, name in enumerate(space.names):
        if not x >> v & 1 and all(may >> v & 1 for may in possible):
            raise Wrong(f"a rule is missing: no example has {space.show(x)} without {name}")


def _check_context(space: Space, session: Session, whole: Sequence[Example]) -> list[str]:
    """Check the context beside a session, where there is one."""
    path = session.path.with_suffix(".cxt")
    if not path.is_file():
        return []
    kept = File.read(path)
    if kept.names != space.names or list(kept.rows) != [example.has for example in whole]:
        raise Wrong(f"{path.name}: not the examples that are known in full")
    return [f"context: {path.name} has the {plural(len(whole), 'example')} known in full"]
