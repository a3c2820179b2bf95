"""Comparing: targets whose answer says whether other answers are the same.

A cell of such a target is put to others in several *forms*: to two models, or with several values
of an attribute. The label says whether the answers differ. Where one form got an answer and another
none, there is nothing to compare: that is no answer here, with a reason of its own, so that it
stands against every rule, unless the policy rejects abstentions. With `silence="answer"`, no answer
counts as an answer like the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from hornlens.errors import HornlensError
from hornlens.formats.sent import Sent
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.decisions import UNDECIDED, YES, Decision, Policy, check_word, reason_in_words
from hornlens.logic.maskmap import mask_map
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.documents.details import NOTHING, Details
from hornlens.results.documents.question import ComparedAnswers, Question
from hornlens.targets.asking import example_of, sent_to
from hornlens.targets.protocol import Interruptible, PromptTarget, Settles, Target

Silence: TypeAlias = Literal["apart", "answer"]
"""What it counts as if a form gets no answer: nothing to compare, or an answer like others."""
HALF = "half"
"""The reason of a cell in which only some of the forms got an answer."""
FIRST = 2
"""So many forms are asked at first; the others only where these are answered alike."""

BLOCK = 512
"""So many cells are asked at a time: if a run is ended, those before were asked in all forms."""


class Form(NamedTuple):
    """A question that is put for a cell: to which of the parts, about what, and its name."""

    part: int
    cell: int
    name: str


class Comparing(ABC):
    """What targets share that compare answers; `parts` are those that are asked."""

    parts: tuple[Target, ...]
    silence: Silence

    def _prepare(self) -> None:
        """Begin with nothing asked; refuse parts whose answers cannot be compared."""
        check_word("silence", self.silence, Silence)
        if any(isinstance(part, Settles) for part in self.parts):
            raise HornlensError(
                "answers that are repeated until a test decides cannot be compared: use a number "
                "of repeats, of which the majority counts (repeats=5)"
            )
        self._answers: list[MutableMapping[int, Decision]] = [
            mask_map(part.space.width) for part in self.parts
        ]
        self._decided: MutableMapping[int, None] = mask_map(self.space.width)

    # --- what each kind says itself ---

    @abstractmethod
    def forms(self, cell: int) -> Sequence[Form]:
        """Return the questions that are put for a cell."""

    @abstractmethod
    def label(self, places: Sequence[int]) -> int:
        """Return the place of the label where answers differ: `places` are those of the parts."""

    @property
    @abstractmethod
    def compared(self) -> ComparedAnswers:
        """How the labels are put into sentences."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What people call it."""

    @property
    @abstractmethod
    def space(self) -> Space:
        """The cells, and the label that says whether answers differ."""

    # --- asking ---

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Ask the parts about the forms of each cell, and compare what they say."""
        decisions = []
        for start in range(0, len(cells), BLOCK):
            some = cells[start : start + BLOCK]
            forms = [self.forms(cell) for cell in some]
            self._ask(form for each in forms for form in each[:FIRST])
            self._ask(form for each in forms if self._alike(each[:FIRST]) for form in each[FIRST:])
            self._decided.update((cell, None) for cell in some)
            decisions += [self._judged(each) for each in forms]
        return decisions

    def _ask(self, forms: Iterable[Form]) -> None:
        """Ask what is new, each part in one go."""
        new: list[MutableMapping[int, None]] = [mask_map(p.space.width) for p in self.parts]
        for form in forms:
            if form.cell not in self._answers[form.part]:
                new[form.part][form.cell] = None
        for part, known, wanted in zip(self.parts, self._answers, new, strict=True):
            if wanted:
                cells = list(wanted)
                known.update(zip(cells, part.decide(cells), strict=True))

    @property
    @abstractmethod
    def form_count(self) -> int:
        """How many forms a cell can have at most."""

    def answers(self, cells: Sequence[int]) -> list[list[int]]:
        """Return for each cell what was answered to each form: the label's place, -1 for none.

        They stand in the order of all forms that there can be.
        """
        rows = []
        for cell in cells:
            row = [-1] * self.form_count
            for place, form in zip(self._form_places(cell), self.forms(cell), strict=True):
                answer = self.answer_to(form)
                if answer is not None and answer.winner is not None:
                    row[place] = self._place_in_first(form.part, answer.winner)
            rows.append(row)
        return rows

    def _form_places(self, cell: int) -> Sequence[int]:
        """Return the places of a cell's forms among all that there can be."""
        return range(self.form_count)

    def answer_to(self, form: Form) -> Decision | None:
        """Return what was answered to a form; None if it was not asked."""
        return self._answers[form.part].get(form.cell)

    def _alike(self, forms: Sequence[Form]) -> bool:
        """Say whether the answers to forms, all of which were asked, do not differ yet."""
        return len(set(self._places(forms))) < 2

    def _places(self, forms: Sequence[Form]) -> list[int]:
        """Return the labels that were answered, by place; -1 for none, where that is an answer."""
        places = []
        for form in forms:
            answer = self.answer_to(form)
            if answer is None:
                continue
            if answer.winner is not None:
                places.append(self._place_in_first(form.part, answer.winner))
            elif self.silence == "answer" and answer.abstained != UNDECIDED:
                places.append(-1)
        return places

    def _place_in_first(self, part: int, winner: int) -> int:
        """Return the place of a part's label among those of the first part."""
        return winner

    def _judged(self, forms: Sequence[Form]) -> Decision:
        places = self._places(forms)
        if len(set(places)) > 1:
            return Decision(self.label(places))
        silent = [a for form in forms if (a := self.answer_to(form)) is not None]
        silent = [answer for answer in silent if answer.winner is None]
        if any(answer.abstained == UNDECIDED for answer in silent):
            return Decision(None, abstained=UNDECIDED)
        if silent and self.silence == "apart":
            return Decision(None, abstained=HALF if places else silent[0].abstained)
        return Decision(0)

    def identity(self) -> str | None:
        """Return what the decisions depend on: all that those of the parts do."""
        each = [part.identity() for part in self.parts]
        if any(one is None for one in each):
            return None
        return " | ".join(dict.fromkeys(str(one) for one in each))

    @property
    def asked_count(self) -> int:
        """How many questions were put to the parts."""
        return sum(map(len, self._answers))

    @property
    def varies(self) -> bool:
        """Whether asking a cell again may give another answer."""
        return any(getattr(part, "varies", False) for part in self.parts)

    # --- for people ---

    @property
    def policy(self) -> Policy:
        """The policy of the parts; what has no label does not occur."""
        own: Policy | None = getattr(self.parts[0], "policy", None)
        return replace(own or Policy(), label_unset="reject")

    @cached_property
    def question(self) -> Question:
        """How the parts were asked, and what the labels mean."""
        own: Question | None = getattr(self.parts[0], "question", None)
        each = (getattr(part, "question", None) for part in self.parts)
        templates = [text for one in each if one is not None for text in one.templates]
        label = self.space.label
        words = {} if label is None else {name: name for name in label.variables}
        question = own or Question(self.name)
        return replace(
            question,
            templates=tuple(dict.fromkeys(templates)),
            words=words,
            compared=self.compared,
            slots=(),
        )

    def show(self, cell: int) -> tuple[str, ...]:
        """Return the forms of a cell as their parts show them, each with what was answered."""
        forms = self.forms(cell)
        asked = [form for form in forms if self.answer_to(form) is not None]
        return tuple(text for form in asked or forms for text in self._shown(form))

    def _shown(self, form: Form) -> tuple[str, ...]:
        reply = self._reply(form)
        lead = f"{form.name} → {reply}" if reply else form.name
        return tuple(f"{lead}: {text}" for text in self.parts[form.part].show(form.cell))

    def _reply(self, form: Form) -> str:
        """Return what was answered to a form, in its words; "" if it was not asked."""
        answer, part = self.answer_to(form), self.parts[form.part]
        if answer is None:
            return ""
        if answer.winner is None:
            return f"no answer ({reason_in_words(answer.abstained)})"
        label = part.space.label
        if label is None:
            return "accepted" if answer.winner == YES else "rejected"
        word = label.variables[answer.winner]
        question: Question | None = getattr(part, "question", None)
        return word if question is None else question.words.get(word, word)

    @property
    def details(self) -> Mapping[str, Details]:
        """What was answered to each form, and what else is known of it, by what is shown."""
        known = [getattr(part, "details", {}) for part in self.parts]
        return {
            text: replace(known[form.part].get(prompt, NOTHING), reply=self._reply(form))
            for form in self._asked
            for prompt, text in self._texts(form)
        }

    def sent(self, cells: Collection[int]) -> tuple[Sent, ...]:
        """Return what each part was sent for one of the cells, where parts can say it."""
        if not cells:
            return ()
        sent: dict[int, tuple[Sent, ...]] = {}
        for form in self.forms(example_of(cells)):
            if form.part not in sent and self.answer_to(form) is not None:
                sent[form.part] = sent_to(self.parts[form.part], [form.cell])
        return tuple(one for each in sent.values() for one in each)

    @property
    def _asked(self) -> Iterator[Form]:
        """The forms that were asked, cell by cell."""
        for cell in self._decided:
            yield from (form for form in self.forms(cell) if self.answer_to(form) is not None)

    def _texts(self, form: Form) -> Iterator[tuple[str, str]]:
        """Yield what the part shows for a form, each with how it is shown here."""
        return zip(self.parts[form.part].show(form.cell), self._shown(form), strict=True)


class PromptedComparing(Comparing):
    """What they share if they ask in prompts: an interrupted run keeps what was answered."""

    def answered(self, cells: Sequence[int]) -> list[int]:
        """Return those of the cells that can be judged without asking anything more."""
        for place, part in enumerate(self.parts):
            if isinstance(part, Interruptible):
                wanted = [f.cell for cell in cells for f in self.forms(cell) if f.part == place]
                known = part.answered(wanted)
                self._ask(Form(place, cell, "") for cell in known)
        return [cell for cell in cells if self._is_known(self.forms(cell))]

    def _is_known(self, forms: Sequence[Form]) -> bool:
        first, rest = forms[:FIRST], forms[FIRST:]
        if any(self.answer_to(form) is None for form in first):
            return False
        return not self._alike(first) or all(self.answer_to(form) is not None for form in rest)

    @property
    def _prompts(self) -> list[PromptTarget]:
        return [part for part in self.parts if isinstance(part, PromptTarget)]

    @property
    def prompt_count(self) -> int:
        """How many prompts all cells take, at most."""
        each = [
            part.prompt_count // max(1, part.space.cell_count)
            if isinstance(part, PromptTarget)
            else 1
            for part in self.parts
        ]
        return self.space.cell_count * sum(each) * self.form_count // len(self.parts)

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The raw scores that each form got, by what is shown; none where a word was named."""
        scores = [part.scores if isinstance(part, PromptTarget) else {} for part in self.parts]
        return {
            text: scores[form.part].get(prompt, {})
            for form in self._asked
            for prompt, text in self._texts(form)
        }

    @property
    def asked(self) -> int:
        """How many prompts were put to models."""
        return sum(part.asked for part in self._prompts)

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        return sum(part.reused for part in self._prompts)

    @property
    def repeats(self) -> int:
        """How often each prompt is asked."""
        return max(part.repeats for part in self._prompts)


def with_label(
    attributes: tuple[Attribute, ...],
    name: str,
    values: Sequence[str],
    assumed: tuple[Rule, ...],
    complete: bool,
) -> Space:
    """Return a space with a label whose names are not those of attributes."""
    names = {attribute.name for attribute in attributes}
    taken = {variable for attribute in attributes for variable in attribute.variables}
    label = Nominal(_free(name, names), tuple(_free(value, taken) for value in values))
    return Space(attributes, label, assumed, complete=complete)


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "’"
    return name
