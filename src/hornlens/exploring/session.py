"""A session: what was asked and answered, kept on disk after every answer, undone and redone.

Nothing else is kept. What is known, and what is to be asked next, follows from the answers; so to
go on another day is to read them, and to undo one is to leave it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hornlens.errors import InputError
from hornlens.exploring.variables import Variables
from hornlens.formats.contexts import write_cxt
from hornlens.formats.files import write_files
from hornlens.learning.exploration import Conflict, Example, Explorer
from hornlens.learning.protocol import Counterexample, Holds, Reply, Unknown
from hornlens.limits import Reason
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.grounds import NOTHING, Ending
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from hornlens.results.documents.codec import INLINE, Codec


@dataclass(frozen=True)
class Answered:
    """A question in names, and what was said to it.

    To a "no": what the example `has`, what is not known of it (`unsure`), and its `name`.
    """

    rule: NamedRule = field(metadata=INLINE)
    answer: Literal["yes", "no", "unknown"]
    by: str = ""
    has: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    name: str = ""
    samples: int | None = None
    against: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rule: Rule, reply: Reply, names: Vocabulary, by: str, name: str, against: Iterable[str]
    ) -> Answered:
        """Return an answer in names."""
        asked, others = NamedRule.of(rule, names), tuple(against)
        if isinstance(reply, Holds):
            return cls(asked, "yes", by, samples=reply.samples, against=others)
        if isinstance(reply, Unknown):
            return cls(asked, "unknown", by)
        has = names.names_of(reply.example)
        unsure = () if reply.may is None else names.names_of(reply.may & ~reply.example)
        return cls(asked, "no", by, has, unsure, name, against=others)

    def is_by(self, name: str) -> bool:
        """Say whether somebody is among those who said it."""
        return name in self.by.split(", ")

    def reply(self, names: Vocabulary) -> Reply:
        """Return what was said, in bits."""
        if self.answer == "yes":
            return Holds(self.samples)
        if self.answer == "unknown":
            return Unknown()
        has = names.mask(self.has)
        return Counterexample(has, has | names.mask(self.unsure) if self.unsure else None)


@dataclass(frozen=True)
class ExplorationFile:
    """What a file of a session holds."""

    variables: tuple[str, ...]
    answers: tuple[Answered, ...]
    rows: tuple[tuple[str, ...], ...] = ()
    undone: tuple[Answered, ...] = ()


FILE = Codec(ExplorationFile, "exploration.json")


class Session:
    """An exploration: its answers so far, and those that were undone."""

    def __init__(self, variables: Variables, rows: Iterable[int] = ()):
        """Begin with the rows that are known already."""
        self.variables = variables
        self.rows = tuple(dict.fromkeys(rows))
        self.answers: list[Answered] = []
        self.undone: list[Answered] = []
        self.explorer = self._begin()

    def _begin(self) -> Explorer:
        space = self.variables.space
        try:
            return Explorer(space.width, space.background, self.rows)
        except Conflict as conflict:
            raise InputError(f"a row of the table: {self.say(conflict)}") from None

    def question(self) -> Rule | None:
        """Return the rule to ask about next; None: there is nothing left to ask."""
        return self.explorer.question()

    def answer(
        self, rule: Rule, reply: Reply, by: str = "", name: str = "", against: Iterable[str] = ()
    ) -> None:
        """Take in an answer; a Conflict if it cannot be. What was undone is forgotten."""
        self.explorer.answer(rule, reply)
        names = self.variables.vocabulary
        self.answers.append(Answered.of(rule, reply, names, by, name, against))
        self.undone.clear()

    def undo(self, by: str | None = None) -> list[Answered]:
        """Take back the last answer: the last of `by`, and what came after it."""
        place = len(self.answers) - 1
        while place >= 0 and by is not None and not self.answers[place].is_by(by):
            place -= 1
        if place < 0:
            return []
        back = self.answers[place:]
        del self.answers[place:]
        self.undone += reversed(back)
        self._replay()
        return back

    def redo(self, by: str | None = None) -> list[Answered]:
        """Give the answer again that was taken back last, and what others said before `by` did."""
        again: list[Answered] = []
        while self.undone and not (again and (by is None or self.undone[-1].is_by(by))):
            again.append(self.undone.pop())
            self._give(again[-1])
            self.answers.append(again[-1])
        return again

    def _give(self, answered: Answered) -> None:
        names = self.variables.vocabulary
        rule = answered.rule.rule(names)
        if not rule.is_negative:
            rule = Rule(rule.antecedent, rule.consequent | rule.antecedent)
        self.explorer.answer(rule, answered.reply(names))

    def _replay(self) -> None:
        self.explorer = self._begin()
        for answered in self.answers:
            self._give(answered)

    def say(self, conflict: Conflict) -> str:
        """Say in names what is wrong with an answer."""
        names = self.variables.vocabulary
        if conflict.rule is not None:
            return f"{conflict}: {conflict.rule.show(names)}"
        if conflict.example is not None:
            return f"{conflict}: {self.show(conflict.example)}"
        return str(conflict)

    def show(self, example: Example) -> str:
        """Say in names what is known of an example."""
        names = self.variables.vocabulary
        has = ", ".join(names.names_of(example.has)) or "none of the variables"
        unsure = names.names_of(example.may & ~example.has)
        return f"{has}; not known: {', '.join(unsure)}" if unsure else has

    # --- what is known ---

    def envelope(self, reason: Reason = "interrupt") -> Envelope:
        """Return the rules so far, with what may be claimed of them.

        If there is something left to ask: why it was not asked.
        """
        explorer = self.explorer
        certificate = explorer.certificate()
        basis, left = explorer.basis(), explorer.open()
        if self.question() is not None:
            certificate = replace(certificate, complete=NOTHING, ended=Ending(reason))
        counts = {kind: sum(a.answer == kind for a in self.answers) for kind in KINDS}
        return Envelope.of(
            self.variables.space,
            basis,
            certificate=certificate,
            non_horn=NonHorn(None),
            open=left,
            statistics={"answers": len(self.answers), **counts, "rows": len(self.rows)},
        )

    def context(self) -> tuple[Table, list[str]]:
        """Return the rows and all examples that are known in full, with their names."""
        shown = [a for a in self.answers if a.answer == "no" and not a.unsure]
        names = self.variables.vocabulary
        rows = (*self.rows, *(names.mask(a.has) for a in shown))
        objects: list[str] = []
        for i, given in enumerate([""] * len(self.rows) + [a.name for a in shown], start=1):
            objects.append(given if given and given not in objects else f"{given or 'o'}{i}")
        return Table(names, rows), objects

    # --- on disk ---

    def save(self, path: Path) -> None:
        """Write the session, and beside it what is known as a context; both or none."""
        names = self.variables.vocabulary
        content = ExplorationFile(
            names.names,
            tuple(self.answers),
            tuple(names.names_of(row) for row in self.rows),
            tuple(self.undone),
        )
        table, objects = self.context()
        context = {path.with_suffix(".cxt"): write_cxt(table, objects)}
        write_files({path: FILE.text(content), **context})

    @classmethod
    def load(cls, path: Path, variables: Variables, rows: Iterable[int] = ()) -> Session:
        """Read a session of these variables; `rows` that it does not know yet are added."""
        content = FILE.read(path)
        names = variables.vocabulary
        if content.variables != names.names:
            raise InputError(
                "is the exploration of other variables; give another --session, or --fresh", path
            )
        try:
            kept = [names.mask(row) for row in content.rows]
            session = cls(variables, [*kept, *rows])
            session.answers = list(content.answers)
            for number, answered in enumerate(session.answers, start=1):
                try:
                    session._give(answered)
                except Conflict as conflict:
                    where = f"answer {number}, {answered.rule}, cannot be any more"
                    raise InputError(f"{where}: {session.say(conflict)}", path) from None
        except InputError as error:
            raise InputError(error.message, path) from None
        session.undone = list(content.undone)
        return session


KINDS = ("yes", "no", "unknown")
