"""Draw the growth curves of docs/benchmarks.md from the benchmarks' JSON.

python -m benchmarks.plots [RESULTS.json] [--out docs/growth.svg]
"""

import argparse
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from hornlens.formats.files import write_file

ROOT = Path(__file__).parents[1]
STYLE = {
    "font.size": 8,
    "svg.hashsalt": "hornlens",
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(results: list[dict[str, Any]]) -> bytes:
    """Return the figure: the same results, the same bytes."""

    def points(case: str, x: str, y: str, *arguments: int | None) -> list[tuple[float, float]]:
        """Return (x, y) of a case's results with these arguments (None: any)."""
        return sorted(
            (result[x], result[y])
            for result in results
            if result["case"] == case
            and y in result
            and all(a in (None, b) for a, b in zip(arguments, result["arguments"], strict=False))
        )

    query, own = "own_ms_a_query", "own_seconds"
    panels = [
        ("PAC: size of the domain", points("pac", "prompts", query, None, 10, 20)),
        ("PAC: variables", points("pac", "variables", query, 8, None, 20)),
        ("PAC: rules", points("pac", "planted", own, 8, 10, None)),
        ("Exact: size of the domain", points("tabulated", "interpretations", own)),
        (
            "DG basis of a labelled domain",
            points("labelled", "interpretations", "seconds", None, 300),
        ),
        ("Envelope of a 3-CNF", points("envelope", "rules", "seconds")),
    ]
    names = [
        ("prompts", "own ms a query"),
        ("variables", "own ms a query"),
        ("rules", "own seconds"),
        ("interpretations", "own seconds"),
        ("interpretations", "seconds"),
        ("rules", "seconds"),
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots(2, 3).flat
        for panel, (title, curve), (x, y) in zip(axes, panels, names, strict=True):
            panel.plot(*zip(*curve, strict=True), "o-", color="#0072B2", markersize=3)
            panel.set(xlabel=x, ylabel=y, title=title)
            if title.startswith("PAC"):
                panel.set_ylim(bottom=0)  # "flat" should be seen
            else:
                panel.set_yscale("log")
            if x == "prompts" or panel.get_yscale() == "log":
                panel.set_xscale("log")
        data = BytesIO()
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": None})
    return data.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plots", description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=ROOT / "benchmarks/results.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "growth.svg")
    options = parser.parse_args()
    write_file(options.out, draw(json.loads(options.results.read_text())["results"]))


if __name__ == "__main__":
    main()
