"""`hornlens check`: results held against a file of requirements."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.formats.files import check_writable, write_file
from hornlens.report.checks import WRITERS
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.checking import check
from hornlens.results.documents.checks import Checked, Checks
from hornlens.results.documents.explanations import find_explanation
from hornlens.results.documents.requirements import Requirements
from hornlens.results.documents.requirements_file import read_requirements
from hornlens.results.documents.saving import read_result


def check_command(results: list[Path], rules: Path, form: str, out: Path | None) -> int:
    """Check every result against the requirements; return the exit code."""
    if out is not None:
        check_writable(out.parent)
    requirements = read_requirements(rules)
    checks = Checks(str(rules), tuple(_checked(path, requirements) for path in results))
    if out is not None:
        write_file(out, WRITERS[form](checks))
    sys.stdout.write(WRITERS["text" if out is not None else form](checks))
    if out is not None:
        Terminal().say(f"As {form}: {out}")
    return int(not checks.passed)


def _checked(path: Path, requirements: Requirements) -> Checked:
    if (of_classifier := find_explanation(path)) is not None:
        from hornlens.classifiers.checking import check_explanation
        from hornlens.classifiers.loading import load_explanation

        return check_explanation(load_explanation(*of_classifier), requirements, str(path))
    return check(read_result(path), requirements, str(path))
