"""Rules of complete cells: boxes that hold one label only."""
