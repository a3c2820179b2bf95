"""The reference pages of the site, made from the code: every option, and the Python names."""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import hornlens
from tools.site.formats import formats_page

WIDTH = "100"
GROUPS = {
    "ask": ("Ask and keep", "extract load verify Result Rules Rates Verification Settings Limits"),
    "targets": (
        "Probes, models, targets",
        "Probe load_probe Policy PromptedModel Worlds Target FunctionTarget RepeatedTarget "
        "FormulaTarget TableTarget Decision",
    ),
    "classifiers": ("Classifiers", "explain prove flips Explanation"),
    "rules": (
        "Spaces, rules, claims",
        "Space Attribute Nominal Ordered Taxonomy Envelope NamedRule Certificate Exact Bounded Pac "
        "Budget Interrupted",
    ),
}
"""The public names by what one does with them, a page each; the rest is on the last page."""
LAST = ("more", "Checks, errors, the rest")
MODULES = ("hornlens.sklearn", "hornlens.testing")
"""Modules that others import as they are."""


def pages() -> dict[str, str]:
    """Return the pages, by where they are in the site."""
    return {
        "reference/options.md": options_page(),
        "reference/formats.md": formats_page(),
        **python_pages(),
    }


def _commands(app: Any) -> Iterator[tuple[str, ...]]:
    """Yield the commands, each as its words."""
    from typer.main import get_command

    whole: Any = get_command(app)
    context = whole.make_context("hornlens", [], resilient_parsing=True)
    for name in whole.list_commands(context):
        inner = getattr(whole.get_command(context, name), "commands", {})
        yield from ((name, each) for each in inner) if inner else [(name,)]


def options_page() -> str:
    """Return every command's help, as `--help` prints it."""
    from hornlens.cli.app import app

    os.environ["COLUMNS"] = WIDTH
    parts = ["# Every option\n\nWhat `--help` says, of every command.\n"]
    for words in _commands(app):
        said = io.StringIO()
        with redirect_stdout(said):
            app([*words, "--help"], prog_name="hornlens", standalone_mode=False)
        told = said.getvalue().strip()
        parts.append(f"## hornlens {' '.join(words)}\n\n```text\n{told}\n```\n")
    return "\n".join(parts)


def grouped() -> dict[str, tuple[str, list[str]]]:
    """Return the names of each page, with its title; every public name is on one."""
    found = {key: (title, names.split()) for key, (title, names) in GROUPS.items()}
    known = {name for _, names in found.values() for name in names}
    key, title = LAST
    return {**found, key: (title, [name for name in hornlens.__all__ if name not in known])}


def python_pages() -> dict[str, str]:
    """Return the list of public names, and a page a group with their docstrings."""
    homes = {name: home for home, names in hornlens._HOMES.items() for name in names.split()}
    listed = ["# Python\n\nAll of these are names of `hornlens`: `hornlens.extract`, and so on.\n"]
    made = {}
    for key, (title, names) in grouped().items():
        page = f"python-{key}.md"
        listed.append(f"\n## [{title}]({page})\n\n| name | what it is |\n|---|---|")
        for name in names:
            link = f"{page}#hornlens.{homes[name]}.{name}"
            listed.append(f"| [`{name}`]({link}) | {_first_line(getattr(hornlens, name))} |")
        parts = [f"# {title}\n", *(f"::: hornlens.{homes[name]}.{name}\n" for name in names)]
        if key == LAST[0]:
            parts += [f"::: {module}\n" for module in MODULES]
        made[f"reference/{page}"] = "\n".join(parts)
    return {"reference/python.md": "\n".join(listed) + "\n", **made}


def _first_line(value: object) -> str:
    said = (inspect.getdoc(value) or "").split("\n\n")[0]
    if not inspect.isclass(value) and not inspect.isfunction(value):
        kinds = [each.__name__ for each in getattr(value, "__args__", ())] or str(value).split(
            " | "
        )
        said = "One of: " + ", ".join(kinds)
    return " ".join(said.split()).replace("|", "\\|")
