"""Horn theories: rules, bases, formulas and tables, and the exact envelopes of the last two.

Interpretations are integers: bit i is variable i of a `Vocabulary`.

>>> from hornlens.theory import Rule, Theory, Vocabulary, dg_basis
>>> names = Vocabulary(("rain", "wet"))
>>> print(dg_basis(Theory(2, (Rule(0b01, 0b10),))).show(names))
rain → wet
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.exact.envelopes import envelope_of_formula as envelope_of_formula
    from hornlens.exact.envelopes import envelope_of_table as envelope_of_table
    from hornlens.exact.grid import LabelledSpace as LabelledSpace
    from hornlens.logic.basis import dg_basis as dg_basis
    from hornlens.logic.basis import is_left_saturated as is_left_saturated
    from hornlens.logic.basis import is_right_saturated as is_right_saturated
    from hornlens.logic.bits import BOTTOM as BOTTOM
    from hornlens.logic.closures import closure_in as closure_in
    from hornlens.logic.cnf import Clause as Clause
    from hornlens.logic.cnf import Cnf as Cnf
    from hornlens.logic.difference import difference as difference
    from hornlens.logic.readable import readable as readable
    from hornlens.logic.rule import Rule as Rule
    from hornlens.logic.table import Table as Table
    from hornlens.logic.theory import Theory as Theory
    from hornlens.logic.vocabulary import Vocabulary as Vocabulary
    from hornlens.results.documents.envelope import envelope_as_json as envelope_as_json
    from hornlens.results.documents.envelope import envelope_from_json as envelope_from_json
else:
    _HOMES = {
        "exact.envelopes": "envelope_of_formula envelope_of_table",
        "exact.grid": "LabelledSpace",
        "logic.basis": "dg_basis is_left_saturated is_right_saturated",
        "logic.bits": "BOTTOM",
        "logic.closures": "closure_in",
        "logic.cnf": "Clause Cnf",
        "logic.difference": "difference",
        "logic.readable": "readable",
        "logic.rule": "Rule",
        "logic.table": "Table",
        "logic.theory": "Theory",
        "logic.vocabulary": "Vocabulary",
        "results.documents.envelope": "envelope_as_json envelope_from_json",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
