"""Reading requirements: a YAML file checked by pydantic, or the same as Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from hornlens.deprecation import deprecated
from hornlens.errors import InputError
from hornlens.formats.documents import Document, parse_data, parse_yaml
from hornlens.formats.files import read_text
from hornlens.formats.shapes import Part, Text
from hornlens.logic.certificates import Level
from hornlens.logic.named import NamedRule
from hornlens.results.documents.requirements import (
    ANSWERED,
    Allowance,
    AnsweredShare,
    CertaintyRequirement,
    Invariance,
    Requirement,
    Requirements,
    RuleCount,
    RuleRequirement,
    Scope,
)

Count = Annotated[int, Field(ge=0, strict=True)]


def _share(value: Any) -> Any:
    """Read "1%" as 0.01."""
    if isinstance(value, str) and value.strip().endswith("%"):
        try:
            return float(Decimal(value.strip()[:-1].strip()) / 100)
        except InvalidOperation:
            return value
    return value


Share = Annotated[float, BeforeValidator(_share), Field(ge=0, le=1, allow_inf_nan=False)]
"""A share between 0 and 1, or a percentage: 0.01, or 1%."""


class RuleFile(Part):
    """A rule. A plain text is the rule itself."""

    rule: Text = Field(description="such as: nurse & male -> false")
    because: Text | None = Field(None, description="why, for whoever reads the violation")
    scope: Scope | None = Field(None, alias="in", description="default: the file's")
    confidence: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = Field(
        None, description="an almost-rule: it holds in such a share of what it speaks of"
    )
    at_most: Share | None = Field(
        None, description="required: a tested bound will do, such as 1%; default: the file's"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, data: Any) -> Any:
        return {"rule": data} if isinstance(data, str) else data


class InvariantFile(Part):
    """Attributes of which the answer must not depend."""

    attributes: list[Text] = Field(min_length=1)
    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        0.0, description="the share of pairs of cells, differing in these only, that may differ"
    )
    because: Text | None = None
    scope: Scope | None = Field(None, alias="in", description="default: the file's")


class CountFile(Part):
    """How many rules there may be."""

    at_least: Count | None = None
    at_most: Count | None = None


class RequirementsFile(Part):
    """Requirements: what a result must and must not obey."""

    hornlens: Literal[1] = Field(description="the version of this format")
    scope: Scope = Field(
        "every variant", alias="in", description="of which variants rules and invariances speak"
    )
    forbid: list[RuleFile] = Field(
        default_factory=list, description="rules that must not follow from those found"
    )
    require: list[RuleFile] = Field(default_factory=list, description="rules that must follow")
    invariant: list[InvariantFile] = Field(
        default_factory=list, description="names of attributes; or one, or several, with tolerances"
    )
    at_least: Level | None = Field(
        None, description="the weakest certificate that will do: exact, bounded or tested"
    )
    rules: CountFile | None = Field(None, description="how many rules there may be")
    at_most: Share | None = Field(
        None,
        description="required rules need no proof: a tested bound will do, such as 1%",
    )
    answered: Share = Field(
        ANSWERED, description="the share of questions that must have got an answer"
    )
    allow: list[Allowance] = Field(
        default_factory=list,
        description="what passes although it is not known: open (forbidden rules of which nothing "
        "is known), surrogate (rules of a binned stand-in for the model)",
    )

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("at_least") == "pac":
            deprecated("at_least: pac", "at_least: tested", since="0.3", removal="0.5")
            data = {**data, "at_least": "tested"}
        if not isinstance(data, dict) or "invariant" not in data:
            return data
        given = data["invariant"]
        if isinstance(given, list) and given and all(isinstance(each, str) for each in given):
            given = {"attributes": given}
        return {**data, "invariant": [given] if isinstance(given, dict) else given}


Source = str | Path | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
"""A file's path; its fields; or a list of rules, which are required."""


def read_requirements(source: Source) -> Requirements:
    """Return what is required; every mistake is an InputError, of a file with its line."""
    if isinstance(source, str | Path):
        path = Path(source)
        return _requirements(parse_yaml(read_text(path), path, RequirementsFile))
    fields = source if isinstance(source, Mapping) else {"require": list(source)}
    return _requirements(parse_data({"hornlens": 1, **fields}, RequirementsFile))


def _refuse_nothing(document: Document[RequirementsFile]) -> None:
    """Refuse a field that is there and requires nothing: it would pass, and look like a gate."""
    content = document.content
    for name in ("forbid", "require", "invariant", "at_least", "rules", "at_most", "allow"):
        key = RequirementsFile.model_fields[name].alias or name
        if name in content.model_fields_set and getattr(content, name) in ([], None):
            raise document.refuse("is empty and requires nothing: fill it in, or drop it", key)
    rules = content.rules
    if rules is not None and not rules.at_least and rules.at_most is None:
        raise document.refuse("requires nothing: give at_least (1 or more) or at_most", "rules")


def _requirements(document: Document[RequirementsFile]) -> Requirements:
    _refuse_nothing(document)
    content, line = document.content, document.line
    found: list[Requirement] = []
    kinds: tuple[tuple[Literal["forbid", "require"], list[RuleFile]], ...] = (
        ("forbid", content.forbid),
        ("require", content.require),
    )
    for kind, rules in kinds:
        for i, each in enumerate(rules):
            try:
                rule = NamedRule.parse(each.rule)
            except InputError as error:
                raise document.refuse(error.message, kind, i, "rule") from None
            scope, because = each.scope or content.scope, each.because or ""
            at = line(kind, i)
            at_most = content.at_most if each.at_most is None else each.at_most
            found.append(RuleRequirement(kind, rule, scope, because, at, each.confidence, at_most))
    for i, same in enumerate(content.invariant):
        names, because = tuple(same.attributes), same.because or ""
        scope = same.scope or content.scope
        found.append(Invariance(names, same.tolerance, scope, because, line("invariant", i)))
    if content.at_least is not None:
        found.append(CertaintyRequirement(content.at_least, line("at_least")))
    if content.rules is not None:
        limits = content.rules
        found.append(RuleCount(limits.at_least, limits.at_most, line("rules")))
    named = "answered" in content.model_fields_set
    answered = AnsweredShare(content.answered, named, line("answered") if named else None)
    if named:
        found.append(answered)
    empty = all(isinstance(one, AnsweredShare) and not one.share for one in found)
    if empty:  # it would always pass, and nobody would know
        wanted = "forbid, require, invariant, at_least, answered or rules"
        raise InputError(f"requires nothing: give {wanted}", document.path)
    if not named:
        found.append(answered)
    return Requirements(tuple(found), str(document.path or ""), frozenset(content.allow))
