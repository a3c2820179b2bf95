"""Digests of documents: they show that a file is as it was written, and not who wrote it.

A digest is the SHA-256 of the document as JSON without blanks, in UTF-8, with its fields in the
order of the file and without the digest itself, which stands last. Reformatting a file keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from hornlens.formats.jsonfiles import encoded

KEY = "digest"


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the digest of a document; one that stands in it does not count.

    >>> digest_of({"rules": [], "digest": "sha256:0"}) == digest_of({"rules": []})
    True
    """
    bare = {key: value for key, value in content.items() if key != KEY}
    data = encoded(bare, compact=True).encode("utf-8", "surrogatepass")
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def with_digest(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its digest as the last field.

    >>> list(with_digest({"digest": "sha256:0", "rules": []}))
    ['rules', 'digest']
    """
    bare = {key: value for key, value in content.items() if key != KEY}
    return {**bare, KEY: digest_of(bare)}
