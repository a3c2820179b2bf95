"""The packages import each other in one direction only, and the command starts light.

What the code should have less of is counted, and may only fall: places where a certificate's kind
is compared, names that several modules define, and variables that no noun names.
"""

import subprocess
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools import kinds
from tools.import_graph import BELOW, PAGE, SOURCE, draw, imports, module_of, packages
from tools.size import size, verbs

ALL = {
    *("logic", "formats", "exact", "learning", "oracles", "probes", "models", "store", "results"),
    *("targets", "executors", "extraction", "studies", "pronouns", "report", "verifying", "api"),
    *("classifiers", "exploring", "result", "prompting", "differing", "rewriting", "verification"),
    *("sealing", "repeating"),
}
LATE = {
    *("verifying", "classifiers", "exploring", "result", "api", "prompting", "differing"),
    *("rewriting", "repeating", "verification", "sealing"),
}
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
    "targets": {"logic", "formats", "exact", "learning", "probes", "models", "store", "results"},
    "executors": {"models", "store", "targets"},
    "extraction": {"logic", "exact", "learning", "oracles", "results", "targets"},
    "studies": ALL - LATE - {"studies", "pronouns", "report"},
    "pronouns": ALL - LATE - {"pronouns", "report"},
    "report": {"logic", "formats", "learning", "results", "studies", "pronouns"},
    "verifying": {"formats"},
    "result": {"formats", "results", "report"},
    "classifiers": {
        *("logic", "formats", "exact", "learning", "results", "targets", "report", "result"),
    },
    "sklearn": {"classifiers", "targets"},
    "exploring": ALL - LATE - {"studies", "pronouns", "report"},
    "prompting": ALL - LATE - {"studies", "pronouns"},
    "differing": ALL - {"api", "differing", "rewriting", "repeating", "verification", "sealing"},
    "api": ALL - {"api", "rewriting", "repeating", "verification", "sealing"},
    "rewriting": {"formats", "results", "report", "result", "api"},
    "repeating": ALL - {"repeating", "verification"},
    "sealing": {"formats"},
    "verification": {"formats", "verifying", "rewriting", "repeating", "sealing"},
    "cli": ALL,
    "testing": ALL,
}
"""What each package may import. `api` is a module: the front door, which the command uses too."""
OUTSIDE = {
    "logic": {"numpy"},
    "learning": {"numpy"},
    "verifying": {"numpy", "pysat"},
    "sealing": {"cryptography"},
}
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
        "sys.argv = ['hornlens', 'extract', '-q', '--out', 'out', '--cache', 'c.sqlite']\n"
        "try:\n"
        "    main.main()\n"
        "except SystemExit:\n"
        "    unused = ('onnxruntime', 'tokenizers', 'pysat', 'rich', 'matplotlib', "
        "'hornlens.learning.driver', 'hornlens.learning.envelope', 'hornlens.oracles', "
        "'hornlens.pronouns')\n"
        "    print(*(name for name in unused if name in sys.modules), file=sys.stderr)\n"
    )
    loaded = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        loaded.append(done.stderr.split())
    assert loaded == [["onnxruntime", "tokenizers"], []]


# What may only fall.


COMPARING_KINDS: dict[str, int] = {}
"""Where kinds of certificates are compared outside their own modules, and how often: nowhere."""
VERIFYING_KINDS = {"verifying/claims.py": 7, "verifying/classifying/certificate.py": 2}
"""The same in the checker, which shares no code with what it checks: how it reads format 1."""
SHARED_NAMES = 51
"""How many public functions and classes several modules define."""
VERBS = 218
"""How often a variable, an attribute or a parameter is called `found`, `said` or `told`."""


def test_kinds_of_certificates_are_compared_in_their_own_module():
    """Everybody else asks properties; where that is not so yet, it gets no worse."""
    everything = kinds.places()
    places = [*filter(kinds.is_one, everything)]
    counted, known = Counter(place.file for place in places), COMPARING_KINDS | VERIFYING_KINDS
    more = [place for place in places if counted[place.file] > known.get(place.file, 0)]
    assert not more, "ask a property of the certificate instead: " + "; ".join(
        f"{place.file}:{place.line}: {place.text}" for place in more
    )
    fewer = {file: counted[file] for file, count in known.items() if counted[file] < count}
    assert not fewer, f"this is better than it was: write these numbers into the list: {fewer}"
    for file, texts in kinds.OTHERS.items():  # each is still there
        for text in texts:
            assert any(place.file == file and text in place.text for place in everything), text


@pytest.mark.parametrize(
    "text",
    [
        'x = certificate.kind == "exact"',
        'x = "pac" != line["certificate"]["kind"]',
        'x = kind in ("yes", "bounded")',
        'x = kind not in frozenset({"noisy", "explored"})',
        'STRENGTH = {"exact": 2, "bounded": 1}',
        'FINISHED = ["exact", "interrupted"]',
        'match certificate.kind:\n    case "no" | "budget_exhausted":\n        pass',
        "from hornlens.logic.certificates import Pac as P\nx = isinstance(y, (int, P))",
        "from hornlens.logic.certificates import Pac, Exact\nx = isinstance(y, Pac | Exact)",
        "from hornlens.logic import certificates\nx = isinstance(y, certificates.Noisy)",
        "from hornlens.logic.certificates import Exact\nx = type(y) is Exact",
        "from hornlens.logic.certificates import Exact\nx = y.kind == Exact.kind",
        "from hornlens.logic.certificates import EXACT\nx = y == EXACT",
        "from hornlens.logic.certificates import Exact\nx = y == Exact()",
        "from hornlens.logic.certificates import Exact\nSTRENGTH = {Exact: 2}",
        "from hornlens.logic.certificates import Exact\n"
        "match certificate:\n    case Exact():\n        pass",
    ],
)
def test_a_kind_that_is_compared_is_found_once(text):
    assert len(list(kinds.in_python(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        'x = feature.kind == "whole"',
        'x = array.dtype.kind in "iu"',
        'x = {"exact": exact, "rules": rules}',
        "from typing import Literal\nx: Literal['exact', 'pac']",
        "from hornlens.models.chat.budget import Budget\nx = isinstance(y, Budget)",
        "from hornlens.logic.certificates import Exact\nx = certificate.proved and Exact()",
    ],
)
def test_what_compares_no_kind_is_not_found(text):
    assert not list(kinds.in_python(text))


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ('{% set exact = certificate.kind == "exact" %}', 1),
        ("{% if kind != 'pac' and \"noisy\" == kind %}", 2),
        ('{% if certificate.kind in ("bounded", "interrupted") %}', 1),
        ('if (content.certificate.kind === "exact") {', 1),
        ('switch (kind) { case "pac": break; case "noisy": break; }', 2),
        ('const known = ["exact", "bounded"].includes(kind);', 1),
        ('const known = new Set(["exact", "bounded"]);', 1),
        ("const strength = {exact: 2, bounded: 1};", 1),
        ('{% if feature.kind == "whole" %} exact {{ certificate.kind }}', 0),
        ("const view = {exact: true, rules};", 0),
    ],
)
def test_a_kind_that_a_page_compares_is_found(text, times):
    assert len(list(kinds.in_page(text))) == times


def test_names_that_several_modules_define_get_fewer():
    shared = size().shared
    print(len(shared), "public names in several modules:", *shared)
    assert len(shared) <= SHARED_NAMES, f"one word for one thing: {shared}"
    assert len(shared) == SHARED_NAMES, f"fewer than before: SHARED_NAMES = {len(shared)}"


def test_the_size_of_a_package_is_counted(tmp_path):
    (tmp_path / "a.py").write_text("def one(): ...\nclass Two: ...\ndef _own(): ...\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.py").write_text("async def one(): ...\n\ndef _own(): ...\nTwo = 2\n")
    assert size(tmp_path) == (7, 2, {"one": ["a.py", "b/c.py"]})


def test_variables_are_named_by_nouns():
    counts = verbs()
    print(counts.total(), "variables called found, said or told:", dict(counts))
    assert counts.total() <= VERBS, f"a noun says what it is: {dict(counts)}"
    assert counts.total() == VERBS, f"fewer than before: VERBS = {counts.total()}"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("found = told = 1", 2),
        ("found: int", 1),
        ("found += 1", 1),
        ("a, (b, *said) = c", 1),
        ("for place, found in pairs: ...", 1),
        ("x = [said for said in words if said]", 1),
        ("with open(path) as told: ...", 1),
        ("if (found := search()) is not None: ...", 1),
        ("def f(found, /, said, *, told=None): ...", 3),
        ("f = lambda *found, **said: found", 2),
        ("self.found = self._said = 1", 2),
        ("try: ...\nexcept OSError as said: ...", 1),
        ("match x:\n    case [found, *said] | {'a': found, **said}: ...", 4),
        ("print(found, x.said, told=1)", 0),
        ("x.found[0] = found_files = is_found = 1", 0),
        ("def found(): ...", 0),
    ],
)
def test_variables_that_no_noun_names_are_counted(text, times, tmp_path):
    (tmp_path / "a.py").write_text(text)
    assert verbs(tmp_path).total() == times


TESTS = Path(__file__).parents[1]


def test_the_folders_of_the_tests_mirror_the_packages():
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("test_*.py"))}
    assert folders <= packages | {"api", "project", "browser", "faults"}
    assert packages - folders == {"testing"}  # its suites are the tests of others
    assert not sorted(path.name for path in TESTS.glob("test_*.py"))
