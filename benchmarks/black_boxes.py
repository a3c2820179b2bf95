"""Models that nobody can look into: `explain` by a sift against random cells, in one run.

Random cells with a union bound over all rules is what `explain` did before it sifted: 50,000 of
them, beside what it asked to measure how well the bins agree, which is not counted here.
"""

from __future__ import annotations

from math import ceil, log, prod
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.classifiers import fresh_model
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import ListedCells
from hornlens.exact.boxes.rulesets import BoxRule, short_rules_of_list, subsets
from hornlens.targets.classifiers.points import Binned

DRAWN = 50_000
"""So many random cells were asked."""
TRIED = 4_000
"""So many fresh cells inside a rule say how many of them break it."""
EPSILON = DELTA = 0.05
RULES, WIDE, CONDITIONS = 6, 3, 2
"""So many rules are planted, each with two ranges of so many bins."""


class Counted:
    """A model that counts the rows that it is asked."""

    classes_ = np.array([0, 1])

    def __init__(self, predict: Any):
        """Count what is put to a function of rows."""
        self.ask, self.rows = predict, 0

    def predict(self, rows: Any) -> Any:
        """Answer."""
        self.rows += len(rows)
        return self.ask(rows)


def black_box(kind: str, columns: int, bins: int, seeds: int) -> dict[str, Any]:
    """Explain models over bins ** columns cells: rows asked, rules listed, wrong ones, CPU seconds.

    `planted` is a function whose rules are known; others are fitted to its answers. *Found* are
    planted rules that a listed one states. *Unsound* are listed rules that more than 5% of fresh
    cells inside them break.
    """
    totals: dict[str, float] = {}
    for seed in range(seeds):
        for name, number in compared(kind, columns, bins, seed).items():
            totals[name] = totals.get(name, 0.0) + number
    means = {name: round(number / seeds, 2) for name, number in totals.items()}
    by_random = round(totals["rows"] / (seeds * DRAWN), 4)
    return {"planted": RULES, **means, "random_rows": DRAWN, "rows_by_random": by_random}


def compared(kind: str, columns: int, bins: int, seed: int) -> dict[str, float]:
    """Explain one model both ways, and judge the rules of both by fresh cells."""
    from threadpoolctl import threadpool_limits

    import hornlens

    edges = {f"x{place}": (np.arange(1, bins) / bins).tolist() for place in range(columns)}
    with threadpool_limits(1):
        decide, planted = planted_model(columns, bins, seed)
        rows = np.random.default_rng(seed).random((3_000, columns))
        if kind == "planted":
            model = Counted(decide)
        else:
            model = Counted(fresh_model(kind).fit(rows, decide(rows)).predict)
        start = process_time()
        result = hornlens.explain(model, rows[:500], bins=edges)
        counts: dict[str, float] = {"seconds": process_time() - start, "rows": model.rows}
        counts["questions"] = result.envelope.statistics["questions"]
        rules = [BoxRule(rule.box or (), rule.place or 0) for rule in result.rules]
        counts |= judged(result.binned, rules, planted)
        start = process_time()
        drawn = by_random_cells(result.binned, seed)
        counts["random_seconds"] = process_time() - start
        baseline = judged(result.binned, drawn, planted)
    return counts | {f"random_{name}": number for name, number in baseline.items()}


def planted_model(columns: int, bins: int, seed: int) -> tuple[Any, list[Box]]:
    """Return a score of all columns that some boxes of two columns override, and these boxes.

    In these it says 1, and of about half of all cells.
    """
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(columns, bins))
    boxes: list[Box] = []
    for _ in range(RULES):
        box = [(0, bins - 1)] * columns
        for column in rng.choice(columns, CONDITIONS, replace=False).tolist():
            low = int(rng.integers(0, bins - WIDE + 1))
            box[column] = (low, low + WIDE - 1)
        boxes.append(tuple(box))

    def overridden(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        ranges = [np.array(box).T for box in boxes]
        return np.any([((cells >= a) & (cells <= b)).all(axis=1) for a, b in ranges], axis=0)

    def score(cells: NDArray[np.int64]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = scores[np.arange(columns), cells].sum(axis=1)
        return total

    some = rng.integers(0, bins, (10_000, columns))
    always = overridden(some)
    # So that both classes are said of half of the cells.
    least = np.quantile(score(some[~always]), 1 - max(0.0, 0.5 - always.mean()) / (~always).mean())

    def decide(rows: Any) -> NDArray[np.int64]:
        cells = np.clip((np.asarray(rows) * bins).astype(int), 0, bins - 1)
        return (overridden(cells) | (score(cells) > least)).astype(np.int64)

    return decide, boxes


def by_random_cells(binned: Binned, seed: int) -> list[BoxRule]:
    """Return the rules that so many random cells speak for that all of them are within ε."""
    rng, axes = np.random.default_rng(seed), binned.axes
    cells = np.column_stack([rng.integers(0, axis.size, DRAWN) for axis in axes])
    every = 2 * sum(
        prod(len(axes[place].ranges) for place in some) for some in subsets(axes, CONDITIONS)
    )
    least = ceil(log(every / DELTA) / -log(1 - EPSILON))
    drawn = ListedCells(axes, cells, binned.ask(cells))
    return [rule for rule, _ in short_rules_of_list(drawn, CONDITIONS, least)]


def judged(binned: Binned, rules: list[BoxRule], planted: list[Box]) -> dict[str, float]:
    """Count the rules, those that state a planted one, and those that are broken too often."""
    rng, unsound = np.random.default_rng(1), 0
    for rule in rules:
        cells = np.column_stack([rng.integers(low, high + 1, TRIED) for low, high in rule.box])
        unsound += float((binned.ask(cells) != rule.place).mean()) > EPSILON
    found = sum(
        any(rule.place == 1 and _contains(rule.box, box) for rule in rules) for box in planted
    )
    return {"rules": len(rules), "found": found, "unsound": unsound}


def _contains(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))
