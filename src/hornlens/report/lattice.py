"""A concept lattice as SVG: in layers, with few crossings, variables above their concepts.

Labels are reduced, as in concept analysis: a concept has the variables that stand at it or above
it, and the rows that stand at it or below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import fmean

from hornlens.formats.plain import visible
from hornlens.results.documents.tables import LatticeConcept

ROW, LETTER, LINE, PAD, DOT = 70.0, 6.3, 13.0, 20.0, 6.0
"""Between layers, of a letter, of a line of text, beside labels, of a dot."""
LONGEST, MOST_LINES = 22, 3
"""A label is cut after so many letters; what is beyond so many lines is counted."""
SWEEPS = 24
STYLE = """\
.lattice line { stroke: #8a857a; stroke-width: 1; }
.lattice circle { fill: #fff; stroke: #0f5f5c; stroke-width: 1.6; }
.lattice .full { fill: #0f5f5c; }
.lattice text { font: 11px system-ui, sans-serif; text-anchor: middle; fill: #1d1c1a;
  stroke: #fff; stroke-width: 3px; paint-order: stroke; }
.lattice .variable { font-weight: 600; fill: #0f5f5c; }"""


def lattice_svg(nodes: Sequence[LatticeConcept], standalone: bool = False) -> str:
    """Return the drawing; `standalone` has its own style and can be a file."""
    depth = _depths(nodes)
    levels: list[list[int]] = [[] for _ in range(max(depth, default=0) + 1)]
    for i, level in enumerate(depth):
        levels[level].append(i)
    _order(levels, nodes)
    labels = [(_lines(n.own_variables), _lines(n.own_rows)) for n in nodes]
    wide = [max((len(t) * LETTER for t in (*up, *down)), default=0.0) for up, down in labels]
    x = _across(levels, nodes, wide)
    y, height = _down(levels, labels)
    left = min((x[i] - wide[i] / 2 for i in range(len(nodes))), default=0.0) - PAD
    right = max((x[i] + wide[i] / 2 for i in range(len(nodes))), default=0.0) + PAD
    own = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    width = right - left
    text = f"Concept lattice: {len(nodes)} concepts, from all rows at the top to all variables."
    parts = [
        f'<svg class="lattice"{own} viewBox="{left:.0f} 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{text}">'
    ]
    if standalone:
        parts.append(f"<style>{STYLE}</style>")
    for i, node in enumerate(nodes):
        parts += [
            f'<line x1="{x[i]:.1f}" y1="{y[i]:.1f}" x2="{x[j]:.1f}" y2="{y[j]:.1f}" '
            f'data-from="{i}" data-to="{j}"/>'
            for j in node.above
        ]
    for i, node in enumerate(nodes):
        has = ", ".join(node.variables) or "no variable in common"
        title = escape(visible(f"{node.rows} rows: {has}"))
        kind = ' class="full"' if node.own_rows else ""
        above = " ".join(map(str, node.above))
        parts.append(
            f'<g data-node="{i}" data-above="{above}"><title>{title}</title>'
            f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{DOT:.0f}"{kind}/>'
        )
        up, down = labels[i]
        for k, line in enumerate(up):
            at = y[i] - DOT - 5 - LINE * (len(up) - 1 - k)
            parts.append(_text(x[i], at, line, "variable"))
        for k, line in enumerate(down):
            parts.append(_text(x[i], y[i] + DOT + 11 + LINE * k, line, "row"))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(visible(text))}</text>'


def _lines(names: Sequence[str]) -> list[str]:
    """Return labels as lines: short names beside each other, long ones cut, the rest counted."""
    found: list[str] = []
    left = list(names)
    while left and len(found) < MOST_LINES:
        line = left.pop(0)
        line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
        while left and len(line) + 2 + len(left[0]) <= LONGEST:
            line += f", {left.pop(0)}"
        found.append(line)
    if left:
        found[-1] = f"{found[-1]} +{len(left)}"
    return found


def _depths(nodes: Sequence[LatticeConcept]) -> list[int]:
    depth: list[int] = []
    for node in nodes:
        depth.append(max((depth[j] + 1 for j in node.above), default=0))
    return depth


def _order(levels: list[list[int]], nodes: Sequence[LatticeConcept]) -> None:
    """Put each layer in the order of its neighbours' places, up and down, again and again."""
    near: list[list[int]] = [list(node.above) for node in nodes]
    for i, node in enumerate(nodes):
        for j in node.above:
            near[j].append(i)
    place = {i: float(k) - len(level) / 2 for level in levels for k, i in enumerate(level)}
    for sweep in range(SWEEPS):
        for level in levels if sweep % 2 == 0 else reversed(levels):
            level.sort(key=lambda i: (fmean(place[j] for j in near[i]) if near[i] else 0.0, i))
            for k, i in enumerate(level):
                place[i] = k - (len(level) - 1) / 2


def _across(
    levels: list[list[int]], nodes: Sequence[LatticeConcept], wide: list[float]
) -> list[float]:
    """Return where each node stands: near its neighbours, and beside the others of its layer."""
    near: list[list[int]] = [list(node.above) for node in nodes]
    for i, node in enumerate(nodes):
        for j in node.above:
            near[j].append(i)
    x = [0.0] * len(nodes)
    for level in levels:
        _spread(level, dict.fromkeys(level, 0.0), x, wide)
    for sweep in range(SWEEPS):
        for level in levels if sweep % 2 == 0 else reversed(levels):
            wish = {i: fmean(x[j] for j in near[i]) if near[i] else x[i] for i in level}
            _spread(level, wish, x, wide)
    return x


def _spread(level: list[int], wish: dict[int, float], x: list[float], wide: list[float]) -> None:
    """Set places in order, as near to what is wished as the widths allow.

    Runs of nodes that push each other stand around the mean of what they wish.
    """
    runs: list[tuple[list[int], list[float], float]] = []  # nodes, offsets, place of the first
    for i in level:
        runs.append(([i], [0.0], wish[i]))
        while len(runs) > 1:
            (before, offsets, start), (after, others, then) = runs[-2:]
            gap = max(wide[before[-1]], 2 * DOT) / 2 + max(wide[after[0]], 2 * DOT) / 2 + PAD
            if start + offsets[-1] + gap <= then:
                break
            shifted = [offsets[-1] + gap + o for o in others]
            both, all_offsets = [*before, *after], [*offsets, *shifted]
            first = fmean(wish[n] - o for n, o in zip(both, all_offsets, strict=True))
            runs[-2:] = [(both, all_offsets, first)]
    for run, offsets, start in runs:
        for i, offset in zip(run, offsets, strict=True):
            x[i] = start + offset


def _down(
    levels: list[list[int]], labels: list[tuple[list[str], list[str]]]
) -> tuple[list[float], float]:
    """Return how far down each node stands, and the height of all: labels need their lines."""
    y = [0.0] * len(labels)
    at = 0.0
    for level in levels:
        at += ROW * 0.5 + LINE * max((len(labels[i][0]) for i in level), default=0)
        for i in level:
            y[i] = at
        at += ROW * 0.5 + LINE * max((len(labels[i][1]) for i in level), default=0)
    return y, at
