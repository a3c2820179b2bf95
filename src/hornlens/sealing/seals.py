"""seal.json beside a result: written with a private key, checked with the public one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.errors import InputError
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.sealing.dsse import BadSeal, Signed, envelope_of, pae, signed_in
from hornlens.sealing.keys import fingerprint, read_private_key, read_public_key
from hornlens.sealing.statements import SealStatement, facts_of

FILE = "seal.json"
IN_FOLDERS = (
    *("envelope.json", "explanation.json", "table.json", "study.json", "bias.json"),
    "comparison.json",
)
"""Documents that have a folder of their own: the seal covers all of it."""


@dataclass(frozen=True)
class Seal:
    """What a seal says: who sealed a result and when, and whether that was checked with a key."""

    key: str
    sealed: str
    checked: bool
    files: int
    claims: tuple[Mapping[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as `hornlens verify --format json` prints it."""
        return {
            "checked": self.checked,
            "key": self.key,
            "sealed": self.sealed,
            "files": self.files,
            "claims": [dict(claim) for claim in self.claims],
        }


def seal_of(document: Path) -> Path:
    """Return where the seal of a document is: seal.json in its folder, or NAME.seal.json."""
    if document.name in IN_FOLDERS:
        return document.with_name(FILE)
    return document.with_name(f"{document.stem}.seal.json")


def files_of(document: Path) -> dict[str, str]:
    """Return the SHA-256 of all that a seal covers, by name: a document, or all of its folder.

    Names that begin with a dot are not part of a result, and neither is the seal.
    """
    if document.name not in IN_FOLDERS:
        return {document.name: _sha256(document)}
    digests = {}
    for parent, folders, names in os.walk(document.parent):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = Path(parent)
        for name in folders:
            if (inside / name).is_symlink():
                raise InputError("is a link to a folder, which no seal covers", inside / name)
        for name in names:
            path = inside / name
            relative = path.relative_to(document.parent).as_posix()
            if not name.startswith(".") and relative != FILE:
                digests[relative] = _sha256(path)
    return digests


def write_seal(
    document: Path,
    content: Mapping[str, Any],
    key: Path,
    verified: Mapping[str, Any],
    against: Path | None = None,
) -> Path:
    """Seal a result that was verified; return where the seal is."""
    private = read_private_key(key)
    about: dict[str, Any] = {
        "sealed": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sealed_by": f"hornlens {__version__}",
        "verified": dict(verified),
    }
    if against is not None:
        about["against"] = {"name": against.name, "digest": {"sha256": _sha256(against)}}
    payload = SealStatement(files_of(document), facts_of(content), about).payload()
    signed = Signed(payload, private.sign(pae(payload)), fingerprint(private.public_key()))
    path = seal_of(document)
    write_file(path, json_text(envelope_of(signed)))
    return path


def read_seal(document: Path, content: Mapping[str, Any], key: Path | None = None) -> Seal | None:
    """Check the seal of a result, by a public key if there is one; return what it says.

    Without a key, only whether it is a seal of these files is checked: anybody can have made it.
    None: there is no seal, and none was asked for.

    Raises:
        BadSeal: if it does not hold.
        InputError: if the key cannot be read.
    """
    path = seal_of(document)
    public = None if key is None else read_public_key(key)
    if not path.is_file():
        if public is None:
            return None
        raise BadSeal(f"there is no {path.name}: it is not sealed")
    try:
        signed = signed_in(read_json(path))
    except InputError as error:
        raise BadSeal(error.message) from None
    if public is not None:
        _check_signature(public, signed)
    statement = SealStatement.parse(signed.payload)
    _check_files(statement.files, files_of(document))
    facts = facts_of(content)
    for name in sorted(facts.keys() | statement.facts.keys()):
        if statement.facts.get(name) != facts.get(name):
            raise BadSeal(f"its field {name!r} is not what the document gives")
    return Seal(
        signed.key if public is None else fingerprint(public),
        statement.about["sealed"],
        public is not None,
        len(statement.files),
        tuple(facts["claims"]),
    )


def _check_signature(public: Any, signed: Signed) -> None:
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(signed.signature, pae(signed.payload))
    except InvalidSignature:
        own = fingerprint(public)
        other = f"it names the key {signed.key}" if signed.key != own else "it was changed"
        raise BadSeal(f"is not signed by the key {own}: {other}") from None


def _check_files(sealed: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Check that the files of a result are those that were sealed: no more, no less."""
    for name, digest in sealed.items():
        if name not in there:
            raise BadSeal(f"{name} was sealed, and is not there")
        if there[name] != digest:
            raise BadSeal(f"{name} is not the file that was sealed")
    for name in there:
        if name not in sealed:
            raise BadSeal(f"{name} is there, and was not sealed")


def _sha256(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise InputError("is no regular file, and no seal covers it", path)
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
