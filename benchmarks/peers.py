"""Rules of boosted forests by several tools, each as its documentation says to begin.

Run by `benchmarks.classifiers.peers` in an environment of its own, which has these tools. There are
two data sets, and of each a model by XGBoost, LightGBM and scikit-learn. What a tool predicts is
compared with the model on held-out rows and on uniform inputs: a row that no rule decides is not
predicted as the model does. Some of its rules, read as they are printed, are put to `prove`.
"""

import contextlib
import io
import json
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas
from sklearn.ensemble import GradientBoostingClassifier

import hornlens
from benchmarks.classifiers import incomes, people

Rows = Any
ANCHORS = 30
"""How many rows are explained one after another, by tools that explain rows."""
MOST_CELLS = 8_000_000
DRAWN = 5_000
"""How many uniform inputs there are."""
SECONDS = 120
"""So much processor time each tool gets for a model."""
PROOFS = 50
"""About so many of a tool's rules are put to `prove`, evenly spread."""


class Rules(NamedTuple):
    """What a tool found: rules as `prove` reads them, and what it predicts by them."""

    texts: list[str]
    predict: Callable[[Rows], Any]


def ours(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """Hornlens: a cover of every cell, or rules that are proved one by one; else the commonest."""
    limits = hornlens.Limits(time_limit=SECONDS / 2)
    result = hornlens.explain(model, rows, limit=MOST_CELLS, limits=limits)
    usual = int(np.median(model.predict(rows)))
    rules = [str(rule) for rule in result.rules]
    return Rules(rules, lambda given: np.asarray(result.predict(given, usual), dtype=int))


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
        anchored = explainer.explain_instance(row, ask, threshold=0.95)
        texts.append(f"{' and '.join(anchored.names()) or 'true'} -> {ask([row])[0]}")
    return _of_rows(model, rows, texts)


def pyxai(model: Any, rows: Rows, names: Sequence[str]) -> Rules:
    """PyXAI's tree-specific reasons of some rows; elsewhere the commonest class.

    (It imports classifiers of XGBoost, and none of LightGBM or scikit-learn's boosting.)
    """
    from pyxai import Explaining, Learning

    data = rows.assign(label=model.predict(rows))  # which the names of columns are taken from
    _, boosted = Learning.ModelIO.import_models(model, data, instances_type="tabular")
    texts = []
    for row, label in zip(rows.to_numpy()[:ANCHORS], model.predict(rows[:ANCHORS]), strict=True):
        explainer = Explaining.initialize(boosted, row)
        reason = explainer.to_features(explainer.tree_specific_reason())
        parts = [part for said in reason for part in _comparisons(str(said))]
        texts.append(f"{' and '.join(parts) or 'true'} -> {label}")
    return _of_rows(model, rows, texts)


def _comparisons(text: str) -> list[str]:
    """Return a condition of PyXAI as `prove` reads it, without an interval: "a in [1.0, 2.0["."""
    between = re.fullmatch(r"(\w+) in ([\[\]])(\S+), (\S+)([\[\]])", text)
    if between is None:
        return [text]
    low, high = ">=" if between[2] == "[" else ">", "<=" if between[5] == "]" else "<"
    return [f"{between[1]} {low} {between[3]}", f"{between[1]} {high} {between[4]}"]


def _of_rows(model: Any, rows: Rows, texts: list[str]) -> Rules:
    """Return rules that were made for rows: the first that applies decides."""
    texts = list(dict.fromkeys(texts))
    usual = int(np.median(model.predict(rows)))

    def predict(given: Any) -> Any:
        labels = np.full(len(given), usual)
        for text in reversed(texts):
            conditions, label = text.split(" -> ")
            labels[_meets(given, conditions)] = int(label)
        return labels

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
TOOLS |= {"wittgenstein": wittgenstein, "anchor": anchor, "pyxai": pyxai}


def fitted(library: str, trees: int, depth: int, rows: Rows, classes: Any) -> Any:
    """Return a boosted forest of one of the libraries."""
    options: dict[str, Any] = {"n_estimators": trees, "max_depth": depth, "random_state": 0}
    if library == "sklearn":
        return GradientBoostingClassifier(**options).fit(rows, classes)
    if library == "xgboost":
        from xgboost import XGBClassifier

        # Without names of columns: with them, te2rules 1.0 fails.
        return XGBClassifier(**options, n_jobs=1).fit(rows.to_numpy(), classes)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**options, n_jobs=1, verbose=-1).fit(rows, classes)


def tables(count: int) -> dict[str, tuple[Rows, Any]]:
    """Return two tables of numbers, and their classes."""
    given, again, names = people(count, 0)
    earners, much = incomes(count, 0)
    for name in ("sex", "work"):
        earners[name] = earners[name].astype("category").cat.codes
    return {
        "people": (pandas.DataFrame(given, columns=names), again),
        "incomes": (earners.astype(float), much.astype(int)),
    }


def conditions_of(text: str) -> int:
    """Return how many conditions a rule has, as it is printed."""
    left = text.rsplit("->", 1)[0].rsplit("→", 1)[0]
    return 0 if left.strip() in ("", "true") else len(re.split(r" and | ∧ ", left))


def measured(tool: Any, model: Any, rows: Rows, held_out: Rows) -> dict[str, Any]:
    """Return the figures of one tool on one model."""
    names, draw = list(rows.columns), np.random.default_rng(1)
    low, high = rows.min(), rows.max()
    uniform = pandas.DataFrame(
        {name: draw.integers(low[name], high[name] + 1, DRAWN).astype(float) for name in names}
    )
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        start = process_time()
        with _limited():
            done = tool(model, rows, names)
        seconds = process_time() - start
        right = [
            float((np.asarray(done.predict(some)) == model.predict(some)).mean())
            for some in (held_out, uniform)
        ]
        tried = done.texts[:: len(done.texts) // PROOFS + 1]
        proofs = [hornlens.prove(model, text, rows).status for text in tried]
    return {
        "rules": len(done.texts),
        "conditions": round(float(np.mean([*map(conditions_of, done.texts)] or [0])), 1),
        "seconds": round(seconds, 2),
        "held_out": round(right[0], 5),
        "uniform": round(right[1], 5),
        "tried": len(tried),
        "false": proofs.count("refuted"),
        "proved": proofs.count("proved"),
    }


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """End what takes more than SECONDS of processor time."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"not done after {SECONDS} s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main(count: int, trees: int, depth: int, missing: Sequence[str]) -> dict[str, Any]:
    """Return for each table, library and tool its figures, or why there are none."""
    warnings.simplefilter("ignore")
    figures: dict[str, Any] = {}
    for table, (frame, classes) in tables(2 * count).items():
        rows, held_out = frame[:count], frame[count:]
        for library in ("xgboost", "lightgbm", "sklearn"):
            if library in missing:
                continue
            model = fitted(library, trees, depth, rows, classes[:count])
            own = figures[f"{table}, {library}"] = {}
            for name, tool in TOOLS.items():
                if name in missing:
                    continue
                try:
                    own[name] = measured(tool, model, rows, held_out)
                except Exception as error:
                    own[name] = f"failed: {type(error).__name__}: {str(error)[:200]}"
                print(table, library, name, own[name], file=sys.stderr, flush=True)
    return figures


if __name__ == "__main__":
    print(json.dumps(main(*json.loads(sys.argv[1]))))
