"""One file out of a template, styles, scripts and data: nothing is fetched, nothing else may run.

The page names the hashes of its own script and style in its Content-Security-Policy, so whatever
markup a probe or a model could smuggle in would not run. Data stands in a block of JSON.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment

from hornlens import __version__
from hornlens.formats.jsonfiles import encoded
from hornlens.report.page.environment import environment
from hornlens.report.rates import percent

_ESCAPED = "<>&"


def assemble(
    template: str,
    scripts: Sequence[str],
    data: Any,
    *,
    view: Any = None,
    styles: Sequence[str] = (),
    **context: Any,
) -> str:
    """Return the page of a template. Its scripts find `data` in the element with the id `data`.

    `view` is what was worked out from it for them. `styles` come after those of every page.
    """
    style = "\n".join(_static(name) for name in ("page.css", *styles))
    script = "\n".join(_static(name) for name in scripts)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = (
        _environment()
        .get_template(template)
        .render(
            policy=policy,
            style=style,
            script=script,
            data=embedded_json(data),
            view=None if view is None else embedded_json(view),
            version=__version__,
            **context,
        )
    )
    # A half of a surrogate pair, as JSON can hold, has no place in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def embedded_json(data: Any) -> str:
    """Return JSON that is safe inside a script element and that browsers can read.

    `jsonfiles` says how infinite scores are written.
    """
    text = encoded(data, compact=True)
    for character in _ESCAPED:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def rounded(value: float, places: int) -> str:
    """Return a number with so many places; halves go up, as in the page's own scripts."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def number(value: float | None) -> str:
    """Return a score as people read it: two places, a real minus; "–" if there is none.

    A lead that is too small for two places is not said to be nothing.
    """
    if value is None or value != value:
        return "–"
    if 0 < value < 0.005:
        return "<0.01"
    text = "∞" if abs(value) == float("inf") else rounded(abs(value), 2)
    return f"−{text}" if value < 0 and text != "0.00" else text


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _static(name: str) -> str:
    return (resources.files("hornlens.report.page") / "static" / name).read_text("utf-8").strip()


@cache
def _environment() -> Environment:
    made = environment()
    made.filters["number"] = number
    made.filters["share"] = percent
    return made
