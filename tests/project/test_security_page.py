"""docs/security.md: every sentence that promises something names the test that holds it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
ADVICE = ("What is trusted", "What you can do", "Reporting a hole")
"""Sections that say what the reader has to trust or do: nothing in them is a promise of ours."""
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def sections():
    """The page by headings: the lines under each."""
    title, lines = "", []
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            yield title, lines
            title, lines = line.lstrip("# "), []
        else:
            lines.append(line)
    yield title, lines


@cache
def functions_in(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def rows():
    """The rows of all tables, each with its section; the last cell names the tests."""
    for title, lines in sections():
        for line in lines:
            if line.startswith("|") and not re.match(r"^\|[-| ]+\|$", line):
                yield title, [cell.strip() for cell in line.strip("|").split("|")]


def test_each_row_names_tests_that_exist():
    promises = [(title, cells) for title, cells in rows() if cells[-1] not in ("", "held by")]
    assert len(promises) > 30
    for title, cells in promises:
        named = NAMED.findall(cells[-1])
        assert named, f"{title}: no test is named beside {cells[0]!r}"
        for path, name in named:
            assert (ROOT / path).is_file(), f"{title}: there is no {path}"
            assert name in functions_in(path), f"{title}: {path} has no {name}"


def test_promises_stand_in_tables_only():
    for title, lines in sections():
        if title in ADVICE:
            continue
        prose = " ".join(line for line in lines if line and not line.startswith("|"))
        sentences = re.split(r"(?<=[.:])\s+", prose)
        assert len(prose) < 500, f"{title}: much prose, and no test beside it: {sentences}"


@pytest.mark.parametrize("title", ADVICE)
def test_the_sections_without_promises_are_there(title):
    assert title in dict(sections())
