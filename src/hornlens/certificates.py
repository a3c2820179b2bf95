"""Certificates: what may be claimed of the rules of a result.

>>> from hornlens.certificates import EXACT
>>> EXACT.kind, EXACT.title
('exact', 'Exact')
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.logic.certificates import EXACT as EXACT
    from hornlens.logic.certificates import Bounded as Bounded
    from hornlens.logic.certificates import Budget as Budget
    from hornlens.logic.certificates import Certificate as Certificate
    from hornlens.logic.certificates import Exact as Exact
    from hornlens.logic.certificates import Explored as Explored
    from hornlens.logic.certificates import Interrupted as Interrupted
    from hornlens.logic.certificates import Noisy as Noisy
    from hornlens.logic.certificates import Pac as Pac
else:
    _HOMES = {
        "logic.certificates": (
            "EXACT Bounded Budget Certificate Exact Explored Interrupted Noisy Pac"
        ),
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
