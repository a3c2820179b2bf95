"""Let this version write a file of every kind: `python -m tools.old_files tests/old/VERSION`.

Later versions have to read what it wrote. So this is run once per version, before its release, and
what it wrote is never written again. Inputs stand in the folder's `inputs`; `made.json` says of
each result how it was made, what it holds in short, and what this version could do with it.
"""
