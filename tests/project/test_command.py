"""The tests' way of running commands: a forked one does and says what a started one does."""

import os

import pytest

from tests.command import ROOT, hornlens, started


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("envelope", ROOT / "examples" / "animals.csv"),
        ("envelope", ROOT / "examples" / "pronouns.cnf", "--format", "json"),
        ("envelope", "no-such-file.cnf"),
        ("extract", "--nonsense"),
        ("extract", "--no-cache", "--out", "out", "--format", "json", "--quiet"),
        ("learn", ROOT / "examples" / "pronouns.cnf", "--algorithm", "horn"),
        ("probe", "new", "mine.yaml"),
    ],
    ids=lambda words: " ".join(str(word).rsplit("/", 1)[-1] for word in words) or "alone",
)
def test_a_forked_command_is_as_a_started_one(tmp_path, words):
    seen = []
    for way in (hornlens, started):
        folder = tmp_path / way.__name__
        folder.mkdir()
        done = way(*words, cwd=folder)
        files = {path.name for path in folder.rglob("*")}
        seen.append((done.returncode, done.stdout, done.stderr, files))
    assert seen[0] == seen[1]


def test_folder_environment_and_input_are_those_that_were_asked_for(tmp_path):
    answers = tmp_path / "c.sqlite"
    env = {**os.environ, "HORNLENS_CACHE": str(answers)}
    hornlens("extract", "--quiet", cwd=tmp_path, env=env)
    assert answers.is_file() and (tmp_path / "hornlens-out").is_dir()
    assert hornlens("cache", "clear", input="n\n", env=env).returncode != 0
    assert "660 answers removed" in hornlens("cache", "clear", input="y\n", env=env).stdout
    assert "HORNLENS_CACHE" not in os.environ
