"""The public names and what they give: for people, notebooks and type checkers."""

import ast
import json
import subprocess
import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.results.documents.codec import RESULT_FORMAT
from hornlens.results.documents.rules import FRAME
from hornlens.results.documents.writing import extraction_as_json
from tests.command import hornlens as run_command

SOURCE = Path(hornlens.__file__)


def python(code):
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def one_line(call):
    """The one line that an error for people says."""
    with pytest.raises(HornlensError) as raised:
        call()
    assert str(raised.value) and "\n" not in str(raised.value)
    return str(raised.value)


# The names.


def test_type_checkers_see_the_names_that_are_imported_when_asked_for():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (fork,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (line.module.removeprefix("hornlens."), name.name)
        for line in fork.body
        for name in line.names
    }
    assert all(name.asname is None for line in fork.body for name in line.names)
    homes = next(node.value for node in fork.orelse if isinstance(node, ast.Assign))
    table = ast.literal_eval(homes)
    assert seen == {(module, name) for module, names in table.items() for name in names.split()}
    names = [name for _, name in seen]
    assert sorted(names) == hornlens.__all__ == sorted(set(hornlens.__all__))


@pytest.mark.parametrize("name", hornlens.__all__)
def test_every_name_is_importable_and_has_a_home(name):
    value = getattr(hornlens, name)
    assert value is getattr(hornlens, name)
    if isinstance(value, type):
        assert value.__name__ == name and value.__module__.startswith("hornlens.") and value.__doc__


def test_every_name_is_listed_before_it_is_imported():
    shown = python("import hornlens; print(*dir(hornlens))").split()
    assert {*hornlens.__all__, "__version__"} <= {*shown} and shown == sorted(shown)
    starred = python("from hornlens import *; print(*sorted(n for n in dir() if n[0] != '_'))")
    assert starred.split() == hornlens.__all__


def test_importing_it_imports_nothing_heavy():
    code = "import sys, hornlens; dir(hornlens); print(*sys.modules)"
    loaded = python(code).split()
    assert not {"numpy", "pydantic", "importlib.metadata", "hornlens.api"} & {*loaded}
    assert [name for name in loaded if name.startswith("hornlens")] == ["hornlens"]


def test_a_wrong_name_is_an_error_as_in_any_module():
    with pytest.raises(AttributeError, match=r"^module 'hornlens' has no attribute 'extrct'$"):
        _ = hornlens.extrct
    with pytest.raises(ImportError, match="cannot import name 'extrct' from 'hornlens'"):
        from hornlens import extrct  # noqa: F401
    assert not hasattr(hornlens, "_HOME")


# The types.

RIGHT = '''
from collections.abc import Sequence
from pathlib import Path
from random import Random

import hornlens
from hornlens import Decision, Nominal, Policy, Settings, Space, Target


class Coin:
    """A target of one's own."""

    name = "coin"
    space = Space((Nominal("side", ("heads", "tails")),))

    def identity(self) -> str | None:
        return None

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        return [Decision(1) for _ in cells]

    def show(self, cell: int) -> tuple[str, ...]:
        return ("a coin",)


def black_box(prompt: str, words: object) -> list[float]:
    return [0.1, 0.9]


settings = Settings(equivalence="exact", seed=3)
result = hornlens.extract(black_box, settings=settings, policy=Policy(margin=0.5), cache=False)
result.save(Path("out"))
again: hornlens.Result = hornlens.load("out")
texts: list[str] = [str(row.rule) for row in again.rules]
holds: bool = again.entails("nurse & male -> false")
coin: Target = Coin()
rules: hornlens.Rules = hornlens.extract(coin).rules
drawn: int = Coin.space.sample(Random(1))
'''
WRONG = {
    "name": "hornlens.extrct()",
    "imported": "from hornlens import extrct",
    "probe": "hornlens.extract(probe=3)",
    "argument": 'hornlens.extract("demo", probes="x")',
    "equivalence": 'hornlens.Settings(equivalence="exat")',
    "policy": 'hornlens.Policy(label_unset="Accept")',
    "field": 'print(hornlens.extract("demo").envelop)',
    "target": "hornlens.RepeatedTarget(3, 2)",
    "result": 'text: str = hornlens.extract("demo").entails("a -> b")',
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with a correct program, and wrong ones."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "right.py").write_text(RIGHT)
    for name, line in WRONG.items():
        (folder / f"wrong_{name}.py").write_text(f"import hornlens\n\n{line}\n")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(SOURCE.parents[1])]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return folder


def wrong_lines(found):
    """Of (file, line) pairs: the wrong programs of which a wrong line was told."""
    assert "right.py" not in {file for file, _ in found}
    return {file for file, line in found if line == 3}


@pytest.mark.slow
def test_strict_mypy_finds_what_is_wrong_and_only_that(programs):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"),
            *("--config-file=", "--no-error-summary", "--no-pretty", "--cache-dir=cache"),
            *sorted(path.name for path in programs.glob("*.py")),
        ],
        cwd=programs,
        # mypy finds an installed package by itself, and will not be told where it is.
        env={} if "site-packages" in SOURCE.parts else {"MYPYPATH": str(SOURCE.parents[1])},
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    lines = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    found = wrong_lines([(file, int(line)) for file, line, *_ in lines])
    assert found == {f"wrong_{name}.py" for name in WRONG}, done.stdout


@pytest.mark.slow
def test_pyright_finds_what_is_wrong_and_only_that(programs):
    pytest.importorskip("basedpyright", reason="needs pip install 'hornlens[dev]'")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "--outputjson"),
            *("--pythonpath", sys.executable, "--project", str(programs)),
        ],
        cwd=programs,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout)["generalDiagnostics"]
    found = [
        (Path(line["file"]).name, line["range"]["start"]["line"] + 1)
        for line in told
        if line["severity"] == "error"
    ]
    assert wrong_lines(found) == {f"wrong_{name}.py" for name in WRONG}, told


# What results look like.

HOSTILE = ("<script>alert(1)</script>", '" onload="x', "&amp;", "a -> b", "true", "⊥")


def hostile_result():
    space = hornlens.Space(
        (hornlens.Nominal("<b>", HOSTILE),), hornlens.Nominal("label", ("<i>yes</i>", "no & never"))
    )

    def call(names):
        return "<i>yes</i>" if len("".join(names)) % 2 else "no & never"

    return hornlens.extract(hornlens.FunctionTarget(call, space, "</p><img src=x>"))


def test_the_repr_of_a_result_is_short():
    for result in (hornlens.extract("demo", cache=False), hostile_result()):
        for value in (result, result.envelope, result.rules):
            assert len(repr(value)) < 200 and "\n" not in repr(value)
        assert f"{len(result.envelope.basis)} rules, exact" in repr(result)
        assert result.name in repr(result)


def test_a_notebook_shows_the_certificate_and_the_rules_and_no_markup_of_others():
    result = hostile_result()
    shown = result._repr_html_()
    assert escape(result.envelope.certificate.sentence) in shown
    assert escape("</p><img src=x>") in shown
    assert len(result.rules) > 3 and shown.count("<tr>") == len(result.rules) + 1
    for row in result.rules:
        assert escape(str(row.rule)) in shown and escape(row.sentence) in shown
        assert f"<td>{row.could_break} cell" in shown and row.could_break <= row.prompts
    for markup in ("<script", "<img", "<i>", '" onload="'):
        assert markup not in shown
    assert shown.count("<p>") == shown.count("</p>") == shown.count("</table>") == 1


def test_rules_become_a_data_frame(monkeypatch):
    made = SimpleNamespace(DataFrame=lambda lines, columns: (lines, columns))
    monkeypatch.setitem(sys.modules, "pandas", made)
    rules = hostile_result().rules
    lines, columns = rules.to_frame()
    assert columns == FRAME and {"warrant", "class", "unit", "cells", "confidence"} < set(columns)
    assert [len(line) for line in lines] == [len(columns)] * len(rules)
    for line, row in zip(lines, rules, strict=True):
        assert hornlens.NamedRule.parse(line[columns.index("rule")]) == row.rule
        assert hornlens.NamedRule.parse(line[columns.index("canonical")]) == row.canonical
        assert line[columns.index("support")] == row.support


def test_without_pandas_there_is_no_data_frame(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    rules = hostile_result().rules
    assert one_line(hostile_result().rates.to_frame) == one_line(rules.to_frame)
    assert one_line(rules.to_frame) == "to_frame() needs pandas: pip install pandas"


def test_a_rule_about_nothing_known_is_an_error():
    result = hostile_result()
    assert one_line(lambda: result.entails("nobody -> false")) == "unknown variable 'nobody'"
    assert one_line(lambda: result.envelope.entails("nobody")).startswith("not a rule: ")


# Settings and policies that make no sense.


def test_exact_is_another_word_for_exhaustive():
    assert hornlens.Settings(equivalence="exact") == hornlens.Settings(equivalence="exhaustive")
    assert hornlens.Settings(equivalence="exact").equivalence == "exhaustive"


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *((hornlens.Settings, "equivalence", word) for word in ("exat", "PAC", "", None, 3)),
        *((hornlens.Settings, "epsilon", value) for value in (0, 1, -0.1, 1.5, float("nan"), "a")),
        *((hornlens.Settings, "delta", value) for value in (0, 1, 2, 1e-12, float("inf"), None)),
        *((hornlens.Settings, "samples", value) for value in (0, -1, "many")),
        *((hornlens.Settings, "limit", value) for value in (0, -5, None)),
        *((hornlens.Settings, "max_equivalence_queries", value) for value in (-1, "all")),
        *((hornlens.Settings, "seed", value) for value in (None, "x")),
        *((hornlens.Policy, "label_unset", word) for word in ("Accept", "accepted", "", None, 1)),
        *((hornlens.Policy, "abstain", word) for word in ("no", "REJECT", True)),
        *((hornlens.Policy, "calibration", word) for word in ("neutrl", None)),
        *((hornlens.Policy, "margin", value) for value in (-0.001, -1, float("nan"), "1", None)),
        *((hornlens.Policy, "top_k", value) for value in (0, -3, "5")),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(kind, field, value):
    message = one_line(lambda: kind(**{field: value}))
    assert message.removeprefix("--").startswith(f"{field} must ")
    if isinstance(value, str):
        assert message.endswith(f", not {value!r}")


def test_samples_that_can_claim_nothing_are_refused():
    settings = hornlens.Settings(samples=1, equivalence="pac")
    message = one_line(lambda: hornlens.extract("demo", settings=settings, cache=False))
    assert message.startswith("1 samples an equivalence query are too few to claim anything")


def test_more_cells_than_the_limit_are_refused():
    settings = hornlens.Settings(equivalence="exact", limit=10)
    message = one_line(lambda: hornlens.extract("demo", settings=settings, cache=False))
    assert "660" in message and "10" in message


# Results of other versions.


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    hornlens.extract("demo", cache=False).save(folder)
    return folder


def command(*arguments):
    done = run_command(*arguments)
    return done.returncode, done.stderr


def test_a_result_of_a_newer_hornlens_is_refused_in_one_clear_line(saved, tmp_path):
    content = json.loads((saved / "envelope.json").read_text())
    file = tmp_path / "envelope.json"
    file.write_text(
        json.dumps({**content, "format": RESULT_FORMAT + 1, "readable": "of the future"})
    )
    line = (
        f"{file}: was written by a newer hornlens "
        f"(format {RESULT_FORMAT + 1}; this one reads up to {RESULT_FORMAT}): upgrade hornlens"
    )
    assert one_line(lambda: hornlens.load(tmp_path)) == line
    assert one_line(lambda: hornlens.load(file)) == line
    for arguments in (("compare", saved, tmp_path), ("report", tmp_path)):
        assert command(*arguments) == (2, f"hornlens: {line}\n")


def test_a_result_of_0_1_is_read(saved, tmp_path):
    new = hornlens.load(saved)
    content = extraction_as_json(new)
    for key in ("format", "claim", "space"):
        del content[key]
    (tmp_path / "envelope.json").write_text(json.dumps(content))
    old = hornlens.load(tmp_path)
    for name in (
        *("question", "name", "identity", "policy", "settings", "decisions", "space"),
        *("evidence", "order"),
    ):
        assert getattr(old, name) == getattr(new, name), name
    assert old.envelope == new.envelope and list(old.rules) == list(new.rules)
    assert command("report", tmp_path) == (0, "") and (tmp_path / "report.html").is_file()
    assert command("compare", saved, tmp_path, "--fail-on-new") == (0, "")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"format": 1}', '{"probe": {}}'])
def test_what_is_no_result_is_said_in_one_line(text, tmp_path):
    (tmp_path / "envelope.json").write_text(text)
    assert one_line(lambda: hornlens.load(tmp_path)).startswith(f"{tmp_path / 'envelope.json'}")


def test_a_result_that_is_not_there_is_said_in_one_line(tmp_path):
    assert str(tmp_path) in one_line(lambda: hornlens.load(tmp_path / "nowhere"))
    assert str(tmp_path) in one_line(lambda: hornlens.load(tmp_path))
