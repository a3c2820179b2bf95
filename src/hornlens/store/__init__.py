"""The answer store: every model answer is written down before it is used."""
