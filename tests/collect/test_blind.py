"""Blind tokens: the numbers of the standard, and nothing that tells which code a token came from."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPrivateNumbers,
    RSAPublicNumbers,
    generate_private_key,
    rsa_crt_dmp1,
    rsa_crt_dmq1,
    rsa_crt_iqmp,
)

from scumble.collect.blind import (
    as_token,
    blind,
    blind_sign,
    finalize,
    from_text,
    issuer_of,
    issuer_text,
    new_issuer,
    read_issuer,
    to_text,
    token_verifies,
)
from scumble.errors import SurveyError

VECTOR = json.loads((Path(__file__).parent / "blind_rsa.json").read_text())


def number(name: str) -> int:
    return int(VECTOR[name], 16)


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def test_the_standard_s_own_numbers_come_out() -> None:
    """From the test vectors of the working group (SHA-384, a salt of 48 bytes, 4,096 bits)."""
    n, e, d, p, q = (number(name) for name in "nedpq")
    parts = rsa_crt_dmp1(d, p), rsa_crt_dmq1(d, q), rsa_crt_iqmp(p, q)
    key = RSAPrivateNumbers(p, q, d, *parts, RSAPublicNumbers(e, n)).private_key()
    blinding = blind(
        key.public_key(), bytes.fromhex(VECTOR["msg"]), salt=bytes.fromhex(VECTOR["salt"]), inverse=number("inv")
    )
    assert blinding.blinded.hex() == VECTOR["blinded_msg"]
    signature = blind_sign(key, blinding.blinded)
    assert signature.hex() == VECTOR["blind_sig"]
    assert finalize(key.public_key(), blinding, signature).hex() == VECTOR["sig"]


def test_a_token_is_good_and_a_changed_one_is_not(key: RSAPrivateKey) -> None:
    public = key.public_key()
    blinding = blind(public, bytes(32))
    signature = finalize(public, blinding, blind_sign(key, blinding.blinded))
    token = as_token(bytes(32), signature)
    assert token_verifies(public, token)
    other = generate_private_key(65537, 2048).public_key()
    assert not token_verifies(other, token)
    for wrong in (
        "",
        ".",
        "x",
        token[:-2],
        token + "A",
        token.replace(".", ""),
        as_token(bytes(31), signature),
        as_token(bytes([1] * 32), signature),
        "é." + token,
    ):
        assert not token_verifies(public, wrong)


def test_what_the_issuer_sees_is_none_of_the_token(key: RSAPrivateKey) -> None:
    """The same message is blinded differently each time, and by any r: for each pair of what the issuer and the server see there is one that fits."""
    public = key.public_key()
    n, e = public.public_numbers().n, public.public_numbers().e
    first, second = (blind(public, bytes([i] * 32)) for i in range(2))
    assert blind(public, bytes(32)).blinded != first.blinded
    signature = int.from_bytes(finalize(public, second, blind_sign(key, second.blinded)))
    fits = int.from_bytes(blind_sign(key, first.blinded)) * pow(signature, -1, n) % n
    assert pow(signature, e, n) * pow(fits, e, n) % n == int.from_bytes(first.blinded)


def test_what_cannot_be_signed_is_refused(key: RSAPrivateKey) -> None:
    n = key.public_key().public_numbers().n
    for blinded in (b"", bytes(255), n.to_bytes(256), bytes([255] * 256)):
        with pytest.raises(SurveyError):
            blind_sign(key, blinded)
    blinding = blind(key.public_key(), bytes(32))
    with pytest.raises(SurveyError, match="none of what was sent"):
        finalize(key.public_key(), blinding, bytes(256))


def test_a_text_of_bytes_is_one_text() -> None:
    assert from_text(to_text(b"\xff\xfe")) == b"\xff\xfe"
    for wrong in ("_", "__4=", "__4 ", "a+b/", "__5", "\u00e9\u00e9"):
        assert from_text(wrong) is None


def test_keys_are_read_as_they_were_written(tmp_path: Path, key: RSAPrivateKey) -> None:
    made = new_issuer(tmp_path / "k")
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    assert issuer_text(read_issuer(tmp_path / "k").public_key()) == issuer_text(made.public_key())
    assert issuer_of(issuer_text(made.public_key())).public_numbers() == made.public_key().public_numbers()
    (tmp_path / "none").write_text("no key")
    for path in (tmp_path / "none", tmp_path / "nowhere"):
        with pytest.raises(SurveyError, match="no private key of RSA"):
            read_issuer(path)
    for text in ("", "AAAA", "é", issuer_text(generate_private_key(65537, 1024).public_key())):
        with pytest.raises(SurveyError):
            issuer_of(text)
