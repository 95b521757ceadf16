"""Signatures: who stands by a release, exactly this one, and after which verdict.

What is signed is a statement in canonical JSON: the digest of the manifest, the signer's name, the time and the verdict. The manifest lists the hash of
every file, all tables of a release with several included, so that the digest binds them all. Signatures lie in a folder of their own, which is not hashed:
they are made after the manifest, and more than one can be.
"""

import base64
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError

import scumble
from scumble.core.atomic import whole_file
from scumble.core.errors import ParameterError, ReleaseError
from scumble.release.check import Check, said
from scumble.release.document import read_document
from scumble.release.folder import SIGNATURES
from scumble.release.keys import LARGEST, encoded, private_key, public_key
from scumble.release.release import Release, open_release
from scumble.release.verify import verify as verified
from scumble.spec.spec import Model

CONTEXT = b"scumble-signature 1\n"
"""Stands before every statement, so that a signature of something else is none of a release."""


class Statement(Model):
    """What is signed."""

    format: Literal["scumble-signature"] = "scumble-signature"
    version: Literal[1] = 1
    digest: str
    """Of the manifest."""
    signer: str
    time: str
    """In UTC, by the signer's clock."""
    verdict: str
    key: str
    """The public key, its 32 bytes in base64."""

    def message(self) -> bytes:
        """The bytes under the signature."""
        return CONTEXT + json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False).encode()


class SignatureFile(Model):
    """A file of the folder of signatures."""

    statement: Statement
    signature: str


@dataclass(frozen=True)
class Signature:
    """A signature of a release, and what is wrong with it, if anything."""

    name: str
    statement: Statement | None
    problem: str


def sign(release: Release | str | Path, key: str | Path, *, name: str | None = None) -> Path:
    """Signs a release that verifies, and returns the path of the signature.

    key    the file of a private key of Ed25519
    name   who signs: a line of text; the name of the key's file when absent
    """
    opened = release if isinstance(release, Release) else open_release(release)
    if not opened.in_folder:
        raise ReleaseError(
            "a signature lies in the folder of a release, and this one lives in a database; sign its folder"
        )
    private = private_key(Path(key))
    signer = name if name is not None else Path(key).stem
    if not signer.strip() or not signer.isprintable() or len(signer) > 200:
        raise ParameterError("the name of a signer is a line of up to 200 characters that can be printed")
    statement = Statement(
        digest=opened.manifest.digest,
        signer=signer,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        verdict=_verdict(opened),
        key=encoded(private.public_key()),
    )
    signature = base64.b64encode(private.sign(statement.message())).decode()
    return _kept(opened.path, SignatureFile(statement=statement, signature=signature))


def _verdict(release: Release) -> str:
    """What verify said; a release that does not verify, or whose coins came from a seed, is not signed."""
    if not release.manifest.randomness.secure:
        raise ReleaseError(
            "the coins of the release were drawn from a seed, so it is not signed; publish again without one"
        )
    checks = verified(release)
    bad = next((check for check in checks if not check.passed), None)
    if bad is not None:
        raise ReleaseError(f"the release does not verify, so it is not signed: {bad.name}: {bad.detail}")
    cautions = sum(check.standing == "caution" for check in checks)
    return f"verified by scumble {scumble.__version__}: {len(checks)} checks, none failed, {cautions} cautions"


def _kept(folder: Path, signed: SignatureFile) -> Path:
    name = re.sub(r"[^A-Za-z0-9-]+", "-", signed.statement.signer).strip("-")[:60] or "signer"
    path = folder / SIGNATURES / f"{name}.sig"
    if path.exists() or path.is_symlink():
        raise ReleaseError(f"{SIGNATURES}/{path.name} exists and is kept; sign by another name, or remove it first")
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as aside:
        aside.write_text(json.dumps(signed.model_dump(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def signatures(release: Release) -> list[Signature]:
    """All signatures in the folder of a release, each looked at."""
    folder = release.path / SIGNATURES
    paths = sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []
    return [read_signature(path, release.manifest.digest) for path in paths]


def read_signature(path: Path, digest: str) -> Signature:
    """The signature in a file, held against the digest of a release."""
    try:
        if path.lstat().st_size > LARGEST:
            raise ValueError
        document: Any = read_document(path)[0]
        signed = SignatureFile.model_validate(document, strict=True)
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signed.statement.key, validate=True))
        key.verify(base64.b64decode(signed.signature, validate=True), signed.statement.message())
    except InvalidSignature:
        return Signature(path.name, None, "the signature is not that of its statement and key")
    except (OSError, ValueError, ValidationError):
        return Signature(path.name, None, "it cannot be read as a signature")
    other = (
        "" if signed.statement.digest == digest else "it is of another release, or of this one before it was changed"
    )
    return Signature(path.name, signed.statement, other)


def signature_checks(release: Release, by: str | Path | None) -> list[Check]:
    """Every signature that is there; and where a public key is given, that its owner signed."""
    held = signatures(release)
    lines = [_line(signature) for signature in held]
    if by is None:
        return lines
    key = encoded(public_key(Path(by)))
    good = next((s for s in held if s.statement is not None and not s.problem and s.statement.key == key), None)
    if good is None or good.statement is None:
        return [*lines, Check("signed by", False, f"no signature of this release is by the key in {Path(by).name}")]
    sentence = (
        f"{good.statement.signer}, {good.statement.time}, by the key in {Path(by).name}: {good.statement.verdict}"
    )
    return [*lines, Check("signed by", True, sentence)]


def _line(signature: Signature) -> Check:
    if signature.problem or signature.statement is None:
        return Check("signature", False, f"{signature.name}: {signature.problem}")
    given = signature.statement
    whose = f"{given.signer!r} signed at {given.time} by the key {given.key}; whose key that is shows `verify --by KEY`"
    return said("signature", whose)


def verify(release: Release | str | Path, *, by: str | Path | None = None, version_1: bool = False) -> list[Check]:
    """Everything that can be checked without the raw table, of an opened release or a folder.

    by          the file of a public key: whether its owner signed exactly this release
    version_1   you know that the release is of the first version of the format, which says less; else such a one fails
    """
    if by is not None:
        public_key(Path(by))  # a key that is none is wrong use, whatever the release is
    checks = verified(release, version_1=version_1)
    if checks[0].name == "hashes" and not checks[0].passed:
        return checks
    opened = release if isinstance(release, Release) else open_release(release)
    parts = opened.parts or [opened]  # of several that are read as one, each has its own
    return [*checks, *(check for part in parts for check in signature_checks(part, by))]
