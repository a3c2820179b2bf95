"""`verify` and `seal`: a saved result as a whole.

The digest, if there is one, shows that the document is as it was written. Its rules and counts are
worked out again by independent code (`hornlens.verifying`); what follows from them, and the files
beside it, is written again (`hornlens.rewriting`). A ledger says of every field which of these
covers it: what none does is listed by name. A seal (`hornlens.sealing`) says who vouches for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hornlens.errors import HornlensError, InputError
from hornlens.formats.digests import KEY, digest_of
from hornlens.formats.jsonfiles import read_json
from hornlens.sealing.dsse import BadSeal
from hornlens.sealing.seals import Seal, files_of, read_seal, seal_of, write_seal
from hornlens.verifying.documents import DOCUMENTS, verify_document
from hornlens.verifying.grids import Wrong
from hornlens.verifying.kinds import Kind, kind_of
from hornlens.verifying.ledger import Ledger
from hornlens.verifying.ledgers import ledger_of
from hornlens.verifying.ledgers.common import not_rewritten
from hornlens.verifying.outcomes import Verification
from hornlens.verifying.packed import check_packed
from hornlens.verifying.scored import FILE as SCORES
from hornlens.verifying.scored import check_scores
from hornlens.verifying.shapes import verify_shape
from hornlens.verifying.verify import BEYOND, document_in, verify_alone

DOCUMENT = "envelope.json"
NO_DIGEST = "that the file is as it was written: it has no digest"
NO_KEY = "whose seal {} is: --key PUB.pem checks it"
WRITTEN = "written again, and the same: sentences, rates, warnings and what else follows"
RUN = "run.json: when the run was, how long it took, and how many answers the cache had"
REVIEW = "review.json: what a person said of the replies"
MOST_NAMED = 8
"""How many files that are not part of a result are named; the others are counted."""


def verify(
    result: str | Path,
    against: str | Path | None = None,
    background: str | Path | None = None,
    *,
    key: str | Path | None = None,
    shape: bool = False,
) -> Verification:
    """Check a saved result: by independent code, and by writing it again. It asks no model.

    Args:
        result: The folder, or the envelope.json, table.json or explanation.json in it.
        against: The formula or table that `hornlens envelope` or `learn` was given, or the
            exploration.json in which `hornlens explore` kept the answers.
        background: The rules that were taken for granted: a Horn .cnf or an envelope.json.
        key: The public key of whoever is to have sealed the result, as a PEM file. Without it, a
            seal is not checked, and `not_checked` says so.
        shape: Whether it will do to check the shape and the digest of a result that cannot be
            recomputed without `against`. Its `status` is then "intact", or "unchecked".

    Returns:
        What was recomputed, what is only intact or not checked, and what is wrong, if anything.

    Raises:
        InputError: if a file is no result, or cannot be read.

    >>> import tempfile
    >>> from hornlens import extract
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     extract(lambda prompt, words: [0.9, 0.1], cache=False).save(folder)
    ...     done = verify(folder)
    >>> done.ok, done.status
    (True, 'recomputed')
    """
    path = document_in(Path(result))
    content = read_json(path)
    if not isinstance(content, Mapping):
        return verify_alone(path, against, background)  # which says what is wrong with it
    check_packed(content, path)  # what cannot be read is no finding
    try:
        sealed = read_seal(path, content, None if key is None else Path(key))
    except BadSeal as bad:
        wrong = f"{seal_of(path).name}: {bad}"
        return Verification((), wrong=wrong, digest=digest_of(content), has_digest=KEY in content)
    return _verified(path, content, against, background, shape, sealed)


def needs_file(content: Any) -> bool:
    """Return whether a document has rules, and nothing in it by which they could be checked."""
    if not isinstance(content, Mapping) or "rules" not in (inner := _rules_in(content)):
        return False
    return not any(key in inner for key in ("answers", "classifier", "kind"))


def _rules_in(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what has the rules: up to 0.2, a table.json had them inside."""
    inner = content.get("envelope")
    return inner if "rules" not in content and isinstance(inner, Mapping) else content


def digest_in(result: str | Path) -> str:
    """Return the digest of a result's document, worked out from what the file holds."""
    path = document_in(Path(result))
    content = read_json(path)
    if not isinstance(content, Mapping):
        raise InputError("is not a result of hornlens", path)
    return digest_of(content)


def seal(
    result: str | Path,
    key: str | Path,
    against: str | Path | None = None,
    background: str | Path | None = None,
) -> Path:
    """Verify a result, and seal it: sign all its files, and what it claims, with a private key.

    Args:
        result: The folder, or the document in it.
        key: The private Ed25519 key, as a PEM file. If it has a passphrase, that is taken from
            HORNLENS_SEAL_PASSPHRASE.
        against: As for `verify`.
        background: As for `verify`.

    Returns:
        Where the seal is: seal.json in the folder, or NAME.seal.json beside NAME.json.

    Raises:
        HornlensError: if the result does not verify, the key cannot be read, or `cryptography`
            is not installed. Then nothing is written.

    >>> import tempfile
    >>> from hornlens import extract
    >>> from hornlens.sealing import new_key
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     private, public = new_key(Path(folder) / "mine")
    ...     extract(lambda prompt, words: [0.9, 0.1], cache=False).save(f"{folder}/out")
    ...     seal(f"{folder}/out", private).name
    ...     verify(f"{folder}/out", key=public).sealed
    'seal.json'
    True
    """
    from hornlens.sealing.keys import read_private_key

    read_private_key(Path(key))  # before there is work to lose
    path = document_in(Path(result))
    before = files_of(path)
    content = read_json(path)
    if not isinstance(content, Mapping):
        raise InputError("is not a result of hornlens", path)
    done = _verified(path, content, against, background)
    if done.wrong is not None:
        raise HornlensError(f"{result}: does not verify, so it is not sealed: {done.wrong}")
    if files_of(path) != before:
        raise HornlensError(f"{result}: was changed while it was verified: seal it again")
    verified = {"status": done.status, "checked": done.checked, "not_checked": done.not_checked}
    source = None if against is None else Path(against)
    return write_seal(path, content, Path(key), verified, source)


def _verified(
    path: Path,
    content: Mapping[str, Any],
    against: str | Path | None,
    background: str | Path | None,
    shape: bool = False,
    sealed: Seal | None = None,
) -> Verification:
    """Check a document by its digest, by independent code, and by writing it again."""
    digest, has_digest = digest_of(content), KEY in content
    if content.get(KEY, digest) != digest:
        wrong = f"{KEY}: is {digest}, so the file was changed after it was written"
        return Verification((), wrong=wrong, digest=digest, has_digest=True)
    kind, ledger = _kind_of(content, path), None
    if is_about := kind in DOCUMENTS:
        if against is not None:
            raise InputError("--against is for formulas, tables and explorations", path)
        done, ledger = verify_document(kind, content, path)
    elif shape and against is None and needs_file(content):
        done = replace(verify_shape(_rules_in(content), path), recomputed=False)
    else:
        done = verify_alone(path, against, background)
    done = replace(done, digest=digest, has_digest=has_digest)
    if not done.ok:
        return done
    notes = _Notes([*done.checked], [*done.not_checked])
    if not has_digest:
        notes.not_checked.append(NO_DIGEST)
    try:
        with _made_again():
            if against is not None:
                _check_against(content, Path(against))
            if is_about:
                _check_document(kind, path, content, ledger, notes)
            else:
                _check_result(kind, path, content, ledger_of(content), notes)
    except Wrong as wrong:
        return replace(done, wrong=str(wrong))
    if sealed is not None and not sealed.checked:
        notes.not_checked.append(NO_KEY.format(seal_of(path).name))
    return replace(
        done,
        checked=tuple(notes.checked),
        not_checked=tuple(dict.fromkeys((*notes.not_checked, *notes.intact))),
        intact=notes.intact if has_digest else {},
        seal=None if sealed is None else sealed.as_json(),
    )


@dataclass(frozen=True)
class _Notes:
    """What was recomputed so far, what cannot be, and what only the digest covers."""

    checked: list[str]
    not_checked: list[str]
    intact: dict[str, tuple[str, ...]] = field(default_factory=dict)


@contextmanager
def _made_again() -> Iterator[None]:
    """Turn what stops the code that writes results into what is wrong with the document."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, *BEYOND):
        raise Wrong(
            "cannot be written again: a field is missing, or holds what no version writes"
        ) from None


def _check_against(content: Mapping[str, Any], against: Path) -> None:
    """Make again from its file what a result says of chance, or of a learner."""
    from hornlens.repeating import differs_from_file

    if (difference := differs_from_file(content, against)) is not None:
        raise Wrong(difference)


def _kind_of(content: Mapping[str, Any], path: Path) -> Kind:
    try:
        return kind_of(content)
    except InputError as error:
        raise InputError(error.message, path) from None


def _check_document(
    kind: Kind, path: Path, content: Mapping[str, Any], ledger: Ledger | None, notes: _Notes
) -> None:
    """Make a document about results again, where what it rests on is there; ask the ledger."""
    from hornlens.repeating import repeat
    from hornlens.rewriting import is_of_this_version

    if ledger is None:
        return
    if not is_of_this_version(content):
        ledger = not_rewritten(ledger, "what another version of hornlens worded and counted")
    elif (again := repeat(kind, content, path)) is not None:
        if again.different is not None:
            raise Wrong(again.different)
        notes.checked.append("made again: whatever else follows from the files that it rests on")
        if again.files:
            notes.checked.append(
                f"files beside it, those of this document: {', '.join(again.files)}"
            )
        if again.missing:
            notes.not_checked.append(f"files that are not there: {', '.join(again.missing)}")
    notes.intact.update(ledger.intact_in(content))


def _check_result(
    kind: Kind, path: Path, content: Mapping[str, Any], ledger: Ledger | None, notes: _Notes
) -> None:
    """Write a result again, look at the files beside it, and ask the ledger for the rest."""
    from hornlens.rewriting import BESIDE, is_of_this_version, rewrite

    if ledger is not None:
        notes.intact.update(ledger.intact_in(content))
    in_folder = path.name == DOCUMENT
    beside = {file.name for file in path.parent.iterdir()} - {path.name} if in_folder else set()
    if SCORES in beside and "answers" in content and "probe" in content:
        checked, not_checked = check_scores(content, path.with_name(SCORES))
        notes.checked.extend(checked)
        notes.not_checked.extend(not_checked)
    if kind == "learned formula":
        pass  # it has no rules; the learner ran again
    elif is_of_this_version(content):
        again = rewrite(path, content)
        if again.different is not None:
            raise Wrong(again.different)
        notes.checked.append(WRITTEN)
        if again.files:
            notes.checked.append(f"files beside it, those of this result: {', '.join(again.files)}")
        if again.missing and in_folder:
            notes.not_checked.append(f"files that are not there: {', '.join(again.missing)}")
    else:
        version = content.get("hornlens", "an unknown version")
        written = () if ledger is None else ledger.rewritten_in(content)
        fields = f": {', '.join(written)}" if written else ""
        words = f"what only hornlens {version} could write again{fields}"
        notes.intact[words] = written
        if files := sorted(beside & {*BESIDE} - {SCORES}):
            notes.not_checked.append(f"files beside it, of hornlens {version}: {', '.join(files)}")
    if "run.json" in beside:
        notes.not_checked.append(RUN)
    if "review.json" in beside:
        notes.not_checked.append(REVIEW)
    if others := sorted(beside - {*BESIDE, seal_of(path).name}):
        more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
        shown = ", ".join(others[:MOST_NAMED])
        notes.not_checked.append(f"files that are no part of the result: {shown}{more}")
