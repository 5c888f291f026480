"""What a cluster signs with, and the folder in which it outlives the process.

Three keys make a cluster's identity: the authority behind kubeconfigs and the server's
own certificate, the authority of the front proxy, and the key of service account
tokens. Objects that survive a restart are worth little if these do not: every token
in a Secret, every kubeconfig and every running pod would be refused. So a store that
keeps its objects keeps these beside them, under kubeadm's file names:

    ca.crt  ca.key  front-proxy-ca.crt  front-proxy-ca.key  sa.key

Keys are written before their certificates. A folder in which a certificate is missing
is one whose making was interrupted: that pair is made again.

Upstream: kubeadm `app/phases/certs/certs.go` (`CreatePKIAssets`,
`writeCertificateAuthorityFilesIfNotExist`), `app/constants/constants.go`, v1.36. Left
out: etcd's authority (the store has its own), the public half `sa.pub`, renewal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lifecycle.apiserver.authn.jwt import SigningKey
from lifecycle.apiserver.pki.certificates import CertificateAuthority


@dataclass(slots=True, frozen=True)
class Authority:
    """The keys of one cluster."""

    certificates: CertificateAuthority
    front_proxy: CertificateAuthority
    signing_key: SigningKey


def kept_authority(folder: Path) -> Authority:
    """The authority that a folder holds; what is missing is made.

    Files are readable by their owner only. Takes up to a quarter of a second when a
    key has to be made. Raises OSError, or ValueError in one line for files that are no
    keys or certificates, do not belong together, or have expired.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    return Authority(
        _certificate_authority(folder, "ca"),
        _certificate_authority(folder, "front-proxy-ca"),
        _signing_key(folder / "sa.key"),
    )


def _certificate_authority(folder: Path, name: str) -> CertificateAuthority:
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    if certificate.exists():
        try:
            return CertificateAuthority.from_pem(
                certificate.read_bytes(), key.read_bytes()
            )
        except ValueError as error:
            raise ValueError(f"{certificate}: {error}") from None
    authority = CertificateAuthority()
    _write(key, authority.key_pem)
    _write(certificate, authority.ca_pem)
    return authority


def _signing_key(path: Path) -> SigningKey:
    if path.exists():
        try:
            return SigningKey.from_pem(path.read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    key = SigningKey()
    _write(path, key.pem())
    return key


def _write(path: Path, content: bytes) -> None:
    """A private file that is there as a whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
