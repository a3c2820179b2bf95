"""How long the command takes to start, against importing what it cannot do without."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

HORNLENS = [sys.executable, "-m", "hornlens"]
LIGHT = "import typer, rich.console"
HEAVY = "import numpy, onnxruntime, tokenizers, typer, rich.console"


def startup(rounds: int) -> dict[str, Any]:
    """The best of some rounds, in which the commands take turns."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        extract = [*HORNLENS, "extract", "--quiet", "--out", str(folder / "out"), "--cache"]
        full = [*extract, str(folder / "full.sqlite")]
        commands = {
            "light_imports": [sys.executable, "-c", LIGHT],
            "help": [*HORNLENS, "--help"],
            "heavy_imports": [sys.executable, "-c", HEAVY],
            "extract_full_cache": full,
        }
        subprocess.run(full, check=True, capture_output=True)
        best: dict[str, float] = {}
        for number in range(rounds):
            commands["extract_empty_cache"] = [*extract, str(folder / f"{number}.sqlite")]
            for name, command in commands.items():
                start = perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                seconds = perf_counter() - start
                best[name] = min(best.get(name, seconds), seconds)
    return {
        "help_over_imports": best["help"] / best["light_imports"],
        "extract_empty_cache_over_imports": best["extract_empty_cache"] / best["heavy_imports"],
        "extract_full_cache_over_imports": best["extract_full_cache"] / best["heavy_imports"],
        **{f"{name}_seconds": seconds for name, seconds in best.items()},
    }
