"""An envelope as JSON, and back: the part that every envelope.json has, whatever it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.errors import HornlensError, InputError
from hornlens.formats.certificates import certificate_from_json
from hornlens.formats.jsonfiles import read_json
from hornlens.formats.rulelists import theory_as_json, theory_from_json, written_out
from hornlens.formats.spaces import space_as_json, space_from_json
from hornlens.logic.envelope import Envelope, LearnedRules, NonHorn
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.vocabulary import Vocabulary
from hornlens.logic.warrants import OPEN, Warrant, WarrantKind
from hornlens.results.documents.codec import RESULT_FORMAT, check_format
from hornlens.results.documents.sifting import sift_as_json, sift_from_json
from hornlens.results.documents.summaries import (
    almost_as_json,
    almost_from_json,
    levels_as_json,
    levels_from_json,
)


def envelope_as_json(envelope: Envelope) -> dict[str, Any]:
    """Return an envelope as it stands in envelope.json."""
    names = envelope.vocabulary
    non_horn: dict[str, Any] = {
        "count": envelope.non_horn.count,
        "examples": [list(names.names_of(x)) for x in envelope.non_horn.examples],
    }
    if envelope.non_horn.count is None:
        non_horn["at_least"] = envelope.non_horn.at_least
    support: Sequence[int | None] = envelope.support or [None] * len(envelope.readable)
    open_rules = [NamedRule.of(rule, names).as_json() for rule in envelope.open]
    sifted = envelope.sifted
    if sifted is not None:
        open_rules = [
            {**line, "warrant": OPEN.as_json(), **({} if need is None else {"needs": need})}
            for line, need in zip(open_rules, envelope.needs, strict=True)
        ]
    return {
        "hornlens": __version__,
        "format": RESULT_FORMAT,
        "variables": list(names.names),
        "background": theory_as_json(envelope.background, names),
        "rules": [
            {**full.as_json(), "warrant": warrant.as_json()}
            for (_, full), warrant in zip(envelope.named, envelope.warrants, strict=True)
        ],
        "readable": [
            {**short.as_json(), "support": count, "warrant": warrant.as_json()}
            for (short, _), count, warrant in zip(
                envelope.named, support, envelope.warrants, strict=True
            )
        ],
        **({"open": open_rules} if open_rules or sifted is not None else {}),
        **(
            {}
            if envelope.hypothesis is None
            else {
                "hypothesis": {
                    "rules": [NamedRule.of(r, names).as_json() for r in envelope.hypothesis.basis],
                    "certificate": envelope.hypothesis.certificate.as_json(),
                }
            }
        ),
        "non_horn": non_horn,
        "certificate": envelope.certificate.as_json(),
        "claim": envelope.certificate.sentence,
        "statistics": dict(envelope.statistics),
        **({} if sifted is None else {"sift": sift_as_json(sifted, names)}),
        **({} if envelope.almost is None else almost_as_json(envelope.almost, names)),
        **({} if envelope.levels is None else {"levels": levels_as_json(envelope.levels, names)}),
        **({} if envelope.space.is_plain else {"space": space_as_json(envelope.space)}),
    }


def read_envelope(path: Path) -> tuple[Any, Path]:
    """Return the contents of a result's envelope.json, and the file that they are from.

    `path` is the folder or the file. The result of a table may have its envelope in its table.json
    only: versions up to 0.2 wrote no other file. Of a classifier, it is its explanation.json.
    """
    file = path
    if path.is_dir():
        there = (path / name for name in ("envelope.json", "table.json", "explanation.json"))
        file = next((each for each in there if each.is_file()), path / "envelope.json")
    content = read_json(file)
    if isinstance(content, dict) and "rules" not in content and "envelope" in content:
        check_format(content, file)
        content = content["envelope"]
    return content, file


@contextmanager
def reading_envelope(content: Any, path: Path) -> Iterator[None]:
    """Turn whatever is wrong with the contents of an envelope.json into an InputError about it."""
    try:
        if isinstance(content, dict):
            check_format(content, path, RESULT_FORMAT)
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        raise InputError("is no envelope.json of hornlens, or of another version", path) from None
    except InputError as error:
        raise InputError(error.message, path) from None
    except HornlensError as error:
        raise InputError(str(error), path) from None


def envelope_from_json(content: Mapping[str, Any], path: Path) -> Envelope:
    """Return the envelope of an envelope.json; what is wrong is an InputError about `path`."""
    with reading_envelope(content, path):
        return _envelope(content, path)


def _envelope(content: Mapping[str, Any], path: Path) -> Envelope:
    space = space_from_json(content)
    names = space.vocabulary
    if list(names.names) != content["variables"]:
        raise InputError("its variables are not those of its attributes", path)
    lines = content["readable"] if content["rules"] is None else content["rules"]
    basis, readable, listed = (
        theory_from_json(each, names, path)
        for each in (lines, content["readable"], content["background"])
    )
    basis = replace(basis, rules=tuple(map(_in_full, basis)))
    space = replace(space, assumed=written_out(listed.without(space.background), path))
    found, statistics = content["non_horn"], content["statistics"]
    counts = (found["count"], statistics.get("negatives"), statistics.get("distinct_prompts"))
    if len(basis) != len(readable) or not all(isinstance(n, int | None) for n in counts):
        raise ValueError("rules and counts that do not fit together")
    examples = tuple(names.mask(example) for example in found["examples"])
    certificate = certificate_from_json(content["certificate"])
    warrants, hypothesis = _warrants(content["readable"]), _hypothesis(content, names, path)
    open_rules = theory_from_json(_open_rules(content), names, path).rules
    if warrants is None and certificate.weakest == "open":
        # Format 1 listed what a learner took for true. What samples bear out is tested, the rest
        # is open.
        hypothesis = LearnedRules(basis, certificate)
        joint = certificate.joint
        chances = (space.chance(rule.antecedent) for rule in basis)
        each = [OPEN if joint is None else joint.warrant(chance) for chance in chances]
        open_rules += tuple(r for r, w in zip(readable, each, strict=True) if not w.known)
        keep = [place for place, warrant in enumerate(each) if warrant.known]
        basis, readable = (
            replace(theory, rules=tuple(theory.rules[place] for place in keep))
            for theory in (basis, readable)
        )
        warrants = tuple(each[place] for place in keep)
        weakest: WarrantKind = "tested" if keep else "proved"
        certificate = replace(certificate, weakest=weakest, open=len(open_rules))
    support = [line.get("support") for line in content["readable"]]
    if len(support) != len(basis):
        support = [None]
    return Envelope(
        space,
        basis,
        readable,
        certificate,
        NonHorn(found["count"], examples, found.get("at_least", found["count"] or 0)),
        None if None in support else support,
        statistics,
        open_rules,
        almost_from_json(content, names),
        levels_from_json(content, names),
        warrants,
        hypothesis,
        _sifted(content, names),
    )


def _sifted(content: Mapping[str, Any], names: Vocabulary) -> SiftRecord | None:
    """Return the record of a sift, if the rules were sifted; the cells are with the answers."""
    if "sift" not in content:
        return None
    needs = tuple(line["needs"] for line in content.get("open", ()) if "needs" in line)
    return sift_from_json(content["sift"], names, needs)


def _open_rules(content: Mapping[str, Any]) -> list[Any]:
    """Return the rules that are open; files of format 1 call them hypotheses."""
    rules: list[Any] = content.get("open", content.get("hypotheses", []))
    return rules


def _hypothesis(content: Mapping[str, Any], names: Vocabulary, path: Path) -> LearnedRules | None:
    if "hypothesis" not in content:
        return None
    line = content["hypothesis"]
    rules = theory_from_json(line["rules"], names, path)
    basis = replace(rules, rules=tuple(map(_in_full, rules)))
    return LearnedRules(basis, certificate_from_json(line["certificate"]))


def _in_full(rule: Rule) -> Rule:
    """Return a rule of a basis: a line says only what it adds to its left side."""
    return rule if rule.is_negative else Rule(rule.antecedent, rule.antecedent | rule.consequent)


def _warrants(lines: Sequence[Mapping[str, Any]]) -> tuple[Warrant, ...] | None:
    """Return the warrants beside rules; files of format 1 have none."""
    if not lines or any("warrant" not in line for line in lines):
        return None
    return tuple(Warrant.from_json(line["warrant"]) for line in lines)
