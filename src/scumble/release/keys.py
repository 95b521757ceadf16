"""Ed25519 keys in the files that everybody has: PKCS8 or OpenSSH for the private one, PEM or OpenSSH for the public one."""

import base64
import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from scumble.core.errors import InputError

LARGEST = 64 << 10
"""Bytes of a file with a key, or a signature, at most."""

MAKE = "`scumble sign --new-key FILE` makes one"


def new_key(path: Path) -> Path:
    """Writes a new private key, for nobody else to read, and beside it the public one, whose path is returned."""
    public = path.with_name(f"{path.name}.pub")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    shown = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _written(path, pem, 0o600)
    _written(public, shown, 0o644)
    return public


def _written(path: Path, data: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise InputError(f"{str(path)!r} exists and is kept; choose another name for the key") from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {(error.strerror or str(error)).lower()}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def private_key(path: Path) -> Ed25519PrivateKey:
    """The private key of a file."""
    data = _read(path)
    load = form.load_ssh_private_key if b"OPENSSH" in data else form.load_pem_private_key
    try:
        key = load(data, None)
    except TypeError:
        raise InputError(f"the key in {str(path)!r} has a passphrase; sign with a copy that has none") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{str(path)!r} has no private key in PKCS8 or OpenSSH; {MAKE}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"the key in {str(path)!r} is not of Ed25519; {MAKE}")
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key of a file; a private one is refused, so that nobody gets used to handing it around."""
    data = _read(path)
    if b"PRIVATE" in data:
        raise InputError(f"{str(path)!r} is a private key, which stays with its owner; give the public one, FILE.pub")
    load = form.load_ssh_public_key if data.startswith(b"ssh-") else form.load_pem_public_key
    try:
        key = load(data)
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{str(path)!r} has no public key in PEM or OpenSSH; {MAKE}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"the key in {str(path)!r} is not of Ed25519; {MAKE}")
    return key


def encoded(key: Ed25519PublicKey) -> str:
    """A public key as text: its 32 bytes in base64."""
    return base64.b64encode(key.public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)).decode()


def _read(path: Path) -> bytes:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise InputError(f"there is no key in {str(path)!r}; {MAKE}")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {(error.strerror or str(error)).lower()}") from None
