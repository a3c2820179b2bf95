"""Sift: every rule with few conditions, of a space that cannot be enumerated."""
