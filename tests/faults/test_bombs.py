"""Small files that would become huge: refused in a line; the memory of a process is measured."""

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from base64 import b64encode
from itertools import product

import numpy as np
import pytest

import hornlens
from hornlens.formats.digests import KEY, digest_of
from tests.command import hornlens as command_line
from tests.faults.rounds import rounds

MOST = 900 << 20
"""How many bytes a process may have at most; Python with numpy, pandas and polars has 300 MB."""
MEASURE = (
    "import resource, subprocess, sys; "
    "done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
    "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); "
    "print(done.stderr, end='')"
)


def measured(*arguments):
    """Run a command in a process of its own; return its exit code, its line, its peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, sys.executable, "-m", "hornlens", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
        timeout=300,
    )
    first, _, said = done.stdout.partition("\n")
    code, peak = map(int, first.split())
    print(f"peak {peak >> 10} MB, exit code {code}: {arguments[0]}")  # pytest -rP shows it
    return code, said, peak * 1024


def check_refused(*arguments):
    code, said, peak = measured(*arguments)
    assert code == 2, (code, said)
    assert said.count("\n") == 1 and said.startswith("hornlens: "), said
    assert peak < MOST, f"{peak >> 20} MB for {arguments}"
    return said


def zeros(count):
    """Return so many zero bytes, deflated in base 64, without having them all at once."""
    packer, parts, block = zlib.compressobj(9), [], bytes(1 << 24)
    while count > 0:
        parts.append(packer.compress(block[:count]))
        count -= len(block)
    return b64encode(b"".join([*parts, packer.flush()])).decode()


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    rows = np.array([[a, b] for a in range(5) for b in range(5)], dtype=float)
    hornlens.explain(lambda x: x[:, 0] + x[:, 1] > 3, rows).save(folder / "result")
    hornlens.explain(lambda x: x[:, 0] > 3, rows, domain="data").save(folder / "near")
    return folder


@pytest.fixture(scope="module")
def bomb():
    return zeros(1 << 30)


COMMANDS = (("verify",), ("report",), ("check",), ("export", "--format", "prolog"), ("compare",))
BROKEN = ("AAAA", "%%%", "eJzLSM3JyQcABiwCFQ==", 5)


def read_by(command, file, tmp_path):
    """Return the arguments of a command that reads a file."""
    if command[0] == "check":
        requirements = tmp_path / "require.yaml"
        requirements.write_text("forbid: [x0 > 3 -> False]\n")
        return ("check", file, requirements)
    if command[0] == "compare":
        return ("compare", file, file)
    if command[0] == "report":
        return ("report", file, "--out", tmp_path / "r.html")
    return ("export", file, *command[1:]) if command[0] == "export" else (*command, file)


def changed(folder, tmp_path, change, mended=True):
    """Write a changed document; a forger mends its digest, too."""
    content = json.loads((folder / "envelope.json").read_text("utf-8"))
    change(content["classifier"])
    if mended:
        content[KEY] = digest_of(content)
    file = tmp_path / "envelope.json"
    file.write_text(json.dumps(content), "utf-8")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS[: rounds(2, 5)], ids=lambda c: c[0])
@pytest.mark.parametrize("grows", [False, True], ids=["as counted", "more than counted"])
def test_packed_cells_stay_as_small_as_their_counts(explained, bomb, tmp_path, command, grows):
    assert len(bomb) < 3 << 20

    def rows(content):
        content["rows"]["said"] = content["rows"]["cells"] = bomb
        if grows:
            content["rows"]["count"] = 1 << 30

    def cells(content):
        content["cells"]["labels"] = content["cells"]["cells"] = bomb
        if grows:
            content["cells"]["count"] = 1 << 30

    def grid(content):
        content["cells"]["labels"] = bomb
        if grows:
            for feature in content["features"]:
                feature["levels"] = 1 << 15

    for name, change in (("result", rows), ("near", cells), ("result", grid)):
        file = changed(explained / name, tmp_path, change)
        check_refused(*read_by(command, file, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("mended", [True, False], ids=["digest mended", "digest as it was"])
def test_what_is_not_packed_is_refused_by_every_reader(explained, tmp_path, mended):
    for part, broken in product(("rows", "cells"), BROKEN[:: rounds(3, 1)]):

        def change(content, part=part, broken=broken):
            content[part]["said" if part == "rows" else "labels"] = broken

        file = changed(explained / "result", tmp_path, change, mended)
        with pytest.raises(hornlens.HornlensError):
            hornlens.load(file)
        for command in COMMANDS:
            done = command_line(*map(str, read_by(command, file, tmp_path)))
            assert done.returncode == 2, (command, broken, done.stderr)
            assert done.stderr.count("\n") == 1


# --- skops ---


def schema_of(*nodes):
    inner = [dict(node, __id__=at + 5) for at, node in enumerate(nodes)]
    whole = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 1}
    return json.dumps({**whole, "content": inner, "protocol": 2, "_skops_version": "0.16.0"})


ARRAY = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}


def npy(shape, data=b""):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def write_bomb(kind, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        node = {**ARRAY, "type": "numpy", "file": "a.npy"}
        if kind == "one large array":
            with archive.open("a.npy", "w", force_zip64=True) as file:
                file.write(npy(f"({1 << 28},)"))
                for _ in range(128):
                    file.write(bytes(1 << 24))
            archive.writestr("schema.json", schema_of(node))
        elif kind == "one array used often":
            archive.writestr("a.npy", npy(f"({1 << 20},)", bytes(8 << 20)))
            archive.writestr("schema.json", schema_of(*[node] * 400))
        elif kind == "a header that promises":
            archive.writestr("a.npy", npy("(9_000_000_000_000,)".replace("_", ""), bytes(64)))
            archive.writestr("schema.json", schema_of(node))
        elif kind == "a large schema":
            archive.writestr("schema.json", "[" + "[]," * (20 << 20) + "[]]")
        elif kind == "an archive in it":
            from io import BytesIO

            inner = BytesIO()
            with (
                zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as nested,
                nested.open("data.npy", "w", force_zip64=True) as file,
            ):
                file.write(npy(f"({1 << 28},)"))
                for _ in range(128):
                    file.write(bytes(1 << 24))
            archive.writestr("a.npz", inner.getvalue())
            archive.writestr("schema.json", schema_of({**node, "file": "a.npz"}))
        else:
            archive.writestr("schema.json", "[" * 200_000)


KINDS = ("one large array", "one array used often", "a header that promises", "a large schema")
KINDS += ("an archive in it", "deep")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_skops_files_do_not_become_larger_than_their_size_allows(tmp_path, kind):
    pytest.importorskip("skops.io")
    path, table = tmp_path / "model.skops", tmp_path / "rows.csv"
    write_bomb(kind, path)
    assert path.stat().st_size < 4 << 20
    table.write_text("a,b\n1,2\n3,4\n")
    check_refused("explain", path, table)
    check_refused("extract", "--target", f"classifier/{path},{table}", "--out", tmp_path / "o")


# --- tables ---


def write_sheet(path, rows, size=None):
    """Write a workbook whose sheet has these rows, as XML, and says that it has this size."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    begin, end = members[sheet].split(b"</sheetData>")
    if size:
        assert b'ref="A1:B1"' in begin
        begin = begin.replace(b'ref="A1:B1"', b'ref="%s"' % size)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            if name != sheet:
                archive.writestr(name, content)
        with archive.open(sheet, "w", force_zip64=True) as file:
            file.write(begin)
            for row in rows:
                file.write(row)
            file.write(b"</sheetData>" + end)


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, b"A1:XFD1048576"], ids=["says it is small", "says it all"])
@pytest.mark.parametrize("kind", ["long", "wide", "far"])
def test_workbooks_do_not_become_larger_than_their_size_allows(tmp_path, kind, size):
    path = tmp_path / "t.xlsx"
    cell = b'<c r="A%d" t="inlineStr"><is><t>' + b"x" * 4_000 + b"</t></is></c>"
    rows = {
        "long": (b'<row r="%d">' % i + cell % i + b"</row>" for i in range(2, 90_000)),
        "wide": (b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(2, 99_999)),
        "far": iter([b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>']),
    }
    write_sheet(path, rows[kind], size)
    assert path.stat().st_size < 8 << 20
    check_refused("envelope", path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "different texts"])
def test_parquet_does_not_become_larger_than_its_size_allows(tmp_path, kind):
    polars = pytest.importorskip("polars")
    path = tmp_path / "t.parquet"
    if kind == "rows":
        frame = polars.LazyFrame({"a": [1]}).select(polars.lit(1).repeat_by(1 << 27).explode())
        frame.sink_parquet(path)
    else:  # polars itself unpacks them all, 300 MB: only what is made of them is limited
        texts = ["x" * 1_000_000 + str(number) for number in range(300)]
        polars.DataFrame({"a": texts}).write_parquet(path)
    assert path.stat().st_size < 4 << 20
    check_refused("envelope", path)


@pytest.mark.slow
def test_a_long_text_in_every_row_of_parquet_is_kept_once(tmp_path):
    polars = pytest.importorskip("polars")
    path, value = tmp_path / "t.parquet", polars.lit("x" * 1_000_000)
    polars.select(value.repeat_by(5_000).explode().alias("a")).write_parquet(path)
    code, said, peak = measured("envelope", path)
    assert code == 0 and peak < MOST, (code, said, peak >> 20)
