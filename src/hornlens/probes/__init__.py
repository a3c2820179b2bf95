"""Probes: questions about a model, as attributes, wording, templates and a label to fill in."""
