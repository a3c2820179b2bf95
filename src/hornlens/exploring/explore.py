"""Exploring to the end, or as far as the experts come; with a session, or as a generator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeAlias

from hornlens.errors import HornlensError, InputError
from hornlens.exploring.dialogue import PERSON, Leave, Person, Redo, Undo
from hornlens.exploring.experts import Experts
from hornlens.exploring.session import Session
from hornlens.exploring.variables import Variables
from hornlens.learning.exploration import Conflict
from hornlens.learning.protocol import Counterexample, Holds, Reply, Unknown
from hornlens.limits import Limits, Stopped
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary

ExpertAnswer: TypeAlias = "bool | Iterable[str] | Reply | None"
"""What may be sent: it holds, nobody knows, an example that breaks it."""


def explore_with(
    session: Session,
    experts: Experts,
    keep: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = lambda text: None,
    limits: Limits | None = None,
) -> bool:
    """Ask until nothing is left to ask; `keep` is called after every change.

    False: somebody left, or a limit is reached. Without `limits`, to reach one is an error.

    What an expert says that cannot be, beside what was said before, is an error; a person is told,
    and asked again.
    """
    people = [expert for expert in experts.experts if isinstance(expert, Person)]
    while (rule := session.question()) is not None:
        if limits is not None and limits.reached():
            return False
        try:
            opinion = experts.consult(rule)
        except Undo:
            back = session.undo(PERSON)
            say(f"   Taken back: {back[0].rule}" if back else "   There is nothing to undo.")
        except Redo:
            again = session.redo(PERSON)
            line = (
                f"   Again: {again[0].rule}, {again[0].answer}" if again else "   Nothing to redo."
            )
            say(line)
        except Leave:
            return False
        except Stopped as stopped:
            if limits is None:
                raise
            limits.reason = stopped.reason
            return False
        else:
            person = next((each for each in people if each.name == opinion.by), None)
            name = person.example_name if person is not None else ""
            shown = name if isinstance(opinion.reply, Counterexample) else ""
            try:
                session.answer(rule, opinion.reply, opinion.by, shown, opinion.against)
            except Conflict as conflict:
                if person is None:
                    raise HornlensError(
                        f"expert {opinion.by} contradicts what was said before: "
                        f"{session.say(conflict)}"
                    ) from None
                person.objects(conflict)
                continue
        keep()
    return True


def explore(
    variables: Variables | Sequence[str],
    rows: Iterable[Iterable[str]] = (),
    background: Iterable[str] = (),
) -> Generator[NamedRule, ExpertAnswer, Envelope]:
    """Explore from Python: yield rules, take whether each holds, return the envelope at the end.

    Send True (it always holds), None (don't know), or the names of what an example has that breaks
    it; or a Reply.

    Args:
        variables: The names of the variables, or `Variables` with attributes and texts.
        rows: Examples that are known already, each the names of what is true in it.
        background: Rules that are taken for granted, as text.

    Raises:
        InputError: if an answer contradicts what was said before; it ends the generator.

    >>> asking = explore(["bird", "flies"], rows=[["bird", "flies"]])
    >>> print(next(asking))
    ⊤ → bird ∧ flies
    >>> print(asking.send(["bird"]))
    ⊤ → bird
    >>> try:
    ...     asking.send(True)
    ... except StopIteration as end:
    ...     print(end.value.basis.show(end.value.vocabulary))
    ⊤ → bird
    """
    if not isinstance(variables, Variables):
        names = Vocabulary(tuple(variables))
        assumed = tuple(NamedRule.parse(rule).rule(names) for rule in background)
        variables = Variables(Space.of_variables(names, assumed))
    elif tuple(background):
        raise InputError("these variables have a background of their own")
    names = variables.vocabulary
    session = Session(variables, [names.mask(row) for row in rows])
    while (rule := session.question()) is not None:
        answer = yield NamedRule.of(rule, names)
        try:
            session.answer(rule, _reply(answer, names))
        except Conflict as conflict:
            raise InputError(session.say(conflict)) from None
    return session.envelope()


def _reply(answer: ExpertAnswer, names: Vocabulary) -> Reply:
    if isinstance(answer, Holds | Counterexample | Unknown):
        return answer
    if answer is None or isinstance(answer, bool):
        if answer is False:
            raise InputError("a rule that does not hold needs an example: send what it has")
        return Unknown() if answer is None else Holds()
    return Counterexample(names.mask(answer))
