"""`hornlens doctor`: what it says of an installation is so."""

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hornlens.cli import doctor
from hornlens.cli.app import app
from hornlens.cli.doctor import FOR_US, PURPOSES, Extra, Package, installed_packages

ROOT = Path(__file__).parents[2]


def run(*more, **environment):
    return subprocess.run(
        [sys.executable, "-m", "hornlens", "doctor", *more],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


@pytest.fixture
def told(monkeypatch):
    """What it prints with such variables, in this process: all that it tries is imported once."""

    def tell(form, **environment):
        for name in doctor.VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(doctor, "keep_private", lambda: None)  # it sets variables
        shown = CliRunner().invoke(app, ["doctor", "--format", form])
        assert shown.exit_code == 0, shown.output
        return shown.output

    return tell


def test_every_extra_of_the_project_is_told_with_what_it_is_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    assert extras - FOR_US == set(PURPOSES)
    assert {extra.name for extra in installed_packages()[1]} <= extras


def test_versions_are_those_that_are_installed_and_what_is_missing_does_not_work():
    core, extras = installed_packages()
    for package in [*core, *(package for extra in extras for package in extra.packages)]:
        try:
            assert package.version == metadata.version(package.name)
        except metadata.PackageNotFoundError:
            assert package.version is None
    assert all(package.version and not package.problem for package in core)
    for extra in extras:
        assert extra.works == all(p.version and not p.problem for p in extra.packages)


def test_a_package_that_is_there_and_cannot_be_imported_does_not_work(monkeypatch):
    def broken(name):
        raise RuntimeError("built for\nanother machine")

    monkeypatch.setattr(doctor, "import_module", broken)
    package = doctor._tried("numpy")
    assert package.problem == "RuntimeError: built for another machine"
    assert package.shown.endswith("(broken)")
    assert not Extra("some", "", (package,)).works
    assert Package("none", None).shown == "none missing"


def test_it_is_told_in_tables_and_as_json_and_no_secret_is(tmp_path, told):
    secrets = {"HF_TOKEN": "hf_secret", "HORNLENS_CACHE": str(tmp_path / "answers.sqlite")}
    text = run(**secrets)
    assert text.returncode == 0, text.stderr
    assert "The core works" in text.stdout
    assert "not there yet" in text.stdout
    assert "hf_secret" not in text.stdout + text.stderr
    assert not (tmp_path / "answers.sqlite").exists()
    as_json = told("json", **secrets)
    assert "hf_secret" not in as_json
    found = json.loads(as_json)
    assert found["extras"]["demo"]["works"] in (True, False)
    states = {place["place"]: place["state"] for place in found["places"]}
    assert states["HF_TOKEN"] == "set"


@pytest.mark.parametrize("name", ["hf", "smollm2"])
def test_an_extra_that_needs_another_one_lists_its_packages(name):
    extras = {extra.name: extra for extra in installed_packages()[1]}
    assert "torch" in {package.name for package in extras[name].packages}


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_address_of_a_database_is_not_shown(told, form):
    shown = told(form, HORNLENS_CACHE="postgresql://auditor:sesame@h/d")
    assert "a PostgreSQL database" in shown and "sesame" not in shown


def test_the_lower_bounds_are_those_that_are_tested():
    """constraints-lowest.txt has what pyproject.toml admits, of all that it says it tests."""
    import re
    import tomllib
    from pathlib import Path

    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tested = ("demo", "figures", "sklearn", "api", "anthropic", "postgres")
    wanted = [*project["dependencies"], *(line for name in tested for line in extras[name])]
    found = (re.match(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", line).groups() for line in wanted)
    bounds = dict(found)
    lines = (root / "constraints-lowest.txt").read_text().splitlines()
    lowest = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, bound in bounds.items():
        version = lowest[name]
        assert version == bound or version.startswith(f"{bound}."), name


def test_the_version_is_the_same_everywhere():
    import re
    from pathlib import Path

    root = Path(__file__).parents[2]
    version = re.search(
        '^__version__ = "(.*)"$', (root / "src/hornlens/__init__.py").read_text(), re.M
    )
    assert f"\nversion: {version[1]}\n" in (root / "CITATION.cff").read_text()
    assert f"\n## {version[1]}" in (root / "CHANGELOG.md").read_text()
