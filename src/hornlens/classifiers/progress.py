"""Progress and events of the doors to classifiers: `explain`, `prove` and `flips`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hornlens.classifiers.explanation import Explained
from hornlens.targets.classifiers.metering import Progress, Watch


@contextmanager
def shown(progress: Progress | bool | None, name: str) -> Iterator[Progress | None]:
    """Show a progress bar, if it is wanted; yield what is told how many more inputs were asked."""
    if progress is not True:
        yield progress or None
        return
    from hornlens.report.terminal import Terminal

    with Terminal().bar(f"Asking {name}", None, "inputs") as advance:
        yield advance


def tell_events(result: Explained, watch: Watch) -> None:
    """Tell the rules that were found, as rules of the space of its cells, and how it ended."""
    from hornlens.exact.boxes.rulesets import BoxRule
    from hornlens.exact.boxes.spaces import rules_of
    from hornlens.learning.events import Ended, RuleAdded
    from hornlens.targets.classifiers.background import Background
    from hornlens.targets.classifiers.spaces import space_of

    features, labels = result.binned.features, result.binned.classifier.labels
    assumed = Background(result.background, result.feature_names).rules(features)
    space = space_of(features, result.target, labels, assumed)
    boxes = [BoxRule(rule.box, rule.place) for rule in result.rules]
    for position, rule in enumerate(rules_of(space, boxes)):
        watch(RuleAdded(position, rule))
    watch(Ended(result.certificate))
