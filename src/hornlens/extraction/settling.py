"""Answers that vary: after all cells were asked, those are asked again that would settle a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hornlens.errors import HornlensError
from hornlens.exact.readings import reading
from hornlens.extraction.asking import Questions, UnitedQuestions
from hornlens.learning.strategies import Cells, Proposal, Steps
from hornlens.logic.decisions import UNDECIDED
from hornlens.logic.grounds import Noise
from hornlens.logic.rule import Rule
from hornlens.targets.noisy import NoisyModel, too_few
from hornlens.targets.protocol import Target

STEP = 10
"""How many further answers a cell gets before it is looked at again whether it still matters."""


def noisy_target(target: Target) -> NoisyModel | None:
    """Return a target whose answers vary as such; None: they do not."""
    return target if isinstance(target, NoisyModel) else None


def asked_once(target: Target) -> Target:
    """Return a target that is asked each question once, though its answers vary."""
    noisy = noisy_target(target)
    return target if noisy is None else noisy.once()


def check_ways(worlds: Sequence[Questions], more: int) -> None:
    """Reject ways of asking that one test cannot decide, and repeats that decide nothing."""
    kinds = {target.sampled for w in worlds if (target := noisy_target(w.target)) is not None}
    if len(kinds) > 1:
        raise HornlensError(
            "--repeats: some phrasings are asked for samples and some for log-probabilities: "
            "use --elicit, or --variant for one of them"
        )
    noisy = noisy_target(worlds[0].target)
    if noisy is not None and kinds == {True}:
        reason = too_few(noisy.settings, noisy.probe, noisy.worlds)
        if reason:
            raise HornlensError(reason)
    if more and kinds == {False}:
        raise HornlensError(
            "--settle repeats samples, and these answers have log-probabilities: use --elicit "
            "constrained or say"
        )


@dataclass(frozen=True)
class Settle:
    """Asks undecided cells again, at most `more` times, as long as one may break a rule.

    It reads what is known by then from the questions; what it yields is asked by whoever runs it.
    """

    questions: Questions | UnitedQuestions
    more: int

    def steps(self) -> Steps:
        """Yield the cells of each world that would settle a rule, a few answers at a time."""
        spent = 0
        while spent < self.more:
            step, asked = min(STEP, self.more - spent), False
            for place, cells in enumerate(self._settling()):
                if cells:
                    yield Cells(cells, place, step)
                    asked = True
            if not asked:
                return
            spent += step

    def proposal(self) -> Proposal:
        """Return nothing."""
        return Proposal()

    def _settling(self) -> list[list[int]]:
        """Return for each world the undecided cells that may break a rule, its own or of all."""
        worlds = self.questions.worlds
        shared: tuple[Rule, ...] = ()
        if len(worlds) > 1:
            shared = tuple(reading(self.questions.knowledge, may=False).dg_basis())
        return [
            may_break((*shared, *reading(world.knowledge, may=False).dg_basis()), world)
            for world in worlds
        ]


def may_break(rules: Iterable[Rule], world: Questions) -> list[int]:
    """Return the undecided cells of a world that, with some label, break one of the rules."""
    space, listed = world.space, list(rules)
    places = () if space.label is None else range(len(space.label.variables))
    return [
        cell
        for cell, decision in sorted(world.decisions.items())
        if decision.abstained == UNDECIDED
        and any(
            not rule.satisfied_by(x)
            for x in ([space.with_label(cell, k) for k in places] or [cell])
            for rule in listed
        )
    ]


def look_for_copies(targets: Sequence[Target]) -> None:
    """Have no repeats decide anything if those of one way of asking are copies of each other."""
    noisy = [each for target in targets if (each := noisy_target(target)) is not None]
    copied = max((each.look_for_copies() or 0 for each in noisy), default=0)
    if copied:
        for each in noisy:
            each.distrust(0)


def noise_of(worlds: Sequence[Questions]) -> Noise | None:
    """Return how answers vary in one way of asking, or in several together; None: they do not."""
    found = [t.noise for w in worlds if (t := noisy_target(w.target)) is not None]
    if not found:
        return None
    undecided = sum(d.abstained == UNDECIDED for w in worlds for d in w.decisions.values())
    prompts, answers = sum(len(w.decisions) for w in worlds), sum(n.asked for n in found)
    if any(n.copied is not None for n in found):
        most, copied = max(n.most or 0 for n in found), sum(n.copied or 0 for n in found)
        return Noise(prompts, undecided, answers, most=most, copied=copied)
    if found[0].alpha is not None:
        most = max(n.most or 0 for n in found)
        return Noise(prompts, undecided, answers, found[0].alpha, most)
    drift = max(n.drift or 0.0 for n in found)
    reasked = sum(n.reasked or 0 for n in found)
    return Noise(prompts, undecided, answers, drift=drift, reasked=reasked)
