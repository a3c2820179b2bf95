"""Drawings of a result for notebooks and papers: `result.plot`, each of whose methods returns axes.

They draw into axes that they are given, or make a figure of their own. matplotlib is an extra.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hornlens.errors import HornlensError
from hornlens.report.drawing import can_draw
from hornlens.results.analysis.flips import labels_of, values_of
from hornlens.results.analysis.worlds import survival
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.sifting import NO_RATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 60
"""Letters of a rule that are shown beside its bar."""
FONT = 9
ROW = 0.28
"""Inches that a line of a drawing takes."""


class Plots:
    """What can be drawn of a result.

    >>> from hornlens import extract
    >>> result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> result.plot.rules().get_xlabel()
    'prompts it speaks of'
    """

    def __init__(self, result: Findings):
        """Take the result; nothing is drawn yet."""
        self._result = result

    def rules(self, most: int = 15, ax: Axes | None = None) -> Axes:
        """Draw the first rules, and how many prompts, cells or rows each of them speaks of."""
        rows = [*self._result.rules][:most]
        axes = _axes(ax, 6.4, 0.9 + ROW * max(len(rows), 1))
        axes.barh(range(len(rows)), [row.support for row in rows], color="#0072B2", height=0.7)
        axes.set_yticks(range(len(rows)), [_cut(str(row)) for row in rows])
        axes.invert_yaxis()
        axes.set_xlabel(f"{rows[0].unit if rows else 'cells'} it speaks of")
        more = len(self._result.rules) - len(rows)
        axes.set_title(f"{self._result.title}" + (f": the first {len(rows)} rules" if more else ""))
        return _plain(axes)

    def map(
        self,
        rows: str | None = None,
        columns: str | None = None,
        label: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the share of answers that are one label, over the values of two attributes.

        By default the attributes with the most values, and the first label. What other attributes
        say is counted in; "unset" says nothing of the attribute. A field without answers is empty.
        """
        self._need_answers()
        attributes = self._result.space.attributes
        if len(attributes) < 2:
            raise HornlensError("a map needs two attributes; plot.rates draws one")
        # Of those with as many values, the one that is named last: usually the subject itself.
        usual = sorted(range(len(attributes)), key=lambda i: (-len(values_of(attributes[i])), -i))
        down = self._attribute(rows) if rows else next(i for i in usual if not self._is(i, columns))
        across = self._attribute(columns) if columns else next(i for i in usual if i != down)
        if down == across:
            raise HornlensError("a map needs two different attributes for rows and columns")
        place, said = self._label(label)
        shares = self._shares(down, across, place)
        names = [[name for name, _ in self._values(i)] for i in (down, across)]
        axes = _axes(ax, 1.9 + 0.62 * len(names[1]), 1.5 + ROW * len(names[0]))
        image = axes.imshow(shares, vmin=0, vmax=1, cmap="RdBu", aspect="auto")
        axes.set_yticks(range(len(names[0])), names[0])
        axes.set_xticks(range(len(names[1])), names[1], rotation=45, ha="right")
        axes.set_ylabel(attributes[down].name)
        axes.set_xlabel(attributes[across].name)
        for i, j in product(range(len(names[0])), range(len(names[1]))):
            share = shares[i][j]
            if share == share:
                dark = abs(share - 0.5) > 0.35
                colour = "white" if dark else "black"
                axes.text(j, i, f"{share:.0%}", ha="center", va="center", color=colour, fontsize=7)
        axes.figure.colorbar(image, ax=axes, label=f"share of answers “{said}”")
        axes.set_title(self._result.title)
        return _plain(axes)

    def rates(self, attribute: str, ax: Axes | None = None) -> Axes:
        """Draw how often each value of an attribute gets each label."""
        self._need_answers()
        self._attribute(attribute)
        rates = self._result.rates
        values = [value for value in rates[attribute].values if value.shares is not None]
        axes = _axes(ax, 6.4, 1.1 + ROW * max(len(values), 1))
        left = [0.0] * len(values)
        for place, label in enumerate(rates.labels):
            shares = [(value.shares or ())[place] for value in values]
            axes.barh(range(len(values)), shares, left=left, label=label, height=0.7)
            left = [a + b for a, b in zip(left, shares, strict=True)]
        axes.set_yticks(range(len(values)), [value.value for value in values])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the answers")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=FONT)
        axes.set_title(f"{self._result.title}: {attribute}")
        return _plain(axes)

    def survival(self, ax: Axes | None = None) -> Axes:
        """Draw how many rules hold in at least so many phrasings (or models, or policies)."""
        result = self._result
        if len(result.worlds) < 2:
            raise HornlensError(
                "there is one way of asking only: survival needs a probe with variants, or Worlds"
            )
        kept, count = [line.kept for line in survival(result)], len(result.worlds)
        left = [sum(k >= least for k in kept) for least in range(1, count + 1)]
        axes = _axes(ax, 5.2, 3.2)
        axes.bar(range(1, count + 1), left, color="#0072B2")
        for least, many in enumerate(left, 1):
            axes.annotate(str(many), (least, many), ha="center", va="bottom", fontsize=FONT)
        axes.set_xticks(range(1, count + 1))
        axes.set_xlabel(f"in at least so many of {count} {result.noun}s")
        axes.set_ylabel("rules that hold")
        axes.set_title(result.title)
        return _plain(axes)

    def levels(self, ax: Axes | None = None) -> Axes:
        """Draw the curve from one rule to many: what they explain, and what they get wrong."""
        levels = self._result.envelope.levels
        if levels is None:
            raise HornlensError("there are no levels: they need a run that asks everything")
        places = range(len(levels.steps) + 1)
        whole = levels.rejections or 1
        axes = _axes(ax, 5.2, 3.2)
        explained = [levels.explained(n) / whole for n in places]
        wrong = [levels.exceptions(n) for n in places]
        axes.plot(places, explained, marker="o", markersize=4, color="#0072B2")
        axes.axhline(levels.by_exact / whole, color="#555555", linestyle=":", linewidth=1)
        said = f"all {levels.exact_rules} exact rules"
        axes.annotate(said, (0, levels.by_exact / whole), va="bottom", fontsize=FONT)
        if places:
            last = f"{wrong[-1]} exceptions" if wrong[-1] != 1 else "1 exception"
            at = (places[-1], explained[-1])
            axes.annotate(
                last,
                at,
                xytext=(0, -10),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=FONT,
            )
        axes.set_ylim(0, 1.08)
        axes.set_xlabel("rules")
        axes.set_ylabel("share of the rejections explained")
        axes.set_title(self._result.title)
        return _plain(axes)

    # --- what is drawn ---

    def _need_answers(self) -> None:
        if not self._result.decisions and not self._result.worlds:
            raise HornlensError(
                f"{self._result.title} was not asked: there are no answers to draw, only rules"
            )
        if not self._result.has_rates:
            raise HornlensError(NO_RATES)

    def _attribute(self, name: str) -> int:
        names = [attribute.name for attribute in self._result.space.attributes]
        if name not in names:
            raise HornlensError(f"no attribute {name!r} (there are: {', '.join(names)})")
        return names.index(name)

    def _values(self, place: int) -> list[tuple[str, int]]:
        """Return an attribute's values with their choices, and unset if it is none of them."""
        values = values_of(self._result.space.attributes[place], self._result.space.complete)
        if self._result.space.complete or any(choice == 0 for _, choice in values):
            return values
        return [*values, ("unset", 0)]

    def _is(self, place: int, name: str | None) -> bool:
        return name is not None and place == self._attribute(name)

    def _label(self, label: str | None) -> tuple[int, str]:
        """Return a label's place among the winners, and its name."""
        names = labels_of(self._result.space)
        if label is None:
            place = 0 if self._result.space.label is not None else len(names) - 1
            return place, names[place]
        if label not in names:
            raise HornlensError(f"no label {label!r} (there are: {', '.join(names)})")
        return names.index(label), label

    def _shares(self, down: int, across: int, place: int) -> list[list[float]]:
        """Return the share of a label by the values of two attributes; the last are unset."""
        space = self._result.space
        where = []
        for i in (down, across):
            where.append({c << space.offsets[i]: n for n, (_, c) in enumerate(self._values(i))})
        counts = [[[0, 0] for _ in where[1]] for _ in where[0]]
        for world in self._result.each:
            for cell, decision in world.decisions.items():
                row = where[0].get(cell & space.groups[down])
                column = where[1].get(cell & space.groups[across])
                if row is None or column is None or decision.winner is None:
                    continue
                counts[row][column][0] += decision.winner == place
                counts[row][column][1] += 1
        return [[a / n if n else float("nan") for a, n in row] for row in counts]


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes that are given, or those of a new figure, which notebooks show."""
    if ax is not None:
        return ax
    if not can_draw():
        raise HornlensError("drawings need matplotlib: pip install 'hornlens[figures]'")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(width, min(height, 12)), layout="constrained")
    return axes


def _plain(axes: Axes) -> Axes:
    """Return the axes with all texts as they are: a name with dollar signs is no formula."""
    from matplotlib.text import Text

    for text in axes.findobj(Text):
        text.set_parse_math(False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=FONT)
    axes.title.set_fontsize(FONT + 1)
    return axes


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
