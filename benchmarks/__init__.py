"""Benchmarks: `make bench` runs them all, `make bench-quick` shows in a minute that they work."""
