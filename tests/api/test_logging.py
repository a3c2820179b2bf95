"""The library's log: silent unless asked for, on standard error, without prompts and secrets."""

import logging
import os
import sqlite3
from collections import deque
from contextlib import closing

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.executors.driving import Driver
from hornlens.limits import Limits
from hornlens.logging import get_logger, get_verbosity, set_verbosity, without_secrets
from hornlens.models.chat.pacing import Patience
from hornlens.models.protocol import ModelError, ModelOptions, Spending
from hornlens.models.registry import open_model
from hornlens.redaction import REMOVED
from hornlens.store.protocol import Scores
from hornlens.store.sqlite import AnswerCache
from hornlens.testing.models import ask
from tests.api.test_api import python
from tests.chat_server import ChatServer, keep_to_itself
from tests.command import hornlens as run_command

SECRET = "sk-test-0123456789abcdefSECRET"
PROMPTS = ("[MASK] works as a nurse.", "[MASK] works as a judge.")
WORDS = ("She", "He")
QUICK = Patience(attempts=6, busy=5.0, first_pause=0.002, longest_pause=0.02, timeout=10.0)


@pytest.fixture(autouse=True)
def _quiet_again():
    yield
    set_verbosity("off")


# How it is shown.


def test_a_library_is_quiet_by_default():
    """Also of warnings, which Python prints where a logger has no handler."""
    shown = python(
        "import sys; sys.stderr = sys.stdout\n"
        "from hornlens.logging import get_logger, get_verbosity\n"
        "get_logger('hornlens.store').warning('a cache is damaged')\n"
        "print(get_verbosity())"
    )
    assert shown == "off"


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_the_log_is_shown_from_a_level_on(level, capsys):
    set_verbosity(level)
    assert get_verbosity() == level
    log = get_logger("hornlens.somewhere")
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("a line of %s", name)
    names = ["debug", "info", "warning", "error"]
    expected = [f"hornlens: {n.upper()}: a line of {n}" for n in names[names.index(level) :]]
    shown = capsys.readouterr()
    assert shown.err.splitlines() == expected and shown.out == ""
    set_verbosity("off")
    log.error("more")
    assert capsys.readouterr().err == "" and get_verbosity() == "off"


def test_set_twice_it_is_shown_once(capsys):
    set_verbosity("info")
    set_verbosity("info")
    get_logger("hornlens.somewhere").info("once")
    assert capsys.readouterr().err == "hornlens: INFO: once\n"


def test_a_level_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="one of debug, info, warning, error, off, not 'loud'"):
        set_verbosity("loud")


def test_handlers_of_ones_own_get_the_log(caplog):
    with caplog.at_level(logging.INFO, "hornlens"):
        get_logger("hornlens.somewhere").info("told")
    assert caplog.messages == ["told"]


# What is never in it.


@pytest.mark.parametrize(
    "text",
    [
        f"the key {SECRET} is wrong",
        "postgresql://ann:pass-word-of-ann@host/db",
        "http://ann:pass-word-of-ann@127.0.0.1:8080/v1",
        "hf_abcdefghijklmnop",
        "a plain word, which is a token",
    ],
)
def test_secrets_are_taken_out(text, monkeypatch, caplog):
    monkeypatch.setenv("HF_TOKEN", "a plain word")
    with caplog.at_level(logging.DEBUG, "hornlens"):
        get_logger("hornlens.somewhere").info("%s", text)
        get_logger("hornlens.somewhere").info(text)
    for message in (*caplog.messages, without_secrets(text)):
        assert "…" in message or REMOVED in message
        for secret in (SECRET, "pass-word", "abcdefghijklmnop", "plain word"):
            assert secret not in message


def test_a_traceback_and_what_a_terminal_obeys_are_left_out(caplog):
    with caplog.at_level(logging.DEBUG, "hornlens"):
        try:
            raise ValueError(SECRET)
        except ValueError:
            get_logger("hornlens.somewhere").exception("failed:\x1b[2J\n%s", "here")
    assert SECRET not in caplog.text and caplog.messages == ["failed: [2J here"]


# What is in it.


@pytest.fixture
def chat(monkeypatch, tmp_path):
    pytest.importorskip("openai")
    keep_to_itself(monkeypatch, tmp_path, SECRET)

    def model_at(server, **options):
        given = ModelOptions(base_url=server.url, elicit="say", **options)
        model = open_model("openai/tiny", given)
        model.connection.patience = QUICK
        return model

    return model_at


def test_calls_that_are_sent_again_are_logged_without_the_endpoints_words(chat, caplog):
    faults = ["", "500", "429", "malformed"]
    with ChatServer(faults=faults) as server, caplog.at_level(logging.DEBUG, "hornlens"):
        ask(chat(server, batch_size=1), PROMPTS, WORDS)
    again = [message for message in caplog.messages if "asking again in" in message]
    assert len(again) == 3 and all(message.startswith("tiny at 127.0.0.1:") for message in again)
    for reason in ("(status 500)", "(status 429)", "(what came back is no JSON)"):
        assert sum(reason in message for message in again) == 1
    told = {record.levelno for record in caplog.records if "asking again" in record.getMessage()}
    assert told == {logging.INFO}
    whole = caplog.text
    assert SECRET not in whole and "nurse" not in whole and "judge" not in whole


def test_a_budget_that_is_reached_is_logged(chat, caplog):
    with (
        ChatServer() as server,
        caplog.at_level(logging.INFO, "hornlens"),
        pytest.raises(ModelError, match="--max-calls 1 is reached"),
    ):
        ask(chat(server, limits=Spending(calls=1)), PROMPTS, WORDS)
    assert "--max-calls 1 is reached" in caplog.messages


def test_a_limit_that_is_reached_is_logged_once(caplog):
    ticks = iter(range(0, 100, 10))
    limits = Limits(time_limit=15, clock=lambda: next(ticks))
    with caplog.at_level(logging.INFO, "hornlens"):
        while limits.reached() is None:
            pass
        limits.reached()
    assert caplog.messages == ["ended early: time_limit is reached"]


def test_damaged_answers_that_are_asked_again_are_logged(tmp_path, caplog):
    path = tmp_path / "c.sqlite"
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "m", [("a secret prompt", Scores((0.5, 0.5)))], WORDS)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE answers SET scores = '[0.1, 0.9]x'")
        connection.commit()
    with caplog.at_level(logging.WARNING, "hornlens"), closing(AnswerCache(path)) as cache:
        assert cache.get("m", ["a secret prompt"], WORDS) == {}
    assert any("are damaged; they are asked for again" in line for line in caplog.messages)
    assert "a secret prompt" not in caplog.text


def test_a_cache_that_is_rebuilt_is_logged(tmp_path, caplog):
    path = tmp_path / "c.sqlite"
    with closing(AnswerCache(path)) as cache:
        cache.put("m", "m", [("a prompt", Scores((0.5, 0.5)))], WORDS)
    data = bytearray(path.read_bytes())
    data[100:200] = bytes(100)
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "hornlens"), closing(AnswerCache(path)) as cache:
        cache.get("m", ["a prompt"], WORDS)
    (line,) = caplog.messages
    assert "is damaged" in line and "c.sqlite.damaged-1" in line


def test_a_model_that_is_loaded_is_logged(caplog):
    pytest.importorskip("onnxruntime")
    with caplog.at_level(logging.INFO, "hornlens"):
        hornlens.extract("demo", cache=False)
    assert caplog.messages == ["demo: loaded"]
    assert [record.name for record in caplog.records] == ["hornlens.models.demo"]


class _Ray:
    def kill(self, actor):
        pass


class _Cluster:
    ray = _Ray()

    def __init__(self):
        self.told = []

    def warn(self, line):
        self.told.append(line)


def test_a_run_that_begins_anew_is_logged(caplog):
    """What `Driver` does when a node is gone; real nodes are killed in tests/real_ray.py."""
    driver, cluster = object.__new__(Driver), _Cluster()
    run = type("Run", (), {"deaths": 0, "actor": None})()
    driver._cluster, driver._active, driver._queue = cluster, [run], deque()
    with caplog.at_level(logging.WARNING, "hornlens"):
        driver._lost(run, RuntimeError("gone"))
    assert caplog.messages == cluster.told and "begins anew" in caplog.messages[0]
    assert list(driver._queue) == [run]


# On the command line.


def test_a_command_shows_what_it_always_did_unless_the_log_is_asked_for(tmp_path):
    words = ("extract", "--no-cache", "--quiet", "--out", "out")
    usual = run_command(*words, cwd=tmp_path)
    assert usual.returncode == 0 and "loaded" not in usual.stderr
    told = run_command(*words, cwd=tmp_path, env={**os.environ, "HORNLENS_LOG": "info"})
    assert told.returncode == 0
    assert told.stderr.splitlines() == [*usual.stderr.splitlines(), "hornlens: INFO: demo: loaded"]
    wrong = run_command(*words, cwd=tmp_path, env={**os.environ, "HORNLENS_LOG": "loud"})
    assert wrong.returncode == 2 and wrong.stderr.startswith("hornlens: HORNLENS_LOG: the level")


def test_errors_for_people_are_no_business_of_the_log(caplog):
    with caplog.at_level(logging.DEBUG, "hornlens"), pytest.raises(HornlensError):
        hornlens.Policy(margin=-1)
    assert caplog.messages == []
