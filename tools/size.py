"""How large the package is: `python -m tools.size`.

Fewer lines and modules for the same features is an aim. A public function or class that several
modules define is one word for several things, or one thing in several places. A noun says what a
variable holds: those that are called `found`, `said` or `told` are counted.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "hornlens"
VERBS = frozenset({"found", "said", "told"})
"""Words that do not say what a variable holds."""


class Size(NamedTuple):
    """The lines and modules of the package, and its public names that several modules define."""

    lines: int
    modules: int
    shared: dict[str, list[str]]


def size(source: Path = SOURCE) -> Size:
    """Count a package's Python files; its names are functions and classes at a module's top."""
    lines, where = 0, defaultdict[str, list[str]](list)
    paths = sorted(source.rglob("*.py"))
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines += text.count("\n")
        defined = {
            node.name
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        for name in defined:
            if not name.startswith("_"):
                where[name].append(path.relative_to(source).as_posix())
    shared = {name: files for name, files in sorted(where.items()) if len(files) > 1}
    return Size(lines, len(paths), shared)


def verbs(source: Path = SOURCE) -> Counter[str]:
    """Count, by file, how often a variable, an attribute or a parameter has a name of VERBS."""
    counts: Counter[str] = Counter()
    for path in sorted(source.rglob("*.py")):
        names = _bound(ast.parse(path.read_text(encoding="utf-8")))
        if count := sum(name.lstrip("_") in VERBS for name in names):
            counts[path.relative_to(source).as_posix()] = count
    return counts


def _bound(tree: ast.AST) -> Iterator[str]:
    """Yield each name as often as it is bound; imports, functions and classes are left out."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def main() -> int:
    """Print the size, and the names."""
    lines, modules, shared = size()
    print(f"{lines:,} lines in {modules} modules, {lines / modules:.0f} a module")
    print(f"{len(shared)} public names defined in several modules:")
    for name, files in shared.items():
        print(f"  {name}: {', '.join(files)}")
    counts = verbs()
    print(f"{counts.total()} variables named {', '.join(sorted(VERBS))}:")
    for file, count in counts.items():
        print(f"  {file}: {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
