"""The rules of many fixed cases, kept as text: what a change of the code must leave as it is.

`python -m tools.golden write FILE` computes all cases and writes one line of JSON per part of
each; `python -m tools.golden compare FILE` computes them again and prints what differs.
"""
