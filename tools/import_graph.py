"""Draw which package imports which, from the code: the graph in docs/architecture.md.

Run it after a change of the imports: `python tools/import_graph.py` rewrites the drawing.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hornlens"
PAGE = ROOT / "docs" / "architecture.md"
BELOW = {
    *("counts", "deprecation", "errors", "limits", "logging", "namespaces", "redaction"),
    "registry",
}
"""Modules that every package may import, and which import no package: not drawn."""
NAMES = {"hornlens", "hornlens.__main__", "hornlens.certificates", "hornlens.theory"}
"""Modules that only name what others hold: not drawn."""
BEGIN, END = "```mermaid\n", "```\n"


def module_of(path: Path) -> str:
    """Return the dotted name of a file's module."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, for_types: bool = True) -> set[str]:
    """Return what a file imports, anywhere in it; for type checkers only too, if wanted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[ast.AST] = set()
    if not for_types:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                left_out |= {inner for line in node.body for inner in ast.walk(line)}
    names: set[str] = set()
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def package_of(module: str) -> str:
    """Return the package of a module of ours, or the module itself where it stands alone."""
    return module.split(".")[1]


def packages() -> dict[str, set[str]]:
    """Return for each package which others it imports."""
    files = {module_of(path): path for path in SOURCE.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        if module in NAMES:
            continue
        own = package_of(module)
        # The namespace of a package names what others hold, and imports it when it is asked for.
        imported = imports(path, for_types=path.name != "__init__.py")
        known = (name for name in imported if name in files and name != "hornlens")
        found.setdefault(own, set()).update(package_of(name) for name in known)
    return {own: others - BELOW - {own} for own, others in found.items()}


def draw() -> str:
    """Return the graph, without the arrows that follow from others."""
    graph = packages()
    for below in BELOW:
        graph.pop(below, None)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        agenda = list(graph[start])
        while agenda:
            name = agenda.pop()
            if name not in seen:
                seen.add(name)
                agenda += graph[name]
        return seen

    lines = [
        f"  {own} --> {other}"
        for own in sorted(graph)
        for other in sorted(graph[own])
        if not any(other in reached(third) for third in graph[own] if third != other)
    ]
    return "graph BT\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Put the graph into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{draw()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
