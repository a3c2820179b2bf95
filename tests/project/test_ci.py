"""The page about CI is run: its requirements, its workflow's steps, its pytest file."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


REQUIREMENTS, WORKFLOW = blocks("yaml")
PASSING = "hornlens: 1\nforbid: [singer & female -> false]\nat_least: exact\n"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the requirements, and a `hornlens` on the path."""
    (tmp_path / "rules.yaml").write_text(REQUIREMENTS, encoding="utf-8")
    command = tmp_path / "bin" / "hornlens"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hornlens "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_workflow():
    """Run the steps that are commands, as GitHub does; return the last one's."""
    (job,) = yaml.safe_load(WORKFLOW)["jobs"].values()
    steps = [step for step in job["steps"] if "run" in step]
    assert steps[0]["run"] == "pip install '.[demo]'" and len(steps) == 3
    for step in steps[1:]:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]], capture_output=True, text=True
        )
        if done.returncode:
            break
    return step, done, [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]


def test_the_workflow_fails_at_the_forbidden_rule_and_leaves_what_it_uploads(checkout):
    step, done, (upload,) = run_workflow()
    assert step["name"] == "Hold its rules against ours" and done.returncode == 1, done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert len(errors) == 1
    line = 1 + REQUIREMENTS.split("\n").index("  - rule: nurse & male -> false")
    assert errors[0].startswith(f"::error file=rules.yaml,line={line},title=result%3A forbid nurse")
    assert upload["if"] == "${{ !cancelled() }}"
    for path in upload["with"]["path"].split():
        assert (checkout / path).exists(), path
    suite = ElementTree.parse(checkout / "check.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("5", "1")
    shown = subprocess.run(
        ["hornlens", "check", "result", "rules.yaml"], capture_output=True, text=True
    )
    assert shown.stdout == blocks("text")[0]


def test_the_workflow_passes_where_nothing_is_violated(checkout):
    (checkout / "rules.yaml").write_text(PASSING)
    step, done, _ = run_workflow()
    assert step["name"] == "Hold its rules against ours" and done.returncode == 0, done.stderr
    assert done.stdout.endswith("hornlens check: none of 2 requirements violated.\n")


@pytest.mark.slow
def test_the_pytest_file_fails_at_the_forbidden_rule(checkout):
    (checkout / "test_model.py").write_text("\n\n".join(blocks("python")))
    subprocess.run(["hornlens", "extract", "--out", "result"], capture_output=True, check=True)
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"]
    done = subprocess.run(pytest_run, capture_output=True, text=True)
    assert done.returncode == 1
    assert "1 of 5 requirements violated: forbid nurse ∧ male → ⊥" in done.stdout
    assert "2 failed" in done.stdout
    (checkout / "rules.yaml").write_text(PASSING)
    assert subprocess.run(pytest_run, capture_output=True).returncode == 0
