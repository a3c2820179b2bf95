"""Conformance suites: what every implementation of a protocol of ours has to keep to.

Inherit a suite in a test class of your own and give what its docstring asks for. pytest is not
imported here: any runner that calls methods named `test_…` will do.
"""
