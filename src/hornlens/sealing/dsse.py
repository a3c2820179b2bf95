"""DSSE envelopes: a payload with its type, and a signature over both.

What is signed is not the payload but its pre-authentication encoding (PAE), which has the type and
both lengths in it: so a payload can never be taken for one of another type.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

PAYLOAD_TYPE = "application/vnd.in-toto+json"


class BadSeal(Exception):
    """Why a seal does not hold, in a line."""


@dataclass(frozen=True)
class Signed:
    """An envelope as it is read: the payload, and what is to be a signature of it."""

    payload: bytes
    signature: bytes
    key: str
    """What the signer calls the key: a hint that nobody has signed."""


def pae(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Return the bytes that are signed.

    >>> pae(b"{}", "text/json")
    b'DSSEv1 9 text/json 2 {}'
    """
    name = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(payload), payload)


def envelope_of(signed: Signed) -> dict[str, Any]:
    """Return an envelope as it stands in a file."""
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": b64encode(signed.payload).decode(),
        "signatures": [{"keyid": signed.key, "sig": b64encode(signed.signature).decode()}],
    }


def signed_in(content: Any) -> Signed:
    """Return what an envelope holds; BadSeal says why it is none of ours."""
    if not isinstance(content, dict) or "payload" not in content:
        raise BadSeal("is no DSSE envelope")
    payload_type = content.get("payloadType")
    if payload_type != PAYLOAD_TYPE:
        raise BadSeal(f"its payload is of type {payload_type!r}, not {PAYLOAD_TYPE}")
    signatures = content.get("signatures")
    if not isinstance(signatures, list) or not all(isinstance(s, dict) for s in signatures):
        raise BadSeal("has no list of signatures")
    if len(signatures) != 1:
        raise BadSeal(f"has {len(signatures):,} signatures; a seal has one")
    key = signatures[0].get("keyid", "")
    return Signed(
        _decoded(content["payload"], "payload"),
        _decoded(signatures[0].get("sig"), "signature"),
        key if isinstance(key, str) else "",
    )


def _decoded(text: Any, what: str) -> bytes:
    """Return the bytes of base64, in the usual alphabet or that for addresses."""
    try:
        return b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        raise BadSeal(f"its {what} is not base64") from None
