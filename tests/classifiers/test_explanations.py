"""Explanations on disk: read back as they were, checked and shown without the model."""

import copy
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import hornlens
from hornlens.classifiers.saving import explanation_as_json
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.formats.digests import with_digest
from hornlens.logic.scopes import percent
from hornlens.report.page import page, read_page
from tests.explanation_cases import CASES, ENDED, explained
from tests.report.test_report import Document
from tests.report_cases import NASTY

FILES = ("envelope.json", "rules.csv", "run.json", "report.html")
SHOWN = ("flips", "features", "rows")
INVARIANT = {"invariant": [{"attributes": ["petal width"]}, {"attributes": ["sepal width"]}]}
REQUIRED = {
    "forest": {
        "require": ["petal width <= 0.7 -> setosa", "petal width <= 1.5 -> setosa"],
        "at_least": "exact",
        **INVARIANT,
    },
    "people": {
        "require": ["income is missing -> yes", "sex = m & income is known -> no", "sex = f -> yes"]
    },
}
REQUIRED["beyond"] = REQUIRED["forest"]
REQUIRED["near"] = REQUIRED["binned"] = {
    "require": ["petal length < 1.6 -> setosa", "petal width <= 1.5 -> setosa"],
    **INVARIANT,
}


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize("name", [*CASES, *ENDED])
def test_what_is_saved_is_loaded_and_saved_again_to_the_byte(name, tmp_path):
    _, rows, result = explained(name)
    result.save(tmp_path / "first")
    loaded = hornlens.load(tmp_path / "first")
    loaded.save(tmp_path / "second")
    for file in FILES:
        first, second = ((tmp_path / folder / file).read_bytes() for folder in ("first", "second"))
        assert first == second, file
    assert str(loaded.rules) == str(result.rules) and loaded.certificate == result.certificate
    assert loaded.edges == result.edges and loaded.classes == result.classes
    assert list(loaded.predict(rows)) == list(result.predict(rows))
    assert (done := hornlens.verify(tmp_path / "second")).ok, done.wrong
    again = hornlens.load(tmp_path / "first" / "envelope.json")
    assert repr(again) == repr(result)
    for feature in result.binned.features:
        kept, asked = loaded.flips(feature.name).ever, result.flips(feature.name).ever
        # After a run that was ended, saving asks no more: what is kept is what was asked by then.
        assert kept == asked or (result.certificate.ended and asked)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_loaded_explanation_is_checked_as_the_first_one_was(name, tmp_path):
    result = explained(name)[2]
    result.save(tmp_path)
    before = result.check(REQUIRED[name])
    after = hornlens.load(tmp_path).check(REQUIRED[name])
    for one, two in zip(before.outcomes, after.outcomes, strict=True):
        assert (one.what, one.status, one.passed) == (two.what, two.status, two.passed)
    assert len({one.status for one in before.outcomes}) > 1


def test_the_commands_check_report_and_verify_a_saved_explanation(tmp_path):
    explained("forest")[2].save(tmp_path / "out")
    rules = tmp_path / "rules.yaml"
    rules.write_text('hornlens: 1\nrequire:\n  - "petal width <= 0.7 -> setosa"\n')
    assert run("check", tmp_path / "out", rules).exit_code == 0
    rules.write_text('hornlens: 1\nrequire:\n  - "petal width <= 1.5 -> setosa"\n')
    done = run("check", tmp_path / "out", rules)
    assert done.exit_code == 1 and "petal width = " in done.output
    rules.write_text('hornlens: 1\nrequire:\n  - "height < 3 -> setosa"\n')
    error = run("check", tmp_path / "out" / "envelope.json", rules).exception
    assert isinstance(error, InputError) and "names no column" in str(error) and error.line == 3
    before = (tmp_path / "out" / "report.html").read_text()
    (tmp_path / "out" / "report.html").unlink()
    done = run("report", tmp_path / "out")
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "out" / "report.html").read_text() == before
    assert run("verify", tmp_path / "out").exit_code == 0


def test_the_model_itself_is_not_in_the_file(tmp_path):
    explained("drawn")[2].save(tmp_path)
    loaded = hornlens.load(tmp_path)
    with pytest.raises(HornlensError, match="explain it again to ask it more"):
        loaded.binned.classifier.decide([np.zeros(1)] * 4)
    unasked = {tuple(c) for c in np.ndindex(*(f.size for f in loaded.binned.features))}
    unasked -= {tuple(cell) for cell in loaded.labelled.cells.tolist()}
    for cell in list(unasked)[:1]:
        with pytest.raises(HornlensError, match="explain it again"):
            loaded.binned.ask(np.array([cell]))


def changed(content):
    """Contents in which one thing is missing, of another kind, or at odds with the rest."""
    strange = [None, -1, 10**9, "x", [], {}, True, 1.5]

    def spots(value, path=()):
        if path:
            yield path
        if isinstance(value, dict):
            for key in value:
                yield from spots(value[key], (*path, key))
        elif isinstance(value, list):
            for at in range(min(2, len(value))):
                yield from spots(value[at], (*path, at))

    for number, path in enumerate(spots(content)):
        for other in (strange[number % len(strange)], strange[(number * 3 + 1) % len(strange)]):
            made = copy.deepcopy(content)
            inner = made
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other
            yield path, made
        made = copy.deepcopy(content)
        inner = made
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        yield path, made


@pytest.mark.slow
@pytest.mark.parametrize("name", ["people", "beyond"])
def test_damaged_files_are_refused_in_a_line_or_read(name, tmp_path):
    content = explanation_as_json(explained(name)[2])
    section = content["classifier"]
    section["rows"]["values"] = section["rows"]["values"][:5]
    section["trees"] = [tree[:3] for tree in section["trees"][:2]]
    file = tmp_path / "envelope.json"
    refused = 0
    for path, made in changed(json.loads(json.dumps(content))):
        file.write_text(json.dumps(made))
        try:
            loaded = hornlens.load(tmp_path)
        except InputError as error:
            assert "\n" not in str(error) and str(file) in str(error), path
            refused += 1
        else:
            assert len(loaded.rules) >= 0
            if path[0] == "readable" or path[:2] in [("classifier", key) for key in SHOWN]:
                read_page(tmp_path)
    assert refused > 100
    file.write_text(json.dumps({**content, "format": 99}))
    for arguments in (("report", tmp_path), ("check", tmp_path, file)):
        assert isinstance(run(*arguments).exception, InputError)


def test_verify_names_the_file_that_is_damaged(tmp_path):
    explained("people")[2].save(tmp_path)
    path = tmp_path / "envelope.json"
    whole = json.loads(path.read_text())
    for part in ("features", "readable", "cells", "certificate", "classes"):
        less = copy.deepcopy(whole)
        del (less if part in less else less["classifier"])[part]
        path.write_text(json.dumps(with_digest(less)))
        with pytest.raises(InputError) as error:
            hornlens.verify(tmp_path)
        unread = part in ("features", "cells")
        reason = "has cells or rows that cannot be read" if unread else "is no envelope.json of"
        assert f"envelope.json: {reason}" in str(error.value), part
    path.write_text("[]")
    with pytest.raises(InputError, match=r"is no envelope\.json of hornlens"):
        hornlens.verify(tmp_path)


def test_what_claims_to_be_huge_is_refused_before_it_is_unpacked(tmp_path):
    content = explanation_as_json(explained("forest")[2])
    for feature in content["classifier"]["features"]:
        feature["levels"] = 60_000
    (tmp_path / "envelope.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="without a point for each level"):
        hornlens.load(tmp_path)
    content = explanation_as_json(explained("forest")[2])
    content["classifier"]["rows"]["count"] = 10**12
    (tmp_path / "envelope.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="other numbers than"):
        hornlens.load(tmp_path)


# --- the page as a file ---


@pytest.mark.parametrize("name", [*CASES, *ENDED])
def test_the_page_has_the_rules_the_agreement_and_the_certificate(name):
    result = explained(name)[2]
    content = json.loads(json.dumps(explanation_as_json(result)))
    text = page("envelope.json", content)
    made = Document(text)
    assert json.loads(made.one("script", id_="data")["text"]) == content
    rows = [
        " ".join(row["text"].split())
        for row in made.all("tr")
        if row["attributes"].get("id", "").startswith("rule-")
    ]
    assert len(rows) == len(result.rules)
    whole = " ".join(made.one("main")["text"].split())
    assert " ".join(result.certificate.sentence.split()) in whole
    for share in (result.agreement.rows, result.agreement.uniform):
        assert re.search(r"agrees with the model itself on", whole)
        assert percent(share) in whole
    for row, rule in zip(rows, result.rules, strict=True):
        assert " ".join(str(rule).split()) in row and f"{rule.support:,}" in row


def test_names_and_values_cannot_get_out_of_the_page():
    text = page("envelope.json", json.loads(json.dumps(explanation_as_json(explained("nasty")[2]))))
    made = Document(text)
    assert len(made.all("script")) == 3 and not made.all("img") and len(made.all("title")) == 1
    assert NASTY[0] in made.one("main")["text"]
    assert "onerror" not in {name for e in made.elements for name in e["attributes"]}


def test_a_page_too_large_for_its_cells_has_rules_only(monkeypatch):
    from hornlens.report.page import explanation as module

    monkeypatch.setattr(module, "MOST_CELLS", 10)
    monkeypatch.setattr(module, "MOST_RULES", 3)
    content = json.loads(json.dumps(explanation_as_json(explained("forest")[2])))
    made = Document(page("envelope.json", content))
    assert json.loads(made.one("script", id_="view")["text"])["labels"] is None
    rows = [r for r in made.all("tr") if r["attributes"].get("id", "").startswith("rule-")]
    assert len(rows) == 3 and "more, which speak of fewer rows" in made.one("main")["text"]
