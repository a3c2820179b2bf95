"""Every kind of result times everything that is done with results.

What does not work yet is in NOT_YET with the error that people get instead, in one line and with
exit code 2. A cell that begins to work fails its test here until its line is deleted.
"""

import json
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import hornlens
from hornlens import FunctionTarget, Limits, Nominal, Settings, Space
from hornlens.theory import Vocabulary
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
NO_PAGE = "is of a target without labels: there is no page for it"
NO_PRINTED_PAGE = (
    "has no page: give a folder, or a file named envelope.json, comparison.json, study.json, "
    "bias.json, table.json, explanation.json"
)
NO_ANSWERS = "has no answers of a model or another target: extract writes those"
NO_VARIABLES = (
    "hornlens: rules of a classifier cannot be exported as {}: their conditions are ranges of "
    "columns, and no variables (they can be as: text, json, csv, latex, prolog)"
)
NOT_YET = {
    ("unlabelled", "report"): f"hornlens: unlabelled/envelope.json: {NO_PAGE}",
    ("formula", "report"): f"hornlens: formula.json: {NO_PRINTED_PAGE}",
    ("learned", "report"): f"hornlens: learned.json: {NO_PRINTED_PAGE}",
    ("exploration", "report"): f"hornlens: exploration.json: {NO_PRINTED_PAGE}",
    **{
        (kind, "report"): f"hornlens: {kind}/envelope.json: {NO_ANSWERS}"
        for kind in ("formula in Python", "table in Python", "scaled table")
    },
    ("explanation", "compare"): (
        "hornlens: explanation: is of a classifier: results of classifiers cannot be compared yet"
    ),
    **{
        ("explanation", f"export {form}"): NO_VARIABLES.format(form)
        for form in ("dimacs", "conexp", "fcar")
    },
}
"""It may only shrink."""


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
    "explanation": explained,
    "formula in Python": lambda: hornlens.envelope(INPUTS / "formula.cnf"),
    "table in Python": lambda: hornlens.envelope(INPUTS / "animals.csv"),
    "scaled table": lambda: hornlens.envelope(
        EXAMPLES / "people.csv", label="class", scales=["age=interval:35"]
    ),
}
"""By kind, how Python makes it."""
PRINTED = {
    "formula": "envelope formula.cnf --format json",
    "learned": "learn formula.cnf --format json",
    "exploration": "explore animals.yaml --expert rows/animals.csv --format json",
}
"""By kind, the command that prints it."""
KINDS = (*MADE, *PRINTED, "table")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for results, with what some of them are of."""
    folder = tmp_path_factory.mktemp("matrix")
    for name in ("animals.csv", "animals.yaml", "formula.cnf"):
        shutil.copy(INPUTS / name, folder)
    scaled = "--label", "class", "--scale", "age=interval:35"
    done = command("convert", EXAMPLES / "people.csv", "people.cxt", *scaled, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "any.yaml").write_text("hornlens: 1\nrules: {at_least: 0}\nanswered: 0\n")
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


def certificate_of(result):
    return result.envelope.certificate if hasattr(result, "envelope") else result.certificate


def same(one, other):
    assert type(one) is type(other)
    assert one.rules.csv() == other.rules.csv()
    assert certificate_of(one).sentence == certificate_of(other).sentence


def ended(kind, operation, done):
    """Hold how a command ended against what is known not to work; return whether it worked."""
    if (kind, operation) in NOT_YET:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == NOT_YET[kind, operation] + "\n"
        return False
    assert done.returncode == 0, done.stderr
    return True


# --- what is done with them ---


def test_it_is_loaded_as_it_was(result, place, made):
    kind, path = result
    loaded = hornlens.load(place / path)
    assert certificate_of(loaded).sentence
    if kind in made:
        same(loaded, made[kind])


def test_it_is_saved_again_as_it_was(result, place, tmp_path):
    _, path = result
    loaded = hornlens.load(place / path)
    loaded.save(tmp_path / "again")
    same(hornlens.load(tmp_path / "again"), loaded)


@pytest.mark.parametrize("operation", ["check", "verify", "compare", "report"])
def test_commands_take_it(result, operation, place):
    kind, path = result
    arguments = {
        "check": [path, "any.yaml"],
        "verify": [path, *(["--against", AGAINST[kind]] if kind in AGAINST else [])],
        "compare": [path, path],
        "report": [path],
    }[operation]
    page = place / path / "report.html"
    if operation == "report" and page.is_file():
        page.unlink()
    done = command(operation, *arguments, cwd=place)
    if ended(kind, operation, done) and operation == "report":
        assert page.stat().st_size > 10_000


def test_python_checks_it(result, place):
    _, path = result
    loaded = hornlens.load(place / path)
    assert loaded.check({"rules": {"at_least": 0}, "answered": 0})
    assert not loaded.check({"rules": {"at_least": 1_000}, "answered": 0})


def test_it_is_pickled(result, place, made):
    kind, path = result
    for each in (hornlens.load(place / path), *([made[kind]] if kind in made else [])):
        same(pickle.loads(pickle.dumps(each)), each)


@pytest.mark.parametrize("form", FORMATS)
def test_it_is_exported(result, form, place, tmp_path):
    kind, path = result
    loaded = hornlens.load(place / path)
    done = command("export", path, "--format", form, cwd=place)
    if not ended(kind, f"export {form}", done):
        with pytest.raises(hornlens.HornlensError) as refused:
            loaded.export(form)
        assert f"hornlens: {refused.value}" == NOT_YET[kind, f"export {form}"]
        return
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


def test_every_line_of_what_does_not_work_is_of_a_kind_and_an_operation():
    operations = {"check", "verify", "compare", "report", *(f"export {form}" for form in FORMATS)}
    for kind, operation in NOT_YET:
        assert kind in KINDS and operation in operations
    assert len(NOT_YET) <= 11


def test_a_table_does_not_overwrite_the_answers_of_a_model(tmp_path):
    hornlens.extract(cache=False).save(tmp_path)
    before = (tmp_path / "envelope.json").read_bytes()
    (tmp_path / "t.csv").write_text("a,b\n1,1\n0,1\n")
    done = command("envelope", tmp_path / "t.csv", "--out", tmp_path)
    assert done.returncode == 2 and "holds the answers of a model" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "envelope.json").read_bytes() == before
    assert not (tmp_path / "table.json").exists()
