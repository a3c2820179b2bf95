"""Rules for classes as code that decides: SQL, Python, PMML, and JSON."""
