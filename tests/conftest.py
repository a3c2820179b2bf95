"""What holds for all tests: they leave the user's caches alone, and what they save is verified.

The checker shares no code with what made the results.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from hornlens.results import codec, documents, saving
from hornlens.verifying.verify import verify_content
from tests.schemas import fits, written_as_told

CACHES = "HORNLENS_TEST_CACHES"
"""Where the tests of this session keep what would go to the user's own caches."""


def pytest_configure(config):
    """Leave the user's own caches alone: whatever is kept, is kept in a folder of this session.

    Worker processes and commands inherit it. matplotlib's list of fonts is only read: to make it
    takes seconds. In the background of a script, Ctrl-C is ignored by all that it starts: here it
    is heeded, for some tests send it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if CACHES in os.environ:
        return
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    if usual.is_dir():
        os.environ.setdefault("MPLCONFIGDIR", str(usual))
    os.environ[CACHES] = os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="hornlens-tests-")
    os.environ.pop("HORNLENS_CACHE", None)
    config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(CACHES), ignore_errors=True))


@pytest.fixture(autouse=True)
def _ctrl_c_is_as_before(monkeypatch):
    """The command line, run inside a test, takes it, and the errors that Python drops."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    kept = signal.getsignal(signal.SIGINT)
    yield
    if kept is not None and signal.getsignal(signal.SIGINT) is not kept:
        signal.signal(signal.SIGINT, kept)


@pytest.fixture(autouse=True)
def _saved_results_are_verified(monkeypatch):
    """And as the published schemas say."""

    def verified(extraction):
        content = documents.extraction_as_json(extraction)
        read = json.loads(json.dumps(content))
        fits("envelope", read)
        done = verify_content(read, Path("envelope.json"))
        assert done.ok, done.wrong
        return content

    def told(codec, value):
        content = as_json(codec, value)
        written_as_told(codec, json.loads(json.dumps(content)))
        return content

    as_json = codec.Codec.as_json
    monkeypatch.setattr(saving, "extraction_as_json", verified)
    monkeypatch.setattr(codec.Codec, "as_json", told)
