"""The benchmarks measure what they say: plans that fit, real-sized checkpoints, planted targets."""

import ast
import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.boxes import Reader, candidates
from benchmarks.plan import FULL, QUICK
from benchmarks.planted import decision_list, grid, mixed, planted_box, smooth_box
from benchmarks.targets import planted_probe, planted_rules, says_yes
from hornlens.api import extract
from tests import brute

os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", [*FULL, *QUICK], ids=lambda c: f"{c.name}{c.arguments}")
def test_every_case_is_a_function_that_takes_its_arguments(case):
    tree = ast.parse((ROOT / "benchmarks" / f"{case.module}.py").read_text())
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
    assert len(functions[case.name].args.args) == len(case.arguments)
    assert json.loads(json.dumps(case.arguments)) == case.arguments


def test_the_planted_rules_are_the_envelope():
    probe = planted_probe(3, 3)
    rules = planted_rules(probe, 4, seed=1)
    model = says_yes(probe, rules)
    accepted = []
    for x in probe.space:
        label = probe.space.label_of(x)
        yes, no = model(probe.render(x)[0], ("Yes", "No"))
        if label is None or yes == no or label == (0 if yes > no else 1):
            accepted.append(x)
    assert brute.dg(accepted, list(probe.space)) == brute.pairs(rules)
    result = extract(model, probe, cache=False)
    assert set(result.envelope.basis) == set(rules)


@pytest.mark.parametrize("complete", [True, False])
def test_cells_are_read_as_levels(complete):
    space = grid(3, 4, complete=complete)
    cells = list(space.cells())
    places = [space.places(cell)[:3] for cell in cells]
    assert Reader(space)(cells).tolist() == [[p - complete for p in row] for row in places]


def test_cells_of_ordered_attributes_are_read_as_levels():
    space = grid(2, 4, is_ordered=True)
    levels = Reader(space)(list(space.cells())).tolist()
    assert levels == [[a, b] for a in range(4) for b in range(4)]


@pytest.mark.parametrize(
    "box",
    [
        planted_box(4, 5, 5, 1, most=(1, 2)),
        planted_box(4, 5, 5, 2, most=(1, 2), complete=False),
        planted_box(4, 6, 5, 3, most=(1, 2), is_ordered=True),
        planted_box(4, 5, 5, 4, most=(1, 2), labels=4, base=None),
        decision_list(4, 5, 6, 5),
        smooth_box(4, 5, 6, 7),
    ],
    ids=lambda box: f"{box.name}, {'complete' if box.space.complete else 'partial'}",
)
def test_the_short_rules_of_a_box_are_the_planted_ones_that_hold(box):
    cells = list(box.space.cells())
    levels, labels = Reader(box.space)(cells), [d.winner for d in box.decide(cells)]
    claimed = box.short_rules(2)
    accepted = {box.space.with_label(c, label) for c, label in zip(cells, labels, strict=True)}
    assert claimed
    for rule in claimed:
        assert all(rule.satisfied_by(x) for x in accepted)
        assert box.share_broken(rule, np.random.default_rng(0), 100) == 0
        assert box.follows(rule, [rule]) and not box.follows(rule, [])
    for planted in box.planted:  # and those that are not among them are broken
        wrong = planted.applies(levels) & (np.array(labels) != planted.label)
        holds = [r for r in claimed if box.ranges(r.antecedent) == dict(planted.where)]
        assert bool(holds) == (len(planted.where) <= 2 and not wrong.any())


@pytest.mark.parametrize("base", [0.2, 0.1, 0.05])
def test_a_box_has_its_base_rate_and_is_the_same_from_the_same_seed(base):
    levels = np.random.default_rng(0).integers(0, 10, (20_000, 12))
    box, again = (planted_box(12, 10, 0, 3, base=base) for _ in range(2))
    assert abs(box.answers(levels).mean() - base) < 0.01
    assert (box.answers(levels) == again.answers(levels)).all()
    assert abs(mixed(levels).mean() - 0.5) < 0.01


def test_uniform_sampling_needs_what_the_formula_says():
    from benchmarks.baselines import clean_cases

    needs = [clean_cases(candidates([d] * 12, k)) * d**k for d, k in ((10, 2), (5, 3), (10, 3))]
    assert needs == [24_400, 34_125, 313_000]


@pytest.mark.torch
def test_checkpoints_have_the_size_of_the_real_ones_and_know_the_probes_words(tmp_path):
    pytest.importorskip("torch", reason="needs pip install 'hornlens[hf]'")
    checkpoints = pytest.importorskip("benchmarks.checkpoints")
    words = checkpoints.probe_words()
    assert {"She", "He", "nurse", "1875", "."} <= set(words)
    bert, roberta = checkpoints.wordpiece(words), checkpoints.byte_level(words)
    assert (len(bert), len(roberta)) == (28_996, 50_265)
    for word in words:
        assert bert.tokenize(word) == [word]
        assert roberta.tokenize(word) == [word]
        assert roberta.tokenize(f"a {word}") == ["a", f"Ġ{word}"]
    assert bert.tokenize("zymurgy") and bert.unk_token not in bert.tokenize("zymurgy")


@pytest.mark.torch
def test_a_checkpoint_is_the_same_from_the_same_seed_and_says_both_words(tmp_path):
    pytest.importorskip("torch", reason="needs pip install 'hornlens[hf]'")
    checkpoints = pytest.importorskip("benchmarks.checkpoints")
    for name in ("one", "two"):
        checkpoints.make("bert-tiny", tmp_path / name)
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two
    result = extract(f"hf/{tmp_path / 'one'}", cache=False)
    winners = [decision.winner for decision in result.decisions.values()]
    assert min(winners.count(0), winners.count(1)) > 60


def test_the_curves_are_drawn_from_results_the_same_bytes_each_time():
    plots = pytest.importorskip("benchmarks.plots")
    figures = {
        "pac": {"prompts": 10, "own_ms_a_query": 1.0, "variables": 9, "planted": 2},
        "tabulated": {"interpretations": 10},
        "labelled": {"interpretations": 10, "seconds": 0.1},
        "envelope": {"rules": 3, "seconds": 0.2},
    }
    results = [
        {"case": case.name, "arguments": case.arguments, "own_seconds": 1.0, **figures[case.name]}
        for case in FULL
        if case.name in figures
    ]
    drawn = plots.draw(results)
    assert drawn == plots.draw(results)
    assert b"<svg" in drawn and b"interpretations" in drawn


def test_the_pac_schedules_are_compared_on_the_same_targets_and_samples():
    schedules = pytest.importorskip("benchmarks.schedules")
    figures = schedules.pac_schedule(4, 4, 8, 0.05, 0.05, 2)
    assert figures["questions"] < figures["questions_old"] and figures["ratio"] > 1
    assert 1 <= figures["paid_queries"] < figures["equivalence_queries"]
    assert figures["worst_error"] <= 0.05 and figures["runs_beyond_epsilon"] == 0


def test_drawn_people_are_near_to_those_of_the_census():
    pytest.importorskip("numpy")
    from benchmarks.census import JOBS, SECTORS, STATUSES, census

    people = census(20_000, 3)
    column = dict(zip(people.names, people.rows.T, strict=True))
    assert (census(20_000, 3).rows == people.rows).all()
    for names in (JOBS, STATUSES, SECTORS):
        assert (sum(column[name] for name in names) == 1).all()
    # The shares of Adult: 24% earn much, 44% of the married and 6% of the others; 92% no gain.
    earns, married = people.earns.astype(bool), column["married"] == 1
    for share, wanted in (
        (earns.mean(), 0.24),
        (earns[married].mean(), 0.44),
        (earns[~married].mean(), 0.065),
        (married.mean(), 0.47),
        ((column["gain"] == 0).mean(), 0.92),
        ((column["loss"] == 0).mean(), 0.95),
        ((column["hours"] == 40).mean(), 0.47),
        (column["man"].mean(), 0.67),
    ):
        assert abs(share - wanted) < 0.03, (share, wanted)
    assert earns[column["gain"] > 7_000].mean() > 0.98
    assert column["age"].min() == 17 and 36 < column["age"].mean() < 41
