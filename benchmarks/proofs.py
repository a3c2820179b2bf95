"""Proofs about boosted trees and forests beside Veritas, on the same questions in the same run.

`proofs` makes an environment of its own under build/, with Veritas, and runs there. A question is a
box around a row of the data: does every input in it get the class of the row?
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
SECONDS = 2.0
"""Seconds that one question may take."""
SHORT_SECONDS = 60.0
"""Seconds that all short rules may take."""


def proofs(kind: str, trees: int, data: str, count: int) -> dict[str, Any]:
    """Put questions to a model, and to Veritas, in an environment under build/."""
    place = ROOT / "build" / "veritas"
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "-e", f"{ROOT}[sklearn]", "xgboost-cpu"], check=True)
    failed = subprocess.run([*pip, "dtai-veritas"], capture_output=True).returncode
    done = subprocess.run(
        [str(python), "-m", "benchmarks.proofs", json.dumps([kind, trees, data, count])],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**figures, "not_installed": ["veritas"] if failed else []}


def incomes(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return drawn records in the shape of Adult: numbers, and categories as columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    age, education = rng.integers(17, 90, count), rng.integers(1, 17, count)
    hours = np.clip(rng.normal(40, 12, count), 1, 99).round()
    gain = np.where(rng.random(count) < 0.08, rng.integers(100, 99_999, count), 0)
    loss = np.where(rng.random(count) < 0.05, rng.integers(100, 4_356, count), 0)
    weight, job, family = (rng.integers(0, most, count) for most in (1_000_000, 14, 7))
    columns = [age, education, hours, gain, loss, weight]
    columns += [job == own for own in range(14)] + [family == own for own in range(7)]
    columns += [rng.integers(0, 2, count) for _ in range(3)]
    score = 0.04 * (age - 38) + 0.35 * (education - 10) + 0.03 * (hours - 40) + 3e-4 * gain
    score += 1e-3 * loss + 0.8 * (family == 2) + 0.3 * np.sin(job) - 1
    above = score + rng.logistic(0, 1, count) > 0
    return np.column_stack(columns).astype(np.float32), above.astype(np.int64)


def fitted(kind: str, trees: int, data: str) -> tuple[Any, NDArray[np.float32]]:
    """Return a model of depth 6 over 30 columns, and its rows."""
    import xgboost
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    rows, said = incomes(8_000, 0) if data == "incomes" else load_breast_cancer(return_X_y=True)
    if kind == "forest":
        model: Any = RandomForestClassifier(trees, max_depth=6, random_state=0)
    else:
        rate = 0.3 if trees <= 100 else 0.1
        model = xgboost.XGBClassifier(
            n_estimators=trees, max_depth=6, learning_rate=rate, n_jobs=1, random_state=0
        )
    return model.fit(rows.astype(np.float32), said), rows.astype(np.float32)


def boxes_around(
    levels: NDArray[np.intp], sizes: NDArray[np.intp], count: int, rng: np.random.Generator
) -> list[tuple[NDArray[np.intp], NDArray[np.intp], int]]:
    """Return boxes around random rows, by turns in few columns or in all, with the row."""
    boxes = []
    for number in range(count):
        row, wide = int(rng.integers(len(levels))), number % 2
        columns = len(sizes) if wide else int(rng.choice([1, 2, 3, 4, 6, 10]))
        some = rng.choice(len(sizes), min(columns, len(sizes)), replace=False)
        reach = np.maximum(1, sizes * rng.random(len(sizes)) * (0.25 if wide else 0.5)).astype(int)
        low, high = np.zeros(len(sizes), dtype=np.intp), sizes - 1
        low[some] = np.maximum(0, levels[row] - reach)[some]
        high[some] = np.minimum(sizes - 1, levels[row] + reach)[some]
        boxes.append((low, high, row))
    return boxes


def compared(kind: str, trees: int, data: str, count: int) -> dict[str, Any]:
    """Put questions by turns to our search and to Veritas; return milliseconds and answers."""
    from dataclasses import replace

    from hornlens.limits import Limits
    from hornlens.targets.classifiers.answering import read_classifier
    from hornlens.targets.classifiers.binning import bin_columns
    from hornlens.targets.classifiers.metering import Meter
    from hornlens.targets.classifiers.points import Binned
    from hornlens.targets.classifiers.short import known_cells, short_rules_of_vote
    from hornlens.targets.classifiers.voting import Vote

    model, rows = fitted(kind, trees, data)
    classifier = read_classifier(model, rows)
    start = perf_counter()
    binning = bin_columns(model, classifier, "auto", 4)
    binned = Binned(classifier, binning.features)
    vote = Vote(binned, model=binning.trees)
    sizes = np.array([feature.size for feature in vote.features])
    whole = vote.mask([(0, int(size) - 1) for size in sizes])
    vote.outcomes([whole, whole], [0, 1])  # what is read once
    reading = perf_counter() - start
    other = None if kind == "forest" else veritas_of(model)
    levels, rng = binned.places(classifier.table), np.random.default_rng(1)
    ours: dict[str, list[float]] = {"proved": [], "refuted": [], "open": []}
    theirs: dict[str, list[float]] = {"proved": [], "refuted": [], "open": []}
    differing = 0
    for low, high, row in boxes_around(levels, sizes, count, rng):
        place = int(binned.ask(levels[row][None])[0])
        limited = vote.asked_by(replace(binned, meter=Meter(Limits(time_limit=SECONDS))))
        box = vote.mask(list(zip(low.tolist(), high.tolist(), strict=True)))
        start = perf_counter()
        status = int(limited.outcomes([box], [place], 10_000_000).status[0])
        answer = ("proved", "refuted", "open")[status]
        ours[answer].append(1_000 * (perf_counter() - start))
        if other is not None:
            start = perf_counter()
            reply = ask_veritas(other, binned, low, high, place)
            theirs[reply].append(1_000 * (perf_counter() - start))
            differing += {answer, reply} == {"proved", "refuted"}
    figures: dict[str, Any] = {
        "levels": int(sizes.sum()),
        "reading_seconds": round(reading, 2),
        "ours": summary(ours),
        "veritas": summary(theirs),
        "differing": differing,
    }
    start = perf_counter()
    limited = vote.asked_by(replace(binned, meter=Meter(Limits(time_limit=SHORT_SECONDS))))
    done = short_rules_of_vote(limited, 2, known_cells(limited, levels))
    figures["short_rules"] = len(done.rules)
    figures["short_seconds"] = round(perf_counter() - start, 2)
    return figures


def summary(times: dict[str, list[float]]) -> dict[str, Any]:
    """Return for each answer how often it was given, and milliseconds: median, 95 %, most."""
    every = [time for some in times.values() for time in some]
    figures = {}
    for name, some in (*times.items(), ("all", every)):
        if some:
            high = float(np.quantile(some, 0.95))
            figures[name] = [len(some), *(round(t, 1) for t in (median(some), high, max(some)))]
    return figures


def veritas_of(model: Any) -> Any:
    """Return a model as Veritas has it, if Veritas is there."""
    try:
        import veritas
    except ImportError:
        return None
    trees = veritas.get_addtree(model)
    return {1: trees, 0: trees.negate_leaf_values()}


def ask_veritas(
    other: Any, binned: Any, low: NDArray[np.intp], high: NDArray[np.intp], place: int
) -> str:
    """Return what Veritas says: is the sum for the other class above 0 anywhere in a box?"""
    import veritas

    box = [veritas.Interval()] * len(binned.every)
    for axis, at in enumerate(binned.telling):
        cuts = binned.every[at].cuts.values
        first = float(cuts[low[axis] - 1]) if low[axis] else -np.inf
        last = float(cuts[high[axis]]) if high[axis] < len(cuts) else np.inf
        box[at] = veritas.Interval(first, last)
    config = veritas.Config(veritas.HeuristicType.MAX_OUTPUT)
    config.stop_when_optimal = True
    config.ignore_state_when_worse_than = 0.0
    config.stop_when_num_solutions_exceeds = 1
    config.max_memory = 1 << 30
    search = config.get_search(other[1 - place], box)
    reason = search.step_for(SECONDS, 100)
    if search.num_solutions():
        return "refuted"
    return "proved" if reason == veritas.StopReason.NO_MORE_OPEN else "open"


if __name__ == "__main__":
    print(json.dumps(compared(*json.loads(sys.argv[1]))))
