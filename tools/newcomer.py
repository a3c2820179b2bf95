"""Do what docs/start.md says, line by line, as somebody would who has only the wheel.

`python -m tools.newcomer`, or `make newcomer`: the wheel is built and installed into a new virtual
environment; every command of the page is run in an empty folder, and its Python session in a new
process. What they print has to be what the page says.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.sessions import as_told, blocks, commands

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "start.md"


def main() -> int:
    """Install the wheel, follow the page, and say where it is not true."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        wheel = _built(folder / "dist")
        python = _installed(folder / "venv", wheel)
        home = folder / "home"
        home.mkdir()
        shutil.copytree(ROOT / "examples", home / "examples")  # a clone has them
        wrong = _followed(python, home)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{PAGE.name}: {len(commands(PAGE))} commands, {len(wrong)} not as the page says")
    return 1 if wrong else 0


def _built(folder: Path) -> Path:
    _run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)])
    return next(folder.glob("*.whl"))


def _installed(folder: Path, wheel: Path) -> Path:
    """Return the Python of a new environment that has the wheel and what it needs for the page."""
    _run([sys.executable, "-m", "venv", str(folder)])
    python = folder / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    _run([str(python), "-m", "pip", "install", "-q", "-c", constraints, f"{wheel}[demo]"])
    return python


def _run(words: list[str]) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(words, check=True, env=quiet)


def _followed(python: Path, home: Path) -> list[str]:
    """Return where the page is not true."""
    places = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(home), "COLUMNS": "120"}
    wrong = []
    for command, expected in commands(PAGE):
        done = subprocess.run(
            shlex.split(command), cwd=home, env=places, capture_output=True, text=True
        )
        got, wanted = as_told(done.stdout + done.stderr, expected)
        if done.returncode or got != wanted:
            wrong.append(f"$ {command} (exit {done.returncode})\n" + "\n".join(got[:10]))
    (home / "session.txt").write_text("\n".join(blocks(PAGE, "pycon")), encoding="utf-8")
    words = [str(python), "-m", "doctest", "session.txt"]
    done = subprocess.run(words, cwd=home, env=places, capture_output=True, text=True)
    return [*wrong, f"the Python session:\n{done.stdout}"] if done.returncode else wrong


if __name__ == "__main__":
    sys.exit(main())
