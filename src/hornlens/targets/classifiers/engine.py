"""The engine of a classifier: rules of classes, by asking its cells or looking into its trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.exact.engine import Progress
from hornlens.limits import Limits
from hornlens.logic.envelope import Envelope
from hornlens.results.documents.rules import Rules
from hornlens.targets.classifiers.metering import Meter, meter_of
from hornlens.targets.classifiers.ruletables import RuleTable
from hornlens.targets.classifiers.search import Search
from hornlens.targets.classifiers.spaces import space_apart
from hornlens.targets.protocol import RuleEngine


def box_engine(search_of: Callable[[Meter | None], Search]) -> RuleEngine:
    """Return what finds rules of classes by a search, which is made from what meters it.

    Its cells are not kept: whoever wants those, and the record of a sift, explains the target.
    """

    def work(limits: Limits | None = None, progress: Progress | None = None) -> Envelope:
        search = search_of(meter_of(limits, None))
        outcome, most, labels = search.run(), search.most_rules, search.classifier.labels
        features, label = search.binned.features, search.options.label
        space = space_apart(features, label, labels, search.assumed)
        table = RuleTable(search.binned, space, outcome.rows, search.said)
        certificate, sifted = outcome.certificate, outcome.sifted
        lines = table.rows(*outcome[:3], sifted)
        if most is not None and len(lines) > most:
            lines = Rules(list(lines)[:most])
            kept = [BoxRule(row.box or (), row.place or 0) for row in lines]
            sifted = None if sifted is None else sifted.first(kept)
            certificate = search.first_of(
                certificate, outcome.labelled, kept, sifted, outcome.covering
            )
        if progress is not None:
            progress(len(lines), 1.0)
        cells = int((outcome.labelled.labels >= 0).sum())
        envelope = table.envelope(lines, certificate, cells, sifted, outcome.counted)
        return replace(envelope, sifted=None)

    return work
