"""`python -m tools.golden write FILE`, `python -m tools.golden compare FILE`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small models are fitted sooner by one thread

import hornlens
from tools.golden.cases import all_cases
from tools.golden.comparison import compare, read_golden, write_golden

SHOWN = 20


def main(arguments: list[str] | None = None) -> int:
    """Write or compare; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.golden", description=__doc__)
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX", help="some keys")
    parser.add_argument("--contexts", type=Path, metavar="DIR", help="tables and contexts, too")
    parser.add_argument("--slow", action="store_true", help="also contexts that take minutes")
    parser.add_argument("--live", action="store_true", help="also SmolLM2 itself, if installed")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case (write)")
    parser.add_argument(
        "--texts", type=int, default=2_000, metavar="BYTES", help="keep texts below this (write)"
    )
    given = parser.parse_args(arguments)
    every = all_cases(given.contexts, given.slow, given.live)
    cases = (case for case in every if _wanted(case.key, given.only))
    if given.command == "write":
        count = write_golden(given.file, cases, given.every, given.texts)
        print(f"{given.file}: {count:,} texts")
        return 0
    print(f"the rules of {Path(hornlens.__file__).parent}")
    golden = read_golden(given.file, given.only)
    if given.contexts is None:
        golden = golden.without("contexts/")
    if not given.live:
        golden = golden.without("live/")
    done = compare(golden, cases)
    for line in done.shown(SHOWN):
        print(line)
    return 0 if done.same else 1


def _wanted(key: str, prefixes: list[str]) -> bool:
    return not prefixes or key.startswith(tuple(prefixes))


if __name__ == "__main__":
    sys.exit(main())
