"""Exact bases of tables: random ones that grow, public contexts, and peers beside us in one run.

HORNLENS_CONTEXTS names a folder of .cxt files; HORNLENS_CASPAILLEUR the Python of an environment
that has caspailleur (`make bench` makes one); HORNLENS_LINCBO a program that takes a .cxt file and
computes its basis. What is not named is left out. caspailleur's rules are those that some row has
the left side of, as is its default; ours are all. Limits are of CPU time, so that who else uses the
machine changes little.
"""

import math
import os
import resource
import signal
import subprocess
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from hornlens.exact.envelopes import envelope_of_table
from hornlens.formats.contexts import write_cxt
from hornlens.formats.tables import read_cxt
from hornlens.limits import Limits
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary

PEER = """
import sys, time
import pandas
import caspailleur
lines = open(sys.argv[1]).read().split("\\n")
rows, columns = int(lines[2]), int(lines[3])
names = lines[5 + rows : 5 + rows + columns]
cells = [[mark in "xX" for mark in line] for line in lines[5 + rows + columns :][:rows]]
table = pandas.DataFrame(cells, columns=names)
start = time.process_time()
wanted = ["premise", "conclusion"]
found = caspailleur.mine_implications(table, "Canonical", to_compute=wanted)
print(len(found), time.process_time() - start)
"""


def table_growth(rows: int, columns: int, density: float) -> dict[str, Any]:
    """The exact basis of a random table, beside caspailleur's if it is named."""
    rng = Random(0)
    drawn = tuple(sum((rng.random() < density) << i for i in range(columns)) for _ in range(rows))
    table = Table(Vocabulary.numbered(columns), drawn)
    figures = _ours(table, 100.0)
    path = Path(os.environ.get("TMPDIR", "/tmp")) / "growth.cxt"
    path.write_text(write_cxt(table))
    return figures | _caspailleur(path, 30.0)


def contexts(limit: float) -> dict[str, Any]:
    """Each context of a folder: our seconds and rules, and those of the peers that are named."""
    folder = os.environ.get("HORNLENS_CONTEXTS")
    figures: dict[str, Any] = {"contexts": 0}
    for path in sorted(Path(folder).glob("*.cxt")) if folder else ():
        found = _ours(read_cxt(path), limit) | _lincbo(path, limit) | _caspailleur(path, limit)
        figures |= {f"{path.stem}.{name}": value for name, value in found.items()}
        figures["contexts"] += 1
    return figures


def _ours(table: Table, limit: float) -> dict[str, Any]:
    start = process_time()
    found = envelope_of_table(table, limits=Limits(limit, clock=process_time))
    kind = found.certificate.kind
    figures = {"seconds": process_time() - start, "rules": len(found.basis)}
    return figures if kind == "exact" else {**figures, "certificate": kind}


def _caspailleur(path: Path, limit: float) -> dict[str, Any]:
    python = os.environ.get("HORNLENS_CASPAILLEUR")
    if not python:
        return {}
    try:
        done = _run_within([python, "-c", PEER, str(path)], limit)
        if done.returncode == -signal.SIGXCPU:
            return {"caspailleur_not_done_within_seconds": limit}
        rules, seconds = done.stdout.split()[-2:]
    except (OSError, ValueError):
        return {"caspailleur_failed": True}
    return {"caspailleur_seconds": float(seconds), "caspailleur_rules": int(rules)}


def _run_within(command: list[str], limit: float) -> "subprocess.CompletedProcess[str]":
    """Run a program for so many seconds of CPU; past them, SIGXCPU ends it."""
    most = (math.ceil(limit), math.ceil(limit) + 5)
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, most),
    )


def _lincbo(path: Path, limit: float) -> dict[str, Any]:
    program = os.environ.get("HORNLENS_LINCBO")
    if not program:
        return {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = _run_within([program, str(path)], limit)
    except OSError:
        return {"lincbo_failed": True}
    if done.returncode == -signal.SIGXCPU:
        return {"lincbo_not_done_within_seconds": limit}
    if done.returncode:
        return {"lincbo_failed": True}
    return {"lincbo_seconds": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before}
