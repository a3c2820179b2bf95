"""The dialogue: a person as the expert, who reads questions and types answers, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from hornlens.errors import InputError
from hornlens.exploring.session import Session
from hornlens.learning.exploration import Conflict, Example
from hornlens.learning.protocol import Counterexample, Holds, Reply, Unknown
from hornlens.logic.rule import Rule

PERSON = "person"
"""How a person's answers are signed."""
HELP = """\
yes                    it always holds
no NAME: a, b, c       an example that breaks it: what it has, by name or number;
                       ?d for what is not known of it. What the question asks for it has anyway.
?                      don't know; ?? for everything that is asked of the same left side
undo, redo             take back the last answer, give it again
variables, rules, examples
save                   (every answer is kept at once, too)
quit                   go on another day, by the same command"""
_YES, _NO = {"yes", "y", "holds"}, {"no", "n"}
_UNKNOWN = {"?", "unknown", "dont know", "don't know", "dk"}


class Undo(Exception):
    """The person wants the last answer back."""


class Redo(Exception):
    """The person wants the answer that was undone last again."""


class Leave(Exception):
    """The person has had enough for today."""


class Person:
    """An expert who is asked by `say` and answers through `read`, which raises EOFError at the end.

    An answer that cannot be is refused in a line, and the question is asked again.
    """

    name = PERSON

    def __init__(
        self,
        session: Session,
        read: Callable[[str], str],
        say: Callable[[str], None],
        save: Callable[[], None],
    ):
        """Nothing is asked yet."""
        self.session, self._read, self._say, self._save = session, read, say, save
        self.example_name = ""
        self._passed: int | None = None

    def entails(self, rule: Rule) -> Reply:
        """Ask until there is an answer that can be."""
        self.example_name = ""
        if self._passed == rule.antecedent:
            return Unknown()
        self._passed = None
        self._say("")
        self._say(f"{len(self.session.answers) + 1}. {self.wording(rule)}")
        while True:
            try:
                line = self._read("> ").strip()
            except EOFError:
                raise Leave from None
            try:
                reply = self._answer(line, rule)
            except InputError as error:
                self._say(f"   {error}")
                continue
            if reply is not None:
                return reply

    def wording(self, rule: Rule) -> str:
        """Return a question as people read it."""
        names = self.session.variables.vocabulary
        left = " and ".join(map(self._text, names.names_of(rule.antecedent)))
        if rule.is_negative and not rule.antecedent:
            return "No example is known yet: is there none at all? (no: give one)"
        if rule.is_negative:
            return f"Is it so that nothing has all of this: {left}?"
        right = " and ".join(map(self._text, names.names_of(rule.new)))
        return f"Does {left} always imply {right}?" if left else f"Is it always so: {right}?"

    def _text(self, name: str) -> str:
        text = self.session.variables.text(name)
        return name if text == name else f"{name} ({text})"

    def _answer(self, line: str, rule: Rule) -> Reply | None:
        """Return what a line answers; None: it asked for something else."""
        word, _, rest = line.partition(" ")
        whole, word = line.lower(), word.lower()
        if whole in _YES:
            return Holds()
        if word in _NO:
            return self._example(rest.strip() or self._asked_for(), rule)
        if whole in _UNKNOWN:
            return Unknown()
        if whole == "??":
            self._passed = rule.antecedent
            return Unknown()
        match whole:
            case "undo":
                raise Undo
            case "redo":
                raise Redo
            case "quit" | "exit" | "q":
                raise Leave
            case "save":
                self._save()
                self._say("   Saved.")
            case "help" | "h":
                self._say(HELP)
            case "variables" | "rules" | "examples":
                self._show(whole)
            case "":
                pass
            case _:
                _refuse(f"{line!r} is no answer: yes, no, ?, undo, save, quit; or help")
        return None

    def _asked_for(self) -> str:
        self._say("   An example that breaks it: what does it have? (NAME: a, b, ?c)")
        try:
            return self._read("  > ")
        except EOFError:
            raise Leave from None

    def _example(self, text: str, rule: Rule) -> Reply:
        """Return the example that a text describes: NAME: a, b, ?c."""
        name, colon, listed = text.rpartition(":")
        has, unsure = rule.antecedent, 0
        for item in (part.strip() for part in listed.split(",")):
            if item in ("", "-"):
                continue
            bit = 1 << self._variable(item.lstrip("?").strip())
            if item.startswith("?"):
                unsure |= bit
            else:
                has |= bit
        reply = Counterexample(has, has | unsure if unsure & ~has else None)
        example = Example.of(reply)
        if not example.refutes(rule):
            names = self.session.variables.vocabulary
            must = (
                "not all that there is"
                if rule.is_negative
                else (f"lack {' or '.join(names.names_of(rule.new))}")
            )
            _refuse(f"an example has to {must}; this has: {self.session.show(example)}")
        self.example_name = name.strip() if colon else ""
        return reply

    def _variable(self, item: str) -> int:
        names = self.session.variables.vocabulary
        if item in names:
            return names.index(item)
        if re.fullmatch("[0-9]{1,6}", item, re.ASCII) and 1 <= int(item) <= len(names):
            return int(item) - 1
        near = [n for n in names.names if n.lower() == item.lower()]
        if len(near) != 1:
            _refuse(f"there is no variable {item!r} (variables lists them)")
        return names.index(near[0])

    def _show(self, what: str) -> None:
        session = self.session
        names = session.variables.vocabulary
        if what == "variables":
            lines = [f"{i}. {self._text(name)}" for i, name in enumerate(names.names, start=1)]
        elif what == "rules":
            lines = [rule.show(names) for rule in session.explorer.accepted]
            lines += [f"{rule.show(names)}  (not known)" for rule in session.explorer.open()]
        else:
            given = [""] * len(session.rows) + [a.name for a in session.answers if a.answer == "no"]
            pairs = zip(given, session.explorer.examples, strict=False)
            lines = [f"{name + ': ' if name else ''}{session.show(e)}" for name, e in pairs]
        for line in lines or ["None yet."]:
            self._say(f"   {line}")

    def objects(self, conflict: Conflict) -> None:
        """Say why an answer was not taken."""
        self._say(f"   That cannot be: {self.session.say(conflict)}. (undo takes answers back)")


def _refuse(message: str) -> NoReturn:
    raise InputError(message)
