"""Every field of every kind of result with answers is changed: none passes that should not."""

import json
import os
import random
import shutil

import pytest

from hornlens.verification import verify
from hornlens.verifying.ledgers.extractions import extraction_ledger
from tests.verifying.extraction_cases import MADE, case
from tests.verifying.walking import accepted_changes

LONG = os.environ.get("HORNLENS_FAULTS") == "long"
MOST = 400 if LONG else 25
"""So many changes of each kind are tried."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("walk")


def alone(kind, folder):
    """Save the document of a kind in a folder of its own; return its path."""
    path = folder / kind / "envelope.json"
    if not path.is_file():
        case(kind).save(folder / "all" / kind)
        path.parent.mkdir()
        shutil.copy(folder / "all" / kind / "envelope.json", path)
    return path


@pytest.mark.parametrize("kind", MADE)
def test_genuine_results_verify_with_all_files(kind, folder):
    alone(kind, folder)
    done = verify(folder / "all" / kind)
    assert done.ok, done.wrong


@pytest.mark.parametrize("kind", MADE)
def test_the_ledger_knows_every_field(kind, folder):
    content = json.loads(alone(kind, folder).read_text("utf-8"))
    named = extraction_ledger(content).intact_in(content)
    assert not [words for words in named if "unknown to this version" in words], named


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_no_change_passes(kind, folder):
    path = alone(kind, folder)
    ledger = extraction_ledger(json.loads(path.read_text("utf-8")))
    rng = random.Random(f"walk {kind}")
    accepted, tried = accepted_changes(path, ledger, rng, None if LONG else 1, MOST)
    assert tried and not accepted
