"""Who gave the answers of a run: refused if it was several models, counted, and asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hornlens.extraction.asking import Questions
from hornlens.extraction.conclude import Conclusion
from hornlens.logic.envelope import Envelope
from hornlens.logic.sources import Sources
from hornlens.results.analysis.sources import models_of, sources_of
from hornlens.results.documents.details import Details
from hornlens.targets.answers import two_models
from hornlens.targets.comparing import Comparing
from hornlens.targets.protocol import Target
from hornlens.targets.rechecking import Rechecked


def details_of(target: Target) -> Mapping[str, Details]:
    """Return what a target knows of its prompts beside scores."""
    details: Mapping[str, Details] = getattr(target, "details", {})
    return details


def _of_one_model(target: Target) -> Mapping[str, Details]:
    """Return the same of a target that asks one model; those that compare several are meant to."""
    return {} if isinstance(target, Comparing) else details_of(target)


def check_one_model(targets: Sequence[Target]) -> None:
    """Refuse answers of several models in the name of one; worlds may be models of their own."""
    for name in dict.fromkeys(target.name for target in targets):
        models = models_of(_of_one_model(target) for target in targets if target.name == name)
        if len(models) > 1:
            raise two_models(name, models)


def sources_in(worlds: Sequence[Questions], rechecked: Sequence[Rechecked]) -> Sources | None:
    """Return what a claim about what was decided has to say of who gave the answers."""
    reasked, changed = sum(r.reasked for r in rechecked), sum(r.changed for r in rechecked)
    return sources_of([(w.target.name, _decided(w)) for w in worlds], reasked, changed)


def _decided(world: Questions) -> Mapping[str, Details]:
    """Return what is known of the prompts of decided cells: a result has no others."""
    details = _of_one_model(world.target)
    if not any(known.replies for known in details.values()):
        return {}
    shown = dict.fromkeys(p for cell in world.decisions for p in world.target.show(cell))
    return {prompt: details[prompt] for prompt in shown if prompt in details}


def with_sources(conclusion: Conclusion, sources: Sources | None) -> Conclusion:
    """Return a conclusion whose certificates know who gave the answers."""
    if sources is None:
        return conclusion

    def known(envelope: Envelope) -> Envelope:
        return replace(envelope, certificate=replace(envelope.certificate, sources=sources))

    possible = None if conclusion.possible is None else known(conclusion.possible)
    return replace(conclusion, envelope=known(conclusion.envelope), possible=possible)
