"""Dictionaries from masks that stay fast where masks are long.

Python's hash of `1 << i` has 61 values, whatever i is: in a plain dictionary, ten thousand such
masks are looked through one after the other. So a long mask is looked up by its bytes.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, MutableMapping, ValuesView
from typing import TypeVar

LONG = 512
"""Masks of up to so many bits are their own keys: few of them have a hash in common."""
V = TypeVar("V")


def key_of(mask: int) -> int | bytes:
    """Return what to look a mask up by: the same for the same mask only."""
    length = mask.bit_length()
    return mask if length <= LONG else mask.to_bytes(length // 8 + 1, "little")


def mask_map(width: int, items: Iterable[tuple[int, V]] = ()) -> MutableMapping[int, V]:
    """Return a dictionary from masks of `width` variables: a plain one, if that is fast."""
    if width <= LONG:
        return dict(items)
    mapping = MaskMap[V]()
    for mask, value in items:
        mapping[mask] = value
    return mapping


class _Items(ItemsView[int, V]):
    """Without looking up each mask again."""

    _mapping: MaskMap[V]

    def __iter__(self) -> Iterator[tuple[int, V]]:
        return iter(self._mapping._items.values())


class _Values(ValuesView[V]):
    """Likewise."""

    _mapping: MaskMap[V]

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in self._mapping._items.values())


class MaskMap(MutableMapping[int, V]):
    """A dictionary from masks, in the order in which they came."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._items: dict[int | bytes, tuple[int, V]] = {}

    def __getitem__(self, mask: int) -> V:
        """Return what stands there for a mask."""
        return self._items[key_of(mask)][1]

    def __setitem__(self, mask: int, value: V) -> None:
        """Put something there for a mask."""
        self._items[key_of(mask)] = mask, value

    def __delitem__(self, mask: int) -> None:
        """Take a mask out."""
        del self._items[key_of(mask)]

    def __contains__(self, mask: object) -> bool:
        """Say whether there is something for a mask."""
        return isinstance(mask, int) and key_of(mask) in self._items

    def __iter__(self) -> Iterator[int]:
        """Yield the masks."""
        return (mask for mask, _ in self._items.values())

    def items(self) -> ItemsView[int, V]:
        """Return the masks and what stands there for each."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """Return what stands there."""
        return _Values(self)

    def __len__(self) -> int:
        """Return the number of masks."""
        return len(self._items)
