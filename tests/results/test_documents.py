"""Documents on disk: what is written is read back; newer, older and damaged files."""

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from hornlens import __version__
from hornlens.errors import InputError
from hornlens.formats.digests import KEY, digest_of, with_digest
from hornlens.logic.named import NamedRule
from hornlens.pronouns.bias import BIAS, BIAS_RUN, BiasRun, ModelUse
from hornlens.report.page import page, read_page
from hornlens.report.page import study as study_module
from hornlens.results.analysis.comparison import (
    COMPARISON,
    AcceptedExample,
    ComparedPair,
    ComparedResult,
    Comparison,
    RuleOutcome,
)
from hornlens.results.analysis.differences import SettingDifference
from hornlens.results.documents.codec import FORMAT, INLINE, Codec
from hornlens.studies.documents import STUDY, TIMES
from tests import page_cases as cases

WHERE = Path("some.json")
RULE, NEVER = NamedRule(("a",), ("b",)), NamedRule(("a", "b"), None)
COMPARED = Comparison(
    (ComparedResult("left", "exact"), ComparedResult("right", "pac")),
    (
        ComparedPair(
            "left",
            "right",
            (
                RuleOutcome(RULE, "contradicted", AcceptedExample(("a",), ("A?",))),
                RuleOutcome(NEVER, "contradicted", AcceptedExample(("a", "b"), ("B?",), True)),
            ),
            (RuleOutcome(RULE, "vacuous"), RuleOutcome(NEVER, "unknown")),
        ),
    ),
    (NEVER,),
    (SettingDifference("margin", "policy", ("0", "0.3")),),
)
DOCUMENTS = [
    *((STUDY, name, make()) for name, make in cases.STUDIES.items()),
    *((TIMES, name, cases.times(make(), 1.5)) for name, make in cases.STUDIES.items()),
    *((BIAS, name, make()) for name, make in cases.BIASES.items()),
    (COMPARISON, "compared", COMPARISON.as_json(COMPARED)),
]
PAGES = {STUDY: cases.study, BIAS: cases.bias, COMPARISON: lambda: COMPARISON.as_json(COMPARED)}


@pytest.mark.parametrize(("codec", "name", "content"), DOCUMENTS)
def test_what_is_read_is_written_again_as_it_was(codec, name, content):
    document = codec.parse(content, WHERE)
    again = codec.as_json(document)
    assert again == {**content, KEY: digest_of(again)}
    assert codec.parse(json.loads(codec.text(document)), WHERE) == document
    assert list(codec.as_json(document))[:2] == ["hornlens", "format"]
    assert (content["hornlens"], content["format"]) == (__version__, FORMAT)


def test_a_comparison_of_an_older_version_is_read():
    """It compared the first result with each other, under names that were not told apart."""
    content = COMPARISON.as_json(COMPARED)
    del content["differences"]
    (pair,) = content["comparisons"]
    del pair["sentences"]
    content["results"].append(content["results"][1])
    content["comparisons"].append(pair)
    old = COMPARISON.parse(content, WHERE)
    assert old.differences is None and old.disturbing == ()
    assert [(each.left, each.right) for each in old.comparisons] == [("left", "right")] * 2
    assert len(old.new) == 4
    assert "What differs between them" not in page("comparison.json", content)


def test_a_comparison_has_the_keys_that_others_build_on():
    (pair,) = COMPARISON.as_json(COMPARED)["comparisons"]
    assert pair["rules_of_left_in_right"] == [
        {
            "if": ["a"],
            "then": ["b"],
            "fate": "contradicted",
            "witness": {"accepted": ["a"], "prompts": ["A?"]},
        },
        {
            "if": ["a", "b"],
            "then": None,
            "fate": "contradicted",
            "witness": {"accepted": ["a", "b"], "prompts": ["B?"], "abstained": True},
        },
    ]
    assert pair["sentences"] == [
        "Of the 2 rules of left, none holds in right, 2 are broken.",
        "Of the 2 rules of right, none is known to hold in left, 1 only vacuously, "
        "1 is not known to hold.",
    ]
    assert COMPARISON.as_json(COMPARED)["differences"] == [
        {"setting": "margin", "kind": "policy", "values": ["0", "0.3"]}
    ]
    assert pair["rules_of_right_in_left"][1] == {"if": ["a", "b"], "then": None, "fate": "unknown"}
    run = BiasRun("3.11", "2026", 1.5, (ModelUse("m", 2, 3),))
    assert list(BIAS_RUN.as_json(run))[2:] == ["python", "started", "seconds", "models", KEY]


@pytest.mark.parametrize("codec", PAGES)
def test_a_newer_format_is_refused_in_a_line_that_says_what_to_do(codec, tmp_path):
    file = tmp_path / codec.file_name
    file.write_text(json.dumps({**PAGES[codec](), "format": FORMAT + 1, "models": "of the future"}))
    with pytest.raises(InputError) as raised:
        read_page(tmp_path)
    assert str(raised.value) == (
        f"{file}: was written by a newer hornlens (format 2; this one reads up to 1): "
        "upgrade hornlens"
    )
    file.write_text(json.dumps({**PAGES[codec](), "format": "one"}))
    with pytest.raises(InputError, match="its format is not a number"):
        read_page(tmp_path)


@pytest.mark.parametrize("codec", PAGES)
def test_a_result_of_0_1_has_no_format_and_the_same_page(codec, tmp_path):
    content = PAGES[codec]()
    older = {key: value for key, value in content.items() if key != "format"}
    older |= {"hornlens": "0.1.0", "of no use any more": [1]}
    (tmp_path / codec.file_name).write_text(json.dumps(older))
    expected = page(codec.file_name, content)
    assert read_page(tmp_path) == (tmp_path / "report.html", expected)


@pytest.mark.parametrize(
    ("codec", "path", "value", "message"),
    [
        (STUDY, ("study", "seeds"), [], "it has no models, no budgets or no runs"),
        (STUDY, ("models",), [], "it has no models, no budgets or no runs"),
        (STUDY, ("study", "budgets"), [1], "it has a model without a part for each budget"),
        (STUDY, ("study", "stable"), "7", "study.stable is not a whole number"),
        (STUDY, ("study", "stable"), True, "study.stable is not a whole number"),
        (STUDY, ("study", "name"), None, "study.name is not a text"),
        (
            STUDY,
            ("models", 1, "exact", "rules", 0, "if"),
            "a",
            "models[1].exact.rules[0].if is not a",
        ),
        (STUDY, ("models", 0, "budgets", 1, "rules", 2, "true"), 1, "rules[2].true is not true or"),
        (STUDY, ("models", 0, "budgets", 0, "runs", 3, "recall"), "all", "runs[3].recall is not a"),
        (STUDY, ("models", 0, "budgets", 0, "runs", 3, "recall"), ..., "runs[3].recall is missing"),
        (STUDY, ("models", 0, "identity"), ..., "models[0].identity is missing"),
        (STUDY, ("intersection", 0, "rules"), {}, "intersection[0].rules is not a list"),
        (BIAS, ("models",), [], "it has no models, or no words for them"),
        (BIAS, ("words", "male"), ..., "it has no models, or no words for them"),
        (BIAS, ("models", 1, "occupations", 0), ..., "it has models without the same occupations"),
        (BIAS, ("models", 0, "overall", "normalised"), None, "overall.normalised is not an object"),
        (BIAS, ("models", 0, "overall", "confusion", "male", "other"), ..., "without every gender"),
        (COMPARISON, ("results",), [], "it does not compare its results in pairs"),
        (
            COMPARISON,
            ("comparisons", 0, "rules_of_left_in_right", 0, "fate"),
            "?",
            "fate is none of",
        ),
    ],
)
def test_what_is_damaged_is_told_with_its_field(codec, path, value, message, tmp_path):
    content = copy.deepcopy(PAGES[codec]())
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    (tmp_path / codec.file_name).write_text(json.dumps(content))
    with pytest.raises(InputError) as raised:
        read_page(tmp_path)
    assert f"is no {codec.file_name} of hornlens" in str(raised.value)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_a_mistake_of_ours_is_not_told_as_one_of_the_file(tmp_path, monkeypatch):
    def broken(study):
        raise KeyError("ours")

    monkeypatch.setattr(study_module, "_most_stable", broken)
    (tmp_path / "study.json").write_text(json.dumps(cases.study()))
    with pytest.raises(KeyError, match="ours"):
        read_page(tmp_path)


@dataclass(frozen=True)
class Line:
    """One of everything that a document can have."""

    ALSO_WRITTEN: ClassVar = ("twice",)

    rule: NamedRule = field(metadata=INLINE)
    kind: Literal["a", "b"] = field(metadata={"key": "class"})
    number: float | None
    more: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * len(self.more)


def test_what_a_field_becomes():
    codec = Codec(Line, "line.json", format=3)
    full, bare = Line(RULE, "a", 1, (5,)), Line(NEVER, "b", None)
    lines = (
        {
            "hornlens": __version__,
            "format": 3,
            "if": ["a"],
            "then": ["b"],
            "class": "a",
            "number": 1,
            "more": [5],
            "twice": 2,
        },
        {
            "hornlens": __version__,
            "format": 3,
            "if": ["a", "b"],
            "then": None,
            "class": "b",
            "number": None,
            "twice": 0,
        },
    )
    assert [codec.as_json(full), codec.as_json(bare)] == [with_digest(line) for line in lines]
    for line in (full, bare):
        assert codec.parse(codec.as_json(line), WHERE) == line
    with pytest.raises(InputError, match=r"some.json: is no line.json .*: it is not an object"):
        codec.parse([], WHERE)
