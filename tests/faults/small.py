"""Small inputs of every kind, and commands on them: what the attacks are made on."""

import json
from itertools import product
from pathlib import Path

import pytest

PROBE = """\
hornlens: 1
name: small
description: A small question.
templates: ["{person} from {place} said that {label} left."]
attributes:
  - name: work
    unset: somebody
    values:
      - {name: nurse, text: a nurse}
      - {name: priest, text: a priest}
      - {name: cook, text: a cook}
  - name: place
    unset: here
    values:
      - {name: Europe, text: Europe}
      - {name: Norway, text: Norway, under: Europe}
      - {name: Asia, text: Asia}
label:
  name: pronoun
  values: [{name: he, word: he}, {name: she, word: she}]
policy: {margin: 0.01}
""".replace("{person}", "{work}")
STUDY = """\
hornlens: 1
name: small
description: A small study.
probe: probe.yaml
models: [table/MODEL, table/OTHER]
budgets: [2, 9]
runs: 2
samples: 40
"""
REQUIREMENTS = """\
hornlens: 1
require: [nurse -> she]
forbid:
  - rule: priest & she -> false
    because: it is so
invariant: [{attributes: [work], tolerance: 0.9}]
at_least: exact
"""
TABLE = "a,b,c\n1,0,1\n1,1,0\n0,0,0\n"
CONTEXT = "B\n\n2\n3\n\no1\no2\na\nb\nc\nX.X\n.X.\n"
FORMULA = "c var 1 a\np cnf 4 3\n1 -2 0\n-3 2 4 0\n-1 -4 0\n"
HORN = "c var 1 a\np cnf 4 2\n-2 1 0\n-3 -4 0\n"


def prompts() -> list[str]:
    work = ["somebody", "a nurse", "a priest", "a cook"]
    place = ["here", "Europe", "Norway", "Asia"]
    return [f"{w} from {p} said that [MASK] left." for w, p in product(work, place)]


def write_all(folder: Path) -> None:
    """Write the inputs under a folder."""
    for name, text in {
        "probe.yaml": PROBE,
        "rules.yaml": REQUIREMENTS,
        "table.csv": TABLE,
        "context.cxt": CONTEXT,
        "formula.cnf": FORMULA,
        "horn.cnf": HORN,
    }.items():
        (folder / name).write_text(text)
    for number, name in enumerate(("scores.csv", "other.csv")):
        lines = ["prompt,he,she"]
        for i, prompt in enumerate(prompts()):
            lines.append(f"{prompt},{-1 - (i * 7 + number) % 5},{-1 - (i * 3) % 4}")
        (folder / name).write_text("\n".join(lines) + "\n")
    models = str(folder / "scores.csv"), str(folder / "other.csv")
    text = STUDY.replace("MODEL", models[0]).replace("OTHER", models[1])
    (folder / "study.yaml").write_text(text)


def dataset(folder: Path) -> None:
    """Write a small data set of people under a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"hornlens": "0.1.0", "name": "few", "source": "", "transformation": {}}
    (folder / "dataset.json").write_text(json.dumps(about))
    (folder / "people.csv").write_text(
        "occupation,period,continent,gender,people\nnurse,old,Asia,female,3\npriest,new,,male,2\n"
        "nurse,new,Asia,male,4\n,old,,,1\n"
    )
    (folder / "probe.yaml").write_text(
        "hornlens: 1\nname: few\n"
        'templates: ["{label} was {a:occupation} from {continent}, {period}."]\n'
        "attributes:\n"
        "  - {name: period, unset: once, values: [old, new]}\n"
        "  - {name: continent, unset: somewhere, values: [Asia]}\n"
        "  - {name: occupation, unset: person, values: [nurse, priest]}\n"
        "label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}\n"
    )


def people_model(path: Path) -> None:
    """Write a model that answers the prompts of the small data set."""
    lines = ["prompt,She,He"]
    for work in ("a person", "a nurse", "a priest"):
        for place in ("somewhere", "Asia"):
            for time in ("once", "old", "new"):
                scores = -len(work), -len(place + time)
                lines.append(f'"[MASK] was {work} from {place}, {time}.",{scores[0]},{scores[1]}')
    path.write_text("\n".join(lines) + "\n")


def classifier(folder: Path) -> None:
    """Write a classifier of two columns, y = [a + 2b > 4], in a format that loads at once."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    make, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        make.make_node("MatMul", ["rows", "weights"], ["sums"]),
        make.make_node("Greater", ["sums", "least"], ["more"]),
        make.make_node("Cast", ["more"], ["y"], to=kinds.INT64),
    ]
    graph = make.make_graph(
        nodes,
        "linear",
        [make.make_tensor_value_info("rows", kinds.FLOAT, [None, 2])],
        [make.make_tensor_value_info("y", kinds.INT64, [None, 1])],
        [
            make.make_tensor("weights", kinds.FLOAT, [2, 1], [1.0, 2.0]),
            make.make_tensor("least", kinds.FLOAT, [1], [4.0]),
        ],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    rows = [f"{a},{b},{int(a + 2 * b > 4)}" for a in range(4) for b in range(3)]
    (folder / "rows.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
