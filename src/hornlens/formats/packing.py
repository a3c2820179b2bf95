"""Packed content: nothing that is unpacked becomes larger than expected, or than is reasonable.

A megabyte of zeros packs into a kilobyte, and a file can claim any number of them. So what is read
is unpacked only as far as its own counts say, and never beyond `most_unpacked`, which grows with
the size of what was packed.
"""

from __future__ import annotations

import zipfile
import zlib
from base64 import b64decode
from pathlib import Path
from typing import IO

from hornlens.errors import InputError

USUAL = 1 << 26
"""How many bytes anything may become, however small it is: 64 MiB."""
RATIO = 100
"""How many times its own size something larger may become."""
DEPTH = 3
"""How deep archives may lie in archives."""
ZIP = b"PK\x03\x04"


def most_unpacked(packed: int) -> int:
    """Return how many bytes something that is packed in so many may become.

    >>> most_unpacked(1_000), most_unpacked(10_000_000)
    (67108864, 1000000000)
    """
    return max(USUAL, RATIO * packed)


def inflated(text: str, size: int) -> bytes:
    """Return what is deflated in base 64: so many bytes, or one more if there are more.

    A ValueError if it cannot be unpacked, or is too short to hold so many.
    """
    if not 0 <= size <= most_unpacked(len(text)):
        raise ValueError(f"has other numbers than it says: {size:,} bytes of them")
    try:
        return zlib.decompressobj().decompress(b64decode(text, validate=True), size + 1)
    except (zlib.error, ValueError):
        raise ValueError("has numbers that cannot be unpacked") from None


def check_archive(path: Path, most: int | None = None) -> None:
    """Refuse a zip archive whose members would become too large; archives inside it count, too.

    `most` is how many bytes they may have in all; by default, as many as its size allows. The sizes
    that an archive states are those at which reading stops, so they are what is counted.
    """
    allowed = most_unpacked(path.stat().st_size) if most is None else most
    try:
        with path.open("rb") as file:
            total = _unpacked_size(file, allowed, DEPTH)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"is no archive that can be read: {reason}", path) from None
    if total > allowed:
        raise InputError(
            f"would become {total:,} bytes when unpacked, and {allowed:,} are allowed: it looks "
            "like an attack",
            path,
        )


def _unpacked_size(file: IO[bytes], allowed: int, depth: int) -> int:
    """Return how many bytes the members of an archive have, with those of archives inside."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if total > allowed:
            return total
        for member in members:
            with archive.open(member) as opened:
                if opened.read(len(ZIP)) != ZIP:
                    continue
            if depth <= 1:
                raise zipfile.BadZipFile("archives lie in archives in archives")
            with archive.open(member) as opened:
                total += _unpacked_size(opened, allowed - total, depth - 1)
            if total > allowed:
                break
        return total
