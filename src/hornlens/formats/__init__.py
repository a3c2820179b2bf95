"""Readers and writers: DIMACS, tables, YAML documents, JSON, LaTeX, Prolog; files written whole."""
