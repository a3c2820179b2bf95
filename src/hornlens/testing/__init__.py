"""Conformance suites: what every backend keeps to, as tests to inherit. Nothing imports this."""
