"""Whether what would be released is whole: `python -m tools.dist_check`, or `make dist-check`.

The sdist is built from the project and unpacked; from it alone the wheel is built, installed into a
new virtual environment, and the sdist's own tests of the core are run against that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = (
    *("tests/logic/test_theory.py", "tests/formats/test_formats.py", "tests/api/test_api.py"),
    *("tests/cli/test_cli.py", "tests/cli/test_doctor.py"),
)
"""Quick ones, over all of the core."""
MUST_HAVE = ("hornlens/py.typed", "hornlens/models/data/demo.onnx", "hornlens/__main__.py")


def main() -> int:
    """Build, unpack, build again, install, test."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _run([sys.executable, "-m", "build", "-q", "--sdist", "-o", str(folder), str(ROOT)])
        packed = next(folder.glob("*.tar.gz"))
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        source = folder / packed.name.removesuffix(".tar.gz")
        _run([sys.executable, "-m", "build", "-q", "--wheel", "-o", str(folder), str(source)])
        wheel = next(folder.glob("*.whl"))
        _run([sys.executable, "-m", "twine", "check", "--strict", str(packed), str(wheel)])
        names = zipfile.ZipFile(wheel).namelist()
        missing = [name for name in MUST_HAVE if name not in names]
        if missing:
            print(f"{wheel.name} lacks {', '.join(missing)}", file=sys.stderr)
            return 1
        _run([sys.executable, "-m", "venv", str(folder / "venv")])
        python = str(folder / "venv" / "bin" / "python")
        constraints = ["-c", str(ROOT / "constraints.txt")]
        _run([python, "-m", "pip", "install", "-q", *constraints, f"{wheel}[dev]"])
        _run([python, "-m", "pytest", "-q", *TESTS], cwd=source)
        print(f"{packed.name} and {wheel.name}: built, checked, installed and tested")
    return 0


def _run(words: list[str], cwd: Path | None = None) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(words, check=True, env=quiet, cwd=cwd)


if __name__ == "__main__":
    sys.exit(main())
