"""A SPARQL endpoint over HTTP: asked politely, again after what passes, and never believed blindly.

An answer counts only if it is a whole SPARQL result in JSON. Public endpoints also answer with
HTML, or with status 200 and half a result that ends in a stack trace; those are errors here.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from hornlens.errors import HornlensError
from hornlens.formats.plain import one_line
from hornlens.logging import without_secrets
from hornlens.models.chat.address import is_loopback

TEMPORARY_STATUSES = {408, 429, 500, 502, 503, 504}
"""HTTP statuses after which it makes sense to ask again."""
LARGEST = 512 << 20
"""Bytes that an answer may have: the ids of some millions of people."""
LONGEST_WAIT = 600.0
"""Seconds; who is told to wait longer than this had better come back later."""
GO_ON = "run the same command again to go on from here"


class TimedOut(HornlensError):
    """The query takes the endpoint too long: a smaller one may do."""


class _Temporary(Exception):
    """What went wrong this time; `wait` is what the endpoint asks for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None, timed_out: bool = False):
        super().__init__(reason)
        self.wait, self.timed_out = wait, timed_out


@dataclass
class Endpoint:
    """A SPARQL endpoint, and how patient to be with it.

    `timeout`: seconds for a whole answer. `tries`: how often a query is asked at most.
    `retry_wait`: seconds before the second try, about twice as many before each further one.
    """

    url: str
    user_agent: str
    timeout: float = 75.0
    tries: int = 6
    retry_wait: float = 2.0
    notify: Callable[[str], None] = lambda text: None
    sleep: Callable[[float], None] = time.sleep
    jitter: random.Random = field(default_factory=random.Random)
    requests: int = 0
    failures: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no address."""
        if not re.fullmatch(r"https?://[^\s/@]+(/[^\s]*)?", self.url):  # no user:password@
            raise HornlensError("--endpoint takes the http(s) address of a SPARQL endpoint")

    def select(self, query: str, can_split: bool = False) -> list[dict[str, str]]:
        """Return the solutions of a SELECT query: the text of each bound variable.

        If the query takes too long and the caller can ask a smaller one, raise TimedOut.
        """
        reason = ""
        for attempt in range(self.tries):
            try:
                self.requests += 1
                return _solutions(self._ask(query))
            except _Temporary as problem:
                self.failures += 1
                reason = str(problem)
                split = can_split and problem.timed_out
                if split or attempt + 1 < self.tries:
                    self._pause(problem, attempt)
                if split:
                    raise TimedOut(f"{self.url}: {reason}") from None
        raise HornlensError(f"{self.url}: {reason}; tried {self.tries} times; {GO_ON}")

    def _pause(self, problem: _Temporary, attempt: int) -> None:
        """Wait as long as the endpoint asks for, or longer after each attempt."""
        wait = problem.wait
        if wait is None:
            growing = self.retry_wait * 2**attempt * self.jitter.uniform(0.75, 1.25)
            wait = min(growing, LONGEST_WAIT)
        if wait > LONGEST_WAIT:
            raise HornlensError(
                f"{self.url}: {problem}, and asks to wait {wait:,.0f} s; then {GO_ON}"
            )
        self.notify(f"{problem}; asking again in {wait:.1f} s")
        self.sleep(wait)

    def _ask(self, query: str) -> bytes:
        """Send a query; return the body of the answer, or raise _Temporary."""
        request = urllib.request.Request(
            self.url,
            # POST: a page of ids is too long for an address.
            data=urllib.parse.urlencode({"query": query}).encode("ascii"),
            headers={"Accept": "application/sparql-results+json", "User-Agent": self.user_agent},
        )
        deadline = time.monotonic() + self.timeout
        try:
            with (
                _Connections(self.timeout) as connections,
                connections.opener(self.url).open(request, timeout=self.timeout) as response,
            ):
                chunks, size = list[bytes](), 0
                while chunk := response.read1(1 << 20):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > LARGEST:
                        raise HornlensError(
                            f"{self.url}: the answer has more than {LARGEST >> 20} MB: it is "
                            "not read"
                        )
                    if time.monotonic() > deadline:
                        raise TimeoutError
                if time.monotonic() > deadline:  # it was cut off
                    raise TimeoutError
                return b"".join(chunks)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(cause, TimeoutError) or time.monotonic() > deadline:
                raise _Temporary(f"no answer in {self.timeout:g} s", timed_out=True) from None
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise HornlensError(
                    f"{self.url}: its certificate is not trusted: {cause.verify_message}"
                ) from None
            if isinstance(cause, http.client.IncompleteRead):
                raise _Temporary("the answer broke off") from None
            reason = str(cause) or type(cause).__name__
            raise _Temporary(f"the connection failed ({reason})") from None

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """Return what an HTTP error means for us."""
        if 300 <= error.code < 400:
            location = error.headers.get("Location", "")
            with suppress(ValueError):
                location = urllib.parse.urlsplit(location).netloc.rpartition("@")[2]
            host = one_line(without_secrets(location))[:200] or "another address"
            return HornlensError(
                f"{self.url}: the endpoint redirects to {host}; nothing was sent there; if that is "
                "meant, give its address: --endpoint"
            )
        try:
            body = error.read(100_000).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            body = ""
        status = f"it answers {error.code} {error.reason}"
        if error.code not in TEMPORARY_STATUSES:
            lines = [line.strip() for line in body.splitlines() if line.strip()]
            more = f": {lines[0][:200]}" if lines and not _is_html(body) else ""
            return HornlensError(f"{self.url}: {status}{more}")
        timed_out = error.code == 504 or _tells_of_timeout(body)
        return _Temporary(status, retry_after(error.headers.get("Retry-After")), timed_out)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: the answer of another host is not what was asked for."""

    def redirect_request(self, *_: Any) -> None:
        """Make no request of it: then it is an error like others."""


class _Connections:
    """Makes the connections of one query, and cuts them off when its time is over.

    Without that, one byte a second would keep it going for ever.
    """

    def __init__(self, seconds: float):
        self._sockets: list[socket.socket] = []
        self._watch = threading.Timer(seconds, self._cut_off)
        self._watch.daemon = True

    def __enter__(self) -> _Connections:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()

    def _cut_off(self) -> None:
        for connection in self._sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def opener(self, url: str) -> urllib.request.OpenerDirector:
        """Return what sends a query; to this machine, not through a proxy of the environment."""
        sockets = self._sockets

        class Plain(http.client.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)

        class Secure(http.client.HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)

        class Http(urllib.request.HTTPHandler):
            def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
                return self.do_open(Plain, request)

        class Https(urllib.request.HTTPSHandler):
            def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
                return self.do_open(Secure, request)

        handlers: list[urllib.request.BaseHandler] = [_NoRedirects(), Http(), Https()]
        if is_loopback(urllib.parse.urlsplit(url).hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))
        return urllib.request.build_opener(*handlers)


def retry_after(value: str | None) -> float | None:
    """Return the seconds to wait that a Retry-After header says: a number, or a date."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max((date - datetime.now(UTC)).total_seconds(), 0.0)


def _solutions(body: bytes) -> list[dict[str, str]]:
    """Return the solutions in a body of SPARQL JSON, which must be whole."""
    text = body.decode("utf-8", "replace")
    try:
        # Terms become their text as they are read: a long list would not fit in memory otherwise.
        content = json.loads(text, object_hook=_text_of_term)
        rows = content["results"]["bindings"]
    except (ValueError, KeyError, TypeError):
        if _tells_of_timeout(text):
            raise _Temporary("the query took it too long", timed_out=True) from None
        what = "a web page" if _is_html(text) else "no whole SPARQL result"
        raise _Temporary(f"it answers with {what}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _Temporary("it answers with no SPARQL result")
    return rows


def _text_of_term(value: dict[str, Any]) -> Any:
    """Return the text of an RDF term, a blank node as `_:name`; leave other objects alone."""
    kind, text = value.get("type"), value.get("value")
    if isinstance(kind, str) and isinstance(text, str):
        return f"_:{text}" if kind == "bnode" else text
    return value


def _tells_of_timeout(text: str) -> bool:
    """Say whether a body has the stack trace of a query that ran out of time."""
    return "TimeoutException" in text or "QueryTimeout" in text


def _is_html(text: str) -> bool:
    return text.lstrip()[:200].lower().startswith(("<!doctype", "<html"))
