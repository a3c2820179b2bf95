"""Engines of targets that can be looked into: the exact envelope of a formula or a table."""

from __future__ import annotations

from dataclasses import replace

from hornlens.exact.bounded import bounded_envelope_of_formula, bounded_envelope_of_table
from hornlens.exact.engine import Progress
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table, only_supported
from hornlens.limits import Limits
from hornlens.logic.cnf import Cnf
from hornlens.logic.envelope import Envelope
from hornlens.logic.scopes import ROWS
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.results.analysis.detail import with_detail_of_formula, with_detail_of_table
from hornlens.results.documents.settings import Settings
from hornlens.targets.protocol import RuleEngine


def formula_engine(formula: Cnf, background: Theory | None, settings: Settings) -> RuleEngine:
    """Return what works out the rules of a formula that the settings want."""

    def work(limits: Limits | None = None, progress: Progress | None = None) -> Envelope:
        most = settings.max_conditions
        if most is None:
            envelope = envelope_of_formula(formula, background, progress, limits)
        else:
            envelope = bounded_envelope_of_formula(formula, most, background, limits, progress)
        return with_detail_of_formula(envelope, formula, settings)

    return work


def table_engine(
    table: Table, background: Theory | None, columns: Space | None, settings: Settings
) -> RuleEngine:
    """Return what works out the rules of a table that the settings want: they hold of its rows."""

    def work(limits: Limits | None = None, progress: Progress | None = None) -> Envelope:
        most, least = settings.max_conditions, settings.min_support
        if most is None:
            envelope = envelope_of_table(table, background, progress, limits, columns)
            if least is not None:
                envelope = only_supported(envelope, table, least)
        else:
            envelope = bounded_envelope_of_table(
                table, most, background, least or 0, limits, progress, columns
            )
        envelope = with_detail_of_table(envelope, table, settings)
        return replace(
            envelope,
            space=envelope.space.unlabelled,
            certificate=replace(envelope.certificate, scope=ROWS),
        )

    return work
