"""Kinds of things by name: ours in a table, other people's from the packages that are installed.

A package adds a kind by an entry point. Those are looked up only where a name is not one of ours,
or where all kinds are listed: reading the metadata of every installed package takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from hornlens.deprecation import deprecated
from hornlens.errors import HornlensError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    class Kind(Protocol):
        """What can be registered."""

        @property
        def form(self) -> str:
            """How its specs look: its name, and behind a "/" what else is to be said, if any."""
            ...

        @property
        def help(self) -> str:
            """What it is, in a line."""
            ...


K = TypeVar("K", bound="Kind")
T = TypeVar("T")


class Entry(NamedTuple, Generic[K]):
    """A kind that is there, or that should be: `kind` is None if it is broken, and `problem` why.

    `package` is what installed it, with its version; "" for our own.
    """

    name: str
    kind: K | None
    package: str = ""
    problem: str = ""


class Registry(Generic[K]):
    """The kinds of one sort of thing (`what`), which are instances of `cls`.

    `builtin` are ours, by name; installed ones are the entry points of `group`. Ours win. `renamed`
    has the new names of those that were called otherwise: the old ones still work, and warn.
    """

    def __init__(
        self,
        what: str,
        group: str,
        cls: type[K],
        builtin: Mapping[str, K],
        error: type[HornlensError] = HornlensError,
        renamed: Mapping[str, str] | None = None,
    ):
        """Keep the table; nothing is looked up yet."""
        self.what, self.group, self.cls, self.error = what, group, cls, error
        self.builtin, self.renamed = builtin, renamed or {}

    def open(self, spec: str, call: Callable[[K, str], T]) -> T:
        """Return what `call` makes of a spec's kind and of what the spec says behind its "/".

        Raises the registry's error, in one line, if there is no such kind, if it is broken, or if
        an installed one fails with an error that is not meant for people.
        """
        name, slash, rest = spec.partition("/")
        if name in self.renamed and rest:
            old, name = name, self.renamed[name]
            what = f"the {self.what} {old}/{rest}"
            deprecated(what, f"{name}/{rest}", since="0.3", removal="0.5")
        ours = self.builtin.get(name)
        entry = Entry(name, ours) if ours else self._installed(name).get(name)
        if entry is not None and entry.problem:
            raise self.error(f"{self.what} {spec!r} cannot be had: {entry.problem}")
        if entry is None or entry.kind is None or not _fits(entry.kind.form, slash, rest):
            expected = ", ".join(
                each.kind.form if each.kind else f"{each.name} (broken)"
                for each in self.all()
                if each.kind or each.name not in self.builtin
            )
            raise self.error(f"unknown {self.what} {spec!r}; expected one of: {expected}")
        try:
            return call(entry.kind, rest)
        except Exception as error:
            if isinstance(error, HornlensError) or not entry.package:
                raise
            raise self.error(
                f"{self.what} {spec!r} of {entry.package} cannot be opened: {_why(error)}"
            ) from error

    def kinds(self) -> dict[str, K]:
        """Return every kind that can be used, by name: ours first, then what is installed."""
        return {entry.name: entry.kind for entry in self.all() if entry.kind is not None}

    def all(self) -> Iterator[Entry[K]]:
        """Yield every kind, ours first; what is installed in order of name, broken or not."""
        for name, kind in self.builtin.items():
            yield Entry(name, kind)
        yield from self._installed().values()

    def _installed(self, only: str | None = None) -> dict[str, Entry[K]]:
        """Return what installed packages bring, by name; or of `only` one name."""
        from importlib.metadata import entry_points

        by_name: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            if only in (None, point.name):
                by_name.setdefault(point.name, []).append(point)
        return {name: self._entry(name, points) for name, points in sorted(by_name.items())}

    def _entry(self, name: str, points: list[EntryPoint]) -> Entry[K]:
        """Return what a name of installed packages stands for, or what is wrong with it."""
        packages = [f"{e.dist.name} {e.dist.version}" if e.dist else "unknown" for e in points]
        package = " and ".join(sorted(packages))
        if name in self.builtin:
            return Entry(name, None, package, f"{name!r} of {package} is a name of hornlens' own")
        if len(points) > 1:
            return Entry(name, None, package, f"{package} both claim the name; uninstall one")
        try:
            kind = points[0].load()
        except (Exception, SystemExit) as error:
            problem = f"{points[0].value} of {package} cannot be imported ({_why(error)}); mend it"
            return Entry(name, None, package, f"{problem} or uninstall it")
        if not isinstance(kind, self.cls):
            problem = f"{points[0].value} of {package} is no {self.cls.__name__}"
            return Entry(name, None, package, f"{problem}, but a {type(kind).__name__}")
        return Entry(name, kind, package)


def _why(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _fits(form: str, slash: str, rest: str) -> bool:
    """Say whether a spec has what its form asks for: "a", "a/REST", or either way "a[/REST]"."""
    if slash:
        return bool(rest) and "/" in form
    return "/" not in form.replace("[/", "[")
