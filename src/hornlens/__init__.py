"""Hornlens asks a black-box model questions and gives back the Horn rules it obeys."""

__version__ = "0.1.0"
