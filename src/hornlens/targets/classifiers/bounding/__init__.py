"""Bounds on sums of trees over boxes of cells: tables, and a search that proves by them."""
