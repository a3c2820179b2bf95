"""The only place of this tool that names entry points: when they are renamed, adapt this module.

Each function takes plain options and returns *parts*: named texts, one rule a line. Sentences and
the words of certificates are left out; so are scores, which depend on the processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hornlens
from hornlens import FormulaTarget, Limits, Nominal, Policy, Settings, Space, TableTarget, Worlds
from hornlens.exact.bases import in_basis
from hornlens.extraction.formulas import LearnSettings, learn
from hornlens.formats.anytables import open_table
from hornlens.formats.dimacs import read_dimacs
from hornlens.learning.horn import horn1_learner
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.named import NamedRule
from hornlens.logic.repeats import Repeats
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.functions import FunctionModel
from hornlens.models.smollm2 import PACKAGE as SMOLLM2_PACKAGE

__all__ = [
    "REFUSED",
    "SMOLLM2_PACKAGE",
    "BlackBox",
    "Cnf",
    "FormulaTarget",
    "FunctionModel",
    "Nominal",
    "Policy",
    "Repeats",
    "Rule",
    "Space",
    "Table",
    "TableTarget",
    "Theory",
    "Vocabulary",
    "Worlds",
    "clause_of",
    "envelope_of",
    "explained",
    "extracted",
    "function_target",
    "learned",
    "read_formula",
    "read_table",
]

Parts = dict[str, str]
REFUSED = hornlens.HornlensError
"""What is raised where something cannot be done."""
MOST_CELLS = 150
"""Up to so many cells of a classifier have their full basis computed."""

# --- results as text ---


def rules_text(rules: Iterable[Rule], names: Vocabulary) -> str:
    """Return rules in names, one a line, in the order in which they stand."""
    return "\n".join(str(NamedRule.of(rule, names)) for rule in rules)


def masks_text(masks: Iterable[int], names: Vocabulary) -> str:
    """Return interpretations in names, one a line."""
    return "\n".join(", ".join(names.names_of(mask)) for mask in masks)


def envelope_parts(envelope: Any) -> Parts:
    """Return what an envelope says; parts that do not apply are left out."""
    names, seen = envelope.vocabulary, envelope.non_horn
    count = "not counted" if seen.count is None else str(seen.count)
    parts = {
        "basis": rules_text(envelope.basis, names),
        "readable": rules_text(envelope.readable, names),
        "non_horn": f"{count}\n{masks_text(seen.examples, names)}".rstrip("\n"),
    }
    if envelope.support is not None:
        parts["support"] = " ".join(map(str, envelope.support))
    if envelope.open:
        parts["open"] = rules_text(envelope.open, names)
    if envelope.almost is not None:
        parts["almost"] = "\n".join(
            f"{NamedRule.of(each.rule, names)}: {each.broken} of {each.of}; "
            + " | ".join(masks_text([x], names) for x in each.exceptions)
            for each in envelope.almost.rules
        )
    if envelope.levels is not None:
        parts["levels"] = "\n".join(
            f"{NamedRule.of(step.rule, names)}: {step.explained}, {len(step.exceptions)}"
            for step in envelope.levels.steps
        )
    return parts


def result_parts(result: Any) -> Parts:
    """Return what `extract` found."""
    parts = envelope_parts(result.envelope)
    names = result.space.vocabulary
    parts["support"] = " ".join(str(evidence.support) for evidence in result.evidence)
    parts["order"] = " ".join(map(str, result.order))
    parts["asked"] = " ".join(str(len(each.decisions)) for each in result.each)
    if result.possible is not None:
        parts["possible"] = rules_text(result.possible.basis, names)
    for world in result.worlds:
        parts[f"world {world.world}"] = rules_text(world.envelope.basis, names)
        if world.possible is not None:
            parts[f"possible {world.world}"] = rules_text(world.possible.basis, names)
    return parts


def explanation_parts(result: Any, basis: bool) -> Parts:
    """Return what `explain` found: the rules, and the table that shows them."""
    lines = []
    for row in result.rules:
        right = "-" if row.confidence is None else f"{row.confidence:.6f}"
        lines.append((str(row), row.support, right, row.cells))
    parts = {
        "rules": "\n".join(sorted(line[0] for line in lines)),
        "table": "\n".join(" | ".join(map(str, line)) for line in lines),
    }
    if basis and result.binned.cell_count <= MOST_CELLS:
        parts["basis"] = rules_text(result.basis().basis, result.basis().vocabulary)
    return parts


# --- doors ---


def extracted(
    model: Any = None,
    probe: Any = None,
    policy: Mapping[str, Any] | None = None,
    max_rules: int | None = None,
    repeats: Any = 1,
    horn1: bool = False,
    **settings: Any,
) -> Parts:
    """Ask a target, or a model in the words of a probe."""
    result = hornlens.extract(
        model,
        probe,
        cache=False,
        policy=None if policy is None else Policy(**policy),
        settings=Settings(**settings),
        limits=None if max_rules is None else Limits(max_rules=max_rules),
        repeats=repeats,
        learner=horn1_learner if horn1 else None,
    )
    return result_parts(result)


class BlackBox:
    """A target without its engine: it can only be asked."""

    def __init__(self, target: Any):
        """Take all that a target has to have."""
        self.name, self.space, self.identity = target.name, target.space, target.identity
        self.decide, self.show = target.decide, target.show


def function_target(
    call: Any, space: Space, name: str = "function", policy: Mapping[str, Any] | None = None
) -> Any:
    """Return a Python function as a target."""
    return hornlens.FunctionTarget(call, space, name, policy=Policy(**(policy or {})))


def explained(model: Any, rows: Any, basis: bool = False, **options: Any) -> Parts:
    """Explain a classifier; `basis`: the full basis, too."""
    return explanation_parts(hornlens.explain(model, rows, **options), basis)


def read_formula(path: Path) -> Any:
    """Read a DIMACS file."""
    return read_dimacs(path)


def read_table(path: Path, scales: Sequence[str] = (), label: str | None = None) -> Any:
    """Read a table or a context: the table, and the space of its columns or None."""
    opened = open_table(path, scales, label)
    return opened.table, opened.space


def envelope_of(
    source: Any,
    space: Space | None = None,
    background: Theory | None = None,
    max_conditions: int | None = None,
    min_support: int | None = None,
    max_rules: int | None = None,
    bases: Sequence[Any] = (),
    **settings: Any,
) -> Parts:
    """Compute the envelope of a formula or table as `hornlens envelope` does."""
    wanted = Settings(max_conditions=max_conditions, min_support=min_support, **settings)
    table = source if isinstance(source, Table) else None
    target = (
        FormulaTarget(source, background=background)
        if table is None
        else TableTarget(table, background=background, columns=space)
    )
    limits = Limits(max_rules=max_rules)
    found = hornlens.envelope(target, settings=wanted, limits=limits).envelope
    parts = envelope_parts(found)
    parts["background"] = rules_text(found.background, found.vocabulary)
    for basis in bases:
        parts[basis] = rules_text(in_basis(found, basis, table).readable, found.vocabulary)
    return parts


def learned(formula: Any, max_rules: int | None = None, **settings: Any) -> Parts:
    """Learn a formula by queries as `hornlens learn` does."""
    limits = None if max_rules is None else Limits(max_rules=max_rules)
    outcome = learn(formula, LearnSettings(**settings), limits=limits)
    queries = outcome.run.queries
    counts = (queries.equivalence, queries.refinement, outcome.sampled, outcome.distinct)
    names = outcome.envelope.vocabulary
    parts = {
        "basis": rules_text(outcome.envelope.basis, names),
        "readable": rules_text(outcome.envelope.readable, names),
        "queries": " ".join(map(str, counts)),
    }
    if outcome.envelope.open:
        parts["open"] = rules_text(outcome.envelope.open, names)
    if outcome.settings.goal == "cnf" and max_rules is None:
        found = outcome.learned_formula()
        parts["cnf"] = "\n".join(clause.show(found.vocabulary) for clause in found.clauses)
    return parts
