"""HTTP to endpoints as their makers' libraries do it, but for what a hostile one could abuse.

No redirect is followed: it would take prompts, and in some versions the key, to another host. What
comes back is read up to a limit, and is not unpacked: a compressed body may be a bomb. To this
machine, nothing goes through a proxy.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from hornlens.formats.plain import one_line
from hornlens.models.chat.address import Address
from hornlens.models.protocol import ModelError

MEGABYTE = 1 << 20
LARGEST_REPLY, LARGEST_LIST = MEGABYTE, 8 * MEGABYTE
"""Bytes that a reply, and a list of models, may have."""
NO_PROXY = dict.fromkeys(("all://", "http://", "https://"))
"""What keeps a client from using the proxies of the environment; one library looks by itself."""


class Redirected(ModelError):
    """An endpoint that sends its callers elsewhere."""


class UnfitReply(ModelError):
    """A reply that is not read to its end: too large, or compressed."""


def http_client(sdk: Any, address: Address, timeout: float) -> Any:
    """Return a client for one of the makers' libraries, made of the library's own."""
    options: dict[str, Any] = {"timeout": timeout, "follow_redirects": False}
    if address.is_here:
        options |= {"trust_env": False, "mounts": NO_PROXY}
    return _client_class(sdk.DefaultAsyncHttpxClient)(**options)


def _client_class(base: Any) -> Any:
    class Client(base):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            """Send a request; return its response, all of it read."""
            request.headers["accept-encoding"] = "identity"
            options |= {"stream": True, "follow_redirects": False}
            response = await super().send(request, **options)
            try:
                body = await _body(response, LARGEST_LIST if request.method == "GET" else None)
            finally:
                await response.aclose()
            own = {"headers": response.headers, "content": body, "request": request}
            return type(response)(response.status_code, **own)

    return Client


async def _body(response: Any, largest: int | None) -> bytes:
    """Return what comes back, as far as that is fit to be read; of a redirect, nothing."""
    if 300 <= response.status_code < 400:
        return b""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UnfitReply(
            f"the reply is compressed ({one_line(encoding)[:40]}), although that was declined: it "
            "is not read; switch compression off at the endpoint"
        )
    largest, parts, size = largest or LARGEST_REPLY, list[bytes](), 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > largest:
            raise UnfitReply(f"the reply has more than {largest // MEGABYTE} MB: it is not read")
        parts.append(part)
    return b"".join(parts)


def redirected(where: str, address: Address, location: str) -> Redirected:
    """Return the error that an endpoint sends its callers elsewhere: where to, and what to do."""
    line = address.redacted(location)
    try:
        parts = urlsplit(line)
        host = parts.netloc.rpartition("@")[2] or urlsplit(address.base_url).netloc
        target = f"{parts.scheme or 'http'}://{host}"
    except ValueError:
        host = target = ""
    if not location or not host:
        return Redirected(f"{where}: the endpoint redirects, and does not say where to")
    return Redirected(
        f"{where}: the endpoint redirects to {host}; nothing was sent there; "
        f"if that is meant, give its address: --base-url {target}/…"
    )
