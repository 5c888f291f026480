"""The keys of a cluster in their folder: private, used again, and refused when they cannot be."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from lifecycle.apiserver.authn.jwt import ES256, SigningKey
from lifecycle.apiserver.pki import certificates
from lifecycle.apiserver.server.authority import kept_authority

FILES = {"ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key"}


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_the_second_start_uses_the_keys_of_the_first(tmp_path: Path) -> None:
    first = kept_authority(tmp_path / "pki")
    kept = contents(tmp_path / "pki")
    second = kept_authority(tmp_path / "pki")
    assert kept.keys() == FILES
    assert contents(tmp_path / "pki") == kept
    assert second.signing_key.verify(first.signing_key.sign({"sub": "jane"})) == {"sub": "jane"}
    assert second.certificates.ca_pem == first.certificates.ca_pem
    authority = x509.load_pem_x509_certificate(first.certificates.ca_pem)
    issued = x509.load_pem_x509_certificate(second.certificates.client_certificate("jane")[0])
    issued.verify_directly_issued_by(authority)
    assert second.front_proxy.ca_pem == first.front_proxy.ca_pem != first.certificates.ca_pem


def test_nobody_else_can_read_them_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        kept_authority(tmp_path / "pki")
    finally:
        os.umask(before)
    assert (tmp_path / "pki").stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in (tmp_path / "pki").iterdir()} == {0o600}


@pytest.mark.parametrize("last", sorted(FILES))
def test_a_making_that_was_interrupted_is_made_up_for(tmp_path: Path, last: str) -> None:
    """`last` was never written, and of what comes before it there may be a draft."""
    kept_authority(tmp_path)
    (tmp_path / last).unlink()
    if last.endswith("ca.key"):  # keys come first: without the key there was no certificate
        (tmp_path / last.replace(".key", ".crt")).unlink()
    (tmp_path / f".{last}.draft").write_bytes(b"half a k")
    first = kept_authority(tmp_path)
    assert contents(tmp_path).keys() == FILES
    assert kept_authority(tmp_path).certificates.ca_pem == first.certificates.ca_pem


def test_a_token_key_of_a_curve_is_as_good(tmp_path: Path) -> None:
    key = SigningKey(ES256)
    (tmp_path / "sa.key").write_bytes(key.pem())
    assert kept_authority(tmp_path).signing_key.verify(key.sign({"sub": "jane"})) == {"sub": "jane"}


def test_files_that_cannot_be_used_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_authority(tmp_path / "a")
    kept_authority(tmp_path / "b")
    (tmp_path / "a" / "ca.key").write_bytes((tmp_path / "b" / "ca.key").read_bytes())
    with pytest.raises(ValueError, match=r"a/ca\.crt: the key beside it is not its own$"):
        kept_authority(tmp_path / "a")
    (tmp_path / "b" / "sa.key").write_bytes(b"none")
    with pytest.raises(ValueError, match=r"b/sa\.key: "):
        kept_authority(tmp_path / "b")
    (tmp_path / "b" / "ca.key").unlink()
    with pytest.raises(FileNotFoundError):
        kept_authority(tmp_path / "b")
    monkeypatch.setattr(certificates, "LIFETIME", timedelta(seconds=-1))
    kept_authority(tmp_path / "c")
    with pytest.raises(
        ValueError, match=r"c/ca\.crt: it has expired; without it and its key the next start makes new ones$"
    ):
        kept_authority(tmp_path / "c")
