"""Every field of every kind of document that is no extraction is changed: `verify` owns up to it.

A change is refused, or its field is named as not checked, or it is harmless by the ledger.
"""

import os
import random
from pathlib import Path

import pytest

from hornlens.formats.jsonfiles import read_json
from hornlens.verification import verify
from hornlens.verifying.ledgers import ledger_of
from tests.verifying.documents import write_all
from tests.verifying.walking import accepted_changes

LONG = os.environ.get("HORNLENS_FAULTS") == "long"
KINDS = (
    *("study", "times", "run", "bias", "bias run", "comparison", "check", "session", "review"),
    *("table", "scaled", "labelled", "direct", "levels", "learned", "encoded", "closure"),
    "explored",
)
COUNTS = {"study": 30, "comparison": 40, "check": 40}
"""How many changes are tried of documents that take long to verify; of others, 80."""


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("documents"))


@pytest.fixture
def inside(documents):
    """Work in the folder of the documents: they name files from there."""
    before = Path.cwd()
    os.chdir(documents["check"].path.parent)
    yield documents
    os.chdir(before)


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_verified(kind, inside):
    document = inside[kind]
    done = verify(document.path, **document.how)
    assert done.ok, done.wrong
    content = read_json(document.path)
    known = ledger_of(content)
    assert not [name for name in known.intact_in(content) if "unknown" in name]
    assert not [line for line in done.not_checked if "unknown" in line]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_change_passes_unnamed(kind, inside):
    document = inside[kind]
    ledger = ledger_of(read_json(document.path))
    rng = random.Random(f"{kind} 28")
    most, count = (None, None) if LONG else (2, COUNTS.get(kind, 80))
    wrong, tried = accepted_changes(document.path, ledger, rng, most, count, **document.how)
    assert tried and not wrong, (tried, len(wrong), wrong[:20])
