"""What the certificate of a classifier's result claims, worked out again: its kind, its scope,
what is complete, what was asked; and the warrants, the statistics and the settings beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import ceil, isclose, log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.claims import Claim
from hornlens.verifying.classifying.conditions import RANGED
from hornlens.verifying.classifying.coverage import check_coverage
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.grids import Wrong

USUAL = 2
"""How many conditions rules have at most that are proved by trees, where nobody wanted a number."""
NEAR = "those of the rows of X and all that differ from one in at most "
EVERY = "of every input"
EVERY_PLAUSIBLE = "of every plausible input"
COMPLETE = {"decides", "max_conditions", "unsettled"}
"""What a certificate of a classifier may call complete."""
REASONS = ("time_limit", "max_rules", "interrupt", "max_questions", "max_calls", "max_cost")
"""What may end the run of a classifier."""
PARTS = {
    *("kind", "weakest", "complete", "scope", "rules", "open", "cells", "unasked", "ended"),
    *("trial", "sift", "coverage"),
}
"""What the certificate of a classifier may hold."""
ALWAYS = {
    "max_equivalence_queries": 200,
    "samples": None,
    "max_questions": None,
    "rank": "support",
    "min_support": None,
    "min_confidence": None,
    "detail": None,
    "exception_cost": 1.0,
}
"""Settings that do not concern a classifier, as they always are."""
MOST_NEAR = 5_000_000
"""Up to so many cells next to rows are worked out again."""
Occurs = Callable[[NDArray[np.intp]], NDArray[np.bool_]]
PUT = ("measured", "flipped", "predicted")
"""What is counted of the rows that the model was given: two parts, and all."""


def stated_claim(recorded: ClassifierFile) -> Claim:
    """Return what is claimed; of a file of format 1, as its kind says."""
    line, section = recorded.certificate, recorded.section
    if "weakest" not in line:
        claim = _claim_of_format_1(line)
    else:
        claim = Claim.of(line)
        if claim.rules != len(recorded.rules):
            raise Wrong(f"certificate: there are {len(recorded.rules):,} rules")
        measured = {key: value for key, value in section["agreement"].items() if key != "sentence"}
        usual = {"repeated": 0, "varied": 0}
        stated = claim.scope.get("agreement", {})
        stated = stated if recorded.is_recent else {**usual, **stated}
        if stated != {**usual, **measured}:
            raise Wrong("certificate: its agreement is not the one that was measured")
    _check_open(claim, recorded)
    return claim


def _claim_of_format_1(line: Mapping[str, Any]) -> Claim:
    kind = line["kind"]
    if kind == "exact":
        return Claim("proved", decides=True)
    if kind == "bounded":
        return Claim("proved", most=line["max_conditions"], unsettled=line["unsettled"])
    return Claim("tested", trial=line)


def _check_open(claim: Claim, recorded: ClassifierFile) -> None:
    """Hold what is claimed against the cells that were not asked."""
    cells, complete = recorded.cells, claim.decides or claim.every or claim.bounded
    if cells.open and (complete or not claim.ended):
        raise Wrong(f"certificate: complete, though {cells.open:,} cells were not asked")
    if (cells.open or cells.is_grid) and claim.unasked != cells.open:
        raise Wrong(f"certificate: {cells.open:,} cells were not asked, not {claim.unasked:,}")
    if claim.ended and complete:
        raise Wrong("certificate: complete, though the run was ended")


def is_near_rows(claim: Claim) -> bool:
    """Return whether a claim is of the cells of rows and those next to them only."""
    words = claim.scope.get("words", "")
    return claim.scope.get("of") == "part" or words.startswith("those of the rows")


def check_certificate(
    recorded: ClassifierFile, claim: Claim, occurs: Occurs
) -> tuple[list[str], list[str]]:
    """Work the certificate out again; return what was checked, and what was not."""
    line = recorded.certificate
    if unknown := set(line) - PARTS:
        raise Wrong(f"certificate: {', '.join(sorted(unknown))} is nothing that a classifier shows")
    if claim.ended and (
        line["ended"].keys() != {"reason"} or line["ended"]["reason"] not in REASONS
    ):
        raise Wrong("certificate: it does not say why the run was ended")
    _check_complete(recorded, claim)
    _check_scope(recorded, claim)
    if line["kind"] != (kind := _kind(claim)):
        raise Wrong(f"certificate: it is {kind}, not {line['kind']}")
    _check_which_cells(recorded, claim, occurs)
    _check_counts(recorded, claim)
    _check_settings(recorded, claim)
    check_warrants(recorded, claim)
    checked = ["certificate: its scope and warrants are those of the cells"]
    if "coverage" in line:
        if claim.sift or claim.trial or recorded.cells.is_grid or is_near_rows(claim):
            raise Wrong("certificate: a coverage, though no trees were looked into")
        checked.append(check_coverage(recorded, occurs(recorded.row_cells)))
    not_checked = []
    if recorded.section["exact_bins"]:
        not_checked.append(
            "that every input of a cell gets its class: the model was read so, and 10,000 drawn "
            "inputs do not contradict it"
        )
        not_checked.append("which missing or new values the model accepts: ask it again")
    return checked, not_checked


def _kind(claim: Claim) -> str:
    """Return what a certificate is called."""
    if claim.sift is not None:
        return "sifted"
    if claim.ended:
        return "interrupted"
    if claim.trial is not None:
        return "tested"
    if not (claim.decides or claim.bounded):
        return "partial"
    names = {"surrogate": "surrogate", "part": "partial", "plausible": "partial"}
    return names.get(claim.scope["of"]) or ("exact" if claim.decides else "bounded")


def _check_complete(recorded: ClassifierFile, claim: Claim) -> None:
    """Hold what is claimed to be complete against what was asked, and what was wanted."""
    assert recorded.whole is not None
    complete, most = recorded.certificate["complete"], recorded.whole["settings"]["max_conditions"]
    if claim.every:
        raise Wrong("certificate: every rule, though these are rules of classes only")
    if set(complete) - COMPLETE or complete.get("decides", True) is not True:
        raise Wrong("certificate: complete in a way that a classifier's rules are not")
    tested = claim.trial is not None or claim.sift is not None
    if claim.sift is None and claim.weakest != ("tested" if tested else "proved"):
        raise Wrong(f"certificate: {claim.weakest}, which is not what the rules rest on")
    if tested and complete:
        raise Wrong("certificate: complete, though the rules are only tested")
    if not (tested or complete or claim.ended):
        raise Wrong("certificate: neither complete nor ended")
    if claim.decides and (claim.most is not None or most is not None):
        raise Wrong("certificate: of every cell, though only short rules were wanted")
    by_trees = not recorded.cells.is_grid and not is_near_rows(claim)
    usual = by_trees and most is None and claim.most is not None and claim.most <= USUAL
    if claim.most is not None and claim.most != most and not usual:
        raise Wrong(f"certificate: {claim.most} conditions, and the settings say {most}")
    if claim.unsettled and (not by_trees or claim.most is None or claim.unsettled < 0):
        raise Wrong("certificate: nothing can be left unsettled")
    if claim.open and claim.sift is None:
        raise Wrong("certificate: open rules, though nothing was sifted")


def _check_scope(recorded: ClassifierFile, claim: Claim) -> None:
    """Work the scope out again: of what the cells can speak, and in which words."""
    section, scope = recorded.section, claim.scope
    exact, background = section["exact_bins"], bool(section["background"])
    some = not recorded.cells.is_grid and not (claim.trial or claim.sift)
    if (
        scope["of"] in ("every input", "plausible")
        and some
        and (claim.decides or not section.get("trees"))
    ):
        raise Wrong("certificate: of every input, though only some cells were asked")
    of, plausible = "surrogate", section.get("plausible")
    if exact:
        of = "part" if is_near_rows(claim) else "every input" if plausible is None else "plausible"
    if scope["of"] not in ("every input", "plausible", "surrogate", "part"):
        raise Wrong(f"certificate: a classifier is not asked of {scope['of']!r}")
    if scope["of"] == "part" and of != "part":
        raise Wrong("certificate: of a part, though that is not what was asked")
    if scope["of"] != of:
        raise Wrong(f"certificate: it is of {of}, not of {scope['of']!r}")
    if scope.get("assumed", False) is not background:
        raise Wrong("certificate: what it assumes is not the background")
    if scope.get("how") != section["bins"]:
        raise Wrong("certificate: its bins are not those that there are")
    excluded = scope.get("excluded", [])
    if "excluded" in scope and not (exact and excluded and all(type(e) is str for e in excluded)):
        raise Wrong("certificate: it excludes inputs, though it is of a stand-in")
    kept = None if plausible is None else [plausible["kept"], plausible["held_out"]]
    if scope.get("kept") != kept:
        raise Wrong("certificate: it is of other inputs than what is plausible")
    known = {"of", "words", "how", "assumed", "agreement", "excluded", "kept"}
    if set(scope) - known or scope.get("words", "") != _words(recorded, claim):
        raise Wrong("certificate: the words of its scope are not those of these cells")


def _words(recorded: ClassifierFile, claim: Claim) -> str:
    """Return which cells were meant, in words."""
    background, words = bool(recorded.section["background"]), claim.scope.get("words", "")
    if claim.sift is not None or claim.trial is not None:
        return "" if claim.sift is not None else words
    plausible = recorded.section.get("plausible")
    if recorded.cells.is_grid and plausible is not None:
        return f"all that are plausible{' and that the background allows' if background else ''}"
    if recorded.cells.is_grid:
        return "all that the background allows" if background else "all that there are"
    if is_near_rows(claim):
        changes = _changes(words)
        return f"{NEAR}{changes} feature{'' if changes == 1 else 's'}"
    allowed = " that the background allows" if background else ""
    if plausible is not None:
        every = EVERY
        if recorded.section["exact_bins"]:
            every = f"{EVERY_PLAUSIBLE} ({_alike(plausible)}){allowed}"
            excluded = claim.scope.get("excluded")
            every += f" (but for {' and '.join(excluded)})" if excluded else ""
        return every
    if background:
        return f"{EVERY}{allowed}"
    excluded = claim.scope.get("excluded")
    return f"{EVERY} (but for {' and '.join(excluded)})" if excluded else EVERY


def _alike(plausible: Mapping[str, Any]) -> str:
    """Return how many rows are like what is plausible, in words."""
    kept, rows = plausible["kept"], plausible["held_out"]
    if not rows:
        return "by the rules that were given"
    share = f"{min(max(100 * kept / rows, 0.01), 99.99):.2f}%"
    share = "100%" if kept == rows else "0%" if not kept else share
    return f"as {share} of {rows:,} rows held out are"


def _changes(words: str) -> int:
    """Return in how many features a cell may differ from a row, by the words of a scope."""
    number = words.removeprefix(NEAR).split(" ")[0]
    if not number.isdecimal():
        raise Wrong("certificate: it does not say which cells were asked")
    return int(number)


def _check_which_cells(recorded: ClassifierFile, claim: Claim, occurs: Occurs) -> None:
    """Check that a list has the cells that were meant: near rows, or those of rows."""
    if recorded.cells.is_grid or claim.trial or claim.sift:
        return
    cells = np.unique(recorded.row_cells, axis=0)
    listed = np.array(recorded.cells.listed, dtype=np.intp).reshape(recorded.cells.shape)
    changes = _changes(claim.scope["words"]) if is_near_rows(claim) else 0
    for _ in range(min(changes, len(recorded.sizes))):
        parts = [cells]
        for axis, size in enumerate(recorded.sizes):
            if len(cells) * size * (axis + 1) > MOST_NEAR:
                raise Wrong("certificate: more cells next to rows than are asked")
            more = np.repeat(cells, size, axis=0)
            more[:, axis] = np.tile(np.arange(size), len(cells))
            parts.append(more)
        cells = np.unique(np.concatenate(parts), axis=0)
    cells = cells[occurs(cells)]
    if claim.ended and not is_near_rows(claim):
        cells = cells[: len(listed)]
    if cells.shape != listed.shape or (cells != listed).any():
        raise Wrong("cells: not those of the rows, and next to them, that are meant")


def _check_counts(recorded: ClassifierFile, claim: Claim) -> None:
    """Count the cells and rows again."""
    assert recorded.whole is not None
    cells, line, counted = recorded.cells, recorded.certificate, recorded.whole["statistics"]
    near = is_near_rows(claim)
    tested = claim.trial is not None or claim.sift is not None
    wanted = recorded.cell_count - len(set(cells.listed))
    if cells.is_grid or near or (claim.ended and not tested):
        wanted = cells.open
    if claim.unasked != wanted or ("unasked" in line and not wanted):
        raise Wrong(f"certificate: {wanted:,} cells were not asked, not {claim.unasked:,}")
    asked = sum(label >= 0 for label in cells.labels)
    different = asked
    if not cells.is_grid:
        pairs = zip(cells.listed, cells.labels, strict=True)
        different = len({cell for cell, label in pairs if label >= 0})
    rows = recorded.section["rows"]["count"]
    if (counted["cells"], counted["rows"]) != (different, rows):
        raise Wrong(f"statistics: {different:,} cells and {rows:,} rows are recorded")
    if counted.get("questions", None if recorded.is_recent else different) != different:
        raise Wrong(f"statistics: {different:,} questions were asked")
    more = {"drawn", "candidates", "refuted"} if claim.sift else set()
    if unknown := set(counted) - {"cells", "rows", "questions", *PUT} - more:
        raise Wrong(f"statistics: {', '.join(sorted(unknown))} is nothing that was counted")
    put = [counted[key] for key in PUT if key in counted]
    if not all(type(count) is int and count >= 0 for count in put):
        raise Wrong("statistics: the rows that the model was given must be counts")
    if sum(put) > 2 * counted.get("predicted", sum(put)):
        raise Wrong("statistics: fewer rows were given to the model than were measured and flipped")
    total = asked + claim.unasked
    if line.get("cells", None if recorded.is_recent else total) != total:
        raise Wrong(f"certificate: there are {total:,} cells, not {line.get('cells')}")


def _check_settings(recorded: ClassifierFile, claim: Claim) -> None:
    """Hold the settings against what was done."""
    assert recorded.whole is not None
    settings, cells = recorded.whole["settings"], recorded.cells
    if recorded.is_recent:
        for key, value in ALWAYS.items():
            if settings[key] != value:
                raise Wrong(f"settings: {key} is nothing that can be set for a classifier")
    most = settings["max_conditions"]
    if most is not None and any(len(rule["box"]) > most for rule in recorded.rules):
        raise Wrong(f"settings: rules have more than {most} conditions")
    sifts, limit = settings["equivalence"] == "sift", settings["limit"]
    if settings["equivalence"] not in ("auto", "sift") or (sifts and claim.sift is None):
        raise Wrong(f"settings: {settings['equivalence']!r} is not how it was asked")
    if (
        not is_near_rows(claim)
        and not sifts
        and cells.is_grid is not (recorded.cell_count <= limit)
    ):
        raise Wrong(f"settings: with a limit of {limit}, other cells are asked")


def check_warrants(recorded: ClassifierFile, claim: Claim) -> None:
    """Work the warrant of each rule out again."""
    rules, cells = recorded.rules, recorded.cells
    boxes = [(tuple(map(tuple, rule["box"])), rule["then"]) for rule in rules]
    if len(set(boxes)) < len(boxes):
        raise Wrong("rules: one is listed twice")
    trial = claim.trial
    if claim.sift is not None:
        return  # see `sifted`
    if trial is None:
        if any(rule["warrant"] != {"kind": "proved"} for rule in rules):
            raise Wrong("rules: a warrant that is not that of the certificate")
        return
    most, classes = trial["max_conditions"], len(recorded.classes)
    ways = [_ranges(feature) for feature in recorded.features]
    candidates = classes * sum(
        prod(some) for size in range(min(most, len(ways)) + 1) for some in combinations(ways, size)
    )
    least = ceil(log(candidates / trial["delta"]) / -log(1 - trial["epsilon"]))
    counted = {"samples": len(cells.labels), "least": least, "candidates": candidates}
    for name, number in counted.items():
        if trial[name] != number:
            raise Wrong(f"certificate: {name} is {number:,}, not {trial[name]:,}")
    for rule in rules:
        if len(rule["box"]) > most or rule["cells"] < least:
            raise Wrong(f"{' ∧ '.join(rule['if'])}: too few cells, or too long, to be tested")
        bound = min(trial["epsilon"], 1 - (trial["delta"] / candidates) ** (1 / rule["cells"]))
        warrant = rule["warrant"]
        same = {**warrant, "bound": 0} == {"kind": "tested", "tested": rule["cells"], "bound": 0}
        if not same or not isclose(warrant["bound"], bound, rel_tol=1e-9):
            raise Wrong(f"{' ∧ '.join(rule['if'])}: a warrant that its cells do not give")


def _ranges(feature: Mapping[str, Any]) -> int:
    """Return how much can be said of a feature, nothing included."""
    levels, missing = feature["levels"], feature["missing"]
    known = levels - missing
    ranged = feature["kind"] in RANGED
    count = known * (known + 1) // 2 if ranged else known
    return int(count + missing + (missing or not ranged))
