"""Classifiers as targets: their columns in levels, their trees looked into."""
