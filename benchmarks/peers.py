"""Rules of one boosted forest by several tools, each as its documentation says to begin.

Run by `benchmarks.classifiers.peers` in an environment of its own, which has these tools. What a
tool predicts is compared with the model on held-out rows and on uniform inputs; its rules, read
as they are printed, are put to `hornlens.prove`.
"""

import contextlib
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas
from sklearn.ensemble import GradientBoostingClassifier

import hornlens
from benchmarks.classifiers import people

Rows = Any
ANCHORS = 60
"""How many rows are explained by anchors, one after another."""


class Rules(NamedTuple):
    """What a tool found: rules as `prove` reads them, and what it predicts by them."""

    texts: list[str]
    predict: Callable[[Rows], Any]


def ours(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """Hornlens: a cover of every cell."""
    result = hornlens.explain(model, rows, limit=2_000_000)
    return Rules([str(rule) for rule in result.rules], result.predict)


def te2rules(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """TE2Rules, with its defaults."""
    from te2rules.explainer import ModelExplainer

    explainer = ModelExplainer(model=model, feature_names=list(names))
    found = explainer.explain(X=rows.to_numpy(), y=model.predict(rows).tolist())
    texts = [f"{rule.replace('&', 'and')} -> 1" for rule in found]
    return Rules(texts, lambda given: np.array(explainer.predict(given.to_numpy())))


def imodels(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """imodels' SkopeRules, fitted to what the model says: 1 where one of its rules holds.

    (Its own `predict`, in 3.0, says 0 of every row here.)
    """
    from imodels import SkopeRulesClassifier

    found = SkopeRulesClassifier(random_state=0)
    found.fit(rows.to_numpy(), model.predict(rows), feature_names=list(names))
    rules = [str(rule.rule) for rule in found.rules_]

    def predict(given: Any) -> Any:
        return np.any([_meets(given, rule) for rule in rules], axis=0).astype(int)

    return Rules([f"{rule} -> 1" for rule in rules], predict)


def wittgenstein(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """RIPPER, fitted to what the model says."""
    from wittgenstein import RIPPER

    found = RIPPER(random_state=0)
    found.fit(rows, y=model.predict(rows).tolist(), pos_class=1)
    texts = []
    for rule in found.ruleset_.rules:
        parts = [_bin(cond.feature, str(cond.val)) for cond in rule.conds]
        texts.append(f"{' and '.join(parts) or 'true'} -> 1")
    return Rules(texts, lambda given: np.array(found.predict(given), dtype=int))


def _bin(name: str, said: str) -> str:
    """Return a bin of wittgenstein as a condition: without its ends where they are in doubt."""
    number = r"(-?\d+(?:\.\d+)?)"
    if between := re.fullmatch(rf"{number}\s*-\s*{number}", said):
        return f"{name} > {between[1]} and {name} <= {between[2]}"
    if one := re.fullmatch(rf"([<>]){number}", said):
        return f"{name} {one[1]} {one[2]}"
    return f"{name} = {said}"


def anchor(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """Anchors of some rows; elsewhere the commonest class."""
    from anchor import anchor_tabular

    np.random.seed(0)
    explainer = anchor_tabular.AnchorTabularExplainer(["0", "1"], list(names), rows.to_numpy(), {})

    def ask(given: Any) -> Any:
        return model.predict(pandas.DataFrame(given, columns=list(names)))

    texts = []
    for row in rows.to_numpy()[:ANCHORS]:
        found = explainer.explain_instance(row, ask, threshold=0.95)
        texts.append(f"{' and '.join(found.names()) or 'true'} -> {ask([row])[0]}")
    texts = list(dict.fromkeys(texts))
    usual = int(np.median(model.predict(rows)))

    def predict(given: Any) -> Any:
        said = np.full(len(given), usual)
        for text in reversed(texts):
            conditions, label = text.split(" -> ")
            said[_meets(given, conditions)] = int(label)
        return said

    return Rules(texts, predict)


def _meets(given: Any, conditions: str) -> Any:
    found = np.ones(len(given), dtype=bool)
    for part in conditions.split(" and "):
        if between := re.fullmatch(r"(\S+) < (\w+) <= (\S+)", part):
            found &= (
                (given[between[2]] > float(between[1])) & (given[between[2]] <= float(between[3]))
            ).to_numpy()
        elif one := re.fullmatch(r"(\w+) (<=|>=|<|>|=) (\S+)", part):
            column, number = given[one[1]], float(one[3])
            compare = {"<=": column.le, ">=": column.ge, "<": column.lt, ">": column.gt}
            found &= compare.get(one[2], column.eq)(number).to_numpy()
    return found


TOOLS = {"hornlens": ours, "te2rules": te2rules, "imodels": imodels}
TOOLS |= {"wittgenstein": wittgenstein, "anchor": anchor}


def main(count: int, trees: int, missing: Sequence[str]) -> dict[str, Any]:
    """Return for each tool its figures, or why there are none."""
    warnings.simplefilter("ignore")
    given, again, names = people(2 * count, 0)
    frame = pandas.DataFrame(given, columns=names)
    rows, held_out = frame[:count], frame[count:]
    model = GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=0)
    model.fit(rows, again[:count])
    draw = np.random.default_rng(1)
    low, high = frame.min(), frame.max()
    uniform = pandas.DataFrame(
        {n: draw.integers(low[n], high[n] + 1, 5_000).astype(float) for n in names}
    )
    found: dict[str, Any] = {
        "cells": hornlens.explain(model, rows, limit=1, max_conditions=0).binned.cell_count
    }
    for name, tool in TOOLS.items():
        if name in missing:
            continue
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                start = process_time()
                done = tool(model, rows, names)
                seconds = process_time() - start
                right = [
                    float((np.asarray(done.predict(some)) == model.predict(some)).mean())
                    for some in (held_out, uniform)
                ]
                proofs = [hornlens.prove(model, text, rows).status for text in done.texts]
        except Exception as error:
            found[name] = f"failed: {type(error).__name__}: {str(error)[:200]}"
            continue
        found[name] = {
            "rules": len(done.texts),
            "seconds": round(seconds, 2),
            "held_out": round(right[0], 5),
            "uniform": round(right[1], 5),
            "false": proofs.count("refuted"),
            "proved": proofs.count("proved"),
        }
    return found


if __name__ == "__main__":
    print(json.dumps(main(*json.loads(sys.argv[1]))))
