"""What a result says of its file beside the rules: concepts, the basis that was shown, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from hornlens.verifying.attributes import Rule
from hornlens.verifying.files import File
from hornlens.verifying.grids import Grid, Space, Wrong, bits, breaks
from hornlens.verifying.rules import TRIES, Envelope

DRAWN = 100
"""So many concepts are drawn at most."""
MOST_STEPS = 20_000_000
"""So many pairs of a row and a concept are gone through to count concepts again."""
LISTED = 10
"""So many non-Horn negatives are listed."""
SMALL = 1 << 14
"""Of so many sets of variables each has its consequences compared with a direct basis."""
ASKED = ("model_calls", "distinct_prompts")
"""Counts that are 0 where no model was asked."""


def check_beside(
    content: Mapping[str, Any], envelope: Envelope, file: File
) -> tuple[list[str], list[str]]:
    """Check all that a result says of its file beside the rules; return what was, and was not."""
    checked: list[str] = []
    not_checked: list[str] = []
    if (model := content.get("model")) is not None:
        if model["identity"] != file.identity:
            raise Wrong("model: its identity is not that of the file")
        checked.append("identity: the file is the one that the result was made of")
    if file.left_out:
        not_checked.append(f"that columns should be left out: {', '.join(file.left_out)}")
    if "table" in content:
        checked.append(_check_section(content["table"], envelope, file, not_checked))
    if "basis" in content:
        checked.append(_check_basis(content["basis"], envelope, file, not_checked))
    for line, rule in zip(
        content.get("almost", []), envelope.space.rules(content.get("almost", [])), strict=True
    ):
        places = zip(file.lines, file.rows, strict=False)
        if "lines" in line and line["lines"] != [at for at, row in places if breaks(row, rule)]:
            raise Wrong(f"almost-rule {envelope.space.show_rule(rule)}: stands in other lines")
    check_counted(content, envelope)
    return checked, not_checked


def check_counted(content: Mapping[str, Any], envelope: Envelope) -> None:
    """Check what can be counted without the file: non-Horn negatives listed, queries, bounds."""
    _check_listed(envelope)
    _check_statistics(content, envelope)


# --- the rows and their concepts ---


def _check_section(
    section: Mapping[str, Any], envelope: Envelope, file: File, not_checked: list[str]
) -> str:
    if file.clauses is not None:
        raise Wrong("table: a formula has no rows")
    if section["rows"] != len(file.rows):
        raise Wrong(f"table: there are {len(file.rows):,} rows, not {section['rows']}")
    notes = section.get("columns", [])
    by_number = bool(notes) and not file.notes
    if by_number:
        not_checked.append("how the columns were read: a context has none")
    elif notes and (
        len(notes) != len(file.notes)
        or any(note not in wordings for note, wordings in zip(notes, file.notes, strict=True))
    ):
        raise Wrong("table: its columns were read otherwise")
    stated, at_least = section.get("concepts"), section.get("at_least", 0)
    drawn = section.get("lattice", [])
    concepts = _concepts(file.rows, len(file.names), stated if stated is not None else at_least)
    if concepts is None:
        not_checked.append("how many concepts the table has")
        if drawn or (stated is not None and stated <= DRAWN):
            raise Wrong("table: a lattice of more concepts than are drawn")
    elif stated is None:
        if len(concepts) < max(at_least, 1):
            raise Wrong(f"table: there are {len(concepts):,} concepts, not {at_least} or more")
    elif len(concepts) != stated or at_least:
        raise Wrong(f"table: there are {len(concepts):,} concepts, not {stated}")
    if concepts is not None and bool(drawn) != (stated is not None and stated <= DRAWN):
        raise Wrong("table: the lattice is drawn if it has at most 100 concepts, and only then")
    if drawn and concepts is not None:
        for place, (line, own) in enumerate(
            zip(drawn, _lattice(envelope, concepts, file, by_number), strict=True)
        ):
            if {**EMPTY, **line} != own:
                raise Wrong(f"table: concept {place} of the lattice is another")
    return f"table: {len(file.rows):,} rows" + (
        "" if concepts is None else f", {len(concepts):,} concepts or more counted again"
    )


EMPTY: Mapping[str, Any] = {"above": [], "own_variables": [], "own_rows": []}
"""What a concept of the lattice has where its line leaves it out."""


def _concepts(rows: Sequence[int], width: int, enough: int) -> set[int] | None:
    """Return the intersections of rows and the set of all variables: more than enough at most.

    None if there are too many to go through.
    """
    closed, steps = {(1 << width) - 1}, 0
    for row in dict.fromkeys(rows):
        steps += len(closed)
        if steps > MOST_STEPS:
            return None
        closed |= {other & row for other in closed}
        if len(closed) > enough + DRAWN:
            break
    return closed


def _lattice(
    envelope: Envelope, concepts: set[int], file: File, by_number: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a drawing: larger concepts before smaller ones.

    `by_number`: the table had values, whose rows have no names; a context made of it gives them.
    """
    full = (1 << len(file.names)) - 1
    counts = {x: file.support(x) for x in concepts}
    order = sorted(concepts, key=lambda x: (-counts[x], x.bit_count(), x))

    def named(x: int) -> list[str]:
        return [envelope.space.names[v] for v in bits(x)]

    tops = [_common(file.rows, 1 << v, full) for v in range(len(file.names))]
    for place, x in enumerate(order):
        larger = [j for j in range(place) if order[j] & ~x == 0]
        above = [j for j in larger if not any(k != j and order[j] & ~order[k] == 0 for k in larger)]
        yield {
            "variables": named(x),
            "rows": counts[x],
            "above": above,
            "own_variables": [file.names[v] for v, top in enumerate(tops) if top == x],
            "own_rows": [
                file.objects[i] if file.objects and not by_number else str(i + 1)
                for i, row in enumerate(file.rows)
                if row == x
            ],
        }


def _common(rows: Sequence[int], x: int, full: int) -> int:
    """Return what all rows that have `x` have; everything, if there are none."""
    for row in rows:
        if x & ~row == 0:
            full &= row
    return full


# --- the basis that was shown ---


def _check_basis(
    section: Mapping[str, Any], envelope: Envelope, file: File, not_checked: list[str]
) -> str:
    kind, space = section["kind"], envelope.space
    rules = space.rules(section["rules"])
    named = [_line(rule, space) for rule in rules]
    if len(section) != 2 or named != section["rules"]:
        raise Wrong("basis: has more than its rules, or their names in another order")
    if kind == "direct":
        _check_direct(rules, envelope, file, not_checked)
        return f"basis: direct, {len(rules):,} rules"
    if kind not in ("readable", "canonical", "unit"):
        raise Wrong(f"basis: a kind {kind!r}")
    own = envelope.rules if kind == "canonical" else envelope.readable
    if kind == "unit":
        own = [one for rule in own for one in _parts(rule)]
    full = (1 << len(space.names)) - 1
    closed = [(left, full if both is None else both) for left, both in own if left != full or both]
    if rules not in (own, closed):
        raise Wrong(f"basis: not the rules as a {kind} basis has them")
    return f"basis: the rules as a {kind} basis has them"


def _line(rule: Rule, space: Space) -> dict[str, Any]:
    """Return a rule as a line of a file has it: names in the order of the variables."""
    left, both = rule
    then = None if both is None else [space.names[v] for v in bits(both & ~left)]
    return {"if": [space.names[v] for v in bits(left)], "then": then}


def _parts(rule: Rule) -> list[Rule]:
    left, both = rule
    return [rule] if both is None else [(left, left | 1 << v) for v in bits(both & ~left)]


def _check_direct(
    rules: list[Rule], envelope: Envelope, file: File, not_checked: list[str]
) -> None:
    """Check that each left side is a minimal premise, and that one step gives all that follows."""
    width, rows = len(file.names), set(file.rows)
    full = (1 << width) - 1
    if any(both == full for _, both in rules) and not any(both is None for _, both in rules):
        # As concept analysis has it: what never occurs implies all variables.
        nothing = full
    else:
        nothing = None

    def closure(x: int) -> int | None:
        above = [row for row in rows if x & ~row == 0]
        if not above:
            return nothing
        shared = full
        for row in above:
            shared &= row
        return shared

    if len({left for left, _ in rules}) < len(rules):
        raise Wrong("basis: two rules of one left side")
    order = [_key(rule) for rule in rules]
    if any(one > other for one, other in pairwise(order)):
        raise Wrong("basis: its rules are not in order")
    for left, both in rules:
        less = [closure(left & ~(1 << v)) for v in bits(left)]
        shown = envelope.space.show_rule((left, both))
        if both is None or both == full:
            if closure(left) != (None if both is None else full) or any(x == both for x in less):
                raise Wrong(f"basis: {shown} does not hold, or holds of less")
            continue
        held = closure(left)
        if held is None or both & ~held or not both & ~left:
            raise Wrong(f"basis: {shown} does not hold")
        for v in bits(both & ~left):
            if any(x is None or x >> v & 1 for x in less):
                raise Wrong(f"basis: {shown} holds of less")
    if 1 << width <= SMALL:
        sets = iter(range(1 << width))
    else:
        rng = Random(0)
        sets = iter([rng.getrandbits(width) & rng.getrandbits(width) for _ in range(TRIES)])
        not_checked.append("that no rule of the direct basis is missing: random sets were tried")
    for x in sets:
        step: int | None = x
        for left, both in rules:
            if step is not None and left & ~x == 0:
                step = None if both is None else step | both
        if step != closure(x):
            raise Wrong(f"basis: lacks a rule about {envelope.space.show(x)}")


def _key(rule: Rule) -> tuple[Any, ...]:
    left, both = rule
    right = () if both is None else tuple(bits(both & ~left))
    return left.bit_count(), tuple(bits(left)), both is None, len(right), right


# --- counts ---


def _check_listed(envelope: Envelope) -> None:
    """Check that as many non-Horn negatives are listed as can be, the smallest first."""
    line = envelope.non_horn
    examples = [envelope.space.mask(names) for names in line["examples"]]
    keys = [(x.bit_count(), tuple(bits(x))) for x in examples]
    if keys != sorted(keys):
        raise Wrong("non_horn: the examples are not in order")
    if line["count"] is not None and len(examples) != min(LISTED, line["count"]):
        raise Wrong(f"non_horn: {len(examples)} examples of {line['count']}")


def _check_statistics(content: Mapping[str, Any], envelope: Envelope) -> None:
    """Check the counts of what was asked, and the bounds that are proved of a learner."""
    counts = content["statistics"]
    for key in ASKED if content.get("format", 0) >= 2 else ():  # older files count otherwise
        if counts[key] != 0:
            raise Wrong(f"statistics: {key} is 0, not {counts[key]}")
    for key, value in counts.items():
        if key != "bounds" and (type(value) is not int or value < 0):
            raise Wrong(f"statistics: {key} is {value!r}, which is no count")
    if "settings" not in content:
        return
    parts = ("refinement", "speculative", "equivalence_samples")
    if all(key in counts for key in parts):
        total = sum(counts[key] for key in parts)
        if counts["membership_queries"] != total:
            raise Wrong(f"statistics: membership_queries is {total}, the sum of its parts")
    bounds = counts.get("bounds") or {}
    for key, bound in _bounds(content, envelope).items():
        if key in bounds and bounds[key] != bound:
            raise Wrong(f"statistics: the bound of {key} is {bound}, not {bounds[key]}")
    for key, bound in bounds.items():
        if type(bound) is not int or (key in counts and counts[key] > bound):
            raise Wrong(f"statistics: {key} is above its bound")


def _bounds(content: Mapping[str, Any], envelope: Envelope) -> dict[str, int]:
    """Return the bounds that are proved of a learner's queries, where they follow from it."""
    width, rules = len(envelope.space.names), len(envelope.rules)
    algorithm, negatives = content["settings"]["algorithm"], envelope.non_horn["count"]
    if algorithm == "horn":
        most = (width + 1) * rules
        return {"equivalence_queries": most * (most + 1) + 1, "refinement": most * rules}
    if algorithm in ("envelope", "horn1") and negatives is not None:
        slots = rules + negatives
        return {
            "equivalence_queries": (2 * width + 1) * slots + 1,
            "refinement": (width + 1) * slots * slots,
        }
    if algorithm == "closure":
        return {
            "equivalence_queries": (2 * width + 1) * rules + 1,
            "membership_queries": (width + 1) * rules * rules,
        }
    if algorithm == "pac-basis":
        counts = content["statistics"]
        closures = counts["samples"] + counts["membership_queries"]
        return {"entailment_queries": (width + 2) * closures}
    return {}


def check_left_over(
    content: Mapping[str, Any], envelope: Envelope, grid: Grid, allowed: int, positive: int
) -> None:
    """Count what no rule of a bounded result rejects: non-Horn, or left to longer rules."""
    inside = allowed & envelope.space.occurring(grid)
    rejected = grid.breaking_any(envelope.rules)
    left_over = inside & ~positive & ~rejected
    others = left_over & grid.intersections(positive)
    envelope.check_examples(lambda x: grid.has(others, x), others.bit_count())
    counted = content["statistics"].get("rejected_by_longer_rules")
    longer = left_over.bit_count() - others.bit_count()
    if counted not in (None, longer):
        raise Wrong(f"statistics: rejected_by_longer_rules is {longer}, not {counted}")


def check_clauses(content: Mapping[str, Any], file: File) -> str:
    """Check that a formula that was learned accepts what the file accepts."""
    names, clauses = list(file.names), file.clauses
    if content["variables"] != names or clauses is None:
        raise Wrong("variables: not those of the file")
    places = {name: 1 << place for place, name in enumerate(names)}
    learned = [
        (sum(places[v] for v in line["if"]), sum(places[v] for v in line["any"]))
        for line in content["cnf"]
    ]
    if any(set(line) != {"if", "any"} for line in content["cnf"]):
        raise Wrong("cnf: a clause that has more than two sides")
    exact = content["certificate"]["complete"].get("every", False)
    from pysat.solvers import Solver

    def differs(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
        """Return whether something satisfies the one and not the other."""
        lines = [[-v - 1 for v in bits(n)] + [v + 1 for v in bits(p)] for n, p in one]
        with Solver("cadical153", bootstrap_with=lines) as solver:
            return any(
                solver.solve([v + 1 for v in bits(n)] + [-v - 1 for v in bits(p)]) for n, p in other
            )

    if exact and (differs(learned, clauses) or differs(clauses, learned)):
        raise Wrong("cnf: not equivalent to the formula of the file")
    claimed = "equivalent to" if exact else "not said to be equivalent to"
    return f"cnf: {len(learned):,} clauses, {claimed} the formula of the file"
