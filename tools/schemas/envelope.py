"""The schema of envelope.json: what every envelope has, and what an extraction adds to it."""

from __future__ import annotations

import json
from typing import get_args

from hornlens.formats.replies import Reply
from hornlens.formats.sent import Sent
from hornlens.logic.certificates import PARTS, TITLES
from hornlens.logic.decisions import REASONS, Policy
from hornlens.logic.grounds import Complete
from hornlens.logic.scopes import Agreement, Of
from hornlens.logic.warrants import WARRANTS, Warrant
from hornlens.results.analysis.warnings import Kind
from hornlens.results.documents.explanations import ClassifierDocument
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.sifting import PURPOSES
from hornlens.results.documents.tables import LatticeConcept, TableDocument
from tools.schemas.documents import DIALECT, HEAD, TAIL, Schema, object_of

TEXT, COUNT, NUMBER, FLAG = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": "number"},
    {"type": "boolean"},
)


def envelope_schema() -> Schema:
    """Return the schema; the parts that are written from dataclasses come from these."""
    whole = _object(
        "An envelope: every rule that holds follows from `rules` and `background`, as far as its "
        "certificate says. What comes of a formula or a table has no answers, and so nothing that "
        "is about answers.",
        HEAD
        | {
            "variables": _list(TEXT, "all variables, in their order"),
            "background": _list(
                {"anyOf": [_ref("Rule"), _ref("AtMostOne")]}, "what is taken for granted"
            ),
            **_own(),
        },
        _about_answers() | {"basis": _ref("OtherBasis")} | TAIL,
    )
    return {"$schema": DIALECT, "title": "envelope.json", **whole, "$defs": _parts()}


def _own() -> Schema:
    """Return what each way of asking has of its own, too."""
    return {
        "rules": _said(
            _or_null(_list(_ref("WarrantedRule"))),
            "the DG basis: canonical, and with the fewest rules; null: no basis was worked out",
        ),
        "readable": _list(
            _ref("ReadableRule"), "the same rules, each as short as can be said, in the same order"
        ),
        "non_horn": _ref("NonHorn"),
        "certificate": _ref("Certificate"),
        "claim": _said(TEXT, "what the certificate says, in a sentence"),
        "statistics": _said(
            {"type": "object", "additionalProperties": _or_null(NUMBER)},
            "counts, such as equivalence_queries, membership_queries, distinct_prompts",
        ),
    }


def _about_answers() -> Schema:
    return {
        "open": _list(_ref("OpenRule"), "rules that no answer breaks, and nothing proves"),
        "sift": _ref("Sift"),
        "hypothesis": _ref("Hypothesis"),
        "almost_claim": _ref("AlmostClaim"),
        "almost": _list(_ref("AlmostRule"), "rules with exceptions"),
        "levels": _ref("Levels"),
        "space": _ref("Space"),
        "probe": _ref("Question"),
        "model": _ref("Model"),
        "policy": _ref("Policy"),
        "settings": _ref("Settings"),
        "varied": _said(TEXT, "what differs between the ways of asking, such as phrasing"),
        "variants": _list(_ref("Variant"), "the ways of asking, where there are several"),
        "possible": _ref("Possible"),
        "rates": _ref("Rates"),
        "disparities": _ref("Disparities"),
        "chance": _ref("Chance"),
        "abstentions": _list(COUNT, "the answers that were none, as positions in `answers`"),
        "survival": _list(_ref("Survival"), "in which ways of asking a rule holds"),
        "orders": _ref("Orders"),
        "sent": _list(
            _ref("Sent"), "what was sent: a full example for each way of asking and each phrasing"
        ),
        "answers": _list(_ref("Answer"), "all that was asked; other parts point to positions here"),
        "warnings": _list(_ref("Warning"), "what weakens the rules"),
        "classifier": _ref("ClassifierDocument"),
        "table": _ref("TableDocument"),
    }


def _classifier() -> Schema:
    """Return the section of a classifier; its parts have names of their own."""
    parts: Schema = {}
    whole = object_of(ClassifierDocument, parts)
    text = json.dumps(
        {"ClassifierDocument": whole, **{f"Of{name}": p for name, p in parts.items()}}
    )
    renamed: Schema = json.loads(text.replace("#/$defs/", "#/$defs/Of"))
    return renamed


def _parts() -> Schema:
    rule = {
        "if": _list(TEXT, "what has to be true"),
        "then": _said(_or_null(_list(TEXT)), "what is true, then; null: it never happens"),
    }
    positions = _list(COUNT, "positions in `answers`")
    inner: Schema = {}
    settings, policy, reply = (object_of(each, inner) for each in (Settings, Policy, Reply))
    reply["required"] = ["text"]
    sent = object_of(Sent, inner)
    sent["properties"] = {"variant": TEXT, **sent["properties"]}
    settings["required"] = policy["required"] = []
    named = {"name": TEXT, "identity": _or_null(TEXT)}
    rates = {
        "attribute": TEXT,
        "values": _list(_ref("Rate")),
        "spreads": _list(_ref("Spread")),
        "flips": _ref("Flips"),
    }
    details = {
        "first_words": _list(_list({}), "the words it would itself put first, with probabilities"),
        "share": _said(NUMBER, "how much of its probability the candidates hold"),
        "unknown": _list(TEXT, "words of the prompt that the model does not know"),
        "replies": _list(_ref("Reply"), "those of a chat model"),
        "reply": _said(TEXT, "what was answered, where several answers are compared"),
    }
    return {
        "Rule": _object("A rule.", rule),
        "WarrantedRule": _object(
            "A rule, and what stands behind it.", rule | {"warrant": _ref("Warrant")}
        ),
        "OpenRule": _object(
            "A rule that no answer breaks, and nothing proves.",
            rule,
            {
                "warrant": _ref("Warrant"),
                "needs": _said(COUNT, "about how many clean random cases would list it"),
                "class": _said(TEXT, "of a classifier: the class that it implies"),
                "conditions": _list(TEXT, "of a classifier: its conditions on columns"),
                "box": _list(_list(COUNT), "of a classifier: column, first and last level"),
                "sentence": TEXT,
            },
        ),
        **_sift(rule, positions),
        "AtMostOne": _object("Of these, at most one is true.", {"at_most_one": _list(TEXT)}),
        "Hypothesis": _object(
            "What a learner took for true when it ended, and what its oracle claims of it. For "
            "studies of learners: what may be claimed of the target is in `rules`.",
            {"rules": _list(_ref("Rule")), "certificate": _ref("Certificate")},
        ),
        "OtherBasis": _object(
            "With `envelope --basis` or `--closed-top`: the rules in another form.",
            {"kind": TEXT, "rules": _list(_ref("Rule"))},
        ),
        "ReadableRule": _object(
            "A rule as people are shown it, with what it rests on.",
            rule
            | {
                "support": _said(_or_null(COUNT), "how many answers or rows speak for it"),
                "warrant": _ref("Warrant"),
            },
            {
                "prompts": _said(COUNT, "how many prompts or cells it speaks of"),
                "mean_margin": _or_null(NUMBER),
                "closest": _or_null(_object("The closest call.", {"answer": COUNT, "margin": {}})),
                "sentence": TEXT,
                "share": NUMBER,
                "vacuous": _said(FLAG, "it holds only because a label is never, or always, given"),
                "evidence": positions,
                "class": _said(TEXT, "of a classifier: the class that it implies"),
                "conditions": _list(TEXT, "of a classifier: its conditions on columns"),
                "confidence": _said(
                    _or_null(NUMBER), "of its rows, the share that the model gives this class"
                ),
                "cells": _said(COUNT, "how many asked cells it applies to"),
                "box": _list(_list(COUNT), "of a classifier: column, first and last level"),
            },
        ),
        "NonHorn": _object(
            "What is rejected by the target, and by no Horn rule.",
            {
                "count": _said(_or_null(COUNT), "null: it was not counted to the end"),
                "examples": _list(_list(TEXT)),
            },
            {"at_least": COUNT},
        ),
        **_certificate(inner),
        "AlmostClaim": _object(
            "Which almost-rules are listed.",
            {"min_confidence": NUMBER, "max_conditions": COUNT, "sentence": TEXT},
            {"min_support": COUNT},
        ),
        "AlmostRule": _object(
            "A rule with exceptions, all of which are listed.",
            rule
            | {
                "confidence": NUMBER,
                "broken": _said(COUNT, "how many cases break it"),
                "of": _said(COUNT, "how many it speaks of"),
                "exceptions": _list(_list(TEXT)),
            },
            {"lines": _list(COUNT), "sentence": TEXT, "answers": positions},
        ),
        "Levels": _object(
            "The few rules that say the most: level n has the first n steps.",
            {
                "min_confidence": NUMBER,
                "max_conditions": COUNT,
                "exception_cost": NUMBER,
                "candidates": COUNT,
                "rejections": COUNT,
                "exact_rules": COUNT,
                "by_exact": COUNT,
                "chosen": _said(_or_null(COUNT), "the level that people are shown"),
                "optimal": FLAG,
                "guarantee": TEXT,
                "steps": _list(_ref("Step")),
            },
        ),
        "Step": _object(
            "The rule that a level adds.",
            rule
            | {
                "explained": _said(COUNT, "how many rejections are explained from here on"),
                "at_most": COUNT,
                "new_exceptions": _list(_list(TEXT)),
            },
            {"sentence": TEXT, "answers": positions},
        ),
        "Space": _object(
            "What could be said: the attributes, and the label.",
            {"attributes": _list(_ref("Attribute")), "label": _or_null(_ref("Attribute"))},
            {
                "label_always": FLAG,
                "complete": _said(FLAG, "whether every cell sets every attribute"),
            },
        ),
        "Attribute": _object(
            "At most one of its values holds. An ordered one has `levels` or `cuts` instead of "
            "`values`, one of a taxonomy says of each value what it lies `under`. `cuts` are "
            "texts, `at` has their exact numbers, from which on a value lies above; `after` has "
            "the places of cuts whose text is the last number below: x ≤ 22.5, x > 22.5.",
            {"name": TEXT},
            {
                "values": _list(TEXT),
                "levels": _list(TEXT),
                "cuts": _list(TEXT),
                "at": _list(NUMBER),
                "after": _list(COUNT),
                "missing": _said(FLAG, "whether there may be no value, which counts as one"),
                "under": _list(_or_null(TEXT)),
            },
        ),
        "Question": _object(
            "How it was asked.",
            {
                "name": TEXT,
                "description": TEXT,
                "templates": _list(TEXT),
                "attributes": {"type": "object", "additionalProperties": _list(TEXT)},
                "label": _texts("each label with its word"),
                "label_attribute": _or_null(TEXT),
            },
            {
                "phrases": _texts("each value as sentences say it"),
                "slots": _slots(),
                "language": TEXT,
                "compared": _ref("Compared"),
            },
        ),
        "Compared": _object(
            "The answers of two models, or to several values, were compared: how labels are said.",
            {
                "who": TEXT,
                "acts": _texts("each label: what is done where it is given"),
                "opposites": _texts("some labels: what is never done where they are given"),
                "proper": _said(FLAG, "whether `who` begins with a name"),
            },
        ),
        "Model": _object("Who was asked; `identity` changes with the weights.", named),
        "Policy": policy,
        "Settings": settings,
        "Variant": _object(
            "One way of asking, with its own rules.",
            {
                "name": TEXT,
                "language": TEXT,
                "template": _or_null(TEXT),
                "label": _texts("each label with its word"),
                **_own(),
            },
            {
                "slots": _slots(),
                "model": _ref("Model"),
                "policy": _ref("Policy"),
                "open": _list(_ref("OpenRule")),
                "hypothesis": _ref("Hypothesis"),
                "possible": _ref("Possible"),
            },
        ),
        "Possible": _object(
            "Where answers vary: the rules that may hold beside those that are certain.",
            {
                "rules": _list(_ref("WarrantedRule")),
                "readable": _list(_ref("PossibleRule")),
                "non_horn": _ref("NonHorn"),
                "settling": _list(COUNT, "the undecided answers that would settle a rule"),
            },
        ),
        "PossibleRule": _object(
            "A rule that holds unless an undecided answer breaks it.",
            rule | {"certain": FLAG, "sentence": TEXT, "undecided": positions},
        ),
        "Rates": _object(
            "How often each label was the answer, by each attribute.",
            {"labels": _list(TEXT), "attributes": _list(_ref("AttributeRates"))},
            {"variants": _list(_ref("VariantRates"))},
        ),
        "Disparities": _object(
            "How far rates are apart: whether they are counted or estimated, with intervals.",
            {
                "basis": {"enum": ["counted", "varying", "several", "sample"]},
                "level": NUMBER,
                "attributes": _list(_ref("GroupRates"), "of exact rates, intersections only"),
            },
        ),
        "GroupRates": _object(
            "Of the values of an attribute, or of all combinations of several.",
            {
                "attributes": _list(TEXT),
                "rates": _list(_ref("GroupRate")),
                "widest": _list(_ref("RateDifference"), "for each label"),
            },
        ),
        "GroupRate": _object(
            "How often a value gets a label.",
            {
                "value": TEXT,
                "label": TEXT,
                "count": COUNT,
                "answered": COUNT,
                "share": _or_null(NUMBER),
                "interval": _or_null(_list(NUMBER)),
            },
        ),
        "RateDifference": _object(
            "The values that are farthest apart; intervals hold for all pairs at once.",
            {
                "label": TEXT,
                "highest": TEXT,
                "lowest": TEXT,
                "high": NUMBER,
                "low": NUMBER,
                "cases": _list(COUNT),
                "paired": _said({"type": "boolean"}, "by cells that differ in nothing else"),
                "difference": NUMBER,
                "interval": _or_null(_list(NUMBER)),
                "ratio": _or_null(NUMBER),
                "ratio_interval": _said(
                    _or_null(_list(_or_null(NUMBER))), "null at its end: any ratio"
                ),
            },
        ),
        "Chance": _object(
            "What permuted answers give: how many rules there are by chance, and how likely.",
            {
                "permutations": COUNT,
                "seed": COUNT,
                "level": _said(NUMBER, "the family-wise level at which rules are marked"),
                "total": _ref("ChanceCount"),
                "counts": _list(_ref("ChanceCount"), "by number of conditions"),
                "p_values": _list(
                    _or_null(NUMBER), "of each of `readable`, over all rules at once"
                ),
                "permuted": _said(TEXT, "answers, label or columns"),
            },
        ),
        "ChanceCount": _object(
            "How many rules there are, and how many by chance.",
            {
                "conditions": _said(_or_null(COUNT), "on the left side; null: any number"),
                "rules": COUNT,
                "mean": _said(NUMBER, "over the permutations"),
                "high": _said(COUNT, "at most, in 95 % of the permutations"),
            },
        ),
        "AttributeRates": _object("Of one attribute.", rates),
        "VariantRates": _object(
            "Of one way of asking.", {"name": TEXT, "attributes": _list(_ref("AttributeRates"))}
        ),
        "Rate": _object(
            "Of one value.",
            {
                "value": TEXT,
                "counts": {"type": "object", "additionalProperties": COUNT},
                "abstained": COUNT,
                "shares": _or_null({"type": "object", "additionalProperties": NUMBER}),
            },
        ),
        "Spread": _object(
            "The values that a label is given for most and least often.",
            {
                "label": TEXT,
                "highest": TEXT,
                "lowest": TEXT,
                "high": NUMBER,
                "low": NUMBER,
                "difference": NUMBER,
                "ratio": _said(_or_null(NUMBER), "lowest by highest"),
            },
        ),
        "Flips": _object(
            "Pairs that differ in this attribute only, and in the answer.",
            {
                "count": COUNT,
                "pairs": _said(COUNT, "of which both sides were asked"),
                "undecided": _said(COUNT, "pairs without an answer on one side or both"),
                "possible": COUNT,
                "examples": _list(positions),
            },
            {"half_answered": _said(COUNT, "of the undecided, those with an answer on one side")},
        ),
        "Survival": _object(
            "In which ways of asking a rule holds.",
            rule
            | {
                "sentence": TEXT,
                "holds_in": _list(TEXT),
                "vacuous_in": _list(TEXT),
                "broken_in": _said(
                    {"type": "object", "additionalProperties": COUNT}, "with the answer that does"
                ),
                "unknown_in": _list(TEXT),
            },
        ),
        "Orders": _object(
            "Whether the order in which a chat model is offered candidates matters.",
            {"prompts": COUNT, "differing": _or_null(COUNT), "named": _list(COUNT)},
        ),
        "Answer": _object(
            "What was said of one cell.",
            {
                "set": _list(TEXT, "what was true of it"),
                "prompts": _list(TEXT),
                "scores": _list(NUMBER),
                "winner": _said(_or_null(TEXT), "the label; without labels, yes or no"),
                "margin": _or_null(NUMBER),
            },
            {
                "variant": TEXT,
                "abstained": _said(TEXT, f"why there is no winner: {', '.join(REASONS)}, …"),
                "repeats": _list(COUNT, "how often each label won"),
                "silent": COUNT,
                **details,
                "phrasings": _list(_ref("Details")),
            },
        ),
        "Details": _object("What is known of one of several sentences.", {}, details),
        "Reply": reply,
        "Sent": sent,
        "Warning": _object(
            "What weakens the rules.",
            {"kind": {"enum": list(get_args(Kind))}, "sentence": TEXT},
            {"variant": TEXT, "names": _list(TEXT), "answers": positions},
        ),
        **inner,
        **_classifier(),
        "TableDocument": object_of(TableDocument, inner),
        "LatticeConcept": object_of(LatticeConcept, inner),
    }


def _sift(rule: Schema, positions: Schema) -> Schema:
    """Return the schemas of how a sift went."""
    return {
        "Sift": _object(
            "How a sift went: what was asked in which order, and what was drawn for which rules.",
            {
                "conditions": _said(COUNT, "the most conditions on attributes of a rule"),
                "epsilon": NUMBER,
                "delta": NUMBER,
                "seed": {"type": "integer"},
                "candidates": _said(COUNT, "how many rules there can be"),
                "live": _said(COUNT, "how many of them no answer breaks"),
                "spare": _said(NUMBER, "what is left of delta"),
                "families": _list(_ref("Family"), "rules that were fixed before cells were drawn"),
                "draws": _list(
                    _list(COUNT), "of each drawn cell: its place in `order`, its family, its base"
                ),
                "curve": _list(_list(COUNT), "questions, and the candidates alive after them"),
            },
            {
                "order": _list(
                    COUNT,
                    "all cells in the order of asking, as positions in `answers`; of a classifier, "
                    "in its list of cells",
                ),
                "classes": _said(FLAG, "whether only rules that imply a label were candidates"),
                "varies": _said(FLAG, "whether asking again may give another answer"),
                "almost": _list(_ref("TestedAlmostRule"), "rules with exceptions"),
                "more_often": _list(_ref("MoreOften"), "where rare labels are given more often"),
            },
        ),
        "Family": _object(
            "Rules that were fixed after `at` cells; `delta` is their share of delta.",
            {
                "at": COUNT,
                "delta": NUMBER,
                "purpose": _said({"enum": list(PURPOSES)}, "what is drawn for"),
                "epsilon": _said(NUMBER, "the share of its cases that may break what passes"),
                "rules": _list(_ref("Rule")),
                "bases": _list(_ref("DrawnFrom")),
            },
        ),
        "DrawnFrom": _object(
            "What cells were drawn from: those that can break a rule of the family (its place), or "
            "all that have some conditions.",
            {},
            {"rule": COUNT, "if": _list(TEXT)},
        ),
        "MoreOften": _object(
            "Of `tested` random cases with the conditions, `given` had a label that is given in at "
            "most `overall` of all cells: here it is in `at_least` such a share of them.",
            {
                "if": _list(TEXT),
                "label": TEXT,
                "tested": COUNT,
                "given": COUNT,
                "at_least": NUMBER,
                "overall": NUMBER,
            },
        ),
        "TestedAlmostRule": _object(
            "A rule with exceptions, which stands for narrower ones: of `tested` random cases, "
            "`broken` broke it, and at most `bound` of all do.",
            rule | {"tested": COUNT, "broken": COUNT, "bound": NUMBER},
            {"exceptions": positions},
        ),
    }


def _certificate(inner: Schema) -> Schema:
    """Return the schemas of a certificate and of all that it follows from, and of warrants."""
    parts = {name: object_of(shape, inner) for name, shape in PARTS.items()}
    complete, warrant = object_of(Complete, inner), object_of(Warrant, inner)
    agreement = object_of(Agreement, inner)
    agreement["properties"].pop("sentence", None)
    for part in (*parts.values(), complete, warrant, agreement):
        part["required"] = [name for name in part.get("required", ()) if name in ("kind", "reason")]
    kinds = ", ".join(TITLES)
    claim = _object(
        "What may be claimed of all rules together. `kind` is a name for what follows from the "
        "other fields.",
        {
            "kind": _said(TEXT, f"one of: {kinds}"),
            "weakest": _said({"enum": list(WARRANTS)}, "the weakest warrant of a listed rule"),
            "complete": _ref("Complete"),
            "scope": _ref("Scope"),
            "rules": _said(COUNT, "how many rules are listed"),
        },
        {
            "open": _said(COUNT, "how many more are neither proved nor broken"),
            "answered": _list(COUNT, "questions that got an answer, and all that were asked"),
            "cells": COUNT,
            "unasked": COUNT,
            **{name: _ref(shape.__name__) for name, shape in PARTS.items()},
        },
    )
    scope = _object(
        "Of what the claim speaks.",
        {"of": {"enum": list(get_args(Of))}},
        {
            "words": TEXT,
            "how": TEXT,
            "assumed": FLAG,
            "agreement": _ref("Agreement"),
            "excluded": _list(TEXT, "inputs that the target accepts and nothing is claimed of"),
            "kept": _list(COUNT, "of plausible inputs: so many of so many rows held out are"),
        },
    )
    return {
        "Certificate": claim,
        "Complete": complete,
        "Scope": scope,
        "Agreement": agreement,
        "Warrant": warrant,
        **{shape.__name__: parts[name] for name, shape in PARTS.items()},
    }


def _object(description: str, required: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": required | (optional or {}),
        "required": list(required),
    }


def _list(items: Schema, description: str = "") -> Schema:
    return _said({"type": "array", "items": items}, description)


def _slots() -> Schema:
    said = {"type": "object", "additionalProperties": _list(TEXT)}
    return _list(said, "for each template what its slots say: unset first, then the values")


def _texts(description: str) -> Schema:
    return _said({"type": "object", "additionalProperties": TEXT}, description)


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description} if description else schema


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
