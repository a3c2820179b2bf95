"""An independent checker of results: it shares no code with the engines that made them.

Read it in this order: `grids` (what can be said, and sets of it), `rules` (what a basis has to be),
`answers` (what is recorded), `worlds` (what that accepts), `files` (formulas and tables), `verify`.
"""
