"""README and docs are run: Python sessions as doctests, console sessions as real commands."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import hornlens
from tests.command import hornlens as run_command
from tools.sessions import as_told, blocks, commands

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_sessions_say_what_the_page_says(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    source = "\n".join(blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert results.failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_console_sessions_print_what_the_page_says(page, tmp_path):
    """In a folder of their own, one after the other: what one writes, the next may read."""
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    for command, expected in commands(page):
        name, *words = shlex.split(command)
        assert name == "hornlens"
        shown = run_command(*words, cwd=tmp_path)
        got, wanted = as_told(shown.stdout + shown.stderr, expected)
        assert got == wanted, command


def test_the_pages_have_something_to_run():
    assert sum(len(commands(page)) for page in PAGES) >= 5
    assert sum(len(blocks(page, "pycon")) for page in PAGES) >= 4


def module_names():
    return [
        m.name
        for m in pkgutil.walk_packages(hornlens.__path__, "hornlens.")
        if "__main__" not in m.name
    ]


@pytest.mark.parametrize("name", module_names())
def test_docstrings_say_the_truth(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


def test_every_public_name_is_told_of_with_an_example():
    """What the examples say is tested above; a union of kinds is told of by its kinds."""
    named = {name: getattr(hornlens, name) for name in hornlens.__all__}
    told = {name: it for name, it in named.items() if inspect.isclass(it) or inspect.isfunction(it)}
    assert set(named) - set(told) == {"Attribute"}
    told["sklearn"] = importlib.import_module("hornlens.sklearn").EnvelopeClassifier
    told["testing"] = importlib.import_module("hornlens.testing")
    bare = {name: it for name, it in told.items() if ">>> " not in (it.__doc__ or "")}
    # Names that are given up need no example: whoever calls one is told what to use instead.
    assert {it.__module__ for it in bare.values()} == {"hornlens.logic.former"}
    arguments = {"Interrupted": ("interrupt", 0), "Pac": (0.1, 0.1, 9), "Noisy": (1, 0, 1, 0.1)}
    for name, it in bare.items():
        with pytest.warns(DeprecationWarning, match=f"hornlens.{name} is deprecated since 0.3 "):
            made = it(*arguments.get(name, () if name == "Exact" else (1,)))
        assert isinstance(made, hornlens.Certificate)


def explained():
    """The public functions, and the classes that people make by their arguments."""
    classes = {"Limits", "Policy", "Repeats", "Settings"}
    for name in hornlens.__all__:
        value = getattr(hornlens, name)
        given_up = getattr(value, "__module__", "") == "hornlens.logic.former"
        if (inspect.isfunction(value) and not given_up) or name in classes:
            yield f"hornlens.{name}"
    yield from ("hornlens.learning.LearnSettings", "hornlens.learning.learn")
    yield from ("hornlens.theory.envelope_of_formula", "hornlens.theory.envelope_of_table")
    yield from ("hornlens.logging.set_verbosity", "hornlens.sklearn.EnvelopeClassifier")


@pytest.mark.parametrize("dotted", [*explained()])
def test_every_parameter_is_explained_by_itself(dotted):
    """In their order, in the section that the reference reads; a class by its docstring alone."""
    module, _, name = dotted.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    text = inspect.getdoc(value)
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    assert section, "has no section Args"
    told = re.findall(r"^    (\*{0,2}\w+): \S", section[1], re.MULTILINE)
    parameters = inspect.signature(value).parameters.values()
    assert told == [str(p).partition(":")[0].partition("=")[0].strip() for p in parameters]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
