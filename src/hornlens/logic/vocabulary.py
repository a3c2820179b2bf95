"""The vocabulary: names of variables and their bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from hornlens.errors import InputError
from hornlens.logic.bits import bits
from hornlens.logic.lookalikes import alike


def _is_control(character: str) -> bool:
    """Say whether it is a control character, or half a character: no text can hold that."""
    return character < " " or character == "\x7f" or "\ud800" <= character <= "\udfff"


@dataclass(frozen=True)
class Vocabulary:
    """An ordered list of variable names; the position of a name is its bit.

    >>> v = Vocabulary(("nurse", "priest", "male"))
    >>> v.mask(["male", "nurse"])
    5
    >>> v.names_of(5)
    ('nurse', 'male')
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse empty and repeated names."""
        seen: set[str] = set()
        for name in self.names:
            if not name:
                raise InputError("a variable has an empty name")
            if any(map(_is_control, name)):
                raise InputError(f"the name {name!r} has a control character in it")
            if name in seen:
                raise InputError(f"two variables have the name {name!r}")
            seen.add(name)

    @classmethod
    def numbered(cls, width: int) -> Vocabulary:
        """Return x1, x2, …: the names of variables that have none."""
        return cls(tuple(f"x{i + 1}" for i in range(width)))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        """Say whether there is a variable of this name."""
        return name in self._index

    def index(self, name: str) -> int:
        """Return the bit of a variable; an unknown name is an InputError."""
        try:
            return self._index[name]
        except KeyError:
            raise InputError(f"unknown variable {name!r}{alike(name, self.names)}") from None

    def mask(self, names: Iterable[str]) -> int:
        """Return the interpretation in which exactly these variables are true."""
        mask = 0
        for name in names:
            mask |= 1 << self.index(name)
        return mask

    def names_of(self, mask: int) -> tuple[str, ...]:
        """Return the names of the true variables, in vocabulary order."""
        return tuple([self.names[i] for i in bits(mask)])
