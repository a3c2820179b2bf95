"""Results of every kind can be pickled, and are the same in another process."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hornlens
from hornlens import Limits, Settings
from hornlens.formats.jsonfiles import json_text
from hornlens.pronouns.bias import BIAS
from hornlens.studies.documents import STUDY
from tests import page_cases

ROWS = np.random.default_rng(0).random((60, 3))
READ = (
    "import pickle, sys, json; from hornlens.formats.jsonfiles import json_text; "
    "result = pickle.load(open(sys.argv[1], 'rb')); "
    "open(sys.argv[2], 'w').write(json_text(result.as_json()))"
)


def forest(rows):
    ensemble = pytest.importorskip("sklearn.ensemble")
    return ensemble.RandomForestClassifier(3, random_state=0).fit(rows, ROWS[:, 0] > 0.5)


def pandas_rows():
    return pytest.importorskip("pandas").DataFrame(ROWS, columns=list("abc"))


def polars_rows():
    return pytest.importorskip("polars").DataFrame(ROWS, schema=list("abc"))


def low(rows):
    return np.asarray(rows)[:, 0] < 0.5


MADE = {
    "built-in model": lambda: hornlens.extract("demo", cache=False),
    "another built-in model": lambda: hornlens.extract(cache=False, probe="gender-occupation"),
    "function of prompts": lambda: hornlens.extract(lambda p, w: [0.9, 0.1], cache=False),
    "sifted prompts": lambda: hornlens.extract(
        "demo", cache=False, settings=Settings(equivalence="sift"), limits=Limits(max_questions=99)
    ),
    "trees": lambda: hornlens.explain(forest(ROWS), ROWS),
    "trees and pandas": lambda: hornlens.explain(forest(pandas_rows()), pandas_rows()),
    "function and pandas": lambda: hornlens.explain(lambda rows: rows["a"] < 0.5, pandas_rows()),
    "function and polars": lambda: hornlens.explain(low, polars_rows()),
    "lambda and polars": lambda: hornlens.explain(lambda rows: low(rows), polars_rows()),
    "sifted classifier": lambda: hornlens.explain(lambda rows: low(rows), ROWS, limit=5),
    "ended by calls": lambda: hornlens.explain(
        lambda rows: low(rows), ROWS, limits=Limits(max_calls=99)
    ),
    "table": lambda: hornlens.envelope(pandas_rows().round().astype(int)),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_result_is_the_same_in_another_process(kind, tmp_path):
    result = MADE[kind]()
    file, read = tmp_path / "result.pickle", tmp_path / "read.json"
    file.write_bytes(pickle.dumps(result))
    done = subprocess.run(
        [sys.executable, "-c", READ, file, read], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert read.read_text("utf-8") == json_text(result.as_json())
    again = pickle.loads(file.read_bytes())
    assert str(again.rules) == str(result.rules) and again.certificate == result.certificate
    if kind == "table":
        return
    again.save(tmp_path / "again")
    assert hornlens.verify(tmp_path / "again").ok


DOCUMENTS = {
    "study": lambda: (STUDY, page_cases.STUDIES["four"]()),
    "bias": lambda: (BIAS, page_cases.BIASES["two"]()),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_of_several_models_can_be_pickled(kind):
    form, content = DOCUMENTS[kind]()
    document = form.parse(content, Path(f"{kind}.json"))
    again = pickle.loads(pickle.dumps(document))
    assert again == document and form.as_json(again) == form.as_json(document)


def test_outcomes_can_be_pickled(tmp_path):
    result = hornlens.extract("demo", cache=False)
    result.save(tmp_path)
    outcomes = (hornlens.verify(tmp_path), hornlens.compare([tmp_path, tmp_path]))
    for outcome in outcomes:
        again = pickle.loads(pickle.dumps(outcome))
        assert again == outcome
