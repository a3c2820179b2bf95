"""`sent` of envelope.json: what was sent, an example for each way of asking; and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.formats.sent import Sent
from hornlens.results.documents.codec import Codec, as_plain

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

SENT = Codec(Sent, "envelope.json")


def sent_as_json(world: Findings) -> Iterator[dict[str, Any]]:
    """Yield what was sent in one way of asking, a line for each phrasing and each model."""
    for sent in world.sent:
        yield {**({"variant": world.world} if world.world else {}), **as_plain(sent)}


def sent_from_json(lines: Any, world: str = "") -> tuple[Sent, ...]:
    """Return what was sent in a way of asking; files up to version 0.3 do not say."""
    if not isinstance(lines, list):
        raise ValueError("has something else where a list should stand")
    own = [line for line in lines if line.get("variant", "") == world]
    return tuple(SENT.parse(line, Path(SENT.file_name)) for line in own)
