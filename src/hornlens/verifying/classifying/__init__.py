"""Verifying the results of classifiers: `check` goes through all of it."""
