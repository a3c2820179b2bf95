"""Endpoints that repeat the key they were sent: it is in no file, cache, page, line or log."""

import base64
import html
import json
import os
import re
import sys
import traceback
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from hornlens.cli import main as command_line
from hornlens.models.chat.address import Address
from hornlens.models.protocol import ModelError
from hornlens.redaction import REMOVED, environment_secrets, redactor
from hornlens.store.postgres import PostgresStore
from hornlens.store.sqlite import AnswerCache
from tests.chat_server import keep_to_itself
from tests.command import hornlens
from tests.faults.hostile_server import (
    KEY,
    PROXIES,
    HostileServer,
    command,
    reply_to,
    run,
    sent_json,
)
from tests.faults.rounds import rounds
from tests.postgres_server import Server

pytest.importorskip("openai")
pytest.importorskip("anthropic")


def full_width(text):
    return "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in text)


def encoded(before, after="", alphabet=base64.b64encode):
    return lambda key: alphabet(f"{before}{key}{after}".encode()).decode()


FORMS = {
    "as it is": str,
    "Bearer": lambda key: f"Bearer {key}",
    "reversed": lambda key: key[::-1],
    "base64": encoded(""),
    "base64 of Bearer": encoded("Bearer "),
    "base64, second place": encoded("x", "yz"),
    "base64, third place": encoded("xx", "y"),
    "base64, url-safe": encoded("Bearer ", "", base64.urlsafe_b64encode),
    "base64, reversed": lambda key: base64.b64encode(key.encode()).decode()[::-1],
    "base64 of reversed": lambda key: base64.b64encode(key[::-1].encode()).decode(),
    "base32": encoded("", "", base64.b32encode),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal, colons": lambda key: key.encode().hex(":").upper(),
    "percent": lambda key: "".join(f"%{code:02X}" for code in key.encode()),
    "percent, some": lambda key: quote(key).replace("k", "%6B").replace("3", "%33"),
    "HTML": lambda key: html.escape(f'"{key}"').replace("-", "&#45;"),
    "HTML, each": lambda key: "".join(f"&#{code};" for code in key.encode()),
    "HTML, each, hexadecimal": lambda key: "".join(f"&#x{code:x};" for code in key.encode()),
    "JSON, each": lambda key: "".join(f"\\u{code:04x}" for code in key.encode()),
    "JSON, some": lambda key: key.replace("-", "\\u002d").replace("Z", "\\u005a"),
    "octal": lambda key: "".join(f"\\{code:03o}" for code in key.encode()),
    "capitals": str.upper,
    "small letters": str.lower,
    "swapped case": str.swapcase,
    "spaces": " ".join,
    "lines": "\n".join,
    "dots": ".".join,
    "zero width": "\u200b".join,
    "joiners": "\u2060".join,
    "in groups": lambda key: "-".join(key[k : k + 4] for k in range(0, len(key), 4)),
    "full width": full_width,
    "accents": lambda key: "\u0301".join(key),
    "in a sentence": lambda key: f"She. (Your key is “{key}”, thanks!)",
    "twice": lambda key: f"{key}{key}",
    "first half": lambda key: key[: len(key) // 2],
    "second half": lambda key: key[len(key) // 2 :],
}
GATE = 'hornlens: 1\nrequire: ["nurse -> female"]\n'
PLACES = (
    *("text", "model", "system_fingerprint", "id", "finish", "refusal", "token", "name of a field"),
    *("two fields", "model and text", "error 400", "error 401", "error 429", "error 500", "list"),
    "header",
)


def traces(data, key=KEY):
    """Where data has 16 letters of a key, written in some way: found by other code than ours."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    seen = {re.sub("[^a-z0-9]", "", t.lower()) for t in (text, html.unescape(text))}
    codes = key.encode()
    forms = {key, codes.hex(), "".join(f"u{c:04x}" for c in codes), "".join(map(str, codes))}
    for k in range(3):
        forms.add(base64.b64encode(bytes(k) + codes)[4:-4].decode())
        forms.add(base64.b64encode(bytes(k) + codes[::-1])[4:-4].decode())
    forms.add(base64.b32encode(codes)[:-8].decode())
    flat = {re.sub("[^a-z0-9]", "", form.lower()) for form in forms}
    flat |= {form[::-1] for form in flat}
    parts = {form[k : k + 8] for form in flat for k in range(len(form) - 7)}
    if not any(one[k : k + 8] in parts for one in seen for k in range(0, len(one), 8)):
        return []  # every 16 letters in a row have such a part
    parts = {form[k : k + 16] for form in flat for k in range(len(form) - 15)}
    return sorted(part for part in parts if any(part in one for one in seen))


def echoing(secret, places=PLACES[:4]):
    """A server that puts a text into these fields of each reply."""

    def respond(handler, path, body):
        reply = reply_to(path, body)
        if "list" in places and not body:
            reply["data"] = [{"id": secret}, {"id": f"a {secret}"}]
        status = next((int(place[6:]) for place in places if place.startswith("error")), 200)
        if body and status != 200 and "works as" in json.dumps(body):
            error = {"message": f"no: {secret}", "type": "x", "code": None, "param": secret}
            return sent_json(handler, {"error": error}, status)
        if "header" in places:
            handler.send_response(307)
            handler.send_header("location", f"http://{secret}.invalid/{secret}?{secret}")
            handler.send_header("content-length", "0")
            return handler.end_headers()
        if body:
            spoil(reply, secret, places)
        return sent_json(handler, reply)

    return respond


def spoil(reply, secret, places):
    half = len(secret) // 2
    for place in places:
        if place in ("model", "system_fingerprint", "id"):
            reply[place] = f"tiny {secret}" if place == "model" else secret
        elif place == "two fields":
            reply |= {"model": f"tiny {secret[:half]}", "system_fingerprint": secret[half:]}
        elif place == "name of a field":
            for block in reply.get("content", ()):
                block["input"] = {"answer": block.get("input", {}).get("answer", ""), secret: 1}
        elif place == "finish":
            reply["stop_reason"] = secret
    for choice in reply.get("choices", ()):
        if "text" in places:
            choice["message"]["content"] += f" {secret}"
        if "model and text" in places:
            reply["model"], choice["message"]["content"] = f"tiny{secret[:half]}", secret[half:]
        if "refusal" in places:
            choice["message"]["refusal"] = secret
        if "finish" in places:
            choice["finish_reason"] = secret
        if "token" in places and choice["logprobs"]:
            for token in choice["logprobs"]["content"]:
                token["top_logprobs"].append({"token": secret, "logprob": -0.05})
    for block in reply.get("content", ()):
        if "text" in places and block["type"] == "text":
            block["text"] += f" {secret}"
        elif "text" in places:
            block["input"]["why"] = secret


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path, KEY)
    monkeypatch.setenv("HORNLENS_LOG", "debug")
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def files_under(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def check_folder(folder, done):
    """Nothing written has the key: files, the cache and its journal, streams."""
    for stream in (done.stdout, done.stderr):
        assert not traces(stream), stream
    for path in files_under(folder):
        assert not traces(path.read_bytes()), path


@pytest.mark.parametrize("field", ["text", "model", "of several"])
@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_removed_in_all_its_forms(form, field):
    secret = FORMS[form](KEY)
    assert traces(secret) or "some" in form or form in ("full width", "octal"), "no such form"
    reply = {"model": "tiny", "choices": [{"message": {"content": "She"}}]}
    if field == "model":
        reply["model"] = secret
    elif field == "text":
        reply["choices"][0]["message"]["content"] = f"She {secret} he"
    else:
        third = len(secret) // 3
        reply |= {"id": secret[:third], "object": secret[third:-third], "extra": secret[-third:]}
    cleared = Address("openai", "http://127.0.0.1:1", KEY).cleared(reply)
    text = json.dumps(cleared, ensure_ascii=False)
    assert REMOVED in text and not traces(text) and not traces("".join(_values(cleared)))
    assert secret not in text


def _values(content):
    """The texts of JSON without the names of fields, as results write them side by side."""
    if isinstance(content, dict | list):
        own = content.values() if isinstance(content, dict) else content
        return [text for value in own for text in _values(value)]
    return [str(content)]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("form", ["all", *[*FORMS][: rounds(0, len(FORMS))]])
def test_a_key_is_in_nothing_that_is_written(form, kind, tmp_path):
    """In files, the cache, streams, the log, the page, and what a gate writes."""
    elicit = "constrained" if kind == "anthropic" else "say"
    secret = "\n".join(make(KEY) for make in FORMS.values()) if form == "all" else FORMS[form](KEY)
    with HostileServer(echoing(secret)) as server:
        done = hornlens(*command(server, tmp_path, kind=kind, elicit=elicit))
        headers = "".join(request[2] for request in server.seen)
    assert done.returncode == 0, done.stderr
    assert KEY in headers  # it was sent
    check_folder(tmp_path, done)
    assert REMOVED in (tmp_path / "out" / "envelope.json").read_text(encoding="utf-8")
    assert "replace the key" in done.stdout + done.stderr
    assert "replace the key" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    gate, junit = tmp_path / "gate.yaml", tmp_path / "junit.xml"
    gate.write_text(GATE, "utf-8")
    done = hornlens("check", tmp_path / "out", gate, "--format", "junit", "--out", junit)
    assert junit.is_file(), done.stderr
    check_folder(tmp_path, done)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("place", PLACES)
def test_a_key_is_removed_wherever_a_reply_has_it(place, kind, tmp_path, caplog, capsys):
    elicit = "constrained" if place == "name of a field" else "say"
    if place == "token" and kind == "openai":
        elicit = "choose"
    fails = place.startswith("error") or place in ("list", "header")
    with (
        caplog.at_level("DEBUG", "hornlens"),
        HostileServer(echoing(KEY, (place,))) as server,
        closing(AnswerCache(tmp_path / "a.sqlite")) as store,
    ):
        try:
            run(server, kind, elicit, cache=store).save(tmp_path / "out")
            assert not fails
        except ModelError as error:
            assert fails, error
            assert not traces("".join(traceback.format_exception(error)))
    streams = capsys.readouterr()
    assert not traces(streams.out + streams.err + caplog.text)
    for path in files_under(tmp_path):
        assert not traces(path.read_bytes()), path


def test_a_reply_without_a_key_is_as_it_was():
    with HostileServer(lambda h, path, body: sent_json(h, reply_to(path, body))) as server:
        result = run(server)
    assert not any(warning.kind == "key" for warning in result.warnings)


def test_a_shared_cache_has_no_key_in_any_form(tmp_path):
    pytest.importorskip("psycopg")
    secret = "\n".join(make(KEY) for make in FORMS.values())
    with closing(Server()) as database, HostileServer(echoing(secret)) as server:
        before = {path: path.stat().st_mtime_ns for path in files_under(database.folder)}
        with closing(PostgresStore(database.address(database.schema()))) as store:
            run(server, cache=store)
        database.execute("CHECKPOINT")
        written = [
            path
            for path in files_under(database.folder)
            if path.stat().st_mtime_ns != before.get(path)
        ]
        contents = {path: path.read_bytes().replace(b"\0", b"") for path in written}
    assert any(REMOVED.encode() in data for data in contents.values())
    for path, data in contents.items():
        assert not traces(data), path


def test_a_cache_of_a_process_that_was_killed_has_no_key(tmp_path, monkeypatch):
    """Its journal is still there."""
    store = AnswerCache(tmp_path / "a.sqlite")
    with HostileServer(echoing(KEY)) as server:
        run(server, cache=store)
        for path in files_under(tmp_path):
            assert not traces(path.read_bytes()), path
    store.close()


def test_a_traceback_has_no_key(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["hornlens", "extract", KEY])
    try:
        raise RuntimeError(f"Authorization: Bearer {KEY}")
    except RuntimeError:
        assert KEY in traceback.format_exc()
        line = command_line._written_down()
    (path,) = files_under(tmp_path)
    assert str(path) in line and not traces(path.read_bytes()) and REMOVED in path.read_text()
    with pytest.raises(SystemExit):
        command_line._fail(f"no: {KEY}", 2)
    assert not traces(capsys.readouterr().err)


# Which secrets there are

VARIABLES = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HF_TOKEN", "PGPASSWORD"),
    *("RAY_AUTH_TOKEN", "MISTRAL_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_SECRET", "SOME_PASSWORD"),
)


@pytest.mark.parametrize("name", VARIABLES)
def test_every_secret_of_the_environment_is_known(name, monkeypatch):
    monkeypatch.setenv(name, "Aa1-Bb2-Cc3-Dd4-Ee5-Ff6")
    assert "Aa1-Bb2-Cc3-Dd4-Ee5-Ff6" in environment_secrets()
    cleared = Address("openai", "http://127.0.0.1:1").cleared({"a": ["x Aa1Bb2Cc3Dd4Ee5Ff6 y"]})
    assert cleared == {"a": [f"x {REMOVED} y"]}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_passwords_of_proxies_are_known(name, monkeypatch):
    monkeypatch.setenv(name, "http://ann:pass%2Bof-a-proxy-1@127.0.0.1:3128")
    assert {"pass%2Bof-a-proxy-1", "pass+of-a-proxy-1"} <= set(environment_secrets())


def test_headers_of_ones_own_are_known(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-gateway: gw-0123456789abcdef\nx-b: 2")
    assert "gw-0123456789abcdef" in environment_secrets()


def test_what_is_no_secret_is_none(monkeypatch):
    for name in ("TOKENIZERS_PARALLELISM", "RAY_AUTH_TOKEN_PATH", "KEYBOARD", "HTTP_PROXY"):
        monkeypatch.setenv(name, "an-ordinary-value-12345")
    assert "an-ordinary-value-12345" not in environment_secrets()


def test_the_key_of_a_server_of_ours_is_known():
    key = "s3cr3t-of-llama-cpp_0123456789ab"
    address = Address("openai", "http://127.0.0.1:1/v1", key)
    assert address.cleared({"model": key}) == {"model": REMOVED}
    assert key not in address.redacted(f"no: {key}")


# Short ones

ORDINARY = (
    "She is not needed here: none of them is EMPTY. A placeholder, a dummy; lm studio, ollama, "
    "test, key, token, secret, password. abc 123, sk, Bearer of bad news; 12345, changeme."
)


@pytest.mark.parametrize(
    "key", ["none", "EMPTY", "not-needed", "placeholder", "dummy", "lm-studio", "ollama", "test",
            "changeme", "12345", "sk", "password", "secret", "token", "x", "she", "abc123"],
)  # fmt: skip
def test_a_key_that_could_be_a_word_changes_no_ordinary_text(key):
    own = redactor((key,))
    assert own.cleared({"text": ORDINARY}) == {"text": ORDINARY}
    header = f"Authorization: Bearer {key}"
    assert own.cleared(header) == f"Authorization: {REMOVED}"
    packed = base64.b64encode(f"Bearer {key}".encode()).decode().rstrip("=")
    assert packed not in own.cleared(f"Sent: {packed}.")


@pytest.mark.parametrize("key", ["abc123", "a1b2c3d", "pw-9x"])
def test_a_short_key_with_digits_is_removed_where_it_stands_alone(key):
    own = redactor((key,))
    assert own.cleared(f"your key: {key}!") == f"your key: {REMOVED}!"
    assert own.cleared(f"z{key}z") == f"z{key}z"


@pytest.mark.parametrize("key", ["hunter2hunter2", "Tr0ub4dor&3x", "0123456789abcdef"])
@pytest.mark.parametrize("form", ["as it is", "reversed", "base64", "hexadecimal", "spaces"])
def test_a_key_of_eight_characters_or_more_is_removed_whole(key, form):
    written = FORMS[form](key)
    assert written not in redactor((key,)).cleared(f"so: {written} here")
    assert redactor((key,)).cleared(f"so: {key[:5]} here") == f"so: {key[:5]} here"


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "no \udc00\ud800 pair"])
def test_half_characters_are_replaced(text):
    assert redactor(()).cleared({"a": text})["a"].encode()


def test_ordinary_text_is_left_alone():
    """A megabyte of it, from the code of Python's own library."""
    own = redactor((KEY, "hunter2hunter2", "Tr0ub4dor&3x"))
    for path in sorted(Path(os.__file__).parent.glob("*.py"))[:60]:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert own.cleared({"text": text}) == {"text": text}, path
