"""From a checkpoint on disk to its rules: planted biases come back exactly, through real files."""

import json
import os
import subprocess
import sys

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
NEEDED = "needs pip install 'hornlens[hf]'"
pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason=NEEDED)
pytest.importorskip("transformers", reason=NEEDED)

from hornlens.api import extract  # noqa: E402
from hornlens.models.checkpoint import Source  # noqa: E402
from hornlens.models.protocol import ModelError, ModelOptions  # noqa: E402
from hornlens.models.registry import open_model  # noqa: E402
from hornlens.probes.loading import parse_probe  # noqa: E402
from hornlens.store.sqlite import AnswerCache  # noqa: E402
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


CELLS = list(PROBE.space.cells())
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
        for x in PROBE.space
        if (label := PROBE.space.label_of(x)) is None
        or PROBE.label.words[label] == planted(x & ~PROBE.space.label_mask)
    ]
    return brute.dg(models, list(PROBE.space))


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
    assert (result.record.asked, result.record.reused) == (36, 0)
    # Another batch size asks nothing again; other weights under the same path do.
    again = open_model(f"{spec}/{tmp_path / 'model'}", ModelOptions(threads=1))
    assert extract(again, PROBE, cache=cache).record.reused == 36
    flipped = ["He" if winner == "She" else "She" for winner in WINNERS]
    make(tmp_path / "model", SENTENCES, flipped)
    swapped = open_model(f"{spec}/{tmp_path / 'model'}", ModelOptions(threads=1))
    other = extract(swapped, PROBE, cache=cache)
    assert other.record.asked == 36 and other.identity != result.identity
    assert "nurse ∧ female → ⊥" in other.envelope.readable.show(PROBE.vocabulary)


@pytest.mark.parametrize(("spec", "kind"), [("hf", "bert"), ("causal", "gpt2")])
def test_a_run_whose_answers_are_all_known_loads_no_model(spec, kind, tmp_path, monkeypatch):
    torch.set_num_threads(1)
    make = checkpoints.random_masked if spec == "hf" else checkpoints.random_causal
    make(tmp_path / "model", kind, [s.replace("[MASK]", "She He") for s in SENTENCES])
    cache = AnswerCache(tmp_path / "c.sqlite")
    first = extract(open_model(f"{spec}/{tmp_path / 'model'}"), PROBE, cache=cache)
    assert first.record.asked == 36

    def never(*args):
        raise AssertionError("nothing had to be loaded")

    for module in ("hf", "causal"):
        monkeypatch.setattr(f"hornlens.models.{module}.load", never)
    again = extract(open_model(f"{spec}/{tmp_path / 'model'}"), PROBE, cache=cache)
    assert (again.record.asked, again.record.reused) == (0, 36)
    assert again.identity == first.identity
    assert again.envelope.basis == first.envelope.basis


def test_naming_a_checkpoint_imports_neither_torch_nor_transformers(tmp_path):
    checkpoints.random_masked(tmp_path, "bert", SENTENCES)
    code = (
        "import sys\n"
        "from hornlens.models.hf import HfMaskedModel\n"
        "from hornlens.models.protocol import ModelOptions\n"
        "model = HfMaskedModel(sys.argv[1], options=ModelOptions(device='cpu'))\n"
        "assert model.identity().endswith(':float32')\n"
        "assert not {'torch', 'transformers', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)


def test_what_is_wrong_with_the_weights_is_said_before_a_prompt_is_asked(tmp_path):
    checkpoints.random_masked(tmp_path / "model", "bert", SENTENCES)
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    cache = AnswerCache(tmp_path / "c.sqlite")
    told = []
    with pytest.raises(ModelError, match="cannot be loaded"):
        extract(open_model(f"hf/{tmp_path / 'model'}"), PROBE, cache=cache, progress=told.append)
    assert told == [] and cache.models() == []


@pytest.mark.parametrize(
    ("config", "dtype"),
    [({"dtype": "bfloat16"}, "bfloat16"), ({"torch_dtype": "float16"}, "float16"), ({}, "auto")],
)
def test_on_cuda_the_dtype_is_the_one_that_the_configuration_names(config, dtype, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config))
    source = Source("somewhere", "content", tmp_path)
    assert source.dtype(ModelOptions(device="cuda")) == dtype
    assert source.dtype(ModelOptions(device="cpu")) == "float32"
    assert source.dtype(ModelOptions(device="cuda:1", dtype="float32")) == "float32"
