"""Comparing results: by entailment, with witnesses, for people and for CI."""

import json
import subprocess
import sys
from random import Random

import pytest

from hornlens.api import extract
from hornlens.errors import InputError
from hornlens.probes.loading import load_probe, parse_probe
from hornlens.results.comparison import common_consequences, compare, load_result
from hornlens.results.documents import extraction_as_json
from hornlens.results.settings import Settings
from tests.test_extraction import PAPER, noisy, planted


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
    assert outcomes["singer ∧ female → after 1970"].outcome == "entailed"  # it follows from "never"
    banker = outcomes["banker ∧ female → ⊥"]
    assert banker.outcome == "contradicted"
    assert "banker" in banker.witness.prompts[0]
    assert {"banker", "female"} <= set(banker.witness.accepted)
    new = {str(line.rule) for line in pair.new}
    assert {"banker ∧ male → ⊥", "singer ∧ female → ⊥"} <= new
    (same,) = compare([a, a]).comparisons
    assert not same.new


def test_everything_said_is_true_of_random_models(tmp_path):
    results = [saved(tmp_path / str(i), noisy(i)) for i in range(3)]
    common = common_consequences(results)
    names = results[0].envelope.vocabulary
    for owner in results:
        for other in results:
            (pair,) = compare([owner, other]).comparisons
            assert len(pair.rules_of_left_in_right) == len(owner.envelope.readable)
            for line in pair.rules_of_left_in_right:
                rule = line.rule.rule(names)
                assert (line.outcome == "entailed") == other.known.entails(rule)
                if line.outcome == "contradicted":
                    x = names.mask(line.witness.accepted)
                    assert not rule.satisfied_by(x)
                    assert line.witness in other.accepted
                    assert other.known.satisfied_by(x)
        assert owner.known.entails(common)
    # And nothing is missing: a rule that all entail follows from what they have in common.
    together = common + results[0].envelope.background
    rng = Random(3)
    for _ in range(300):
        x = PAPER.space.sample(rng)
        closures = [r.known.closure(x) for r in results]
        both = closures[0] & closures[1] & closures[2]
        assert together.closure(x) == both


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
        ('{"variables": ["a"], "format": 2}', "was written by a newer hornlens (format 2"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, message):
    path = tmp_path / "e.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError) as raised:
        load_result(path)
    assert message in str(raised.value) and str(path) in str(raised.value)


def hornlens(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "hornlens", "compare", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


def test_on_the_command_line(tmp_path):
    saved(tmp_path / "a", planted)
    saved(tmp_path / "b", without_singers)
    shown = hornlens(tmp_path / "a", tmp_path / "b")
    assert shown.returncode == 0 and shown.stderr == ""
    assert "contradicted" in shown.stdout and "in common" in shown.stdout
    assert hornlens(tmp_path / "a", tmp_path / "b", "--fail-on-new").returncode == 1
    assert hornlens(tmp_path / "a", tmp_path / "a", "--fail-on-new").returncode == 0
    content = json.loads(hornlens(tmp_path / "a", tmp_path / "b", "--format", "json").stdout)
    assert {"if": ["nurse", "male"], "then": None} in content["common"]
    alone = hornlens(tmp_path / "a")
    assert alone.returncode == 2 and "two results or more" in alone.stderr


def test_envelopes_of_formulas_can_be_compared(tmp_path):
    for name, clause in (("a", "-1 2 0"), ("b", "-1 -3 0")):
        (tmp_path / f"{name}.cnf").write_text(f"p cnf 3 1\n{clause}\n")
        path = tmp_path / f"{name}.cnf"
        shown = subprocess.run(
            [sys.executable, "-m", "hornlens", "envelope", path, "--format", "json"],
            capture_output=True,
            text=True,
        )
        (tmp_path / f"{name}.json").write_text(shown.stdout)
    a, b = (load_result(tmp_path / f"{name}.json") for name in "ab")
    assert outcomes(a, b) == ["unknown"]
    assert common_consequences([a, b]).show(a.envelope.vocabulary) == "x1 ∧ x3 → x2"
    assert common_consequences([a, a]).equivalent(a.envelope.basis)


def test_a_probe_without_attributes_can_be_compared(tmp_path):
    probe = parse_probe(
        "hornlens: 1\nname: n\ntemplates: ['It is {label}.']\nattributes: []\n"
        "label: {name: l, values: [{name: y, word: good}, {name: n, word: bad}]}\n"
    )
    a = saved(tmp_path / "a", lambda p, w: [0.0, -1.0], probe)
    b = saved(tmp_path / "b", lambda p, w: [-1.0, 0.0], probe)
    assert outcomes(a, b) == ["contradicted"]
    assert len(common_consequences([a, b])) == 0
