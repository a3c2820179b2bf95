"""The packages import each other in one direction only, and the command starts light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hornlens"
ORDER = (
    *("logic", "formats", "exact", "learning", "oracles", "probes", "models", "store", "results"),
    *("targets", "extraction", "studies", "pronouns", "report", "cli", "testing"),
)
"""The packages, in the direction of the data: none imports one that stands after it."""
MAY_IMPORT = {
    "logic": set(),
    "formats": {"logic"},
    "exact": {"logic", "formats"},
    "learning": {"logic"},
    "oracles": {"logic", "learning", "exact"},
    "probes": {"logic", "formats"},
    "models": {"formats"},
    "store": set(),
    "results": {"logic", "formats", "exact", "probes", "extraction"},
} | {name: set(ORDER[:at]) for at, name in enumerate(ORDER) if at > ORDER.index("results")}
BELOW = {"hornlens.errors", "hornlens.registry"}
"""Modules that every package may import."""
OUTSIDE = {"logic": {"numpy"}, "learning": set()}
"""What these packages may import beside the standard library."""


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            names.add(node.module or "")
    return names


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_every_package_is_in_the_plan():
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    package = path.relative_to(SOURCE).parts[0]
    if package == "__main__.py":
        return
    if package not in MAY_IMPORT:  # errors.py and its neighbours stand below everything
        assert {name for name in imports(path) if name.startswith("hornlens.")} <= BELOW
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "hornlens" and len(parts) > 1 and name not in BELOW:
            assert parts[1] in MAY_IMPORT[package] | {package}, f"{path} imports {name}"
        elif parts[0] != "hornlens" and package in OUTSIDE:
            allowed = OUTSIDE[package] | set(sys.stdlib_module_names)
            assert parts[0] in allowed, f"{path} imports {name}"


HEAVY = {"numpy", "pysat", "rich.table", "torch", "matplotlib", "jinja2", "onnxruntime"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--help"], "envelope"),
        (["--version"], "hornlens "),
        (["extract", "--help"], "hornlens model list"),
        (["nope"], ""),
    ],
)
def test_help_and_version_load_nothing_heavy(arguments, says):
    code = (
        "import sys\n"
        "from hornlens.cli import main\n"
        "sys.argv = ['hornlens', *sys.argv[1:]]\n"
        "try:\n"
        "    main.main()\n"
        "except SystemExit:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert says in done.stdout and "hornlens.cli.commands" in loaded
    assert not HEAVY & loaded
    groups = {f"hornlens.cli.{name}" for name in ("probe", "cache", "dataset", "model")}
    assert not groups & loaded


def test_importing_the_packages_changes_no_environment():
    code = (
        "import os; before = dict(os.environ)\n"
        "import importlib, pkgutil, hornlens\n"
        "for module in pkgutil.walk_packages(hornlens.__path__, 'hornlens.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "assert os.environ == before, set(os.environ) ^ set(before)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_extraction_whose_answers_are_known_loads_only_what_it_uses(tmp_path):
    code = (
        "import sys\n"
        "from hornlens.cli import main\n"
        "sys.argv = ['hornlens', 'extract', '--out', 'out', '--cache', 'c.sqlite']\n"
        "try:\n"
        "    main.main()\n"
        "except SystemExit:\n"
        "    unused = ('onnxruntime', 'tokenizers', 'pysat', 'rich', 'matplotlib', "
        "'hornlens.learning', 'hornlens.oracles', 'hornlens.pronouns')\n"
        "    print(*(name for name in unused if name in sys.modules), file=sys.stderr)\n"
    )
    loaded = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        loaded.append(done.stderr.split())
    assert loaded == [["onnxruntime", "tokenizers"], []]
