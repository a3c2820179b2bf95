r"""File formats: readers and writers of formulas, tables and contexts.

>>> from hornlens.formats import parse_dimacs
>>> parse_dimacs("c 1 nurse\nc 2 he\np cnf 2 1\n-1 -2 0\n").vocabulary.names
('nurse', 'he')
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.formats.anytables import open_table as open_table
    from hornlens.formats.csvfiles import rule_of_cells as rule_of_cells
    from hornlens.formats.dimacs import parse_dimacs as parse_dimacs
    from hornlens.formats.dimacs import read_dimacs as read_dimacs
    from hornlens.formats.dimacs import write_dimacs as write_dimacs
    from hornlens.formats.tables import parse_csv as parse_csv
    from hornlens.formats.tables import parse_cxt as parse_cxt
    from hornlens.formats.tables import read_csv as read_csv
    from hornlens.formats.tables import read_cxt as read_cxt
else:
    _HOMES = {
        "formats.anytables": "open_table",
        "formats.csvfiles": "rule_of_cells",
        "formats.dimacs": "parse_dimacs read_dimacs write_dimacs",
        "formats.tables": "parse_csv parse_cxt read_csv read_cxt",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
