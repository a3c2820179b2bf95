"""Seals: who vouches for a result. A signed list of its files, and what is claimed, beside it.

Read it in this order: `merkle` (one number for all answers), `statements` (what is signed), `dsse`
(how it is signed), `keys`, `seals` (written and checked).

>>> from hornlens.sealing import leaf_of, root_of
>>> root_of([leaf_of({"winner": "he"})]) == leaf_of({"winner": "he"})
True
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.sealing.keys import new_key as new_key
    from hornlens.sealing.merkle import inclusion_proof as inclusion_proof
    from hornlens.sealing.merkle import leaf_of as leaf_of
    from hornlens.sealing.merkle import root_by_proof as root_by_proof
    from hornlens.sealing.merkle import root_of as root_of
else:
    _HOMES = {
        "sealing.keys": "new_key",
        "sealing.merkle": "inclusion_proof leaf_of root_by_proof root_of",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
