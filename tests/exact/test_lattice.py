"""The concept lattice: neighbours and labels against brute force; its drawing, page and command."""

import json
import re
from random import Random
from xml.etree import ElementTree

import pytest

from hornlens.cli.app import app
from hornlens.errors import InputError
from hornlens.formats.contexts import write_table
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.lattice import lattice_svg
from hornlens.report.page import page, read_page
from hornlens.results.documents.tables import count_concepts, lattice_of
from tests import brute
from tests.exact.test_tables import random_rows


def tables(seed, count=40, most=6):
    rng = Random(seed)
    for _ in range(count):
        width = rng.randint(1, most)
        rows = tuple(random_rows(rng, width))
        objects = tuple(f"r{i}" for i in range(len(rows)))
        yield Table(Vocabulary.numbered(width), rows, objects=objects), rows, width


def closed_sets(rows, width):
    return brute.close(rows) | {(1 << width) - 1}


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_and_labels_are_those_of_the_definition(seed):
    for table, rows, width in tables(seed):
        nodes = lattice_of(table, 1 << width)
        masks = [table.vocabulary.mask(node.variables) for node in nodes]
        closed = closed_sets(rows, width)
        assert sorted(masks) == sorted(closed) and len(set(masks)) == len(masks), rows
        assert count_concepts(table) == (len(closed), 0)
        for node, mask in zip(nodes, masks, strict=True):
            smaller = [y for y in closed if y != mask and y & ~mask == 0]
            above = [y for y in smaller if not any(y != z and y & ~z == 0 for z in smaller)]
            assert sorted(masks[j] for j in node.above) == sorted(above), rows
            assert node.rows == sum(mask & ~row == 0 for row in rows)
            own = {i for i, row in enumerate(rows) if row == mask}
            assert set(node.own_rows) == {f"r{i}" for i in own}
        # Reduced labels say all: a concept has what stands at it or above it.
        for place, mask in enumerate(masks):
            reached, waiting = set(), [place]
            while waiting:
                i = waiting.pop()
                if i not in reached:
                    reached.add(i)
                    waiting += nodes[i].above
            labels = {name for i in reached for name in nodes[i].own_variables}
            assert labels == set(table.vocabulary.names_of(mask)), rows


@pytest.mark.parametrize("seed", range(3))
def test_in_the_drawing_nothing_lies_on_anything_else(seed):
    for table, _rows, _width in tables(seed, 15, 7):
        nodes = lattice_of(table)
        if not nodes:
            continue
        root = ElementTree.fromstring(lattice_svg(nodes, standalone=True))
        name = "{http://www.w3.org/2000/svg}"
        spots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{name}circle")]
        assert len(spots) == len(nodes)
        for i, (x, y) in enumerate(spots):
            for other_x, other_y in spots[:i]:
                assert abs(x - other_x) >= 20 or abs(y - other_y) >= 20, table
            assert all(spots[j][1] < y for j in nodes[i].above)
        assert len(list(root.iter(f"{name}line"))) == sum(len(node.above) for node in nodes)
        left, top, width, height = map(float, root.get("viewBox").split())
        assert all(left <= x <= left + width and top <= y <= top + height for x, y in spots)
        # Labels of one layer stand beside each other.
        texts = [(float(t.get("x")), float(t.get("y")), t.text) for t in root.iter(f"{name}text")]
        for i, (x, y, text) in enumerate(texts):
            for other_x, other_y, other in texts[:i]:
                if abs(y - other_y) < 8:
                    assert abs(x - other_x) >= (len(text) + len(other)) * 3, (text, other)


def test_names_cannot_get_out_of_the_drawing():
    nasty = ("<script>alert(1)</script>", '"&<b>')
    table = Table(Vocabulary(nasty), (1, 2), objects=("</svg><i>", "x"))
    svg = lattice_svg(lattice_of(table), standalone=True)
    ElementTree.fromstring(svg)
    assert "<script" not in svg and "<i>" not in svg and "<b>" not in svg


def run(*arguments):
    app([str(argument) for argument in arguments], standalone_mode=False)


def test_the_commands(tmp_path, capsys):
    table = Table(Vocabulary(("a", "b")), (1, 2, 2))
    write_table(table, tmp_path / "t.cxt")
    run("concepts", tmp_path / "t.cxt", "--count")
    assert capsys.readouterr().out == "t.cxt: 4 concepts.\n"
    run("concepts", tmp_path / "t.cxt", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert found["complete"] and [c["rows"] for c in found["concepts"]] == [3, 1, 2, 0]
    run("concepts", tmp_path / "t.cxt", "--format", "csv")
    assert capsys.readouterr().out.splitlines()[-1] == "0,a; b"
    run("concepts", tmp_path / "t.cxt", "--format", "svg")
    assert capsys.readouterr().out.startswith("<svg")
    run("envelope", tmp_path / "t.cxt", "--out", tmp_path / "out", "--quiet")
    written = (tmp_path / "out" / "report.html").read_text()
    assert "<svg" in written and "o1" in written
    assert read_page(tmp_path / "out") == (tmp_path / "out" / "report.html", written)
    content = json.loads((tmp_path / "out" / "envelope.json").read_text())
    began = json.loads((tmp_path / "out" / "run.json").read_text())
    assert page("envelope.json", content, began) == written
    assert content["table"]["concepts"] == 4 and content["certificate"]["kind"] == "exact"


def test_too_many_concepts_are_counted_and_not_drawn(tmp_path, capsys):
    table = Table(Vocabulary.numbered(8), tuple(255 ^ 1 << i for i in range(8)))
    write_table(table, tmp_path / "t.cxt")
    with pytest.raises(InputError, match="more than 100 concepts"):
        run("concepts", tmp_path / "t.cxt", "--format", "svg")
    run("envelope", tmp_path / "t.cxt", "--out", tmp_path, "--quiet")
    text = (tmp_path / "report.html").read_text()
    assert re.search("There are\\s+256 concepts: up to 100 can be drawn", text)
    run("envelope", "examples/saturation.cnf", "--out", tmp_path / "formula", "--quiet")
    text = (tmp_path / "formula" / "report.html").read_text()
    assert "saturation.cnf" in text and "<circle" not in text
