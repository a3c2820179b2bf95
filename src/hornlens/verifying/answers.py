"""What recorded answers say: who wins, what that accepts, and what speaks for a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from hornlens.verifying.attributes import Rule
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

    @property
    def says(self) -> tuple[str, ...]:
        """What can be said of a cell: a label, or no and yes."""
        return self.space.labels or ("no", "yes")

    def read(self, lines: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Return the answers; each has to follow from its own scores, and to stand there once."""
        found = []
        for place, line in enumerate(lines):
            winner = None if line["winner"] is None else self.says.index(line["winner"])
            answer = Answer(line, place, self.space.mask(line["set"]), winner)
            if answer.cell & sum(self.space.label_masks):
                raise Wrong(f"answer {place}: sets a label, which the target is to give")
            if why := self._not_so(answer):
                raise Wrong(f"answer {place}, {self.space.show(answer.cell)}: {why}")
            found.append(answer)
        if len({(a.cell, a.variant) for a in found}) < len(found):
            raise Wrong("answers: a cell stands there twice")
        return found

    def _not_so(self, answer: Answer) -> str | None:
        """Return why the winner does not follow from the scores and the policy; None if it does."""
        line, winner = answer.line, answer.winner
        scores, repeats = line["scores"], line.get("repeats")
        reason = line.get("abstained", "")
        if (winner is None) != bool(reason):
            return "a winner and a reason for having none, or neither"
        # Where answers vary, what was said most often is held against the certificate instead.
        most = bool(repeats) and winner is not None and not self.noisy
        if most and 2 * line["repeats"][winner] <= sum(line["repeats"]):
            return "the winner was not said more often than all others"
        if not scores and (why := self._not_named(line, winner)):
            return why
        if not answer.is_scored:
            return None
        if len(scores) != len(self.says):
            return "not a score for each label"
        first, second = sorted(scores, reverse=True)[:2]
        lead = _minus(first, second)
        if not _same(line["margin"], lead):
            return f"the margin is {lead}, not {line['margin']}"
        if winner is not None:
            enough = lead > 0 and (lead >= self.policy["margin"] or bool(repeats))
            return None if scores[winner] == first and enough else "the winner has not won"
        possible = {
            "tie": lead == 0,
            "margin": 0 < lead < self.policy["margin"],
            "top_k": self.policy.get("top_k") is not None,  # the ranks are not recorded
        }
        return None if possible.get(reason, True) else f"{reason} is not why there is no winner"

    def _not_named(self, line: Mapping[str, Any], winner: int | None) -> str | None:
        """Return why the winner, or the counts, are not what the replies without scores name."""
        replies, repeats = line.get("replies", ()), line.get("repeats")
        if not replies or any(reply.get("scores") for reply in replies):
            return None
        named = [-1 if reply.get("refused") else reply.get("named", -1) for reply in replies]
        counts = [named.count(place) for place in range(len(self.says))]
        if repeats:
            all_there = self.noisy and len(named) == sum(repeats) + line.get("silent", 0)
            return "not what the replies name" if all_there and counts != repeats else None
        most = [place for place, count in enumerate(counts) if count == max(counts)]
        found = most[0] if len(most) == 1 and sum(counts) == len(named) else None
        return None if found == winner else "the winner is not what most replies name"

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
        if not _same(line["mean_margin"], mean):
            raise Wrong(f"mean_margin is {mean}, not {line['mean_margin']}")
        if (closest := line["closest"]) is None:
            if scored:
                raise Wrong("closest: it is not said")
        elif not (
            _same(closest["margin"], scored.get(closest["answer"]))
            and _same(closest["margin"], min(scored.values()))
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
                _minus(scores[answer.winner], max(scores[i] for i in rejected)) if scores else None
            )


class Spoken:
    """Finds the answers that a rule speaks of: those of cells that have what it asks of a cell."""

    def __init__(self, space: Space, answers: Sequence[Answer]):
        """Note for each variable which answers have it, as the bits of a number."""
        self.answers, self.labels = answers, sum(space.label_masks)
        self.everything = (1 << len(answers)) - 1
        marks = [bytearray(b"0") * (len(answers) + 1) for _ in space.names]
        for answer in answers:
            for v in bits(answer.cell):
                marks[v][-1 - answer.place] = ord("1")
        self.columns = [int(mark, 2) for mark in marks]

    def of(self, rule: Rule, line: Mapping[str, Any]) -> list[Answer]:
        """Return the answers that a readable rule speaks of; its line has to list them."""
        found = self.everything
        for v in bits(rule[0] & ~self.labels):
            found &= self.columns[v]
        places = list(bits(found))
        if sorted(line["evidence"]) != places:
            raise Wrong("evidence: not the answers that it speaks of")
        return [self.answers[place] for place in places]


def check_statistics(statistics: Mapping[str, Any], answers: Sequence[Answer], whole: bool) -> None:
    """Count again what was asked; `whole`: the prompts of the answers are all there are."""
    prompts = {prompt for answer in answers for prompt in answer.line["prompts"]}
    counted = {
        "abstentions": sum(answer.winner is None for answer in answers),
        "questions": len({answer.cell for answer in answers}),
    }
    if whole:
        counted["distinct_prompts"] = len(prompts)
    for key, value in counted.items():
        if statistics.get(key, value) != value:
            raise Wrong(f"statistics: {key} is {value}, not {statistics[key]}")
    parts = [k for k in ("refinement", "speculative", "equivalence_samples") if k in statistics]
    if parts and statistics["membership_queries"] != sum(statistics[k] for k in parts):
        raise Wrong("statistics: membership_queries is not the sum of its parts")


def _minus(a: float, b: float) -> float:
    return 0.0 if a == b else a - b


def _same(a: float | None, b: float | None) -> bool:
    """Say whether two figures are the same, as far as adding up in another order lets them be."""
    if a is None or b is None or a == b:
        return a is b or a == b
    return isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (a != a and b != b)
