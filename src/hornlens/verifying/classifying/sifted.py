"""The sift of a classifier, counted again: its cells are in a list, and its rules are of classes.

All of it is checked as for other targets. What else a classifier's certificate claims (its scope,
how many cells there are) is checked where its cells are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Space, Wrong
from hornlens.verifying.levels import Layout
from hornlens.verifying.record import SiftedFile
from hornlens.verifying.refuted import Recount
from hornlens.verifying.sifted import SiftedResult

POLICY = {"label_unset": "reject", "abstain": "reject"}
"""A classifier says a class of every row."""


def check_sifted_cells(
    content: Mapping[str, Any], cells: Sequence[tuple[int, ...]], labels: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Hold the sifted rules of a classifier against its cells, and against what was drawn."""
    space = Space.of(content)
    background: list[Rule] = space.rules(content["background"])
    layout = Layout(space, background)
    answers = [
        Answer({}, place, layout.mask(cell), label)
        for place, (cell, label) in enumerate(zip(cells, labels, strict=True))
    ]
    if len({answer.cell for answer in answers}) < len(answers):
        raise Wrong("cells: one stands there twice")
    # Only the readable form of rules is there: as they were tested.
    whole = {**content, "rules": content["readable"]}
    file = SiftedFile(whole, {None: Reader(space, POLICY)}, {None: answers}, background)
    return _SiftedClasses(whole, file).check()


class _SiftedClasses(SiftedResult):
    """A sift for rules of classes."""

    def _check_certificate(
        self,
        certificate: Mapping[str, Any],
        worlds: Mapping[Any, Sequence[Answer]],
        alone: bool = False,
    ) -> None:
        self.check_sieve(certificate, classes=True)
        claim = Claim.of(certificate)
        if claim.noise or claim.joint or claim.trial or claim.word:
            raise Wrong("certificate: rests on more than a sift")
        kinds = {line["warrant"]["kind"] for line in self.content["rules"]}
        weakest = "tested" if kinds - {"proved"} else "proved"
        if claim.weakest != weakest:
            raise Wrong(f"certificate: its weakest rule is {weakest}, not {claim.weakest}")

    def _check_settings(self) -> None:
        settings, record = self.content["settings"], self.file.line
        for key in ("epsilon", "delta", "seed"):
            if record[key] != settings[key]:
                raise Wrong(f"sift: {key} is {record[key]}, and the settings say {settings[key]}")
        for family in record["families"]:
            bases = [
                tuple(sorted((key, str(value)) for key, value in base.items()))
                for base in family["bases"]
            ]
            if len(set(bases)) < len(bases):
                raise Wrong("sift: a family has one base twice")
        most = settings["max_conditions"]
        if most is not None and record["conditions"] not in (most, most - 1):
            raise Wrong(f"sift: {record['conditions']} conditions, and the settings say {most}")

    def _check_statistics(self, short: Recount) -> None:
        counted, given = self.counted(short), self.content["statistics"]
        for key, value in counted.items():
            if given[key] != value:
                raise Wrong(f"statistics: {key} is {value:,}, not {given[key]}")
        asked = given["questions"] + given["measured"]
        if given["predicted"] < asked:
            raise Wrong(f"statistics: {asked:,} rows were asked, more than predicted")
