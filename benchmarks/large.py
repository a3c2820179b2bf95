"""Rules of ensembles whose cells cannot all be asked: what share of the rows they decide in a time.

The time is what a clock shows, so a machine that is busy finds less in it; `cpu_seconds` says what
was used of it.
"""

from time import process_time
from typing import Any

import numpy as np

from benchmarks.census import census
from benchmarks.proofs import fitted

DRAWN = 50
"""In each rule, so many random inputs are drawn and put to the model."""


def cover(kind: str, trees: int, data: str, seconds: float | None) -> dict[str, Any]:
    """Explain a model of depth 6 within so many seconds: what the rules decide, and if truly.

    Args:
        kind: "forest", or "boosting" (by XGBoost).
        trees: How many trees there are.
        data: "census", "incomes" or "breast cancer".
        seconds: The time limit; None: until 99.9% of the rows are decided.
    """
    from threadpoolctl import threadpool_limits

    import hornlens

    with threadpool_limits(1):
        model, rows, fresh = model_of(kind, trees, data)
        start = process_time()
        limits = None if seconds is None else hornlens.Limits(time_limit=seconds)
        result: Any = hornlens.explain(model, rows, cover=0.999, limits=limits)
        used = process_time() - start
        rng, broken, drawn = np.random.default_rng(0), 0, 0
        for box, place in result.boxes:
            low, high = np.array(box).T
            inputs = rng.integers(low, high + 1, (DRAWN, len(box)))
            drawn += len(inputs)
            broken += int(np.count_nonzero(result.binned.ask(inputs) != place))
        own = {} if fresh is None else {"fresh_rows": round(share_of(result, fresh), 4)}
    axes, coverage = result.binned.axes, result.certificate.coverage
    conditions = [
        sum(span != axis.whole for span, axis in zip(rule.box, axes, strict=True))
        for rule in result.boxes
    ]
    return {
        "rules": len(result.boxes),
        "conditions": round(float(np.mean(conditions)), 1),
        "may_be_wider": coverage.hard,
        "rows": round(coverage.share, 4),
        **own,
        "by_ten": round(result.headline().share, 4),
        "drawn": drawn,
        "broken": broken,
        "cpu_seconds": round(used, 1),
    }


def model_of(kind: str, trees: int, data: str) -> tuple[Any, Any, Any]:
    """Return a model, its rows, and as many fresh ones, if they are drawn."""
    if data != "census":
        return *fitted(kind, trees, data), None
    from sklearn.ensemble import RandomForestClassifier
    from xgboost import XGBClassifier

    given, fresh = census(20_000, 0), census(20_000, 1)
    options: dict[str, Any] = {"max_depth": 6, "n_jobs": 1, "random_state": 0}
    make = RandomForestClassifier if kind == "forest" else XGBClassifier
    return make(n_estimators=trees, **options).fit(given.rows, given.earns), given.rows, fresh.rows


def share_of(result: Any, rows: Any) -> float:
    """Return which share of some rows the rules decide."""
    cells = result.binned.places(result.binned.classifier.table.like(rows))
    return float((result.decided(cells) >= 0).mean())
