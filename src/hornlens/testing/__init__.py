"""Conformance suites: what every implementation of a protocol of ours has to keep to.

Inherit a suite in a test class of your own and give what its docstring asks for. pytest is not
imported here: any runner that calls methods named `test_…` will do.

>>> from hornlens import FunctionTarget, Nominal, Space
>>> from hornlens.testing import TargetConformance
>>> class TestMine(TargetConformance):
...     def build(self):
...         return FunctionTarget(bool, Space((Nominal("job", ("nurse", "pilot")),)))
>>> TestMine().test_decisions_come_in_the_order_of_the_cells()
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.testing.learners import LearnerConformance as LearnerConformance
    from hornlens.testing.models import ModelConformance as ModelConformance
    from hornlens.testing.oracles import EquivalenceConformance as EquivalenceConformance
    from hornlens.testing.oracles import MembershipConformance as MembershipConformance
    from hornlens.testing.stores import SharedStoreConformance as SharedStoreConformance
    from hornlens.testing.stores import StoreConformance as StoreConformance
    from hornlens.testing.targets import TargetConformance as TargetConformance
else:
    _HOMES = {
        "testing.learners": "LearnerConformance",
        "testing.models": "ModelConformance",
        "testing.oracles": "EquivalenceConformance MembershipConformance",
        "testing.stores": "SharedStoreConformance StoreConformance",
        "testing.targets": "TargetConformance",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
