"""Every kind of result times everything that is done with results: nothing is left out."""

import json
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape

import hornlens
from hornlens import FunctionTarget, Limits, Nominal, Settings, Space
from hornlens.results.documents.rules import COLUMNS
from hornlens.theory import Vocabulary
from tests import sifted_cases
from tests.command import hornlens as command

INPUTS = Path(__file__).parents[1] / "old" / "0.2" / "inputs"
EXAMPLES = Path(__file__).parents[2] / "examples"
FORMATS = ("text", "json", "dimacs", "csv", "latex", "prolog", "conexp", "fcar")
AGAINST = {
    "formula": "formula.cnf",
    "learned": "formula.cnf",
    "table": "animals.csv",
    "exploration": "animals.exploration.json",
    "formula in Python": "formula.cnf",
    "table in Python": "animals.csv",
    "scaled table": "people.cxt",
}
"""What holds the answers of results that hold none."""


# --- results of every kind ---


def unlabelled():
    space = Space.of_variables(Vocabulary(("flies", "swims", "penguin")))
    return hornlens.extract(
        FunctionTarget(lambda names: "penguin" not in names or "flies" not in names, space)
    )


def labelled(**how):
    space = Space(
        (Nominal("job", ("nurse", "cook", "smith")), Nominal("place", ("north", "south"))),
        Nominal("gender", ("female", "male")),
    )
    target = FunctionTarget(lambda names: "female" if "nurse" in names else "male", space)
    return hornlens.extract(target, **how)


def scored(prompt, words):
    return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]


def varying():
    """Now and then it says something else of cooks."""
    chance = random.Random(3)

    def answer(prompt, words):
        if "cook" in prompt and chance.random() < 0.4:
            return [0.9, 0.1]
        return scored(prompt, words)

    return answer


def classified(rows):
    return np.where(rows[:, 0] >= 40, "yes", np.where(rows[:, 1] >= 2, "yes", "no"))


def explained():
    rows = np.array([[20.0, 1.0], [30.0, 3.0], [50.0, 1.0], [60.0, 3.0]])
    return hornlens.explain(classified, rows, bins={"x0": [40], "x1": [2]})


JOBS = INPUTS / "jobs.yaml"
MADE = {
    "labelled": labelled,
    "unlabelled": unlabelled,
    "prompted": lambda: hornlens.extract("demo", JOBS, cache=False),
    "worlds": lambda: hornlens.extract(scored, INPUTS / "phrasings.yaml", cache=False),
    "noisy": lambda: hornlens.extract(varying(), JOBS, cache=False, repeats="auto"),
    "budget": lambda: labelled(settings=Settings(equivalence="budget", max_equivalence_queries=2)),
    "interrupted": lambda: labelled(limits=Limits(max_rules=1)),
    "sifted": sifted_cases.listed,
    "sifted in part": sifted_cases.ended,
    "sifted worlds": sifted_cases.worlds,
    "sifted without labels": sifted_cases.unlabelled,
    "sifted with exceptions": sifted_cases.almost,
    "explanation": explained,
    "formula in Python": lambda: hornlens.envelope(INPUTS / "formula.cnf"),
    "table in Python": lambda: hornlens.envelope(INPUTS / "animals.csv"),
    "scaled table": lambda: hornlens.envelope(
        EXAMPLES / "people.csv", label="class", scales=["age=interval:30,45"]
    ),
}
"""By kind, how Python makes it."""
PRINTED = {
    "formula": "envelope formula.cnf --format json",
    "learned": "learn formula.cnf --format json",
    "exploration": "explore animals.yaml --expert rows/animals.csv --format json",
}
"""By kind, the command that prints it."""
FOLDERS = (*MADE, "table")
"""The kinds that are saved in a folder."""
KINDS = (*FOLDERS, *PRINTED)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for results, with what some of them are of."""
    folder = tmp_path_factory.mktemp("matrix")
    for name in ("animals.csv", "animals.yaml", "formula.cnf"):
        shutil.copy(INPUTS / name, folder)
    scaled = "--label", "class", "--scale", "age=interval:30,45"
    done = command("convert", EXAMPLES / "people.csv", "people.cxt", *scaled, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "any.yaml").write_text("hornlens: 1\nrules: {at_most: 1000000}\nanswered: 0\n")
    return folder


@pytest.fixture(scope="module")
def made():
    """The results that Python made, by kind."""
    return {}


@pytest.fixture(scope="module", params=KINDS)
def result(request, place, made):
    """A kind of result and where it was saved: its folder, or its file."""
    kind = request.param
    if kind in MADE:
        made[kind] = MADE[kind]()
        made[kind].save(place / kind)
        return kind, kind
    if kind == "table":
        done = command("envelope", "animals.csv", "--out", "table", cwd=place)
        assert done.returncode == 0, done.stderr
        return kind, kind
    printed = command(*PRINTED[kind].split(), cwd=place)
    assert printed.returncode == 0, printed.stderr
    (place / f"{kind}.json").write_text(printed.stdout, "utf-8")
    return kind, f"{kind}.json"


def same(one, other):
    assert type(one) is type(other)
    assert one.rules.csv() == other.rules.csv()
    assert one.certificate.sentence == other.certificate.sentence
    assert one.open.csv() == other.open.csv()


# --- what is done with them ---


def test_it_is_loaded_as_it_was(result, place, made):
    kind, path = result
    loaded = hornlens.load(place / path)
    assert loaded.certificate.sentence
    if kind in made:
        same(loaded, made[kind])


def test_it_is_saved_again_as_it_was(result, place, tmp_path):
    _, path = result
    loaded = hornlens.load(place / path)
    loaded.save(tmp_path / "again")
    same(hornlens.load(tmp_path / "again"), loaded)
    for file in (place / path).glob("*"):
        if file.suffix in (".csv", ".json") and file.name != "run.json":
            assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name
    page = tmp_path / "again" / "report.html"
    written = page.read_text("utf-8")
    assert str(escape(loaded.certificate.sentence)) in written
    done = command("report", "again", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert page.read_text("utf-8") == written


@pytest.mark.parametrize("operation", ["check", "verify", "compare", "report"])
def test_commands_take_it(result, operation, place):
    kind, path = result
    arguments = {
        "check": [path, "any.yaml"],
        "verify": [path, *(["--against", AGAINST[kind]] if kind in AGAINST else [])],
        "compare": [path, path],
        "report": [path],
    }[operation]
    page = place / path / "report.html" if kind in FOLDERS else place / f"{kind}.html"
    if operation == "report" and page.is_file():
        page.unlink()
    done = command(operation, *arguments, cwd=place)
    assert done.returncode == 0, done.stderr
    if operation == "report":
        assert page.stat().st_size > 10_000


def test_python_checks_it(result, place):
    _, path = result
    loaded = hornlens.load(place / path)
    assert loaded.check({"rules": {"at_most": 10**6}, "answered": 0})
    assert not loaded.check({"rules": {"at_least": 1_000}, "answered": 0})


def test_it_is_pickled(result, place, made):
    kind, path = result
    for each in (hornlens.load(place / path), *([made[kind]] if kind in made else [])):
        same(pickle.loads(pickle.dumps(each)), each)


@pytest.mark.parametrize("form", FORMATS)
def test_it_is_exported(result, form, place, made, tmp_path):
    kind, path = result
    loaded = hornlens.load(place / path)
    if kind in made:
        assert made[kind].export(form) == loaded.export(form)
    done = command("export", path, "--format", form, cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout == loaded.export(form)
    if form == "json":
        copy = tmp_path / "copy.json"
        copy.write_text(done.stdout, "utf-8")
        assert json.loads(done.stdout)["format"] == 2
        again = hornlens.load(copy)
        assert str(again.rules) == str(loaded.rules)
    elif form == "text":
        assert done.stdout.splitlines() == str(loaded.rules).splitlines()
    elif form == "csv":
        assert done.stdout.count("\n") == len(loaded.rules) + 1
    elif form == "latex":
        assert done.stdout.count(" & ") == len(loaded.rules)


def test_it_is_drawn(result, place):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    _, path = result
    loaded = hornlens.load(place / path)
    axes = loaded.plot.rules()
    assert [bar.get_width() for bar in axes.patches] == [row.support for row in loaded.rules][:15]
    if not loaded.has_rates:
        for draw in (loaded.plot.map, lambda: loaded.plot.rates("a")):
            with pytest.raises(hornlens.HornlensError, match="there are no rates"):
                draw()
        assert loaded.plot.live().get_lines()
    elif loaded.asked:
        assert loaded.plot.map().get_images()
        assert loaded.plot.rates(loaded.space.attributes[0].name).get_title()
    else:
        with pytest.raises(hornlens.HornlensError, match="there are no answers to draw"):
            loaded.plot.map()
    matplotlib.pyplot.close("all")


def test_its_rules_have_the_columns_of_all_others(result, place):
    _, path = result
    loaded = hornlens.load(place / path)
    assert loaded.rules.csv().splitlines()[0].split(",") == list(COLUMNS)
    for row in loaded.rules:
        assert row.sentence and row.warrant.kind in ("proved", "tested", "open")
        assert row.unit in ("prompts", "cells", "rows")
        assert not row.canonical.antecedent or set(row.canonical.antecedent) <= set(
            loaded.space.vocabulary.names
        )


def test_a_table_does_not_overwrite_the_answers_of_a_model(tmp_path):
    hornlens.extract(cache=False).save(tmp_path)
    before = (tmp_path / "envelope.json").read_bytes()
    (tmp_path / "t.csv").write_text("a,b\n1,1\n0,1\n")
    done = command("envelope", tmp_path / "t.csv", "--out", tmp_path)
    assert done.returncode == 2 and "holds the answers of a model" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "envelope.json").read_bytes() == before
    assert not (tmp_path / "table.json").exists()
