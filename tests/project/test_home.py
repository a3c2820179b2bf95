"""Tests leave the user's real cache and configuration alone, and so does a command with --cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hornlens.store.sqlite import default_path
from tests.conftest import OWN, SESSION

ROOT = Path(__file__).parents[2]
SOME = (
    *("tests/api/test_api.py", "tests/store/test_cache.py", "tests/project/test_notebooks.py"),
    "tests/browser/test_csv.py",
)
WRITING = "0_1 or default or newer or explore-a-context or cells_are_those"


def written(home):
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def test_the_tests_have_a_cache_of_their_own():
    assert default_path().is_relative_to(os.environ[SESSION])


@pytest.mark.slow
def test_tests_write_nothing_into_a_home(tmp_path):
    """A part of them, in a process that knows no other home: it must be empty afterwards.

    A notebook and, where there is one, a browser are among them.
    """
    left = {"HOME", *OWN, SESSION, "HORNLENS_CACHE", "PYTEST_XDIST_WORKER"}
    places = {name: value for name, value in os.environ.items() if name not in left}
    words = ("-q", "-x", "-p", "no:cacheprovider", "-k", WRITING, *SOME)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env={**places, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout.splitlines()[-1] or "%]" in done.stdout
    assert written(tmp_path) == []


def test_a_command_with_a_cache_of_its_own_writes_answers_nowhere_else(tmp_path):
    home, out, answers = (tmp_path / name for name in ("home", "out", "a.sqlite"))
    home.mkdir()
    places = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "hornlens",
            "extract",
            "--out",
            out,
            "--cache",
            tmp_path / "a.sqlite",
        ],
        env=places,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert answers.is_file()
    # Compiled templates of the page are the one thing that a command keeps there.
    assert all(name.startswith(".cache/hornlens/templates/") for name in written(home))
