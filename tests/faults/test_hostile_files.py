"""Files that others read: hostile names go in, and come out of real readers as they were."""

import csv
import json
import math
import shutil
import subprocess
from io import StringIO
from random import Random

import pytest

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows, csv_text, named_cells, rule_of_cells
from hornlens.formats.dimacs import parse_dimacs, write_dimacs
from hornlens.formats.files import read_text, write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.scorefiles import parse_scores, scores_text
from hornlens.formats.writers import WRITERS
from hornlens.logic.bits import BOTTOM
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.protocol import ModelError
from hornlens.models.table import TableModel
from hornlens.report.tables import Table
from tests.faults.rounds import rounds
from tests.faults.test_hostile_text import CONTROLS, OBEYED, ODD, PLAIN, odd_names

TEXT = [*ODD, *PLAIN, *(c for c in CONTROLS if c not in "\x00\udc80\ud83d"), "\r\n", ",", "=", "+"]


def _formulas(cells):
    return [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")]


def any_text(rng, pieces=TEXT):
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(4)))


def test_tables_read_back_and_hold_no_formulas(tmp_path):
    for seed in range(rounds(200, 20_000)):
        rng = Random(seed)
        width = rng.randrange(2, 4)
        lines = [[any_text(rng) for _ in range(width)] for _ in range(3)]
        write_file(tmp_path / "t.csv", csv_text(lines[0], lines[1:]))
        text = (tmp_path / "t.csv").read_bytes().decode("utf-8")
        assert [cells for _, cells in csv_rows(text)] == lines, seed
        seen = [cell for row in csv.reader(StringIO(text, newline="")) for cell in row]
        assert len(seen) == 3 * width and not _formulas(seen), (seed, seen)


def test_numbers_stay_numbers():
    rows = [[-1.5, "-1.5", "+3", "-inf", "-1e-05", -2], ["-1+1", "'-1", "''=", "'tis", "-", "1-"]]
    text = csv_text(list("abcdef"), rows)
    assert text.split("\n")[1:3] == [
        "-1.5,-1.5,+3,-inf,-1e-05,-2",
        "'-1+1,''-1,'''=,'tis,'-,1-",
    ]
    assert [cells for _, cells in csv_rows(text)][1:] == [[*map(str, row)] for row in rows]
    assert [*csv_rows("=1+1,'=1+1\n")] == [(1, ["=1+1", "=1+1"])]  # as older files have it


def test_rules_read_back_from_their_cells():
    for seed in range(rounds(200, 20_000)):
        rng = Random(seed)
        names = odd_names(rng, 4)
        left, right = rng.sample(names, rng.randrange(3)), rng.sample(names, rng.randrange(1, 3))
        rule = NamedRule(tuple(left), rng.choice([None, tuple(right), ("FALSE",)]))
        cells = named_cells(rule)
        assert rule_of_cells(*cells) == rule, (seed, cells)
        assert not OBEYED.search("".join(cells)), (seed, cells)


def test_cells_of_older_files_are_read():
    assert rule_of_cells("nurse; a b", "FALSE") == NamedRule(("nurse", "a b"), None)
    assert rule_of_cells("", 'a "b"; c;d') == NamedRule((), ('a "b"', "c;d"))
    assert rule_of_cells('"a', "b") == NamedRule(('"a',), ("b",))
    for bad in ('"a"b', '"\\x"'):
        with pytest.raises(InputError, match="not the names of a rule"):
            rule_of_cells(bad, "a")


def test_scores_read_back(tmp_path):
    for seed in range(rounds(100, 10_000)):
        rng = Random(seed)
        words = list(dict.fromkeys([any_text(rng) or "w", "prompt", "=x"]))
        scored = {
            any_text(rng): {
                w: rng.choice([-1.5, -math.inf, 1e-300]) for w in words if rng.random() < 0.9
            }
            for _ in range(4)
        }
        path = tmp_path / "scores.csv"
        write_file(path, scores_text(words, scored))
        assert parse_scores(read_text(path), path) == (words, scored, None), seed
        model = TableModel(path)
        model.check(words)
        whole = [prompt for prompt, scores in scored.items() if len(scores) == len(words)]
        for batch in model.score(whole, words):
            for index, answer in batch:
                assert answer.scores == tuple(scored[whole[index]][word] for word in words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompt,a,a\nx,1,2\n", ":1: two columns have the name 'a'"),
        ("prompt,a\nx,1\ny,1,2\n", ":3: 3 cells, but the header has 2 columns"),
        ("prompt,a\nx,1\n\ny\n", ":4: 1 cells, but the header has 2 columns"),
        ("prompt,prompt\nx,y\n", ":2: scores must be numbers"),
        ("prompt,a\nx,nan\n", ":2: a score is not a number"),
        ("prompt,a\nx,1\nx,2\n", ":3: a second row for this prompt"),
        ('prompt,a\nx,1\n"y"z,2\n', ":3: not a well-formed CSV line"),
        ("prompt,a\n" + "x" * 200_000 + ",1\n", ":2: not a well-formed CSV line"),
    ],
)
def test_what_is_wrong_with_scores_is_said_with_its_line(tmp_path, text, message):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        TableModel(path).check(["a"])
    assert f"{path}{message}" in str(caught.value)


def test_formulas_read_back_with_their_names(tmp_path):
    for seed in range(rounds(200, 20_000)):
        rng = Random(seed)
        formula = Cnf(Vocabulary(tuple(odd_names(rng, 3))), (clause_of([1, -2]), clause_of([3])))
        path = tmp_path / "f.cnf"
        write_file(path, write_dimacs(formula, ("a remark",)))
        text = read_text(path)
        assert parse_dimacs(text) == formula, seed
        assert not OBEYED.search(text), (seed, text)


def test_a_name_of_older_files_is_kept_with_its_quotes():
    assert parse_dimacs('c var 1 "a"\np cnf 1 0\n').vocabulary.names == ('"a"',)
    with pytest.raises(InputError, match=r":1: .* is not a name in quotes, as JSON has it"):
        parse_dimacs('c quoted 1 "\\x"\np cnf 1 0\n', "f.cnf")


def test_json_is_json_and_shows_nothing_that_is_obeyed(tmp_path):
    for seed in range(rounds(100, 10_000)):
        rng = Random(seed)
        texts = [*TEXT, *CONTROLS, "Infinity", "-Infinity, NaN", '\\"Infinity']
        content = {
            any_text(rng, texts) or "x": [any_text(rng, texts), [math.inf, -math.inf, -1.5, {}]]
            for _ in range(4)
        }
        path = tmp_path / "c.json"
        write_file(path, json_text(content))
        text = path.read_text("utf-8")
        assert not OBEYED.search(text), (seed, text)
        back = json.loads(text, parse_constant=pytest.fail)
        assert back == _paired(content), seed


def _paired(content):
    """Two halves of a character side by side are that character: JSON has no way to say else."""
    if isinstance(content, str):
        return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if isinstance(content, list):
        return [_paired(each) for each in content]
    if isinstance(content, dict):
        return {_paired(key): _paired(value) for key, value in content.items()}
    return content


def test_what_is_no_number_is_null():
    assert json.loads(json_text([math.nan, "NaN"])) == [None, "NaN"]


def envelope(names):
    """Rules that have all names: each is the next, and the first two never meet."""
    rules = [Rule(1 << i, 1 << (i + 1)) for i in range(1, len(names) - 1)] + [Rule(3, BOTTOM)]
    vocabulary = Vocabulary(tuple(names))
    return Envelope.of(Space.of_variables(vocabulary), Theory(len(names), tuple(rules)))


@pytest.mark.skipif(not shutil.which("swipl"), reason="needs SWI-Prolog (CI installs it)")
@pytest.mark.parametrize("seed", range(rounds(4, 100)))
def test_prolog_runs_with_hostile_names(seed, tmp_path):
    names = odd_names(Random(seed), 30)
    path = tmp_path / "e.pl"
    write_file(path, WRITERS["prolog"](envelope(names)))
    assert not OBEYED.search(path.read_text("utf-8"))
    # What follows from the second name is all that comes after it, name by name, to the letter.
    second = ", ".join(str(ord(c)) for c in names[1])
    goal = (
        f"atom_codes(N, [{second}]), assertz(given(N)), "
        "forall(holds(X), (atom_codes(X, C), print(C), nl)), halt"
    )
    done = subprocess.run(
        ["swipl", "-q", "-g", goal, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
    )
    assert done.stderr == ""
    found = {"".join(map(chr, json.loads(line))) for line in done.stdout.splitlines()}
    assert found == set(names[1:])


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdfLaTeX (CI installs it)")
@pytest.mark.parametrize("seed", range(rounds(2, 100)))
def test_latex_compiles_with_hostile_names(seed, tmp_path):
    rng = Random(seed)
    latin = [piece for piece in ODD if piece not in ("שלום", "مرحبا", "漢字")]
    names = sorted({f"{rng.choice(latin)}{rng.choice(latin)}{i}" for i in range(40)})
    signs = [*"¬∧∨→⊤⊥≤≥≠∞×±εδ−…–“”’°", "a\n\nb", "\\end{table}", "^^41", "$$", "%", "#1", "~"]
    table = Table(
        *("t", "\\input{x} " + "".join(signs), tuple(names[:3])),
        tuple((sign, i, NamedRule((names[i],), None)) for i, sign in enumerate(signs)),
    )
    body = [WRITERS["latex"](envelope(names)), table.latex()]
    (tmp_path / "e.tex").write_text(
        "\\documentclass{article}\\usepackage{amsmath,booktabs}\\begin{document}\n"
        + "\n\n".join(body)
        + "\n\\end{document}\n",
        "utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "e.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-1500:]
    assert (tmp_path / "e.pdf").stat().st_size > 1000
