"""Ensembles of trees, read exactly: a file for each library."""
