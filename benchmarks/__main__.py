"""Run the benchmarks, print the figures, save them as JSON."""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.plan import FULL, QUICK, Case
from hornlens.formats.files import write_file

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small cases only, about a minute")
    parser.add_argument("--only", metavar="NAME", help="the cases of this name")
    parser.add_argument(
        "--out",
        type=Path,
        help="where to save (default: benchmarks/results.json; nowhere, with --quick or --only)",
    )
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run_here(*json.loads(options.case))))
        return
    start = perf_counter()
    out = options.out or (None if options.quick or options.only else RESULTS)
    results: list[dict[str, Any]] = []
    for case in QUICK if options.quick else FULL:
        if options.only in (None, case.name):
            figures = run_apart(case)
            results.append({"case": case.name, "arguments": case.arguments, **figures})
            shown = "  ".join(f"{key} {_shown(value)}" for key, value in figures.items())
            print(f"{case.name} {json.dumps(case.arguments)}: {shown}", flush=True)
            if out is not None:  # after each case, so that a run that is cut off leaves something
                save(out, results)
    if not results:
        parser.error(f"there is no case {options.only!r}")
    print(f"{perf_counter() - start:.0f} s in all")
    if any("error" in result for result in results):
        sys.exit(1)


def save(out: Path, results: list[dict[str, Any]]) -> None:
    machine = {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    write_file(out, json.dumps({"machine": machine, "results": results}, indent=1) + "\n")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def run_here(module: str, name: str, arguments: list[Any]) -> dict[str, Any]:
    """Run a case and add its peak memory."""
    figures: dict[str, Any] = getattr(import_module(f"benchmarks.{module}"), name)(*arguments)
    figures["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return figures


def run_apart(case: Case) -> dict[str, Any]:
    """Run a case in a process of its own, for as long as it may take."""
    asked = json.dumps([case.module, case.name, case.arguments])
    command = [sys.executable, "-m", "benchmarks", "--case", asked]
    with tempfile.TemporaryDirectory() as place:  # what a case that is cut off leaves goes, too
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=case.limit,
                env={**os.environ, "TMPDIR": place},
            )
        except subprocess.TimeoutExpired:
            return {"not_done_within_seconds": case.limit}
    if done.returncode:
        return {"error": (done.stderr.strip() or "no reason given").splitlines()[-1]}
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


main()
