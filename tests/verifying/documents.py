"""Small documents of every kind that is no extraction, as the commands write them."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hornlens.results.analysis.review import begin_review
from hornlens.results.documents.saving import read_result
from tests.command import hornlens

OLD = Path(__file__).parents[1] / "old" / "0.2"

PROBE = """
hornlens: 1
name: small
templates: ["{label} was born in {continent} and is a {occupation}."]
attributes:
  - name: continent
    unset: an unknown place
    values: [Africa, Europe]
  - name: occupation
    unset: person
    values: [nurse, lawyer]
label:
  name: gender
  values: [{name: female, word: She}, {name: male, word: He}]
"""
STUDY = """
hornlens: 1
name: small
probe: probe.yaml
models: [demo, demo-balanced]
budgets: [2, 6]
runs: 2
"""
REQUIREMENTS = """
hornlens: 1
forbid: ["nurse & male -> false"]
require: ["lawyer & female -> false"]
invariant: [{attributes: [continent]}]
at_least: exact
"""
VALUES = """name,age,size,member,class
ann,25,small,1,a
bob,31,large,0,b
cem,47,medium,1,a
dea,58,large,0,b
eva,62,medium,0,b
fay,33,large,1,b
gus,29,small,1,a
"""
CROSSES = """flies,swims,lays eggs,feathers,fur
1,0,1,1,0
1,1,1,1,0
0,1,1,1,0
0,1,1,0,1
0,0,0,0,1
1,0,0,0,1
"""
CNF = "c 1 a\nc 2 b\nc 3 c\nc 4 d\np cnf 4 3\n-1 2 0\n-1 -3 0\n2 3 -4 0\n"


@dataclass(frozen=True)
class Document:
    """A document on disk, and what `verify` has to be given with it."""

    path: Path
    how: dict[str, Any] = field(default_factory=dict)


def write_all(folder: Path) -> dict[str, Document]:
    """Write a document of each kind under a folder."""
    texts = {
        "probe.yaml": PROBE,
        "plan.yaml": STUDY,
        "rules.yaml": REQUIREMENTS,
        "values.csv": VALUES,
        "crosses.csv": CROSSES,
        "formula.cnf": CNF,
        "animals.yaml": "hornlens: 1\nvariables: [flies, swims, lays eggs, feathers, fur]\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")

    def run(*words: Any) -> str:
        done = hornlens(*words, cwd=folder)
        assert done.returncode in (0, 1), (words, done.stderr)
        return done.stdout

    cache = ("--cache", folder / "cache.sqlite")
    run("study", "plan.yaml", "--out", "study", "-q", *cache)
    run("bias", "--model", "demo", "--min-people", 6000, "--out", "bias", "-q", *cache)
    exact = [f"study/exact/{name}" for name in ("demo", "demo-balanced")]
    run("compare", *exact, "--out", "compared")
    (folder / "check.json").write_text(run("check", *exact, "rules.yaml", "--format", "json"))
    run("envelope", "crosses.csv", "--out", "table", "-q")
    scaled = ("--scale", "age=quantiles:3", "--min-confidence", 0.8, "--max-conditions", 2)
    files = {
        "scaled.json": ("envelope", "values.csv", *scaled, "--chance", 49, "--basis", "unit"),
        "labelled.json": ("envelope", "values.csv", "--label", "class", "--chance", 49),
        "direct.json": ("envelope", "crosses.csv", "--basis", "direct"),
        "levels.json": ("envelope", "formula.cnf", "--detail", "2"),
        "learned.json": ("learn", "formula.cnf", "--trace"),
        "encoded.json": ("learn", "formula.cnf", "--goal", "cnf", "--via-encoding"),
        "closure.json": ("learn", "formula.cnf", "--algorithm", "closure"),
    }
    for name, words in files.items():
        (folder / name).write_text(run(*words, "--format", "json", "-q"), encoding="utf-8")
    asked = ("explore", "animals.yaml", "--expert", "rows/crosses.csv")
    (folder / "explored.json").write_text(run(*asked, "--format", "json", *cache))
    against = {name: files[name][1] for name in files}
    documents = {
        "study": Document(folder / "study/study.json"),
        "times": Document(folder / "study/times.json"),
        "run": Document(folder / "study/exact/demo/run.json"),
        "bias": Document(folder / "bias/bias.json"),
        "bias run": Document(folder / "bias/run.json"),
        "comparison": Document(folder / "compared/comparison.json"),
        "check": Document(folder / "check.json"),
        "table": Document(folder / "table/envelope.json", {"against": folder / "crosses.csv"}),
    }
    for name, file in against.items():
        kind = name.removesuffix(".json")
        documents[kind] = Document(folder / name, {"against": folder / file})
    session = folder / "animals.exploration.json"
    documents["explored"] = Document(folder / "explored.json", {"against": session})
    documents["session"] = Document(session)
    documents["review"] = Document(_review(folder / "reviewed"))
    return documents


def _review(folder: Path) -> Path:
    """Review some replies of an old result, which is copied."""
    folder.mkdir()
    shutil.copy(OLD / "chat-says" / "envelope.json", folder)
    review = begin_review(read_result(folder), 6)
    for place in range(4):
        review = review.with_verdict(place, place != 1)
    review.save(folder)
    return folder / "review.json"
