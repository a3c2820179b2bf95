"""Endpoints that never end, send bombs or nonsense: little memory, little time, one line."""

import gzip
import json
import os
import re
import resource
import subprocess
import sys
import time
import zlib
from contextlib import closing
from functools import cache

import pytest

from hornlens.api import extract
from hornlens.errors import HornlensError
from hornlens.formats.replies import Reply
from hornlens.models.chat.pacing import Patience
from hornlens.models.chat.transport import LARGEST_REPLY
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer, ModelError, Spending
from hornlens.probes.loading import parse_probe
from hornlens.pronouns import sparql
from hornlens.store.sqlite import AnswerCache
from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.command import hornlens
from tests.faults.hostile_server import (
    KEY,
    PROXIES,
    HostileServer,
    command,
    reply_to,
    run,
    sent,
    sent_json,
)
from tests.faults.rounds import combined, rounds

pytest.importorskip("openai")
pytest.importorskip("anthropic")

RUN = """
import sys
from hornlens.cli.main import main
try:
    main()
finally:
    lines = open("/proc/self/status").read().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""
"""The command, which says at the end how much memory it had at most, in kB."""


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path, KEY)
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def measured(words, timeout=60):
    """Run a command as a process of its own; return how it ended, its lines, kB and seconds."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    *lines, memory = done.stderr.splitlines()
    return done.returncode, lines, int(memory), time.monotonic() - begun


# Bodies without end


def endless(handler, path, body):
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("connection", "close")
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * (1 << 20))


def chunked(handler, path, body):
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    while True:
        handler.wfile.write(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")


def ten_megabytes(handler, path, body):
    reply = reply_to(path, body)
    if "choices" in reply:
        reply["choices"][0]["message"]["content"] = "She " * 2_500_000
    else:
        reply["padding"] = "x" * 10_000_000
    sent_json(handler, reply)


def bomb(handler, path, body):
    """10 GB of zeros in 10 MB: a piece of zlib's output again and again."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-encoding", "gzip")
    handler.send_header("connection", "close")
    handler.end_headers()
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 24)
    for _ in range(640):
        handler.wfile.write(packer.compress(zeros))
    handler.wfile.write(packer.flush())


def deflated(handler, path, body):
    sent(
        handler,
        200,
        zlib.compress(json.dumps(reply_to(path, body)).encode()),
        content_encoding="deflate",
    )


def gzipped(handler, path, body):
    sent(
        handler,
        200,
        gzip.compress(json.dumps(reply_to(path, body)).encode()),
        content_encoding="gzip",
    )


def huge_error(handler, path, body):
    sent_json(handler, {"error": {"message": "x" * 20_000_000}}, 400)


UNFIT = (endless, chunked, ten_megabytes, bomb, deflated, gzipped, huge_error)
KINDS = ("openai", "anthropic")


def names(choice):
    """How a choice is called in the name of a test."""
    return getattr(choice, "__name__", str(choice)[:60])


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """How much memory a run takes with an endpoint that is as it should be."""

    @cache
    def memory(kind):
        with ChatServer() as server:
            words = command(server, tmp_path_factory.mktemp(kind), kind=kind)
            code, lines, most, _ = measured(words)
        assert code == 0, lines
        return most

    return memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize(("respond", "kind"), combined(UNFIT, KINDS), ids=names)
def test_a_body_without_end_is_refused_in_a_line_with_little_memory(respond, kind, tmp_path, usual):
    with HostileServer(respond) as server:
        words = command(server, tmp_path, "--cache", tmp_path / "b.sqlite", kind=kind)
        code, lines, memory, seconds = measured(words)
    assert code == 2 and len(lines) == 1, lines
    assert re.search(r"more than \d+ MB: it is not read|is compressed", lines[0]), lines
    assert memory < usual(kind) + 64_000 and seconds < 30, (memory, usual(kind), seconds)


def slow_body(server):
    def respond(handler, path, body):
        data = json.dumps(reply_to(path, body)).encode()
        handler.send_response(200)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        for byte in data:
            handler.wfile.write(bytes([byte]))
            if server.closing.wait(0.2):
                return

    return respond


def slow_headers(server):
    def respond(handler, path, body):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not server.closing.wait(0.05):
            handler.wfile.write(b"x-more: yes\r\n")

    return respond


def slow_status(server):
    def respond(handler, path, body):
        for byte in b"HTTP/1.1 200 " + b"O" * 10_000:
            handler.wfile.write(bytes([byte]))
            if server.closing.wait(0.05):
                return

    return respond


def fast_headers(server):
    def respond(handler, path, body):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"x-more: yes\r\n" * 1000)

    return respond


def one_header(server):
    def respond(handler, path, body):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-more: ")
        while True:
            handler.wfile.write(b"y" * 65536)

    return respond


SLOW = (slow_body, slow_headers, slow_status, fast_headers, one_header)


@pytest.mark.parametrize(("make", "kind"), combined(SLOW, KINDS), ids=names)
def test_a_call_has_a_time_of_its_own_whatever_trickles_in(make, kind):
    patience = Patience(attempts=2, first_pause=0.002, longest_pause=0.01, timeout=1.0)
    with HostileServer() as server:
        server.respond = make(server)
        begun, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ModelError) as caught:
            run(server, kind, patience=patience)
        assert time.monotonic() - begun < 15 and "\n" not in str(caught.value)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < memory + 64_000


@pytest.mark.parametrize("make", SLOW, ids=lambda make: make.__name__)
def test_a_query_has_a_time_of_its_own_whatever_trickles_in(make):
    with HostileServer() as server:
        server.respond = make(server)
        endpoint = sparql.Endpoint(f"{server.root}/sparql", "test", timeout=1.0, tries=2)
        endpoint.sleep = lambda seconds: None
        begun = time.monotonic()
        with pytest.raises(HornlensError) as caught:
            endpoint.select("SELECT")
        assert time.monotonic() - begun < 15 and "\n" not in str(caught.value)


@pytest.mark.parametrize("respond", [endless, chunked], ids=lambda respond: respond.__name__)
def test_an_answer_of_a_sparql_endpoint_has_a_limit(respond, monkeypatch):
    monkeypatch.setattr(sparql, "LARGEST", 8 << 20)
    with HostileServer(respond) as server:
        endpoint = sparql.Endpoint(f"{server.root}/sparql", "test", timeout=30.0)
        with pytest.raises(HornlensError, match="more than 8 MB: it is not read"):
            endpoint.select("SELECT")


def test_a_reply_of_just_under_the_limit_is_read():
    def respond(handler, path, body):
        reply = reply_to(path, body)
        if "choices" in reply:
            size = len(json.dumps(reply))
            reply["choices"][0]["message"]["content"] = "She." + " " * (LARGEST_REPLY - size - 100)
        sent_json(handler, reply)

    with HostileServer(respond) as server:
        assert {d.winner for d in run(server).decisions.values()} == {0}


# Nonsense

NONSENSE = {
    "nested lists": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "nested content": '{"choices": [{"message": {"content": ' + "[" * 900 + "]" * 900 + "}}]}",
    "null": "null",
    "a number": "17",
    "a text": '"She"',
    "a list": "[]",
    "a list of lists": "[[[]]]",
    "true": "true",
    "NaN": "NaN",
    "no JSON": "{",
    "nothing": "",
    "bytes": "\udcff",
    "choices: object": '{"choices": {}}',
    "choices: text": '{"choices": "She"}',
    "choices: number": '{"choices": 1}',
    "choices: null": '{"choices": [null]}',
    "choices: lists": '{"choices": [[]]}',
    "message: text": '{"choices": [{"message": "She"}]}',
    "message: list": '{"choices": [{"message": ["She"]}]}',
    "content: number": '{"choices": [{"message": {"content": 1e999}}], "content": 1e999}',
    "content: object": '{"choices": [{"message": {"content": {"a": 1}}}], "content": {"a": 1}}',
    "blocks of nulls": '{"content": [null, null]}',
    "blocks of texts": '{"content": ["She"]}',
    "block without type": '{"content": [{"text": "She"}]}',
    "block with a number": '{"content": [{"type": "text", "text": 5}]}',
    "a number of 5000 digits": '{"choices": [{"message": {"content": ' + "9" * 5000 + "}}]}",
}


@pytest.mark.parametrize(
    ("name", "method", "kind"), combined(NONSENSE, ("say", "constrained"), KINDS)
)
def test_nonsense_is_one_line_or_no_answer(name, method, kind):
    def respond(handler, path, body):
        sent_json(handler, NONSENSE[name]) if body else sent_json(handler, reply_to(path, body))

    with HostileServer(respond) as server, pytest.raises(ModelError) as caught:
        run(server, kind, method)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


FIELDS = (
    *("id", "model", "created", "system_fingerprint", "usage", "choices.0.finish_reason"),
    *("choices.0.logprobs", "choices.0.message.refusal", "choices.0.message.content"),
    *("stop_reason", "type", "usage.prompt_tokens", "usage.input_tokens"),
)
VALUES = (
    *(None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, "", "x" * 1000, "\ud800"),
    *([], [[]], {}, {"a": {"b": [None]}}, [None], ["\udc00"], "\x00\x1b[2J\u202e"),
)


@pytest.mark.parametrize(("field", "kind"), combined(FIELDS, KINDS))
def test_any_value_in_any_field_is_one_line_or_a_result(field, kind):
    """Values of all types, one after the other, in the reply to each question."""
    for value in VALUES[FIELDS.index(field) % rounds(3, 1) :: rounds(3, 1)]:

        def respond(handler, path, body, value=value):
            reply = reply_to(path, body)
            *parents, last = field.split(".")
            inner = reply
            for name in parents:
                inner = inner[int(name)] if name.isdigit() else inner.get(name, {"0": {}})
                if not isinstance(inner, dict | list):
                    break
            if body and isinstance(inner, dict):
                inner[last] = value
            sent_json(handler, reply)

        with HostileServer(respond) as server:
            try:
                run(server, kind)
            except ModelError as error:
                assert "\n" not in str(error) and len(str(error)) < 500, (field, value)


# Counts


def counting(usage):
    def respond(handler, path, body):
        reply = reply_to(path, body)
        if body:
            reply.pop("usage")
        text = json.dumps(reply)
        if body and usage is not None:
            text = f'{text[:-1]}, "usage": {usage}}}'
        sent_json(handler, text)

    return respond


ODD = (
    *("-5", "-1e300", "NaN", "1e999", "-Infinity", '"12"', '"many"', "true", "null", "[1]", "{}"),
    *("0.5", "0", f"1{'0' * 400}", "1e300"),
)


def usage_of(sent, replied):
    """Counts, as both dialects name them."""
    both = f'"prompt_tokens": {sent}, "completion_tokens": {replied}'
    return f'{{{both}, "input_tokens": {sent}, "output_tokens": {replied}}}'


USAGES = (
    *(None, "null", "[]", '"none"', "-3", "true"),
    *(usage_of(odd, odd) for odd in ODD),
    *(usage_of(9, odd) for odd in ODD),
)[:: rounds(4, 1)]


@pytest.mark.parametrize(("usage", "kind"), combined(USAGES, KINDS), ids=names)
def test_odd_counts_give_no_more_room(usage, kind):
    """What is not a count counts as the most that the call can take, as in the dry run."""
    with HostileServer(counting(None)) as server:
        ceiling = Spending(price_in=1.0, price_out=1.0)
        run(server, kind, limits=ceiling)
    with HostileServer(counting(usage)) as server:
        spending = Spending(price_in=1.0, price_out=1.0)
        run(server, kind, limits=spending)
    used = spending.used
    assert used.calls == ceiling.used.calls > 0
    assert used.tokens_out == ceiling.used.tokens_out > 0
    said = usage is not None and ": 9," in usage
    assert used.tokens_in == (9 * used.calls if said else ceiling.used.tokens_in) > 0


@pytest.mark.parametrize("usage", USAGES, ids=lambda usage: str(usage)[:60])
def test_odd_counts_end_a_run_no_later(usage):
    most = 3000
    with HostileServer(counting(usage)) as server:
        spending = Spending(tokens=most)
        result = run(server, limits=spending)
        calls = sum("messages" in body for *_, body in server.seen)
    ended = result.envelope.certificate.ended
    if usage is None or ": 9," not in usage:  # otherwise there may be room for all
        assert ended.reason == "max_tokens"
    assert 0 < calls <= most // 65 and spending.used.tokens_in + spending.used.tokens_out <= most


# Half characters


@pytest.mark.parametrize(
    ("half", "kind"), combined(("\ud800", "\udfff", "a\udc80b", "\udfff\ud800"), KINDS)
)
def test_half_a_character_in_a_reply_ends_no_run(half, kind, tmp_path):
    def respond(handler, path, body):
        reply = reply_to(path, body)
        reply |= {"system_fingerprint": half, "id": half, "model": f"tiny{half}"}
        for choice in reply.get("choices", ()):
            choice |= {"finish_reason": half}
            choice["message"]["content"] += f" {half}"
        for block in reply.get("content", ()):
            block["text"] += f" {half}"
        sent_json(handler, reply)

    with HostileServer(respond) as server:
        done = hornlens(*command(server, tmp_path, kind=kind))
    assert done.returncode == 0, done.stderr
    files = list((tmp_path / "out").iterdir())
    assert {"envelope.json", "replies.csv", "report.html"} <= {path.name for path in files}
    for path in files:
        path.read_text(encoding="utf-8")
    assert hornlens("verify", tmp_path / "out").returncode == 0
    assert "\ufffd" in (tmp_path / "out" / "envelope.json").read_text(encoding="utf-8")


def test_half_a_character_in_the_reply_of_ones_own_model_ends_no_run(tmp_path):
    class Own(FunctionModel):
        def score(self, prompts, candidates):
            replies = (Reply("She \ud800", fingerprint="\udfff", named=0),)
            answer = Answer(named=0, replies=replies, unknown=("\ud800",))
            yield [(index, answer) for index in range(len(prompts))]

    own = Own(lambda *_: None, identity="own")
    with closing(AnswerCache(tmp_path / "a.sqlite")) as store:
        extract(own, parse_probe(PROBE), cache=store).save(tmp_path / "out")
    (tmp_path / "out" / "envelope.json").read_text(encoding="utf-8")
