"""The published schemas: current, true of what is written, and strict enough to say something.

That every result, study, comparison and so on which any test saves fits them is seen to in
conftest.py.
"""

import copy
import json
from pathlib import Path

import fastjsonschema
import pytest
import yaml

from tests import report_cases
from tests.command import hornlens
from tests.schemas import fits
from tools.schemas import WRITTEN_BY_PEOPLE, WRITTEN_BY_US, path_of, schemas, text_of

ROOT = Path(__file__).parents[2]


def printed(*words, cwd=ROOT):
    done = hornlens(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_kind_of_file_has_a_schema_and_a_title():
    assert set(schemas()) == {*WRITTEN_BY_PEOPLE, *WRITTEN_BY_US}
    assert {path.name for path in path_of("probe").parent.iterdir()} == {
        path_of(name).name for name in schemas()
    }


@pytest.mark.parametrize("name", [*WRITTEN_BY_PEOPLE, *WRITTEN_BY_US])
def test_the_published_schema_is_current(name):
    published = path_of(name).read_text(encoding="utf-8")
    assert published == text_of(schemas()[name]), "run: python -m tools.schemas"


def test_results_of_every_shape_fit():
    for make in report_cases.CASES.values():
        content, run = report_cases.saved(make())
        fits("envelope", json.loads(json.dumps(content)))
        fits("run", json.loads(json.dumps(run)))


@pytest.mark.parametrize(
    "words",
    [
        ("envelope", "examples/animals.csv"),
        ("envelope", "examples/animals.csv", "--basis", "unit", "--min-confidence", "0.6"),
        ("envelope", "examples/animals.csv", "--detail", "2", "--closed-top"),
        ("envelope", "examples/pronouns.cnf", "--max-conditions", "2"),
        ("envelope", "examples/people.csv", "--min-support", "2"),
    ],
    ids=" ".join,
)
def test_what_commands_print_as_json_fits(words):
    fits("envelope", json.loads(printed(*words, "--format", "json")))


def test_what_an_exploration_writes_and_prints_fits(tmp_path):
    table = ROOT / "examples" / "animals.csv"
    names = table.read_text(encoding="utf-8").splitlines()[0].split(",")
    (tmp_path / "animals.yaml").write_text(f"hornlens: 1\nvariables: [{', '.join(names)}]\n")
    words = ("explore", "animals.yaml", "--expert", f"rows/{table}", "--format", "json")
    fits("envelope", json.loads(printed(*words, cwd=tmp_path)))
    fits("exploration", json.loads((tmp_path / "animals.exploration.json").read_text("utf-8")))


def test_what_people_write_fits():
    for path in (ROOT / "src" / "hornlens" / "probes" / "builtin").glob("*.yaml"):
        fits("probe", yaml.safe_load(path.read_text(encoding="utf-8")))
    for path in (ROOT / "src" / "hornlens" / "studies" / "builtin").glob("*.yaml"):
        fits("study-plan", yaml.safe_load(path.read_text(encoding="utf-8")))
    fits("study-plan", yaml.safe_load((ROOT / "examples" / "study.yaml").read_text("utf-8")))
    shown = "hornlens: 1\nvariables: [bird, flies, {name: egg, text: lays eggs}]\n"
    fits("variables", yaml.safe_load(shown + "background: [penguin -> bird]\n"))
    fits("requirements", yaml.safe_load("hornlens: 1\nforbid: [nurse & male -> false]\n"))


def test_a_result_that_lacks_something_or_has_it_wrong_does_not_fit():
    content, _ = report_cases.saved(report_cases.CASES["demo"]())
    content = json.loads(json.dumps(content))
    fits("envelope", content)

    def without(key):
        return {name: value for name, value in content.items() if name != key}

    wrong = [without(key) for key in ("rules", "variables", "certificate", "format", "claim")]
    wrong += [{**content, "certificate": {"kind": "certain"}}, {**content, "surprising": 1}]
    wrong += [{**content, "rules": [{"if": "nurse", "then": None}]}]
    turned = copy.deepcopy(content)
    turned["answers"][0]["set"] = None
    for each in (*wrong, turned):
        with pytest.raises(fastjsonschema.JsonSchemaException):
            fits("envelope", each)
