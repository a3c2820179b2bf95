"""SmolLM2-135M-Instruct from PyPI, against plain transformers. Run by `make test-real`."""

import os
import time
from dataclasses import replace

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch", reason="needs pip install 'hornlens[smollm2]'")
pytest.importorskip("transformers", reason="needs pip install 'hornlens[smollm2]'")

from hornlens.models.protocol import MASK, ModelOptions  # noqa: E402
from hornlens.models.smollm2 import smollm2  # noqa: E402
from hornlens.testing.models import ModelConformance, ask, furthest  # noqa: E402

WORDS = ("She", "He")
PROMPTS = [
    f"{MASK} was born {period} in {continent} and is a {occupation}."
    for period in ("before 1875", "after 1970")
    for continent in ("Africa", "South America")
    for occupation in ("nurse", "priest", "fashion designer")
]


@pytest.fixture(scope="module")
def model():
    model = smollm2(ModelOptions(threads=1))
    model.check(WORDS)
    return model


@pytest.fixture(scope="module")
def answers(model):
    return ask(model, PROMPTS, WORDS)


class TestSmollm2(ModelConformance):
    prompts = PROMPTS
    close = 1e-4  # as between shared prefixes and plain batches

    def build(self, options):
        return smollm2(replace(options, threads=1))


def test_prefixes_are_computed_once(model, answers):
    assert model.share_prefixes
    assert model.work.computed <= 1.3 * model.work.nodes
    assert model.work.computed <= 0.5 * model.work.plain


def test_the_scores_are_those_of_plain_transformers(model, answers):
    loaded = model._checkpoint()  # as transformers loads it, which takes long enough once
    plain, tokenizer = loaded.model, loaded.tokenizer
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        sums = []
        for word in WORDS:
            ids = [tokenizer.bos_token_id, *tokenizer(prompt.replace(MASK, word))["input_ids"]]
            with torch.inference_mode():
                logits = plain(torch.tensor([ids])).logits[0, :-1].log_softmax(-1)
            sums.append(logits.gather(1, torch.tensor(ids[1:])[:, None]).double().sum())
        expected = torch.stack(sums).log_softmax(0).tolist()
        assert answer.scores == pytest.approx(expected, abs=1e-4)


def test_plain_batches_give_the_same(model, answers):
    start = time.perf_counter()
    shared = ask(model, PROMPTS, WORDS)
    middle = time.perf_counter()
    model.share_prefixes = False
    try:
        plain = ask(model, PROMPTS, WORDS)
    finally:
        model.share_prefixes = True
    end = time.perf_counter()
    # Shown and not asserted: on a busy machine, so short a time says little.
    print(f"\nshared {middle - start:.2f} s, plain {end - middle:.2f} s")
    assert furthest(shared, plain) <= 1e-4
