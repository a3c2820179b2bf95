"""Names, descriptions and paths that give orders to terminals go through every command."""

import csv
import json
import os
import re
import sys
from io import StringIO
from random import Random

import pytest

from hornlens.cli import main as command_line
from hornlens.formats.dimacs import write_dimacs
from hornlens.formats.scorefiles import scores_text
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.vocabulary import Vocabulary
from hornlens.probes.loading import load_probe
from tests.command import hornlens
from tests.faults.rounds import rounds

OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What no output has: all controls but the end of a line, marks of direction, halves."""
OUR_COLOURS = re.compile("\x1b\\[[0-9;]*m")
CONTROLS = [
    *("\x1b[2J", "\x1b]0;pwned\x07", "\x1b[31m", "\x00", "\x08\x08", "\r", "\n", "\t", "\x0b"),
    *("\x0c", "\x1c", "\x7f", "\udc80", "\ud83d"),
]
"""What names of variables may not have, and files may."""
ODD = [
    *("\x80", "\x85", "\x9b2J", "\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202e"),
    *("\u202a", "\u2066", "\u2069", "\u206f", "\ufeff", "=1+1", "@x", "-", "'=", "'", '"', "; "),
    *("FALSE", "⊥", "→", "&", "%", "$x$", "\\", "{}", "[/red]", "|", "שלום", "مرحبا", "漢字", "é"),
]
TEXT = [*ODD, *(c for c in CONTROLS if c not in "\x00\udc80\ud83d")]
"""What texts of files may have."""
PLAIN = ["a", "nurse", "b c", "x1", "Ω"]


def odd_text(rng, pieces, most=4):
    """A text of odd pieces and plain ones, with something plain around them."""
    inner = "".join(rng.choice([*pieces, *PLAIN]) for _ in range(rng.randrange(1, most)))
    return rng.choice([f"{inner}q", f"q{inner}q", f"{inner} {rng.random():.3f}"])


def file_name(rng):
    """A name that a file can have."""
    return re.sub("[/\0\ud83d]", "", odd_text(rng, ODD + CONTROLS))


def odd_names(rng, count):
    """Names of variables, no two alike."""
    names = set()
    while len(names) < count:
        names.add(odd_text(rng, ODD).strip())
    return sorted(names)


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs a command in this process, and holds what it prints against `OBEYED`."""

    def run(*arguments, codes=(0,)):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["hornlens", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        shown = capsys.readouterr()
        said = f"{arguments!r}\n{shown.out!r}\n{shown.err!r}"
        assert ended.value.code in codes, said
        for stream in shown:
            assert not OBEYED.search(OUR_COLOURS.sub("", stream)), said
        return shown.out

    return run


def some_probe(rng, folder):
    """A probe full of odd names, with a table of scores for it, in files of odd names."""
    names = odd_names(rng, 11)
    label, *slots = names[:3]
    values = names[3:9]
    probe = {
        "hornlens": 1,
        "name": odd_text(rng, TEXT),
        "description": odd_text(rng, TEXT, 9),
        "templates": [f"It {{s0}} {odd_text(rng, PLAIN)} {{s1}} is {{label}}."],
        "attributes": [
            {"name": f"s{i}", "values": values[3 * i : 3 * i + 3], "unset": f"unset {slot}"}
            for i, slot in enumerate(slots)
        ],
        "label": {
            "name": f"l {label}",
            "values": [{"name": name, "word": f"word{i}"} for i, name in enumerate(names[9:])],
        },
    }
    file = folder / f"{file_name(rng)}.yaml"
    file.write_text(json.dumps(probe), "utf-8")
    question = load_probe(file)
    prompts = {text for cell in question.space.cells() for text in question.render(cell)}
    words = [value.word for value in question.label.values]
    scored = {p: {word: rng.choice([-1.0, -2.5, float("-inf")]) for word in words} for p in prompts}
    scores = folder / f"s{file_name(rng)}.csv"
    scores.write_text(scores_text(words, scored), "utf-8", newline="")
    return file, scores, question


@pytest.mark.parametrize("seed", range(rounds(6, 100)))
def test_probes_and_results_of_others(run, tmp_path, seed, monkeypatch):
    rng = Random(seed)
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "cache.db"))
    if seed % 2:
        monkeypatch.setenv("FORCE_COLOR", "1")
    file, scores, question = some_probe(rng, tmp_path)
    run("probe", "show", file)
    run("probe", "validate", file, codes=(0, 2))
    results = []
    for policy in ("accept", "reject"):
        out = tmp_path / f"{file_name(rng)} {policy}"
        model = ("--model", f"table/{scores}", "--cache", tmp_path / "cache.db")
        run("extract", file, *model, "--abstain", policy, "--out", out)
        results.append(out)
    json.loads(
        run("extract", file, *model, "--out", tmp_path / "json", "--format", "json"),
        parse_constant=pytest.fail,
    )
    for more in ((), ("--format", "json"), ("--out", tmp_path / "both")):
        run("compare", *results, "--name", odd_text(rng, ODD), *more)
    for more in ((), ("--format", "json")):
        run("verify", results[0], *more)
    run("report", results[0])
    run("cache", "list", "--cache", tmp_path / "cache.db")
    first, *_, last = question.space.vocabulary.names
    wanted = [json.dumps(name, ensure_ascii=False) for name in (first, last)]
    because = odd_text(rng, ODD + CONTROLS[:3])
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        json.dumps(
            {
                "hornlens": 1,
                "forbid": [{"rule": " -> ".join(wanted), "because": because}],
                "invariant": ["s0"],
            }
        )
    )
    for form in ("text", "json", "junit", "github"):
        run("check", *results, rules, "--format", form, codes=(0, 1))


@pytest.mark.parametrize("seed", range(rounds(10, 200)))
def test_formulas_and_tables_of_others(run, tmp_path, seed):
    rng = Random(seed)
    names = odd_names(rng, 5)
    clauses = [
        clause_of({v: rng.choice([v, -v]) for v in rng.sample(range(1, 6), 2)}.values())
        for _ in range(4)
    ]
    formula = Cnf(Vocabulary(tuple(names)), tuple(clauses))
    stem = file_name(rng)
    cnf, cxt = tmp_path / f"{stem}.cnf", tmp_path / f"{stem}.cxt"
    cnf.write_text(write_dimacs(formula), "utf-8")
    cxt.write_text(
        "\n".join(["B", "", "2", "5", "", "o1", "o2", *names, "X.X..", ".XX.X"]) + "\n", "utf-8"
    )
    for file in (cnf, cxt):
        for form in ("text", "json", "dimacs", "csv", "latex", "prolog"):
            run("envelope", file, "--format", form)
    for algorithm in ("envelope", "horn"):
        run("learn", cnf, "--trace", "--algorithm", algorithm, codes=(0, 1))
    run("extract", "--target", f"formula/{cnf}", "--out", tmp_path / "out")


@pytest.mark.parametrize("seed", range(rounds(20, 300)))
def test_what_is_wrong_is_said_without_obeying_it(run, tmp_path, seed, monkeypatch):
    rng = Random(seed)
    monkeypatch.chdir(tmp_path)
    text, name = odd_text(rng, ODD + CONTROLS[:-1], 6).replace("\0", ""), file_name(rng)
    good = json.loads(json.dumps({"hornlens": 1, "name": "x", "templates": ["{a} {label}"]}))
    for field in (text, "name", "templates", "attributes", "policy"):
        bad = tmp_path / f"{name}.yaml"
        bad.write_text(json.dumps({**good, field: rng.choice([text, {text: text}, [text]])}))
        run("probe", "show", bad, codes=(2,))
        run("study", bad, "--out", tmp_path / "s", codes=(2,))
        run("check", bad, bad, codes=(2,))
    (tmp_path / f"{name}.json").write_text(json.dumps({"hornlens": text, text: text}))
    for command in ("verify", "report", "compare"):
        files = [tmp_path / f"{name}.json"] * (2 if command == "compare" else 1)
        run(command, *files, codes=(1, 2))
    (tmp_path / f"{name}.csv").write_bytes(f"{text},{text}\n1,{text}\n".encode("utf-8", "replace"))
    run("envelope", tmp_path / f"{name}.csv", codes=(2,))
    run("extract", "--model", f"table/{tmp_path / name}.csv", "--out", tmp_path, codes=(2,))
    run("extract", "--model", text, codes=(2,))
    run("envelope", text, codes=(2,))
    run("envelope", text, "--debug", codes=(2,))
    run(text, codes=(2,))
    run("envelope", f"--{text}", codes=(2,))
    run("extract", "--margin", f"x{text}", codes=(2,))


def test_a_study_and_bias_scores_of_others(tmp_path):
    rng = Random(3)
    file, scores, _ = some_probe(rng, tmp_path)
    plan = {
        "hornlens": 1,
        "name": "st\x1b[2J\u202eudy",
        "description": "\x9b2J\x1b]0;x\x07",
        "probe": file.name,
        "models": [f"table/{scores}"],
        "budgets": [3],
        "runs": 2,
        "samples": 20,
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    people = tmp_path / "people.csv"
    people.write_text(
        "occupation,gender,birth_year\n"
        + "".join(
            f"{job},{gender},19{year}\n"
            for job in ("=1+1", "+x", "@x", "-y")
            for gender in ("male", "female")
            for year in range(10, 20)
        ),
        "utf-8",
    )
    for arguments in (
        ("study", "plan.yaml", "--out", "out\x1b[2J"),
        ("dataset", "import", "people.csv", "--out", "mine"),
        ("dataset", "show", "mine"),
        ("bias", "mine", "--model", "demo", "--out", "b\u202eias"),
    ):
        env = {**os.environ, "HORNLENS_CACHE": str(tmp_path / "c.db")}
        done = hornlens(*arguments, cwd=tmp_path, env=env)
        shown = done.stdout + done.stderr
        print(arguments, done.returncode, ascii(shown))
        assert not OBEYED.search(shown)
        assert done.returncode == 0
    tables = [*tmp_path.glob("out*/**/*.md"), *tmp_path.glob("out*/**/*.tex")]
    assert tables and not [t for t in tables if OBEYED.search(t.read_text("utf-8"))]
    sheets = [
        *tmp_path.glob("out*/tables/*.csv"),
        *tmp_path.glob("b*/*.csv"),
        tmp_path / "mine" / "people.csv",
    ]
    texts = [sheet.read_bytes().decode("utf-8") for sheet in sheets]
    cells = [c for text in texts for row in csv.reader(StringIO(text, newline="")) for c in row]
    assert {"'=1+1", "'+x", "'@x", "'-y"} <= set(cells)
    formulas = [cell for cell in cells if re.match("[=+@\t\r-]", cell)]
    assert not [cell for cell in formulas if not re.fullmatch(r"-[0-9.e-]+|-inf", cell)]
