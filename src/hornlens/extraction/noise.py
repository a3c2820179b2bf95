"""Answers that vary: the rules that are certain, those that are possible, and what settles them.

What is undecided counts as accepted with every label: then only rules are left that hold whatever
it is. Or it counts as rejected: then no rule is missing that might hold. If the decided cells are
right, certain ⊆ true ⊆ possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hornlens.errors import HornlensError
from hornlens.extraction.questions import Questions, UnitedQuestions
from hornlens.logic.certificates import Noisy
from hornlens.logic.decisions import UNDECIDED
from hornlens.logic.rule import Rule
from hornlens.targets.noisy import Noise, NoisyModel
from hornlens.targets.protocol import Target

STEP = 10
"""How many further answers a cell gets before it is looked at again whether it still matters."""


def noisy_target(target: Target) -> NoisyModel | None:
    """Return a target whose answers vary as such; None: they do not."""
    return target if isinstance(target, NoisyModel) else None


def check_noise(exhaustive: bool, plain: bool) -> None:
    """Refuse what noise cannot be brought together with."""
    if not exhaustive:
        raise HornlensError(
            "--repeats shares its level over all prompts, so all of them must be asked: "
            "raise --limit and use --equivalence exhaustive"
        )
    if not plain:
        raise HornlensError(
            "--repeats cannot be used with --max-conditions, --min-support, --min-confidence, "
            "--detail or a learner"
        )


def settle(worlds: Sequence[Questions], more: int) -> None:
    """Decide all cells; then ask those again, so many times at most, that would settle a rule."""
    united = UnitedQuestions(worlds) if len(worlds) > 1 else worlds[0]
    kinds = {target.sampled for w in worlds if (target := noisy_target(w.target)) is not None}
    if len(kinds) > 1:
        raise HornlensError(
            "--repeats: some phrasings are asked for samples and some for log-probabilities: "
            "use --elicit, or --variant for one of them"
        )
    if more and kinds == {False}:
        raise HornlensError(
            "--settle repeats samples, and these answers have log-probabilities: use --elicit "
            "constrained or say"
        )
    united.tabulate()
    spent = 0
    while spent < more:
        common = settling(united, worlds)
        step, asked = min(STEP, more - spent), False
        for world, cells in zip(worlds, common, strict=True):
            target = noisy_target(world.target)
            if cells and target is not None and target.sampled:
                target.settle(cells, step)
                world.decide_again(cells)
                asked = True
        if not asked:
            return
        spent += step


def settling(united: Questions | UnitedQuestions, worlds: Sequence[Questions]) -> list[list[int]]:
    """Return for each world the undecided cells that may break a rule, its own or that of all."""
    shared = tuple(united.tabulate(undecided=False).dg_basis()) if len(worlds) > 1 else ()
    return [
        may_break((*shared, *world.tabulate(undecided=False).dg_basis()), world) for world in worlds
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


def certificate_of(worlds: Sequence[Questions]) -> Noisy:
    """Return what may be claimed of the rules of one world, or of several together."""
    found: list[Noise] = [t.noise for w in worlds if (t := noisy_target(w.target)) is not None]
    undecided = sum(d.abstained == UNDECIDED for w in worlds for d in w.decisions.values())
    prompts, answers = sum(len(w.decisions) for w in worlds), sum(n.asked for n in found)
    if found[0].alpha is not None:
        most = max(n.most or 0 for n in found)
        return Noisy(prompts, undecided, answers, found[0].alpha, most)
    drift = max(n.drift or 0.0 for n in found)
    reasked = sum(n.reasked or 0 for n in found)
    return Noisy(prompts, undecided, answers, drift=drift, reasked=reasked)
