"""The packages import each other in one direction only, and the command starts light."""

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tools.import_graph import BELOW, PAGE, SOURCE, draw, imports, module_of, packages

ALL = {
    *("logic", "formats", "exact", "learning", "oracles", "probes", "models", "store", "results"),
    *("targets", "executors", "extraction", "studies", "pronouns", "report", "verifying", "api"),
    *("classifiers", "exploring"),
}
LATE = {"verifying", "classifiers", "exploring", "api"}
MAY_IMPORT = {
    "logic": set(),
    "formats": {"logic"},
    "exact": {"logic"},
    "learning": {"logic"},
    "oracles": {"logic", "learning", "exact"},
    "probes": {"logic", "formats"},
    "models": {"formats"},
    "store": set(),
    "results": {"logic", "formats", "exact"},
    "targets": {"logic", "formats", "probes", "models", "store", "results"},
    "executors": {"models", "store", "targets"},
    "extraction": {"logic", "exact", "learning", "oracles", "results", "targets"},
    "studies": ALL - LATE - {"studies", "pronouns", "report"},
    "pronouns": ALL - LATE - {"pronouns", "report"},
    "report": {"logic", "formats", "learning", "results", "studies", "pronouns"},
    "verifying": {"formats"},
    "classifiers": {"logic", "formats", "exact", "results", "report"},
    "sklearn": {"classifiers"},
    "exploring": ALL - LATE - {"studies", "pronouns", "report"},
    "api": ALL - {"api"},
    "cli": ALL,
    "testing": ALL,
}
"""What each package may import. `api` is a module: the front door, which the command uses too."""
OUTSIDE = {"logic": {"numpy"}, "learning": set(), "verifying": {"pysat"}}
"""What these packages may import beside the standard library."""
FILES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def ours(module, **options):
    """The modules of ours that one imports."""
    return {name for name in imports(FILES[module], **options) if name in FILES} - {"hornlens"}


def test_imports_go_one_way():
    found = packages()
    assert set(found) == {*MAY_IMPORT, *BELOW}
    for package, imported in found.items():
        assert imported <= MAY_IMPORT.get(package, set()), package
    for module in BELOW:
        assert {name.split(".")[1] for name in ours(f"hornlens.{module}")} <= BELOW


@pytest.mark.parametrize("package", OUTSIDE)
def test_the_core_needs_little_from_outside(package):
    allowed = OUTSIDE[package] | {"hornlens", *sys.stdlib_module_names}
    for path in (SOURCE / package).rglob("*.py"):
        assert {name.split(".")[0] for name in imports(path)} <= allowed, path


def test_no_module_imports_itself_in_a_circle():
    """Not inside a package either, and not by an import inside a function."""
    graph = {module: ours(module, for_types=False) - {module} for module in FILES}
    graph["hornlens"] = set()  # it imports what it is asked for
    for module, names in graph.items():  # a name of a package is no import of all its modules
        names -= {name for name in names if FILES[name].name == "__init__.py"} - {"hornlens"}
        names.discard(module)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {error.args[1]}")


def test_the_map_in_the_docs_is_drawn_from_the_code():
    assert draw() in PAGE.read_text(encoding="utf-8"), "run: python tools/import_graph.py"


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
    """All but what needs scikit-learn, which sets variables of its own where it is imported."""
    code = (
        "import os; before = dict(os.environ)\n"
        "import importlib, pkgutil, hornlens\n"
        "for module in pkgutil.walk_packages(hornlens.__path__, 'hornlens.'):\n"
        "    if not module.name.endswith(('__main__', 'hornlens.sklearn')): "
        "importlib.import_module(module.name)\n"
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
        "'hornlens.learning.driver', "
        "'hornlens.learning.protocol', 'hornlens.oracles', 'hornlens.pronouns')\n"
        "    print(*(name for name in unused if name in sys.modules), file=sys.stderr)\n"
    )
    loaded = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        loaded.append(done.stderr.split())
    assert loaded == [["onnxruntime", "tokenizers"], []]
