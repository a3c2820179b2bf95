"""Reading and writing: DIMACS, CSV, Burmeister contexts, and the writers of an envelope."""

import csv
import json
import shutil
import subprocess
from contextlib import suppress
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from hornlens.errors import InputError
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.formats.backgrounds import read_background
from hornlens.formats.dimacs import parse_dimacs, read_dimacs, write_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.tables import parse_csv, parse_cxt, read_csv
from hornlens.formats.writers import WRITERS
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import EXACT
from hornlens.logic.cnf import Clause, Cnf
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.results.documents.envelope import envelope_as_json
from tests.targets import KINDS, random_formula


def test_dimacs_is_read_with_its_names():
    formula = parse_dimacs(
        "c a remark of 3 words\nc var 1 the nurse\nc 2 male\np cnf 3 2\n1 -2\n 0 -3 0\n%\n0\n"
    )
    assert formula.vocabulary.names == ("the nurse", "male", "x3")
    assert formula.clauses == (Clause(0b010, 0b001), Clause(0b100, 0))


def test_plain_remarks_that_look_like_names_are_not_taken_for_names():
    text = "c 2 fast\nc 2 furious\nc 99 bottles\np cnf 2 0\n"
    assert parse_dimacs(text).vocabulary.names == ("x1", "x2")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_dimacs_survives_the_round_trip(seed, kind):
    formula, _ = random_formula(seed, kind)
    renamed = Cnf(
        Vocabulary(tuple(f"name {i}" if i % 2 else f"x{i + 1}" for i in range(formula.width))),
        formula.clauses,
    )
    assert parse_dimacs(write_dimacs(renamed)) == renamed


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("p cnf 2 1\n1 3 0\n", 2, "literal 3 is out of range: the header says 2 variables"),
        ("p cnf 2 1\n1 -3 0\n", 2, "literal -3 is out of range"),
        ("p cnf 2 2\n1 0\n", 2, "the header says 2 clauses, found 1"),
        ("p cnf 2 1\n1 0\n2 0\n", 3, "the header says 1 clauses, found 2"),
        ("p cnf 2 2\n1 0\n\n2 1\n", 4, "this clause does not end with 0"),
        ("p cnf 2 1\n1 x 0\n", 2, "'x' is not a literal"),
        ("p cnf 2 1\n1.0 0\n", 2, "'1.0' is not a literal"),
        (f"p cnf 2 1\n{'1' * 5000} 0\n", 2, "is not a literal"),
        (f"p cnf {'1' * 5000} 1\n1 0\n", 1, "the header must read"),
        ("p cnf 20000000 0\n", 1, "more than 100,000 variables"),
        ("p cnf two 1\n1 0\n", 1, "the header must read 'p cnf VARIABLES CLAUSES'"),
        ("p sat 2 1\n1 0\n", 1, "the header must read"),
        ("p cnf -2 1\n1 0\n", 1, "the header must read"),
        ("p cnf 2 1\np cnf 2 1\n1 0\n", 2, "a second 'p cnf' header"),
        ("1 0\np cnf 2 1\n", 1, "expected the header"),
        ("c nothing\n", None, "has no header"),
        ("c var 3 a\np cnf 2 0\n", 1, "a name for variable 3, but the header says 2"),
        ("c var 1 a\nc var 2 a\np cnf 2 0\n", 2, "two variables have the name 'a'"),
        ("c var 1 a\nc var 1 b\np cnf 2 0\n", 2, "a second name for variable 1"),
        ("c var 1 x2\np cnf 2 0\n", None, "two variables have the name 'x2'"),
    ],
)
def test_bad_dimacs_is_refused_with_its_line(text, line, message):
    with pytest.raises(InputError) as raised:
        parse_dimacs(text, "f.cnf")
    assert message in str(raised.value)
    assert raised.value.line == line
    assert str(raised.value).startswith("f.cnf:" if line is None else f"f.cnf:{line}: ")


@pytest.mark.parametrize(
    ("text", "width", "clauses"),
    [("p cnf 0 0\n", 0, 0), ("p cnf 0 1\n0\n", 0, 1), ("p cnf 3 2\n0 1 1 0\n", 3, 2)],
)
def test_small_dimacs_files_are_fine(text, width, clauses):
    formula = parse_dimacs(text)
    assert (formula.width, len(formula.clauses)) == (width, clauses)


def test_csv_tables_are_read():
    table = parse_csv('a,"b, c"\n1,0\n\n 0 , 1\n')
    assert table.vocabulary.names == ("a", "b, c")
    assert table.rows == (1, 2) and table.lines == (2, 4)
    assert parse_csv("a,b\n").rows == ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a,b\n1,2\n", 2, "column 'b': '2' is neither 0 nor 1"),
        ("a,b\n1,\n", 2, "column 'b': '' is neither 0 nor 1"),
        ("a,b\n1,0\n,\n", 3, "column 'a': '' is neither 0 nor 1"),
        ('"a\nb",c\n1,0\n', None, "control character"),
        ("a,b\n1,0\n1\n", 3, "1 cells, but the header has 2 columns"),
        ("a,b\n1,0,1\n", 2, "3 cells, but the header has 2 columns"),
        ("a,a\n1,0\n", 1, "two columns have the name 'a'"),
        ("a,\n1,0\n", 1, "column 2 has no name"),
        ("1,0\n1,0\n", 1, "the first line must name the columns"),
        ('a,b\n"1,0\n', 2, "not a well-formed CSV line"),
    ],
)
def test_bad_csv_is_refused_with_its_line(text, line, message):
    with pytest.raises(InputError) as raised:
        parse_csv(text, "t.csv")
    assert message in str(raised.value) and raised.value.line == line


def test_burmeister_contexts_with_numbers_for_names():
    for text in ("B\n2\n2\n1\n2\na\nb\nX.\n.X\n", "B\n7\n2\n2\n\n1\n2\na\nb\nX.\n.X\n"):
        assert parse_cxt(text).rows == (1, 2)


def test_names_with_odd_spaces_survive_dimacs():
    formula = Cnf(Vocabulary(("a  b", "a b", "c\u202ed")), ())
    assert parse_dimacs(write_dimacs(formula)) == formula


def test_burmeister_contexts_are_read_with_and_without_a_name_line():
    body = "2\n3\n\nsparrow\nbat\nflies\nfeathers\nfur\nXX.\nx.X\n"
    for text in (
        "B\n\n" + body,
        "B\nAnimals\n" + body,
        "B\n" + body,
        "B\n\n" + body.replace("\n\n", "\n"),
    ):
        table = parse_cxt(text)
        assert table.vocabulary.names == ("flies", "feathers", "fur")
        assert table.rows == (0b011, 0b101)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("A\n\n1\n1\n\no\na\nX\n", 1, "starts with a line 'B'"),
        ("B\n\nmany\n1\n\no\na\nX\n", 3, "expected the number of objects"),
        ("B\n\n1\n\n\no\na\nX\n", 4, "expected the number of attributes"),
        ("B\n\n2\n1\n\no\na\nX\n", 8, "ends too early"),
        ("B\n\n1\n2\n\no\na\na\nX.\n", 8, "two attributes have the name 'a'"),
        ("B\n\n1\n1\n\no\na\n0\n", 8, "expected 1 characters, each X or ."),
        ("B\n\n1\n1\n\no\na\nXX\n", 8, "expected 1 characters"),
        ("B\n\n1\n1\n\no\na\nX\nX\n", 9, "more lines than the counts say"),
    ],
)
def test_bad_contexts_are_refused_with_their_line(text, line, message):
    with pytest.raises(InputError) as raised:
        parse_cxt(text, "t.cxt")
    assert message in str(raised.value) and raised.value.line == line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("directory", "is a directory, not a file"),
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"p cnf 1\0", "1: is a binary file, not text"),
        (b"p cnf 1 1\n\xff 0\n", "2: is not UTF-8 text"),
    ],
)
def test_files_that_are_no_text_are_refused(tmp_path, content, message):
    path = tmp_path / "f.cnf"
    if content == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_dimacs(path)
    assert message in str(raised.value)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n1,0\r\n")
    assert read_csv(path).vocabulary.names == ("a", "b")


NAMES = Vocabulary(("nurse", "Male", "50% _\\'", "bottom"))


def sample_envelope() -> Envelope:
    basis = Theory(4, (Rule(0, 0b0001), Rule(0b0011, BOTTOM), Rule(0b0101, 0b1101)))
    space = Space.of_variables(NAMES, (Rule(0b1010, BOTTOM),))
    return Envelope.of(space, basis, support=[5, 0, 2])


def test_the_json_keeps_the_contract():
    content = envelope_as_json(sample_envelope())
    assert list(content) == [
        "hornlens",
        "format",
        "variables",
        "background",
        "rules",
        "readable",
        "non_horn",
        "certificate",
        "claim",
        "statistics",
    ]
    assert content["background"] == [{"if": ["Male", "bottom"], "then": None}]
    assert content["rules"][1] == {
        "if": ["nurse", "Male"],
        "then": None,
        "warrant": {"kind": "proved"},
    }
    assert content["readable"][1] == {
        "if": ["Male"],
        "then": None,
        "support": 0,
        "warrant": {"kind": "proved"},
    }
    assert content["readable"][2] == {
        "if": ["50% _\\'"],
        "then": ["bottom"],
        "support": 2,
        "warrant": {"kind": "proved"},
    }
    assert content["certificate"]["kind"] == "exact"
    assert content["claim"] == EXACT.sentence
    assert json.loads(json_text(content)) == content


def test_csv_latex_and_prolog():
    rows = list(csv.DictReader(StringIO(WRITERS["csv"](sample_envelope()))))
    assert rows[1] == {
        "if": "Male",
        "then": "FALSE",
        "support": "0",
        "canonical_if": "nurse; Male",
        "canonical_then": "FALSE",
    }
    latex = WRITERS["latex"](sample_envelope())
    assert r"$\top$ & $\text{nurse}$ \\" in latex
    assert r"\text{50\% \_\textbackslash{}'}" in latex
    prolog = WRITERS["prolog"](sample_envelope()).splitlines()
    assert prolog[-4:] == [
        "holds(false) :- holds('Male'), holds(bottom).",
        "holds(nurse).",
        "holds(false) :- holds('Male').",
        "holds(bottom) :- holds('50% _\\\\\\'').",
    ]


@pytest.mark.skipif(not shutil.which("swipl"), reason="needs SWI-Prolog (CI installs it)")
def test_prolog_accepts_our_prolog(tmp_path):
    vocabulary = Vocabulary(("a", "b", "halt", "it's"))
    rules = (Rule(1, 2), Rule(2, 1), Rule(0b11, 0b100), Rule(0b1100, BOTTOM))  # a circle, too
    path = tmp_path / "e.pl"
    path.write_text(
        WRITERS["prolog"](Envelope.of(Space.of_variables(vocabulary), Theory(4, rules)))
    )
    goal = "assertz(given(b)), holds(a), holds(halt), \\+ holds(false), \\+ holds('it\\'s')"
    for given, expected in (("true", 0), ("assertz(given('it\\'s'))", 1)):
        done = subprocess.run(
            ["swipl", "-q", "-g", f"({given}, {goal} -> halt(0) ; halt(1))", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (expected, "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_the_dimacs_of_an_envelope_stands_alone(seed, kind):
    formula, _ = random_formula(seed, kind)
    envelope = envelope_of_formula(formula)
    written = parse_dimacs(WRITERS["dimacs"](envelope))
    assert written.is_horn
    assert written.theory().equivalent(envelope.basis)
    assert written.vocabulary == formula.vocabulary


def test_a_background_comes_from_dimacs_or_from_an_envelope(tmp_path):
    vocabulary = Vocabulary(("b", "a", "c"))
    cnf = tmp_path / "bg.cnf"
    cnf.write_text("c var 1 a\nc var 2 b\np cnf 2 2\n-1 2 0\n-1 -2 0\n")
    expected = (Rule(0b010, 0b001), Rule(0b011, BOTTOM))
    assert read_background(cnf, vocabulary).rules == expected
    other = tmp_path / "bg.json"
    other.write_text(
        json.dumps(
            {
                "background": [{"if": ["a"], "then": ["b"]}],
                "rules": [{"if": ["a", "b"], "then": None}],
            }
        )
    )
    assert read_background(other, vocabulary).rules == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bg.cnf", "p cnf 2 1\n1 2 0\n", "a background has to be Horn"),
        ("bg.cnf", "c var 1 z\np cnf 1 1\n-1 0\n", "the target has no variable 'z'"),
        ("bg.json", "{", "1: is not JSON"),
        ("bg.json", "[]", "expected {"),
        ("bg.json", "[" * 100_000, "nesting too deep"),
        ("bg.json", "1" * 5000, "numbers too long"),
        ("bg.json", '{"rules": [{"if": "a", "then": null}]}', "rule 1 is not"),
        ("bg.json", '{"rules": [{"if": ["x1"]}]}', "rule 1 is not"),
        ("bg.json", '{"rules": [{"if": ["q"], "then": null}]}', "the target has no variable 'q'"),
    ],
)
def test_a_bad_background_is_refused(tmp_path, name, content, message):
    path: Path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as raised:
        read_background(path, Vocabulary.numbered(2))
    assert message in str(raised.value) and str(path) in str(raised.value)


def test_support_counts_the_rows_that_a_rule_speaks_of():
    table = Table(Vocabulary(("a", "b")), (0b11, 0b11, 0b10, 0))
    envelope = envelope_of_table(table)
    assert envelope.readable.show(table.vocabulary) == "a → b"
    assert envelope.support == [2]
    assert envelope.non_horn.count == 0


def test_a_row_that_breaks_the_background_is_refused():
    table = parse_csv("a,b\n0,0\n1,1\n")
    with pytest.raises(InputError, match="the row in line 3 breaks the background rule a ∧ b → ⊥"):
        envelope_of_table(table, Theory(2, (Rule(3, BOTTOM),)))


def test_random_bytes_never_raise_anything_but_an_input_error():
    rng = Random(5)
    alphabet = 'pcnf 0123-\n%xX.B,"c var é'
    for _ in range(3000):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 40)))
        for start in ("", "p cnf 2 1\n", "a,b\n", "B\n\n1\n2\n"):
            for parse in (parse_dimacs, parse_csv, parse_cxt):
                with suppress(InputError):
                    parse(start + text)


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        "text",
        1.5,
        None,
        {"a": {"b": {"c": {"d": []}}}},
        [[[["ü", "\u2028", '"', "\\"]], []], {}],
        {"rules": [{"if": ["a"], "then": None, "closest": {"margin": float("-inf")}}] * 3},
        {"12": [(1, (2, (3, 4))), True, False, -0.0]},
    ],
)
def test_json_reads_back_and_is_what_the_plain_writer_means(content):
    text = json_text(content)
    assert text.endswith("\n") and json.loads(text) == json.loads(json.dumps(content))


def test_a_rule_and_an_answer_are_a_line_each():
    rule = {"if": ["a", "b"], "then": None, "closest": {"answer": 1}, "evidence": [1, 2]}
    lines = json_text({"rules": [rule, rule], "settings": {"seed": 0}, "none": []}).splitlines()
    line = json.dumps(rule)
    assert lines == [
        *("{", ' "rules": [', f"  {line},", f"  {line}", " ],"),
        *(' "settings": {"seed": 0},', ' "none": []', "}"),
    ]
