"""Extraction: a target in, its envelope with evidence out, exactly or by learning."""
