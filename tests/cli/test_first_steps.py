"""The first steps on the command line: `hornlens` alone, completion, --debug, what was written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from hornlens.cli.app import app
from hornlens.cli.completion import SCRIPTS, words_after
from hornlens.cli.next_steps import next_steps
from tests.command import hornlens

ROOT = Path(__file__).parents[2]


def test_alone_it_shows_what_one_would_do_next():
    shown = hornlens()
    assert shown.returncode == 0 and shown.stderr == ""
    names = [
        line.split()[1] for line in shown.stdout.splitlines() if line.startswith("  hornlens ")
    ]
    known = {*get_command(app).list_commands(None), "--help"}
    assert "extract" in names and set(names) <= known


def test_what_comes_next_depends_on_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hornlens.cli.next_steps.find_spec", lambda name: None)
    assert "pip install 'hornlens[demo]'" in next_steps()
    (tmp_path / "hornlens-out").mkdir()
    (tmp_path / "hornlens-out" / "envelope.json").write_text("{}")
    assert "hornlens verify hornlens-out" in next_steps() and "open " not in next_steps()
    (tmp_path / "hornlens-out" / "report.html").write_text("")
    assert "open hornlens-out/report.html" in next_steps()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ex"], ["explain", "explore", "export", "extract"]),
        (["extract", "--equiv"], ["--equivalence"]),
        (["extract", "--equivalence", "e"], ["exact", "exhaustive"]),
        (["extract", "--model", "demo-"], ["demo-balanced", "demo-polyglot"]),
        (["extract", "--target", ""], ["classifier/", "formula/", "rows/"]),
        (["explore", "--expert", ""], ["classifier/", "formula/", "person", "rows/"]),
        (["learn", "--ta"], []),  # an old name
        (["explain", "--target", ""], []),
        (["extract", "--quiet", "sent"], ["sentiment"]),
        (["extract", "--out=x", "sent"], ["sentiment"]),
        (["extract", "sentiment", ""], []),
        (["probe", ""], ["list", "new", "read", "show", "validate"]),
        (["probe", "show", "senti"], ["sentiment"]),
        (["study", ""], ["demo", "paper"]),
        (["envelope", ""], []),
        (["nonsense", ""], []),
        (["--ver"], ["--version"]),
        (["completion", "z"], ["zsh"]),
        (["export", "out", "--format", "p"], ["pmml", "prolog", "python"]),
    ],
)
def test_words_that_may_come_next(words, found):
    assert words_after(get_command(app), words) == found


def test_every_command_and_option_is_completed():
    root = get_command(app)
    context = root.make_context("hornlens", [], resilient_parsing=True)
    names = root.list_commands(context)
    assert words_after(root, [""]) == sorted(names) == sorted(words_after(root, []))
    for name in names:
        inner = root.get_command(context, name)
        if not hasattr(inner, "list_commands"):
            shown = [p for p in inner.params if not p.hidden]
            options = {o for p in shown for o in p.opts if o.startswith("--")}
            assert options <= {*words_after(root, [name, "-"])}


@pytest.fixture
def path(tmp_path):
    """A PATH with a `hornlens` that is this one."""
    command = tmp_path / "bin" / "hornlens"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hornlens "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


BASH = """
eval "$(hornlens completion bash)"
complete -p hornlens >/dev/null || exit 1
COMP_WORDS=(hornlens extract --equivalence e); COMP_CWORD=3
_hornlens_completion
echo "${COMPREPLY[@]}"
"""
FISH = 'hornlens completion fish | source; complete -C "hornlens extract --equivalence e"'
ZSH = """
autoload -Uz compinit
compinit -u -d $1
eval "$(hornlens completion zsh)"
echo $_comps[hornlens]
"""


def test_bash_completes(path):
    done = subprocess.run(["bash", "-c", BASH], env=path, capture_output=True, text=True)
    assert done.stdout.split() == ["exact", "exhaustive"], done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(path, tmp_path):
    done = subprocess.run(
        ["fish", "--no-config", "-c", FISH], env=path, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["exact", "exhaustive"], done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_loads_its_script(path, tmp_path):
    words = ["zsh", "-f", "-c", ZSH, "zsh", str(tmp_path / "dump")]
    done = subprocess.run(words, env=path, capture_output=True, text=True)
    assert done.stdout.strip() == "_hornlens", done.stderr


def test_every_shell_has_a_script():
    for shell, script in SCRIPTS.items():
        assert hornlens("completion", shell).stdout == script


@pytest.mark.parametrize(
    "words",
    [
        ("--debug", "probe", "show", "nope"),
        ("probe", "show", "nope", "--debug"),
        ("probe", "--debug", "show", "nope"),
        ("dataset", "show", "nope", "--debug"),
        ("cache", "list", "--cache", "nope/x/y.sqlite", "--debug", "--nonsense"),
    ],
)
def test_debug_shows_the_traceback_wherever_it_stands(words):
    shown = hornlens(*words)
    assert shown.returncode == 2 and shown.stderr.startswith("Traceback"), shown.stderr
    plain = hornlens(*(word for word in words if word != "--debug"))
    assert plain.returncode == 2 and len(plain.stderr.splitlines()) == 1


def test_errors_of_commands_point_to_their_own_help():
    root = get_command(app)
    context = root.make_context("hornlens", [], resilient_parsing=True)
    for name in ("extract", "envelope", "probe"):
        assert root.get_command(context, name) is not None
        assert f"hornlens {name} --help')" in hornlens(name, "--nonsense").stderr
    assert "hornlens probe show --help')" in hornlens("probe", "show", "--nonsense").stderr


def test_convert_and_check_say_what_they_wrote(tmp_path):
    context = tmp_path / "people.cxt"
    shown = hornlens("convert", ROOT / "examples" / "people.csv", context)
    assert (
        shown.stdout == f"{context}: 9 rows, 12 variables. Its rules: hornlens envelope {context}\n"
    )
    assert "9 positive examples" in hornlens("envelope", context).stdout
    hornlens("extract", "--quiet", "--out", tmp_path / "out", "--no-cache")
    rules, out = tmp_path / "rules.yaml", tmp_path / "check.xml"
    rules.write_text("hornlens: 1\nat_least: exact\n")
    shown = hornlens("check", tmp_path / "out", rules, "--format", "junit", "--out", out)
    assert shown.stdout.endswith(f"As junit: {out}\n") and out.is_file()
