"""Sift: every short rule of a space that cannot be enumerated, from a few thousand questions."""
