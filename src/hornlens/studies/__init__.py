"""Studies: many runs of many models, what is stable in them, and what is true."""
