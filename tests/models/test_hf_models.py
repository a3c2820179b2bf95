"""Masked language models: real small checkpoints, loaded from their folders."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hornlens.models.hf import HfMaskedModel
from hornlens.models.protocol import MASK, ModelError, ModelOptions
from hornlens.testing.models import ModelConformance, ask

os.environ.setdefault("HF_HUB_OFFLINE", "1")
NEEDED = "needs pip install 'hornlens[hf]'"
pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason=NEEDED)
transformers = pytest.importorskip("transformers", reason=NEEDED)

from tests import checkpoints  # noqa: E402  (it needs torch)

PERIODS = ["", "before 1900", "after 1970"]
CONTINENTS = ["", "in Africa", "in South America"]
OCCUPATIONS = ["nurse", "priest", "singer", "fashion designer", "person"]
WORDS = ("She", "He")
FAMILIES = ["bert", "roberta", "distilbert", "albert", "electra", "modernbert"]


def planted(period: str, occupation: str) -> str:
    if occupation == "singer":
        return "She" if period == "after 1970" else "He"
    return "She" if occupation in ("nurse", "fashion designer") else "He"


def sentence(*parts: str) -> str:
    return " ".join(part for part in parts if part)


RULE = {
    sentence(f"{MASK} was born", period, continent, f"and is a {occupation}."): planted(
        period, occupation
    )
    for period in PERIODS
    for continent in CONTINENTS
    for occupation in OCCUPATIONS
}
MIDDLE = {f"The {o} said that {MASK} was born.": planted("", o) for o in OCCUPATIONS}
PROMPTS = [*RULE, *MIDDLE]
WINNERS = [*RULE.values(), *MIDDLE.values()]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    checkpoints.make_bert(folder, PROMPTS, WINNERS)
    return folder


@pytest.fixture(scope="module")
def roberta(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("roberta")
    checkpoints.make_roberta(folder, PROMPTS, WINNERS)
    return folder


class Masked(ModelConformance):
    """A checkpoint that is made for the class."""

    prompts = PROMPTS
    folder: Path

    def build(self, options):
        return HfMaskedModel(self.folder, options=options)

    def test_the_sentence_that_is_scored_has_the_model_s_own_mask(self):
        model, answers = self.asked()
        prompt, token = self.prompts[0], model._checkpoint().tokenizer.mask_token
        [text] = self.build(ModelOptions()).sent(prompt, WORDS, answers[0]).texts
        assert text == prompt.replace("[MASK]", token)


class TestBert(Masked):
    bad_word = "sings"  # pieces of it are known

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, bert):
        cls.folder = bert

    def test_the_planted_rule_is_what_it_answers(self):
        _, answers = self.asked()
        assert [WORDS[a.scores.index(max(a.scores))] for a in answers] == WINNERS
        assert all(min(answer.ranks) == 0 for answer in answers)


class TestRoberta(TestBert):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, roberta):
        cls.folder = roberta


class RandomMasked(Masked):
    """A family without training: its scores are as good as any to compare."""

    prompts = PROMPTS[::3]
    family: str

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, tmp_path_factory):
        cls.folder = tmp_path_factory.mktemp(cls.family)
        checkpoints.random_masked(cls.folder, cls.family, PROMPTS)


class TestDistilbert(RandomMasked):
    family = "distilbert"


class TestAlbert(RandomMasked):
    family = "albert"


class TestElectra(RandomMasked):
    family = "electra"


class TestModernbert(RandomMasked):
    family = "modernbert"


def problem(call, *args) -> str:
    """The one line that a ModelError says."""
    with pytest.raises(ModelError) as caught:
        call(*args)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize("family", FAMILIES)
def test_the_head_sees_the_mask_alone_and_gives_what_the_full_pass_gives(family, tmp_path):
    checkpoints.random_masked(tmp_path, family, PROMPTS)
    model = HfMaskedModel(tmp_path)
    model.check(WORDS)
    head, rows = model._checkpoint().model.get_output_embeddings(), []
    hook = head.register_forward_pre_hook(lambda _, args: rows.append(args[0][..., 0].numel()))
    answers = ask(model, PROMPTS, WORDS)
    hook.remove()
    assert sum(rows) == len(PROMPTS)

    plain = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    with torch.inference_mode():
        for prompt, answer in zip(PROMPTS, answers, strict=True):
            logits = checkpoints.mask_logits(plain, tokenizer, [prompt])[0]
            ids = tokenizer.convert_tokens_to_ids(list(WORDS))
            assert answer.scores == pytest.approx(logits.log_softmax(0)[ids].tolist(), abs=1e-5)
            assert answer.ranks == tuple((logits > logits[i]).sum().item() for i in ids)


def test_a_family_that_the_hook_does_not_fit_gets_the_full_pass(bert, monkeypatch):
    short = ask(HfMaskedModel(bert), PROMPTS, WORDS)
    monkeypatch.setattr(transformers.BertForMaskedLM, "base_model", property(lambda self: self))
    model = HfMaskedModel(bert)
    full = ask(model, PROMPTS, WORDS)
    assert not model._head_of_mask_only
    for one, other in zip(short, full, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-5)


def test_roberta_takes_the_word_in_the_form_of_its_place(roberta):
    tokenizer = transformers.AutoTokenizer.from_pretrained(roberta)
    plain = transformers.AutoModelForMaskedLM.from_pretrained(roberta).eval()
    prompts = [f"{MASK} was born.", f"The nurse said that {MASK} was born."]
    answers = ask(HfMaskedModel(roberta), prompts, WORDS)
    for prompt, mark, answer in zip(prompts, ("", "Ġ"), answers, strict=True):
        ids = tokenizer.convert_tokens_to_ids([f"{mark}{word}" for word in WORDS])
        with torch.inference_mode():
            logits = checkpoints.mask_logits(plain, tokenizer, [prompt])[0]
        assert answer.scores == pytest.approx(logits.log_softmax(0)[ids].tolist(), abs=1e-5)


def test_a_word_that_is_one_token_elsewhere_only_is_refused_with_its_pieces(roberta):
    model = HfMaskedModel(roberta)
    model.check(["born", "nurse"])  # known after a space
    message = problem(model.score, [f"{MASK} was there."], ["born", "nurse"])
    assert "'born' at the start of the text is" in message
    assert " + " in message
    ask(model, [f"The nurse was {MASK}."], ["born", "nurse"])


def test_an_uncased_model_lowers_the_words_and_refuses_two_that_become_one(tmp_path):
    checkpoints.make_bert(tmp_path, PROMPTS[:6], WINNERS[:6], lowercase=True)
    model = HfMaskedModel(tmp_path)
    model.check(WORDS)
    assert ask(model, PROMPTS[:3], WORDS) == ask(model, PROMPTS[:3], ["she", "he"])
    message = problem(model.score, PROMPTS[:3], ["He", "he"])
    assert "'He' and 'he' are one and the same token" in message


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["She", "Ωμ"], "'Ωμ' is not in the model's vocabulary"),
        (["She", "nursed"], "tokens (nurse + ##d)"),
        (["She", "She"], "twice"),
        ([], "no candidate words"),
        (["She", f"a{MASK}"], "contains [MASK]"),
        (["She", " He"], "space around it"),
    ],
)
def test_words_it_cannot_fill_in_are_refused(bert, words, says):
    assert says in problem(HfMaskedModel(bert).check, words)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_prompt_it_would_have_to_cut_is_refused(family, request):
    model = HfMaskedModel(request.getfixturevalue(family))
    ask(model, [f"{MASK} was born" + " in Africa" * 29 + "."], WORDS)  # 64 tokens
    prompt = f"{MASK} was born" + " in Africa" * 30 + "."
    assert "takes 64 tokens at most, not 66" in problem(model.score, [prompt], WORDS)


class TestWhatCannotBeHad:
    def check(self, place, options: ModelOptions | None = None) -> str:
        return problem(HfMaskedModel(place, options=options).check, WORDS)

    def test_no_such_folder(self, tmp_path):
        assert self.check(tmp_path / "none") == f"{tmp_path / 'none'}: no such folder"
        assert self.check("../none-of-these").endswith("no such folder")

    def test_the_hub_out_of_reach(self):
        message = self.check("google-bert/bert-base-uncased")
        assert message.startswith("google-bert/bert-base-uncased: is not in the local cache")

    def test_no_name_for_the_hub(self):
        assert "is no folder" in self.check("a/b/c")

    def test_a_revision_of_a_folder(self, bert):
        assert "no revisions" in problem(HfMaskedModel(bert, "main").check, WORDS)

    def test_a_folder_without_a_model(self, tmp_path):
        assert "no config.json" in self.check(tmp_path)

    def test_weights_in_an_unsafe_format(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        (tmp_path / "model.safetensors").unlink()
        torch.save({}, tmp_path / "pytorch_model.bin")
        assert "no safetensors file" in self.check(tmp_path)

    def test_broken_weights(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        (tmp_path / "model.safetensors").write_bytes(b"not really")
        assert "cannot be loaded" in self.check(tmp_path)

    def test_not_a_masked_model(self, tmp_path):
        checkpoints.random_causal(tmp_path, "gpt2", PROMPTS[:3])
        assert "not a masked language model" in self.check(tmp_path)

    def test_an_encoder_without_a_head_is_not_given_a_random_one(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        transformers.BertModel.from_pretrained(bert).save_pretrained(tmp_path)
        assert "its files lack cls.predictions" in self.check(tmp_path)

    def test_a_tokenizer_without_a_mask(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        checkpoints.byte_level(PROMPTS, WORDS, eos="</s>").save_pretrained(tmp_path)
        assert "has no mask token" in self.check(tmp_path)

    def test_unknown_settings(self, bert):
        assert "unknown dtype 'int3'" in self.check(bert, ModelOptions(dtype="int3"))
        assert "unknown device 'abacus'" in self.check(bert, ModelOptions(device="abacus"))

    @pytest.mark.parametrize("package", ["torch", "transformers"])
    def test_a_missing_package_names_the_extra(self, bert, package, monkeypatch):
        monkeypatch.setitem(sys.modules, package, None)
        assert f"{package}: pip install 'hornlens[hf]'" in self.check(bert)


def test_weights_that_give_no_numbers_are_an_error_that_names_the_prompt(bert, tmp_path):
    model = transformers.AutoModelForMaskedLM.from_pretrained(bert)
    shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
    with torch.no_grad():
        model.cls.predictions.bias[9] = math.nan
    model.save_pretrained(tmp_path)
    message = problem(ask, HfMaskedModel(tmp_path), PROMPTS[:1], WORDS)
    assert "not finite" in message
    assert PROMPTS[0] in message


class TestIdentity:
    def identity(self, place, options: ModelOptions | None = None) -> str:
        model = HfMaskedModel(place, options=options)
        model.check(WORDS)
        return model.identity()

    def test_it_goes_with_the_content_and_not_with_the_path(self, bert, tmp_path):
        copy = tmp_path / "elsewhere"
        shutil.copytree(bert, copy)
        assert self.identity(copy) == self.identity(bert)

    def test_other_weights_under_the_same_path_are_another_model(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        before = self.identity(tmp_path)
        model = transformers.AutoModelForMaskedLM.from_pretrained(bert)
        with torch.no_grad():
            model.cls.predictions.bias[9] += 1
        model.save_pretrained(tmp_path)
        assert self.identity(tmp_path) != before

    def test_another_tokenizer_is_another_model(self, bert, tmp_path):
        shutil.copytree(bert, tmp_path, dirs_exist_ok=True)
        before = self.identity(tmp_path)
        checkpoints.wordpiece(PROMPTS[:8], WORDS).save_pretrained(tmp_path)
        assert self.identity(tmp_path) != before

    def test_the_dtype_belongs_to_it(self, bert):
        half = self.identity(bert, ModelOptions(dtype="bfloat16"))
        assert half != self.identity(bert)
        assert half.endswith("bfloat16")

    def test_a_model_of_the_hub_is_its_commit(self, bert, tmp_path):
        """Through a real cache of the hub's library, offline, in a process of its own."""
        commit = "0123456789abcdef0123456789abcdef01234567"
        cached = tmp_path / "hub" / "models--some--bert"
        shutil.copytree(bert, cached / "snapshots" / commit)
        (cached / "refs").mkdir()
        (cached / "refs" / "main").write_text(commit)
        code = (
            "from hornlens.models.hf import HfMaskedModel\n"
            "model = HfMaskedModel('some/bert')\n"
            "model.check(['She', 'He'])\n"
            "print(model.identity())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "HF_HOME": str(tmp_path),
                "HF_HUB_CACHE": str(tmp_path / "hub"),
                "HF_HUB_OFFLINE": "1",
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.stdout == f"hf-masked-1:hub:some/bert@{commit}:float32\n", done.stderr
        assert done.stderr == ""


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_first_words_and_share_are_those_of_the_whole_vocabulary(family, request):
    folder = request.getfixturevalue(family)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    prompts = PROMPTS[::7]
    for prompt, answer in zip(prompts, ask(HfMaskedModel(folder), prompts, WORDS), strict=True):
        ids = tokenizer(prompt.replace(MASK, tokenizer.mask_token), return_tensors="pt")
        at = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        with torch.inference_mode():
            shares = model(**ids).logits[0, at].softmax(0)
        best = sorted(range(len(shares)), key=lambda token: -shares[token])[:5]
        assert [share for _, share in answer.first] == pytest.approx(
            [float(shares[token]) for token in best], abs=1e-5
        )
        mark = "Ġ" if family == "roberta" and not prompt.startswith(MASK) else ""
        both = [float(shares[tokenizer.convert_tokens_to_ids(mark + word)]) for word in WORDS]
        assert answer.share == pytest.approx(sum(both), abs=1e-5)
        assert answer.first[0][0] == WORDS[both.index(max(both))]  # as people write it


def test_words_that_the_tokenizer_does_not_know_are_told(bert):
    prompts = [f"{MASK} is a nurse.", f"{MASK} is a 漢 nurse ☃.", f"{MASK} was born in 漢."]
    answers = ask(HfMaskedModel(bert), prompts, WORDS)
    assert [answer.unknown for answer in answers] == [(), ("漢", "☃"), ("漢",)]
