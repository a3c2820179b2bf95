"""Run the notebooks of examples/, and keep what they show: `python -m tools.notebooks [NAME …]`.

What is kept is what the tests hold a new run against: text as it is; figures and tables are there
to be looked at.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
TIMEOUT = 300
"""Seconds that one cell may take, on a machine that has other things to do as well."""


def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook as it is after a run in an empty folder, with a cache of its own."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "examples").symlink_to(EXAMPLES)
        places = {"HORNLENS_CACHE": str(Path(made) / "answers.sqlite"), "MPLBACKEND": ""}
        before = {name: os.environ.get(name) for name in places}
        os.environ.update(places)
        os.environ.pop("MPLBACKEND")  # the kernel's own
        try:
            client = NotebookClient(
                notebook,
                timeout=TIMEOUT,
                kernel_name="python3",
                coalesce_streams=True,  # where a print ends depends on the machine
                resources={"metadata": {"path": made}},
            )
            done: nbformat.NotebookNode = client.execute()
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
    return done


def texts(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """Return for each cell the texts that it shows; how far a bar is depends on the machine."""
    return [
        [said for output in cell.get("outputs", ()) if (said := _text(output)) is not None]
        for cell in notebook.cells
    ]


def _text(output: nbformat.NotebookNode) -> str | None:
    if output.output_type == "stream":
        return str(output.text) if output.name == "stdout" else None
    data = output.get("data", {})
    if output.output_type != "execute_result" or "image/png" in data:
        return None
    return str(data.get("text/plain", ""))


def main(names: list[str]) -> int:
    """Run those that are named, or all; write them."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        done = executed(path)
        done.metadata = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        for number, cell in enumerate(done.cells, 1):
            cell.id = f"cell-{number}"  # the same at every run
            cell.metadata = {}
        nbformat.write(done, path)
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
