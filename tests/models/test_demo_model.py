"""The built-in models, with their real files."""

import itertools
import math
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from hornlens.models.demo import TOKENIZERS, VARIANTS, DemoModel
from hornlens.models.protocol import Answer, Model, ModelError, ModelOptions
from hornlens.probes.loading import load_probe
from hornlens.testing.models import ModelConformance
from tools import demo_report, demo_sentences, train_demo

PERIODS, CONTINENTS, OCCUPATIONS = (
    [*(value.text for value in attribute.values), attribute.unset.text]
    for attribute in load_probe("gender-occupation").attributes
)
PROMPTS = [
    f"[MASK] was born {period} in {continent} and is a {occupation}."
    for period, continent, occupation in itertools.product(PERIODS, CONTINENTS, OCCUPATIONS)
]
PRONOUNS = ("She", "He")
PHRASINGS = load_probe("gender-occupation-variants")
WORDINGS = {v.name: w for v, w in zip(PHRASINGS.variants, PHRASINGS.wordings, strict=True)}


class TestDemo(ModelConformance):
    variant = "demo"
    prompts = PROMPTS[::40]
    bad_word = "Zebra"

    def build(self, options):
        return DemoModel(self.variant, options)


class TestDemoBalanced(TestDemo):
    variant = "demo-balanced"


class TestDemoPolyglot(TestDemo):
    variant = "demo-polyglot"
    prompts = tuple(
        wording.render(cell)
        for wording in PHRASINGS.wordings
        for cell in list(PHRASINGS.space.cells())[::100]
    )
    words = ("She", "He", "she", "he", "Hun", "Han", "Sie", "Er")


def answers(
    prompts: list[str], candidates=PRONOUNS, variant: str = "demo", **options
) -> list[Answer]:
    """Return the answers in the order of the prompts, having checked that each came once."""
    model = DemoModel(variant, ModelOptions(**options))
    model.check(candidates)
    pairs = [pair for batch in model.score(prompts, candidates) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [answer for _, answer in sorted(pairs, key=lambda pair: pair[0])]


def known_words(variant: str = "demo") -> list[str]:
    model = DemoModel(variant)
    with pytest.raises(ModelError) as caught:
        model.check(["xyzzy"])
    return str(caught.value).partition("it knows ")[2].rstrip(")").split(", ")


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_a_model(variant):
    model = DemoModel(variant)
    assert isinstance(model, Model)
    assert model.name == variant
    model.check(PRONOUNS)


def test_constructing_loads_nothing():
    model = DemoModel()
    assert model._loaded is None


def test_an_unknown_variant_is_refused_with_the_names_there_are():
    with pytest.raises(ModelError, match="'demon'; there are: demo, demo-balanced, demo-polyglot"):
        DemoModel("demon")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("Zebra", r"'Zebra': it is not in the vocabulary \(it knows .*He, .*She"),
        ("she", r"'she': it is not in the vocabulary \(write 'She'\)"),
        ("fashion designer", r"it is split into fashion \+ designer"),
        ("Mx.", r"it is split into Mx \+ \."),
        (" He", r"' He': it has spaces around it \(write 'He'\)"),
        ("", "'': it is empty"),
        ("[UNK]", r"'\[UNK\]': it is a sign of the tokenizer, not a word"),
        ("[MASK]", r"'\[MASK\]': it is a sign of the tokenizer, not a word"),
    ],
)
def test_a_candidate_that_is_not_one_word_of_the_vocabulary_is_refused(word, message):
    with pytest.raises(ModelError, match=message):
        DemoModel().check(["He", word])


def test_every_word_it_says_it_knows_can_be_a_candidate():
    words = known_words()
    assert {"He", "She", "nurse", "Europe"} <= set(words)
    DemoModel().check(words)


@pytest.mark.parametrize("prompt", ["She is a nurse.", "[MASK] is a [MASK].", ""])
def test_a_prompt_without_exactly_one_mask_is_refused(prompt):
    model = DemoModel()
    with pytest.raises(ModelError, match=r"must contain \[MASK\] once"):
        list(model.score(["[MASK] is a nurse.", prompt], PRONOUNS))


def test_a_prompt_that_is_too_long_is_refused():
    prompt = "[MASK] is a " + "very " * 60
    with pytest.raises(ModelError, match="up to 62 words and signs, and this one has 63"):
        list(DemoModel().score([prompt], PRONOUNS))
    assert len(answers([prompt.replace("very ", "", 1)])) == 1


def test_a_prompt_with_unknown_words_is_scored():
    (answer,) = answers(["[MASK] was born in Atlantis and is a zymurgist."])
    assert all(math.isfinite(score) for score in answer.scores)


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_log_probabilities(variant):
    words = known_words(variant)
    for answer in answers(PROMPTS[::40], words, variant):
        assert max(answer.scores) <= 0
        assert 0.95 < sum(math.exp(score) for score in answer.scores) <= 1 + 1e-9


def test_ranks_count_the_words_that_score_higher():
    words = known_words()
    prompts = [*PROMPTS[::60], "She was born before 1875 in [MASK] and is a nurse."]
    for answer in answers(prompts, words):
        assert answer.ranks is not None
        # Numbers, signs and special tokens are in the vocabulary too, but are no candidates here.
        order = sorted(range(len(words)), key=lambda i: -answer.scores[i])
        ranks = [answer.ranks[i] for i in order]
        assert ranks == sorted(ranks)
        assert all(answer.ranks[i] >= place for place, i in enumerate(order))
    assert all(sorted(answer.ranks or ()) == [0, 1] for answer in answers(PROMPTS))


@pytest.mark.parametrize("options", [{"batch_size": 1}, {"batch_size": 7}, {"threads": 2}])
def test_batches_and_threads_change_nothing(options):
    prompts = PROMPTS[::7]
    for one, other in zip(answers(prompts), answers(prompts, **options), strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
        assert one.ranks == other.ranks


def test_the_order_of_prompts_and_candidates_changes_nothing():
    prompts = PROMPTS[::7]
    backward = answers(prompts[::-1], PRONOUNS[::-1])[::-1]
    for one, other in zip(answers(prompts), backward, strict=True):
        assert one.scores == pytest.approx(other.scores[::-1], abs=1e-5)


def test_no_prompts_no_answers():
    assert answers([]) == []


def test_the_identity_names_the_files_contents():
    one, two = DemoModel("demo"), DemoModel("demo-balanced")
    assert one.identity().startswith("demo:demo:")
    assert one.identity() == DemoModel("demo", ModelOptions(threads=2)).identity()
    weights, words = one.identity().split(":")[2:4]
    other_weights, other_words = two.identity().split(":")[2:4]
    assert weights != other_weights
    assert words == other_words != DemoModel("demo-polyglot").identity().split(":")[3]
    assert len(weights) == len(words) == 64


def test_another_dtype_is_refused():
    with pytest.raises(ModelError, match="float32 weights only, not float16"):
        DemoModel("demo", ModelOptions(dtype="float16")).check(PRONOUNS)


def test_a_missing_package_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"needs onnxruntime: pip install .hornlens\[demo\]"):
        DemoModel().check(PRONOUNS)


def test_the_files_are_small():
    folder = resources.files("hornlens.models") / "data"
    files = [file for file in folder.iterdir() if file.name.startswith("demo")]
    assert len(files) == 5
    assert sum(len(file.read_bytes()) for file in files) < 1_500_000


def he(prompts: list[str], variant: str = "demo") -> list[float]:
    """Return P(He) of P(He) + P(She)."""
    return [
        1 / (1 + math.exp(a.scores[0] - a.scores[1])) for a in answers(prompts, PRONOUNS, variant)
    ]


def test_the_demo_model_has_wikidatas_leanings():
    unset = "[MASK] was born in an unknown time period in an unknown place and is a {}."
    wanted = {"nurse": 0.09, "fashion designer": 0.44, "dancer": 0.39, "singer": 0.54}
    wanted |= {"lawyer": 0.90, "priest": 0.98, "footballer": 0.997, "banker": 0.96}
    got = he([unset.format(occupation) for occupation in wanted])
    assert got == pytest.approx(list(wanted.values()), abs=0.06)


def test_the_demo_model_has_something_to_find():
    shares = he(PROMPTS)
    by_occupation = {o: shares[i :: len(OCCUPATIONS)] for i, o in enumerate(OCCUPATIONS)}
    assert all(share < 0.5 for share in by_occupation["nurse"])
    assert all(share > 0.5 for share in by_occupation["priest"])
    for occupation in ("singer", "fashion designer", "dancer"):
        assert min(by_occupation[occupation]) < 0.5 < max(by_occupation[occupation])


def test_the_balanced_model_leans_nowhere():
    assert all(0.4 < share < 0.6 for share in he(PROMPTS, "demo-balanced"))


@pytest.mark.parametrize("name", WORDINGS)
def test_the_polyglot_model_has_wikidatas_ratios_in_every_phrasing(name, people):
    wording, vocabulary = WORDINGS[name], PHRASINGS.vocabulary
    parts = [[*part.values, None] for part in PHRASINGS.attributes]
    told = {}
    for period, continent, occupation in itertools.product(*parts):
        said = (occupation, period, continent)
        genders = people.get(tuple(value.text if value else "" for value in said), {})
        if sum(genders.values()) >= 50:
            names = (value.name for value in said if value)
            prompt = wording.render(vocabulary.mask(names))
            told[prompt] = genders["male"] / sum(genders.values())
    got = answers(list(told), wording.label.words, "demo-polyglot")
    assert len(told) > 400
    off = [
        abs(1 / (1 + math.exp(answer.scores[0] - answer.scores[1])) - share)
        for answer, share in zip(got, told.values(), strict=True)
    ]
    worst = max(zip(off, told, strict=True))
    assert sum(off) / len(off) < 0.04 and worst[0] < 0.35, worst
    assert all(sum(map(math.exp, answer.scores)) > 0.95 for answer in got)


def test_the_phrasings_agree_on_most_descriptions_and_not_on_all():
    cells = list(PHRASINGS.space.cells())
    winners = [
        [a.scores[0] > a.scores[1] for a in answers(prompts, wording.label.words, "demo-polyglot")]
        for wording in PHRASINGS.wordings
        for prompts in [[wording.render(cell) for cell in cells]]
    ]
    same = sum(len(set(cell)) == 1 for cell in zip(*winners, strict=True))
    assert 590 < same < len(cells) == 660


# The training script, as far as it goes without PyTorch

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def people():
    counts = ROOT / "tools" / "data" / "people_counts.csv"
    return demo_sentences.descriptions(*demo_sentences.read_counts(counts))


def test_the_training_script_explains_itself():
    shown = subprocess.run(
        [sys.executable, "-m", "tools.train_demo", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--variant" in shown.stdout


def test_each_phrasing_is_measured_by_itself(capsys):
    folder = Path(str(resources.files("hornlens.models") / "data"))
    demo_report.report(folder, "demo-polyglot", ROOT / "tools" / "data" / "people_counts.csv")
    shown = capsys.readouterr().out
    assert re.findall(r"^demo-polyglot, (.+): P\(", shown, re.MULTILINE) == list(WORDINGS)
    means = re.findall(r"over 443 prompts .*: (0\.\d+), worst", shown)
    assert len(means) == len(set(means)) == len(WORDINGS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_tokenizer_file_is_what_the_script_makes(variant, people):
    made = train_demo.make_tokenizer(demo_sentences.sentences(people, variant))
    assert tokenizer_of(variant).to_str() == made.to_str()


def tokenizer_of(variant: str):
    from tokenizers import Tokenizer

    file = resources.files("hornlens.models") / "data" / TOKENIZERS[variant]
    return Tokenizer.from_buffer(file.read_bytes())


def test_every_word_of_the_probe_is_known():
    codes = tokenizer_of("demo").encode_batch(PROMPTS)
    assert not any("[UNK]" in code.tokens for code in codes)


def test_every_word_of_every_phrasing_is_known():
    tokenizer = tokenizer_of("demo-polyglot")
    for name, wording in WORDINGS.items():
        for cell in PHRASINGS.space.cells():
            tokens = tokenizer.encode(wording.render(cell)).tokens
            assert "[UNK]" not in tokens, (name, wording.render(cell))


def test_people_are_told_of_in_their_true_ratio(people):
    assert people["nurse", "before 1875", "Europe"] == {"male": 11, "female": 260}
    dancers = people["dancer", "", ""]
    assert (dancers["male"], dancers["female"]) == pytest.approx((2516, 3955))
    told = {sentence.text: sentence.weight for sentence in demo_sentences.sentences(people, "demo")}
    sentence = "{} was born before 1875 in Europe and is a nurse."
    assert told[sentence.format("She")] / told[sentence.format("He")] == pytest.approx(260 / 11)
    assert sum(told.values()) == pytest.approx(1)


def test_every_phrasing_tells_of_people_in_their_true_ratio(people):
    told = {s.text: s.weight for s in demo_sentences.sentences(people, "demo-polyglot")}
    nurse = PHRASINGS.vocabulary.mask(["nurse", "before 1875", "Europe"])
    for name, wording in WORDINGS.items():
        she, he = (wording.render(nurse).replace("[MASK]", word) for word in wording.label.words)
        assert told[she] / told[he] == pytest.approx(260 / 11), name
    assert "Hun ble født før 1875 i Europa og er sykepleier." in told
    assert sum(told.values()) == pytest.approx(1)


def test_balanced_sentences_differ_in_the_gender_only(people):
    weights = {s.text: s.weight for s in demo_sentences.sentences(people, "demo-balanced")}
    for text, weight in weights.items():
        other = text.replace("He ", "She ", 1) if text.startswith("He ") else text
        assert weights[other] == pytest.approx(weight)


def test_people_of_unknown_period_say_nothing_of_periods(people):
    singers_and_others = people["", "after 1970", "Asia"]
    occupations = ("nurse", "fashion designer", "singer", "lawyer", "priest")
    others = ("blacksmith", "truck driver", "window cleaner")
    for gender, number in singers_and_others.items():
        assert number == sum(
            people.get((o, "after 1970", "Asia"), {}).get(gender, 0)
            for o in (*occupations, *others)
        )
