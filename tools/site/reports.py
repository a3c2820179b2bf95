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


class Report(NamedTuple):
    """A report, and the command that makes it; `{out}` is its folder, `{NAME}` another's."""

    name: str
    title: str
    command: str

    @property
    def said(self) -> str:
        """The command as people would type it."""
        return self.command.replace("{out}", self.name).replace("{", "").replace("}", "")


REPORTS = (
    Report("extraction", "One model, one question", "hornlens extract --out {out}"),
    Report(
        "variants",
        "The same question in eight phrasings",
        "hornlens extract gender-occupation-variants --out {out}",
    ),
    Report("study", "A study: many runs", "hornlens study examples/study.yaml --out {out}"),
    Report("balanced", "A second model", "hornlens extract --model demo-balanced --out {out}"),
    Report(
        "comparison",
        "Two models compared",
        "hornlens compare {extraction} {balanced} --out {out}",
    ),
    Report("bias", "Bias scores by occupation", "hornlens bias --model demo --out {out}"),
)


def write_reports(folder: Path) -> None:
    """Run the commands, in their order; keep of each what its page is."""
    with tempfile.TemporaryDirectory() as made:
        names = {report.name: report.name for report in REPORTS}
        (Path(made) / "examples").symlink_to(ROOT / "examples")
        for report in REPORTS:
            words = shlex.split(report.command.format(out=report.name, **names))
            done = subprocess.run(
                [sys.executable, "-m", *words, "--quiet"]
                if words[1] != "compare"
                else [sys.executable, "-m", *words],
                cwd=made,
                env={**os.environ, "HORNLENS_CACHE": str(Path(made) / "answers.sqlite")},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise SystemExit(f"{report.said}: {done.stderr.strip()}")
            to = folder / report.name
            to.mkdir(parents=True)
            for page in (Path(made) / report.name).rglob("*.html"):
                there = to / page.relative_to(Path(made) / report.name)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(page, there)
