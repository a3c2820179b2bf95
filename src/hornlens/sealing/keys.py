"""Ed25519 keys in PEM files. A private key is never printed, and its file never overwritten."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.errors import HornlensError, InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

PASSPHRASE = "HORNLENS_SEAL_PASSPHRASE"
"""The variable that has the passphrase of a private key, if it has one."""


def new_key(name: Path) -> tuple[Path, Path]:
    """Make a key pair: NAME.pem for sealing, which only its owner can read, and NAME.pub.pem.

    With a passphrase in the environment the private key is encrypted. Neither file may be there.
    """
    _, ed25519, forms = _cryptography()
    private, public = name.with_name(f"{name.name}.pem"), name.with_name(f"{name.name}.pub.pem")
    key = ed25519.Ed25519PrivateKey.generate()
    passphrase = _passphrase()
    how = forms.NoEncryption() if passphrase is None else forms.BestAvailableEncryption(passphrase)
    data = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, how)
    shown = key.public_key().public_bytes(
        forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
    )
    if os.path.lexists(public):
        raise InputError("is there already: a key is never overwritten", public)
    _write_new(private, data, 0o600)
    try:
        _write_new(public, shown, 0o644)
    except InputError:
        private.unlink(missing_ok=True)
        raise
    return private, public


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file."""
    invalid, ed25519, forms = _cryptography()
    data, passphrase = _read(path), _passphrase()
    if b"PUBLIC KEY" in data:
        raise InputError("is a public key: a seal is made with the private one", path)
    try:
        if b"ENCRYPTED" not in data:
            passphrase = None
        key = forms.load_pem_private_key(data, passphrase)
    except TypeError:
        raise InputError(f"has a passphrase: put it into {PASSPHRASE}", path) from None
    except (ValueError, invalid):
        if passphrase is not None:
            raise InputError(f"does not open with the passphrase in {PASSPHRASE}", path) from None
        raise InputError("is no private key in PEM (PKCS#8)", path) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputError("is no Ed25519 key", path)
    private: Ed25519PrivateKey = key
    return private


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a file."""
    invalid, ed25519, forms = _cryptography()
    data = _read(path)
    if b"PRIVATE KEY" in data:
        raise InputError("is a private key: a seal is checked with the public one", path)
    try:
        key = forms.load_pem_public_key(data)
    except (ValueError, invalid):
        raise InputError("is no public key in PEM", path) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise InputError("is no Ed25519 key", path)
    public: Ed25519PublicKey = key
    return public


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return what a public key is called: the SHA-256 of its SubjectPublicKeyInfo in DER."""
    _, _, forms = _cryptography()
    data = key.public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{sha256(data).hexdigest()}"


def _cryptography() -> tuple[Any, Any, Any]:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise HornlensError("seals need cryptography: pip install 'hornlens[seal]'") from None
    return UnsupportedAlgorithm, ed25519, serialization


def _passphrase() -> bytes | None:
    return os.fsencode(os.environ.get(PASSPHRASE, "")) or None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that is not there yet, and that nobody else may open meanwhile."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise InputError("is there already: a key is never overwritten", path) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
