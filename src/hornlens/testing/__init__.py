"""Conformance suites: what every implementation of a protocol of ours has to keep to.

Inherit a suite in a test class of your own and give what its docstring asks for. pytest is not
imported here: any runner that calls methods named `test_…` will do.

>>> from hornlens import FunctionTarget, Nominal, Space
>>> from hornlens.testing.targets import TargetConformance
>>> class TestMine(TargetConformance):
...     def build(self):
...         return FunctionTarget(bool, Space((Nominal("job", ("nurse", "pilot")),)))
>>> TestMine().test_decisions_come_in_the_order_of_the_cells()
"""
