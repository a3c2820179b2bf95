"""Random probes with several phrasings, and models that answer each of them in its own way."""

from dataclasses import dataclass
from random import Random

from hornlens.logic.decisions import Policy
from hornlens.models.protocol import Answer
from hornlens.probes.probe import (
    Label,
    LabelValue,
    Probe,
    ProbeAttribute,
    Value,
    Variant,
)

SCORES = (-4.0, -3.5, -3.0, -2.0, -1.75)
"""Few enough that candidates tie, and that leads are exact in binary; three are probabilities."""


@dataclass
class SeededModel:
    """Scores that depend on a seed and the prompt; the candidates have ranks among ten words."""

    seed: str
    lean: float = 0.0
    """How often the first candidate gets the best score, so that there are rules to find."""
    name: str = "seeded"

    def identity(self):
        return None

    def check(self, candidates):
        pass

    def answer(self, prompt, candidates):
        rng = Random(f"{self.seed} {prompt}")
        scores = [rng.choice(SCORES) for _ in candidates]
        if rng.random() < self.lean:
            scores[0] = max(SCORES)
        return Answer(tuple(scores), tuple(rng.sample(range(10), len(scores))))

    def score(self, prompts, candidates):
        yield [(i, self.answer(prompt, candidates)) for i, prompt in enumerate(prompts)]


def random_probe(rng: Random) -> Probe:
    """One to three attributes, two or three labels, one to three phrasings."""
    attributes = tuple(
        ProbeAttribute(
            f"a{a}",
            tuple(Value(f"a{a}v{v}", f"a{a}v{v}") for v in range(rng.randint(1, 3))),
            Value("", f"no a{a}"),
            rng.choice(["", "it has {value}"]),
        )
        for a in range(rng.randint(1, 3))
    )
    label = Label("label", tuple(LabelValue(f"l{i}", f"w{i}") for i in range(rng.randint(2, 3))))
    slots = " ".join(f"{{{a.name}}}" for a in attributes)
    variants = []
    for i in range(rng.randint(1, 3)):
        own = label._replace(values=tuple(v._replace(word=f"{v.word}x{i}") for v in label.values))
        variants.append(
            Variant(f"v{i}", f"{slots} in way {i} is {{label}}.", label=rng.choice([None, own]))
        )
    return Probe("random", attributes, label, tuple(variants))


def random_policy(rng: Random) -> Policy:
    return Policy(
        label_unset=rng.choice(["accept", "reject"]),
        margin=rng.choice([0.0, 0.0, 0.5, 1.0]),
        top_k=rng.choice([None, None, 3, 6]),
        abstain=rng.choice(["accept", "reject"]),
        calibration=rng.choice(["none", "none", "neutral", "mean"]),
        phrasings=rng.choice(["each", "each", "average"]),
    )
