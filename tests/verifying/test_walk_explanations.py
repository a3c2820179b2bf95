"""Every field of every kind of explanation is changed: refused, or named as not checked."""

import json
import random

import numpy as np
import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.results.documents.explanations import packed
from hornlens.verifying.ledgers.classifiers import CLASSIFIER
from hornlens.verifying.verify import verify_alone
from tests.faults.rounds import rounds
from tests.verifying.explanation_kinds import KINDS, explained, unpacked_numbers
from tests.verifying.walking import accepted_changes, changes, denies

PACKED = {
    ("cells", "labels"): ("b", np.int8),
    ("cells", "cells"): ("H", np.uint16),
    ("rows", "cells"): ("H", np.uint16),
    ("rows", "said"): ("b", np.int8),
    ("measured", "cells"): ("H", np.uint16),
    ("measured", "points"): ("b", np.int8),
    ("measured", "inputs"): ("H", np.uint16),
    ("measured", "again"): ("b", np.int8),
    ("measured", "first"): ("b", np.int8),
}
"""The packed numbers of a document, and their types."""


AS_SETS = ("an entry twice", "backwards")
"""Names of a rule of a record are a set: writing it again shows that they are in order."""


@pytest.fixture(scope="module", params=KINDS)
def document(request, tmp_path_factory):
    """The document of a kind, in a folder of its own."""
    path = tmp_path_factory.mktemp(request.param) / "envelope.json"
    path.write_text(json_text(explained(request.param).as_json()), encoding="utf-8")
    return path


def test_a_genuine_document_is_accepted_and_every_field_has_a_fate(document):
    done = hornlens.verify(document)
    assert done.ok, done.wrong
    assert not [name for name in done.intact if "unknown" in name]
    assert set(done.intact) <= set(done.not_checked)


@pytest.mark.slow
def test_no_field_can_be_changed_that_is_not_named_as_unchecked(document):
    count = rounds(60, 100_000)
    accepted, tried = accepted_changes(
        document, CLASSIFIER, random.Random(count), rounds(2, 12), count
    )
    assert tried and not accepted


@pytest.mark.slow
def test_what_is_recomputed_is_refused_by_independent_code_alone(document):
    content, rng = json.loads(document.read_text()), random.Random(7)
    every = [
        change
        for change in changes(content, rng, rounds(1, 4))
        if CLASSIFIER.fate(change.pattern_in(CLASSIFIER)).kind == "recomputed"
        and not (change.keys[0] == "sift" and change.how in AS_SETS)
    ]
    accepted = [
        str(change)
        for change in rng.sample(every, min(len(every), rounds(30, 5_000)))
        if is_accepted(document, change.content, verify_alone)
    ]
    assert not accepted


@pytest.mark.slow
def test_no_packed_number_can_be_changed(document):
    content, rng = json.loads(document.read_text()), random.Random(11)
    section, accepted = content["classifier"], []
    places = [key for key in PACKED if section.get(key[0], {}).get(key[1])]
    if "sift" in content:  # which cells a sift chose is named as not checked
        places.remove(("cells", "cells"))
    for _ in range(rounds(20, 1_000)):
        first, second = rng.choice(places)
        code, kind = PACKED[first, second]
        numbers = np.array(unpacked_numbers(section[first][second], code), dtype=kind)
        if not len(numbers):
            continue
        at = rng.randrange(len(numbers))
        other = numbers.copy()
        other[at] = max(0, int(numbers[at]) + rng.choice([-1, 1]))
        if other[at] == numbers[at]:
            other[at] = numbers[at] + 1
        changed = json.loads(json.dumps(content))
        changed["classifier"][first][second] = packed(other)
        if is_accepted(document, changed, hornlens.verify):
            accepted.append(f"{first}.{second}[{at}]: {other[at]} instead of {numbers[at]}")
    assert not accepted


def is_accepted(path, content, check):
    """Return whether a changed document is accepted; it is put back."""
    before = path.read_text(encoding="utf-8")
    path.write_text(json_text(with_digest(content)), encoding="utf-8")
    try:
        return check(path).ok
    except HornlensError:
        return False
    finally:
        path.write_text(before, encoding="utf-8")


def test_what_is_denied_has_a_kind(document):
    content = json.loads(document.read_text())
    kinds = {
        denies(CLASSIFIER, content, change) for change in changes(content, random.Random(0), 1)
    }
    assert kinds == {"recomputed", "rewritten", None}
