"""What recorded answers say: who wins, what that accepts, and what speaks for a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornlens.verifying.attributes import Rule
from hornlens.verifying.decided import Deciding, check_majorities, minus, same
from hornlens.verifying.grids import Space, Wrong, bits, breaks


@dataclass(frozen=True)
class Answer:
    """One line of `answers`, and what its cell is: an interpretation without a label.

    `winner` is the place of what was said among what could be said; None if nothing was.
    """

    line: Mapping[str, Any]
    place: int
    cell: int
    winner: int | None

    @property
    def is_scored(self) -> bool:
        """Whether the winner can be worked out; not where repeated answers disagree."""
        line = self.line
        return bool(line["scores"]) and not (line.get("repeats") and self.winner is None)

    @property
    def is_named(self) -> bool:
        """Whether the winner is what replies without scores name, asked once."""
        line, replies = self.line, self.line.get("replies", ())
        unscored = bool(replies) and not any(reply.get("scores") for reply in replies)
        return unscored and not line["scores"] and not line.get("repeats")

    @property
    def is_undecided(self) -> bool:
        """Whether there is an answer, which is not known: repeated answers vary."""
        return self.winner is None and self.line.get("abstained") == "undecided"

    @property
    def variant(self) -> str | None:
        """The way of asking, where there were several."""
        return self.line.get("variant")


@dataclass(frozen=True)
class Reader:
    """Reads answers over a space, under a policy."""

    space: Space
    policy: Mapping[str, Any]
    noisy: bool = False
    prompted: bool = False
    compared: bool = False

    @property
    def says(self) -> tuple[str, ...]:
        """What can be said of a cell: a label, or no and yes."""
        return self.space.labels or ("no", "yes")

    def read(self, lines: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Return the answers; each has to follow from its own scores, and to stand there once."""
        found = []
        deciding = Deciding(self.policy, len(self.says), self.noisy, self.prompted, self.compared)
        for place, line in enumerate(lines):
            winner = None if line["winner"] is None else self.says.index(line["winner"])
            answer = Answer(line, place, self.space.mask(line["set"]), winner)
            if answer.cell & sum(self.space.label_masks):
                raise Wrong(f"answer {place}: sets a label, which the target is to give")
            if why := deciding.why_not(line, winner):
                raise Wrong(f"answer {place}, {self.space.show(answer.cell)}: {why}")
            found.append(answer)
        if len({(a.cell, a.variant) for a in found}) < len(found):
            raise Wrong("answers: a cell stands there twice")
        if not self.noisy:
            check_majorities(lines)
        return found

    def accepted(self, answer: Answer, undecided: bool = True) -> list[int]:
        """Return the interpretations of an answer's cell that count as accepted."""
        space, cell, winner = self.space, answer.cell, answer.winner
        abstained = undecided if answer.is_undecided else self.policy["abstain"] == "accept"
        if not space.labels:
            return [cell] if (abstained if winner is None else winner == 1) else []
        unset = [cell] if self.policy["label_unset"] == "accept" and space.ends is None else []
        if winner is None:
            return unset + ([cell | label for label in space.label_masks] if abstained else [])
        return [*unset, cell | space.label_masks[winner]]

    def all_of(self, cell: int) -> list[int]:
        """Return a cell with each label, and where there are labels with none if that occurs."""
        unset = [cell] if self.space.ends is None or not self.space.labels else []
        return [*unset, *(cell | label for label in self.space.label_masks)]

    def said(self, answer: Answer) -> list[int]:
        """Return what the target itself said yes to, whatever the policy."""
        if answer.winner is None:
            return []
        if not self.space.labels:
            return [answer.cell] * answer.winner
        return [answer.cell | self.space.label_masks[answer.winner]]

    def check_evidence(
        self, rule: Rule, line: Mapping[str, Any], speaking: Sequence[Answer]
    ) -> None:
        """Count again what a readable rule says of the answers that speak of it."""
        margins = {a.place: margin for a in speaking for margin in self._margins(rule, a)}
        scored = {place: margin for place, margin in margins.items() if margin is not None}
        mean = sum(scored.values()) / len(scored) if scored else None
        for key, value in {"support": len(margins), "prompts": len(speaking)}.items():
            if line[key] != value:
                raise Wrong(f"{key} is {value}, not {line[key]}")
        if not same(line["mean_margin"], mean):
            raise Wrong(f"mean_margin is {mean}, not {line['mean_margin']}")
        if (closest := line["closest"]) is None:
            if scored:
                raise Wrong("closest: it is not said")
        elif not (
            same(closest["margin"], scored.get(closest["answer"]))
            and same(closest["margin"], min(scored.values()))
        ):
            raise Wrong("closest: not the answer with the least margin, or not its margin")

    def _margins(self, rule: Rule, answer: Answer) -> Iterator[float | None]:
        """Yield by how much an answer speaks for a rule, if it does; None where it has no scores.

        It does if something else was said than what the rule rejects in its cell.
        """
        cell, labels = answer.cell, self.space.label_masks
        rejected = [i for i, label in enumerate(labels) if breaks(cell | label, rule)]
        if not labels and breaks(cell, rule):
            rejected = [self.says.index("yes")]
        if rejected and answer.winner is not None and answer.winner not in rejected:
            scores = answer.line["scores"]
            yield (
                minus(scores[answer.winner], max(scores[i] for i in rejected)) if scores else None
            )


class Spoken:
    """Finds the answers that a rule speaks of: those of cells that have what it asks of a cell."""

    def __init__(self, space: Space, answers: Sequence[Answer]):
        """Note for each variable which answers have it, as the bits of a number."""
        self.answers, self.labels = answers, sum(space.label_masks)
        self.everything = (1 << len(answers)) - 1
        marks = [bytearray(b"0") * (len(answers) + 1) for _ in space.names]
        for number, answer in enumerate(answers):
            for v in bits(answer.cell):
                marks[v][-1 - number] = ord("1")
        self.columns = [int(mark, 2) for mark in marks]

    def of(self, rule: Rule, line: Mapping[str, Any]) -> list[Answer]:
        """Return the answers that a readable rule speaks of; its line has to list them."""
        found = self.everything
        for v in bits(rule[0] & ~self.labels):
            found &= self.columns[v]
        speaking = [self.answers[number] for number in bits(found)]
        if sorted(line["evidence"]) != [answer.place for answer in speaking]:
            raise Wrong("evidence: not the answers that it speaks of")
        return speaking
