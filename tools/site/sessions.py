"""For the site's Python pages: sessions in docstrings (>>>) become blocks of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SESSION = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)", re.MULTILINE)


def fenced(text: str) -> str:
    """Return a docstring with each session between fences."""
    return SESSION.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


class Sessions(Extension):
    """Changes docstrings as they are read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the sessions of one object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
