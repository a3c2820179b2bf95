"""Models by their specs: functions, tables, and what other packages bring."""

import doctest
import math
import re
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from hornlens.errors import HornlensError
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import ModelError, ModelOptions
from hornlens.models.registry import MODELS, ModelKind, open_model
from hornlens.models.table import TableModel
from hornlens.registry import Registry
from hornlens.testing.models import ModelConformance
from hornlens.testing.models import refusal as said
from tests.plugins import Environment, wheel

PROMPTS = [f"[MASK] is a {'very ' * k}good {job}." for k in range(5) for job in ("nurse", "priest")]
PROMPTS += ["The nurse said that [MASK] was there.", "[MASK]"]
FENCE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def scores(prompt, words):
    """Log-probabilities that depend on the prompt and on the word, and not on the others."""
    return [math.log((len(prompt) % 7 + len(word)) / 30) for word in words]


class TestFunction(ModelConformance):
    prompts = PROMPTS
    bad_word = None  # a function knows no vocabulary
    has_identity = False

    def build(self, options):
        return FunctionModel(scores)


class TestNamedFunction(TestFunction):
    has_identity = True

    def build(self, options):
        return FunctionModel(
            lambda prompt, words: dict(zip(words, scores(prompt, words), strict=True)),
            identity="1",
        )


class TestTable(ModelConformance):
    prompts = PROMPTS

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def made(cls, tmp_path_factory):
        cls.path = tmp_path_factory.mktemp("table") / "scores.csv"
        rows = (f"{p},{she!r},{he!r}\n" for p in PROMPTS for she, he in [scores(p, cls.words)])
        cls.path.write_text("prompt,She,He\n" + "".join(rows))

    def build(self, options):
        return TableModel(self.path)


def test_the_kinds_are_ours_where_nothing_else_is_installed():
    demos = ["demo", "demo-balanced", "demo-polyglot"]
    chat = ["openai", "anthropic", "ollama", "gguf"]
    ours = [*demos, "hf", "causal", "smollm2", *chat, "table"]
    assert list(MODELS.kinds())[: len(ours)] == ours == list(MODELS.builtin)
    assert all(kind.form.split("/")[0] == name for name, kind in MODELS.kinds().items())


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("demo", "demo"),
        ("demo-balanced", "demo-balanced"),
        ("demo-polyglot", "demo-polyglot"),
        ("hf/some/bert", "hf/some/bert"),
        ("hf/some/bert@v1", "hf/some/bert@v1"),
        ("causal/gpt2@", "causal/gpt2"),
        ("table/a/b.csv", "table/a/b.csv"),
    ],
)
def test_a_spec_opens_its_model_and_loads_nothing(spec, name):
    assert open_model(spec).name == name


@pytest.mark.parametrize("spec", ["", "/", "gpt", "hf", "hf/", "table/", "demo/", "demo/x", "a/b"])
def test_a_spec_that_fits_no_kind_says_what_there_is(spec):
    message = said(lambda: open_model(spec))
    known = "demo, demo-balanced, demo-polyglot, hf/"
    assert message.startswith(f"unknown model {spec!r}; expected one of: {known}")


# Other people's packages. First on this process's path, for what can go wrong with them.

PLUGIN = """
import math
from hornlens.models.registry import ModelKind
from hornlens.models.protocol import Answer


class Echo:
    def __init__(self, name):
        self.name = f"theirs/{name}"

    def check(self, candidates):
        pass

    def identity(self):
        return self.name + ":1"

    def score(self, prompts, candidates):
        she, he = math.log(0.75), math.log(0.25)
        for index, prompt in enumerate(prompts):
            yield [(index, Answer((she, he) if "nurse" in prompt else (he, she)))]


kind = ModelKind("theirs/NAME", "says She of nurses", lambda rest, options: Echo(rest))
one = ModelKind("one", "there is but one", lambda rest, options: Echo("one"))
either = ModelKind("either[/NAME]", "with a name or without", lambda rest, options: Echo(rest))
falls = ModelKind("falls/NAME", "fails", lambda rest, options: [][1])
lies = ModelKind("lies/NAME", "is none", lambda rest, options: "a string")
nothing = 3
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put packages on the path, as an installation would."""

    def install(name: str, entries: str, module: str = PLUGIN) -> None:
        with zipfile.ZipFile(wheel(tmp_path, name, entries, module)) as archive:
            archive.extractall(tmp_path / "site")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.delitem(sys.modules, f"{name}_module", raising=False)

    return install


def test_an_installed_kind_is_opened_and_listed(installed):
    installed("good", "theirs = good_module:kind\none = good_module:one\ne = good_module:either")
    assert open_model("theirs/some/where").name == "theirs/some/where"
    assert open_model("one").name == "theirs/one"
    assert (open_model("e").name, open_model("e/x").name) == ("theirs/", "theirs/x")
    assert list(MODELS.kinds())[len(MODELS.builtin) :] == ["e", "one", "theirs"]
    for spec in ("theirs", "theirs/", "one/x", "e/", "nope"):
        message = said(lambda spec=spec: open_model(spec))
        assert message.startswith(f"unknown model {spec!r}") and "theirs/NAME" in message
    assert [e.package for e in MODELS.all() if e.name == "theirs"] == ["good 1.2"]


def test_a_kind_of_ours_cannot_be_replaced(installed):
    installed("bold", "demo = bold_module:kind\ntheirs = bold_module:kind")
    assert open_model("demo").name == "demo"
    assert MODELS.kinds()["demo"].help != MODELS.kinds()["theirs"].help
    (problem,) = [e.problem for e in MODELS.all() if e.name == "demo" and e.package]
    assert problem == "'demo' of bold 1.2 is a name of hornlens' own"
    assert "(broken)" not in said(lambda: open_model("nope"))


@pytest.mark.parametrize(
    ("value", "module", "problem"),
    [
        ("bad_module:kind", "1 / 0", "bad 1.2 cannot be imported (ZeroDivisionError: division by"),
        ("bad_module:kind", "raise SystemExit('bye')", "cannot be imported (SystemExit: bye)"),
        ("missing:kind", "", "missing:kind of bad 1.2 cannot be imported (ModuleNotFoundError"),
        ("bad_module:absent", "", "cannot be imported (AttributeError"),
        ("bad_module:nothing", PLUGIN, "bad_module:nothing of bad 1.2 is no ModelKind, but a int"),
        ("bad_module:Echo", PLUGIN, "bad_module:Echo of bad 1.2 is no ModelKind, but a type"),
    ],
)
def test_a_broken_package_is_an_error_only_for_who_asks_for_it(installed, value, module, problem):
    installed("bad", f"broken = {value}", module)
    assert open_model("demo").name == "demo"
    assert "broken" not in MODELS.kinds()
    assert "broken (broken)" in said(lambda: open_model("nope"))
    assert problem in said(lambda: open_model("broken/x"))
    (entry,) = [entry for entry in MODELS.all() if entry.package]
    assert (entry.name, entry.kind) == ("broken", None) and problem in entry.problem


def test_two_packages_of_one_name_are_an_error_that_names_both(installed):
    installed("left", "theirs = left_module:kind")
    installed("right", "theirs = right_module:kind")
    assert "left 1.2 and right 1.2 both claim the name" in said(lambda: open_model("theirs/x"))
    assert len([entry for entry in MODELS.all() if entry.name == "theirs"]) == 1


def test_a_package_that_fails_to_open_a_model_is_one_line(installed):
    installed("bad", "falls = bad_module:falls\nlies = bad_module:lies")
    message = said(lambda: open_model("falls/x"))
    assert message.startswith("model 'falls/x' of bad 1.2 cannot be opened: IndexError: ")
    assert said(lambda: open_model("lies/x")) == "'lies/x' opens no model, but a str"


def test_ours_are_opened_without_a_look_at_what_is_installed(monkeypatch):
    def never(**_):
        raise AssertionError("it takes time")

    monkeypatch.setattr(metadata, "entry_points", never)
    assert open_model("demo").name == "demo"


def test_a_registry_is_for_anything_that_has_kinds():
    things = Registry("thing", "hornlens.things", ModelKind, {"a": ModelKind("a/X", "b", scores)})
    assert things.open("a/b", lambda kind, rest: (kind.help, rest)) == ("b", "b")
    with pytest.raises(HornlensError, match="unknown thing 'c'; expected one of: a/X"):
        things.open("c", lambda kind, rest: None)
    assert not isinstance(HornlensError(), ModelError)


def test_the_page_about_it_has_a_backend_that_passes():
    page = (Path(__file__).parents[2] / "docs" / "your-own-model.md").read_text()
    names: dict = {}
    for block in FENCE.findall(page):
        for example in doctest.DocTestParser().get_examples(block):
            code = compile(example.source, "page", "single")
            if example.exc_msg is None:
                exec(code, names)
            else:  # what the page says of it is held by the tests of the docs
                with pytest.raises(HornlensError):
                    exec(code, names)
    suite = names["TestAcme"]()
    tests = [name for name in dir(suite) if name.startswith("test_")]
    assert len(tests) >= 12
    for name in tests:
        getattr(suite, name)()
    assert names["kind"].open("large", ModelOptions()).name == "acme/large"


# And really installed, into an environment of its own.


@pytest.mark.slow
def test_a_package_adds_its_models_to_every_command_by_being_installed(tmp_path):
    place, theirs = tmp_path, Environment.make(tmp_path)
    run = theirs.run
    theirs.install(wheel(place, "theirs", "theirs = theirs_module:kind", PLUGIN))
    listed = run("hornlens", "model", "list")
    (line,) = [line for line in listed.splitlines() if "theirs" in line]
    assert line.split("  ")[0] == "theirs/NAME" and "of nurses" in line and "theirs 1.2" in line
    shown = run("hornlens", "extract", "--model", "theirs/x", "--out", "out")
    assert "nurse ∧ male → ⊥" in shown
    assert '"theirs/x:1"' in (place / "out" / "envelope.json").read_text()
    assert "theirs/x" in run("hornlens", "cache", "list")
    shown = run("hornlens", "bias", "--model", "theirs/x", "--model", "demo", "--format", "json")
    assert '"theirs/x"' in shown
    (place / "s.yaml").write_text(
        "{hornlens: 1, name: small, models: [demo], budgets: [3], seeds: [1]}"
    )
    shown = run("hornlens", "study", "s.yaml", "--model", "theirs/y", "--jobs", 1)
    assert "theirs/y" in shown
    unknown = run("hornlens", "extract", "--model", "their/x", fails=True)
    assert unknown.startswith("hornlens: unknown model 'their/x'; expected one of: demo, ")
    assert unknown.endswith("table/FILE.csv, theirs/NAME\n")
    theirs.pip("uninstall", "--yes", "theirs")
    unknown = run("hornlens", "extract", "--model", "theirs/x", fails=True)
    assert unknown.startswith("hornlens: unknown model 'theirs/x'") and "NAME\n" not in unknown
    assert "theirs" not in run("hornlens", "model", "list")
