"""Documents that are no extractions: what `verify` refuses, and what it owns up to."""

import json
import shutil
from pathlib import Path

import pytest

from hornlens.errors import InputError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.verification import verify
from hornlens.verifying.kinds import kind_of
from hornlens.verifying.ledgers import ledger_of
from hornlens.verifying.shapes import verify_shape
from tests.command import hornlens
from tests.verifying.documents import OLD, write_all


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("documents")
    write_all(made)
    return made


@pytest.fixture
def copy(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "all")
    monkeypatch.chdir(tmp_path / "all")
    return tmp_path / "all"


def change(path: Path, forge) -> None:
    """Forge a document, and mend its digest."""
    content = read_json(path)
    forge(content)
    path.write_text(json_text(with_digest(content)), encoding="utf-8")


def test_another_result_than_was_compared_or_checked_is_refused(copy):
    def forge(content):
        content["statistics"]["model_calls"] += 1

    change(copy / "study/exact/demo/envelope.json", forge)
    for document in ("compared", "check.json"):
        assert "another digest" in verify(document).wrong
    (copy / "rules.yaml").write_text("hornlens: 1\nat_least: exact\n")
    shutil.rmtree(copy / "study")
    assert "other requirements" in verify("check.json").wrong


def test_missing_results_are_named(copy):
    shutil.rmtree(copy / "study")
    for document in ("compared/comparison.json", "check.json"):
        done = verify(document)
        assert done.ok and any("not there" in line for line in done.not_checked)
        assert any("not there" in name for name in done.intact)


def test_a_study_without_its_runs_says_so_and_with_forged_runs_is_refused(copy):
    run = copy / "study/runs/demo/budget-6/seed-0/envelope.json"

    def forge(content):
        content.get("hypothesis", content)["rules"] = []

    change(run, forge)
    assert verify("study").wrong is not None
    run.unlink()
    done = verify("study")
    assert done.ok and any("runs found" in name for name in done.intact)


def test_tables_and_pages_beside_a_study_are_its_own(copy):
    page = copy / "study/tables/recall-precision.csv"
    page.write_text(page.read_text().replace("demo", "domo"))
    assert "recall-precision.csv: not what" in verify("study").wrong


def test_bias_scores_that_do_not_add_up_are_refused(copy):
    def forge(content):
        content["models"][0]["overall"]["normalised"]["mean"] -= 0.01

    change(copy / "bias/bias.json", forge)
    assert "all people, normalised" in verify("bias").wrong


def test_a_failed_check_does_not_pass_for_a_passed_one(copy):
    def forge(content):
        for line in (content, *content["results"]):
            line["passed"] = True
        for outcome in (o for line in content["results"] for o in line["outcomes"]):
            outcome["passed"] = True

    change(copy / "check.json", forge)
    assert verify("check.json").wrong is not None


def test_rules_without_their_file_have_a_shape(copy):
    content = read_json(copy / "table/envelope.json")
    done = verify_shape(content, copy)
    assert done.ok and "those of the file" in done.not_checked[0]
    content["rules"][0]["then"] = None
    assert not verify_shape(content, copy).ok
    shown = hornlens("verify", "table", cwd=copy)
    assert shown.returncode == 2 and "--against" in shown.stderr


def test_what_fits_no_kind_is_one_line(copy):
    for content in ({}, {"rules": []}, [], {"models": []}):
        with pytest.raises(InputError, match="no document of hornlens"):
            kind_of(content)
        (copy / "odd.json").write_text(json.dumps(content))
        shown = hornlens("verify", "odd.json", cwd=copy)
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1


def test_a_null_name_does_not_keep_verify_busy(copy):
    def forge(content):
        content["variables"][0] = None

    change(copy / "closure.json", forge)
    with pytest.raises(InputError):
        verify(copy / "closure.json", copy / "formula.cnf")


@pytest.mark.parametrize(
    "name",
    [
        "study",
        "bias",
        "compared",
        "check.json",
        "study/times.json",
        "explored/person.exploration.json",
    ],
)
def test_documents_of_0_2_still_verify(name):
    done = verify(OLD / name)
    assert done.ok, done.wrong


def test_each_kind_has_a_ledger(folder):
    for path in folder.rglob("*.json"):
        content = read_json(path)
        if kind_of(content) not in ("summary", "extraction", "classifier"):
            assert ledger_of(content) is not None, path
