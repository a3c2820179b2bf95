"""What `verify` says of a result: what was recomputed, what is only intact, what is not checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["wrong", "recomputed", "intact", "unchecked"]


@dataclass(frozen=True)
class Verification:
    """What was checked, what was not, and the first thing that is wrong: None if nothing is.

    `checked` are the parts that were recomputed and agree. `intact` are the fields that nothing
    but the digest covers, by patterns, under the name that `not_checked` has for them. `digest` is
    that of the document, worked out again, and `has_digest` whether the document bears it.
    `recomputed` is false where only the shape was looked at, because what the result was made of
    is not there. `seal` is what a seal beside the result says, and whether its key was checked.

    >>> done = Verification(checked=("answers: 660",), wrong="readable rule 3: support is 7, not 8")
    >>> done.ok, done.status
    (False, 'wrong')
    """

    checked: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    wrong: str | None = None
    intact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    digest: str = ""
    has_digest: bool = False
    recomputed: bool = True
    seal: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.wrong is None

    @property
    def status(self) -> Status:
        """How much stands behind the result: a seal is told apart from this."""
        if not self.ok:
            return "wrong"
        if self.recomputed:
            return "recomputed"
        return "intact" if self.has_digest else "unchecked"

    @property
    def sealed(self) -> bool:
        """Whether a seal was checked with a key, and holds."""
        return self.ok and self.seal is not None and bool(self.seal["checked"])

    @property
    def sentence(self) -> str:
        """The outcome in a line, without the name of the result.

        >>> Verification(("answers: 660",), ("the model's name",)).sentence
        'recomputed, except what is listed as not checked.'
        """
        if self.wrong is not None:
            return f"wrong: {self.wrong}"
        rest = ", except what is listed as not checked" if self.not_checked else ""
        words = {
            "recomputed": f"recomputed{rest}.",
            "intact": "only intact: the file is as it was written, and nothing was recomputed.",
            "unchecked": "not checked: it has no digest, and nothing was recomputed.",
        }[self.status]
        if not self.sealed or self.seal is None:
            return words
        return f"{words} Sealed by {self.seal['key']} on {self.seal['sealed']}."

    @property
    def sections(self) -> dict[str, tuple[str, ...]]:
        """What was done to which parts: as headings, and what stands under each."""
        left = tuple(line for line in self.not_checked if line not in self.intact)
        covered = (
            "Only intact (covered by the digest alone: whoever changed them could have changed the "
            "digest)"
        )
        sections = {"Recomputed": self.checked, covered: tuple(self.intact), "Not checked": left}
        return {title: lines for title, lines in sections.items() if lines or title != covered}

    def as_json(self) -> dict[str, Any]:
        """Return it as `hornlens verify --format json` prints it."""
        return {
            "ok": self.ok,
            "status": self.status,
            "wrong": self.wrong,
            "checked": list(self.checked),
            "not_checked": list(self.not_checked),
            "intact": {name: list(fields) for name, fields in self.intact.items()},
            "digest": self.digest,
            "seal": None if self.seal is None else dict(self.seal),
        }
