"""All readers in a process of their own, which the system ends where it takes too much.

`python -m tests.faults.reading` reads lines of [kind, number, path] and answers each with a line.
An address space of 2 GB, and 20 seconds of CPU for each file: a process that needs more is killed,
or gets a MemoryError, which nobody may take for the file's fault.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

import typer

MEMORY, SECONDS = 2 << 30, 20


def _probe(path):
    from hornlens.probes.loading import load_probe

    probe = load_probe(path)
    for wording in probe.wordings:
        assert wording
    return probe.space.background, next(probe.space.cells()), probe.prompt_count


def _plan(path):
    from hornlens.studies.plan import load_plan

    return load_plan(path)


def _requirements(path):
    from hornlens.results.documents.requirements_file import read_requirements

    return read_requirements(path)


def _result(path):
    import hornlens

    result = hornlens.load(path.parent)
    return result.warnings, result.rules.csv(), result.rates, result.findings()


def _table(path):
    from hornlens.exact.envelopes import envelope_of_table
    from hornlens.formats.tables import read_csv, read_cxt

    read = read_csv if path.suffix == ".csv" else read_cxt
    return envelope_of_table(read(path))


def _formula(path):
    from hornlens.exact.envelopes import envelope_of_formula
    from hornlens.formats.dimacs import read_dimacs

    return envelope_of_formula(read_dimacs(path))


def _background(path):
    from hornlens.formats.backgrounds import read_background
    from hornlens.formats.dimacs import read_dimacs

    return read_background(path, read_dimacs(path.with_name("formula.cnf")).vocabulary)


def _verify(path):
    from hornlens.verification import verify

    return verify(path.parent)


def _page(path):
    from hornlens.report.page import read_page

    return read_page(path.parent)


def _envelope_as_background(path):
    import hornlens
    from hornlens.formats.backgrounds import read_background

    return read_background(path, hornlens.load(path.parent).envelope.vocabulary)


def _model(path):
    from hornlens.models.table import TableModel
    from tests.faults import small

    model = TableModel(path)
    model.check(["he", "she"])
    return list(model.score(small.prompts(), ["he", "she"]))


def _compare(path):
    from hornlens.api import compare

    return compare([path.parent, path.parents[1] / "other"])


def _check(path):
    return _checked(path.parent, path.parents[1] / "rules.yaml")


def _check_by(path):
    return _checked(path.parent / "out", path)


def _checked(result, rules):
    from hornlens.cli.commands.verifying import check

    with suppress(typer.Exit):
        check([result], rules)


def _people(path):
    from hornlens.pronouns.dataset import load_dataset

    return load_dataset(path.parent)


READERS = {
    "probe": ("probe.yaml", [_probe]),
    "study": ("study.yaml", [_plan]),
    "requirements": ("rules.yaml", [_requirements, _check_by]),
    "csv": ("table.csv", [_table]),
    "cxt": ("context.cxt", [_table]),
    "dimacs": ("formula.cnf", [_formula]),
    "background": ("horn.cnf", [_background]),
    "envelope": (
        "out/envelope.json",
        [_result, _page, _verify, _compare, _check, _envelope_as_background],
    ),
    "run": ("out/run.json", [_result, _page]),
    "scores": ("out/scores.csv", [_result, _model]),
    "comparison": ("compared/comparison.json", [_page]),
    "study document": ("studied/study.json", [_page]),
    "times": ("studied/times.json", [_page]),
    "bias": ("scored/bias.json", [_page]),
    "about people": ("people/dataset.json", [_people]),
    "people": ("people/people.csv", [_people]),
    "people's probe": ("people/probe.yaml", [_people]),
}


class Reader:
    """Reads files in a process with limits; a new one where the last was ended."""

    def __init__(self):
        self.process = None

    def read(self, kind: str, number: int, path: Path) -> tuple[str, str]:
        """Return "value", "told" with the error, or what else happened, with what is known."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.reading"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        self.process.stdin.write(json.dumps([kind, number, str(path)]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            return tuple(json.loads(line))
        code = self.process.wait()
        self.close()
        return "ended", f"by signal {-code}: too much time (27) or memory" if code else "by itself"

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None


def _serve() -> None:
    from hornlens.errors import HornlensError

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # whatever it is doing, in C as well
    out, sys.stdout = os.dup(1), open(os.devnull, "w")  # noqa: SIM115
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        kind, number, path = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            READERS[kind][1][number](Path(path))
            answer = "value", ""
        except HornlensError as error:
            answer = "told", str(error)
        except BaseException:
            answer = "failed", traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.write(out, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    _serve()
