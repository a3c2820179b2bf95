"""The notebooks of examples/ are run, each in a kernel of its own: they show what they say."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

from tools.notebooks import EXAMPLES, executed, texts  # noqa: E402

NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_showed(path: Path):
    kept = nbformat.read(path, as_version=4)
    done = executed(path)  # an error of a cell is an error here
    if any(texts(kept)):
        assert texts(done) == texts(kept), "python -m tools.notebooks writes what they show now"


def test_there_are_notebooks_for_what_people_come_for():
    assert {path.stem for path in NOTEBOOKS} >= {
        "audit-a-language-model",
        "explain-a-classifier",
        "explore-a-context",
        "reproduce-the-paper",
        "your-own-learner-and-oracle",
    }
