"""The answer cache: every model answer is written down before it is used."""
