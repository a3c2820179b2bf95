"""Where do two models differ, and where does an attribute change the answer? Both by asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hornlens.errors import HornlensError
from hornlens.result import Result
from hornlens.targets.protocol import Target

if TYPE_CHECKING:
    from hornlens.extraction.extract import Watch
    from hornlens.limits import Limits
    from hornlens.logic.decisions import Policy
    from hornlens.models.protocol import Model
    from hornlens.probes.probe import Probe
    from hornlens.prompting import Function
    from hornlens.results.documents.settings import Settings
    from hornlens.store.protocol import AnswerStore
    from hornlens.targets.comparing import Silence


def differences(
    first: str | Model | Function | Target,
    second: str | Model | Function | Target,
    probe: str | Path | Probe | None = None,
    *,
    names: tuple[str, str] | None = None,
    sides: bool = False,
    silence: Silence = "apart",
    settings: Settings | None = None,
    policy: Policy | None = None,
    cache: AnswerStore | str | Path | Literal[False] | None = None,
    progress: Callable[[int], None] | bool | None = None,
    repeats: int = 1,
    watch: Watch | None = None,
    limits: Limits | None = None,
) -> Result:
    """Return the rules of where two models, or two targets, give the same answer or differ.

    Both are asked the same questions. If all of them fit the limit, the rules are exact; else they
    are sifted, and most questions are asked where the two are likely to differ.

    Args:
        first: A model, as `extract` takes it, or a `Target`.
        second: What it is compared with: another model, or another target over the same cells.
            Two classifiers (`ClassifierTarget`) are compared over the thresholds of both.
        probe: What to ask models, as in `extract`.
        names: What to call the two. Default: their own names.
        sides: Whether a difference also says who gives which answer, which takes more questions.
        silence: What it counts as if only one of the two gives an answer. "apart": there is nothing
            to compare; it is counted among the abstentions and stands against every rule, unless
            the policy rejects abstentions. "answer": no answer is an answer like others, so that
            this is a difference.
        settings: How to extract, and which rules.
        policy: How scores become a label, for both. Default: the probe's own policy.
        cache: Where answers of both are kept, as in `extract`.
        progress: True shows a progress bar; a function is called with the number of new answers.
        repeats: How often each prompt is asked: the majority counts.
        watch: A function that is called with each event.
        limits: What may end the run early. What both may take together counts.

    Returns:
        The rules, with what both said of every cell that was asked.

    Raises:
        HornlensError: in one line, if the two cannot be compared.

    >>> def nurses(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> def nobody(prompt, words):
    ...     return [0.2, 0.8]
    >>> result = differences(nurses, nobody, cache=False, names=("old", "new"))
    >>> print(result.rules[0].sentence)
    old and new give different answers only if the person is a nurse.
    """
    from hornlens.targets.differences import differences_of

    def join(targets: Sequence[Target]) -> Target:
        one, two = targets
        return differences_of(one, two, names=names, sides=sides, silence=silence)

    options = (settings, policy, cache, progress, repeats, watch, limits)
    return _ask([first, second], probe, join, *options)


def changes(
    model: str | Model | Function | Target,
    attribute: str | Sequence[str],
    probe: str | Path | Probe | None = None,
    *,
    values: Sequence[str] | None = None,
    silence: Silence = "apart",
    settings: Settings | None = None,
    policy: Policy | None = None,
    cache: AnswerStore | str | Path | Literal[False] | None = None,
    progress: Callable[[int], None] | bool | None = None,
    repeats: int = 1,
    watch: Watch | None = None,
    limits: Limits | None = None,
) -> Result:
    """Return the rules of where changing one attribute changes the answer, and where it never does.

    Each setting of the other attributes is asked with every value of this one. If all of that fits
    the limit, the rules are exact; else they are sifted, and most questions are asked where the
    answer is likely to change.

    Args:
        model: A model, as `extract` takes it, or a `Target`.
        attribute: The attribute that is changed; several are changed at once.
        probe: What to ask a model, as in `extract`.
        values: Only these values are tried. Default: all of them.
        silence: What it counts as if some of the answers are missing and the others are the same.
            "apart": there is nothing to compare; it is counted among the abstentions and stands
            against every rule, unless the policy rejects abstentions. "answer": no answer is an
            answer like others.
        settings: How to extract, and which rules.
        policy: How scores become a label. Default: the probe's own policy.
        cache: Where answers are kept, as in `extract`.
        progress: True shows a progress bar; a function is called with the number of new answers.
        repeats: How often each prompt is asked: the majority counts.
        watch: A function that is called with each event.
        limits: What may end the run early.

    Returns:
        The rules, with what was answered for each value.

    Raises:
        HornlensError: in one line, if there is no such attribute, or nothing else is left.

    >>> def nurses(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> result = changes(nurses, "continent", cache=False)
    >>> print(result.rules[0].sentence)
    Changing only continent never changes the answer.
    """
    from hornlens.targets.flipping import flipping

    def join(targets: Sequence[Target]) -> Target:
        return flipping(targets[0], attribute, values=values, silence=silence)

    options = (settings, policy, cache, progress, repeats, watch, limits)
    return _ask([model], probe, join, *options)


def _ask(
    asked: Sequence[Any],
    probe: str | Path | Probe | None,
    join: Callable[[Sequence[Target]], Target],
    settings: Settings | None,
    policy: Policy | None,
    cache: AnswerStore | str | Path | Literal[False] | None,
    progress: Callable[[int], None] | bool | None,
    repeats: int,
    watch: Watch | None,
    limits: Limits | None,
) -> Result:
    """Ask models or targets, joined as one target."""
    from hornlens.extraction.extract import extract
    from hornlens.prompting import ask_models, ask_target

    if not isinstance(repeats, int):
        raise HornlensError(
            "answers are compared one by one: repeats must be a number, of which the majority "
            f"counts, not {repeats!r}"
        )
    run = partial(extract, settings=settings, watch=watch, limits=limits)
    targets = [one for one in asked if isinstance(one, Target)]
    if not targets:
        options = (settings, policy, cache, progress, repeats, limits, watch)
        return Result.of(ask_models(asked, probe, join, run, *options))
    if len(targets) < len(asked):
        raise HornlensError(
            "a model cannot be compared with a target: it needs a probe's questions"
        )
    if not (probe is None and repeats == 1 and not cache):
        raise HornlensError("a target asks its own questions: give it no probe, repeats or cache")
    return Result.of(ask_target(join(targets), run, settings, policy, progress, watch))
