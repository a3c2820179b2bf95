"""Do what docs/start.md says, line by line, as somebody would who has only the wheel.

`python -m tools.newcomer`, or `make newcomer`: the wheel is built and installed into a new virtual
environment; every command of the page is run in an empty folder, and its Python session in a new
process. What they print has to be what the page says.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "start.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Install the wheel, follow the page, and say where it is not true."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        wheel = _built(folder / "dist")
        python = _installed(folder / "venv", wheel)
        home = folder / "home"
        home.mkdir()
        shutil.copytree(ROOT / "examples", home / "examples")  # a clone has them
        wrong = [line for block in _blocks() for line in _followed(*block, python, home)]
    for line in wrong:
        print(line, file=sys.stderr)
    commands = sum(body.count("$ ") for _, body in _blocks())
    print(f"{PAGE.name}: {commands} commands, {len(wrong)} not as the page says")
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


def _blocks() -> list[tuple[str, str]]:
    text = PAGE.read_text(encoding="utf-8")
    return [(name, body) for name, body in FENCE.findall(text) if name in ("console", "pycon")]


def _followed(language: str, body: str, python: Path, home: Path) -> list[str]:
    """Return where a block of the page is not true."""
    places = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(home), "COLUMNS": "120"}
    if language == "pycon":
        (home / "session.txt").write_text(body, encoding="utf-8")
        words = [str(python), "-m", "doctest", "session.txt"]
        done = subprocess.run(words, cwd=home, env=places, capture_output=True, text=True)
        return [f"the Python session:\n{done.stdout}{done.stderr}"] if done.returncode else []
    wrong = []
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            shlex.split(command), cwd=home, env=places, capture_output=True, text=True
        )
        got = (done.stdout + done.stderr).splitlines()
        wanted = expected.strip().splitlines()
        cut = wanted.index("…") if "…" in wanted else None
        if done.returncode or got[: len(wanted) if cut is None else cut] != wanted[:cut]:
            wrong.append(f"$ {command} (exit {done.returncode})\n" + "\n".join(got[:10]))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
