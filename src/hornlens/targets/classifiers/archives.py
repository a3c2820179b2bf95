"""Skops files before they are opened: how large they become, and what they ask to be trusted.

A skops file is an archive of arrays and a schema, which names the types to be made. It says itself
how large its arrays are and how often each is used, so all of that is counted first.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hornlens.errors import InputError
from hornlens.formats.packing import check_archive, most_unpacked

SCHEMA = "schema.json"
MOST_SCHEMA = 1 << 24
"""How many bytes the schema of any file may have; of a larger file, as many as the file has."""
PACKAGES = ("sklearn", "numpy", "scipy", "xgboost", "lightgbm", "catboost", "imblearn")
"""Packages whose classes are offered to be trusted; what runs code in them is no class."""
NEVER = re.compile(r"\.(testing|tests?|conftest|f2py|distutils|externals|__main__)(\.|$)")
HARMLESS = frozenset(
    {
        *(f"collections.{name}" for name in ("OrderedDict", "Counter", "deque", "defaultdict")),
        *(f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta", "timezone")),
        "decimal.Decimal",
        "fractions.Fraction",
        "random.Random",
        "types.SimpleNamespace",
        "uuid.UUID",
    }
)
"""Classes of Python itself that hold values and run nothing."""
FUNCTIONS = frozenset({"sklearn.utils.validation.check_array"})
"""Functions that scikit-learn's own estimators hold, and that do nothing but look at an array."""
PARTIAL = "functools.partial"
"""Holds a function: harmless beside those that are, for each function is named by itself."""
OTHERS = frozenset({"hornlens", "pip", "setuptools", "pkg_resources", "cloudpickle", "dill"})
"""Packages outside of Python itself whose parts are never trusted."""


def check_size(path: Path) -> None:
    """Refuse a skops file that would become far larger than it is, or whose arrays are not there.

    An array counts as often as the schema uses it.
    """
    check_archive(path)
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        if sizes.get(SCHEMA, 0) > max(MOST_SCHEMA, packed):
            raise InputError(f"has a {SCHEMA} of {sizes[SCHEMA]:,} bytes: too large", path)
        for name in sizes:
            if name.endswith(".npy"):
                _check_array(archive, name, sizes[name], path)
        total = sum(sizes.get(name, 0) for name in _used(json.loads(archive.read(SCHEMA))))
    if total > most_unpacked(packed):
        raise InputError(
            f"would become {total:,} bytes when loaded, and {most_unpacked(packed):,} are allowed: "
            "it looks like an attack",
            path,
        )


def _check_array(archive: zipfile.ZipFile, name: str, size: int, path: Path) -> None:
    """Refuse an array whose header promises more than there is."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read: Any = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
        shape, _, dtype = read(file)
    wanted = dtype.itemsize
    for length in shape:
        wanted *= length
    if wanted > size:
        raise InputError(f"has {name} of {size:,} bytes, which promises {wanted:,}", path)


def _used(schema: Any) -> Iterator[str]:
    """Yield the members that a schema uses, as often as it does."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("file"), str):
                yield node["file"]
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def runs_code(name: str) -> bool:
    """Return whether a name is one that nobody can trust, by where it comes from.

    >>> runs_code("os.system"), runs_code("functools.partial"), runs_code("numpy.testing.run")
    (True, True, True)
    >>> runs_code("collections.OrderedDict"), runs_code("my_models.Scaler")
    (False, False)
    """
    if name in HARMLESS:
        return False
    package = name.partition(".")[0]
    ours = package in sys.stdlib_module_names or package in sys.builtin_module_names
    return ours or package in OTHERS or package == "__main__" or bool(NEVER.search(name))


def is_offered(name: str) -> bool:
    """Return whether a name is one of a class that may be offered to be trusted.

    >>> is_offered("sklearn.neighbors._kd_tree.KDTree64"), is_offered("numpy.load")
    (True, False)
    """
    *modules, last = name.split(".")
    package = modules[0] if modules else ""
    named_as_class = bool(re.fullmatch("_*[A-Z][A-Za-z0-9_]*", last, re.ASCII))
    plain = all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", part, re.ASCII) for part in modules)
    if name == PARTIAL or name in FUNCTIONS:
        return True
    return package in PACKAGES and plain and named_as_class and not runs_code(name)


def check_trusted(names: Sequence[str], path: Path) -> None:
    """Refuse what could run code, whoever trusts it: only classes are trusted, by their names."""
    with_functions = not FUNCTIONS.isdisjoint(names)
    for name in names:
        if runs_code(name) and not (name == PARTIAL and with_functions):
            raise InputError(
                f"names {_short(name)}, which can run any code: it is never loaded, and the file "
                "is not to be trusted",
                path,
            )


def check_classes(names: Sequence[str], path: Path) -> None:
    """Refuse to load what the user trusts, and what is no class: a function runs when it is used.

    The modules that the user named are imported for that.
    """
    for name in (name for name in names if name != PARTIAL and name not in FUNCTIONS):
        module, _, last = name.rpartition(".")
        try:
            thing: Any = getattr(import_module(module), last)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:100]
            raise InputError(f"names {_short(name)}, which is not there: {reason}", path) from None
        if not isinstance(thing, type):
            raise InputError(
                f"names {_short(name)}, which is no class: it can run code, and is never loaded",
                path,
            )
        if runs_code(f"{thing.__module__}.{thing.__qualname__}"):
            check_trusted([f"{thing.__module__}.{thing.__qualname__}"], path)


def refused(names: Sequence[str], path: Path) -> InputError:
    """Return why types that nobody trusts are refused; those of known packages are offered."""
    check_trusted(names, path)
    if all(map(is_offered, names)):
        wanted = " ".join(f"--trust {name}" for name in names)
        return InputError(f"names types that skops does not trust; if you do: {wanted}", path)
    strange = ", ".join(_short(name) for name in names if not is_offered(name))
    return InputError(
        f"names what is of no package that is known here: {strange}; trust it by its name only if "
        "it is a class of your own, for it can run any code",
        path,
    )


def _short(name: str) -> str:
    return repr(name[:80]) if not name.isprintable() or len(name) > 80 else name
