"""How long the command takes to start, against importing what it cannot do without."""

import os
import pty
import resource
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # as hornlens does: the bare import is to be no slower
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
HORNLENS = [sys.executable, "-m", "hornlens"]
LIGHT = "import typer, rich.console"
HEAVY = "import numpy, onnxruntime, tokenizers, typer, rich.console"

RUN = "from hornlens.__main__ import main; main()"
WITHOUT = {
    "gc_threshold": "import gc; gc.set_threshold = lambda *_: None",
    "gc_freeze": "import gc; gc.freeze = lambda: None",
    "pydantic_plugins_off": "import os; os.environ['PYDANTIC_DISABLE_PLUGINS'] = ''",
    "lazy_commands": "from hornlens.cli import app; "
    "made = [app._made(name) for name in (*app.COMMANDS, *app.GROUPS)]",
}
"""What undoes each trick of `hornlens.cli.main` and `hornlens.cli.app`."""


def startup(rounds: int) -> dict[str, Any]:
    """The best of some rounds, in which the commands take turns.

    On a terminal there is a progress bar, too, and a table with borders.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        extract = [*HORNLENS, "extract", "--out", str(folder / "out"), "--cache"]
        full = [*extract, str(folder / "full.sqlite")]
        commands = {
            "light_imports": [sys.executable, "-c", LIGHT],
            "help": [*HORNLENS, "--help"],
            "heavy_imports": [sys.executable, "-c", HEAVY],
            "extract_full_cache": full,
            "extract_full_cache_on_a_terminal": full,
        }
        subprocess.run(full, check=True, capture_output=True)
        best: dict[str, tuple[float, float]] = {}
        for number in range(rounds):
            commands["extract_empty_cache"] = [*extract, str(folder / f"{number}.sqlite")]
            for name, command in commands.items():
                taken = seconds(command, terminal=name.endswith("terminal"))
                best[name] = tuple(map(min, taken, best.get(name, taken)))
    figures: dict[str, Any] = {}
    for name, imports in (
        ("help", "light_imports"),
        ("extract_empty_cache", "heavy_imports"),
        ("extract_full_cache", "heavy_imports"),
        ("extract_full_cache_on_a_terminal", "heavy_imports"),
    ):
        wall, cpu = (a / b for a, b in zip(best[name], best[imports], strict=True))
        figures |= {f"{name}_over_imports": wall, f"{name}_over_imports_cpu": cpu}
    return figures | {f"{name}_seconds": wall for name, (wall, _) in best.items()}


def tricks(rounds: int) -> dict[str, Any]:
    """What each trick of starting buys: the processor time without it, over that with all.

    Medians of some rounds, in which all take turns; 1 would say that a trick can go.
    """
    with tempfile.TemporaryDirectory() as place:
        full = ["extract", "--out", f"{place}/out", "--cache", f"{place}/full.sqlite"]
        commands = {"help": ["--help"], "extract_full_cache": full}
        taken: dict[tuple[str, str], list[float]] = {}
        quietly([*HORNLENS, *full])
        for _ in range(rounds):
            for name, arguments in commands.items():
                for trick, without in {"all": "", **WITHOUT}.items():
                    code = f"import sys; sys.argv[0] = 'hornlens'; {without}\n{RUN}"
                    cpu = seconds([sys.executable, "-c", code, *arguments])[1]
                    taken.setdefault((name, trick), []).append(cpu)
    return {
        f"{name}_without_{trick}": median(taken[name, trick]) / median(taken[name, "all"])
        for name in commands
        for trick in WITHOUT
    }


def seconds(command: list[str], terminal: bool = False) -> tuple[float, float]:
    """Return the wall and the processor seconds of a command."""
    wall, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    (on_a_terminal if terminal else quietly)(command)
    wall, after = perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def quietly(command: list[str]) -> None:
    """Run a command whose output nobody looks at."""
    subprocess.run(command, check=True, capture_output=True)


def on_a_terminal(command: list[str]) -> None:
    """Run a command as if someone were looking on."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm-256color"}
    )
    os.close(theirs)
    with suppress(OSError):  # that is how a terminal says that the other side is gone
        while os.read(ours, 1 << 16):
            pass
    os.close(ours)
    if process.wait():
        raise subprocess.CalledProcessError(process.returncode, command)
