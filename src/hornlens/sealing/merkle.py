"""A Merkle tree over answers, as in RFC 6962: one digest of all, and a short proof for each.

A leaf is SHA-256 of a zero byte and the answer; a node is SHA-256 of a one byte and its two
children. The left child has the largest power of two of leaves that is smaller than their number.
An answer is the bytes of its JSON without blanks, in UTF-8, with its fields in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from hornlens.formats.jsonfiles import encoded


def leaf_of(answer: Mapping[str, Any]) -> bytes:
    """Return the leaf of an answer, as it stands in a document."""
    data = encoded(answer, compact=True).encode("utf-8", "surrogatepass")
    return sha256(b"\0" + data).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    """Return what stands above two nodes."""
    return sha256(b"\1" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the root over all leaves; that over none is the SHA-256 of nothing.

    >>> root_of([]).hex()[:16], root_of([leaf_of({"set": []})]) == leaf_of({"set": []})
    ('e3b0c44298fc1c14', True)
    """
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    middle = _middle(len(leaves))
    return node_of(root_of(leaves[:middle]), root_of(leaves[middle:]))


def inclusion_proof(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """Return the nodes that lead from one leaf to the root, the lowest first."""
    if len(leaves) <= 1:
        return []
    middle = _middle(len(leaves))
    if place < middle:
        return [*inclusion_proof(leaves[:middle], place), root_of(leaves[middle:])]
    return [*inclusion_proof(leaves[middle:], place - middle), root_of(leaves[:middle])]


def root_by_proof(leaf: bytes, place: int, count: int, proof: Sequence[bytes]) -> bytes | None:
    """Return the root that a proof gives for a leaf of `count`; None if the proof does not fit.

    >>> leaves = [leaf_of({"set": [name]}) for name in "abcde"]
    >>> root_by_proof(leaves[3], 3, 5, inclusion_proof(leaves, 3)) == root_of(leaves)
    True
    """
    if not 0 <= place < count or (count == 1) != (not proof):
        return None
    if count == 1:
        return leaf
    middle, (*below, other) = _middle(count), proof
    if place < middle:
        left = root_by_proof(leaf, place, middle, below)
        return None if left is None else node_of(left, other)
    right = root_by_proof(leaf, place - middle, count - middle, below)
    return None if right is None else node_of(other, right)


def _middle(count: int) -> int:
    return 1 << (count - 1).bit_length() - 1
