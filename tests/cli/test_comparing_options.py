"""`hornlens extract --compare-with` and `--flip`: what they print, write, and refuse."""

import json

import numpy as np
import pytest

import hornlens as library
from hornlens import Settings
from tests.command import hornlens


@pytest.fixture(autouse=True)
def _place(monkeypatch, tmp_path):
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)


def test_two_models_are_compared_and_an_attribute_is_changed(tmp_path):
    both = hornlens("extract", "--model", "demo", "--compare-with", "demo-balanced", "--out", "o")
    assert both.returncode == 0, both.stderr
    assert both.stdout.startswith("demo and demo-balanced: ")
    assert "demo and demo-balanced give different answers in 480 of 660 cells" in both.stdout
    assert "\n  demo → He: [MASK] was born" in both.stdout
    assert "\n  demo-balanced → She: [MASK] was born" in both.stdout
    assert "never give different answers where the person is a nurse." in both.stdout
    assert "1,320 prompts asked, 0 from the cache" in both.stdout
    assert "rejected by" not in both.stdout
    change = hornlens("extract", "--flip", "continent", "--out", "c")
    assert change.returncode == 0, change.stderr
    assert "Changing only continent changes the answer in 9 of 66 cells" in change.stdout
    assert "0 prompts asked, 573 from the cache" in change.stdout  # until two answers differ
    for folder in ("o", "c"):
        assert library.verify(folder).ok
        page = (tmp_path / folder / "report.html").read_text()
        assert "<h1>Compared answers" in page
        assert hornlens("report", folder).returncode == 0
    loaded = library.load("o")
    assert loaded.question.compared.who == "demo and demo-balanced"
    again = library.differences("demo", "demo-balanced")
    assert [rule.sentence for rule in loaded.rules] == [rule.sentence for rule in again.rules]
    checked = hornlens("check", "o", "--format", "json", input="")
    assert checked.returncode == 2  # without requirements


def test_what_the_command_finds_is_what_the_library_finds():
    done = hornlens(
        *("extract", "--model", "demo", "--compare-with", "demo-balanced", "--sides"),
        *("--equivalence", "sift", "--seed", "3", "--format", "json", "--out", "o"),
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    settings = Settings(equivalence="sift", seed=3)
    result = library.differences("demo", "demo-balanced", sides=True, settings=settings)
    assert printed["readable"] == result.as_json()["readable"]
    assert {answer["winner"] for answer in printed["answers"]} <= {
        *("same", "demo female, demo-balanced male", "demo male, demo-balanced female")
    }
    done = hornlens("extract", "--flip", "continent=Asia,Africa", "--out", "c")
    assert done.returncode == 0, done.stderr
    some = library.changes("demo", "continent", values=["Asia", "Africa"])
    assert library.load("c").as_json()["readable"] == some.as_json()["readable"]
    assert len(library.load("c").show(0)) == 2


def test_a_gate_holds_two_models_to_the_same_answers(tmp_path):
    hornlens("extract", "--model", "demo", "--compare-with", "demo-balanced", "--out", "o")
    (tmp_path / "rules.yaml").write_text(
        "hornlens: 1\nrequire: [nurse -> same, priest -> same]\nforbid: [-> same]\n"
    )
    done = hornlens("check", "o", "rules.yaml")
    assert done.returncode == 1
    assert "demo → He: " in done.stdout and "demo-balanced → She: " in done.stdout
    lines = [line for line in done.stdout.splitlines() if "nurse → same" in line]
    assert lines and not any("violated" in line for line in lines)


def test_classifiers_in_files_are_compared(tmp_path):
    skops = pytest.importorskip("skops.io")
    tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 100, (200, 2))
    for name, cut in (("old", 30), ("new", 60)):
        model = tree.DecisionTreeClassifier(max_depth=1, random_state=0)
        skops.dump(model.fit(rows, rows[:, 0] >= cut), tmp_path / f"{name}.skops")
    lines = [f"{a},{b},{a >= 30}" for a, b in rows]
    (tmp_path / "data.csv").write_text("\n".join(["x0,x1,loan", *lines]))
    done = hornlens(
        *("extract", "--target", "classifier/old.skops,data.csv,loan", "--out", "o"),
        *("--compare-with", "classifier/new.skops,data.csv,loan"),
    )
    assert done.returncode == 0, done.stderr
    result = library.load("o")
    assert sum(d.winner == 1 for d in result.decisions.values()) == 1
    assert len(result.decisions) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--flip x", "there is no attribute 'x' (there are: period, continent, occupation)"),
        ("--flip continent=Asia,Mars", "continent has no value 'Mars'"),
        ("--flip continent=Asia", "continent has one value only: it cannot be changed"),
        ("--flip continent=Asia --flip period", "values can be chosen for one attribute only"),
        ("--compare-with nope", "unknown model 'nope'"),
        ("--compare-with demo --flip continent", "ask one at a time"),
        ("--sides", "--sides goes with --compare-with"),
        ("--flip continent --sides", "--sides goes with --compare-with"),
        ("--silence answer", "--silence goes with --compare-with or --flip"),
        ("--compare-with demo-balanced --dry-run", "--dry-run cannot be used with --compare-with"),
        ("--flip continent --repeats 5", "--repeats cannot be used with --flip"),
        ("--flip continent --flip period --flip occupation", "there is nothing beside"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(arguments, message):
    done = hornlens("extract", *arguments.split(), "--out", "o", "-q")
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("hornlens: ") and message in done.stderr
