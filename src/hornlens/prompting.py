"""Models in the front door: a probe's questions are put to one, or to several that are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hornlens.errors import HornlensError
from hornlens.targets.protocol import Target

if TYPE_CHECKING:
    from hornlens.extraction.extract import Watch
    from hornlens.limits import Limits
    from hornlens.logic.decisions import Policy
    from hornlens.logic.repeats import Repeats
    from hornlens.models.protocol import Model
    from hornlens.probes.probe import Probe
    from hornlens.results.documents.findings import Findings
    from hornlens.results.documents.settings import Settings
    from hornlens.store.protocol import AnswerStore

Function = Callable[[str, Sequence[str]], Any]
"""Given a prompt and the candidate words, returns their scores: a sequence, or by word."""


def ask_models(
    models: Sequence[str | Model | Function | None],
    probe: str | Path | Probe | None,
    join: Callable[[Sequence[Target]], Target],
    run: Callable[..., Findings],
    settings: Settings | None = None,
    policy: Policy | None = None,
    cache: AnswerStore | str | Path | Literal[False] | None = None,
    progress: Callable[[int], None] | bool | None = None,
    repeats: int | Repeats | Literal["auto"] = 1,
    limits: Limits | None = None,
    watch: Watch | None = None,
) -> Findings:
    """Put a probe's questions to models, joined as one target, which `run` extracts the rules of.

    The other arguments are those of `extract`.
    """
    from hornlens.models.registry import open_model
    from hornlens.probes.loading import DEFAULT, default_model, load_probe
    from hornlens.probes.probe import Probe
    from hornlens.store.opening import open_store
    from hornlens.targets.prompted import prompted

    question = probe if isinstance(probe, Probe) else load_probe(probe or DEFAULT)
    chosen = policy or question.policy
    named = [default_model(question.name) if model is None else model for model in models]
    asked = [open_model(m) if isinstance(m, str) else _as_model(m) for m in named]
    if progress is True:
        from hornlens.extraction.extract import question_count
        from hornlens.report.progress import Live
        from hornlens.report.terminal import Terminal

        count = question_count(join([prompted(question, model, chosen) for model in asked]))
        everything = settings is None or settings.is_exhaustive(count)
        names = " and ".join(model.name for model in asked)
        total = count if everything and repeats == 1 else None
        live = Live(f"Asking {names}")
        run = partial(run, watch=live.beside(watch))
        showing: Any = Terminal().bar(live, total, "prompts")
    else:
        showing = nullcontext(progress or None)
    if cache is None or isinstance(cache, str | Path):
        store: Any = closing(open_store(cache))
    else:
        store = nullcontext(cache or None)
    with store as opened, showing as note:
        heard = _heeding(limits, note)
        if isinstance(repeats, int):
            targets = [prompted(question, m, chosen, opened, heard, repeats) for m in asked]
        else:
            from hornlens.logic.repeats import Repeats
            from hornlens.targets.noisy import noisy

            noise = Repeats() if repeats == "auto" else repeats
            targets = [noisy(question, m, chosen, opened, heard, noise) for m in asked]
        return run(join(targets))


def ask_target(
    target: Target,
    run: Callable[..., Findings],
    settings: Settings | None,
    policy: Policy | None,
    progress: Callable[[int], None] | bool | None,
    watch: Watch | None,
) -> Findings:
    """Have `run` extract the rules of a target, with its own questions, and show how far it is.

    The other arguments are those of `extract`.
    """
    if progress is not True:
        return run(target, policy=policy, told=progress or None)
    from hornlens.extraction.extract import question_count
    from hornlens.report.progress import Live
    from hornlens.report.terminal import Terminal

    count = question_count(target)
    everything = settings is None or settings.is_exhaustive(count, "cell")
    live = Live(f"Asking {target.name}")
    with Terminal().bar(live, count if everything else None, "cells") as advance:
        return run(target, policy=policy, told=advance, watch=live.beside(watch))


def _as_model(model: Any) -> Model:
    """Return a model as it is, and a function as one; what is neither is an error."""
    from hornlens.models.protocol import Model

    if isinstance(model, Model):
        return model
    from hornlens.models.functions import FunctionModel

    if not callable(model):
        members = "name, space, identity, decide and show"
        raise HornlensError(f"{model!r} is no model and no function; a target has {members}")
    return FunctionModel(model)


def _heeding(
    limits: Limits | None, progress: Callable[[int], None] | None
) -> Callable[[int], None] | None:
    """Return a `progress` that raises Stopped when a limit is reached: answers are kept by then."""
    if limits is None:
        return progress

    def heed(count: int) -> None:
        if progress is not None:
            progress(count)
        limits.check()

    return heed
