"""What a run will take, said before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

from hornlens.counts import plural
from hornlens.logic.repeats import Repeats, fewest
from hornlens.models.protocol import Estimate, Estimates, HasWays, Model, Rechecks
from hornlens.probes.probe import Probe
from hornlens.report.terminal import Terminal
from hornlens.targets.asking import asked_with
from hornlens.targets.noisy import needed_evidence, too_few

MOST_READ = 20_000
"""Up to so many prompts are all read to find out what they take."""
SAMPLED = 200
"""Of more, so many random cells are."""
BYTES = "a byte counts as a token; usually it is a quarter of that"
FREE = "It is no endpoint's: no calls, no tokens, nothing to pay."
UNPRICED = "What that costs: give --price-in and --price-out, for a million tokens."


@dataclass(frozen=True)
class CellCost:
    """What a cell takes on average, in all phrasings and ways of asking: calls, tokens, a price."""

    calls: float
    tokens_in: float
    tokens_out: float
    cost: float | None
    """None: no prices are known."""
    largest: int
    """The tokens in of the cell that takes most of them."""
    sampled: int | None = None
    """How many random cells were read; None: all."""
    is_most: bool = True
    """Whether the numbers are the most that each cell takes, and not what some have taken."""

    def times(self, cells: float) -> Estimate:
        """Return what so many cells take."""
        cost = None if self.cost is None else self.cost * cells
        sent, replied = round(self.tokens_in * cells), round(self.tokens_out * cells)
        return Estimate(round(self.calls * cells), sent, replied, cost)

    def measured(
        self, cells: float, tokens_in: int, tokens_out: int, cost: float | None
    ) -> CellCost:
        """Return the same with the tokens that so many cells have taken."""
        return replace(
            self,
            tokens_in=tokens_in / cells,
            tokens_out=tokens_out / cells,
            cost=None if cost is None else cost / cells,
            sampled=round(cells),
            is_most=False,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as a dry run prints it."""
        return {
            "calls": round(self.calls, 3),
            "tokens_in": round(self.tokens_in, 3),
            "tokens_out": round(self.tokens_out, 3),
            "cost": self.cost,
            "largest_tokens_in": self.largest,
            "prompts_read": self.sampled,
            "is_most": self.is_most,
        }


def ways_of(model: Model, probe: Probe) -> int:
    """Return in how many ways a model is asked each prompt."""
    return max(1, len(model.ways(probe.label.words))) if isinstance(model, HasWays) else 1


def cost_of_cells(
    probe: Probe, model: Model, repeats: Repeats | None = None, once: bool = False
) -> CellCost | None:
    """Return the most that a cell takes, on average; None of a model that costs nothing.

    Where there are too many prompts to read them all, that is the mean of some random ones. `once`:
    nothing is repeated, though answers may vary.
    """
    if not isinstance(model, Estimates):
        return None
    space, many = probe.space, probe.prompt_count * ways_of(model, probe)
    sampled = None if many <= MOST_READ else SAMPLED
    if sampled is None:
        cells = list(islice(space.cells(), many))
    else:
        rng = Random(0)
        cells = [space.sample(rng) & ~space.label_mask for _ in range(sampled)]
    times = 1 if once or repeats is None else repeats.most + repeats.settle
    calls, replied, sent = 0, 0, [0] * len(cells)
    cost: float | None = 0.0
    for wording in probe.wordings:
        ways = model.ways(wording.label.words) if isinstance(model, HasWays) else {}
        for way in ways.values() or [model]:
            asked = asked_with(way, wording, drawn=repeats is not None)
            assert isinstance(asked, Estimates)
            for i, cell in enumerate(cells):
                most = asked.estimate([wording.render(cell)], wording.label.words)
                calls, replied = calls + most.calls, replied + most.tokens_out
                sent[i] += most.tokens_in
                cost = None if cost is None or most.cost is None else cost + most.cost
    share = times / len(cells)
    return CellCost(
        calls * share,
        sum(sent) * share,
        replied * share,
        None if cost is None else cost * share,
        max(sent) * times,
        sampled,
    )


def recheck_count(model: Model, prompts: int) -> int:
    """Return how many of so many prompts a model will be asked again at the end."""
    return model.recheck_count(prompts) if isinstance(model, Rechecks) else 0


def show_costs(
    terminal: Terminal,
    probe: Probe,
    model: Model,
    repeats: Repeats | None = None,
    cells: int | None = None,
    note: str = "",
) -> None:
    """Print how many calls and tokens a probe's prompts take, and what they cost.

    `cells`: so many of them are asked, as the note says. Default: all.
    """
    terminal.say(f"{model.name}: {plural(probe.prompt_count, 'prompt')}.")
    if note:
        terminal.say(note)
    one = cost_of_cells(probe, model, repeats)
    if one is None:
        terminal.say(FREE)
        return
    many = probe.space.cell_count if cells is None else cells
    each = len(probe.variants) * ways_of(model, probe)
    again = 0 if repeats is not None else recheck_count(model, many * each)
    total = one.times(many + again / each)
    about = "At most" if one.sampled is None else "About"
    terminal.say(
        f"{about} {plural(total.calls, 'call')}, {total.tokens_in:,} tokens in and "
        f"{total.tokens_out:,} out ({BYTES})."
    )
    if one.sampled is not None:
        terminal.say(
            f"That is the mean of {one.sampled:,} random prompts, {one.tokens_in:,.0f} tokens in "
            f"each; the largest of them takes {one.largest:,}."
        )
    if again:
        terminal.say(f"{plural(again, 'prompt')} are asked again at the end: that is included.")
    _show_repeats(terminal, probe, repeats, ways_of(model, probe))
    if total.cost is None:
        terminal.say(UNPRICED)
    else:
        terminal.say(f"{about} {total.cost:,.4g} at the prices given.")
    _show_room(terminal, one)
    terminal.say("Beside that, a few calls that try the endpoint out. Nothing was sent.")


def show_cell_cost(terminal: Terminal, one: CellCost | None, repeats: Repeats | None) -> None:
    """Print what one question takes, beside a plan that has the sums."""
    if one is None:
        terminal.say(FREE)
        return
    calls, sent = f"{one.calls:,.3g}", f"{one.tokens_in:,.0f} tokens in"
    noun = "call" if one.calls == 1 else "calls"
    if one.is_most:
        read = "all" if one.sampled is None else f"{one.sampled:,} random ones"
        terminal.say(
            f"A question takes {calls} {noun}, {sent} and {one.tokens_out:,.0f} out: the mean of "
            f"{read} (the largest takes {one.largest:,} in; {BYTES})."
        )
    else:
        terminal.say(
            f"A question took {calls} {noun}, {sent} and {one.tokens_out:,.3g} out in the pilot."
        )
    if repeats is not None:
        terminal.say("A sift asks each question once, whatever --repeats says.")
    terminal.say(UNPRICED if one.cost is None else "The cost is at the prices given.")
    _show_room(terminal, one)


def _show_repeats(terminal: Terminal, probe: Probe, repeats: Repeats | None, ways: int) -> None:
    if repeats is None:
        return
    worlds = ways * len(probe.variants)
    answers = f"That is with {repeats.most + repeats.settle:,} answers to each prompt."
    scored = "log-probabilities is asked once, and some a second time."
    if reason := too_few(repeats, probe, worlds):
        terminal.say(f"{answers} A model with {scored}")
        terminal.say(f"Warning: of any other model, {reason}.", "yellow")
        return
    needed = fewest(needed_evidence(repeats, probe, worlds))
    terminal.say(
        f"{answers} One that always answers the same is decided after {needed:,}; one with {scored}"
    )


def _show_room(terminal: Terminal, one: CellCost) -> None:
    if one.is_most and one.tokens_out > one.calls:
        terminal.say("A model that thinks before it replies is given more room, and takes more.")
