"""Example reports: made by the commands that the site shows beside them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CLASSIFIER = """\
import numpy as np
from sklearn.ensemble import RandomForestClassifier
import hornlens

rng = np.random.default_rng(0)
age, income, debts = rng.integers(18, 80, 600), rng.integers(10, 90, 600), rng.integers(0, 4, 600)
granted = (income > 30) & (debts < 2) | (age > 60) & (income > 20)
X = np.column_stack([age, income, debts]).astype(float)
forest = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0).fit(X, granted)
hornlens.explain(forest, X).save("classifier")
"""


class Report(NamedTuple):
    """A report, and what makes it: a command, or else Python."""

    name: str
    title: str
    command: str = ""
    python: str = ""


REPORTS = (
    Report("extraction", "One model, one question", "hornlens extract --out extraction"),
    Report(
        "variants",
        "The same question in eight phrasings",
        "hornlens extract gender-occupation-variants --out variants",
    ),
    Report("classifier", "A classifier: a forest that grants loans", python=CLASSIFIER),
    Report("study", "A study: many runs", "hornlens study examples/study.yaml --out study"),
    Report("balanced", "A second model", "hornlens extract --model demo-balanced --out balanced"),
    Report(
        "comparison",
        "Two models compared",
        "hornlens compare extraction balanced --out comparison",
    ),
    Report("bias", "Bias scores by occupation", "hornlens bias --model demo --out bias"),
    Report(
        "table",
        "The rules and concepts of a table",
        "hornlens envelope examples/animals.csv --out table",
    ),
)


def write_reports(folder: Path) -> str:
    """Run the commands, in their order; keep of each its page. Return the page that lists them."""
    parts = ["# Example reports\n\nEach is one file, and needs no network.\n"]
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "examples").symlink_to(ROOT / "examples")
        for report in REPORTS:
            _run(made, report)
            own = Path(made) / report.name
            for page in own.rglob("*.html"):
                there = folder / report.name / page.relative_to(own)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(page, there)
            language, said = ("sh", report.command) if report.command else ("python", report.python)
            parts.append(
                f"## [{report.title}](reports/{report.name}/report.html)\n\n"
                f"```{language}\n{said.strip()}\n```\n"
            )
    parts.append("## Notebooks\n")
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        to = folder.parent / "notebooks" / notebook.name
        to.parent.mkdir(exist_ok=True)
        shutil.copy(notebook, to)
        title = notebook.stem.replace("-", " ").capitalize()
        parts.append(f"- [{title}](notebooks/{notebook.name}), to be run or read in Jupyter")
    return "\n".join(parts) + "\n"


def _run(made: str, report: Report) -> None:
    words = ["-m", *shlex.split(report.command)] if report.command else ["-c", report.python]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=made,
        env={**os.environ, "HORNLENS_CACHE": str(Path(made) / "answers.sqlite")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{report.name}: {done.stderr.strip()}")
