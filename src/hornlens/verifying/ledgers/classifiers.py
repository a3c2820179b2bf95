"""The ledger of results of classifiers."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Fate, Ledger, harmless, intact

SET = intact("how the run was set: seed, ε and δ (but for a sift), limits of cells and conditions")
ENDED = intact("why the run was ended")
EXCLUDED = intact("which missing or new values the model accepts, of which nothing is claimed")
BINS = intact("how the bins were chosen: by the model's thresholds, by quantiles, or by hand")
FALLBACK = intact("why the trees of the model could not be read")
ROWS = intact("the values of the rows of X, but for the levels in which they lie")
TREES = intact("the leaves of the trees, but for the rules and classes that follow from them")
ROUNDING = intact("how close two sums of leaves may be, so that the model itself was asked")
CHOSEN = intact("which cells were asked, where they were chosen for a sift")
CHANGED = intact("what the model said of changed rows, but for the flips that follow from it")
COUNTED = intact("how many rows the model was given: in all, to measure, and for flips")
FIXED = intact("when the families of rules were fixed, before what was drawn for them")
WANTED = intact("which share of the rows was to be decided, and how many rules may be wider")
PLAUSIBLE = intact("which rules of the rows say what is plausible")
HELD_OUT = intact("which rows showed what is plausible, and which were held out to count")
UNSETTLED = intact("how many short sets of conditions were too hard to settle")


def _all(fate: Fate, above: str, *fields: str) -> dict[str, Fate]:
    return {f"{above}{field}": fate for field in fields}


CLASSIFIER: Ledger | None = Ledger(
    {
        "hornlens": intact("the version of hornlens that wrote it"),
        "format": REWRITTEN,
        "variables[]": RECOMPUTED,
        "background.**": REWRITTEN,
        **_all(RECOMPUTED, "", "rules", "readable", "open"),
        "claim": REWRITTEN,
        "non_horn.**": RECOMPUTED,
        **_all(RECOMPUTED, "readable[].", "if[]", "then[]", "class", "conditions[]", "box[][]"),
        **_all(RECOMPUTED, "readable[].", "support", "confidence", "cells", "warrant.**"),
        "readable[].sentence": REWRITTEN,
        "readable[].box": RECOMPUTED,
        "readable[].box[]": RECOMPUTED,
        **_all(RECOMPUTED, "open[].", "if[]", "then[]", "class", "conditions[]", "box.**"),
        **_all(RECOMPUTED, "open[].", "needs", "warrant.**"),
        **_all(REWRITTEN, "open[].", "sentence", "support", "of", "unit"),
        **_all(RECOMPUTED, "certificate.", "kind", "weakest", "rules", "open", "cells", "unasked"),
        **_all(RECOMPUTED, "certificate.", "sift.**", "trial.**", "complete.**"),
        "certificate.complete.unsettled": UNSETTLED,
        "certificate.complete.max_conditions": harmless("a smaller one claims less"),
        "certificate.coverage": harmless("without it, less is claimed"),
        "certificate.coverage.**": RECOMPUTED,
        **_all(WANTED, "certificate.coverage.", "wanted", "hard"),
        "certificate.ended.reason": ENDED,
        **_all(RECOMPUTED, "certificate.scope.", "of", "words", "how", "assumed", "agreement.**"),
        "certificate.scope.kept[]": RECOMPUTED,
        "certificate.scope.excluded[]": EXCLUDED,
        **_all(RECOMPUTED, "statistics.", "cells", "questions", "rows"),
        **_all(RECOMPUTED, "statistics.", "drawn", "candidates", "refuted"),
        **_all(COUNTED, "statistics.", "measured", "flipped", "predicted"),
        "space.**": RECOMPUTED,
        "model.**": REWRITTEN,
        "settings.**": RECOMPUTED,
        **_all(SET, "settings.", "seed", "epsilon", "delta", "limit"),
        "settings.max_conditions": SET,
        "sift.**": RECOMPUTED,
        "sift.curve[][]": harmless("each point is counted again; which are shown claims nothing"),
        "sift.curve[]": harmless("each point is counted again; which are shown claims nothing"),
        "sift.families[].at": FIXED,
        "classifier.model": intact("the model's name"),
        "classifier.identity": intact("the model's identity"),
        "classifier.target": RECOMPUTED,
        **_all(RECOMPUTED, "classifier.", "classes[]", "labels[]", "columns[]"),
        **_all(RECOMPUTED, "classifier.", "features.**", "silent.**", "notes[]", "exact_bins"),
        "classifier.bins": BINS,
        "classifier.fallback": FALLBACK,
        "classifier.background[]": REWRITTEN,
        "classifier.agreement.**": RECOMPUTED,
        "classifier.agreement.sentence": REWRITTEN,
        "classifier.cells.**": RECOMPUTED,
        "classifier.cells.cells": CHOSEN,
        **_all(RECOMPUTED, "classifier.rows.", "count", "cells", "said"),
        "classifier.rows.values.**": ROWS,
        "classifier.flips.**": RECOMPUTED,
        **_all(REWRITTEN, "classifier.flips[].", "ever", "sentence"),
        "classifier.flips[].excluded[]": RECOMPUTED,
        "classifier.measured.**": RECOMPUTED,
        "classifier.changed[]": CHANGED,
        "classifier.headline.**": RECOMPUTED,
        "classifier.trees.**": TREES,
        "classifier.forbidden.**": RECOMPUTED,
        "classifier.plausible.rules": PLAUSIBLE,
        "classifier.plausible.rules[].**": PLAUSIBLE,
        **_all(HELD_OUT, "classifier.plausible.", "rows", "held_out", "kept", "measured"),
        "classifier.plausible.most_broken": HELD_OUT,
        "classifier.rounding": ROUNDING,
        **_all(REWRITTEN, "", "warnings.**"),
        "digest": RECOMPUTED,
    }
)
