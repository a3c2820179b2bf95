"""Writing a saved result again: is what follows from its answers and rules what stands there?

Sentences, rates, warnings, tables and pages follow from the answers and the rules. Here, the code
that writes them does so again, from the saved document, and what comes out is compared: field by
field, and the files beside it byte by byte. Whether the answers and rules are right is checked by
`hornlens.verifying`, which shares no code with this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.api import load
from hornlens.errors import InputError
from hornlens.formats.digests import KEY, digest_of
from hornlens.formats.files import UNENCODABLE
from hornlens.formats.jsonfiles import encoded, read_json
from hornlens.result import OTHERS, Result
from hornlens.results.analysis.review import FILE as REVIEW
from hornlens.results.analysis.review import agreement_beside, check_drawn, read_review

DOCUMENT, PAGE, RUN = "envelope.json", "report.html", "run.json"
NOT_COMPARED = (KEY,)
"""Fields of a document that are checked otherwise."""
OF_A_RUN = ("python", "started", "seconds", "asked_the_model", "answered_from_cache", "key", KEY)
"""Fields of run.json that nothing else in a result says."""
BESIDE = ("rules.csv", PAGE, REVIEW, *OTHERS)
"""Files that a result may have beside its document."""
NAMED_BY_FOLDER = re.compile("<title>Rules of (.*?)</title>")
"""The name in a page; where a document has none, it is that of the folder in which it was saved."""


@dataclass(frozen=True)
class Rewriting:
    """What came out when a result was written again.

    `different` is the first field or file that differs, None if none does; `files` are those beside
    the document that came out the same, `missing` those that are not there.
    """

    different: str | None
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def rewrite(path: Path, content: Any) -> Rewriting:
    """Write a result again that this version wrote: its document, and the files beside it.

    Args:
        path: The document; what stands in its folder is compared if it has its usual name.
        content: What the document holds.
    """
    try:
        result = load(path)
    except InputError as error:
        if error.path is None or Path(error.path).name == path.name:
            raise
        return Rewriting(str(InputError(error.message, Path(error.path).name, error.line)))
    folder = path.parent
    files = result._files(folder.resolve().name)
    again = json.loads(files.pop(DOCUMENT))
    if (difference := next(changed_fields(content, again), None)) is not None:
        return Rewriting(difference)
    if path.name != DOCUMENT:
        return Rewriting(None, missing=tuple(files))
    try:
        return _rewritten_files(folder, result, content, files)
    except InputError as error:
        name = None if error.path is None else Path(error.path).name
        return Rewriting(str(InputError(error.message, name, error.line)))


def _rewritten_files(
    folder: Path, result: Result, content: Any, files: dict[str, str]
) -> Rewriting:
    """Compare the files beside a document with those that it gives."""
    same, missing = [], []
    for name, text in files.items():
        beside = folder / name
        if not beside.is_file():
            missing.append(name)
            continue
        if name == RUN:
            difference = _changed_run(beside, text, "model" in content)
        elif name == PAGE:
            difference = _changed_page(beside, text, result, content)
        else:
            difference = None if _holds(beside, text) else f"{name}: is not that of this result"
        if difference is not None:
            return Rewriting(difference)
        same.append(name)
    review = read_review(folder)
    if review is not None:
        check_drawn(review, result, folder / REVIEW)
        if not _holds(folder / REVIEW, review.text):
            return Rewriting(f"{REVIEW}: its counts are not those of its own answers")
        same.append(REVIEW)
    for name in BESIDE:
        if name not in same and name not in missing and (folder / name).is_file():
            return Rewriting(f"{name}: this result has none; it is that of another one")
    return Rewriting(None, tuple(same), tuple(missing))


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode("utf-8", UNENCODABLE)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None


def _changed_run(path: Path, text: str, is_named: bool) -> str | None:
    """Return what is wrong with run.json, None if nothing is: what the run alone knows may vary.

    A result that is not `is_named` goes by its folder, which may have got another name.
    """
    content, again = read_json(path), json.loads(text)
    if not isinstance(content, dict) or content.get(KEY) != digest_of(content):
        return f"{RUN}: {KEY}: is another one, so the file was changed after it was written"
    if {*content} - {"key"} != {*again} - {"key"}:
        return f"{RUN}: has other fields than that of this result"
    left_out = OF_A_RUN if is_named else (*OF_A_RUN, "probe")
    bare = {key: value for key, value in again.items() if key not in left_out}
    difference = next(changed_fields(content, bare), None)
    return None if difference is None else f"{RUN}: {difference}"


def _changed_page(path: Path, text: str, result: Result, content: Any) -> str | None:
    """Return what is wrong with report.html, None if nothing is.

    It may have been made before or after a person checked the replies; and where the result has no
    name of its own, in a folder of another name.
    """
    if _holds(path, text):
        return None
    from hornlens.report.page.result import result_page

    review = agreement_beside(path.parent, result) if result.asked else ""
    if review and _holds(path, result_page(result, result.as_json(), review=review)):
        return None
    if "model" not in content:
        title = NAMED_BY_FOLDER.search(path.read_text("utf-8", "replace")[:4096])
        if title is not None and _holds(path, result._files(unescape(title[1]))[PAGE]):
            return None
    return f"{PAGE}: is not the page of this result; `hornlens report` makes it again"


def is_of_this_version(content: Any) -> bool:
    """Return whether this version wrote a document: another one may word things differently.

    Files without a digest are older, whatever version they name.
    """
    named = isinstance(content, dict) and content.get("hornlens") == __version__
    return named and KEY in content


def changed_fields(there: Any, again: Any, where: str = "") -> Iterator[str]:
    """Yield the fields of `again` that are not the same in `there`; it may have others."""
    if isinstance(again, dict) and isinstance(there, dict):
        for key, value in again.items():
            if not where and key in NOT_COMPARED:
                continue
            own = f"{where}.{key}" if where else key
            if key not in there:
                yield f"{own}: is missing"
            else:
                yield from changed_fields(there[key], value, own)
    elif isinstance(again, list) and isinstance(there, list):
        if len(again) != len(there):
            yield f"{where}: has {len(there):,} entries, not {len(again):,}"
        for number, (one, other) in enumerate(zip(there, again, strict=False)):
            yield from changed_fields(one, other, f"{where}[{number}]")
    elif type(there) is not type(again) or encoded(there) != encoded(again):
        yield f"{where}: is {_shown(there)}, not {_shown(again)}"


def _shown(value: Any) -> str:
    text = encoded(value)
    return text if len(text) <= 80 else f"{text[:76]} …"
