"""Cases of random functions, tables, formulas and learners, all from seeds."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.targets import KINDS, random_formula, random_space, random_theory
from tools.golden.case import COUNT, Case
from tools.golden.doors import (
    BlackBox,
    Cnf,
    FormulaTarget,
    Nominal,
    Parts,
    Rule,
    Space,
    Table,
    TableTarget,
    Theory,
    Vocabulary,
    Worlds,
    clause_of,
    envelope_of,
    extracted,
    function_target,
    learned,
    read_table,
)

ACCEPT = ("accept", "reject")
TEMPERS = (*(kind for kind in KINDS if kind not in ("unsatisfiable", "tautology")), *KINDS)
"""Kinds of formulas, in turn: those that have no rules less often."""
FUNCTION: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"max_conditions": 0},
    {"max_conditions": 1},
    {"max_conditions": 2},
    {"min_support": 2},
    {"max_conditions": 2, "min_support": 3},
    {"min_confidence": 0.7},
    {"min_confidence": 0.9, "max_conditions": 1},
    {"detail": "3"},
)
"""What is asked of function targets: in turn."""
ROWS = FUNCTION[:7]
PAC: dict[str, Any] = {"equivalence": "pac", "epsilon": 0.3, "delta": 0.3}
CLAUSES: tuple[dict[str, Any], ...] = ({}, {}, {"max_conditions": 1}, {"max_conditions": 2}, {})


def space_of(rng: Random, largest: int = 2_000) -> Space:
    """Return a random space, at times with rules that are taken for granted."""
    least = rng.choice([1, 6, 12, 24])
    while True:
        space = random_space(rng)
        if not least <= space.cell_count or space.count > largest:
            continue
        if space.label is None and rng.random() < 0.6:
            labels = ("yes", "no", "maybe")[: rng.choice([2, 2, 3])]
            space = replace(space, label=Nominal("label", labels))
        if space.width and rng.random() < 0.3:
            theory = random_theory(rng, space.width, rng.randint(1, 2))
            less = replace(space, assumed=tuple(_about_cells(theory, space)))
            space = less if 4 * sum(1 for _ in less) >= space.count else space
        return space


def _about_cells(theory: Theory, space: Space) -> Iterator[Rule]:
    """Yield rules without the label, of which a background says nothing."""
    for rule in theory:
        if not rule.antecedent & space.label_mask:
            right = rule.consequent if rule.is_negative else rule.consequent & ~space.label_mask
            yield Rule(rule.antecedent, right)


def call_of(seed: str, space: Space, noise: float, silent: float) -> Callable[[Any], Any]:
    """Return a function that answers each cell: labels, scores, yes or no, or nothing.

    A few sets of values decide what is said of the cells that have them, so that there are rules;
    some cells answer by themselves.
    """
    rng = Random(seed)
    labels = (False, True, True) if space.label is None else space.label.variables
    names = space.vocabulary.names[: space.width - space.label_mask.bit_count()]
    decisive = [
        (frozenset(rng.sample(names, min(len(names), rng.randint(1, 3)))), rng.choice(labels))
        for _ in range(rng.randint(1, 5))
    ]
    usual = rng.choice(labels)

    def call(names: tuple[str, ...]) -> Any:
        own = Random(f"{seed} {names}")
        if own.random() < silent:
            return None
        said = next((label for some, label in decisive if some <= set(names)), usual)
        if own.random() < noise:
            said = own.choice(labels)
        if space.label is None or own.random() < 0.7:
            return said
        return {name: -float(own.randrange(1, 4)) * (name != said) for name in labels}

    return call


def random_target(rng: Random, name: str) -> Any:
    """Return a function target, or two or three of them as worlds."""
    space = space_of(rng)
    noise, silent = rng.choice([0.0, 0.05, 0.2, 1.0]), rng.choice([0.0, 0.0, 0.1, 0.4])
    margin = {"margin": rng.choice([0.0, 0.0, 1.0, 2.0])}
    worlds = rng.choice([1, 1, 1, 2, 3])
    calls = [call_of(f"{name} {i}", space, noise, silent) for i in range(worlds)]
    targets = {
        f"w{i}": function_target(call, space, f"w{i}", margin) for i, call in enumerate(calls)
    }
    return targets["w0"] if worlds == 1 else Worlds("worlds", targets)


def random_policy(rng: Random) -> dict[str, Any]:
    """Return what silence and missing labels count as."""
    return {"label_unset": rng.choice(ACCEPT), "abstain": rng.choice(ACCEPT)}


def functions() -> Iterator[Case]:
    """Yield function targets that are asked completely."""
    for seed in range(COUNT):
        yield Case(f"function/{seed:03}", partial(_function, seed))


def _function(seed: int) -> Parts:
    rng = Random(f"function {seed}")
    if seed % 10 == 1:
        formula = formula_of(seed // 10, (3, 8))
        return extracted(BlackBox(FormulaTarget(formula)), **FUNCTION[seed // 10 % len(FUNCTION)])
    if seed % 10 == 2:
        target = BlackBox(TableTarget(random_table(rng)[0]))
        exact = target.space.cell_count < 1_000
        return extracted(target, **(FUNCTION[seed // 10 % len(FUNCTION)] if exact else PAC))
    target = random_target(rng, f"function {seed}")
    return extracted(target, policy=random_policy(rng), **FUNCTION[seed % len(FUNCTION)])


def random_table(rng: Random) -> tuple[Table, Any]:
    """Return a table, small or with too many columns to be labelled whole, and a background."""
    wide = rng.random() < 0.2
    width = rng.randint(21, 26) if wide else rng.randint(1, 9)
    share = rng.choice([0.2, 0.4, 0.6, 0.8])
    rows = tuple(
        sum((rng.random() < share) << bit for bit in range(width))
        for _ in range(rng.randint(rng.choice([0, 4]), 14))
    )
    theory = random_theory(rng, width, rng.choice([0, 0, 0, 1, 2]))
    table = Table(Vocabulary(tuple(f"v{i}" for i in range(width))), rows)
    kept = tuple(row for row in rows if theory.satisfied_by(row))
    return (replace(table, rows=kept), theory) if len(theory) else (table, None)


def tables() -> Iterator[Case]:
    """Yield tables of rows, and files of values that are scaled."""
    for seed in range(COUNT):
        run = _values if seed % 4 == 3 else _table
        yield Case(f"table/{seed:03}", partial(run, seed))


def _table(seed: int) -> Parts:
    rng = Random(f"table {seed}")
    table, background = random_table(rng)
    options = dict(rng.choice(ROWS))
    if rng.random() < 0.2:
        options["min_confidence"] = 0.8
    bases = ["unit"] if options or background is not None else ["canonical", "unit", "direct"]
    return envelope_of(table, None, background, bases=bases, **options)


def _values(seed: int) -> Parts:
    rng = Random(f"values {seed}")
    columns: dict[str, Callable[[], Any]] = {
        "colour": lambda: rng.choice(["red", "green", "blue"]),
        "size": lambda: rng.randint(1, 5),
        "age": lambda: rng.choice(["", *range(10, 90, 7)]),
        "likes": lambda: rng.randint(0, 1),
        "says": lambda: rng.choice(["yes", "no"]),
    }
    names = sorted(rng.sample(sorted(columns), rng.randint(2, 4)))
    scales = {"size": "size=ordinal", "age": "age=interval:30,60", "colour": "colour=nominal"}
    options = rng.choice(ROWS)
    if "max_conditions" in options:  # over many intervals there are too many short rules
        scales["age"] = "age=nominal"
    chosen = [scales[n] for n in names if n in scales and (n == "age" or rng.random() < 0.5)]
    label = "says" if "says" in names and rng.random() < 0.5 else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            for _ in range(rng.randint(6, 25)):
                writer.writerow([columns[name]() for name in names])
        table, space = read_table(path, chosen, label)
    return envelope_of(table, space, **options)


def formula_of(seed: int, widths: tuple[int, int]) -> Cnf:
    """Return a formula of any temper, or one of few short clauses: these have more rules."""
    if seed % 2:
        return random_formula(seed, TEMPERS[seed % len(TEMPERS)], widths)[0]
    rng = Random(f"few clauses {seed}")
    width = rng.randint(*widths)
    positive = rng.choice([0.2, 0.4, 0.6])
    clauses = [
        [v if rng.random() < positive else -v for v in rng.sample(range(1, width + 1), size)]
        for size in rng.choices([2, 2, 3], k=rng.randint(width // 2, width))
    ]
    return Cnf(Vocabulary.numbered(width), tuple(map(clause_of, clauses)))


def formulas() -> Iterator[Case]:
    """Yield formulas of every temper, a few with too many variables to be labelled whole."""
    for seed in range(COUNT):
        yield Case(f"formula/{seed:03}", partial(_formula, seed))


def _formula(seed: int) -> Parts:
    rng = Random(f"formula {seed}")
    widths = (21, 24) if seed % 7 == 0 else (3, 9)
    formula = formula_of(seed, widths)
    theory = random_theory(rng, formula.width, rng.choice([0, 0, 1, 2]))
    options = CLAUSES[seed % len(CLAUSES)]
    return envelope_of(formula, None, theory if len(theory) else None, **options)


def learners() -> Iterator[Case]:
    """Yield runs of learners, by samples and within a budget: function targets and formulas."""
    for equivalence in ("pac", "budget"):
        for seed in range(COUNT):
            yield Case(f"learner/{equivalence}/{seed:03}", partial(_learner, equivalence, seed))
    for seed in range(COUNT):
        yield Case(f"learn/{seed:03}", partial(_learn, seed))


def _learner(equivalence: str, seed: int) -> Parts:
    rng = Random(f"learner {equivalence} {seed}")
    options: dict[str, Any] = {
        "equivalence": equivalence,
        "epsilon": rng.choice([0.1, 0.3]),
        "delta": rng.choice([0.1, 0.3]),
        "seed": seed,
    }
    if equivalence == "budget":
        options["max_equivalence_queries"] = rng.choice([0, 2, 5, 20])
        options["samples"] = rng.choice([None, 10, 50])
    if seed % 2:
        formula = formula_of(seed // 2, (8, 12))
        return extracted(FormulaTarget(formula), **options)
    target = random_target(rng, f"learner {equivalence} {seed}")
    return extracted(target, policy=random_policy(rng), **options)


def _learn(seed: int) -> Parts:
    rng = Random(f"learn {seed}")
    formula = formula_of(seed, (3, 8))
    options: dict[str, Any] = dict(
        rng.choice(
            [
                {},
                {"equivalence": "pac", "epsilon": 0.2, "delta": 0.2},
                {"equivalence": "budget", "max_equivalence_queries": rng.choice([1, 4, 12])},
                {"goal": "cnf"},
                {"via_encoding": True},
                {"max_rules": rng.choice([1, 2, 4])},
            ]
        )
    )
    return learned(formula, seed=seed, speculate=rng.random() < 0.3, **options)


def ended() -> Iterator[Case]:
    """Yield runs that end at a number of rules."""
    for seed in range(COUNT):
        yield Case(f"ended/{seed:03}", partial(_ended, seed))


def _ended(seed: int) -> Parts:
    rng = Random(f"ended {seed}")
    most, kind = rng.choice([1, 2, 3, 5]), seed % 4
    short: dict[str, Any] = rng.choice([{}, {}, {"max_conditions": 1}, {"max_conditions": 2}])
    if kind == 0:
        table, background = random_table(rng)
        return envelope_of(table, None, background, max_rules=most, **short)
    if kind == 1:
        formula = formula_of(seed // 4, (3, 8))
        return envelope_of(formula, max_rules=most, **short)
    target = random_target(rng, f"ended {seed}")
    if kind == 2:
        return extracted(target, policy=random_policy(rng), max_rules=most, **short)
    return extracted(target, policy=random_policy(rng), max_rules=most, seed=seed, **PAC)
