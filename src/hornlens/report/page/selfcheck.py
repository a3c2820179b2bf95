"""The page checks itself: scripts that recount the document in it, independent of all others."""

from __future__ import annotations

SCRIPTS = (
    *("verify-space.js", "verify-grid.js", "verify-answers.js", "verify-rules.js"),
    *("verify-worlds.js", "verify-summaries.js", "verify-cells.js", "verify.js", "sha256.js"),
    "verify-page.js",
)
"""After those that show the page, which need none of these."""
EXTRACTION = tuple(name for name in SCRIPTS if name != "verify-cells.js")
"""Those of a page that is not of a classifier."""
STYLES = ("verify.css",)
