"""Targets: black boxes that decide the cells of a space, whatever they are inside."""
