"""Data sets of people: where they come from, and how they are cut into periods and continents."""
