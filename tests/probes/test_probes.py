"""Probes: wording both ways, domains, sampling, and files that are wrong."""

from pathlib import Path
from random import Random

import pytest

from hornlens.api import extract
from hornlens.errors import InputError
from hornlens.logic.decisions import Policy, decide
from hornlens.logic.taxonomy import Taxonomy
from hornlens.models import protocol
from hornlens.probes.articles import with_article
from hornlens.probes.loading import builtin_names, builtin_text, load_probe, parse_probe
from hornlens.probes.wording import MASK

PAPER = load_probe("gender-occupation")
EXAMPLE = [0] * 4 + [1] + [0, 1] + [0] * 9 + [1] + [0] * 7 + [1, 0]


def test_the_papers_lookup_table_position_for_position():
    names = PAPER.vocabulary.names
    assert len(names) == 26
    assert names[:5] == ("before 1875", "1875-1925", "1925-1951", "1951-1970", "after 1970")
    assert names[5] == "North America" and names[13] == "Australia"
    assert names[14] == "fashion designer" and names[23] == "diplomat"
    assert names[24:] == ("female", "male")
    assert PAPER.prompt_count == PAPER.space.cell_count == 660
    assert PAPER.space.count == 1980
    assert len({p for cell in PAPER.space.cells() for p in PAPER.render(cell)}) == 660


def test_the_papers_conversion_example_both_ways():
    x = sum(bit << i for i, bit in enumerate(EXAMPLE))
    assert PAPER.render(x) == ("[MASK] was born after 1970 in Africa and is a dancer.",)
    assert PAPER.label.words[PAPER.space.label_of(x)] == "She"
    assert PAPER.read("She was born after 1970 in Africa and is a dancer.") == x
    assert PAPER.read(PAPER.render(x)[0]) == x & ~PAPER.space.label_mask


@pytest.mark.parametrize("name", builtin_names())
def test_every_sentence_can_be_read_back(name):
    probe = load_probe(name)
    for cell in probe.space.cells():
        assert cell in probe.space
        for prompt in probe.render(cell):
            assert prompt.count(MASK) == 1
            assert probe.read(prompt) == cell
    with pytest.raises(InputError, match="no template"):
        probe.read("Something else.")


def test_the_second_version_asks_the_same_in_english():
    """The paper's probe stays as it is: “a not known occupation”, “in Americas”."""
    second = load_probe("gender-occupation-2")
    assert second.vocabulary == PAPER.vocabulary and second.space == PAPER.space
    unset, americas = 0, second.vocabulary.mask(["Americas"])
    assert PAPER.render(americas)[0].endswith("in Americas and is a not known occupation.")
    assert second.render(americas)[0].endswith(
        "in the Americas and is a person of unknown occupation."
    )
    assert second.render(unset)[0].endswith(
        "in an unknown place and is a person of unknown occupation."
    )


def test_the_mask_is_the_one_that_models_know():
    assert MASK == protocol.MASK


def test_there_is_a_probe_that_is_not_about_gender():
    assert len(builtin_names()) >= 2
    other = load_probe("sentiment")
    assert other.label.words == ("good", "bad")
    assert any("an airport" in p for cell in other.space.cells() for p in other.render(cell))


def test_the_template_says_a_or_the_right_article_as_it_likes():
    text = builtin_text("gender-occupation").replace("is a {occupation}", "is {a:occupation}")
    text = text.replace("- nurse", "- {name: nurse, text: hourly nurse}")
    probe = parse_probe(text)
    nurse = probe.vocabulary.mask(["nurse"])
    assert probe.render(nurse)[0].endswith("and is an hourly nurse.")
    assert PAPER.render(0)[0].endswith("and is a not known occupation.")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        *(("European", "a"), ("umbrella", "an"), ("user", "a"), ("one-off", "a"), ("heir", "an")),
        *(("honest man", "an"), ("hotel", "a"), ("unimportant", "an"), ("uninvited", "an")),
    ],
)
def test_articles(words, expected):
    assert with_article(words) == f"{expected} {words}"


def test_samples_are_uniform_over_each_attribute_and_the_label_is_always_set():
    rng = Random(1)
    drawn = [PAPER.space.sample(rng) for _ in range(6000)]
    assert all(x in PAPER.space and x & PAPER.space.label_mask for x in drawn)
    unset = sum(not x & PAPER.space.groups[0] for x in drawn)
    assert 850 < unset < 1150  # a sixth
    optional = parse_probe(builtin_text("gender-occupation") + "sample_label: optional\n")
    space = optional.space
    assert any(not space.sample(rng) & space.label_mask for _ in range(50))


def test_policies_decide():
    assert decide(Policy(), [-1.0, -2.0]).winner == 0
    assert decide(Policy(), [-2.0, -2.0]).abstained == "tie"
    assert decide(Policy(margin=1.5), [-1.0, -2.0]).abstained == "margin"
    assert decide(Policy(top_k=5), [-1.0, -2.0], [5, 9]).abstained == "top_k"
    assert decide(Policy(top_k=5), [-1.0, -2.0], [4, 9]).winner == 0
    assert decide(Policy(), [-3.0, -2.0, -1.0]).margin == 1.0


GOOD = builtin_text("gender-occupation")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{period}", "{periods}", "templates[1]: unknown slot {periods}"),
        ("{label} was", "It was", "templates[1]: must have the slot {label} exactly once"),
        ("{label} was", "{label} {label} was", "exactly once"),
        ("{label} was", "{a:label} was", "the label takes no article"),
        ("{label} was", "[MASK] {label} was", "write {label} where [MASK] should stand"),
        ("{label} was", "{label} } was", "a brace that is no slot"),
        ("- dancer", "- nurse", "attributes[3].values[3]: a second value 'nurse'"),
        ("- dancer", "- {name: d, text: nurse}", "'nurse' is said twice"),
        ("- dancer", "- 1875", "attributes[3].values[3]"),
        ("- dancer", "- yes", "attributes[3].values[3]"),
        ("- dancer", "- {name: dancer, txt: x}", "there is no such field"),
        ("unset: an unknown place", "unset: ''", "attributes[2].unset: must not be empty"),
        ("    unset: an unknown place\n", "", "attributes[2].unset: this field is required"),
        ("name: continent", "name: label", "this name is the label's"),
        ("name: continent", "name: gender", "this name is the label's"),
        ("name: continent", "name: period", "a second attribute 'period'"),
        ("name: continent", "name: 'a:b'", "must not contain braces or a colon"),
        (
            "- dancer",
            "- {name: dancer, under: artist}",
            "attributes[3].values[3].under: occupation has no value 'artist' to stand under",
        ),
        ("- dancer", "- {name: dancer, under: Asia}", "occupation has no value 'Asia'"),
        ("- dancer", "- {name: dancer, under: dancer}", "'dancer' stands under itself"),
        ("- dancer", "- {name: dancer, under: singer}", "'singer' comes after 'dancer'"),
        ("- dancer", "- {name: dancer, under: ''}", "under: must not be empty"),
        ("word: He", "word: She", "a second candidate 'She'"),
        ("{name: male, word: He}", "{name: female, word: He}", "a second value 'female'"),
        ("    - {name: male, word: He}\n", "", "label.values: needs at least 2"),
        ("hornlens: 1", "hornlens: 2", "hornlens:"),
        ("hornlens: 1\n", "hornlens: 1\nextra: 1\n", "extra: there is no such field"),
        (" in {continent}", "", "attributes[2]: no template has a slot for this attribute"),
        ("hornlens: 1\n", "hornlens: 1\nhornlens: 1\n", "the field 'hornlens' stands twice"),
        ("- dancer", "- &x dancer", "anchors and aliases are not allowed"),
        ("- dancer", "- !!python/object/apply:os.system [ls]", "is not allowed"),
        ("- dancer", "- [", "is not well-formed YAML"),
        ("- dancer", "- 2020-13-45", "YAML"),
        ("label:\n", "policy: {margin: -1}\nlabel:\n", "policy.margin"),
        ("label:\n", "policy: {margin: .nan}\nlabel:\n", "policy.margin"),
        ("label:\n", "policy: {top_k: 0}\nlabel:\n", "policy.top_k"),
    ],
)
def test_a_bad_probe_is_refused_with_line_and_field(old, new, message):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    with pytest.raises(InputError) as raised:
        parse_probe(text, "p.yaml")
    assert message in str(raised.value), str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_line_is_the_right_one():
    text = GOOD.replace("- dancer", "- nurse")
    line = text[: text.index("- nurse", text.index("- nurse") + 1)].count("\n") + 1
    with pytest.raises(InputError) as raised:
        parse_probe(text, "p.yaml")
    assert raised.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\n",
        "[" * 5000,
        "- 1",
        "just text",
        "--- \n...",
        "x: 1\n---\ny: 2",
    ],
    ids=["bomb", "deep", "list", "text", "nothing", "two documents"],
)
def test_what_is_no_probe_at_all_is_one_clear_line(text):
    with pytest.raises(InputError) as raised:
        parse_probe(text, "p.yaml")
    assert "\n" not in str(raised.value)


TAXONOMY = """hornlens: 1
name: places
templates: ["People in {place} drink {label}."]
attributes:
  - name: place
    unset: the world
    values:
      - Europe
      - {name: Germany, under: Europe}
      - {name: Bavaria, text: Upper Bavaria, under: Germany}
      - {name: France, under: Europe}
      - Asia
label:
  name: drink
  values: [{name: coffee, word: coffee}, {name: tea, word: tea}]
"""


def test_a_value_may_stand_under_another_and_is_asked_in_its_own_words():
    probe = parse_probe(TAXONOMY)
    assert isinstance(probe.space.attributes[0], Taxonomy)
    assert [probe.render(cell)[0].split(" ")[2:-2] for cell in probe.space.cells()] == [
        *(["the", "world"], ["Europe"], ["Germany"], ["Upper", "Bavaria"], ["France"], ["Asia"])
    ]
    for cell in probe.space.cells():
        assert probe.read(probe.render(cell)[0]) == cell


def test_rules_are_found_at_the_level_of_the_parent():
    def drinkers(prompt, words):
        return [0.2, 0.8] if "Asia" in prompt or "the world" in prompt else [0.9, 0.1]

    found = extract(drinkers, parse_probe(TAXONOMY), cache=False)
    assert "Europe ∧ tea → ⊥" in str(found.rules).splitlines()
    assert "Germany" not in str(found.rules) and "France" not in str(found.rules)
    assert found.entails("Bavaria & tea -> false") and found.entails("Bavaria -> Germany")

    def only_germans(prompt, words):
        return [0.9, 0.1] if "Germany" in prompt or "Bavaria" in prompt else [0.2, 0.8]

    found = extract(only_germans, parse_probe(TAXONOMY), cache=False)
    assert "Germany ∧ tea → ⊥" in str(found.rules).splitlines()
    assert found.entails("coffee -> Germany") and not found.entails("Europe & tea -> false")


def test_the_line_of_what_stands_under_nothing_is_the_right_one():
    text = TAXONOMY.replace("under: Germany", "under: Prussia")
    with pytest.raises(InputError, match="no value 'Prussia'") as raised:
        parse_probe(text, "p.yaml")
    assert raised.value.line == text[: text.index("Prussia")].count("\n") + 1


def test_huge_files_are_refused_unread():
    with pytest.raises(InputError, match="is larger than"):
        parse_probe("#" * 1_000_001)


def test_unknown_names_say_what_there_is():
    with pytest.raises(InputError, match=r"built-in probe \(there are: gender-occupation"):
        load_probe("no-such-probe")
    with pytest.raises(InputError, match="no such file"):
        load_probe(Path("missing.yaml"))


def test_a_probe_of_millions_of_prompts_is_not_built_in_memory():
    values = "\n".join(f"      - {{name: a{{i}}v{v}, text: v{v}}}" for v in range(40))
    attributes = "".join(
        f"  - name: a{i}\n    unset: none\n    values:\n{values.replace('{i}', str(i))}\n"
        for i in range(6)
    )
    slots = " ".join(f"{{a{i}}}" for i in range(6))
    text = f"hornlens: 1\nname: big\ntemplates: ['{{label}} {slots}']\nattributes:\n{attributes}"
    labels = "[{name: y, word: 'yes'}, {name: n, word: 'no'}]"
    probe = parse_probe(f"{text}label:\n  name: l\n  values: {labels}\n")
    assert probe.prompt_count == 41**6
    assert next(probe.space.cells()) == 0
    assert probe.space.sample(Random(0)) in probe.space
