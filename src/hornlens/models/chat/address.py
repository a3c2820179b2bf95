"""Where a model is asked: addresses without credentials, keys from the environment only."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from hornlens.formats.plain import one_line
from hornlens.logging import without_secrets
from hornlens.models.protocol import ModelError
from hornlens.redaction import Redactor, environment_secrets, redactor

OLLAMA = "http://127.0.0.1:11434/v1"


@dataclass(frozen=True)
class Address:
    """An endpoint's address, the dialect spoken there, and the key (never shown)."""

    dialect: Literal["openai", "anthropic"]
    base_url: str
    key: str = field(default="", repr=False)
    wants: str = ""
    """The environment variable that should hold a key, where one is needed."""

    @property
    def shown(self) -> str:
        """The address as people and identities know it: host and path."""
        parts = urlsplit(self.base_url)
        return f"{parts.netloc}{parts.path.rstrip('/')}"

    @property
    def is_here(self) -> bool:
        """Whether it is this machine; then nothing goes through a proxy."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    def redacted(self, text: str) -> str:
        """Return text as a short line, without the key and without what looks like one."""
        return one_line(without_secrets(text, self.key))[:300]

    def cleared(self, content: Any) -> Any:
        """Return JSON that came from there without the key, and without half characters."""
        return self._redactor.cleared(content)

    @cached_property
    def _redactor(self) -> Redactor:
        return redactor((self.key, *environment_secrets()))


def openai_address(base_url: str | None) -> Address:
    """Return where `openai/…` is asked: an address that is given, OPENAI_BASE_URL, or OpenAI.

    A key is needed for OpenAI itself; what runs elsewhere may want none.
    """
    url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    stripped, key = without_credentials(url), os.environ.get("OPENAI_API_KEY", "")
    wants = "OPENAI_API_KEY" if urlsplit(stripped).hostname == "api.openai.com" else ""
    return Address("openai", stripped, key, wants)


def anthropic_address(base_url: str | None) -> Address:
    """Return where `anthropic/…` is asked; a key is needed."""
    url = base_url or os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
    key = os.environ.get("ANTHROPIC_API_KEY", "")
    return Address("anthropic", without_credentials(url), key, "ANTHROPIC_API_KEY")


def ollama_address(base_url: str | None) -> Address:
    """Return where `ollama/…` is asked: an address that is given, OLLAMA_HOST, or the usual one."""
    url = base_url
    if url is None and (host := os.environ.get("OLLAMA_HOST")):
        url = f"{host if '://' in host else f'http://{host}'}".rstrip("/") + "/v1"
    return Address("openai", without_credentials(url or OLLAMA), "ollama")


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine: by its name, or as an address of any spelling.

    >>> [is_loopback(host) for host in ("localhost", "127.1.2.3", "::1", "0.0.0.0", "10.0.0.1")]
    [True, True, True, True, False]
    """
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def without_credentials(url: str) -> str:
    """Return an address without user, password, query and fragment; ModelError if it is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https"):
        raise ModelError("--base-url must be an address that begins with http:// or https://")
    host = f"[{host}]" if ":" in host else host
    netloc = f"{host}:{port}" if port else host
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))
