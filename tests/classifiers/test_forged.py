"""What `verify` rejects: claims of a classifier's file that its own cells do not bear out."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens import Limits
from hornlens.formats.digests import KEY, with_digest
from hornlens.results.documents.explanations import packed, unpacked

ROWS = np.random.default_rng(1).integers(0, 5, (80, 3)).astype(float)


def decide(rows):
    """Say what the forest is fitted to."""
    return (rows[:, 0] > 2) & (rows[:, 1] > 1) | (rows[:, 2] > 3)


FOREST = RandomForestClassifier(3, max_depth=3, random_state=0).fit(ROWS, decide(ROWS))
GIVEN = ["x0 > 3 -> x1 > 1"]
EDGES = {f"x{place}": [1, 2, 3, 4] for place in range(3)}
CASES = {
    "grid": (FOREST, {}),
    "short": (FOREST, {"max_conditions": 2}),
    "proofs": (FOREST, {"limit": 5}),
    "sifted": (
        decide,
        {"wide": True, "bins": "quantile", "limit": 5, "limits": {"max_questions": 240}},
    ),
    "whole": (decide, {"limit": 5, "bins": EDGES}),
    "binned": (decide, {"n_bins": 3}),
    "near": (FOREST, {"domain": "data"}),
    "ended": (FOREST, {"limits": {"max_questions": 9}}),
    "few": (FOREST, {"limits": {"max_rules": 2}}),
    "given": (FOREST, {"background": GIVEN}),
}


TRIAL = Path(__file__).parents[1] / "old" / "trial" / "envelope.json"
"""A result of random cells, as they were drawn before rules were sifted."""


@pytest.fixture(scope="module")
def contents():
    """Return the contents of each file."""
    # A version before this one wrote it, so that nothing of it is written again.
    made = {"drawn": {**json.loads(TRIAL.read_text()), "hornlens": "0.2.0.dev"}}
    for name, (model, options) in CASES.items():
        limits = Limits(**options["limits"]) if "limits" in options else None
        rows = np.hstack([ROWS, ROWS[::-1]]) if options.get("wide") else ROWS
        given = {key: value for key, value in options.items() if key != "wide"}
        made[name] = hornlens.explain(model, rows, **{**given, "limits": limits}).as_json()
    return json.loads(json.dumps(made))


def certificate(**changes):
    """Return what changes the certificate."""
    return lambda content: content["certificate"].update(changes)


def scope(**changes):
    """Return what changes the scope of the certificate."""
    return lambda content: content["certificate"]["scope"].update(changes)


def trial(**changes):
    """Return what changes the trial of the certificate."""
    return lambda content: content["certificate"]["trial"].update(changes)


def sift(**changes):
    """Return what changes the record of the sift, and the same of the certificate."""

    def change(content):
        content["sift"].update(changes)
        same = {name: value for name, value in changes.items() if name in content["certificate"]}
        content["certificate"]["sift"].update(same)

    return change


def warranted(**changes):
    """Return what changes the warrant of the first rule."""
    return lambda content: content["readable"][0]["warrant"].update(changes)


def without_last_cell(content):
    """Leave out the last cell that was asked, wherever it is counted."""
    cells = content["classifier"]["cells"]
    count, width = cells["count"], len(content["classifier"]["features"])
    for name, kind, size in (("labels", np.int8, 1), ("cells", np.uint16, width)):
        numbers = unpacked(cells[name], np.dtype(kind), count * size)
        cells[name] = packed(numbers[: (count - 1) * size])
    cells["count"] = count - 1
    content["sift"]["order"].pop()
    content["sift"]["curve"].pop()
    content["sift"]["draws"] = [line for line in content["sift"]["draws"] if line[0] < count - 1]
    content["statistics"]["cells"] = content["statistics"]["questions"] = count - 1
    content["statistics"]["drawn"] = len(content["sift"]["draws"])
    content["certificate"]["sift"]["questions"] = count - 1
    content["certificate"]["unasked"] += 1


def other_label(content):
    """Change the class of a cell that lies in no listed rule."""
    section = content["classifier"]
    cells, width = section["cells"], len(section["features"])
    listed = unpacked(cells["cells"], np.dtype(np.uint16), cells["count"] * width)
    labels = unpacked(cells["labels"], np.dtype(np.int8), cells["count"]).copy()
    for at, cell in enumerate(listed.reshape(-1, width).tolist()):
        if not any(
            all(low <= cell[axis] <= high for axis, low, high in line["box"])
            for line in content["readable"]
        ):
            labels[at] = 1 - labels[at]
            break
    cells["labels"] = packed(labels)


def listed_instead(content):
    """Move the first open rule to the listed ones, as if it had been tested."""
    line = content["open"].pop(0)
    line.pop("needs")
    more = {"confidence": None, "cells": 0, "support": 0}
    first = content["readable"][0]
    content["readable"].append({**first, **line, **more, "warrant": first["warrant"]})
    content["certificate"]["rules"] += 1
    content["certificate"]["open"] -= 1


def without_open_rule(content):
    content["open"].pop()
    content["certificate"]["open"] -= 1


def without_record(content):
    del content["sift"]


def drawn_earlier(content):
    content["sift"]["families"][0]["at"] += 1 + content["sift"]["draws"][0][0]


def flips(**changes):
    """Return what changes what is said of the flips of the first column."""
    return lambda content: content["classifier"]["flips"][0].update(changes)


def first_rule(**changes):
    """Return what changes the first rule."""
    return lambda content: content["readable"][0].update(changes)


def without_trial(content):
    content["certificate"]["weakest"] = "proved"
    del content["certificate"]["trial"]


def listed_twice(content):
    content["readable"].append(content["readable"][0])
    content["certificate"]["rules"] += 1


def moved(field, by):
    """Return what moves the first threshold, or point, of the first column."""

    def change(content):
        content["classifier"]["features"][0][field][0] += by

    return change


def other_labels(content):
    content["classifier"]["labels"].reverse()


def no_background(content):
    content["classifier"]["background"] = []


def never_ended(content):
    del content["certificate"]["ended"]


FORGED = [
    ("grid", certificate(complete={"every": True}), "every rule"),
    ("binned", certificate(complete={"every": True}), "every rule"),
    ("grid", certificate(weakest="tested"), "rest on"),
    ("grid", certificate(cells=10**6), "cells"),
    ("grid", certificate(kind="bounded"), "it is exact"),
    ("binned", certificate(kind="exact"), "it is surrogate"),
    ("binned", scope(of="cells"), "not asked of"),
    ("drawn", scope(of="rows"), "not asked of"),
    ("binned", scope(of="part"), "of a part"),
    ("near", scope(of="every input"), "only some cells"),
    ("given", scope(assumed=False), "background"),
    ("given", no_background, "background"),
    ("grid", lambda content: content["classifier"].update(background=GIVEN), "background"),
    ("proofs", certificate(unasked=0), "not asked"),
    ("few", never_ended, "neither complete nor ended"),
    ("drawn", without_trial, "neither complete nor ended"),
    ("drawn", certificate(complete={"decides": True}), "tested"),
    ("drawn", trial(epsilon=1e-4), "least"),
    ("drawn", trial(delta=1e-9), "least"),
    ("drawn", trial(samples=10**6), "samples"),
    ("drawn", trial(least=1), "least"),
    ("drawn", trial(candidates=1), "candidates"),
    ("sifted", without_last_cell, ""),
    ("sifted", other_label, ""),
    ("sifted", listed_instead, ""),
    ("sifted", without_open_rule, "missing"),
    ("sifted", without_record, "without a record"),
    ("sifted", drawn_earlier, "before family"),
    ("sifted", sift(seed=1), "seed"),
    ("sifted", sift(classes=False), "sift"),
    ("sifted", sift(live=3), "live"),
    ("sifted", lambda content: content["certificate"]["sift"].update(live=3), "live"),
    ("sifted", sift(epsilon=0.01), "epsilon"),
    ("sifted", warranted(tested=999), "tested"),
    ("sifted", warranted(bound=0.001), "bound"),
    ("sifted", first_rule(warrant={"kind": "proved"}), ""),
    ("sifted", certificate(weakest="proved"), "weakest"),
    ("sifted", certificate(complete={"decides": True}), "complete"),
    ("sifted", certificate(unasked=5), "not asked"),
    ("sifted", lambda content: content["statistics"].update(predicted=7), "fewer rows"),
    ("sifted", lambda content: content["statistics"].update(refuted=7), "refuted"),
    ("sifted", lambda content: content["open"][0].update(box=[[0, 0, 0]]), "in variables"),
    ("whole", first_rule(warrant={"kind": "open"}), ""),
    ("drawn", first_rule(warrant={"kind": "proved"}), "warrant"),
    ("drawn", first_rule(warrant={"kind": "tested", "tested": 999, "bound": 1e-6}), "warrant"),
    ("grid", first_rule(warrant={"kind": "tested", "tested": 9, "bound": 0.1}), "warrant"),
    ("grid", listed_twice, ""),
    ("grid", lambda content: content.update(rules=[{"if": [], "then": None}]), "basis"),
    ("grid", flips(rows=0, pairs=0, examples=[]), "pairs of cells differ"),
    ("ended", flips(proved=True), "only if all cells"),
    ("near", flips(proved=True), "only if all cells"),
    ("binned", flips(every_input=True), "only if the bins are exact"),
    ("drawn", flips(rows=81, of_rows=81), "more rows"),
    ("near", flips(rows=0), "do not agree"),
    ("grid", lambda content: content["classifier"]["flips"].pop(), "each column"),
    ("grid", other_labels, "classes"),
    ("grid", moved("cuts", 0.3), "is shown as"),
    ("grid", moved("points", 99.0), "stands for a level"),
    ("grid", lambda content: content["statistics"].update(cells=10**6), "statistics"),
]


def verified(content, path):
    file = path / "envelope.json"
    file.write_text(json.dumps(with_digest(content) if KEY in content else content))
    return hornlens.verify(file)


@pytest.mark.parametrize("name", [*CASES, "drawn"])
def test_genuine_files_are_accepted(name, contents, tmp_path):
    done = verified(contents[name], tmp_path)
    assert done.ok, done.wrong
    assert any(line.startswith("flips") for line in done.checked)


@pytest.mark.parametrize(("name", "change", "wrong"), FORGED)
def test_forged_claims_are_rejected(name, change, wrong, contents, tmp_path):
    content = copy.deepcopy(contents[name])
    change(content)
    assert content != contents[name]
    done = verified(content, tmp_path)
    assert not done.ok
    assert wrong in done.wrong


def test_thresholds_that_do_not_part_the_rows_as_recorded_are_rejected(contents, tmp_path):
    content = copy.deepcopy(contents["binned"])
    place = content["classifier"]["columns"].index(content["classifier"]["features"][0]["name"])
    row = content["classifier"]["rows"]["values"][0]
    row[place] = 100.0 if row[place] < 2 else -100.0
    done = verified(content, tmp_path)
    assert not done.ok
    assert "is in another cell" in done.wrong


# --- notes on columns without rules ---

NEVER = "the model never asks for 11 columns: x2, x3, x4 and 8 more"
CONSTANT = "column 'x13' is constant (1): rules are silent on it"


def silent_columns():
    """The file of a tree that asks for two of fourteen columns."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 14))
    rows[:, 13] = 1
    tree = DecisionTreeClassifier(max_depth=3).fit(rows, (rows[:, 0] > 0) & (rows[:, 1] > 0))
    result = hornlens.explain(tree, rows)
    assert result.notes == (NEVER, CONSTANT)
    sliced = hornlens.explain(lambda given: given[:, 0] > 0, rows, bins="quantile", n_bins=2)
    assert sliced.notes == (CONSTANT,)
    content: dict = json.loads(json.dumps(result.as_json()))
    return content


def test_columns_that_are_never_asked_for_stand_in_one_note(tmp_path):
    content = silent_columns()
    assert verified(content, tmp_path).ok
    alone = [f"the model never asks for column 'x{place}'" for place in range(2, 13)]
    content["classifier"]["notes"] = [*alone, CONSTANT]  # as they were written once
    assert verified(content, tmp_path).ok


@pytest.mark.parametrize(
    "notes",
    [
        [],
        [CONSTANT],
        [NEVER],
        [CONSTANT, NEVER],
        [NEVER.replace("11", "12").replace("8", "9"), CONSTANT],
        [NEVER.replace("x2", "x0"), CONSTANT],
        ["the model never asks for 12 columns: x2, x3, x4 and 9 more"],
        [NEVER, CONSTANT.replace("(1)", "(2)")],
    ],
)
def test_another_note_on_these_columns_is_refused(notes, tmp_path):
    content = silent_columns()
    content["classifier"]["notes"] = notes
    assert not verified(content, tmp_path).ok
