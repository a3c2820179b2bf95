"""`check_classifier`: the result of a classifier, as a whole.

The cells and their classes are recorded; of an ensemble of trees with too many cells, its leaves
are. Then each rule is proved again by splitting its box until every part is decided.
"""

from __future__ import annotations

from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.claims import Claim
from hornlens.verifying.classifying.background import Assumed
from hornlens.verifying.classifying.certificate import check_certificate, is_near_rows, stated_claim
from hornlens.verifying.classifying.changed import check_flips
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.classifying.features import check_features
from hornlens.verifying.classifying.headline import check_headline
from hornlens.verifying.classifying.leaves import Leaves
from hornlens.verifying.classifying.measured import check_agreement, check_exact_bins
from hornlens.verifying.classifying.notes import check_notes
from hornlens.verifying.classifying.plausible import PlausibleCells
from hornlens.verifying.classifying.rules import (
    check_cover,
    check_general,
    check_in_variables,
    check_missing,
    check_rule,
    check_support,
    is_short,
    rule_box,
)
from hornlens.verifying.grids import Wrong

FORMAT = 2
"""The newest files that are understood."""


def check_classifier(content: Any) -> tuple[list[str], list[str]]:
    """Check the result of a classifier; return what was checked, and what was not.

    It is an envelope.json, or an explanation.json of 0.2.
    """
    if content["format"] > FORMAT:
        raise InputError("was written by a newer hornlens: upgrade hornlens")
    recorded = ClassifierFile.of(content)
    claim = stated_claim(recorded)
    parts = [_check_rules(recorded, claim), check_agreement(recorded)]
    if recorded.whole is not None:
        if content["rules"] is not None:
            raise Wrong("rules: a basis, which the result of a classifier does not have")
        if content["non_horn"] != {"count": 0, "examples": []}:
            raise Wrong("non_horn: nothing of a classifier is")
        assumed = Assumed(recorded)
        check_in_variables(content, content["readable"])
        check_exact_bins(recorded)
        parts += [
            (["variables: each rule says in variables what its conditions say"], []),
            check_features(recorded),
            assumed.check(),
            check_certificate(recorded, claim, assumed.allows),
            check_flips(recorded, assumed.allows),
            check_headline(recorded),
        ]
        check_notes(recorded)
        if "sift" in content or "sift" in content["certificate"]:
            parts.append(_check_sift(recorded))
    not_checked = [line for _, lines in parts for line in lines]
    not_checked.append("that the answers are the model's own: ask it again")
    return [line for lines, _ in parts for line in lines], not_checked


def _check_sift(recorded: ClassifierFile) -> tuple[list[str], list[str]]:
    """Count a sift again."""
    from hornlens.verifying.classifying.sifted import check_sifted_cells

    content, cells = recorded.whole, recorded.cells
    assert content is not None
    if "sift" not in content or "sift" not in content["certificate"]:
        raise Wrong("sift: a certificate without a record, or a record without a certificate")
    if cells.is_grid or cells.open:
        raise Wrong("sift: its cells are no list of those that were asked")
    check_in_variables(content, content["open"])
    return check_sifted_cells(content, cells.listed, cells.labels)


def _check_rules(recorded: ClassifierFile, claim: Claim) -> tuple[list[str], list[str]]:
    """Check that rules are true, general and enough, as far as is claimed."""
    cells, features, sizes = recorded.cells, recorded.features, recorded.sizes
    rules, classes = recorded.rules, recorded.classes
    boxes = [(rule_box(rule, sizes), classes.index(rule["then"])) for rule in rules]
    checked: list[str] = []
    not_checked = ["sentences, and the files beside it"]
    leaves = None
    sifted = claim.sift is not None
    by_trees = claim.proved and not (claim.decides or sifted or is_near_rows(claim))
    if recorded.section.get("trees") is not None:
        trees = Leaves(recorded.section, sizes, PlausibleCells(recorded))
        checked.append(trees.check_cells(cells, recorded.cell_count))
        leaves = trees if by_trees and not cells.is_grid else None
    elif recorded.section.get("rounding") is not None:
        raise Wrong("rounding: of trees that are not there")
    proved = sum(
        check_rule(rule, box, place, cells, leaves, features)
        for rule, (box, place) in zip(rules, boxes, strict=True)
    )
    what = "proved again from the leaves of the trees" if leaves else "true of every recorded cell"
    if proved == len(boxes):
        checked.append(f"rules: each of {proved:,} is {what}, and says what its box says")
    else:
        checked.append(
            f"rules: {proved:,} of {len(boxes):,} are {what}; each says what its box says"
        )
        hard = len(boxes) - proved
        not_checked.append(f"proofs of {hard:,} rules, which are too hard or too close to call")
    if claim.ended and leaves:
        not_checked.append("that rules are general: the run was ended before all was proved")
    elif claim.proved or sifted:
        hard = recorded.certificate.get("coverage", {}).get("hard", 0)
        some = [(box, place) for box, place in boxes if not hard or is_short(box, claim, sizes)]
        close = check_general(some, cells, leaves, features)
        checked.append("general: no condition of a rule can be left out or made wider")
        if hard:
            longer = len(boxes) - len(some)
            not_checked.append(f"that {longer:,} longer rules are general: {hard:,} may not be")
        if close:
            not_checked.append(f"{close:,} wider boxes, which are too hard or too close to call")
    if claim.decides:
        check_cover(boxes, cells)
        checked.append("complete: every cell is decided by a rule, as the model decided it")
    elif claim.ended and not sifted:
        not_checked.append("rules that are not there: a run that was ended makes no claim on them")
    elif claim.proved and not sifted:
        looked = check_missing(classes, claim, boxes, cells, leaves, features)
        checked.append(f"complete: {looked:,} random sets of so few conditions have no other rule")
    elif not sifted:
        not_checked.append("what was not drawn: a sampled result makes no claim on it")
    check_support(recorded, boxes)
    checked.append("support and confidence: counted again from the rows")
    return checked, not_checked
