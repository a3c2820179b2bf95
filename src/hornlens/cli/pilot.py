"""A pilot: a few random cells are asked before a run, to know how often each label is answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from hornlens.counts import plural
from hornlens.learning.sifting.estimating import label_rates
from hornlens.learning.sifting.planning import pilot_cells
from hornlens.logic.decisions import reason_in_words
from hornlens.targets.protocol import PromptTarget, Target
from hornlens.targets.worlds import Worlds


@dataclass(frozen=True)
class Pilot:
    """What a few random cells were answered: in how many some way of asking gave each label."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    cells: int
    silent: int
    """In so many there was no answer at all."""
    asked: int
    reused: int
    reasons: tuple[tuple[str, int], ...] = ()
    """Why there was no answer, each with how often, in some way of asking."""

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of each label."""
        return label_rates(self.counts, self.cells)

    def sentences(self) -> list[str]:
        """Return what was answered, and which labels never were."""
        pairs = [f"{name} {count:,}" for name, count in self._answers.items()]
        silent = [f"no answer {self.silent:,}"] if self.silent else []
        texts = [f"Pilot: {plural(self.cells, 'random cell')}: {', '.join([*pairs, *silent])}."]
        texts += [f"No answer {count:,} times: {reason}." for reason, count in self.reasons]
        if self.cells and self.silent == self.cells:
            return [*texts, "Rules are about answers: find out why there are none before a run."]
        for name in [name for name, count in self._answers.items() if not count]:
            texts.append(
                f"{name} was never answered: if it never is, that is a rule, and fewer questions "
                "will do; if it is only rare, the numbers are a guess."
            )
        return texts

    @property
    def _answers(self) -> dict[str, int]:
        return dict(zip(self.names, self.counts, strict=True))

    def as_json(self) -> dict[str, Any]:
        """Return it as a dry run prints it."""
        return {
            "cells": self.cells,
            "answers": self._answers,
            "no_answer": self.silent,
            "reasons": dict(self.reasons),
            "asked": self.asked,
            "reused": self.reused,
        }


def ask_pilot(target: Target, count: int, seed: int) -> Pilot:
    """Ask a target so many random cells, in every world."""
    cells = pilot_cells(target.space, count, seed)
    worlds = list(target.targets.values()) if isinstance(target, Worlds) else [target]
    label = target.space.label
    names = ("no", "yes") if label is None else label.variables
    decisions = list(zip(*(world.decide(cells) for world in worlds), strict=True))
    silent = (d.abstained for each in decisions for d in each if d.winner is None)
    answers = [{d.winner for d in each if d.winner is not None} for each in decisions]
    prompts = [world for world in worlds if isinstance(world, PromptTarget)]
    return Pilot(
        names,
        tuple(sum(place in given for given in answers) for place in range(len(names))),
        len(cells),
        sum(not given for given in answers),
        sum(world.asked for world in prompts) if prompts else len(cells),
        sum(world.reused for world in prompts),
        tuple(Counter(map(reason_in_words, silent)).most_common()),
    )
