"""The store of answers: what a model said is kept, so that no run asks it again.

A store of one's own implements `AnswerStore`, and `SharedStore` if several processes use it;
`LeasingStore` if what they claim may run out.

>>> from hornlens.store import AnswerCache, AnswerStore
>>> issubclass(AnswerCache, AnswerStore)
True
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.store.opening import open_store as open_store
    from hornlens.store.protocol import AnswerStore as AnswerStore
    from hornlens.store.protocol import LeasingStore as LeasingStore
    from hornlens.store.protocol import Scores as Scores
    from hornlens.store.protocol import SharedStore as SharedStore
    from hornlens.store.sqlite import AnswerCache as AnswerCache
else:
    _HOMES = {
        "store.opening": "open_store",
        "store.protocol": "AnswerStore LeasingStore Scores SharedStore",
        "store.sqlite": "AnswerCache",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
