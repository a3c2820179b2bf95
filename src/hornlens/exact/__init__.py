"""Engines that need no learner: labelled grids, tables and formulas, exactly."""
