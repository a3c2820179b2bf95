"""The rows of a SQLite file, read page by page, whatever became of the trees that lead there.

SQLite finds a row by going down a tree, so one damaged page hides all that lies below it. But every
page says itself what it holds (https://www.sqlite.org/fileformat.html). What is read this way may
be anything: damage, or rows that were removed. Who uses it must know whole rows from others.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

_INDEX, _TABLE, _INNER_INDEX = 0x0A, 0x0D, 0x02
_HEADERS = {_INDEX: 8, _TABLE: 8, _INNER_INDEX: 12}
"""The kinds of pages that hold rows, and how many bytes stand before the places of their cells."""
_INNER_TABLE = 0x05
_NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""How many bytes an integer of a kind has."""


class StoredRow(NamedTuple):
    """What stands in a cell: its values, and its row number where the table has them."""

    number: int | None
    values: tuple[Any, ...]


def rows(data: bytes) -> Iterator[StoredRow]:
    """Yield every row of a SQLite file that can be read."""
    size = _page_size(data)
    # The first page holds the schema, and nothing else.
    for start in range(size, len(data) - size + 1, size):
        yield from _Page(data, start, size).rows()


def _page_size(data: bytes) -> int:
    """Return what the file says of its pages, or what is usual if that cannot be."""
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 and len(data) % size == 0 else 4096


class _Page(NamedTuple):
    data: bytes
    start: int
    size: int

    def rows(self) -> Iterator[StoredRow]:
        """Yield the rows of a page; if it has none of the kind that it says, those of others."""
        begin = int.from_bytes(self.data[self.start : self.start + 4], "big")
        if begin <= len(self.data) // self.size:
            return  # it goes on with what another page had no room for
        header = self.data[self.start]
        if header == _INNER_TABLE:
            return
        for kind in sorted(_HEADERS, key=lambda kind: kind != header):
            rows = [*self._rows_of(kind)]
            yield from rows
            if rows:
                return

    def _rows_of(self, kind: int) -> Iterator[StoredRow]:
        for place in self._cells(_HEADERS[kind]):
            try:
                yield self._row(place, kind)
            except (ValueError, IndexError, struct.error):
                continue

    def _cells(self, begin: int) -> Iterator[int]:
        """Yield where cells begin: their places stand before the first, as many as there are.

        How many there are is said, too, but in two bytes that may be damaged.
        """
        first = self.size
        count = (self.size - begin) // 2
        places = struct.unpack_from(f">{count}H", self.data, self.start + begin)
        for at, place in zip(range(begin + 2, self.size + 2, 2), places, strict=False):
            if at > first:
                return
            if at <= place < self.size:
                first = min(first, place)
                yield place

    def _row(self, place: int, kind: int) -> StoredRow:
        at = self.start + place + (4 if kind == _INNER_INDEX else 0)
        length, at = _varint(self.data, at)
        number = None
        if kind == _TABLE:
            number, at = _varint(self.data, at)
        return StoredRow(number, _values(self._payload(at, length, kind)))

    def _payload(self, at: int, length: int, kind: int) -> bytes:
        """Return a cell's content: what does not fit is in a chain of pages."""
        size, data = self.size, self.data
        least = (size - 12) * 32 // 255 - 23
        most = size - 35 if kind == _TABLE else (size - 12) * 64 // 255 - 23
        if not 0 < length <= len(data):
            raise ValueError("no length")
        if length <= most:
            return data[at : at + length]
        here = least + (length - least) % (size - 4)
        here = here if here <= most else least
        parts, missing = [data[at : at + here]], length - here
        following = int.from_bytes(data[at + here : at + here + 4], "big")
        while missing > 0:
            start = (following - 1) * size
            if not size <= start <= len(data) - size:
                raise ValueError("no page")
            following = int.from_bytes(data[start : start + 4], "big")
            parts.append(data[start + 4 : start + 4 + min(missing, size - 4)])
            missing -= size - 4
        return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where the next begins."""
    value = 0
    for place in range(at, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> tuple[Any, ...]:
    """Return the values of a record."""
    end, at = _varint(payload, 0)
    if not at <= end <= len(payload):
        raise ValueError("no record")
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Any] = []
    at = end
    for kind in kinds:
        if kind >= 12:
            length = (kind - 12) // 2
            part = payload[at : at + length]
            values.append(part.decode("utf-8", "replace") if kind % 2 else part)
        else:
            length = 8 if kind == 7 else _NUMBERS.get(kind, 0)
            part = payload[at : at + length]
            if kind in _NUMBERS:
                values.append(int.from_bytes(part, "big", signed=True))
            elif kind == 7:
                values.append(struct.unpack(">d", part)[0])
            elif kind in (0, 8, 9):
                values.append((None, 0, 1)[max(kind - 7, 0)])
            else:
                raise ValueError("no kind")
        if len(part) != length:
            raise ValueError("too short")
        at += length
    if at != len(payload):
        raise ValueError("too long")
    return tuple(values)
