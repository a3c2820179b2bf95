"""What commands write, and what they print."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hornlens.cli.app import app

JOBS = "extract inputs/jobs.yaml --model table/inputs/scores.csv"
FORMULA = "extract --target formula/inputs/formula.cnf"
COMMANDS = {
    "exact": f"{JOBS} --cache answers.sqlite --out exact",
    "bounded": f"{JOBS} --no-cache --max-conditions 2 --out bounded",
    "supported": f"{JOBS} --no-cache --max-conditions 2 --min-support 2 --out supported",
    "almost": f"{JOBS} --no-cache --min-confidence 0.6 --detail 2 --out almost",
    "margin": f"{JOBS} --no-cache --margin 1 --label-unset reject --out margin",
    "max-rules": f"{JOBS} --no-cache --max-rules 2 --out max-rules",
    "pac": f"{JOBS} --no-cache --equivalence pac --epsilon 0.3 --delta 0.3 --out pac",
    "pac-formula": f"{FORMULA} --equivalence pac --epsilon 0.3 --delta 0.3 --out pac-formula",
    "budget": f"{JOBS} --no-cache --equivalence budget --max-equivalence-queries 2 --out budget",
    "phrasings": "extract inputs/phrasings.yaml --model table/inputs/scores.csv --no-cache "
    "--out phrasings",
    "rows": "extract --target table/inputs/animals.csv --out rows",
    "table": "envelope inputs/animals.csv --out table",
    "scaled": "envelope inputs/people.csv --label answer --min-support 2 --out scaled",
    "table-ended": "envelope inputs/people.csv --max-rules 3 --out table-ended",
    "study": "study inputs/study.yaml --jobs 1 --cache answers.sqlite --out study",
    "compared": "compare exact bounded phrasings --ignore-differences --out compared",
    "bias": "bias --model demo --min-people 70000 --no-cache --out bias",
}
"""What writes a folder of its own, by the folder's name."""
PRINTED = {
    "formula.json": "envelope inputs/formula.cnf --format json",
    "formula-bounded.json": "envelope inputs/formula.cnf --max-conditions 1 --format json",
    "formula-ended.json": "envelope inputs/formula.cnf --max-rules 2 --format json",
    "context.json": "envelope inputs/animals.cxt --format json",
    "people.json": "envelope inputs/people.csv --label answer --format json",
    "learned.json": "learn inputs/formula.cnf --format json",
    "check.json": "check exact pac inputs/rules.yaml --format json",
    "explored/table.json": "explore inputs/animals.yaml --expert table/inputs/animals.csv "
    "--session explored/table.exploration.json --format json",
    "explored/person.json": "explore inputs/animals.yaml "
    "--session explored/person.exploration.json --format json",
}
"""What is printed, by the file that keeps it."""
TYPED = (
    *("no sparrow: feathers, flies, eggs", "no dog: -", "?", "no bat: ?eggs", "yes"),
    *("no trout: swims, eggs", "yes", *["??"] * 20),
)
"""What a person answers who is asked."""


class Printed(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    text: str


def run(command: str, typed: Sequence[str] = ()) -> Printed:
    """Run a command in the present folder."""
    shown, before = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO("".join(f"{line}\n" for line in typed))
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            code = app(shlex.split(command), standalone_mode=False)
    finally:
        sys.stdin = before
    return Printed(code or 0, shown.getvalue())


def write_by_commands() -> dict[str, str]:
    """Let all commands write, in the present folder; return how each result was made."""
    for name, command in COMMANDS.items():
        Path(name).mkdir()
        run(command)
    Path("explored").mkdir()
    for name, command in PRINTED.items():
        printed = run(command, TYPED if "person" in name else ())
        Path(name).write_text(printed.text, encoding="utf-8")
    made = {name: f"hornlens {command}" for name, command in COMMANDS.items()}
    return made | {name: f"hornlens {command} > {name}" for name, command in PRINTED.items()}
