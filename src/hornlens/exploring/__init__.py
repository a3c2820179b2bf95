"""Attribute exploration: experts are asked about rules; sessions, which are kept; the dialogue."""
