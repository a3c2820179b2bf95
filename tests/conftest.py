"""Every result that a test saves is verified, by a checker that shares no code with its makers."""

import json
from pathlib import Path

import pytest

from hornlens.results import documents, saving
from hornlens.verifying.verify import verify_content


@pytest.fixture(autouse=True)
def _saved_results_are_verified(monkeypatch):
    def verified(extraction):
        content = documents.extraction_as_json(extraction)
        done = verify_content(json.loads(json.dumps(content)), Path("envelope.json"))
        assert done.ok, done.wrong
        return content

    monkeypatch.setattr(saving, "extraction_as_json", verified)
