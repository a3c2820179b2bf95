"""The documentation site: what can be tested without building it."""

import re
import tomllib
from pathlib import Path

import pytest

from tools.site.checking import problems

ROOT = Path(__file__).parents[1]
CONFIGURATION = ROOT / "tools" / "site" / "zensical.toml"
GENERATED = {"index.md", "changelog.md", "contributing.md", "examples.md"} | {
    f"reference/{name}.md" for name in ("options", "python", "formats")
}


def pages(entries):
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else pages(value)


def test_every_page_of_the_docs_is_in_the_menu_once():
    menu = list(pages(tomllib.loads(CONFIGURATION.read_text())["project"]["nav"]))
    assert len(menu) == len(set(menu))
    assert set(menu) - GENERATED == {path.name for path in (ROOT / "docs").glob("*.md")}


def test_links_to_nowhere_and_what_comes_from_elsewhere_are_found(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "one.html").write_text(
        '<h1 id="here">One</h1><a href="inner/two.html#there">a</a><a href="#here">b</a>'
        '<a href="inner">c</a><a href="https://example.org/x">d</a><img src="picture.svg">'
    )
    (tmp_path / "picture.svg").write_text("<svg/>")
    (tmp_path / "inner" / "index.html").write_text("")
    two = tmp_path / "inner" / "two.html"
    two.write_text('<h2 id="there">Two</h2><a href="../one.html">a</a>')
    assert problems(tmp_path) == []
    two.write_text(
        '<a href="../one.html#gone">a</a><a href="three.html">b</a>'
        '<script src="https://example.org/x.js"></script>'
        '<link rel="stylesheet" href="//example.org/x.css">'
    )
    assert [re.sub(r"^\S+: ", "", line) for line in problems(tmp_path)] == [
        "loads https://example.org/x.js from elsewhere",
        "loads //example.org/x.css from elsewhere",
        "../one.html#gone: there is no such place on that page",
        "three.html leads nowhere",
        "inner/two.html#there: there is no such place on that page",
    ]


def test_sessions_in_docstrings_become_blocks():
    sessions = pytest.importorskip("tools.site.sessions", reason="needs the extra docs")
    said = sessions.fenced("Say.\n\n>>> f(1)\n2\n>>> g()\n\nMore.\n>>> h()\n")
    assert said == "Say.\n\n```pycon\n>>> f(1)\n2\n>>> g()\n```\n\nMore.\n```pycon\n>>> h()\n```\n"
