"""Forged explanations: what was changed so that the whole still looks right is found out."""

import copy
import json

import numpy as np
import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.formats.digests import KEY, with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.report.page import page
from hornlens.results.documents.explanations import packed
from hornlens.verifying.classifying.changed import OLD_FLIPS
from hornlens.verifying.classifying.measured import OLD_AGREEMENT
from tests.verifying.explanation_kinds import KINDS, explained, unpacked_numbers

NEVER = "never changes the decision: proved"


@pytest.fixture(scope="module")
def contents():
    """The contents of the documents, by kind; each is to be copied."""
    return {name: json.loads(json_text(explained(name).as_json())) for name in KINDS}


def outcome(content, folder):
    """Return what is wrong with a forged document, by `verify`; None if it is accepted."""
    path = folder / "envelope.json"
    path.write_text(json_text(with_digest(content) if KEY in content else content))
    try:
        return hornlens.verify(path).wrong
    except HornlensError as error:
        return str(error)


def no_flips(content):
    """Let a column that matters never change the decision, wherever flips are counted."""
    line = next(line for line in content["classifier"]["flips"] if line["rows"])
    of_pairs = line["of_pairs"]
    line |= {"rows": 0, "examples": [], "ever": False, "pairs": None if of_pairs is None else 0}
    line["sentence"] = f"Changing only {line['feature']} {NEVER}, for every input."
    return line


@pytest.mark.parametrize("name", ["binned", "tree", "leaves", "near", "sifted", "people"])
def test_flips_that_are_set_to_none_are_refused(name, contents, tmp_path):
    content = copy.deepcopy(contents[name])
    line = no_flips(content)
    assert "flips of" in outcome(content, tmp_path)
    line["proved"] = line["every_input"] = True
    assert "flips of" in outcome(content, tmp_path)


@pytest.mark.parametrize("name", ["binned", "leaves", "near", "sifted"])
def test_flips_are_refused_with_forged_answers_unless_all_cells_bear_them(name, contents, tmp_path):
    """The answers of changed rows are forged, too; then nothing is shown as proved."""
    content = copy.deepcopy(contents[name])
    section, line = content["classifier"], no_flips(content)
    place = section["flips"].index(line)
    said = np.array(unpacked_numbers(section["rows"]["said"], "b"), dtype=np.int8)
    answers = np.array(unpacked_numbers(section["changed"][place], "b"), dtype=np.int8)
    answers = answers.reshape(len(said), -1)
    section["changed"][place] = packed(
        np.where(answers >= 0, said[:, None], answers).astype(np.int8)
    )
    wrong = outcome(content, tmp_path)
    if wrong is None:
        assert not line["proved"] and NEVER not in page("envelope.json", content)
    else:
        assert "flips" in wrong or "cell" in wrong


def test_flips_without_their_answers_are_named_and_never_proved(contents, tmp_path):
    """A file of a version that kept neither answers nor what was measured: both are named."""
    content = copy.deepcopy(contents["near_binned"])
    del content["classifier"]["changed"]
    assert "changed: not of each column" in outcome(content, tmp_path)
    del content["classifier"]["measured"]
    line = no_flips(content)
    line["sentence"] = "Changing only x0 changed the decision for none of 8 rows; that it never "
    line["sentence"] += "does is not proved."
    path = tmp_path / "envelope.json"
    path.write_text(json_text(with_digest(content)))
    done = hornlens.verify(path)
    assert done.ok, done.wrong
    assert {OLD_FLIPS, OLD_AGREEMENT} <= set(done.not_checked)
    assert NEVER not in page("envelope.json", content)


@pytest.mark.parametrize("name", KINDS)
def test_reversed_labels_are_refused(name, contents, tmp_path):
    content = copy.deepcopy(contents[name])
    section = content["classifier"]
    section["labels"] = section["labels"][::-1]
    assert "classes" in outcome(content, tmp_path)
    section["classes"] = section["classes"][::-1]
    assert outcome(content, tmp_path) is not None
    content["space"]["label"]["values"] = content["space"]["label"]["values"][::-1]
    assert outcome(content, tmp_path) is not None


def moved_cut(content):
    """Move a threshold wherever it stands as a number."""
    feature = content["classifier"]["features"][0]
    feature["cuts"][0] += 0.25
    content["space"]["attributes"][0]["at"][0] += 0.25


def moved_text(content):
    """Show a threshold as another number wherever it stands."""
    feature = content["classifier"]["features"][0]
    old, new = feature["texts"][0], "0.75"
    whole = json.loads(json.dumps(content).replace(f' {old}"', f' {new}"'))
    whole["classifier"]["features"][0]["texts"][0] = new
    whole["space"]["attributes"][0]["cuts"][0] = new
    content.clear()
    content.update(whole)


def other_point(content):
    content["classifier"]["features"][0]["points"][0] += 1e-3


def better_agreement(content):
    for agreement in (
        content["classifier"]["agreement"],
        content["certificate"]["scope"]["agreement"],
    ):
        agreement |= {"rows": 1.0, "uniform": 1.0, "mixed": 0}


def every_input(content):
    """Pass a stand-in off as the model itself, with an agreement to match."""
    better_agreement(content)
    content["classifier"] |= {"exact_bins": True, "bins": "the model's own thresholds"}
    scope = content["certificate"]["scope"]
    scope |= {"of": "every input", "how": "the model's own thresholds"}
    content["certificate"]["kind"] = "exact"


def fewer_drawn(content):
    for agreement in (
        content["classifier"]["agreement"],
        content["certificate"]["scope"]["agreement"],
    ):
        agreement["drawn"] = 10_001


def unmeasured(content):
    del content["classifier"]["measured"]


FORGED = {
    "cut": ("binned", moved_cut, "is shown as"),
    "text": ("binned", moved_text, "is shown as"),
    "point": ("binned", other_point, "stands for its level"),
    "agreement": ("binned", better_agreement, "agreement"),
    "every input": ("binned", every_input, "agreement"),
    "drawn": ("binned", fewer_drawn, "agreement"),
    "measured": ("binned", unmeasured, "measured"),
    "kind": ("near", lambda c: c["certificate"].update(kind="exact"), "partial"),
    "assumed": ("people", lambda c: c["certificate"]["scope"].pop("assumed"), "background"),
    "changes": (
        "near",
        lambda c: c["certificate"]["scope"].update(
            words="those of the rows of X and all that differ from one in at most 2 features"
        ),
        "cells",
    ),
    "seen": ("cut_off", lambda c: c["certificate"].pop("ended"), "not asked"),
    "note": ("several", lambda c: c["classifier"]["notes"].clear(), "notes"),
    "silent": (
        "several",
        lambda c: c["classifier"]["silent"][0].update(points=[8.0]),
        "stands for its level",
    ),
    "forbidden": ("assumed", lambda c: c["classifier"]["forbidden"].clear(), "breaks it"),
    "settings": ("tree", lambda c: c["settings"].update(limit=1), "limit"),
    "leaf": ("tree", lambda c: c["classifier"]["trees"][0][0].update(scores=[0.0, 9.0]), "trees"),
    "columns": ("tree", lambda c: c["classifier"]["columns"].reverse(), "columns"),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_a_document_says_of_its_cells_must_follow_from_them(what, contents, tmp_path):
    name, change, words = FORGED[what]
    content = copy.deepcopy(contents[name])
    change(content)
    assert words in outcome(content, tmp_path)


def test_a_claim_of_every_input_names_what_it_rests_on(contents, tmp_path):
    path = tmp_path / "envelope.json"
    path.write_text(json_text(contents["tree"]))
    done = hornlens.verify(path)
    assert any("every input of a cell" in words for words in done.not_checked)


@pytest.mark.parametrize("how", ["null", "nothing"])
def test_a_document_that_made_verify_go_round_for_ever_is_refused(how, contents, tmp_path):
    content = copy.deepcopy(contents["function"])
    values = content["space"]["attributes"][0]["values"]
    values[1] = None if how == "null" else ""
    assert outcome(content, tmp_path) is not None


def test_a_proof_that_is_too_hard_to_repeat_is_named(monkeypatch, contents, tmp_path):
    """Not known is no pass: it was counted among the rules that are proved again."""
    path = tmp_path / "envelope.json"
    path.write_text(json.dumps(contents["leaves"]), encoding="utf-8")
    count = contents["leaves"]["certificate"]["rules"]
    done = hornlens.verify(path)
    assert any(f"each of {count} is proved again" in line for line in done.checked)
    monkeypatch.setattr("hornlens.verifying.classifying.leaves.ALTOGETHER", 0.0)
    done = hornlens.verify(path)
    assert done.ok and any(f"rules: 0 of {count} are proved" in line for line in done.checked)
    hard = f"proofs of {count} rules, which are too hard or too close to call"
    assert hard in done.not_checked
