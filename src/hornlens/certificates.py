"""Certificates: what may be claimed of the rules of a result.

>>> from hornlens import extract
>>> from hornlens.certificates import Exact
>>> certificate = extract(lambda prompt, words: [0.9, 0.1], cache=False).envelope.certificate
>>> isinstance(certificate, Exact)
True
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
