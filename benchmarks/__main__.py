"""Run the benchmarks, print a table, save JSON."""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import CASES, FULL, QUICK

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small cases only, about a minute")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        name, arguments = json.loads(options.case)
        figures = CASES[name](*arguments)
        figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(figures))
        return
    results = []
    for name, arguments, limit in QUICK if options.quick else FULL:
        figures = run_case(name, arguments, limit)
        results.append({"case": name, "arguments": arguments, **figures})
        shown = "  ".join(
            f"{key} {value:,.2f}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
        print(f"{name:15} {arguments!s:16} {shown}", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(f"saved to benchmarks/{RESULTS.name}")
    if any("error" in result for result in results):
        sys.exit(1)


def run_case(name: str, arguments: tuple[int, ...], limit: float) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks", "--case", json.dumps([name, arguments])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"not_done_within_seconds": limit}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    figures: dict[str, object] = json.loads(done.stdout)
    return figures


main()
