"""The engine of a classifier: rules of classes, by asking its cells or looking into its trees."""

from __future__ import annotations

from collections.abc import Callable

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
    """Return what finds rules of classes by a search, which is made from what meters it."""

    def work(limits: Limits | None = None, progress: Progress | None = None) -> Envelope:
        search = search_of(meter_of(limits, None))
        outcome, most, labels = search.run(), search.most_rules, search.classifier.labels
        features, label = search.binned.features, search.options.label
        space = space_apart(features, label, labels, search.assumed)
        table = RuleTable(search.binned, space, outcome.rows, search.said)
        lines, certificate = table.rows(*outcome[:3]), outcome.certificate
        if most is not None and len(lines) > most:
            lines = Rules(list(lines)[:most])
            certificate = search.first_of(certificate, outcome.labelled, most)
        if progress is not None:
            progress(len(lines), 1.0)
        return table.envelope(lines, certificate, outcome.asked)

    return work
