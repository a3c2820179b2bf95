"""Deprecated names: they work, they warn where they are used, and they go when it was promised."""

import ast
import inspect
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import hornlens
from hornlens import NamedRule, Space
from hornlens.cli.app import app
from hornlens.deprecation import HornlensDeprecationWarning, deprecated, renamed_argument
from hornlens.errors import HornlensError
from hornlens.extraction.formulas import LearnSettings
from hornlens.targets.classifiers.target import ClassifierTarget
from hornlens.targets.registry import TARGETS, open_target
from hornlens.theory import Vocabulary
from tests.command import hornlens as run_command

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hornlens"
ROWS = np.array([[20.0, 1.0], [50.0, 2.0]])
BINS = {"x0": [30], "x1": [2]}
HELPERS = ("deprecated", "renamed_argument")


def old(rows):
    return rows[:, 0] >= 30


def warned(call):
    """What a call returns, and the one warning that it gives, with the line that it names."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    (warning,) = caught
    assert issubclass(warning.category, DeprecationWarning)
    return value, warning


# The helper.


def test_a_warning_says_what_to_use_and_until_when():
    _, warning = warned(lambda: deprecated("a", "b", since="0.3", removal="0.5"))
    assert warning.category is HornlensDeprecationWarning
    said = str(warning.message)
    assert said == "a is deprecated since 0.3 and will be removed in 0.5: use b"


def test_a_warning_names_the_line_that_is_to_be_changed():
    """However deep inside the package it is given."""
    number = inspect.currentframe().f_lineno + 1
    _, warning = warned(lambda: hornlens.flips(old, "x1", ROWS, bins=BINS, target="loan"))
    assert (warning.filename, warning.lineno) == (__file__, number)
    number = inspect.currentframe().f_lineno + 1
    _, warning = warned(lambda: open_target("table/examples/animals.csv"))
    assert (warning.filename, warning.lineno) == (__file__, number)


@renamed_argument("colour", "color", since="0.3", removal="0.5")
def paint(wall: str, *, color: str = "white") -> str:
    """Paint it."""
    return f"{wall} {color}"


def test_a_renamed_argument_has_one_value():
    assert paint("wall", color="red") == "wall red" and paint("wall") == "wall white"
    painted, warning = warned(lambda: paint("wall", colour="red"))
    assert painted == "wall red" and str(warning.message).startswith(
        "paint(colour=…) is deprecated"
    )
    with pytest.raises(TypeError, match="takes color; colour is its old name"):
        paint("wall", color="red", colour="blue")
    assert paint.__doc__ == "Paint it." and "colour" not in inspect.signature(paint).parameters


def test_new_names_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hornlens.explain(old, ROWS, bins=BINS, label="loan")
        hornlens.prove(old, "x0 > 40 -> True", ROWS, label="loan")
        hornlens.flips(old, "x1", ROWS, bins=BINS, label="loan")
        assert ClassifierTarget.of(old, ROWS, bins=BINS, label="loan").label == "loan"
        assert LearnSettings(goal="cnf").goal == "cnf"
        open_target("rows/examples/animals.csv")


# What is deprecated.


@pytest.mark.parametrize(
    ("call", "new"),
    [
        (lambda **given: hornlens.explain(old, ROWS, bins=BINS, **given).target, "label"),
        (
            lambda **given: hornlens.prove(old, "x0 > 40 -> loan = True", ROWS, **given).status,
            "label",
        ),
        (lambda **given: ClassifierTarget.of(old, ROWS, bins=BINS, **given).label, "label"),
        (lambda **given: LearnSettings(**dict.fromkeys(given, "cnf")).goal, "goal"),
    ],
    ids=["explain", "prove", "ClassifierTarget", "LearnSettings"],
)
def test_old_arguments_do_what_new_ones_do(call, new):
    value, warning = warned(lambda: call(target="loan"))
    assert value == call(**{new: "loan"})
    assert f"use {new}=…" in str(warning.message)


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (LearnSettings(goal="cnf"), "goal"),
        (ClassifierTarget.of(old, ROWS, bins=BINS, label="loan"), "label"),
    ],
    ids=["LearnSettings", "ClassifierTarget"],
)
def test_old_fields_are_read_under_their_old_names(made, field):
    value, warning = warned(lambda: made.target)
    assert value == getattr(made, field) and str(warning.message).endswith(f".{field}")


def test_what_a_space_assumes_was_called_granted():
    flies = Space.of_variables(Vocabulary(("flies", "penguin")))
    rule = NamedRule.parse("flies & penguin -> false").rule(flies.vocabulary)
    by_old, warning = warned(lambda: Space(flies.attributes, granted=(rule,)))
    assert by_old == Space(flies.attributes, assumed=(rule,))
    assert "use assumed=…" in str(warning.message)
    value, warning = warned(lambda: by_old.granted)
    assert value == (rule,) and str(warning.message).endswith("use Space.assumed")


def test_rows_are_a_target_and_scores_are_a_model():
    by_old, warning = warned(lambda: open_target("table/examples/animals.csv"))
    by_new = open_target("rows/examples/animals.csv")
    assert by_old.name == by_new.name == "rows/examples/animals.csv"
    assert by_old.identity() == by_new.identity()
    assert "use rows/examples/animals.csv" in str(warning.message)
    assert "table" not in TARGETS.builtin
    for wrong in ("table", "table/", "tables/x.csv"):
        with pytest.raises(HornlensError, match=r"expected one of: .*rows/FILE"):
            open_target(wrong)


# On the command line.

CNF = "c 1 nurse\nc 2 he\np cnf 2 1\n-1 -2 0\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deprecated")
    (folder / "f.cnf").write_text(CNF)
    (folder / "t.csv").write_text("bird,flies\n1,0\n1,1\n")
    return folder


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        (
            ["learn", "f.cnf", "--target", "cnf", "--format", "json"],
            ["learn", "f.cnf", "--goal", "cnf", "--format", "json"],
            "--goal",
        ),
        (
            ["extract", "--target", "table/t.csv", "--format", "json"],
            ["extract", "--target", "rows/t.csv", "--format", "json"],
            "rows/t.csv",
        ),
    ],
)
def test_an_old_spelling_works_and_warns_in_a_line_on_standard_error(before, after, new, folder):
    told, wanted = (run_command(*words, "--quiet", cwd=folder) for words in (before, after))
    assert told.returncode == wanted.returncode == 0 and wanted.stderr == ""
    (line,) = told.stderr.splitlines()
    assert re.fullmatch(rf"hornlens: warning: .* is deprecated since \S+ and .* use {new}", line)

    def content(done):
        return {k: v for k, v in json.loads(done.stdout).items() if k != "record"}

    assert content(told) == content(wanted)


def test_explain_takes_the_label_by_its_old_name(folder):
    """Whether there is such a model is asked later."""
    done = run_command("explain", "--target", "loan", "nothing.onnx", "t.csv", cwd=folder)
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("hornlens: warning: explain --target is deprecated since 0.3")
    assert first.endswith("use --label") and second.startswith("hornlens: ")


def test_the_same_warning_comes_once(folder):
    (folder / "v.yaml").write_text("hornlens: 1\nvariables: [bird, flies]\n")
    twice = ("--expert", "table/t.csv") * 2
    done = run_command("explore", "v.yaml", *twice, "--format", "json", cwd=folder)
    assert done.returncode == 0 and done.stderr.count("deprecated") == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["learn", "f.cnf", "--target", "cnf", "--goal", "cnf"],
            "hornlens: learn --target is the old name of --goal: give --goal only",
        ),
        (
            ["explain", "m.onnx", "t.csv", "--target", "a", "--label", "a"],
            "hornlens: explain --target is the old name of --label: give --label only",
        ),
    ],
)
def test_both_spellings_at_once_are_rejected(words, line, folder):
    done = run_command(*words, cwd=folder)
    assert done.returncode == 2 and done.stderr.splitlines() == [line]


@pytest.mark.parametrize("name", ["learn", "explain"])
def test_help_shows_the_new_spelling_only(name, capsys):
    app([name, "--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "--target" not in shown
    assert ("--goal" if name == "learn" else "--label") in shown


# The promise.


def uses():
    """Each use of the helpers in the package: where, what is old if that is a text, versions."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name == "deprecation.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in HELPERS:
                given = {each.arg: ast.literal_eval(each.value) for each in node.keywords}
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", given["since"], given["removal"]


def number(version):
    return tuple(map(int, version.split(".")[:2]))


def test_what_is_deprecated_works_for_one_more_minor_version_and_then_goes():
    found = list(uses())
    assert len(found) >= 8
    for where, since, removal in found:
        (major, minor), last = number(since), number(removal)
        assert last >= (major, minor + 2), where
        assert number(hornlens.__version__) < last, f"{where}: its time is over: remove it"


def test_the_changelog_lists_what_is_deprecated():
    """With the version of its removal."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for spelling in (
        *("explain --target", "learn --target", "--target table/", "explain(target="),
        *("prove(target=", "flips(target=", "ClassifierTarget.of(target=", "LearnSettings(target="),
        "Space(granted=",
    ):
        assert spelling in text, spelling
    for _, _, removal in uses():
        assert f"removed in {removal}" in text
