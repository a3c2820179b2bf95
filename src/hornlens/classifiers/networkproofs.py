"""Rules of networks and linear models, proved for every input in the ranges of X."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hornlens.classifiers.proofs import Proof, guarded, not_finished
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.binning import Binning
from hornlens.targets.classifiers.ensembles.trees import NotExact
from hornlens.targets.classifiers.guard import DRAWN, uniform_inputs, unlike
from hornlens.targets.classifiers.netproving import NetworkProver
from hornlens.targets.classifiers.networks import read_network
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.provers import Prover
from hornlens.targets.classifiers.voting import Vote


def prover_of(binning: Binning, binned: Binned, forbidden: Forbidden) -> Prover | None:
    """Return what looks into the model that levels are of; None if nothing does."""
    given = binned, forbidden.weighted, forbidden.most_broken
    if binning.network is not None:
        return NetworkProver(*given, binning.network)
    if binning.trees is not None and binning.trees.trees.summed:
        return Vote(*given, binning.trees)
    return None


def network_levels(clf: Any, classifier: Classifier, more: Mapping[str, Cuts]) -> Binning | None:
    """Return levels over which the network or linear model of a classifier is bounded.

    None if it has none, or none that can be traced back to the columns of X.
    """
    try:
        network = read_network(clf, classifier.table)
        if network is None:
            return None
        features = network.features(classifier.table, more)
        network.over(Binned(classifier, features))
    except NotExact:
        return None
    exact = all(feature.cuts is None for feature in features)
    how = "levels over which the network is bounded"
    return Binning(features, exact, how, network=network)


def in_ranges(binning: Binning, binned: Binned) -> str:
    """Say of which numbers a proof speaks, behind "every input": those between the ends of X."""
    if binning.network is None or all(feature.cuts is None for feature in binned.every):
        return ""
    return " with numbers in the ranges of X"


def guarded_proof(proof: Proof, binning: Binning, binned: Binned, seed: int) -> Proof:
    """Return a proof, unless the model as it was read says something else than the model itself."""
    network = binning.network
    if network is None:
        return guarded(proof, binned, seed)
    if proof.status != "proved":
        return proof
    table, meter = binned.classifier.table, binned.meter
    drawn = uniform_inputs(binned, DRAWN, np.random.default_rng(seed)).columns
    columns = [np.concatenate(pair) for pair in zip(table.columns, drawn, strict=True)]
    decide = binned.classifier.decide
    answers = decide(columns) if meter is None else meter.measured(decide, columns)
    if len(answers) < len(columns[0]):
        return not_finished(proof.rule, meter, "and it could not be compared with the model")
    places, is_close = network.places(table, columns)
    differing = int(((places != answers) & ~is_close).sum())
    if differing:
        return Proof(
            *(proof.rule, "not refuted"),
            "Not proved: it holds of the network as it was read, which says something else than "
            f"the model itself for {differing:,} of {len(answers):,} inputs.",
        )
    excluded = unlike(binned)
    if not excluded:
        return proof
    but = f" (but for {' and '.join(excluded)})"
    return replace(proof, sentence=f"{proof.sentence[:-1]}{but}.")
