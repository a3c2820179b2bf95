"""The promised namespaces: what they hold, how they are imported, and that no page teaches more."""

import ast
import doctest
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hornlens
from hornlens.namespaces import NAMESPACES, lazy_names
from tests.api.test_api import python
from tools.sessions import FENCE

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
LAZY = [name for name in NAMESPACES if name not in ("hornlens.logging", "hornlens.sklearn")]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
INSIDE = {"architecture.md"}
"""Pages for people who change Hornlens itself."""


def file_of(name):
    path = SOURCE / name.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


# What a namespace holds.


@pytest.mark.parametrize("name", LAZY[1:])
def test_type_checkers_see_the_names_that_are_imported_when_asked_for(name):
    tree = ast.parse(file_of(name).read_text(encoding="utf-8"))
    (fork,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (line.module.removeprefix("hornlens."), each.name)
        for line in fork.body
        for each in line.names
    }
    # `import x as x` is how a module says that it hands a name on.
    assert all(each.asname == each.name for line in fork.body for each in line.names)
    table = ast.literal_eval(next(n.value for n in fork.orelse if isinstance(n, ast.Assign)))
    assert seen == {(module, each) for module, names in table.items() for each in names.split()}
    assert [each for _, each in sorted(seen, key=lambda pair: pair[1])] == importlib.import_module(
        name
    ).__all__


@pytest.mark.parametrize("name", NAMESPACES)
def test_every_name_is_there_and_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__ and module.__all__ == sorted(set(module.__all__))
    for each in module.__all__:
        value = getattr(module, each)
        assert value is getattr(module, each), each
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__module__.startswith("hornlens.") and value.__doc__, each
    assert {*module.__all__} <= {*dir(module)}


@pytest.mark.parametrize("name", [name for name in LAZY if file_of(name).stem == "__init__"])
def test_no_name_is_that_of_a_module_inside(name):
    """It would be the one or the other, depending on what was imported before."""
    inside = {path.stem for path in file_of(name).parent.iterdir()}
    assert not inside & {*importlib.import_module(name).__all__}


@pytest.mark.parametrize("name", LAZY[1:])
def test_a_namespace_imports_nothing_before_it_is_asked(name):
    loaded = python(f"import sys, {name}; dir({name}); print(*sys.modules)").split()
    ours = {each for each in loaded if each.split(".")[0] == "hornlens"}
    assert ours == {"hornlens", "hornlens.namespaces", name}
    assert not {"numpy", "pydantic", "importlib.metadata", "inspect"} & {*loaded}


def test_a_wrong_name_is_an_error_as_in_any_module():
    with pytest.raises(AttributeError, match=r"^module 'hornlens\.models' has no attribute 'Mdl'$"):
        _ = importlib.import_module("hornlens.models").Mdl
    with pytest.raises(ImportError, match=r"cannot import name 'Mdl' from 'hornlens\.models'"):
        from hornlens.models import Mdl  # noqa: F401


def test_a_namespace_lists_and_imports_by_module():
    names, get, listed = lazy_names("hornlens.theory", {"logic.rule": "Rule", "logic.bits": "bits"})
    assert names == ["Rule", "bits"] and {*names} <= {*listed()}
    assert get("Rule") is importlib.import_module("hornlens.theory").Rule


def test_what_is_called_public_is():
    assert "Repeats" in hornlens.__all__
    assert "Noisy" in importlib.import_module("hornlens.certificates").__all__


@pytest.mark.parametrize("name", NAMESPACES)
def test_contributing_lists_what_is_promised(name):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    promise = text[text.index("Promised are:") :].split("\n\n")[0]
    assert f"`{name}`" in promise
    known = set(re.findall(r"`(hornlens(?:\.[a-z]+)*)`", promise))
    assert known == {*NAMESPACES}


# What is taught.


def promised():
    """Every dotted name that is promised, those of the namespaces among them."""
    return {*NAMESPACES} | {
        f"{name}.{each}" for name in NAMESPACES for each in importlib.import_module(name).__all__
    }


def imported(code):
    """What some code imports of ours, by dotted names; and what it uses of `hornlens` itself."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "hornlens")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hornlens":
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if re.fullmatch(r"hornlens\.\w+", dotted) and dotted not in NAMESPACES:
                yield dotted


def session(text):
    """The code of a session, such as doctest reads."""
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


def of_page(page):
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "pycon":
            yield session(body)
        elif language in ("python", "py"):
            yield body


def of_notebook(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).splitlines()
            yield "\n".join(line for line in lines if not line.startswith(("%", "!")))


def docstrings():
    """The docstrings of the promised names, and of their methods."""
    for name in NAMESPACES:
        module = importlib.import_module(name)
        yield name, module.__doc__ or ""
        for each in module.__all__:
            value = getattr(module, each)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            yield f"{name}.{each}", inspect.getdoc(value) or ""
            for method, inner in vars(value).items():
                if not method.startswith("_") and callable(getattr(inner, "__func__", inner)):
                    yield f"{name}.{each}.{method}", inspect.getdoc(inner) or ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_import_promised_names_only(page):
    known = promised()
    for code in of_page(page):
        for name in imported(code):
            assert name in known or name == "hornlens.__version__", name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_import_promised_names_only(path):
    known = promised()
    for code in of_notebook(path):
        assert {*imported(code)} <= known


def test_docstrings_import_promised_names_only():
    known, checked = promised(), 0
    for where, text in docstrings():
        for name in imported(session(text)):
            checked += 1
            assert name in known, (where, name)
    assert checked > 20


MENTIONED = re.compile(r"`(hornlens(?:\.\w+)+)")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in INSIDE], ids=lambda page: page.name
)
def test_pages_mention_promised_names_only(page):
    """In a sentence: `hornlens.models.Model`, or what such a name has, `hornlens.Limits.reason`."""
    known = promised()
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for dotted in MENTIONED.findall(text):
        parts = dotted.split(".")
        heads = {".".join(parts[:length]) for length in range(2, len(parts) + 1)}
        rest = heads & known - {*NAMESPACES}
        assert dotted in known or rest or dotted == "hornlens.__all__", dotted


def test_something_is_taught():
    """The walk above sees what it is meant to see."""
    taught = {name for page in PAGES for code in of_page(page) for name in imported(code)}
    taught |= {name for path in NOTEBOOKS for code in of_notebook(path) for name in imported(code)}
    assert {"hornlens.models.FunctionModel", "hornlens.learning.run", "hornlens.extract"} <= taught
    assert len({name.rpartition(".")[0] for name in taught}) >= 8
    assert "hornlens.logic.rule.Rule" in {*imported("from hornlens.logic.rule import Rule")}


# The types.

RIGHT = """
from hornlens import Repeats
from hornlens.certificates import EXACT, Certificate
from hornlens.learning import EnvelopeLearner, LearnSettings, Run, learn, run
from hornlens.models import Answer, FunctionModel, Model
from hornlens.store import AnswerStore, open_store
from hornlens.targets import ClassifierTarget, Target, open_target
from hornlens.testing import TargetConformance
from hornlens.theory import Cnf, Rule, Theory

target: Target = open_target("rows/x.csv")
answer = Answer((0.5, 0.5))
theory: Theory = Theory(2, (Rule(1, 2),))
store: AnswerStore = open_store("x.sqlite")
settings = LearnSettings(goal="cnf")


class Suite(TargetConformance):
    def build(self) -> Target:
        return target
"""
WRONG = {
    "name": "from hornlens.models import Mdl",
    "field": "from hornlens.theory import Rule\nRule(1, 2).antecedents",
    "goal": "from hornlens.learning import LearnSettings\nLearnSettings(gaol='cnf')",
}


@pytest.mark.slow
def test_strict_mypy_knows_the_names(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(RIGHT)
    for name, text in WRONG.items():
        (tmp_path / f"wrong_{name}.py").write_text(f"{text}\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"),
            *("--config-file=", "--no-error-summary", "--no-pretty", "--cache-dir=cache"),
            *sorted(path.name for path in tmp_path.glob("*.py")),
        ],
        cwd=tmp_path,
        env={} if "site-packages" in str(SOURCE) else {"MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    files = {line.split(":")[0] for line in done.stdout.splitlines() if ": error:" in line}
    assert files == {f"wrong_{name}.py" for name in WRONG}, done.stdout
