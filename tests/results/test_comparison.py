"""Comparing results: by entailment, with witnesses, for people and for CI."""

import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from hornlens.api import compare as hornlens_compare
from hornlens.api import extract, load
from hornlens.cli.commands.results import CompareOptions
from hornlens.cli.compare import compare_command
from hornlens.errors import InputError
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.worlds import grid_of, shared_space, union
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import intersection
from hornlens.logic.envelope import Envelope
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.probes.loading import load_probe, parse_probe
from hornlens.probes.probe import numbered
from hornlens.results.analysis import common
from hornlens.results.analysis.comparison import compare
from hornlens.results.analysis.rulesets import RuleSet, distinct_names
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from tests.brute import close
from tests.command import hornlens
from tests.extraction.test_extraction import PAPER, noisy, planted
from tests.faults.rounds import rounds
from tests.targets import random_theory


def common_consequences(results):
    return common.common_consequences([each.result.envelope for each in results])


def load_result(path):
    return RuleSet(path.stem, load(path))


def result_of(result, name=""):
    return RuleSet(name or result.title, result)


def known(rules):
    """All that is said to hold: the rules and the background."""
    return rules.result.envelope.basis + rules.result.envelope.background


def answers_of(rules):
    """What a model answered, in any way of asking: with its label, and the prompts that show it."""
    result = rules.result
    return [
        (result.space.with_label(cell, decision.winner), world.show(cell))
        for world in result.each
        for cell, decision in world.decisions.items()
        if decision.winner is not None
    ]


def without_singers(prompt, candidates):
    """The planted model, but singers are always He, and bankers She."""
    if "singer" in prompt:
        return {"She": -3.0, "He": -0.1}
    if "banker" in prompt:
        return {"She": -0.1, "He": -3.0}
    return planted(prompt, candidates)


def saved(folder, model, probe=PAPER, **settings):
    folder.mkdir(parents=True, exist_ok=True)
    result = extract(model, probe, cache=False, **settings)
    (folder / "envelope.json").write_text(json.dumps(extraction_as_json(result)))
    return load_result(folder)


def outcomes(left, right):
    """What becomes of the rules of one result in another."""
    (pair,) = compare([left, right]).comparisons
    return [line.outcome for line in pair.rules_of_left_in_right]


def test_rules_are_entailed_or_contradicted_by_a_prompt(tmp_path):
    a, b = saved(tmp_path / "a", planted), saved(tmp_path / "b", without_singers)
    (pair,) = compare([a, b]).comparisons
    outcomes = {str(line.rule): line for line in pair.rules_of_left_in_right}
    assert outcomes["nurse ∧ male → ⊥"].outcome == "entailed"
    assert outcomes["singer ∧ female → after 1970"].outcome == "vacuous"  # it follows from "never"
    banker = outcomes["banker ∧ female → ⊥"]
    assert banker.outcome == "contradicted"
    assert "banker" in banker.witness.prompts[0]
    assert {"banker", "female"} <= set(banker.witness.accepted)
    new = {str(line.rule) for line in pair.new}
    assert {"banker ∧ male → ⊥", "singer ∧ female → ⊥"} <= new
    (same,) = compare([a, a]).comparisons
    assert not same.new


def says_nothing(rule, other):
    """Whether a rule is vacuous in a result, from all that the result accepts."""
    space, theory = other.result.space, known(other)
    accepted = [x for x in space if theory.satisfied_by(x)]

    def some(wanted):
        return any(x & wanted == wanted for x in accepted)

    answer, about = rule.antecedent & space.label_mask, rule.antecedent & ~space.label_mask
    if rule.is_negative:
        return bool(answer and about) and not (some(answer) and some(about))
    given = rule.new & space.label_mask
    chosen = {x & space.label_mask for x in accepted} - {0}
    always = given and rule.antecedent and chosen <= {given}
    return bool(always) or not some(rule.antecedent)


@pytest.mark.slow
def test_everything_said_is_true_of_random_models(tmp_path):
    results = [saved(tmp_path / str(i), noisy(i)) for i in range(rounds(2, 3))]
    common = common_consequences(results)
    names = results[0].result.envelope.vocabulary
    for owner in results:
        for other in results:
            (pair,) = compare([owner, other]).comparisons
            assert len(pair.rules_of_left_in_right) == len(owner.result.envelope.readable)
            for line in pair.rules_of_left_in_right:
                rule = line.rule.rule(names)
                entailed = line.outcome in ("entailed", "vacuous")
                assert entailed == known(other).entails(rule)
                assert (line.outcome == "vacuous") == (entailed and says_nothing(rule, other))
                if line.outcome == "contradicted":
                    x = names.mask(line.witness.accepted)
                    assert not rule.satisfied_by(x)
                    assert (x, line.witness.prompts) in answers_of(other)
                    assert known(other).satisfied_by(x)
        assert known(owner).entails(common)
    # And nothing is missing: a rule that all entail follows from what they have in common.
    together = common + results[0].result.envelope.background
    rng = Random(3)
    for _ in range(300):
        x = PAPER.space.sample(rng)
        assert together.closure(x) == intersection(known(r).closure(x) for r in results)


def test_what_a_sampled_result_does_not_know(tmp_path):
    exact = saved(tmp_path / "a", planted)
    cut = saved(tmp_path / "b", planted, settings=Settings("budget", max_equivalence_queries=3))
    assert "unknown" in outcomes(exact, cut) and "contradicted" not in outcomes(exact, cut)


def test_results_over_other_variables_are_refused(tmp_path):
    a = saved(tmp_path / "a", planted)
    b = saved(tmp_path / "b", lambda p, w: [0.0, -1.0], load_probe("sentiment"))
    with pytest.raises(InputError, match="have different variables, such as"):
        compare([a, b])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is no envelope.json"),
        ('{"variables": 3}', "is no envelope.json"),
        (None, "no such file"),
        ('{"variables": ["a", "a"]}', "two variables have the name"),
        ('{"variables": ["a"], "format": 3}', "was written by a newer hornlens (format 3"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, message):
    path = tmp_path / "e.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError) as raised:
        hornlens_compare([path, path])
    assert message in str(raised.value) and str(path) in str(raised.value)


def compared(*arguments):
    return hornlens("compare", *arguments)


def test_on_the_command_line(tmp_path):
    saved(tmp_path / "a", planted)
    saved(tmp_path / "b", without_singers)
    shown = compared(tmp_path / "a", tmp_path / "b")
    assert shown.returncode == 0 and shown.stderr == ""
    assert (
        "broken: The model always scores “He” higher than “She” where the person is a banker "
        "(about 94 : 6 in each); but b accepts {banker, female}: "
    ) in shown.stdout
    differing = json.loads(compared(tmp_path / "a", tmp_path / "b", "--format", "json").stdout)
    assert f"Rates: {len(differing['rates'])} differ, the most first.\n" in shown.stdout
    assert "“female” with banker (occupation): 0 of 60 in a, 60 of 60 in b\n" in shown.stdout
    assert "They were made under the same settings." in shown.stdout
    assert " in common: all that follows from every one of the results follows" in shown.stdout
    assert compared(tmp_path / "a", tmp_path / "b", "--fail-on-new").returncode == 1
    assert compared(tmp_path / "a", tmp_path / "a", "--fail-on-new").returncode == 0
    content = json.loads(compared(tmp_path / "a", tmp_path / "b", "--format", "json").stdout)
    assert {"if": ["nurse", "male"], "then": None} in content["common"]
    assert [result["name"] for result in content["results"]] == ["a", "b"]
    alone = compared(tmp_path / "a")
    assert alone.returncode == 2 and "two results or more" in alone.stderr


def test_envelopes_of_formulas_can_be_compared(tmp_path):
    for name, clause in (("a", "-1 2 0"), ("b", "-1 -3 0")):
        (tmp_path / f"{name}.cnf").write_text(f"p cnf 3 1\n{clause}\n")
        path = tmp_path / f"{name}.cnf"
        shown = hornlens("envelope", path, "--format", "json")
        (tmp_path / f"{name}.json").write_text(shown.stdout)
    a, b = (load_result(tmp_path / f"{name}.json") for name in "ab")
    assert outcomes(a, b) == ["unknown"]
    assert common_consequences([a, b]).show(a.result.envelope.vocabulary) == "x1 ∧ x3 → x2"
    assert common_consequences([a, a]).equivalent(a.result.envelope.basis)


def test_a_probe_without_attributes_can_be_compared(tmp_path):
    probe = parse_probe(
        "hornlens: 1\nname: n\ntemplates: ['It is {label}.']\nattributes: []\n"
        "label: {name: l, values: [{name: y, word: good}, {name: n, word: bad}]}\n"
    )
    a = saved(tmp_path / "a", lambda p, w: [0.0, -1.0], probe)
    b = saved(tmp_path / "b", lambda p, w: [-1.0, 0.0], probe)
    assert outcomes(a, b) == ["contradicted"]
    assert len(common_consequences([a, b])) == 0


SHARP = replace(PAPER.policy, margin=0.5)


def always(word):
    return lambda prompt, words: {w: float(w == word) for w in words}


def test_a_rule_that_holds_because_nothing_else_is_ever_said_is_vacuous(tmp_path):
    """A paraphrase to which a model always said the same "kept" 86 of 99 rules."""
    varied = saved(tmp_path / "varied", noisy(3))
    dull = saved(tmp_path / "dull", always("He"))
    (pair,) = compare([varied, dull]).comparisons
    lines = pair.rules_of_left_in_right
    assert lines and all(
        line.outcome == ("vacuous" if "female" in line.rule.antecedent else "contradicted")
        for line in lines
        if {"male", "female"} & set(line.rule.antecedent)
    )
    count = sum(line.outcome == "vacuous" for line in lines)
    assert count > 5
    assert f"none holds in dull, {count} only vacuously" in pair.sentences[0]
    # What it says itself, it does not say vacuously.
    (same,) = compare([dull, dull]).comparisons
    assert [line.outcome for line in same.rules_of_left_in_right] == ["entailed"]
    assert same.sentences[0] == "Of the 1 rule of dull, 1 holds in dull (2)."


def test_so_is_one_that_always_gives_the_answer_that_is_always_given(tmp_path):
    policy = replace(PAPER.policy, label_unset="reject")
    varied = saved(tmp_path / "varied", planted, policy=policy)
    dull = saved(tmp_path / "dull", always("She"), policy=policy)
    (pair,) = compare([varied, dull]).comparisons
    found = {str(line.rule): line.outcome for line in pair.rules_of_left_in_right}
    assert found["nurse → female"] == "vacuous" and "entailed" not in found.values()
    assert [str(line.rule) for line in pair.new] == ["⊤ → female"]


def test_every_result_has_a_name_and_is_compared_with_every_other(tmp_path):
    results = [saved(tmp_path / name, noisy(i)) for i, name in enumerate(("x", "y", "z"))]
    comparison = compare(results)
    assert [result.name for result in comparison.results] == ["x", "y", "z"]
    pairs = [(pair.left, pair.right) for pair in comparison.comparisons]
    assert pairs == [("x", "y"), ("x", "z"), ("y", "z")]
    assert comparison.comparisons[2] == compare(results[1:]).comparisons[0]
    first = [line for pair in comparison.comparisons[:2] for line in pair.new]
    assert list(comparison.new) == first


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a", "b/envelope.json"], ["a", "b"]),
        (["one/out", "two/out"], ["one/out", "two/out"]),
        (["one/out", "two/out", "two/other"], ["one/out", "two/out", "two/other"]),
        (["a", "a", "./a/envelope.json"], ["a", "a (2)", "a (3)"]),
        (["a/first.json", "a/second.json"], ["first", "second"]),
    ],
)
def test_names_are_those_of_folders_and_are_told_apart(paths, names):
    assert distinct_names([Path(path) for path in paths]) == names


def test_what_differs_between_the_settings_is_said_first(tmp_path):
    """One model under two policies showed "new" rules, for which it was not to blame."""
    saved(tmp_path / "a", planted)
    saved(tmp_path / "b", planted, policy=SHARP)
    shown = compared(tmp_path / "a", tmp_path / "b", "--name", "before", "--name", "after")
    assert shown.returncode == 0
    assert "not asked alike" in shown.stderr and "margin: 0 in before; 0.5 in after" in shown.stderr
    head, _, rest = shown.stdout.partition("What differs between them:\n")
    assert "rules of" not in head and "before: " in head and "after: " in head
    assert rest.splitlines()[0] == "  margin: 0 in before; 0.5 in after"
    refused = compared(tmp_path / "a", tmp_path / "b", "--fail-on-new", "--out", tmp_path / "out")
    assert refused.returncode == 2 and refused.stdout == "" and not (tmp_path / "out").exists()
    assert "--ignore-differences" in refused.stderr and refused.stderr.count("\n") == 1
    told = compared(tmp_path / "a", tmp_path / "b", "--fail-on-new", "--ignore-differences")
    assert told.returncode in (0, 1) and told.stderr == ""
    content = json.loads(
        compared(tmp_path / "a", tmp_path / "b", "--format", "json", "--ignore-differences").stdout
    )
    assert content["differences"] == [
        {"setting": "margin", "kind": "policy", "values": ["0", "0.5"]}
    ]
    many = compared(tmp_path / "a", tmp_path / "b", *("--name", "x") * 3)
    assert many.returncode == 2 and "there are 3 names for 2 results" in many.stderr


def test_another_wording_differs_and_another_model_only_is_no_reason_to_refuse(tmp_path):
    (template,) = PAPER.templates
    a = saved(tmp_path / "a", planted)
    other = saved(tmp_path / "b", planted, replace(PAPER, variants=numbered([f"So {template}"])))
    comparison = compare([a, other])
    assert [(d.setting, d.kind) for d in comparison.disturbing] == [("templates", "wording")]
    worded = replace(
        PAPER,
        attributes=tuple(
            attribute._replace(
                values=tuple(
                    v._replace(text="midwife") if v.text == "nurse" else v for v in attribute.values
                ),
            )
            for attribute in PAPER.attributes
        ),
    )
    comparison = compare([a, saved(tmp_path / "c", planted, worded)])
    (difference,) = comparison.disturbing
    assert difference.setting == "prompts, such as" and difference.kind == "wording"
    assert "nurse" in difference.values[0] and "midwife" in difference.values[1]
    comparison = compare([a, saved(tmp_path / "d", noisy(1))])
    assert comparison.disturbing == ()


@pytest.mark.parametrize("width", [20, 40, 100])
def test_sentences_are_whole_at_every_width(tmp_path, monkeypatch, capsys, width):
    saved(tmp_path / "a", noisy(1))
    saved(tmp_path / "b", noisy(2))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    paths = [tmp_path / "a", tmp_path / "b"]
    compare_command(CompareOptions(results=paths))
    lines = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert all(len(line.rstrip()) <= width for line in lines)
    whole = " ".join(" ".join(line.split()) for line in lines)
    for sentence in compare([load_result(path) for path in paths]).comparisons[0].sentences:
        assert sentence in whole
    letters = [line for line in lines if len(line.strip()) == 1]
    assert len(letters) <= len(lines) / 20  # no column is crushed to a letter


def test_what_is_common_does_not_depend_on_which_result_comes_first():
    """Results may take different things for granted: what one does, others may deny."""
    found = 0
    for seed in range(150):
        rng = Random(seed)
        names = Vocabulary(("a", "b", "c", "d"))
        results = []
        for i in range(3):
            assumed = random_theory(rng, 4, rng.randint(0, 2)).rules
            space = Space.of_variables(names, assumed)
            if rng.random() < 0.5:
                space = Space((Nominal("ab", ("a", "b")), Nominal("cd", ("c", "d"))), None, assumed)
            rules = random_theory(rng, 4, 2)
            results.append(RuleSet(str(i), SimpleNamespace(envelope=Envelope.of(space, rules))))
        accepted = {x for x in range(16) if any(known(r).satisfied_by(x) for r in results)}
        backgrounds = [r.result.envelope.background for r in results]
        shared = shared_space([r.result.envelope.space for r in results]).background
        for order in permutations(results):
            both = common_consequences(order) + shared
            assert {x for x in range(16) if both.satisfied_by(x)} == close(accepted), (
                seed,
                order,
            )
        found += any(not backgrounds[0].entails(other) for other in backgrounds)
    assert found > 50


def test_a_union_is_what_some_world_accepts_on_one_grid():
    space = Space((Nominal("ab", ("a", "b")),), Nominal("l", ("x", "y")))
    rng = Random(1)
    worlds = [
        LabelledSpace(space, np.array([rng.random() < 0.5 for _ in range(space.count)]))
        for _ in range(3)
    ]
    both = union(worlds)
    assert both.space is space
    expected = [any(line) for line in zip(*(w.positive for w in worlds), strict=True)]
    assert both.positive.tolist() == expected
    with pytest.raises(InputError, match="no grid in common"):
        union([worlds[0], grid_of(Theory(4), Space.of_variables(space.vocabulary))])


def test_what_any_way_of_asking_accepts_breaks_a_rule():
    one = replace(extract(planted, PAPER, cache=False), world="plain")
    other = replace(extract(without_singers, PAPER, cache=False), world="odd")
    both = result_of(replace(one, worlds=(one, other)), "both")
    single = result_of(one, "single")
    (pair,) = compare([single, both]).comparisons
    broken = {str(line.rule) for line in pair.rules_of_left_in_right if line.witness}
    assert "banker ∧ female → ⊥" in broken
    (difference,) = compare([single, both]).disturbing
    assert difference.in_words(["single", "both"]) == "variants: – in single; plain, odd in both"


def test_a_rule_that_an_answer_breaks_does_not_hold_whatever_was_learned():
    """Hypotheses of runs that were cut off may be broken by answers that are known."""
    exact, found, weak = result_of(extract(planted, PAPER, cache=False)), 0, 0
    for seed in range(12):
        settings = Settings("budget", max_equivalence_queries=3, seed=seed)
        cut = result_of(extract(noisy(seed), PAPER, settings=settings, cache=False), "cut")
        (pair,) = compare([exact, cut]).comparisons
        names = PAPER.vocabulary
        accepted = [x for x, _ in answers_of(cut)]
        for line in pair.rules_of_left_in_right:
            rule = line.rule.rule(names)
            broken = any(not rule.satisfied_by(x) for x in accepted)
            assert (line.outcome == "contradicted") == broken, (seed, str(line.rule))
            found += broken and not known(cut).entails(rule)
        # What an answer breaks is not listed, though the learner took it for true.
        assert not any(
            not rule.satisfied_by(x) for rule in cut.result.envelope.readable for x in accepted
        )
        left = cut.result.envelope.learned.readable
        broken_before = [r for r in left if any(not r.satisfied_by(x) for x in accepted)]
        weak += len(broken_before)
    assert found and weak


def test_what_is_in_common_is_said_to_be_of_the_rules_that_are_there(tmp_path):
    whole = saved(tmp_path / "whole", planted)
    short = saved(tmp_path / "short", planted, settings=Settings(max_conditions=1))
    assert compare([whole, whole]).in_common.endswith(
        "every one of the results follows from these."
    )
    said = compare([whole, short]).in_common
    assert said.endswith("these. short may not have all rules, so more may be in common.")
    assert "0 rules in common: " in said and len(short.result.envelope.basis) == 0
    page = tmp_path / "page"
    compared(tmp_path / "whole", tmp_path / "short", "--out", page)
    assert said in (page / "report.html").read_text(encoding="utf-8")
