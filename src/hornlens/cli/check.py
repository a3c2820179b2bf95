"""`hornlens check`: results held against a file of requirements."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.api import load
from hornlens.formats.files import check_writable, write_file
from hornlens.report.checks import WRITERS
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.checking import check
from hornlens.results.documents.checks import Checks
from hornlens.results.documents.requirements_file import read_requirements


def check_command(results: list[Path], rules: Path, form: str, out: Path | None) -> int:
    """Check every result against the requirements; return the exit code."""
    if out is not None:
        check_writable(out.parent)
    requirements = read_requirements(rules)
    checks = Checks(
        str(rules), tuple(check(load(path), requirements, str(path)) for path in results)
    )
    if out is not None:
        write_file(out, WRITERS[form](checks))
    sys.stdout.write(WRITERS["text" if out is not None else form](checks))
    if out is not None:
        Terminal().say(f"As {form}: {out}")
    return int(not checks.passed)
