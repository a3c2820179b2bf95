"""What all targets share that put a probe's questions to a model: words, ways, replies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

from hornlens.errors import HornlensError
from hornlens.formats.sent import Sent
from hornlens.logic.decisions import Decision, Policy, calibrated, decide
from hornlens.logic.space import Space
from hornlens.models.chat.wording import longest_of
from hornlens.models.protocol import Answer, Elicitation, Elicits, HasWays, Model
from hornlens.probes.probe import Probe
from hornlens.probes.wording import Wording
from hornlens.results.documents.question import Question
from hornlens.targets.answers import Answers
from hornlens.targets.protocol import Target
from hornlens.targets.worlds import Worlds

Progress = Callable[[int], None]


class Prompts:
    """A probe that is put to a model, as far as that does not depend on how answers are taken."""

    probe: Probe
    model: Model

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def space(self) -> Space:
        """The probe's space."""
        return self.probe.space

    @cached_property
    def question(self) -> Question:
        """The probe, as people are told of it."""
        probe = self.probe
        columns = zip(*(wording.label.words for wording in probe.wordings), strict=True)
        texts = [" / ".join(dict.fromkeys(words)) for words in columns]
        words = dict(zip((v.name for v in probe.label.values), texts, strict=True))
        variants = probe.variants
        return Question(
            probe.name,
            probe.description,
            probe.templates,
            words,
            probe.phrases,
            averaged=len(variants) > 1,
            language=variants[0].language if len(variants) == 1 else "",
            slots=tuple(wording.slots for wording in probe.wordings),
        )

    @property
    def prompt_count(self) -> int:
        """How many prompts all cells take."""
        return self.probe.prompt_count

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell's prompts: one, unless several phrasings are averaged."""
        return self.probe.render(cell)


def in_worlds(
    probe: Probe, model: Model, policy: Policy, make: Callable[[Probe, Model, int], Target]
) -> Target:
    """Return a target for each phrasing of a probe and each way of asking a model, as worlds.

    `make` is told how many there are. Where there is only one, it is that.
    """
    ways = model.ways(probe.label.words) if isinstance(model, HasWays) else {}
    averaged = len(probe.variants) == 1 or policy.phrasings == "average"
    phrased = [probe] if averaged else [probe.only(variant.name) for variant in probe.variants]
    many = len(phrased) * max(1, len(ways))
    if many == 1:
        return make(phrased[0], model, 1)
    targets = {}
    for one in phrased:
        own = "" if averaged else one.variants[0].name
        for name, way in (ways or {"": model}).items():
            targets[", ".join(part for part in (own, name) if part)] = make(one, way, many)
    return Worlds(model.name, targets, "elicitation" if ways else "phrasing")


def example_of(cells: Iterable[int]) -> int:
    """Return the cell that stands for all: one that says as much as any, and always the same."""
    return min(cells, key=lambda cell: (-cell.bit_count(), cell))


def sent_to(target: Target, cells: Collection[int]) -> tuple[Sent, ...]:
    """Return what a target was sent for one of the cells; nothing if it does not say."""
    sent: Callable[[Collection[int]], tuple[Sent, ...]] | None = getattr(target, "sent", None)
    return () if sent is None or not cells else sent(cells)


def sent_for(
    cells: Collection[int], wordings: Sequence[Wording], answers: Sequence[Answers]
) -> tuple[Sent, ...]:
    """Return what was sent for one of the cells, in each wording; nothing if models cannot say."""
    if not cells:
        return ()
    cell = example_of(cells)
    pairs = zip(wordings, answers, strict=False)
    each = (source.sent(wording.render(cell)) for wording, source in pairs)
    return tuple(sent for sent in each if sent is not None)


def check_scored(name: str, policy: Policy, phrasings: int) -> None:
    """Raise HornlensError for what needs scores, of a model that gives none as it is asked."""
    if policy.margin or policy.top_k is not None or policy.calibration != "none":
        raise HornlensError(
            f"{name} gives no log-probabilities as it is asked: no margin, top_k or calibration "
            "can be used"
        )
    if phrasings > 1:
        raise HornlensError(
            f"{name} gives no log-probabilities as it is asked, so its answers cannot be averaged "
            "over phrasings; leave each its own (policy phrasings: each)"
        )


def decision_of(answer: Answer, policy: Policy, baseline: Sequence[float] = ()) -> Decision:
    """Return what an answer decides: the candidate that it names, or that its scores let win.

    `baseline`: what is subtracted from the scores.
    """
    if answer.outcome or not answer.scores:
        return Decision(answer.named, abstained=answer.outcome)
    scores = calibrated(answer.scores, baseline) if baseline else answer.scores
    return decide(policy, scores, answer.ranks)


def asked_with(model: Model, wording: Wording, repeat: int = 0, drawn: bool = False) -> Model:
    """Return a model that asks as the probe wants it, where it can; `drawn`: a sample a time."""
    if not isinstance(model, Elicits):
        return model
    told = wording.elicitation
    patterns = tuple((v.word, v.patterns) for v in wording.label.values if v.patterns)
    longest = longest_of(wording.label.words)
    elicitation = Elicitation(told.method, told.system, told.user, patterns, longest)
    return model.asked_with(elicitation, repeat, drawn)
