"""Attacks on the tool, kept: kills, interrupts, hostile files, full disks.

Short in the ordinary run of the tests; `make test-faults` has the whole number of rounds.
"""
