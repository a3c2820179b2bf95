"""Other people's packages: wheels written by hand, and environments they are installed into."""

import os
import subprocess
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import hornlens


def wheel(
    folder: Path, name: str, entries: str, module: str, group: str = "hornlens.models"
) -> Path:
    """Write a wheel by hand: a module, its metadata, and its entry points."""
    info = f"{name}-1.2.dist-info"
    files = {
        f"{name}_module.py": module,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[{group}]\n{entries}\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
    return path


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees this one's packages, and has a folder to work in."""

    place: Path

    @classmethod
    def make(cls, place: Path) -> "Environment":
        """Create it, with pip."""
        venv.create(place / "venv", with_pip=True)
        paths = {"base": str(place / "venv"), "platbase": str(place / "venv")}
        site = Path(sysconfig.get_path("purelib", vars=paths))
        seen = [str(Path(hornlens.__file__).parents[1]), sysconfig.get_path("purelib")]
        (site / "here.pth").write_text("\n".join(seen) + "\n")
        return cls(place)

    def run(self, *arguments: object, fails: bool = False) -> str:
        """Run `python -m …` in it; return what it prints, or what it complains of."""
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        clean["HORNLENS_CACHE"] = str(self.place / "c.sqlite")
        done = subprocess.run(
            [str(self.place / "venv" / "bin" / "python"), "-m", *map(str, arguments)],
            cwd=self.place,
            env=clean,
            capture_output=True,
            text=True,
        )
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr if fails else done.stdout

    def pip(self, *arguments: object) -> None:
        """Run pip, which asks nobody."""
        self.run("pip", "--disable-pip-version-check", "--no-cache-dir", *arguments)

    def install(self, package: Path) -> None:
        """Install a wheel, and nothing else."""
        self.pip("install", "--no-deps", "--no-index", package)
