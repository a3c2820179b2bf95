"""What holds for all tests: they leave the user's files alone, and what they save is verified.

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

from hornlens.classifiers import saving as explanations
from hornlens.results.documents import codec, saving, writing
from hornlens.verifying.verify import verify_content
from tests.command import say_no_progress
from tests.schemas import fits, written_as_told

SESSION = "HORNLENS_TEST_SESSION"
"""Where the tests of this session keep what would go to the user's own folders."""
OWN = {
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "IPYTHONDIR": "ipython",
    "JUPYTER_CONFIG_DIR": "jupyter/config",
    "JUPYTER_DATA_DIR": "jupyter/data",
    "JUPYTER_RUNTIME_DIR": "jupyter/runtime",
}
"""Who keeps something for the user, and where in that folder it is kept instead."""


def pytest_configure(config):
    """Leave the user's own files alone: whatever is kept, is kept in a folder of this session.

    Worker processes, commands, browsers and notebooks inherit it. In the background of a script,
    Ctrl-C is ignored by all that it starts: here it is heeded, for some tests send it.
    """
    say_no_progress()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if SESSION in os.environ:
        return
    fonts = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    session = Path(tempfile.mkdtemp(prefix="hornlens-tests-"))
    os.environ |= {SESSION: str(session)} | {name: str(session / of) for name, of in OWN.items()}
    if fonts.is_dir():  # to look for them takes seconds
        shutil.copytree(fonts, session / "cache" / "matplotlib")
    os.environ.pop("HORNLENS_CACHE", None)
    config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(SESSION), ignore_errors=True))


SEEDS = {"seed", "block", "chunk"}
"""What the numbers are called that random cases are made from."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of tests over many seeds, one of four is quick, one is slow, and two are long ones.

    A long one is no slow one: each test has one time at which it is run.
    """
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        turns = {(number or 0) % 4 for name, number in given.items() if name in SEEDS}
        if turns & {2, 3} and not item.get_closest_marker("long"):
            item.add_marker(pytest.mark.long)
        elif 1 in turns:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _ctrl_c_is_as_before(monkeypatch):
    """The command line, run inside a test, takes it, and the errors that Python drops."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    kept = signal.getsignal(signal.SIGINT)
    yield
    if kept is not None and signal.getsignal(signal.SIGINT) is not kept:
        signal.signal(signal.SIGINT, kept)


@pytest.fixture(autouse=True)
def _saved_results_are_verified(monkeypatch):
    """And as the published schemas say."""

    def verified(extraction):
        content = writing.extraction_as_json(extraction)
        read = json.loads(json.dumps(content))
        fits("envelope", read)
        done = verify_content(read, Path("envelope.json"))
        assert done.ok, done.wrong
        return content

    def explained(result):
        content = of_classifier(result)
        read = json.loads(json.dumps(content))
        fits("envelope", read)
        assert (done := verify_content(read, Path("envelope.json"))).ok, done.wrong
        return content

    def told(codec, value):
        content = as_json(codec, value)
        written_as_told(codec, json.loads(json.dumps(content)))
        return content

    as_json = codec.Codec.as_json
    of_classifier = explanations.explanation_as_json
    monkeypatch.setattr(saving, "extraction_as_json", verified)
    monkeypatch.setattr(explanations, "explanation_as_json", explained)
    monkeypatch.setattr(codec.Codec, "as_json", told)
