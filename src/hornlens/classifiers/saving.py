"""An explanation as files: explanation.json, which `hornlens verify` checks, and tables."""

from __future__ import annotations

import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens import __version__
from hornlens.classifiers.cells import GridCells
from hornlens.classifiers.explanation import Explained
from hornlens.classifiers.features import Feature
from hornlens.classifiers.flips import Flips, flips_of
from hornlens.classifiers.voting import Vote
from hornlens.formats.files import write_files
from hornlens.formats.jsonfiles import json_text

FORMAT = 1
MOST_ROWS = 2_000
"""How many rows of X are kept as evidence; counts are of all."""


def explanation_as_json(result: Explained) -> dict[str, Any]:
    """Return what explanation.json holds: all that is needed to check and to show the rules."""
    binned, labelled = result.binned, result.labelled
    cells: dict[str, Any]
    if isinstance(labelled, GridCells):
        cells = {"kind": "grid", "labels": packed(labelled.labels.ravel())}
    else:
        cells = {
            "kind": "list",
            "count": len(labelled.cells),
            "cells": packed(labelled.cells.astype(np.uint16)),
            "labels": packed(labelled.labels.astype(np.int8)),
        }
    kept = min(len(result.rows), MOST_ROWS)
    table = binned.classifier.table
    return {
        "hornlens": __version__,
        "format": FORMAT,
        "kind": "classifier",
        "model": result.name,
        "target": result.target,
        "classes": list(binned.classifier.labels),
        "columns": list(table.names),
        "features": [_feature(feature) for feature in binned.features],
        "constant": {f.name: _plain(f.points[0]) for f in binned.every if f.size == 1},
        "bins": result.how,
        "exact_bins": result.exact_bins,
        "background": list(result.background),
        "notes": list(result.notes),
        "certificate": result.certificate.as_json(),
        "agreement": {
            "rows": result.agreement.rows,
            "uniform": result.agreement.uniform,
            "drawn": result.agreement.drawn,
            "cells": result.agreement.cells,
            "mixed": result.agreement.mixed,
            "sentence": result.agreement.sentence,
        },
        "rules": [
            {
                "if": list(rule.conditions),
                "then": rule.label,
                "support": rule.support,
                "confidence": rule.confidence,
                "cells": rule.cells,
                "box": [
                    [axis, low, high]
                    for axis, (low, high) in enumerate(rule.box)
                    if (low, high) != binned.features[axis].whole
                ],
            }
            for rule in result.rules
        ],
        "cells": cells,
        "rows": {
            "count": len(result.rows),
            "cells": packed(result.rows.astype(np.uint16)),
            "said": packed(result.said.astype(np.int8)),
            "values": [[_plain(column[row]) for column in table.columns] for row in range(kept)],
        },
        "flips": [
            _flips(flips_of(result, feature.name, by_proofs=False)) for feature in binned.features
        ],
        **({} if result.vote is None else {"trees": _trees(result.vote)}),
    }


def packed(numbers: NDArray[Any]) -> str:
    """Return numbers as text: little-endian, deflated, in base 64."""
    content = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<")).tobytes()
    return b64encode(zlib.compress(content, 6)).decode("ascii")


def _feature(feature: Feature) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": feature.name,
        "kind": feature.kind,
        "levels": feature.size,
        "missing": feature.missing,
        "points": [_plain(point) for point in feature.points],
    }
    if feature.cuts is not None:
        found["cuts"] = list(feature.cuts.values)
        found["texts"] = list(feature.cuts.texts)
        found["after"] = sorted(feature.cuts.after)
    else:
        found["values"] = [str(value) for value in feature.values]
    return found


def _flips(found: Flips) -> dict[str, Any]:
    return {
        "feature": found.feature,
        "ever": found.ever,
        "proved": found.proved,
        "rows": found.rows,
        "of_rows": found.of_rows,
        "pairs": found.pairs,
        "of_pairs": found.of_pairs,
        "sentence": found.sentence,
        "examples": [
            {
                "first": {name: _plain(value) for name, value in pair.first.items()},
                "said_first": pair.said_first,
                "second": {name: _plain(value) for name, value in pair.second.items()},
                "said_second": pair.said_second,
            }
            for pair in found.examples
        ],
    }


def _trees(vote: Vote) -> list[list[dict[str, Any]]]:
    """Return each tree's leaves: the levels that lead there, where not all do, and what it adds."""
    masks, scores, starts = vote.leaves
    ends = [*starts[1:].tolist(), len(masks)]
    found = []
    for start, end in zip(starts.tolist(), ends, strict=True):
        tree = []
        for leaf in range(start, end):
            words = masks[leaf].reshape(len(vote.features), vote.words).tolist()
            levels = [sum(word << 64 * at for at, word in enumerate(own)) for own in words]
            where = {
                str(axis): hex(mask)
                for axis, (mask, feature) in enumerate(zip(levels, vote.features, strict=True))
                if mask != (1 << feature.size) - 1
            }
            tree.append({"levels": where, "scores": scores[leaf].tolist()})
        found.append(tree)
    return found


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (isinstance(value, float) and value != value):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def save_explanation(result: Explained, folder: str | Path) -> None:
    """Write explanation.json and rules.csv under a folder, both or neither."""
    out, content = Path(folder), explanation_as_json(result)
    files = {
        "explanation.json": json_text(content),
        "rules.csv": result.rules.csv(),
    }
    write_files({out / name: text for name, text in files.items()})
