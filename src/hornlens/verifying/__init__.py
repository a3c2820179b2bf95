"""An independent checker of results: it shares no code with the engines that made them.

Read it in this order: `grids` (what can be said, and sets of it), `rules` (what a basis has to be),
`answers` (what is recorded), `worlds` (what that accepts), `files` (formulas and tables), `verify`.
For sifted results: `levels` (cells by places on axes), `stated` (rules as boxes of them),
`remaining` and `survivors` (all short rules that no answer breaks), `draws` and `trials` (what the
seed draws, and what that shows), `record`, `refuted`, `warranted`, `sifted`.
"""
