"""Explaining classifiers: what it costs beside the bare predictions, and what other tools find.

`peers` makes an environment of its own for the other tools, under build/, and runs there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
PEERS = {"imodels": "imodels", "te2rules": "te2rules", "wittgenstein": "wittgenstein"}
PEERS |= {"anchor": "anchor-exp", "pyxai": "pyxai"}
PEERS |= {"xgboost": "xgboost", "lightgbm": "lightgbm"}
"""The packages of the other tools, and of the libraries whose models they explain."""


def million(columns: int, bins: int, kind: str, rounds: int) -> dict[str, Any]:
    """Explain a model over bins ** columns cells, in turns with its bare predictions of these."""
    from threadpoolctl import threadpool_limits

    from hornlens.classifiers.explain import explain_with
    from hornlens.exact.boxes.cells import cells_at
    from hornlens.targets.classifiers.answering import BLOCK, read_classifier
    from hornlens.targets.classifiers.options import Options

    rng = np.random.default_rng(0)
    rows = rng.random((2_000, columns))
    wanted = rows[:, 0] + rows[:, 1] * rows[:, 2] > rows[:, 3] + 0.3
    edges = {f"x{place}": (np.arange(1, bins) / bins).tolist() for place in range(columns)}
    with threadpool_limits(1):
        model = fresh_model(kind).fit(rows, wanted)
        classifier = read_classifier(model, rows)
        options = Options(bins=edges, limit=bins**columns)
        few = {name: cuts[:1] for name, cuts in edges.items()}
        result: Any = explain_with(model, classifier, Options(bins=few))  # what is loaded late
        bare, total = [], []
        for _ in range(rounds):
            start = process_time()
            result = explain_with(model, classifier, options)
            total.append(process_time() - start)
            points = [np.array(feature.points) for feature in result.binned.every]
            shape, count = (bins,) * columns, bins**columns
            start = process_time()
            for first in range(0, count, BLOCK):
                cells = cells_at(np.arange(first, min(count, first + BLOCK)), shape)
                model.predict(np.column_stack([p[c] for p, c in zip(points, cells.T, strict=True)]))
            bare.append(process_time() - start)
    return {
        "cells": bins**columns,
        "rules": len(result.rules),
        "predict_seconds": round(median(bare), 3),
        "total_seconds": round(median(total), 3),
        "total_by_predict": round(median(t / b for t, b in zip(total, bare, strict=True)), 3),
    }


def fresh_model(kind: str) -> Any:
    """Return a model as scikit-learn makes it by default; the small forest is quicker to ask."""
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    return {
        "forest": lambda: RandomForestClassifier(random_state=0),
        "small forest": lambda: RandomForestClassifier(50, max_depth=6, random_state=0),
        "boosting": lambda: GradientBoostingClassifier(random_state=0),
        "histograms": lambda: HistGradientBoostingClassifier(random_state=0),
        "mlp": lambda: MLPClassifier(max_iter=500, random_state=0),
        "svm": lambda: SVC(),
        "logistic": lambda: LogisticRegression(),
    }[kind]()


def white_box(trees: int, conditions: int) -> dict[str, Any]:
    """Every short rule of a forest over the 30 columns of breast cancer, proved."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from threadpoolctl import threadpool_limits

    import hornlens

    found = load_breast_cancer()
    with threadpool_limits(1):
        model = RandomForestClassifier(trees, max_depth=3, random_state=0)
        model.fit(found.data, found.target)
        start = process_time()
        result = hornlens.explain(model, found.data, max_conditions=conditions)
        seconds = process_time() - start
    return {
        "thresholds": sum(map(len, result.edges.values())),
        "rules": len(result.rules),
        "unsettled": result.certificate.details["unsettled"],
        "seconds": round(seconds, 2),
    }


# --- other tools ---


def peers(rows: int, trees: int, depth: int) -> dict[str, Any]:
    """Let other tools find rules of boosted forests: how true, how many, how long, how false."""
    place = ROOT / "build" / "peers"
    python = place / "bin" / "python"
    missing = []
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "-e", f"{ROOT}[sklearn]", "pandas"], check=True)
    for name, package in PEERS.items():
        if subprocess.run([*pip, package], capture_output=True).returncode:
            missing.append(name)
    done = subprocess.run(
        [str(python), "-m", "benchmarks.peers", json.dumps([rows, trees, depth, missing])],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    # PyXAI prints a line of its own when Python ends.
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    return {**json.loads(line), "not_installed": missing}


def people(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return drawn records in the shape of COMPAS: age, priors and the like, and who came back."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 70, count)
    priors = np.minimum(rng.poisson(np.where(age < 30, 2.0, 3.5)), 20)
    juvenile = rng.poisson(0.3, count)
    days = np.minimum(rng.exponential(15, count).astype(int), 90)
    sex, felony = rng.integers(0, 2, count), rng.integers(0, 2, count)
    group = rng.integers(0, 3, count)
    score = 0.35 * priors - 0.05 * (age - 35) + 0.5 * juvenile + 0.25 * sex + 0.3 * felony - 0.6
    again = rng.random(count) < 1 / (1 + np.exp(-score))
    columns = [age, priors, juvenile, days, sex, felony, group]
    names = ["age", "priors", "juvenile", "days", "sex", "felony", "group"]
    return np.column_stack(columns).astype(np.float64), again.astype(np.int64), names


def incomes(count: int, seed: int) -> tuple[Any, NDArray[np.bool_]]:
    """Return drawn records in the shape of Adult, as a frame with words, and who earns much."""
    import pandas

    rng = np.random.default_rng(seed)
    jobs = {"clerical": -0.4, "craft": 0.0, "manager": 0.9, "sales": 0.3, "service": -0.8}
    frame = pandas.DataFrame(
        {
            "age": rng.integers(17, 90, count),
            "education": rng.integers(1, 17, count),
            "hours": np.clip(rng.normal(40, 12, count), 1, 99).astype(int),
            "gain": np.where(rng.random(count) < 0.08, rng.integers(100, 50_000, count), 0),
            "loss": np.where(rng.random(count) < 0.05, rng.integers(100, 3_000, count), 0),
            "sex": rng.choice(["f", "m"], count),
            "married": rng.integers(0, 2, count),
            "work": rng.choice(sorted(jobs), count),
        }
    )
    score = 0.35 * (frame["education"] - 10) + 0.03 * (frame["hours"] - 40)
    score += 0.04 * (frame["age"] - 40) - 0.001 * (frame["age"] - 45) ** 2
    score += 2e-4 * frame["gain"] + 5e-4 * frame["loss"] + 1.6 * frame["married"] - 2
    score += 0.3 * (frame["sex"] == "m") + frame["work"].map(jobs)
    return frame, (rng.random(count) < 1 / (1 + np.exp(-score))).to_numpy()
