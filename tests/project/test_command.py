"""The tests' way of running commands: a forked one does and says what a started one does."""

import os

import pytest

from tests.command import ROOT, hornlens, started, warm_process


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("envelope", ROOT / "examples" / "animals.csv", "--quiet"),
        ("envelope", ROOT / "examples" / "pronouns.cnf", "--format", "json", "-q"),
        ("envelope", "no-such-file.cnf"),
        ("extract", "--nonsense"),
        ("extract", "--no-cache", "--out", "out", "--format", "json", "--quiet"),
        ("learn", ROOT / "examples" / "pronouns.cnf", "--algorithm", "horn", "-q"),
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
    assert "660 answers removed" in hornlens("cache", "clear", "--yes", env=env).stdout
    assert "HORNLENS_CACHE" not in os.environ
    (tmp_path / "v.yaml").write_text("hornlens: 1\nname: few\nvariables: [a, b]\n")
    silent, helped = (
        hornlens("explore", "v.yaml", cwd=tmp_path, input=words).stdout for words in ("", "help\n")
    )
    assert silent.count("> ") == 1 and helped.count("> ") == 2


SLOW = (
    "import runpy; from hornlens.report import progress; progress.FIRST = 0.0; "
    "runpy.run_module('tests.command', run_name='__main__')"
)


def test_a_forked_command_says_the_same_on_a_slow_machine(tmp_path):
    """Tests read all of standard error; on one so slow, each step says how far the command is."""
    with warm_process("-c", SLOW) as slow:
        done = hornlens("extract", "--no-cache", cwd=tmp_path, warm=slow)
        slow.stdin.close()
    assert (done.returncode, done.stderr) == (0, "")
