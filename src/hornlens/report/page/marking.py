"""Sentences and templates with their parts marked up; whatever comes from outside is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from hornlens.results.wording.sentences import Part

_ODDS = re.compile(r"[\d.]+ : [\d.]+")
"""Odds stay on one line."""
_SLOT = re.compile(r"(\{\{|\}\}|\{(?:a:)?[^{}:]+\})")


def marked(parts: Sequence[Part]) -> Markup:
    """Return a sentence with the label's word and what is said of a cell marked up."""
    elements = {"word": "em", "names": "b"}
    done = []
    for kind, text in parts:
        piece = str(escape(text))
        if kind in elements:
            element = elements[kind]
            piece = f"<{element}><bdi>{piece}</bdi></{element}>"
        else:
            piece = _ODDS.sub(r'<span class="odds">\g<0></span>', piece)
        done.append(piece)
    return Markup("".join(done))


def marked_template(template: str) -> Markup:
    """Return a template as people read it: a blank for the label, the attributes in brackets."""
    done = Markup()
    for place, part in enumerate(_SLOT.split(template)):
        if place % 2 == 0:
            done += escape(part)
        elif part in ("{{", "}}"):
            done += escape(part[0])
        elif (slot := part[1:-1].removeprefix("a:")) == "label":
            done += Markup("<mark>▁▁▁</mark>")
        else:
            done += Markup("<b>⟨<bdi>{}</bdi>⟩</b>").format(slot)
    return Markup('<bdi class="prompt">{}</bdi>').format(done)
