"""Documents that are no results: each kind, by the code that checks it and the ledger of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.grids import Wrong
from hornlens.verifying.kinds import Kind
from hornlens.verifying.ledger import Ledger
from hornlens.verifying.outcomes import Verification
from hornlens.verifying.verify import BEYOND


@dataclass
class DocumentNotes:
    """What was checked of a document, what was not, and which ledger it goes by then.

    `missing` are the files beside it, or named in it, that are not there: what rests on them is
    not checked.
    """

    ledger: Ledger
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def _study(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.ledgers.studies import STUDY
    from hornlens.verifying.studies import check_study

    return check_study(content, path, DocumentNotes(STUDY))


def _times(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.ledgers.studies import TIMES
    from hornlens.verifying.times import check_times

    return check_times(content, path, DocumentNotes(TIMES))


def _bias(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.biases import check_bias
    from hornlens.verifying.ledgers.biases import BIAS

    return check_bias(content, DocumentNotes(BIAS))


def _comparison(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.comparisons import check_comparison
    from hornlens.verifying.ledgers.comparisons import COMPARISON

    return check_comparison(content, path, DocumentNotes(COMPARISON))


def _check(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.comparisons import check_checks
    from hornlens.verifying.ledgers.checks import CHECK

    return check_checks(content, path, DocumentNotes(CHECK))


def _session(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.explored import check_session
    from hornlens.verifying.ledgers.explorations import SESSION

    checked, not_checked = check_session(path)
    return DocumentNotes(SESSION, checked, not_checked)


def _review(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.ledgers.runs import REVIEW
    from hornlens.verifying.times import check_review

    return check_review(content, path, DocumentNotes(REVIEW))


def _run(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.ledgers.runs import RUN
    from hornlens.verifying.times import check_run

    return check_run(content, path, DocumentNotes(RUN))


def _bias_run(content: Any, path: Path) -> DocumentNotes:
    from hornlens.verifying.ledgers.runs import BIAS_RUN
    from hornlens.verifying.times import check_bias_run

    return check_bias_run(content, path, DocumentNotes(BIAS_RUN))


DOCUMENTS: Mapping[Kind, Callable[[Any, Path], DocumentNotes]] = {
    "study": _study,
    "times": _times,
    "bias": _bias,
    "comparison": _comparison,
    "check": _check,
    "session": _session,
    "review": _review,
    "run": _run,
    "bias run": _bias_run,
}
"""By kind, what checks a document."""
NEWEST = 1
"""The newest format of these documents that is understood."""


def verify_document(kind: Kind, content: Any, path: Path) -> tuple[Verification, Ledger | None]:
    """Check a document that is no result; return what came out, and its ledger if nothing is wrong.

    Args:
        kind: What it is.
        content: What it holds.
        path: Where it stands: files beside it are looked at.
    """
    number = content.get("format", 0)
    if type(number) is not int:
        raise InputError("its format is not a number: it is no document of hornlens", path)
    if number > NEWEST:
        raise InputError("was written by a newer hornlens: upgrade hornlens", path)
    try:
        notes = DOCUMENTS[kind](content, path)
    except Wrong as wrong:
        return Verification((), wrong=str(wrong)), None
    except InputError as error:
        raise InputError(error.message, error.path or path, error.line) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, *BEYOND):
        raise InputError(f"is no {kind} of hornlens, or of another version", path) from None
    if notes.missing:
        some = ", ".join(map(str, notes.missing[:3])) + (
            " and others" if len(notes.missing) > 3 else ""
        )
        notes.not_checked.append(f"what rests on files that are not there: {some}")
    return Verification(tuple(notes.checked), tuple(notes.not_checked)), notes.ledger
