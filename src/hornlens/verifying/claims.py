"""What a certificate in a file claims, by its properties: read anew, of either format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.grids import Wrong

OLD = ("exact", "bounded", "interrupted", "noisy", "pac", "budget_exhausted", "explored")
"""The kinds of format 1, which had no properties."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of the rules of a result.

    `every`: all rules follow; `most`, `least`, `unit`: those follow that are so short, or that so
    many speak of. `noise`, `joint`, `trial`, `word` and `sift` are what the claim rests on, where
    it rests on more than answers. `answered` counts answers and questions.
    """

    weakest: str
    every: bool = False
    decides: bool = False
    most: int | None = None
    least: int = 0
    unit: str | None = None
    unsettled: int = 0
    ended: bool = False
    rules: int | None = None
    open: int = 0
    unasked: int = 0
    scope: Mapping[str, Any] = field(default_factory=dict)
    answered: tuple[int, int] | None = None
    noise: Mapping[str, Any] | None = None
    joint: Mapping[str, Any] | None = None
    trial: Mapping[str, Any] | None = None
    word: Mapping[str, Any] | None = None
    sift: Mapping[str, Any] | None = None

    @property
    def proved(self) -> bool:
        """Whether each listed rule is said to hold."""
        return self.weakest == "proved"

    @property
    def bounded(self) -> bool:
        """Whether all rules within bounds are said to follow."""
        return not self.every and not self.unsettled and (self.most is not None or self.least > 0)

    @property
    def settled(self) -> bool:
        """Whether everything is said to have been looked at."""
        left = self.ended or self.joint or self.trial or self.word or self.sift or self.unasked
        return self.proved and not left and (self.every or self.decides or self.bounded)

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Claim:
        """Return what a certificate claims; one that contradicts itself is wrong."""
        if "weakest" not in line:
            return _of_format_1(line)
        complete, ended = line["complete"], line.get("ended")
        answered = line.get("answered")
        claim = cls(
            line["weakest"],
            complete.get("every", False),
            complete.get("decides", False),
            complete.get("max_conditions"),
            complete.get("min_support", 0),
            complete.get("unit"),
            complete.get("unsettled", 0),
            ended is not None,
            line["rules"],
            line.get("open", 0),
            line.get("unasked", 0),
            line["scope"],
            None if answered is None else (answered[0], answered[1]),
            line.get("noise"),
            line.get("joint"),
            line.get("trial"),
            line.get("word"),
            line.get("sift"),
        )
        claim._check()
        return claim

    def _check(self) -> None:
        """Hold the properties against each other."""
        undecided = 0 if self.noise is None else self.noise["undecided"]
        if self.weakest not in ("proved", "tested", "open"):
            raise Wrong(f"certificate: a warrant {self.weakest!r}")
        if self.every and (self.ended or self.unasked or undecided or self.unsettled):
            raise Wrong("certificate: complete, though something was left open")
        agreement = self.scope.get("agreement")
        if self.scope["of"] in ("every input", "plausible") and agreement is not None:
            same = agreement["rows"] == agreement["uniform"] == 1
            if not same or agreement["mixed"] or agreement.get("varied"):
                raise Wrong("certificate: of every input, though the model was measured to differ")
        if self.answered is not None and not 0 <= self.answered[0] <= self.answered[1]:
            raise Wrong("certificate: more answers than questions")


def _of_format_1(line: Mapping[str, Any]) -> Claim:
    kind, rules = line["kind"], line.get("rules")
    if kind not in OLD:
        raise InputError(f"certificate: unknown kind {kind!r}; verify knows {', '.join(OLD)}")
    if kind == "explored":
        return Claim("proved", every=True, open=line["open"], word=line)
    if kind == "noisy":
        return Claim("proved", noise=line)
    if kind == "pac":
        return Claim("open", joint=line)
    if kind == "bounded":
        most, least = line.get("max_conditions"), line.get("min_support") or 0
        return Claim("proved", most=most, least=least, unit=line.get("of"), rules=rules)
    if kind == "interrupted":
        most = line.get("max_conditions")
        return Claim("proved", most=most, ended=True, rules=rules, open=line.get("hypotheses") or 0)
    return Claim("proved", every=True) if kind == "exact" else Claim("open", ended=True)
