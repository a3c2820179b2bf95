"""The documentation site: what can be tested without building it."""

import importlib
import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hornlens
from tools.site import drawing, reference
from tools.site.checking import problems
from tools.site.formats import formats_page
from tools.site.versions import list_versions, make_room

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "tools" / "site" / "zensical.toml"
GENERATED = {"index.md", "changelog.md", "contributing.md", "examples.md"} | {
    f"reference/{name}.md"
    for name in (
        *("options", "formats", "python", "python-namespaces"),
        *(f"python-{key}" for key in reference.grouped()),
    )
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


def test_every_public_name_is_on_one_page_of_the_reference():
    named = [name for _, names in reference.grouped().values() for name in names]
    assert sorted(named) == sorted(hornlens.__all__)


def test_every_name_of_a_namespace_is_in_the_reference():
    page = reference.namespaces_page()
    for module in reference.NAMED:
        section = page.partition(f"## {module}\n")[2].partition("\n## ")[0]
        for name in importlib.import_module(module).__all__:
            assert f"`{name}`" in section, (module, name)
    places = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    assert len(places) == len(set(places)) > 50


def test_the_pages_graphs_are_drawn_and_boxes_lie_apart():
    page = drawing.drawn((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert "mermaid" not in page
    (svg,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    root = ElementTree.fromstring(svg)
    boxes = [
        tuple(float(box.get(side)) for side in ("x", "y", "width", "height"))
        for box in root.iter("rect")
    ]
    assert {text.text for text in root.iter("text")} >= {"logic", "targets", "cli"}
    arrows = [path for path in root.iter("path") if path.get("marker-end")]
    assert len(arrows) == page.count(" to ", page.index("Arrows:"), page.index("</svg>"))
    for i, (x, y, width, _) in enumerate(boxes):
        for x2, y2, width2, _ in boxes[:i]:
            assert y != y2 or x + width < x2 or x2 + width2 < x


def test_a_graph_that_cannot_be_drawn_is_said():
    for lines in ("a --> b\nb --> a\n", "a -.-> b\n"):
        with pytest.raises(SystemExit, match="drawing"):
            drawing.svg(drawing.edges_of(lines))


def built(site, version):
    """Do what building does with versions; the pages are one file that says which it is."""
    make_room(site, version)
    (site / "latest").mkdir(parents=True)
    (site / "latest" / "index.html").write_text(version)
    list_versions(site, version)
    return {
        line["title"]: (site / line["version"] / "index.html").read_text()
        for line in json.loads((site / "versions.json").read_text())
    }


def test_older_versions_stay_beside_the_newest(tmp_path):
    assert built(tmp_path, "0.2.0") == {"0.2.0": "0.2.0"}
    assert built(tmp_path, "0.2.1") == {"0.2.1": "0.2.1"}
    assert [*built(tmp_path, "0.9.0").items()] == [("0.9.0", "0.9.0"), ("0.2", "0.2.1")]
    found = built(tmp_path, "0.10.0")
    assert [*found.items()] == [("0.10.0", "0.10.0"), ("0.9", "0.9.0"), ("0.2", "0.2.1")]
    assert "latest/index.html" in (tmp_path / "index.html").read_text()
    with pytest.raises(SystemExit, match=r"has pages of 0\.10, which is newer than 0\.9\.1"):
        built(tmp_path, "0.9.1")
    assert (tmp_path / "latest" / "index.html").read_text() == "0.10.0"


def test_the_page_of_file_formats_has_every_kind_and_field():
    page = formats_page()
    for field in ("`forbid`", "`templates`", "`budgets`", "`readable`", "`certificate`", "`trees`"):
        assert f"| {field} |" in page
    assert page.count("The whole schema: [") == 14
    empty = [line for line in page.splitlines() if re.match(r"\| `[^`]+` \| +\|", line)]
    assert empty == []
