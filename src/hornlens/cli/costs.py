"""What a run will take, said before anything is sent."""

from __future__ import annotations

from hornlens.counts import plural
from hornlens.logic.repeats import Repeats, fewest, threshold
from hornlens.models.protocol import Estimate, Estimates, HasWays, Model
from hornlens.probes.probe import Probe
from hornlens.report.terminal import Terminal
from hornlens.targets.asking import asked_with


def show_costs(
    terminal: Terminal, probe: Probe, model: Model, repeats: Repeats | None = None
) -> None:
    """Say how many calls and tokens all of a probe's prompts take at most, and what they cost."""
    terminal.say(f"{model.name}: {plural(probe.prompt_count, 'prompt')}.")
    if not isinstance(model, Estimates):
        terminal.say("It is no endpoint's: no calls, no tokens, nothing to pay.")
        return
    most = cost_of_probe(probe, model, repeats)
    terminal.say(
        f"At most {plural(most.calls, 'call')}, {most.tokens_in:,} tokens in and "
        f"{most.tokens_out:,} out (a byte counts as a token; usually it is a quarter of that)."
    )
    if repeats is not None:
        terminal.say(
            f"That is with {repeats.most + repeats.settle:,} answers to each prompt. One that "
            f"always answers the same is decided after {_fewest(probe, repeats):,}; one with "
            "log-probabilities is asked once, and some a second time."
        )
    if most.cost is None:
        terminal.say("What that costs: give --price-in and --price-out, for a million tokens.")
    else:
        terminal.say(f"At most {most.cost:,.4g} at the prices given.")
    if most.tokens_out > most.calls:
        terminal.say("A model that thinks before it replies is given more room, and takes more.")
    terminal.say("Beside that, a few calls that try the endpoint out. Nothing was sent.")


def _fewest(probe: Probe, repeats: Repeats) -> int:
    needed = threshold(repeats.alpha, probe.prompt_count, len(probe.label.values) + 1)
    return min(fewest(needed), repeats.most)


def cost_of_probe(probe: Probe, model: Model, repeats: Repeats | None = None) -> Estimate:
    """Return the most that all prompts of a probe take, over its phrasings."""
    times = 1 if repeats is None else repeats.most + repeats.settle
    calls = sent = replied = 0
    cost: float | None = 0.0
    for wording in probe.wordings:
        ways = model.ways(wording.label.words) if isinstance(model, HasWays) else {}
        for way in ways.values() or [model]:
            asked = asked_with(way, wording, drawn=repeats is not None)
            assert isinstance(asked, Estimates)
            for cell in probe.space.cells():
                most = asked.estimate([wording.render(cell)], wording.label.words)
                calls, sent = calls + most.calls, sent + most.tokens_in
                replied += most.tokens_out
                cost = None if cost is None or most.cost is None else cost + most.cost
    whole = None if cost is None else cost * times
    return Estimate(calls * times, sent * times, replied * times, whole)
