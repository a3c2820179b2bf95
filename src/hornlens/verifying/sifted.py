"""What a sifted result has to be: complete for short rules, and each rule no surer than its draws.

Two claims are checked. Without any probability: every short rule that no recorded answer breaks is
listed or open, or follows from one that is. With probability 1 - δ: none of the listed rules is
broken by more of its cells than its bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log, log1p
from typing import Any

from hornlens.counts import plural
from hornlens.verifying.answers import Answer, Reader
from hornlens.verifying.attributes import Rule
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Wrong
from hornlens.verifying.record import PURPOSES, SiftedFile, shortened
from hornlens.verifying.refuted import Recount
from hornlens.verifying.stated import StatedRule
from hornlens.verifying.warranted import Warrants

MOST_OPEN = 1_000
"""So many open rules are there at most; all are counted."""
USUAL = 2
"""How many conditions on attributes rules have, where the settings do not say."""
CLOSED = {"complete": {}, "scope": {"of": "cells"}}
"""What a certificate of a sift has to say of these."""
ASSUMED = {"scope": {"assumed": True}}
"""What it may say beside: that rules were given."""
NOT_CHECKED = (
    "that the seed was fixed before any answer was known",
    "that every question that was asked is on record, in the order of asking",
    "rules with more conditions than were sifted for: nothing is claimed of them",
)
Line = Mapping[str, Any]


def check_sifted(
    content: Line, reader: Reader, background: list[Rule], worlds: Mapping[Any, Sequence[Answer]]
) -> tuple[list[str], list[str]]:
    """Hold a sifted result against its answers; return what was checked, and what can not be."""
    if "sift" not in content or Claim.of(content["certificate"]).sift is None:
        raise Wrong("sift: a certificate without a record, or a record without a certificate")
    policies = {line["name"]: line.get("policy") for line in content.get("variants", ())}
    readers = {
        name: Reader(reader.space, policies.get(name) or reader.policy, reader.noisy)
        for name in worlds
    }
    return SiftedResult(content, SiftedFile(content, readers, worlds, background)).check()


@dataclass(frozen=True, eq=False)
class SiftedResult:
    """The contents of a file whose rules were sifted, and its record."""

    content: Line
    file: SiftedFile

    def check(self) -> tuple[list[str], list[str]]:
        """Check it; return what was checked, and what can not be."""
        self._check_certificate(self.content["certificate"], self.file.worlds)
        self._check_settings()
        short = Recount(self.file, {**self.listed, **self.open}, self.almost)
        short.count()
        short.check_figures()
        self._check_counts(short)
        checked = [self._all_rules(short), self.file.check_draws(), self.file.check_shares()]
        checked.append(self._check_warrants())
        self._check_needs()
        self._check_end()
        self._check_statistics(short)
        for line in self.content.get("variants", ()):
            self._check_variant(line)
        not_checked = [*NOT_CHECKED]
        if not self.file.layout.counted:
            not_checked.append("how many of the rules sifted for the background rules out")
        for purpose in {family.purpose for family in self.file.families} - {*PURPOSES}:
            not_checked.append(f"what was drawn for {purpose!r}: it is of a newer version")
        return checked, not_checked

    # --- what is stated ---

    def _rules(self, kind: str, lines: Sequence[Line]) -> dict[str, StatedRule]:
        space = self.file.layout.space
        rules = space.rules(lines)
        names = (f"{kind} {n}, {space.show_rule(rule)}" for n, rule in enumerate(rules, 1))
        return {name: self.file.rule(rule) for name, rule in zip(names, rules, strict=True)}

    @cached_property
    def listed(self) -> dict[str, StatedRule]:
        """The listed rules, by what they are called in messages."""
        rules, readable = self.content["rules"], self.content["readable"]
        if [_said(line) for line in rules] != [_said(line) for line in readable]:
            raise Wrong("readable: not the same as rules, which a sift leaves as they were tested")
        return self._rules("rule", rules)

    @cached_property
    def open(self) -> dict[str, StatedRule]:
        """The open rules."""
        for number, line in enumerate(self.content["open"], 1):
            if line["warrant"] != {"kind": "open"}:
                raise Wrong(f"open rule {number}: has a warrant of another kind")
        return self._rules("open rule", self.content["open"])

    @cached_property
    def almost(self) -> list[StatedRule]:
        """The rules with exceptions that stand for narrower ones."""
        lines = self.file.line.get("almost", ())
        return list(self._rules("almost-rule", lines).values())

    # --- figures ---

    def _check_certificate(
        self, certificate: Line, worlds: Mapping[Any, Sequence[Answer]], alone: bool = False
    ) -> None:
        """Compare the certificate with the record, and count the answers again.

        `alone`: it is that of one of several ways of asking.
        """
        claim = Claim.of(certificate)
        self.check_sieve(certificate, alone=alone)
        for key, value in CLOSED.items():
            if {**certificate[key], **ASSUMED.get(key, {})} != {**value, **ASSUMED.get(key, {})}:
                raise Wrong(f"certificate: {key} is more than a sift shows")
        if claim.noise or claim.joint or claim.trial or claim.word or claim.unasked:
            raise Wrong("certificate: rests on more than a sift")
        answers = [answer for name in worlds for answer in worlds[name]]
        silent = sum(answer.winner is None and not answer.is_undecided for answer in answers)
        counted = len(answers) - silent, len(answers)
        if certificate["answered"] != list(counted):
            raise Wrong(f"certificate: {counted[0]:,} of {counted[1]:,} questions were answered")
        wanted = "sifted" if counted[0] else "unanswered"
        if certificate["kind"] != wanted:
            raise Wrong(f"certificate: its kind is {wanted}, not {certificate['kind']}")
        kinds = {line["warrant"]["kind"] for line in self.content["rules"]}
        weakest = "tested" if kinds - {"proved"} else "proved"
        if claim.weakest != weakest:
            raise Wrong(f"certificate: its weakest rule is {weakest}, not {claim.weakest}")
        if claim.rules != len(self.content["rules"]):
            count = plural(len(self.content["rules"]), "rule")
            raise Wrong(f"certificate: it is {count}, not {claim.rules}")
        if self.content["non_horn"] != {"count": None, "examples": [], "at_least": 0}:
            raise Wrong("non_horn: nobody looked for them")

    def check_sieve(self, certificate: Line, classes: bool = False, alone: bool = False) -> None:
        """Compare what the certificate says of the sift with its record.

        `classes`: only rules that say which label is always given were sifted for. `alone`: one of
        several ways of asking must not claim that exceptions are on record in it.
        """
        record = self.file.line
        kept = {
            **{key: record[key] for key in ("conditions", "epsilon", "delta")},
            **{key: record[key] for key in ("candidates", "live")},
            "questions": len(self.file.order),
            "varies": self.file.varies,
            "almost": len(record.get("almost", ())),
            "classes": classes,
            "alone": alone,
        }
        flags = {"varies": False, "classes": False, "alone": False}
        stated = {"almost": 0, **flags, **certificate["sift"]}
        for key in {*kept, *stated}:
            if key not in kept or stated.get(key) != kept[key]:
                raise Wrong(
                    f"certificate: {key} is {shortened(kept.get(key))}, not "
                    f"{shortened(stated.get(key))}"
                )
        if bool(record.get("classes", False)) != classes:
            raise Wrong("sift: not of the rules that such a result has")

    def _check_settings(self) -> None:
        settings, record = self.content.get("settings"), self.file.line
        if settings is None:
            return
        most = settings["max_conditions"]
        labels = bool(self.file.layout.space.labels)
        wanted = {
            **{key: settings[key] for key in ("epsilon", "delta", "seed")},
            "conditions": USUAL if most is None else most - labels,
        }
        for key, value in wanted.items():
            if record[key] != value:
                raise Wrong(
                    f"sift: {key} is {shortened(record[key])}, and the settings say "
                    f"{shortened(value)}"
                )

    def _check_counts(self, short: Recount) -> None:
        """Check that all that has to be listed or open is, or is counted."""
        claim, there = Claim.of(self.content["certificate"]), len(self.open)
        wanted = short.kept - len(self.listed)
        if claim.open != there and not (claim.open > there >= MOST_OPEN):
            raise Wrong(f"certificate: {there:,} rules are open, not {claim.open:,}")
        if claim.open != wanted:
            if short.missing is not None and claim.open == there:
                raise Wrong(f"a rule is missing: no answer breaks {short.missing}")
            raise Wrong(f"certificate: {wanted:,} rules are open, not {claim.open:,}")

    def _check_warrants(self) -> str:
        warrants, lines = Warrants(self.file), self.content["rules"]
        proved = 0
        for line, short in zip(lines, self.content["readable"], strict=True):
            if short["warrant"] != line["warrant"]:
                raise Wrong("readable: a rule with another warrant than among the rules")
        for (name, rule), line in zip(self.listed.items(), lines, strict=True):
            proved += warrants.check(name, rule, line["warrant"])
        warrants.check_almost(self.file.line.get("almost", ()), self.almost)
        warrants.check_more_often(self.file.line.get("more_often", ()), self.almost)
        tested = len(lines) - proved + len(self.almost)
        return (
            f"warrants: of {plural(proved, 'proved rule')} every cell was asked; what was drawn "
            f"for {plural(tested, 'tested rule')} bears each bound, with probability "
            f"{1 - self.file.delta:g} for all together"
        )

    def _all_rules(self, short: Recount) -> str:
        line, listed = self.file.line, len(self.listed)
        special = ", or are special cases of almost-rules" if self.almost else ""
        return (
            f"sifted: of {line['candidates']:,} rules with at most "
            f"{plural(line['conditions'], 'condition')} on attributes, answers break "
            f"{short.broken:,}; the {line['live']:,} others follow from {listed:,} listed and "
            f"{short.kept - listed:,} open rules{special}"
        )

    def _check_needs(self) -> None:
        """Count again how many draws an open rule would take."""
        reason = (self.content["certificate"].get("ended") or {}).get("reason")
        lines = self.content["open"]
        moved = [line for line in lines if "needs" not in line]
        if moved and (reason != "max_rules" or moved != lines[: len(moved)]):
            raise Wrong("open: a rule does not say what it needs")
        count = Claim.of(self.content["certificate"]).open - len(moved)
        file = self.file
        draws = ceil(log((count + 1) / file.delta) / -log1p(-file.epsilon))
        for (name, rule), line in zip(self.open.items(), lines, strict=True):
            wanted = min(draws, file.layout.room(rule.box))
            if "needs" in line and line["needs"] != wanted:
                raise Wrong(f"{name}: needs {wanted}, not {line['needs']}")

    def _check_end(self) -> None:
        """Check that a run that came to its end left nothing open of which more could be shown."""
        if (ended := self.content["certificate"].get("ended")) is not None:
            if not isinstance(ended["reason"], str):
                raise Wrong("certificate: it does not say why the run was ended")
            return
        file, warrants = self.file, Warrants(self.file)
        if not file.order:
            raise Wrong("certificate: came to its end, though nothing was asked")
        tried = {m.rule for f in file.families if f.purpose == "list" for m in f.members}
        for name, rule in self.open.items():
            unsure = file.asked.unsure(rule.saying.breaks)[warrants.inside(rule)].any()
            stuck = file.varies or not file.layout.counted or bool(unsure)
            if rule.rule not in tried or not stuck:
                raise Wrong(f"certificate: came to its end, though more can be shown of {name}")

    def counted(self, short: Recount) -> dict[str, int]:
        """Count again what every sift counts."""
        return {
            "questions": len(self.file.order),
            "drawn": len(self.file.draws),
            "candidates": self.file.line["candidates"],
            "refuted": short.broken,
        }

    def _check_statistics(self, short: Recount) -> None:
        questions = len(self.file.order)
        counted = {
            "equivalence_queries": 0,
            "membership_queries": questions * len(self.file.sayings),
            **self.counted(short),
        }
        for line in (self.content, *self.content.get("variants", ())):
            if line is not self.content:
                counted["questions"] = len(self.file.worlds[line["name"]])
            for key, value in counted.items():
                if line["statistics"][key] != value:
                    given = line["statistics"][key]
                    raise Wrong(f"statistics: {key} is {value:,}, not {given}")

    def _check_variant(self, line: Line) -> None:
        """Check that a way of asking says what all of them say: what holds in all holds in each."""
        name = line["name"]
        for key in ("rules", "readable", "open"):
            whole_lines, own = self.content[key], line[key]
            if [_said(each) for each in own] != [_said(each) for each in whole_lines]:
                raise Wrong(f"variant {name}: {key} are not those of all variants")
        self._check_certificate(line["certificate"], {name: self.file.worlds[name]}, alone=True)
        for key in ("open", "ended"):
            if line["certificate"].get(key) != self.content["certificate"].get(key):
                raise Wrong(f"variant {name}: its certificate is not that of all variants")


def _said(line: Line) -> tuple[Any, Any, Any]:
    """Return what a line of a rule says."""
    then = line["then"]
    warrant = line["warrant"]
    return tuple(line["if"]), None if then is None else tuple(then), tuple(sorted(warrant.items()))
