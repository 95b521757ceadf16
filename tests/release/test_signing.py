"""Signatures: they bind a person to exactly one release, to every byte of it, and nothing that does not verify gets one."""

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from forged import rewritten
from naming import publish_openly
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import InputError, ReleaseError
from scumble.release.keys import new_key

RUN = CliRunner()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = np.random.default_rng(4)
    table = pa.table({"sex": draw.choice(["F", "M"], 300), "ill": draw.choice(["flu", "cold", "hiv"], 300)})
    how = {"sensitive": "ill", "domains": {"ill": ["flu", "cold", "hiv"]}, "gamma": 3}
    return publish_openly(table, tmp_path_factory.mktemp("signed") / "r", **how).path


@pytest.fixture
def folder(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "r"))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "officer.key")
    return tmp_path / "officer.key"


def public(key: Path) -> Path:
    return key.with_name(f"{key.name}.pub")


def failed(folder: Path, by: Path | None = None) -> dict[str, str]:
    return {check.name: check.detail for check in scumble.verify(folder, by=by) if not check.passed}


def test_a_key_is_for_its_owner_alone_and_is_never_replaced(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert isinstance(form.load_pem_private_key(key.read_bytes(), None), Ed25519PrivateKey)
    with pytest.raises(InputError, match="is kept"):
        new_key(key)


@pytest.mark.slow
def test_a_signed_release_verifies_by_the_key_of_its_signer(folder: Path, key: Path) -> None:
    path = scumble.sign(folder, key, name="D. P. Officer")
    assert path == folder / "signatures" / "D-P-Officer.sig"
    assert failed(folder, public(key)) == {}
    assert any(check.name == "signed by" for check in scumble.verify(folder, by=public(key)))
    said = [check.detail for check in scumble.verify(folder) if check.name == "signature"]
    assert len(said) == 1
    assert "'D. P. Officer' signed at" in said[0]


@pytest.mark.slow
def test_a_release_that_nobody_or_somebody_else_signed_fails(folder: Path, key: Path, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other.key")
    assert "no signature" in failed(folder, public(key))["signed by"]
    scumble.sign(folder, key)
    assert "no signature" in failed(folder, other)["signed by"]
    assert RUN.invoke(app, ["verify", str(folder), "--by", str(other)]).exit_code == 1
    assert RUN.invoke(app, ["verify", str(folder), "--by", str(public(key))]).exit_code == 0


Change = Callable[[Path], object]


def _restated(**fields: str) -> Change:
    def change(path: Path) -> None:
        document = json.loads(path.read_text())
        document["statement"].update(fields)
        path.write_text(json.dumps(document))

    return change


@pytest.mark.parametrize(
    "change",
    [
        _restated(signer="Somebody else"),
        _restated(verdict="perfect"),
        _restated(time="1999-01-01T00:00:00+00:00"),
        _restated(digest="0" * 64),
        _restated(key="AAAA"),
        lambda path: path.write_text("{}"),
        lambda path: path.write_bytes(b"\xff" * 100),
        lambda path: path.write_bytes(b"[" * 100_000),
    ],
)
def test_a_signature_that_somebody_rewrote_is_none(change: Change, folder: Path, key: Path) -> None:
    change(scumble.sign(folder, key))
    assert failed(folder, public(key)).keys() == {"signature", "signed by"}


def test_a_signature_is_of_one_manifest_and_so_of_every_file(folder: Path, key: Path) -> None:
    scumble.sign(folder, key)
    rewritten(folder, lambda document: document.update(software="scumble 99"))
    assert "another release" in failed(folder, public(key))["signature"]


def test_what_does_not_verify_is_not_signed(folder: Path, key: Path) -> None:
    (folder / "raw.csv").write_text("name\n")
    with pytest.raises(ReleaseError, match="does not verify"):
        scumble.sign(folder, key)
    assert not (folder / "signatures").exists()


def test_a_release_from_a_seed_is_not_signed(key: Path, tmp_path: Path) -> None:
    table = pa.table({"sex": ["F", "M"] * 30, "ill": ["flu", "cold", "hiv"] * 20})
    how = {"sensitive": "ill", "domains": {"ill": ["flu", "cold", "hiv"]}, "gamma": 3, "seed": 1}
    release = publish_openly(table, tmp_path / "seeded", **how)
    with pytest.raises(ReleaseError, match="from a seed"):
        scumble.sign(release, key)


def test_keys_of_openssh_do_as_well(folder: Path, tmp_path: Path) -> None:
    made = Ed25519PrivateKey.generate()
    private, shown = tmp_path / "id_ed25519", tmp_path / "id_ed25519.pub"
    private.write_bytes(made.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()))
    shown.write_bytes(made.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH))
    scumble.sign(folder, private)
    assert failed(folder, shown) == {}


def test_what_is_no_key_is_refused_in_a_sentence(folder: Path, key: Path, tmp_path: Path) -> None:
    rsa = tmp_path / "rsa"
    rsa.write_bytes(
        generate_private_key(65537, 2048).private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
    )
    (tmp_path / "text").write_text("not a key")
    for path, message in (
        (rsa, "not of Ed25519"),
        (tmp_path / "text", "no private key"),
        (tmp_path / "none", "no key"),
    ):
        with pytest.raises(InputError, match=message):
            scumble.sign(folder, path)
    for path, message in ((key, "stays with its owner"), (tmp_path / "text", "no public key")):
        with pytest.raises(InputError, match=message):
            scumble.verify(folder, by=path)


def test_nobody_signs_over_another_or_by_a_name_that_terminals_obey(folder: Path, key: Path) -> None:
    scumble.sign(folder, key, name="a")
    with pytest.raises(ReleaseError, match="is kept"):
        scumble.sign(folder, key, name="a")
    with pytest.raises(InputError, match="can be printed"):
        scumble.sign(folder, key, name="a\x1b[31m")


@pytest.mark.slow
def test_the_report_shows_who_signed(folder: Path, key: Path, tmp_path: Path) -> None:
    scumble.sign(folder, key, name="D. P. <b>Officer")
    text = scumble.report(folder, tmp_path / "report.html").read_text()
    assert "Signed electronically" in text
    assert "D. P. &lt;b&gt;Officer, 20" in text
