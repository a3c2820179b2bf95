"""Endpoints that redirect, and proxies of the environment: no key and no prompt goes astray."""

import os
import re

import pytest

from hornlens.errors import HornlensError
from hornlens.models.protocol import ModelError
from hornlens.pronouns import sparql
from tests.chat_server import ChatServer, keep_to_itself
from tests.command import hornlens
from tests.faults.hostile_server import (
    KEY,
    KINDS,
    PROXIES,
    HostileServer,
    command,
    reply_to,
    run,
    sent,
    sent_json,
)

pytest.importorskip("openai")
pytest.importorskip("anthropic")

STATUSES = (301, 302, 303, 307, 308)
ODD_PLACES = ("//{}/v1", "http://user:pass-word@{}/v1?k={}", "", "http://[", "/v2")


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path, KEY)
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


# Redirects


def redirecting(status, target, after=0):
    """What answers honestly at first, and sends everybody elsewhere then."""
    count = iter(range(1_000_000))

    def respond(handler, path, body):
        if next(count) < after:
            sent_json(handler, reply_to(path, body))
        else:
            sent(handler, status, location=f"{target()}{path}")

    return respond


@pytest.mark.parametrize("after", [0, 1, 4], ids=["at once", "after the names", "in the midst"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", STATUSES)
def test_no_redirect_is_followed(status, kind, after):
    with HostileServer() as other, HostileServer() as first:
        first.respond = redirecting(status, lambda: other.root, after)
        with pytest.raises(ModelError) as caught:
            run(first, kind)
        assert other.seen == []
        assert f"redirects to {other.host}; nothing was sent there" in str(caught.value)
        assert f"--base-url {other.root}" in str(caught.value)
        assert "\n" not in str(caught.value) and KEY not in str(caught.value)


@pytest.mark.parametrize("location", ODD_PLACES)
def test_a_redirect_that_is_oddly_written_is_none_either(location):
    with HostileServer() as other, HostileServer() as first:
        written = location.format(other.host, KEY)
        first.respond = lambda handler, *_: sent(handler, 307, location=written)
        with pytest.raises(ModelError, match="the endpoint redirects") as caught:
            run(first)
        assert other.seen == [] and "pass-word" not in str(caught.value)
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_that_is_redirected_is_one_line(kind, tmp_path):
    with HostileServer() as other, HostileServer() as first:
        first.respond = redirecting(308, lambda: other.root, 3)
        done = hornlens(*command(first, tmp_path, kind=kind))
        assert done.returncode == 2 and other.seen == []
        assert "redirects to" in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_a_judge_that_redirects_is_not_followed():
    with (
        HostileServer() as other,
        HostileServer() as judge,
        ChatServer(say=lambda sentence: "Perhaps She, perhaps He") as server,
    ):
        judge.respond = redirecting(307, lambda: other.root, 2)
        with pytest.raises(ModelError, match="redirects to"):
            run(server, judge="openai/tiny", judge_url=judge.url)
        assert other.seen == []


@pytest.mark.parametrize("status", STATUSES)
def test_a_sparql_endpoint_that_redirects_is_not_followed(status):
    with HostileServer() as other, HostileServer() as first:
        first.respond = redirecting(status, lambda: other.root)
        endpoint = sparql.Endpoint(f"{first.root}/sparql", "test", timeout=5.0)
        with pytest.raises(HornlensError, match=f"redirects to {re.escape(other.host)}"):
            endpoint.select("SELECT ?s WHERE { ?s ?p ?o }")
        assert other.seen == [] and len(first.seen) == 1


# Proxies


def passing_on():
    """What passes requests for another host on, as a proxy does, and keeps what it saw."""

    def respond(handler, path, body):
        sent_json(handler, reply_to(path, body))

    return HostileServer(respond)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_for_this_machine_goes_through_a_proxy(kind, host, monkeypatch):
    with passing_on() as proxy, ChatServer() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://ann:pass-of-a-proxy-1@{proxy.host}")
            monkeypatch.setenv(name.lower(), f"http://ann:pass-of-a-proxy-1@{proxy.host}")
        server.root = server.root.replace("127.0.0.1", host)
        server.url = server.url.replace("127.0.0.1", host)
        if host == "127.8.8.8":  # nobody listens there: what counts is who is asked for it
            with pytest.raises(ModelError):
                run(server, kind)
        else:
            assert run(server, kind).rules is not None
        assert proxy.seen == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_of_the_environment_is_used_for_others(kind, monkeypatch):
    with passing_on() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://ann:pass-of-a-proxy-1@{proxy.host}")
        monkeypatch.setenv("http_proxy", f"http://ann:pass-of-a-proxy-1@{proxy.host}")

        class Elsewhere:
            root, url = "http://models.invalid", "http://models.invalid/v1"

        run(Elsewhere, kind)
        assert {path.partition("/v1")[0] for _, path, *_ in proxy.seen} == {Elsewhere.root}
        monkeypatch.setenv("NO_PROXY", "models.invalid")
        count = len(proxy.seen)
        with pytest.raises(ModelError) as caught:
            run(Elsewhere, kind)
        assert len(proxy.seen) == count and "pass-of-a-proxy" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_password_of_a_proxy_is_in_no_line_and_no_log(kind, monkeypatch, tmp_path):
    def refuse(handler, path, body):
        told = handler.headers.get("proxy-authorization", "")
        sent_json(handler, {"error": {"message": f"no: {told} pass-of-a-proxy-1"}}, 407)

    with HostileServer(refuse) as proxy:
        environment = dict(os.environ) | {
            "HTTP_PROXY": f"http://ann:pass-of-a-proxy-1@{proxy.host}",
            "HORNLENS_LOG": "debug",
        }

        class Elsewhere:
            root, url = "http://models.invalid", "http://models.invalid/v1"

        done = hornlens(*command(Elsewhere, tmp_path, kind=kind), env=environment)
        assert done.returncode == 2 and proxy.seen
        assert "proxy-authorization" in proxy.seen[0][2].lower()
        assert "pass-of-a-proxy" not in done.stderr and "YW5uOnBhc3M" not in done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_sparql_endpoint_on_this_machine_goes_through_no_proxy(host, monkeypatch):
    rows = {"results": {"bindings": []}}
    with HostileServer() as proxy, HostileServer(lambda h, *_: sent_json(h, rows)) as server:
        monkeypatch.setenv("http_proxy", proxy.root)
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        url = f"{server.root}/sparql".replace("127.0.0.1", host)
        assert sparql.Endpoint(url, "test").select("SELECT") == []
        assert proxy.seen == [] and len(server.seen) == 1
