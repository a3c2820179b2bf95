"""Command lines that nobody means: exit codes 0, 1 and 2, one line on standard error, never 3."""

import os
from itertools import product

import pytest

from tests.command import hornlens
from tests.faults.rounds import rounds

NUMBERS = ("", "x", "nan", "inf", "-inf", "-1", "0", "1e400", "9" * 400, "0x10", "１", "1_0", "\n")
TEXTS = ("", " ", "\n", "a\nb", "\x1b[31m", "\u202e", "*" * 5_000, "--", "-", "../..", "a" * 300)
FILES = ("missing", "folder", "empty", "binary", "secret", "line\nbreak.csv", "", "/dev/null")
OPTIONS = {
    "extract": ("--epsilon", "--delta", "--limit", "--seed", "--time-limit", "--max-rules"),
    "explain": ("--n-bins", "--max-calls", "--max-questions", "--epsilon", "--changes"),
    "envelope": ("--max-conditions", "--min-support", "--min-confidence", "--time-limit"),
    "learn": ("--epsilon", "--seed"),
}
READERS = ("envelope", "learn", "verify", "report", "check", "probe show", "study", "explore")
READERS += ("explain", "compare", "export", "extract", "bias")


def lines():
    """Yield the command lines: options with wrong numbers, and files that are none."""
    for command, options in OPTIONS.items():
        first = {"extract": ["gender-occupation"], "explain": ["m.skops", "rows.csv"]}
        for option, number in product(options, NUMBERS):
            yield [command, *first.get(command, ["rows.csv"]), option, number]
    for command, file in product(READERS, FILES):
        yield [*command.split(), file, *(["require.yaml"] if command == "check" else [])]
    for command, text in product(("extract", "study", "export", "dataset"), TEXTS):
        yield [command, text]
    for option, text in product(("--model", "--target", "--cache", "--variant"), TEXTS):
        yield ["extract", option, text, "--limit", "5"]
    yield from ([text] for text in TEXTS)


LINES = [line for line in lines() if not any("\0" in word for word in line)]


PARTS = 8
"""In how many parts they are run; the short version runs the first."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("lines")
    (place / "folder").mkdir()
    (place / "empty").touch()
    (place / "binary").write_bytes(bytes(range(256)))
    (place / "secret").write_text("a,b\n1,0\n")
    (place / "secret").chmod(0)
    (place / "rows.csv").write_text("a,b\n1,0\n0,1\n")
    (place / "require.yaml").write_text("hornlens: 1\nforbid: [a -> b]\n")
    return place


def test_there_are_enough_of_them():
    assert len(LINES) >= 260


@pytest.mark.slow
@pytest.mark.parametrize("part", range(rounds(1, PARTS)))
def test_no_command_line_ends_in_an_error_of_ours(folder, part):
    wrong = []
    env = os.environ | {"NO_COLOR": "1", "HORNLENS_CACHE": str(folder / "cache.sqlite")}
    for line in LINES[part::PARTS]:
        done = hornlens(*line, cwd=folder, env=env)
        said = done.stderr.splitlines()
        usage = done.returncode == 2 and any(text.startswith("Usage: ") for text in said)
        if (
            done.returncode not in (0, 1, 2)
            or "Traceback" in done.stderr
            or (done.returncode == 2 and not usage and len(said) != 1)
            or "\x1b" in done.stderr
        ):
            wrong.append(
                (line if len(str(line)) < 200 else str(line)[:200], done.returncode, said[-3:])
            )
    assert not wrong, "\n".join(map(str, wrong))
