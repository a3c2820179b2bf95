"""Drawings of the pages as SVG: graphs that the pages write down as Mermaid does, `a --> b`.

Mermaid draws in the browser, with a script that is loaded from elsewhere. The pages need one thing
of it only, layers of boxes with arrows between them: that is drawn here when the site is built.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from itertools import pairwise
from statistics import fmean

BLOCK = re.compile(r"^```mermaid\ngraph BT\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EDGE = re.compile(r"^\s*(\w+) --> (\w+)\s*$")
HIGH, GAP, BETWEEN, LETTER, PASSING = 34, 46, 22, 8.4, 14
"""Of a box, between layers, between boxes, of a letter, and of an arrow that passes a layer."""
SWEEPS = 12

Node = tuple[str, int]
"""A box by its name and layer; where an arrow passes a layer, it has a place there: `a>b`."""


def drawn(text: str) -> str:
    """Return a page with its graphs as drawings."""
    return BLOCK.sub(lambda found: svg(edges_of(found[1])), text)


def edges_of(lines: str) -> list[tuple[str, str]]:
    """Return the arrows; a line that is none is an error, not left out."""
    found = []
    for line in filter(str.strip, lines.splitlines()):
        match = EDGE.match(line)
        if match is None:
            raise SystemExit(f"tools/site/drawing.py draws lines like 'a --> b' only, not {line!r}")
        found.append((match[1], match[2]))
    return found


def svg(edges: list[tuple[str, str]]) -> str:
    """Return the graph: what is pointed to stands above."""
    layer = _layers(edges)
    chains = [_chain(edge, layer) for edge in edges]
    rows = _ordered(_rows(layer, chains), chains)
    x, width = _across(rows, chains)
    top = max(layer.values())
    y = {level: (top - level) * (HIGH + GAP) + 4 for level in range(top + 1)}
    parts = [_arrow(chain, x, y) for chain in chains]
    for name, level in layer.items():
        half = _wide(name) / 2
        left = x[name, level] - half
        parts.append(
            f'<rect x="{left:.0f}" y="{y[level]}" width="{2 * half:.0f}" height="{HIGH}" rx="6"/>'
            f'<text x="{left + half:.0f}" y="{y[level] + HIGH / 2 + 5:.0f}">{escape(name)}</text>'
        )
    said = "; ".join(f"{a} to {b}" for a, b in edges)
    high = y[0] + HIGH + 4
    return (
        f'<div class="drawing"><svg viewBox="0 0 {width:.0f} {high}" width="{width:.0f}" '
        f'role="img" aria-label="A graph. Arrows: {escape(said)}."><defs><marker id="head" '
        'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>' + "".join(parts) + "</svg></div>"
    )


def _layers(edges: list[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each box: one below the lowest that it points to. 0 is the lowest."""
    points = defaultdict(set)
    for a, b in edges:
        points[a].add(b)
    names = list(dict.fromkeys(name for edge in edges for name in edge))
    depth: dict[str, int] = {}
    while len(depth) < len(names):
        ready = [n for n in names if n not in depth and points[n] <= depth.keys()]
        if not ready:
            raise SystemExit("tools/site/drawing.py: the graph has a circle")
        depth |= {n: max((depth[m] + 1 for m in points[n]), default=0) for n in ready}
    deepest = max(depth.values())
    return {name: deepest - depth[name] for name in names}


def _chain(edge: tuple[str, str], layer: dict[str, int]) -> list[Node]:
    """Return the places that an arrow goes through, from its foot to its head."""
    a, b = edge
    between = range(layer[a] + 1, layer[b])
    return [(a, layer[a]), *((f"{a}>{b}", level) for level in between), (b, layer[b])]


def _rows(layer: dict[str, int], chains: list[list[Node]]) -> list[list[Node]]:
    rows: list[list[Node]] = [[] for _ in range(max(layer.values()) + 1)]
    for node in dict.fromkeys(node for chain in chains for node in chain):
        rows[node[1]].append(node)
    return rows


def _ordered(rows: list[list[Node]], chains: list[list[Node]]) -> list[list[Node]]:
    """Return each layer in the order of the means of its neighbours: few arrows cross then."""
    beside = _neighbours(chains)
    place = {node: i for row in rows for i, node in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            step = -1 if sweep % 2 else 1
            means = {
                n: fmean([place[m] for m in beside[n] if m[1] == n[1] + step] or [place[n]])
                for n in row
            }
            row.sort(key=lambda n: (means[n], n))
            place |= {node: i for i, node in enumerate(row)}
    return rows


def _across(rows: list[list[Node]], chains: list[list[Node]]) -> tuple[dict[Node, float], float]:
    """Return where each place is from left to right, and the width of all."""
    beside, x = _neighbours(chains), {}
    for row in rows:
        at = 0.0
        for node in row:
            x[node] = at + _wide(node[0]) / 2
            at += _wide(node[0]) + BETWEEN
    for sweep in range(4 * SWEEPS):
        for row in rows:
            wished = {n: fmean([x[m] for m in beside[n]] or [x[n]]) for n in row}
            onward = row if sweep % 2 else row[::-1]
            sign = 1 if sweep % 2 else -1
            for i, node in enumerate(onward):
                x[node] = wished[node]
                if i:
                    far = (_wide(node[0]) + _wide(onward[i - 1][0])) / 2 + BETWEEN
                    least = x[onward[i - 1]] + sign * far
                    x[node] = max(x[node], least) if sign > 0 else min(x[node], least)
    left = min(x[n] - _wide(n[0]) / 2 for n in x) - 4
    x = {node: at - left for node, at in x.items()}
    return x, max(x[n] + _wide(n[0]) / 2 for n in x) + 4


def _neighbours(chains: list[list[Node]]) -> dict[Node, list[Node]]:
    beside: dict[Node, list[Node]] = defaultdict(list)
    for chain in chains:
        for a, b in pairwise(chain):
            beside[a].append(b)
            beside[b].append(a)
    return beside


def _wide(name: str) -> float:
    return PASSING if ">" in name else len(name) * LETTER + 24


def _arrow(chain: list[Node], x: dict[Node, float], y: dict[int, int]) -> str:
    """Return the curve from the top of one box, past what is between, to the foot of the other."""
    at, path = y[chain[0][1]], ""
    for i, node in enumerate(chain):
        to = y[node[1]]
        if i == 0:
            path = f"M{x[node]:.0f} {to}"
            continue
        end = to + HIGH
        bend = (at - end) / 2
        before, here = x[chain[i - 1]], x[node]
        path += f"C{before:.0f} {at - bend:.0f} {here:.0f} {end + bend:.0f} {here:.0f} {end}"
        if i < len(chain) - 1:
            path += f"V{to}"
        at = to
    return f'<path d="{path}" marker-end="url(#head)"/>'
