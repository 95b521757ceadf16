"""Tokens that are signed without being seen: RSABSSA-SHA384-PSS-Deterministic of RFC 9474.

    person    z = PSS(message) r^e mod n        the message is 32 random bytes, and z tells nothing of it
    issuer    s = z^d mod n                     once for each code
    person    t = s / r mod n                   an RSASSA-PSS signature of the message, which anybody checks

The issuer sees the code and z, the server sees the message and t. For every pair of them there is an r that fits, so that no
computation tells which code a token came from.
"""

import base64
import binascii
import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey, generate_private_key

from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError

BITS = 2048
SALT = 48
MESSAGE_BYTES = 32
LENGTH = hashlib.sha384().digest_size
PSS = padding.PSS(padding.MGF1(hashes.SHA384()), SALT)


@dataclass(frozen=True)
class Blinding:
    """A message on its way to the issuer: what the person keeps, and what is sent."""

    message: bytes
    inverse: int
    """1 / r mod n, which unblinds the signature."""
    blinded: bytes


def blind(key: RSAPublicKey, message: bytes, *, salt: bytes | None = None, inverse: int | None = None) -> Blinding:
    """A message that nobody can recognise; salt and 1/r are given by test vectors alone."""
    n, e = key.public_numbers().n, key.public_numbers().e
    encoded = int.from_bytes(_encoded(message, n.bit_length() - 1, fresh_bytes(SALT) if salt is None else salt))
    if math.gcd(encoded, n) != 1:
        raise SurveyError("the message cannot be blinded; take another one")
    unblinding = _unit(n) if inverse is None else inverse
    blinded = encoded * pow(pow(unblinding, -1, n), e, n) % n
    return Blinding(message, unblinding, blinded.to_bytes(_length(n)))


def blind_sign(key: RSAPrivateKey, blinded: bytes) -> bytes:
    """The signature of something blinded; by the two primes, and checked, so that a fault of the machine gives nothing of the key away."""
    numbers = key.private_numbers()
    n, e = numbers.public_numbers.n, numbers.public_numbers.e
    given = int.from_bytes(blinded)
    if len(blinded) != _length(n) or given >= n:
        raise SurveyError("what is to be signed is none: as many bytes as the key has, and a number below it")
    factor = _unit(n)  # the time that it takes tells of a number that nobody chose
    hidden = given * pow(factor, e, n) % n
    p, q = pow(hidden % numbers.p, numbers.dmp1, numbers.p), pow(hidden % numbers.q, numbers.dmq1, numbers.q)
    signed = (q + (p - q) * numbers.iqmp % numbers.p * numbers.q) * pow(factor, -1, n) % n
    if pow(signed, e, n) != given:
        raise SurveyError("the signature came out wrong, and is not given out")
    return signed.to_bytes(_length(n))


def finalize(key: RSAPublicKey, blinding: Blinding, signature: bytes) -> bytes:
    """The signature of the message itself; refused where the issuer signed something else."""
    n = key.public_numbers().n
    plain = (int.from_bytes(signature) * blinding.inverse % n).to_bytes(_length(n))
    if not verifies(key, blinding.message, plain):
        raise SurveyError("the issuer's signature is none of what was sent; nothing was lost, ask again")
    return plain


def verifies(key: RSAPublicKey, message: bytes, signature: bytes) -> bool:
    """Whether it is the issuer's signature of a message."""
    try:
        key.verify(signature, message, PSS, hashes.SHA384())
    except InvalidSignature:
        return False
    return True


def as_token(message: bytes, signature: bytes) -> str:
    """What a message to the server has as its token."""
    return f"{to_text(message)}.{to_text(signature)}"


def token_verifies(key: RSAPublicKey, token: str) -> bool:
    """Whether a token is one of the issuer's."""
    first, _, second = token.partition(".")
    message, signature = from_text(first), from_text(second)
    return (
        message is not None
        and signature is not None
        and len(message) == MESSAGE_BYTES
        and verifies(key, message, signature)
    )


def to_text(data: bytes) -> str:
    """Bytes in base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_text(text: str) -> bytes | None:
    """The bytes of such a text, where it is the one text of theirs."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None
    return data if to_text(data) == text else None


def new_issuer(path: Path) -> RSAPrivateKey:
    """Writes a new private key for blind tokens, for nobody else to read."""
    key = generate_private_key(65537, BITS)
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
    return key


def read_issuer(path: Path) -> RSAPrivateKey:
    """The private key of a file."""
    try:
        key = form.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey) or key.key_size < BITS:
        raise SurveyError(
            f"{str(path)!r} has no private key of RSA with {BITS} bits and more; `scumble collect new` makes one"
        )
    return key


def issuer_text(key: RSAPublicKey) -> str:
    """A public key as a survey has it."""
    return base64.b64encode(key.public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)).decode()


def issuer_of(text: str) -> RSAPublicKey:
    """The public key of a survey."""
    try:
        key = form.load_der_public_key(base64.b64decode(text, validate=True))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPublicKey) or not BITS <= key.key_size <= 4096 or key.public_numbers().e != 65537:
        raise SurveyError("the survey's issuer has no key of RSA; get the survey again from its collector")
    return key


def _encoded(message: bytes, bits: int, salt: bytes) -> bytes:
    """EMSA-PSS of RFC 8017, 9.1.1, with SHA-384."""
    length = -(-bits // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - LENGTH - 2) + b"\x01" + salt
    masked = bytes(a ^ b for a, b in zip(block, _mask(digest, len(block)), strict=True))
    first = masked[0] & (0xFF >> (8 * length - bits))
    return bytes([first]) + masked[1:] + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 with SHA-384."""
    parts = [hashlib.sha384(seed + i.to_bytes(4)).digest() for i in range(-(-length // LENGTH))]
    return b"".join(parts)[:length]


def _unit(n: int) -> int:
    """A random number below n that has an inverse."""
    while True:
        drawn = int.from_bytes(fresh_bytes(_length(n))) >> (8 * _length(n) - n.bit_length())
        if 0 < drawn < n and math.gcd(drawn, n) == 1:
            return drawn


def _length(n: int) -> int:
    return -(-n.bit_length() // 8)
