"""Certificates: what may be claimed of the rules of a result, and what stands behind each rule.

>>> from hornlens.certificates import EXACT
>>> EXACT.kind, EXACT.title, EXACT.meets("exact")
('exact', 'Exact', True)
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.logic.certificates import EXACT as EXACT
    from hornlens.logic.certificates import Certificate as Certificate
    from hornlens.logic.certificates import bounded as bounded
    from hornlens.logic.certificates import cut_off as cut_off
    from hornlens.logic.certificates import ended_early as ended_early
    from hornlens.logic.certificates import pac as pac
    from hornlens.logic.former import Bounded as Bounded
    from hornlens.logic.former import Budget as Budget
    from hornlens.logic.former import Exact as Exact
    from hornlens.logic.former import Explored as Explored
    from hornlens.logic.former import Interrupted as Interrupted
    from hornlens.logic.former import Noisy as Noisy
    from hornlens.logic.former import Pac as Pac
    from hornlens.logic.grounds import Complete as Complete
    from hornlens.logic.grounds import Ending as Ending
    from hornlens.logic.grounds import Joint as Joint
    from hornlens.logic.grounds import Noise as Noise
    from hornlens.logic.grounds import Trial as Trial
    from hornlens.logic.grounds import Word as Word
    from hornlens.logic.scopes import Agreement as Agreement
    from hornlens.logic.scopes import Scope as Scope
    from hornlens.logic.warrants import Warrant as Warrant
else:
    _HOMES = {
        "logic.certificates": "EXACT Certificate bounded cut_off ended_early pac",
        "logic.former": "Bounded Budget Exact Explored Interrupted Noisy Pac",
        "logic.grounds": "Complete Ending Joint Noise Trial Word",
        "logic.scopes": "Agreement Scope",
        "logic.warrants": "Warrant",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
