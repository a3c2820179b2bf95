"""Writing an envelope for other tools: DIMACS, CSV, LaTeX and Prolog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hornlens.counts import plural
from hornlens.formats.csvfiles import csv_text, named_cells
from hornlens.formats.dimacs import write_dimacs
from hornlens.formats.fca import write_conexp, write_fcar
from hornlens.formats.latex import latex_conjunction
from hornlens.formats.plain import escaped, visible
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule


def write_envelope_dimacs(envelope: Envelope) -> str:
    """Return the envelope, and its background, as a Horn CNF that stands alone."""
    background = clauses_of(envelope.background)
    clauses = background + clauses_of(envelope.readable)
    remarks = [f"Horn envelope, {envelope.certificate.kind}: {plural(len(envelope.basis), 'rule')}"]
    if background:
        remarks.append(f"the first {len(background)} clauses are the background")
    return write_dimacs(Cnf(envelope.vocabulary, clauses), tuple(remarks))


def write_csv(envelope: Envelope) -> str:
    """Return one line a rule: the readable form, its support, and the canonical form.

    `csvfiles.named_cells` says how names stand in a cell.
    """
    names = envelope.vocabulary
    support: Sequence[int | str] = envelope.support or [""] * len(envelope.basis)
    lines = zip(envelope.readable, envelope.basis, support, strict=True)
    return csv_text(
        ["if", "then", "support", "canonical_if", "canonical_then"],
        (
            [*named_cells(NamedRule.of(short, names)), n, *named_cells(NamedRule.of(full, names))]
            for short, full, n in lines
        ),
    )


def write_latex(envelope: Envelope) -> str:
    """Return the readable rules as a LaTeX tabular, one rule a line."""
    return latex_table(short for short, _ in envelope.named)


def latex_table(rules: Iterable[NamedRule]) -> str:
    """Return rules as a LaTeX tabular, one a line."""
    lines = [r"% needs \usepackage{amsmath}", r"\begin{tabular}{r@{ $\to$ }l}"]
    for rule in rules:
        left = latex_conjunction(rule.antecedent)
        right = r"\bot" if rule.consequent is None else latex_conjunction(rule.consequent)
        lines.append(rf"  ${left}$ & ${right}$ \\")
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"


def _atom(name: str) -> str:
    """Return a name as a Prolog atom, quoted where it must be, and nothing unseen in it."""
    if re.fullmatch(r"[a-z][A-Za-z0-9_]*", name):
        return name
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped(quoted, lambda character: f"\\x{ord(character):x}\\") + "'"


def write_prolog(envelope: Envelope) -> str:
    """Return the readable rules, and the background, as a Prolog program."""
    bottom = "false"
    while bottom in envelope.vocabulary:
        bottom += "_"
    every = (*envelope.background, *envelope.readable)
    return prolog_program(
        [NamedRule.of(rule, envelope.vocabulary) for rule in every],
        f"Horn envelope: {plural(len(envelope.basis), 'rule')}.",
        visible(f"{envelope.certificate.title}: {envelope.certificate.sentence}"),
        f"Assert given(Name), ask holds(Name); holds({bottom}): no model has all that is given.",
        bottom=bottom,
    )


def prolog_program(rules: Iterable[NamedRule], *remarks: str, bottom: str = "false") -> str:
    """Return rules as a Prolog program, after remarks; `bottom` is what ⊥ is called.

    Assert what is given, as `given(nurse)`, and ask what `holds(X)`. Rules may go in circles, so
    `holds` is tabled; names are arguments, so none of them can clash with a built-in predicate.
    """
    lines = [
        ":- encoding(utf8).",
        *(f"% {remark}" for remark in remarks),
        ":- table holds/1.",
        ":- dynamic given/1.",
        "holds(X) :- given(X).",
    ]
    for rule in rules:
        body = ", ".join(f"holds({_atom(name)})" for name in rule.antecedent)
        heads = [bottom] if rule.consequent is None else rule.consequent
        lines += [f"holds({_atom(head)})" + (f" :- {body}." if body else ".") for head in heads]
    return "\n".join(lines) + "\n"


WRITERS: dict[str, Callable[[Envelope], str]] = {
    "dimacs": write_envelope_dimacs,
    "csv": write_csv,
    "latex": write_latex,
    "prolog": write_prolog,
    "conexp": write_conexp,
    "fcar": write_fcar,
}
