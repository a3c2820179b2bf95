"""The page of an extraction: what envelope.json says, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from hornlens.errors import InputError
from hornlens.formats.backgrounds import theory_from_json, vocabulary_of
from hornlens.logic.certificates import certificate_from_json
from hornlens.logic.rule import Rule
from hornlens.logic.theory import background_of
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.page.assemble import assemble
from hornlens.report.terminal import plural

SCRIPTS = (
    *("dom.js", "csv.js", "logic.js", "prompts.js", "table.js", "rules.js", "map.js", "ask.js"),
    *("limits.js", "files.js", "extraction.js"),
)
FINDINGS = 8
"""How many rules stand at the top as sentences."""
MOST_ANSWERS = 50_000
"""A page with more answers than this is too large to open well: it has the rules only."""
MEANING = {
    "exact": "Every prompt of the probe was asked. The rules are a fact about this model, this "
    "probe and this policy, and every Horn rule that the model obeys follows from them.",
    "budget_exhausted": "Rules are too strong where no counterexample had come yet. "
    "Nothing is claimed.",
}
"""What a kind of certificate means for a probe, beyond its own sentence."""
STRIP = 160
"""The width of the strip that shows a finding's margins."""

REASONS = {
    "tie": "the candidates tied",
    "margin": "the lead was too small",
    "top_k": "no candidate was among the model’s first choices",
}


@dataclass(frozen=True)
class Row:
    """A rule on the page: its rank by strength, its place in envelope.json, and what is said.

    `broken` is how many recorded answers break it.
    """

    number: int
    index: int
    line: Mapping[str, Any]
    sentence: Markup
    broken: int


@dataclass(frozen=True)
class Finding:
    """A rule at the top of the page; `strip` is an SVG path with a tick for each margin."""

    row: Row
    strip: str


def extraction_page(content: dict[str, Any], run: Mapping[str, Any]) -> str:
    """Return the page of an envelope.json that has a model's answers."""
    if "probe" not in content:
        raise InputError("has no answers of a model: pages are made of what extract writes")
    vocabulary = vocabulary_of(content)
    rules = theory_from_json(content["readable"], vocabulary, Path("envelope.json")).rules
    theory_from_json(content["rules"], vocabulary, Path("envelope.json"))
    rows = _strongest_first(content, rules, _broken(content, rules, vocabulary))
    top = [
        _margins(rules[row.index], row.line["evidence"], content, vocabulary)
        for row in rows[:FINDINGS]
    ]
    widest = max((m for margins in top for m in margins if isfinite(m)), default=0.0)
    claim = certificate_from_json(content["certificate"])
    asked, abstained = len(content["answers"]), len(content["abstentions"])
    data = content if asked <= MOST_ANSWERS else _without_answers(content)
    return assemble(
        "extraction.html",
        SCRIPTS,
        data,
        title=f"{content['model']['name']} on {content['probe']['name']}",
        content=content,
        run=run,
        took=duration(run.get("seconds")),
        started=moment(run),
        certificate=(claim.title, f"{claim.sentence} {MEANING.get(claim.kind, '')}".rstrip()),
        cells=prod(len(values) + 1 for values in content["probe"]["attributes"].values()),
        counts={
            "rules": plural(len(rows), "rule"),
            "answers": plural(asked, "answer"),
            "abstentions": plural(abstained, "abstention"),
        },
        non_horn=_non_horn(content["non_horn"], content["statistics"]),
        abstained=_abstained(content),
        others=_other_background(content, vocabulary),
        stability=any("stability" in row.line for row in rows),
        rows=rows,
        findings=[
            Finding(row, _strip(margins, widest))
            for row, margins in zip(rows[:FINDINGS], top, strict=True)
        ],
        widest=widest,
        has_answers=data is content and asked > 0,
    )


def _broken(content: Mapping[str, Any], rules: Sequence[Rule], vocabulary: Vocabulary) -> list[int]:
    """Return how many recorded answers break each rule; none break one that is exact."""
    if content["certificate"]["kind"] == "exact":
        return [0] * len(rules)
    said = {
        position: vocabulary.mask([*answer["set"], answer["winner"]])
        for position, answer in enumerate(content["answers"])
        if answer["winner"] is not None
    }
    return [
        sum(i in said and not rule.satisfied_by(said[i]) for i in line["evidence"])
        for rule, line in zip(rules, content["readable"], strict=True)
    ]


def _strongest_first(
    content: Mapping[str, Any], rules: Sequence[Rule], broken: Sequence[int]
) -> list[Row]:
    """Return the rules by support, then by mean margin: the order of rules.csv."""
    lines = content["readable"]
    order = sorted(
        range(len(lines)),
        key=lambda i: (-lines[i]["support"], -(lines[i]["mean_margin"] or 0.0), rules[i].key),
    )
    words = content["probe"]["label"]
    return [
        Row(number, i, line, _marked(line["sentence"], _phrases(line, words)), broken[i])
        for number, (i, line) in enumerate(((i, lines[i]) for i in order), start=1)
    ]


def _phrases(line: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a rule's sentence speaks of, in the order in which it does, with an element."""
    sides = [line["if"], line["then"] or []]
    label = [words[name] for side in sides for name in side if name in words][:1]
    yield from (("em", f"“{word}”") for word in label)
    yield from (("b", " and ".join(n for n in side if n not in words)) for side in sides)


def _marked(sentence: str, phrases: Iterator[tuple[str, str]]) -> Markup:
    """Return the sentence with its phrases marked up; the quotes give way to the markup."""
    done, rest = Markup(), sentence
    for element, phrase in phrases:
        before, found, after = rest.partition(phrase) if phrase else (rest, "", "")
        if found:
            said = found.strip("“”") if element == "em" else found
            done += escape(before) + Markup(f"<{element}><bdi>{{}}</bdi></{element}>").format(said)
            rest = after
    return done + escape(rest)


def _margins(
    rule: Rule, positions: Sequence[int], content: Mapping[str, Any], vocabulary: Vocabulary
) -> list[float]:
    """Return by how much a rule holds in each prompt that speaks for it."""
    names = list(content["probe"]["label"])
    labels = [vocabulary.mask([name]) for name in names]
    margins = []
    for position in positions:
        answer = content["answers"][position]
        cell = vocabulary.mask(answer["set"])
        rejected = [i for i, label in enumerate(labels) if not rule.satisfied_by(cell | label)]
        winner = -1 if answer["winner"] is None else names.index(answer["winner"])
        if rejected and winner >= 0 and winner not in rejected:
            best = max(answer["scores"][i] for i in rejected)
            margins.append(answer["scores"][winner] - best)
    return margins


def _strip(margins: Sequence[float], widest: float) -> str:
    """Return a path with a tick at each margin, on a scale that all findings share."""
    places = {round(min(m, widest) / (widest or 1.0) * (STRIP - 2)) + 1 for m in margins}
    return "".join(f"M{x} 0v12" for x in sorted(places))


def _without_answers(content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **content,
        "answers": [],
        "abstentions": [],
        "readable": [{**line, "evidence": [], "closest": None} for line in content["readable"]],
    }


def _non_horn(found: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    """Return how many non-Horn negatives there are, in a sentence."""
    if found["count"] == 0:
        return "Nothing: the model’s answers are Horn, so the rules say all there is to say."
    if found["count"] is None:
        seen = plural(found["at_least"], "interpretation")
        return (
            f"{seen} that were met. There may be more: not every prompt was asked."
            if found["at_least"]
            else "None were met. There may be some: not every prompt was asked."
        )
    share = ""
    if negatives := statistics.get("negatives"):
        share = f", {found['count'] / negatives:.1%} of the {negatives:,} that the model rejects"
    return f"{plural(found['count'], 'interpretation')}{share}."


def _abstained(content: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return why the model gave no answer, and how often."""
    reasons = [content["answers"][i].get("abstained", "") for i in content["abstentions"]]
    return [(words, reasons.count(key)) for key, words in REASONS.items() if key in reasons]


def _other_background(content: Mapping[str, Any], vocabulary: Vocabulary) -> list[Any]:
    """Return what is taken for granted beyond "at most one value of each attribute"."""
    granted = set(background_of(vocabulary))
    theory = theory_from_json(content["background"], vocabulary, Path("envelope.json"))
    return [
        line
        for line, rule in zip(content["background"], theory, strict=True)
        if rule not in granted
    ]


def moment(run: Mapping[str, Any]) -> str:
    """Return when a run began, as people write it; nothing if it is not known."""
    return str(run.get("started", "")).replace("T", " ").replace("+00:00", " UTC")


def duration(seconds: float | None) -> str:
    """Return a time as people say it; nothing if it is not known."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return "less than 0.1 s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
