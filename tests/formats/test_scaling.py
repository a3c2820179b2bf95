"""Tables of values: how columns are scaled, contexts in other programs' formats, other bases."""

import json
from random import Random

import pytest

from hornlens.errors import InputError
from hornlens.exact.bases import in_basis
from hornlens.exact.bounded import bounded_envelope_of_table
from hornlens.exact.envelopes import envelope_of_table
from hornlens.formats import values
from hornlens.formats.anytables import open_table
from hornlens.formats.contexts import READERS, WRITERS, write_table
from hornlens.formats.fca import without_bottom, write_conexp, write_fcar
from hornlens.formats.scaling import parse_scales, scaled
from hornlens.formats.values import parse_values
from hornlens.logic.bits import BOTTOM
from hornlens.logic.ordered import Ordered
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.command import hornlens

PEOPLE = """name,age,size,member,class
ann,25,small,1,a
bob,31,large,0,b
cid,62,,0,b
dan,40,medium,1,a
eve,?,large,1,b
fay,19,small,1,a
gil,33,large,0,b
hal,71,medium,0,b
ida,55,large,0,b
"""


def test_columns_have_sensible_defaults():
    found = scaled(parse_values(PEOPLE), label="class")
    assert found.said == (
        "name: left out",
        "age: intervals, cut at 30, 40, 60",
        "size: nominal, 3 values",
        "member: 0/1",
        "class: the label, 2 values",
    )
    names = found.space.vocabulary.names
    assert names[:2] == ("age ≥ 30", "age ≥ 40") and names[-3:] == ("member", "class=a", "class=b")
    ann, eve = (found.space.vocabulary.names_of(found.table.rows[i]) for i in (0, 4))
    assert ann == ("age < 30", "age < 40", "age < 60", "size=small", "member", "class=a")
    assert eve == ("size=large", "member", "class=b")
    assert all(row in found.space for row in found.table.rows)


def test_scales_of_ones_own():
    given = ["age=interval:18,65", "size=ordinal:small<medium<large", "member=nominal"]
    asked = parse_scales([*given, "name=nominal", "class=binary:a"])
    found = scaled(parse_values(PEOPLE), asked)
    assert found.said[1:] == (
        "age: intervals, cut at 18, 65",
        "size: ordinal, small < medium < large",
        "member: nominal, 2 values",
        "class: 0/1",
    )
    assert isinstance(found.space.attributes[2], Ordered)
    assert "size ≥ medium" in found.space.vocabulary.names_of(found.table.rows[1])


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        (["age"], "is not COLUMN=KIND"),
        (["age=magic"], "is not COLUMN=KIND"),
        (["age=nominal", "age=drop"], "stands there twice"),
        (["old=nominal"], "there is no column 'old'"),
        (["size=interval:3"], "'small' is no number"),
        (["age=interval:x"], "'x' is no number"),
        (["age=quantiles:0"], "is no number of bins"),
        (["size=ordinal"], "say their order"),
        (["size=ordinal:small<large"], "'medium' is not among the levels"),
        (["size=binary"], "'small' is neither 0 nor 1"),
        (["size=binary:huge"], "no cell is 'huge'"),
        (["size=nominal:3"], "takes nothing behind a colon"),
    ],
)
def test_bad_scales_are_refused_in_a_line(tmp_path, scales, message):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    with pytest.raises(InputError, match=message) as caught:
        open_table(path, scales)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(10))
def test_rules_of_values_hold_and_are_all_relative_to_the_scales(seed, monkeypatch):
    rng = Random(seed)
    for _ in range(20):
        rows = [
            f"{rng.choice(['x', 'y', ''])},{rng.choice(['1', '2', '3', ''])},{rng.randint(0, 1)}"
            for _ in range(rng.randint(1, 7))
        ]
        found = scaled(parse_values("w,n,b\n" + "\n".join(rows) + "\n"), {})
        domain = list(found.space)
        expected = brute.dg(list(found.table.rows), domain)
        for limit in (1 << 20, 1):
            monkeypatch.setattr("hornlens.exact.envelopes.GRID_LIMIT", limit)
            envelope = envelope_of_table(found.table, space=found.space)
            assert brute.pairs(envelope.basis) == expected, rows


def test_an_interval_is_one_condition_of_short_rules(monkeypatch):
    found = scaled(parse_values(PEOPLE), parse_scales(["name=drop"]), "class")
    short = bounded_envelope_of_table(found.table, 1, space=found.space)
    assert all(len(found.space.conditions(r.antecedent)) <= 1 for r in short.readable)
    monkeypatch.setattr("hornlens.exact.bounded.GRID_LIMIT", 1)
    with pytest.raises(InputError, match="too many combinations"):
        bounded_envelope_of_table(found.table, 1, space=found.space)


@pytest.mark.parametrize("ending", sorted(WRITERS))
def test_contexts_survive_the_round_trip(tmp_path, ending):
    rng = Random(1)
    table = Table(Vocabulary(("1", "2", "3")), (7, *(rng.getrandbits(3) for _ in range(9))))
    path = tmp_path / f"c{ending}"
    write_table(table, path)
    again = open_table(path).table
    assert again.vocabulary == table.vocabulary and again.rows == table.rows


def test_other_json_and_transactions(tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"objects": ["o"], "attributes": ["a", "b"], "incidence": [[0, 1]]}')
    assert open_table(path).table.rows == (0b10,)
    path = tmp_path / "c.dat"
    path.write_text("10 2\n\n2 x\n")
    table = open_table(path).table
    assert table.vocabulary.names == ("2", "10", "x") and table.rows == (0b011, 0, 0b101)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.json", "{", "is not JSON"),
        ("c.json", "[]", "expected"),
        ("c.json", '{"attributes": ["a"]}', "neither"),
        ("c.json", '{"attributes": ["a", "a"], "incidence": []}', "two attributes"),
        ("c.json", '{"attributes": [[1]], "incidence": []}', "must be text"),
        ("c.json", '{"attributes": ["a"], "incidence": [[2]]}', "0 or 1"),
        ("c.json", '{"attributes": ["a"], "adjacency-list": [3]}', "an object is not"),
        ("c.json", '{"attributes": ["a"], "adjacency-list": [{"attributes": ["b"]}]}', "no attrib"),
        ("c.dat", " \n \n", "is empty"),
        ("c.ctx", "A\n", "starts with a line 'B'"),
        ("c.csv", "a,b\n1\n", "c.csv:2: 1 cells"),
        ("c.parquet", "nonsense", "pandas|cannot be read"),
        ("c.xyz", "1", "unknown kind of table"),
    ],
)
def test_malformed_files_are_refused_in_a_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        open_table(path)
    assert "\n" not in str(caught.value)


def excel(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def test_parquet_and_excel_are_read_like_csv(tmp_path):
    """By each library that can; a whole number stays one, an empty cell says nothing."""
    polars = pytest.importorskip("polars")
    rows = [
        ("age", "size", "member"),
        (30, "small", True),
        (None, "large", False),
        (41, None, True),
    ]
    columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
    polars.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    excel(tmp_path / "t.xlsx", rows)
    (tmp_path / "t.csv").write_text("age,size,member\n30,small,1\n,large,0\n41,,1\n")
    scales = ["age=interval:35", "size=nominal", "member=binary"]
    opened = [
        open_table(tmp_path / f"t{ending}", scales) for ending in (".csv", ".parquet", ".xlsx")
    ]
    assert {each.table.rows for each in opened} == {opened[0].table.rows}
    assert {each.table.vocabulary for each in opened} == {opened[0].table.vocabulary}
    by_pandas = values._by("pandas")(tmp_path / "t.xlsx")
    assert by_pandas == values._by_openpyxl(tmp_path / "t.xlsx")


def test_what_is_needed_to_read_a_file_is_named(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(values, "import_module", missing)
    for ending, said in ((".parquet", "tables"), (".xlsx", "tables"), (".xls", "xlrd")):
        (tmp_path / f"t{ending}").write_bytes(b"x")
        with pytest.raises(InputError, match=said):
            open_table(tmp_path / f"t{ending}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", b"a,b\n1\n"),
        ("c.csv", b"\xff\xfe\x00"),
        ("c.cxt", b"B\n\n2\n1\n\no1\no2\na\nX\n"),
        ("c.ctx", b"B\n\nmany\n"),
        ("c.dat", b"\x00\x01"),
        ("c.json", b'{"attributes": 3}'),
        ("c.parquet", b"PAR1 nonsense"),
        ("c.xlsx", b"PK nonsense"),
        ("c.xlsx", None),
        ("c.xls", b"nonsense"),
        ("c.cnf", b"p cnf x y\n"),
    ],
)
def test_malformed_files_through_the_command_are_one_line_and_exit_2(tmp_path, name, content):
    path = tmp_path / name
    if content is None:
        excel(path, [])
    else:
        path.write_bytes(content)
    done = hornlens("envelope", path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith(f"hornlens: {path}:") and done.stderr.count("\n") == 1, (
        done.stderr
    )


def test_a_context_has_nothing_to_scale(tmp_path):
    path = tmp_path / "c.dat"
    path.write_text("1 2\n")
    with pytest.raises(InputError, match="no values to scale"):
        open_table(path, ["1=nominal"])
    with pytest.raises(InputError, match="unknown kind"):
        write_table(open_table(path).table, tmp_path / "c.txt")
    with pytest.raises(InputError, match="takes one line"):
        write_table(Table(Vocabulary((" a",)), (1,)), tmp_path / "c.cxt")
    assert sorted(READERS) == [".ctx", ".cxt", ".dat", ".json"]


@pytest.mark.parametrize("seed", range(10))
def test_every_basis_says_the_same(seed):
    rng = Random(seed)
    for _ in range(20):
        width = rng.randint(1, 6)
        rows = tuple(rng.getrandbits(width) for _ in range(rng.randint(0, 6)))
        table = Table(Vocabulary.numbered(width), rows)
        envelope = envelope_of_table(table)
        for basis in ("readable", "canonical", "unit", "direct"):
            other = in_basis(envelope, basis, table)
            assert other.readable.equivalent(envelope.basis), (rows, basis)
            assert len(other.support) == len(other.readable)
            if basis == "unit":
                assert all(r.is_negative or r.new.bit_count() == 1 for r in other.readable)
        # With all variables closed, the basis of the table and a row that has all of them.
        full = (1 << width) - 1
        closed = without_bottom(envelope.basis)
        assert brute.pairs(closed) == brute.dg([*rows, full], range(1 << width)), rows


def test_text_that_others_know():
    table = Table(Vocabulary(("a", "b", "c")), (0b011, 0b001))
    envelope = envelope_of_table(table)
    assert write_conexp(envelope) == "1 < 2 > { } ==> a;\n2 < 0 > c ==> a b;\n"
    assert write_fcar(envelope) == (
        "Implication set with 2 implications.\nRule 1: {} -> {a}\nRule 2: {c} -> {a, b}\n"
    )
    assert any(rule.consequent == BOTTOM for rule in envelope.readable)


def test_the_command(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    arguments = ["envelope", str(path), "--label", "class", "--scale", "age=interval:35"]
    content = json.loads(hornlens(*arguments, "--format", "json", "--basis", "unit").stdout)
    assert content["basis"]["kind"] == "unit" and content["certificate"]["kind"] == "exact"
    assert all(len(r["then"] or [""]) == 1 for r in content["basis"]["rules"])
    assert any(len(r["then"] or [""]) > 1 for r in content["readable"])
    assert "-> {" in hornlens(*arguments, "--format", "fcar", "--closed-top").stdout
    assert "age: intervals, cut at 35" in " ".join(hornlens(*arguments).stdout.split())
    made = hornlens("convert", str(path), str(tmp_path / "p.cxt"), "--scale", "age=drop")
    assert made.returncode == 0 and open_table(tmp_path / "p.cxt").table.rows
    refused = hornlens("envelope", str(path), "--scale", "age")
    assert refused.returncode == 2 and "COLUMN=KIND" in refused.stderr
