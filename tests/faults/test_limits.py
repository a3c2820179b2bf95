"""What is large costs what it is: 2 GB and 20 seconds of CPU at most, or a line says why not."""

import os
import resource
import subprocess
import sys

import pytest

from tests.faults.rounds import rounds

MEMORY, SECONDS = 2 << 30, 20


def limited(arguments, folder, seconds=SECONDS):
    """Run a command under the limits, its threads' stacks and all."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return subprocess.run(
        [sys.executable, "-m", "hornlens", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def write_probe(folder, values: int, labels: int) -> None:
    names, words = [f"v{i}" for i in range(values)], [f"w{i}" for i in range(labels)]
    label = ", ".join(f"{{name: l{i}, word: {word}}}" for i, word in enumerate(words))
    (folder / "probe.yaml").write_text(
        'hornlens: 1\nname: wide\ntemplates: ["{thing} is {label}."]\nattributes:\n'
        f"  - {{name: thing, unset: it, values: [{', '.join(names)}]}}\n"
        f"label: {{name: said, values: [{label}]}}\n"
    )
    lines = [
        ",".join([f"{name} is [MASK].", *(str(-1 - (i * 7 + j) % labels) for j in range(labels))])
        for i, name in enumerate(["it", *names])
    ]
    (folder / "scores.csv").write_text("\n".join([",".join(["prompt", *words]), *lines]) + "\n")


MANY = rounds(5_000, 30_000)


@pytest.mark.parametrize(("values", "labels"), [(MANY, 2), (3, MANY)])
def test_attributes_and_labels_of_thousands_of_values(tmp_path, values, labels):
    write_probe(tmp_path, values, labels)
    done = limited(
        ["extract", "probe.yaml", "--model", "table/scores.csv", "--no-cache", "--out", "out"],
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "envelope.json").read_text()
    assert text.count('"at_most_one"') == 2
    again = limited(["report", "out"], tmp_path)
    assert again.returncode == 0, again.stderr


def test_variables_that_do_not_occur_cost_nothing(tmp_path):
    (tmp_path / "a.cnf").write_text("p cnf 100000 2\n1 2 0\n-3 100000 0\n")
    done = limited(["envelope", "a.cnf"], tmp_path)
    assert done.returncode == 0 and "x3 → x100000" in done.stdout, done


def write_context(path, rows: list[str]) -> None:
    names = [f"a{i}" for i in range(len(rows[0]))]
    objects = [f"o{i}" for i in range(len(rows))]
    lines = ["B", "", str(len(rows)), str(len(names)), "", *objects, *names, *rows]
    path.write_text("\n".join(lines) + "\n")


def test_a_context_of_60_000_attributes_is_solved_by_those_that_differ(tmp_path):
    rows = [("." * row + "X" + "." * (299 - row)) * 200 for row in range(8)]
    write_context(tmp_path / "a.cxt", rows)
    done = limited(["envelope", "a.cxt", "--format", "json"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"support"') == 60_000 + 8 * 7 // 2


def test_a_context_whose_rules_are_too_many_to_write_is_refused_in_a_line(tmp_path):
    write_context(tmp_path / "a.cxt", ["X." * 30_000])
    done = limited(["envelope", "a.cxt", "-q"], tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "60,000 columns" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["probe", "show", "p.yaml"], {"p.yaml": "hornlens: 1\nname: 0x" + "f" * 3_600}),
        (["probe", "show", "p.yaml"], {"p.yaml": "hornlens: 1\nname: " + ":".join(["59"] * 3_000)}),
        (["envelope", "t.csv"], {"t.csv": "a,b\n1," + "0" * 140_000 + "\n"}),
        (["extract", "--model", "table/t.csv"], {"t.csv": "prompt,he\n" + "a" * 140_000 + ",1\n"}),
        (["extract", "--batch-size", "²"], {}),
        (["extract", "--batch-size", "0"], {}),
        (
            [
                *("extract", "p.yaml", "--equivalence", "exhaustive", "--limit", "2000000000000"),
                *("--model", "table/t.csv"),
            ],
            {
                "t.csv": "prompt,a,b\n",
                "p.yaml": "hornlens: 1\nname: many\ntemplates: ['"
                + " ".join(f"{{x{i}}}" for i in range(40))
                + " {label}']\nattributes:\n"
                + "".join(f"  - {{name: x{i}, unset: u, values: [v{i}]}}\n" for i in range(40))
                + "label: {name: y, values: [{name: a, word: a}, {name: b, word: b}]}\n",
            },
        ),
    ],
)
def test_what_ended_in_a_traceback_ends_in_a_line(tmp_path, arguments, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = limited(arguments, tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr[-2_000:]
