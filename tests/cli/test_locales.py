"""Other languages and decimal commas: the same bytes, or a line that says what to do."""

import os
import shutil
import subprocess

import pytest

from hornlens.errors import InputError
from hornlens.formats.anytables import open_table
from hornlens.targets.classifiers.files import read_rows
from tests.command import hornlens

LOCALES = ("tr_TR", "de_DE")


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """Generate the locales; a machine that cannot is said to be one."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None:
        pytest.skip("localedef is not installed: no locale can be generated")
    for name in LOCALES:
        made = subprocess.run(
            ["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")],
            capture_output=True,
            text=True,
            check=False,
        )
        if not (folder / f"{name}.UTF-8").is_dir():
            pytest.skip(f"the locale {name} cannot be generated: {made.stderr[:200]}")
    return folder


COMMANDS = (
    ("extract", "--limit", "5000", "--no-cache", "--out", "o", "-q", "--format", "json"),
    ("envelope", "t.csv", "--format", "json"),
    ("envelope", "t.csv", "--scale", "HIGH=interval:1.5,2.5"),
    ("verify", "o"),
    ("report", "o", "--out", "r.html"),
    ("export", "o", "--format", "prolog"),
    ("compare", "o", "o"),
    ("learn", "f.cnf"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCALES)
def test_every_command_gives_the_same_bytes(locales, tmp_path, name):
    outcomes = []
    for locale in ("C.UTF-8", f"{name}.UTF-8"):
        folder = tmp_path / locale
        folder.mkdir()
        (folder / "t.csv").write_text("TITLE,HIGH,i\nI,1.5,1\ni,2.5,0\nİ,3.25,1\nı,1,0\n", "utf-8")
        (folder / "f.cnf").write_text("p cnf 3 2\n-1 2 0\n-2 -3 0\n")
        env = os.environ | {"LC_ALL": locale, "LANG": locale, "LOCPATH": str(locales)}
        env.pop("LANGUAGE", None)
        if locale == "C.UTF-8":
            del env["LOCPATH"]
        lines = []
        for command in COMMANDS:
            done = hornlens(*command, cwd=folder, env=env)
            lines.append((command, done.returncode, _without_times(done.stdout), done.stderr))
        files = {
            file.name: file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file() and file.suffix in (".csv", ".json") and file.name != "run.json"
        }
        outcomes.append((lines, files))
    compared = 0
    for first, second in zip(outcomes[0][0], outcomes[1][0], strict=True):
        assert first == second and first[1] in (0, 1), first
        compared += 1
    assert compared == len(COMMANDS) == 8
    assert outcomes[0][1] == outcomes[1][1]
    assert len(outcomes[0][1]) >= 3
    print(f"{name}: {compared} commands and {len(outcomes[0][1])} files are the same bytes")


def _without_times(text):
    return [line for line in text.splitlines() if " s. " not in line and not line.endswith(" s")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a;b\n1,5;2\n2,5;3\n", "is separated by semicolons: save it with commas"),
        ("a\tb\n1\t2\n", "is separated by tabs: save it with commas"),
        ('a,b\n"1,5",2\n"2,75",3\n', "column 'a' has decimal commas (1,5): write 1.5"),
    ],
)
def test_decimal_commas_are_never_read_as_names(tmp_path, text, line):
    file = tmp_path / "t.csv"
    file.write_text(text)
    for read in (open_table, lambda path: read_rows(path, None)):
        with pytest.raises(InputError) as error:
            read(file)
        assert line in str(error.value)
