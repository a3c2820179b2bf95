"""What became of a rule that somebody asked about, and what is compared before it is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from hornlens.classifiers.nearest import Nearest
from hornlens.limits import ENDED
from hornlens.logic.scopes import Agreement, Of, Scope
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.guard import is_measured, measured_by, unlike
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.points import Binned

ProofDomain = Literal["grid", "plausible"]
Status = Literal["proved", "refuted", "not refuted", "vacuous"]


@dataclass(frozen=True)
class Proof:
    """What became of a rule; true if it is proved.

    `row` is an input that breaks it, and `said` what the classifier says of it, once it is `moved`.

    `domain` says of which inputs it was to be proved: "grid" are all of them. `plausible`: whether
    an input that is like the rows of X breaks it; None where that is not known. `nearest` is the
    row of X that is most like `row`.

    >>> from hornlens import prove
    >>> proof = prove(lambda rows: rows[:, 0] > 2, "x0 > 1 -> True", [[1.0], [2.0], [4.0]])
    >>> proof.status, proof.said
    ('refuted', 'False')
    """

    rule: str
    status: Status
    sentence: str
    row: Mapping[str, Any] | None = None
    said: str | None = None
    domain: ProofDomain = "grid"
    plausible: bool | None = None
    nearest: Nearest | None = None
    moved: Mapping[str, Any] | None = None
    """Where a rule is about moving a column: the row with the column moved."""

    def __bool__(self) -> bool:
        """Say whether the rule is proved, or speaks of nothing that can be."""
        return self.status in ("proved", "vacuous")

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence


def guarded(proof: Proof, binned: Binned, seed: int) -> Proof:
    """Return a proof, unless the model as it was read differs from the model itself."""
    if proof.status != "proved":
        return proof
    agreement, short = measured_agreement(binned, seed)
    if is_measured(agreement):
        excluded = unlike(short)
        if not excluded:
            return proof
        but = f" (but for {' and '.join(excluded)})"
        return replace(proof, sentence=f"{proof.sentence[:-1]}{but}.")
    if not agreement.differs:
        return not_finished(proof.rule, binned.meter, f"and it {agreement.shares}")
    varies = f" {agreement.varying}" if agreement.varied else ""
    return Proof(
        proof.rule,
        "not refuted",
        "Not proved: it holds of the model as it was read, which does not always say what the "
        f"model itself says. It {agreement.shares}.{varies}",
    )


def measured_agreement(binned: Binned, seed: int) -> tuple[Agreement, Binned]:
    """Hold the model as it was read against itself; return what came out, over the rows asked."""
    table, meter = binned.classifier.table, binned.meter
    decide = binned.classifier.decide
    said = decide(table.columns) if meter is None else meter.measured(decide, table.columns)
    short = replace(binned, classifier=replace(binned.classifier, table=table.first(len(said))))
    rows = short.places(short.classifier.table)
    return measured_by(short, rows, said, seed, meter=meter).agreement, short


def not_finished(rule: str, meter: Meter | None, known: str) -> Proof:
    """Return that nothing is proved because a limit was reached, and what is known by then."""
    reason = None if meter is None or meter.limits is None else meter.limits.reason
    early = f"the run was ended {ENDED[reason]}" if reason else "it is too hard to prove"
    return Proof(rule, "not refuted", f"Not refuted, but not proved: {early}, {known}.")


def too_hard(rule: str, meter: Meter | None, lead: str = "") -> Proof:
    """Return that a search was not ended, and how far another class can lead as far as known."""
    if meter is not None and meter.ended is not None:
        proof = not_finished(rule, meter, "before the model was searched to the end")
    else:
        proof = Proof(rule, "not refuted", "Not refuted, but too hard to prove.")
    return replace(proof, sentence=f"{proof.sentence} {lead}") if lead else proof


def plain_value(value: Any) -> str:
    """Return a value in few digits, if they are all that it has."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


@dataclass(frozen=True)
class MeantInputs:
    """The inputs for which a rule is to be proved, in words."""

    assumed: Background
    ranges: str = ""
    """Which numbers are meant, if not all."""

    @property
    def words(self) -> str:
        """All of them."""
        plausible = self.assumed.plausible
        kept = None if plausible is None else (plausible.kept, plausible.held_out)
        of: Of = "every input" if plausible is None else "plausible"
        every = Scope(of, assumed=bool(self.assumed.texts), kept=kept).inputs
        return f"{every}{self.ranges}"

    @property
    def none(self) -> str:
        """That there is none that meets a rule's conditions."""
        if self.assumed.plausible is None:
            return "The background allows no input that meets its conditions."
        return "No plausible input meets its conditions."

    def meant(self, proof: Proof) -> Proof:
        """Return a proof that says of which inputs it is."""
        if self.assumed.plausible is None:
            return proof
        sentence, is_refuted = proof.sentence, proof.status == "refuted"
        if is_refuted:
            sentence = sentence.replace("Refuted:", "Refuted by a row like yours:", 1)
        return replace(proof, sentence=sentence, domain="plausible", plausible=is_refuted or None)
