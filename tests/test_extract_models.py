"""From a checkpoint on disk to its rules: planted biases come back exactly, through real files."""

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
NEEDED = "needs pip install 'hornlens[hf]'"
torch = pytest.importorskip("torch", reason=NEEDED)
pytest.importorskip("transformers", reason=NEEDED)

from hornlens.models.protocol import ModelOptions  # noqa: E402
from hornlens.models.specs import open_model  # noqa: E402
from hornlens.probes.loading import parse_probe  # noqa: E402
from hornlens.store.cache import AnswerCache  # noqa: E402
from hornlens.study.extraction import extract  # noqa: E402
from tests import brute, checkpoints  # noqa: E402

PROBE = parse_probe(
    """
hornlens: 1
name: planted
templates: ["{label} was born {period} in {continent} and is a {occupation}."]
attributes:
  - name: period
    unset: in an unknown time period
    values: [before 1875, after 1970]
  - name: continent
    unset: an unknown place
    values: [Africa, Europe]
  - name: occupation
    unset: not known occupation
    values: [nurse, priest, singer]
label:
  name: gender
  values:
    - {name: female, word: She}
    - {name: male, word: He}
"""
)


def planted(cell: int) -> str:
    """Nurses are She; singers are She after 1970; all others are He."""
    names = set(PROBE.vocabulary.names_of(cell))
    return "She" if "nurse" in names or {"singer", "after 1970"} <= names else "He"


CELLS = list(PROBE.cells())
SENTENCES = [PROBE.render(cell)[0] for cell in CELLS]
WINNERS = [planted(cell) for cell in CELLS]
MAKERS = {
    "hf-bert": ("hf", checkpoints.make_bert),
    "hf-roberta": ("hf", checkpoints.make_roberta),
    "causal-llama": ("causal", checkpoints.make_llama),
}


def expected():
    models = [
        x
        for x in PROBE.domain
        if (label := PROBE.label_of(x)) is None
        or PROBE.label.words[label] == planted(x & ~PROBE.label_mask)
    ]
    return brute.dg(models, list(PROBE.domain))


@pytest.mark.parametrize("kind", MAKERS)
def test_planted_rules_are_recovered_exactly(kind, tmp_path):
    torch.set_num_threads(1)
    spec, make = MAKERS[kind]
    make(tmp_path / "model", SENTENCES, WINNERS)
    cache = AnswerCache(tmp_path / "c.sqlite")
    model = open_model(f"{spec}/{tmp_path / 'model'}", ModelOptions(batch_size=5, threads=1))
    result = extract(model, PROBE, cache=cache)
    assert brute.pairs(result.envelope.basis) == expected()
    assert "nurse ∧ male → ⊥" in result.envelope.readable.show(PROBE.vocabulary)
    assert (result.asked, result.reused) == (36, 0)
    # Another batch size asks nothing again; other weights under the same path do.
    again = open_model(f"{spec}/{tmp_path / 'model'}", ModelOptions(threads=1))
    assert extract(again, PROBE, cache=cache).reused == 36
    flipped = ["He" if winner == "She" else "She" for winner in WINNERS]
    make(tmp_path / "model", SENTENCES, flipped)
    swapped = open_model(f"{spec}/{tmp_path / 'model'}", ModelOptions(threads=1))
    other = extract(swapped, PROBE, cache=cache)
    assert other.asked == 36 and other.identity != result.identity
    assert "nurse ∧ female → ⊥" in other.envelope.readable.show(PROBE.vocabulary)
