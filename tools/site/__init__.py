"""The documentation site: docs/, what is generated from the code, and example reports."""
