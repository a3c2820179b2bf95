"""Where a certificate's kind is compared outside its own module: `python -m tools.kinds` lists it.

What may be claimed is asked of a certificate's properties. Kinds are names in JSON: whoever
compares one elsewhere has to be found and changed for every new kind, and nothing fails if he is
not. So a test counts these places, and their number only falls.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "hornlens"
OWN = (
    *("logic/certificates.py", "logic/grounds.py", "logic/scopes.py", "logic/warrants.py"),
    *("logic/former.py", "formats/certificates.py"),
)
"""Where kinds may be compared: the certificate's own modules, and what reads it back from JSON."""
CLASSES = ("Exact", "Bounded", "Interrupted", "Noisy", "Pac", "Budget", "Explored")
"""What each kind was a class of, once: functions that warn."""
WORDS = {"tested", "surrogate", "partial", "open"}
"""Kinds whose names are words for other things, too: only a comparison that says so counts."""

OTHERS = {
    "results/analysis/gates.py": ('at_least != "exact"',),
    "results/documents/requirements_file.py": ('data.get("at_least") == "pac"',),
    "verifying/interrupted.py": ('warrant["kind"] == "tested"',),
    "cli/learn.py": ('equivalence != "exact"',),
    "extraction/formulas.py": (
        *('"equivalence": ("exact", "pac", "budget")', 'equivalence == "pac"'),
    ),
    "logic/levels.py": ('text == "exact"',),
    "results/documents/settings.py": ('equivalence == "exact"',),
}
"""What is called as a kind is, and is none: ways of equivalence queries, levels of gates and of
detail."""


class Place(NamedTuple):
    """Where a kind is compared, with the text of it."""

    file: str
    line: int
    text: str


def kinds() -> set[str]:
    """Return all kinds, read from the table of what people call them."""
    for node in ast.parse((SOURCE / OWN[0]).read_text(encoding="utf-8")).body:
        is_table = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TITLES"
        if is_table and isinstance(node.value, ast.Dict):
            return {key.value for key in node.value.keys if isinstance(key, ast.Constant)}
    raise ValueError(f"{OWN[0]} has no TITLES")


KINDS = kinds()


def in_python(text: str, file: str = "") -> Iterator[Place]:
    """Find comparisons, tables, `isinstance` and `match` by kinds or by their classes."""
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    yield from finder.found


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, text: str):
        self.file, self.found = file, list[Place]()
        self.lines = text.splitlines()
        self.imported: dict[str, str] = {}
        """Names that stand for classes of certificates here, or for something of their modules."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        modules = {f"hornlens.{name.removesuffix('.py').replace('/', '.')}" for name in OWN}
        if node.module in {*modules, "hornlens", "hornlens.certificates"}:
            self.imported |= {each.asname or each.name: each.name for each in node.names}

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        if any(self._names_a_kind(side) or self._holds_kinds(side, least=1) for side in sides):
            named = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)} & KINDS
            if not named or named - WORDS or "kind" in ast.unparse(node):
                self._note(node)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in ("isinstance", "issubclass") and len(node.args) == 2:
            against = node.args[1]
            if any(self._is_class(each) for each in ast.walk(against)):
                self._note(node)
                return
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        for each in ast.walk(node.pattern):
            by_class = isinstance(each, ast.MatchClass) and self._is_class(each.cls)
            if by_class or (isinstance(each, ast.MatchValue) and self._names_a_kind(each.value)):
                self._note(each)
                break
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):  # no comparison
            self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        keys = [key for key in node.keys if key is not None]
        table = any(self._is_class(key) for key in keys)
        named = {key.value for key in keys if isinstance(key, ast.Constant)} & (KINDS - WORDS)
        if table or len(named) > 1:
            self._note(node)
        else:
            self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple | ast.List | ast.Set) -> None:
        if self._holds_kinds(node, least=2):
            self._note(node)
        else:
            self.generic_visit(node)

    visit_List = visit_Set = visit_Tuple  # noqa: N815

    def _note(self, node: ast.AST) -> None:
        line: int = node.lineno  # type: ignore[attr-defined]
        self.found.append(Place(self.file, line, self.lines[line - 1].strip()))

    def _names_a_kind(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return node.value in KINDS
        if isinstance(node, ast.Attribute):  # Exact.kind
            return node.attr == "kind" and self._is_class(node.value)
        called = node.func if isinstance(node, ast.Call) else node  # certificate == Exact()
        known = isinstance(called, ast.Name) and self.imported.get(called.id) == "EXACT"
        return known or self._is_class(called)

    def _holds_kinds(self, node: ast.AST, least: int) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            made = node.func.id in ("set", "frozenset", "tuple") and len(node.args) == 1
            return made and self._holds_kinds(node.args[0], least)
        if not isinstance(node, ast.Tuple | ast.List | ast.Set):
            return False
        named = {each.value for each in node.elts if isinstance(each, ast.Constant)} & KINDS
        if named and not named - WORDS:
            return False
        return sum(self._names_a_kind(each) for each in node.elts) >= least

    def _is_class(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in CLASSES and ast.unparse(node.value).endswith("certificates")
        return isinstance(node, ast.Name) and self.imported.get(node.id) in CLASSES


_KIND = rf"(?:{'|'.join(sorted(KINDS - WORDS))})"
_WORD = rf"""["']{_KIND}["']"""
_KEY = rf"""["']?{_KIND}["']?\s*:"""
_COMPARED = re.compile(
    rf"""[!=]==?\s*{_WORD}             # kind == "exact", kind !== "exact"
    | {_WORD}\s*[!=]==?                # "exact" == kind
    | \bcase\s+{_WORD}\s*:             # of a switch
    | \bin\s*[(\[{{][^)\]}}]*?{_WORD}  # kind in ("exact", "bounded")
    | \[[^\]]*?{_WORD}[^\]]*\]\s*\.\s*includes\b
    | \bSet\(\s*\[[^\]]*?{_WORD}
    | [{{,]\s*{_KEY}[^{{}}]*?,\s*{_KEY}  # a table: {{exact: 2, bounded: 1}}
    """,
    re.VERBOSE,
)


def in_page(text: str, file: str = "") -> Iterator[Place]:
    """Find comparisons in the templates and scripts of pages."""
    for match in _COMPARED.finditer(text):
        yield Place(file, text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()))


def is_one(place: Place) -> bool:
    """Say whether a place is one, and does not only look like it."""
    return not any(text in place.text for text in OTHERS.get(place.file, ()))


def places() -> list[Place]:
    """Find all places in the package, but for the certificates' own modules; see `is_one`."""
    found: list[Place] = []
    for path in sorted(SOURCE.rglob("*")):
        file = path.relative_to(SOURCE).as_posix()
        if file in OWN or path.suffix not in (".py", ".html", ".js"):
            continue
        text = path.read_text(encoding="utf-8")
        found += (in_python if path.suffix == ".py" else in_page)(text, file)
    return found


def main() -> int:
    """List them."""
    for place in (found := [*filter(is_one, places())]):
        print(f"{place.file}:{place.line}: {place.text}")
    print(f"{len(found)} places in {len({place.file for place in found})} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
