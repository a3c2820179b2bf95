"""The reference pages of the site, made from the code: every option, and the Python names."""

from __future__ import annotations

import importlib
import inspect
import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import hornlens
from hornlens.namespaces import NAMESPACES
from tools.site.formats import formats_page

WIDTH = "100"
GROUPS = {
    "ask": (
        "Ask and keep",
        "extract envelope load verify Result Rules Rates Verification Settings Limits",
    ),
    "targets": (
        "Probes, models, targets",
        "Probe load_probe Policy PromptedModel Worlds Target FunctionTarget RepeatedTarget "
        "FormulaTarget TableTarget ClassifierTarget Decision Repeats",
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
MODULES = ("hornlens.sklearn", "hornlens.logging")
"""Namespaces whose names are their own."""
NAMED = [name for name in NAMESPACES if name not in ("hornlens", *MODULES)]
"""Namespaces whose names are those of other modules, a section each on the page of namespaces."""


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
    listed.append("\n## [Namespaces](python-namespaces.md)\n")
    listed.append("| module | what it holds |\n|---|---|")
    for module in NAMED:
        link = f"python-namespaces.md#{module.replace('.', '')}"
        listed.append(f"| [`{module}`]({link}) | {_first_line(importlib.import_module(module))} |")
    return {
        "reference/python.md": "\n".join(listed) + "\n",
        **made,
        "reference/python-namespaces.md": namespaces_page(),
    }


def namespaces_page() -> str:
    """Return what each namespace holds; a name of several is described once."""
    groups = {name: key for key, (_, names) in grouped().items() for name in names}
    described: set[str] = set()
    parts = ["# Namespaces\n"]
    for module in NAMED:
        namespace: Any = importlib.import_module(module)
        parts.append(f"## {module}\n\n{_first_line(namespace)}\n\n| name | what it is |\n|---|---|")
        homes = {name: home for home, names in namespace._HOMES.items() for name in names.split()}
        new = []
        for name in namespace.__all__:
            value, place = getattr(namespace, name), f"hornlens.{homes[name]}.{name}"
            page = f"python-{groups[name]}.md" if name in groups else ""
            has_docs = bool(page) or inspect.isclass(value) or inspect.isfunction(value)
            if has_docs and not page and place not in described:
                new.append(f"::: {place}\n")
            described.add(place)
            shown = f"[`{name}`]({page}#{place})" if has_docs else f"`{name}`"
            parts.append(f"| {shown} | {_first_line(value)} |")
        parts += ["", *new]
    return "\n".join(parts) + "\n"


def _first_line(value: object) -> str:
    said = (inspect.getdoc(value) or "").split("\n\n")[0]
    if isinstance(value, int | str):
        said = f"`{value!r}`"
    elif type(value).__module__.startswith("hornlens."):
        said = f"An instance of `{type(value).__name__}`."
    elif not (inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)):
        kinds = [each.__name__ for each in getattr(value, "__args__", ())] or str(value).split(
            " | "
        )
        said = "One of: " + ", ".join(kinds)
    return " ".join(said.split()).replace("|", "\\|")
