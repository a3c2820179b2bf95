"""What whoever reads a result should know first: what its rules rest on that is weak or odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, isinf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hornlens.logic.decisions import reason_in_words
from hornlens.logic.lookalikes import look_alike_sentence, look_alikes
from hornlens.logic.maskmap import key_of, mask_map
from hornlens.results.analysis.choices import choices_of
from hornlens.results.analysis.copies import copies_of
from hornlens.results.analysis.orders import orders_of
from hornlens.results.analysis.rates import ValueRate
from hornlens.results.analysis.sources import notes_of, repeated_keys
from hornlens.results.documents.answers import Position
from hornlens.results.documents.details import NOTHING, Details
from hornlens.results.wording.odds import odds_of_lead

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

Kind: TypeAlias = Literal[
    "no_answers",
    "same_values",
    "look_alikes",
    "unknown_words",
    "label_never",
    "label_always",
    "small_margins",
    "small_share",
    "order",
    "not_counted",
    "models",
    "fingerprints",
    "changed",
    "copies",
    "key",
]
ROUNDING = 1e-5
"""Scores that differ by no more are the same: a model's arithmetic depends on its batches."""
CLOSE = 0.05
"""A lead below this hangs on little: the winner is 5% more probable than the next, or less."""
SMALL = 0.1
"""Candidates that hold less of the model's probability are not what it would say."""
_SEVERAL = ("them", "these words", "each of them")
COUNTED = ("almost-rules", "levels")
"""What is counted over all answers."""
BY_VALUE = 3
"""Of how many attributes a warning says with which values there was no answer."""
NAMED = 8
"""How many names a sentence has at most."""


Outcome: TypeAlias = tuple[Sequence[float], str]
"""What came of a question: its scores, or why there are none."""
Rows: TypeAlias = MutableMapping[int, dict[int | bytes, tuple[int, Outcome]]]
"""Cells and outcomes by the choice of an attribute, and the key of what else is set."""


@dataclass(frozen=True)
class Warning:
    """Something that is true of a result's answers, and weakens what its rules say.

    `names` are the values, labels or words that it is about, `cells` the answers; `variant` is the
    way of asking in which it was seen, where there were several.
    """

    kind: Kind
    sentence: str
    names: tuple[str, ...] = ()
    cells: tuple[int, ...] = ()
    variant: str = ""

    def as_json(self, position: Position, world: int) -> dict[str, Any]:
        """Return it as it stands in envelope.json, given where the answers of its world stand."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            **({"variant": self.variant} if self.variant else {}),
            **({"names": list(self.names)} if self.names else {}),
            **({"answers": [position(cell, world) for cell in self.cells]} if self.cells else {}),
        }


def warnings_of(extraction: Findings) -> tuple[Warning, ...]:
    """Return what to know of a result before its rules are read; of several ways of asking, each.

    Every sentence says only what the recorded answers show.
    """
    if not extraction.worlds:
        own = (*_look_alikes(extraction), *_sources(extraction), *_of_one(extraction))
        return (*own, *_small_margins(extraction), *_not_counted(extraction))
    each_own = (
        replace(each, sentence=f"In “{world.world}”: {each.sentence}", variant=world.world)
        for world in extraction.worlds
        for each in _of_one(world)
    )
    return (
        *_look_alikes(extraction),
        *_sources(extraction),
        *each_own,
        *_small_margins(extraction),
        *_not_counted(extraction),
    )


def _look_alikes(extraction: Findings) -> Iterator[Warning]:
    """Names that look alike: rules that speak of one are read as rules of the other."""
    for pair in look_alikes(extraction.space.vocabulary.names)[:NAMED]:
        yield Warning("look_alikes", f"{look_alike_sentence(*pair)}.", pair)


def _sources(extraction: Findings) -> Iterator[Warning]:
    """Replies of several models, or of several states of one; answers that changed; copies."""
    worlds = [(world.name, _told(world)) for world in extraction.each]
    for kind, sentence, names in repeated_keys(worlds):
        yield Warning(kind, sentence, names)
    if extraction.question.compared is not None:
        return  # several models are meant to answer
    certificate = extraction.envelope.certificate
    for kind, sentence, names in notes_of(worlds, certificate.sources):
        yield Warning(kind, sentence, names)
    if certificate.noise is not None and certificate.noise.copied is not None:
        yield Warning("copies", copies_of(details for _, details in worlds).sentence)


def _not_counted(extraction: Findings) -> Iterator[Warning]:
    """What was asked for, and takes every answer to count."""
    certificate, settings = extraction.envelope.certificate, extraction.settings
    wanted = [settings.min_confidence is not None, settings.detail is not None]
    names = [name for name, is_wanted in zip(COUNTED, wanted, strict=True) if is_wanted]
    if not names or certificate.settled:
        return
    why = "answers vary" if certificate.noise is not None else "no question was answered"
    if not extraction.has_rates:
        asked, cells = len(extraction.decisions), extraction.space.cell_count
        why = f"{asked:,} of {cells:,} cells were asked"
    elif certificate.unasked:
        why = f"{certificate.unasked:,} of {certificate.cells:,} cells were not asked"
    elif certificate.ended is not None:
        why = f"the run was ended {certificate.ended.words}"
    yield Warning(
        "not_counted",
        f"There are no {' and no '.join(names)}: they take every answer, and {why}.",
    )


def _of_one(extraction: Findings) -> Iterator[Warning]:
    yield from _no_answers(extraction)
    yield from _unknown_words(extraction)
    if extraction.has_rates:  # a sift asks hardly any two cells that differ in one thing only
        yield from _same_values(extraction)
    yield from _labels(extraction)
    yield from _small_share(extraction)
    yield from _order(extraction)


def _unknown_words(extraction: Findings) -> Iterator[Warning]:
    """Words that the model says it does not know: one is to it as good as another."""
    prompts = _prompts(extraction)
    found = {prompt: d.unknown for prompt in prompts if (d := _details(extraction, prompt)).unknown}
    if not found:
        return
    words = tuple(dict.fromkeys(word for unknown in found.values() for word in unknown))
    it, this, each = ("it", "this word", "it") if len(words) == 1 else _SEVERAL
    yield Warning(
        "unknown_words",
        f"{extraction.question.subject} does not know {_listed(words)}, and reads {each} as an "
        f"unknown word ({len(found):,} of {len(prompts):,} prompts): rules that name {it} say "
        f"nothing about {this}.",
        words,
        _cells(prompts, found),
    )


def _no_answers(extraction: Findings) -> Iterator[Warning]:
    """How often there was no answer, why, and with which values most often and least often."""
    silent = {c: d for c, d in extraction.decisions.items() if d.winner is None}
    if not silent:
        return
    question, asked = extraction.question, len(extraction.decisions)
    counts = Counter(decision.abstained for decision in silent.values())
    reasons = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    why = "; ".join(f"{count:,}: {reason_in_words(reason)}" for reason, count in reasons)
    text = f"No answer in {len(silent):,} of {_units(asked, question.unit)} ({why})."
    if extraction.has_rates:  # a sift chooses its cells: what is missing there is no share
        text += "".join(_silence_by_value(extraction))
    yield Warning("no_answers", text, cells=tuple(sorted(silent)))


def _silence_by_value(extraction: Findings) -> Iterator[str]:
    """Yield a sentence for the attributes whose values differ most in it."""
    rates = [each for each in extraction.rates.attributes if each.silence is not None]
    rates = [each for each in rates if each.silence is not None and each.silence.difference]
    rates.sort(key=lambda each: -each.silence.difference if each.silence else 0.0)
    unit = extraction.question.unit
    for each in rates[:BY_VALUE]:
        by_share: dict[float, list[ValueRate]] = {}
        for rate in each.values:
            by_share.setdefault(rate.abstained / rate.asked, []).append(rate)
        most, least = by_share[max(by_share)], by_share[min(by_share)]
        parts = []
        for alike in (most, least):
            first = alike[0]
            same = [rate for rate in alike if rate.asked == first.asked]
            named = _listed([rate.value for rate in same])
            count = _units(first.asked, unit) if alike is most else f"{first.asked:,}"
            parts.append(f"{first.abstained:,} of {count} with {named}")
        yield f" By {each.attribute}: no answer in {', '.join(parts)}."
    if len(rates) > BY_VALUE:
        yield f" The rates of {len(rates) - BY_VALUE:,} more attributes differ too."


def _units(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def _same_values(extraction: Findings) -> Iterator[Warning]:
    """Values with the same scores in every two answers that differ in nothing else.

    Where one of two has no answer, they differ; where both have none, for the same reason, they do
    not. Shares of repeated answers are no such scores: equal counts are no equal chances.
    """
    space, decisions = extraction.space, extraction.decisions
    if not extraction.scored:  # a few equal replies are no equal chances either
        return
    known = [(c, (d.scores, "" if d.scores else d.abstained)) for c, d in decisions.items()]
    for attribute, at, group in zip(space.attributes, space.offsets, space.groups, strict=False):
        rows: Rows = mask_map(space.width)
        for cell, outcome in known:
            rows.setdefault(cell & group, {})[key_of(cell & ~group)] = cell, outcome
        for alike in _alike(rows):
            names = [attribute.describe(choice >> at) if choice else "unset" for choice in alike]
            contexts = Counter(context for choice in alike for context in rows[choice])
            cells = (cell for x in alike for c, (cell, _) in rows[x].items() if contexts[c] > 1)
            what = (
                f"“{attribute.name}” makes no difference: {_listed(names)}"
                if len(alike) == attribute.count
                else f"{_listed(names)} ({attribute.name}) are not told apart: they"
            )
            met = [context for context, times in contexts.items() if times > 1]
            scored = {c for x in alike for c, (_, outcome) in rows[x].items() if outcome[0]}
            silent = len(set(met) - scored)
            if silent == len(met):
                continue  # that nothing is answered is said above
            cases = "1 case" if len(met) == 1 else f"{len(met):,} cases"
            none = f", in {silent:,} of which neither has an answer" if silent else ""
            yield Warning(
                "same_values",
                f"{what} get the same scores, up to rounding, wherever nothing else differs "
                f"({cases}{none}).",
                tuple(names),
                tuple(sorted(cells)),
            )


def _alike(rows: Rows) -> list[list[int]]:
    """Return groups of choices, of which any two have the same scores where both have some."""

    def same(left: int, right: int) -> bool:
        shared = rows[left].keys() & rows[right].keys()
        return bool(shared) and all(_equal(rows[left][c][1], rows[right][c][1]) for c in shared)

    groups: list[list[int]] = []
    near: dict[float, list[list[int]]] = {}
    contexts = [answers.keys() for answers in rows.values()]
    # Where all occur in the same contexts, being like one is being like all; and who is like
    # whom has to be near it in the first score, so that not each two need be compared.
    alone = all(keys == contexts[0] for keys in contexts)
    first = min(contexts[0], key=lambda key: (isinstance(key, bytes), key)) if alone and rows else 0
    for choice in sorted(rows):
        scores = rows[choice][first][1][0] if alone else ()
        place = _rounded(scores[0]) if scores else inf if alone else 0.0
        candidates = near.get(place, []) if alone else groups
        for group in candidates:
            if all(same(other, choice) for other in (group[:1] if alone else group)):
                group.append(choice)
                break
        else:
            groups.append([choice])
            for beside in {place - 1, place, place + 1} if alone else ():
                near.setdefault(beside, []).append(groups[-1])
    return [group for group in groups if len(group) > 1]


def _rounded(score: float) -> float:
    """Return a number that differs by at most 1 between scores that are equal up to rounding."""
    place = score / (2 * ROUNDING)
    return place if isinf(place) else float(floor(place))


def _equal(left: Outcome, right: Outcome) -> bool:
    if len(left[0]) != len(right[0]) or left[1:] != right[1:]:
        return False
    pairs = zip(left[0], right[0], strict=True)
    return all(a == b or abs(a - b) <= ROUNDING for a, b in pairs)


def _labels(extraction: Findings) -> Iterator[Warning]:
    """Labels that were never chosen, or one that always was."""
    space, question = extraction.space, extraction.question
    if space.label is None:
        return
    names = space.label.variables
    answers = sum(d.answered for d in extraction.decisions.values())
    silent = len(extraction.decisions) - answers
    if not answers:  # that is said, and why: no label is never chosen where nothing is
        return
    cases = f"{answers:,} cases" + (f" with an answer ({silent:,} have none)" if silent else "")
    choices = choices_of(space, extraction.decisions.values())

    def word(place: int) -> str:
        return f"“{question.words.get(names[place], names[place])}”"

    vacuous = 0 if extraction.envelope.certificate.unanswered else extraction.vacuity.count("label")
    held = f" {vacuous:,} {'rule holds' if vacuous == 1 else 'rules hold'} only because of that."
    if choices.always is not None:
        yield Warning(
            "label_always",
            f"{word(choices.always)} is the answer in all {answers:,} cases."
            + (held if vacuous else ""),
            (names[choices.always],),
        )
    elif choices.never:
        never = sorted(choices.never)
        listed = (
            " and ".join(word(place) for place in never)
            if len(never) < 4
            else (f"{len(never):,} of {len(names):,} labels")
        )
        yield Warning(
            "label_never",
            f"{listed} {'is' if len(never) == 1 else 'are'} never the answer, "
            f"in {cases}." + (held if vacuous else ""),
            tuple(names[place] for place in never),
        )


def _small_margins(extraction: Findings) -> Iterator[Warning]:
    """Answers in which the winner leads by very little; of several ways of asking, together."""
    said = [
        (cell, decision)
        for world in extraction.each
        for cell, decision in sorted(world.decisions.items())
        if decision.winner is not None
    ]
    close = tuple(cell for cell, d in said if d.scores and d.margin < CLOSE)
    if not close:
        return
    resting = sum(any(m < CLOSE for m in evidence.margins) for evidence in extraction.evidence)
    rules = len(extraction.evidence)
    one = len(close) == 1
    if extraction.in_odds:
        closer = f"{'is' if one else 'are'} closer than {odds_of_lead(CLOSE)}"
    else:
        closer = f"{'leads' if one else 'lead'} by less than {CLOSE:g}"
    yield Warning(
        "small_margins",
        f"{len(close):,} of {len(said):,} answers {closer}: little would turn "
        f"{'it' if one else 'them'}."
        + (f" {resting:,} of {rules:,} rules rest on such an answer." if resting else ""),
        cells=() if extraction.worlds else close,
    )


def _small_share(extraction: Findings) -> Iterator[Warning]:
    """Prompts for which the model would say something else than the candidates."""
    prompts = _prompts(extraction)
    known = {p: s for p in prompts if (s := _details(extraction, p).share) is not None}
    low = {prompt: share for prompt, share in known.items() if share < SMALL}
    if not low:
        return
    first = Counter(w for prompt in low for w, _ in _details(extraction, prompt).first_words[:1])
    mean = sum(low.values()) / len(low)
    average = "less than 0.1%" if mean < 0.001 else f"{mean:.1%}"
    rather = ""
    if first:
        word, times = max(first.items(), key=lambda pair: pair[1])
        rather = f" Its own first word is “{word}” in {times:,} of them."
    yield Warning(
        "small_share",
        f"In {len(low):,} of {len(known):,} prompts the candidates hold less than {SMALL:.0%} of "
        f"the model’s probability ({average} on average there): it would rather say "
        f"something else.{rather}",
        cells=_cells(prompts, low),
    )


def _order(extraction: Findings) -> Iterator[Warning]:
    """Candidates that are named for the place in which they are offered."""
    found = orders_of(extraction.details)
    if found is not None and found.is_biased:
        yield Warning("order", found.sentence)


def _prompts(extraction: Findings) -> dict[str, list[int]]:
    """Return the prompts, and the cells each was asked for; none if nothing is known of any."""
    found: dict[str, list[int]] = {}
    for cell in sorted(extraction.decisions) if extraction.details else ():
        for prompt in extraction.show(cell):
            found.setdefault(prompt, []).append(cell)
    return found


def _told(extraction: Findings) -> Mapping[str, Details]:
    """Return what is known of the prompts of a result's answers."""
    return {p: d for p in _prompts(extraction) if (d := extraction.details.get(p)) is not None}


def _details(extraction: Findings, prompt: str) -> Details:
    return extraction.details.get(prompt, NOTHING)


def _cells(prompts: Mapping[str, list[int]], some: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted({cell for prompt in some for cell in prompts[prompt]}))


def _listed(names: Sequence[str]) -> str:
    """Return names in quotes, joined as people do; of many, the first and how many more."""
    quoted = [f"“{name}”" for name in names[:NAMED]]
    if len(names) > NAMED:
        quoted.append(f"{len(names) - NAMED:,} more")
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
